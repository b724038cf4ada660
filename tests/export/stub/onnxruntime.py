"""Stands for onnxruntime in a test of enhope export --check: the command computes the results, so the
test covers the inputs and outputs of the program that uses the module."""

import csv
import json
import os
import subprocess
import tempfile

import numpy

__version__ = "stub"
MODEL = os.environ.get("STUB_MODEL", "")


class _Input:
    def __init__(self, name):
        self.name = name


class InferenceSession:
    def __init__(self, path, providers):
        assert path.endswith(".onnx") and providers == ["CPUExecutionProvider"]
        with open(MODEL, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            self._about = json.loads(file.read(length))["__metadata__"]
        columns = json.loads(self._about.get("columns", "{}")).get("columns")
        self._names = [column["name"] for column in columns] if columns else ["input"]

    def get_inputs(self):
        return [_Input(name) for name in self._names]

    def run(self, names, feeds):
        assert names == ["label", "probabilities", "embedding"] and list(feeds) == self._names
        columns = numpy.hstack([values.astype(object) for values in feeds.values()])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.csv")
            with open(path, "w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                if "columns" in self._about:
                    writer.writerow(self._names)
                writer.writerows([["" if value != value else repr(value) if isinstance(value, float) else value
                                   for value in row] for row in columns.tolist()])
            read = lambda *args: list(csv.reader(subprocess.run(
                ["enhope", *args, "--data", path, "--label", "none"], capture_output=True, text=True, check=True
            ).stdout.splitlines()))[1:]
            answers, places = read("predict", MODEL, "--proba"), read("embed", MODEL)
        label = numpy.array([row[1] for row in answers], object)
        return label, numpy.array([row[2:] for row in answers], numpy.float32), numpy.array(places, numpy.float32)
