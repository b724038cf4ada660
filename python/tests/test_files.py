"""Python and the command exchange models and data, with identical results."""

import csv
import json
import os
import pickle
import struct
import subprocess

import numpy as np
import pytest

import enhope

DIGITS = "synthetic:digits,n=700,seed=3"
SETTINGS = {"n_factors": 30, "n_hidden": 20, "n_epochs": 5, "shift": 1, "random_state": 5}
OPTIONS = ["--n-factors", "30", "--n-hidden", "20", "--n-epochs", "5", "--shift", "1", "--random-state", "5"]


def run(command, *arguments):
    subprocess.run([command, *arguments], check=True, capture_output=True)


def contents(path):
    """Header and numbers of a model file, and the part of the data, which only the command knows."""
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8:8 + length])
    data = json.loads(header["__metadata__"]["training_data"])
    part = data.pop("part", None)
    header["__metadata__"]["training_data"] = data
    return (header, raw[8 + length:]), part


def test_python_and_command_write_identical_models_and_load_each_other_s(command, tmp_path):
    by_command, by_python = tmp_path / "command.safetensors", tmp_path / "python.safetensors"
    run(command, "train", "--data", DIGITS, "-o", by_command, "--part", "train", *OPTIONS)
    digits = enhope.datasets.load(DIGITS, part="train")
    model = enhope.EnHOPE(image_shape=digits.image_shape, **SETTINGS).fit(digits.data, digits.target)
    model.save(by_python)
    (python, no_part), (expected, part) = contents(by_python), contents(by_command)
    assert python == expected and (no_part, part) == (None, "train")

    loaded = enhope.load(by_command)
    assert isinstance(loaded, enhope.EnHOPE) and loaded.n_factors == 30 and loaded.image_shape == (28, 28)
    test = enhope.datasets.load(DIGITS, part="test")
    for path, estimator in ((by_python, loaded), (by_command, model)):
        run(command, "embed", path, "--data", DIGITS, "--part", "test", "-o", tmp_path / "map.npy")
        run(command, "predict", path, "--data", DIGITS, "--part", "test", "-o", tmp_path / "predictions.csv")
        assert (np.load(tmp_path / "map.npy") == estimator.transform(test.data)).all()
        with open(tmp_path / "predictions.csv", encoding="utf-8") as file:
            predicted = [row["label"] for row in csv.DictReader(file)]
        assert predicted == [str(label) for label in estimator.predict(test.data)]
    assert loaded.classes_.dtype.kind == "i" and loaded.history_["epoch"].tolist() == [1, 2, 3, 4, 5]
    assert loaded.partial_fit(test.data, test.target).score(test.data, test.target) > 0.3


def test_column_names_are_stored_in_the_model(command, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"wide": [1.0, 2, 3, 8, 9, 10] * 5, "high": [3.0, 1, 2, 9, 8, 7] * 5})
    kind = np.array(["small"] * 3 + ["large"] * 3).tolist() * 5
    path = tmp_path / "m.safetensors"
    enhope.EnHOPE(n_factors=5, n_hidden=4, n_epochs=20).fit(frame, kind).save(path)
    assert list(enhope.load(path).feature_names_in_) == ["wide", "high"]
    (tmp_path / "new.csv").write_text("wide,high\n1,2\n9,9\n")
    run(command, "predict", path, "--data", tmp_path / "new.csv", "-o", tmp_path / "predictions.csv")
    assert "small" in (tmp_path / "predictions.csv").read_text()
    expected = (tmp_path / "predictions.csv").read_text()
    (tmp_path / "new.csv").write_text("high,wide\n2,1\n9,9\n")  # found by name
    run(command, "predict", path, "--data", tmp_path / "new.csv", "-o", tmp_path / "predictions.csv")
    assert (tmp_path / "predictions.csv").read_text() == expected
    (tmp_path / "bad.csv").write_text("high,width\n1,2\n9,9\n")
    with pytest.raises(subprocess.CalledProcessError):
        run(command, "predict", path, "--data", tmp_path / "bad.csv", "-o", tmp_path / "predictions.csv")


def test_invalid_model_files_are_rejected(tmp_path):
    path = tmp_path / "bad"
    with pytest.raises(OSError, match="cannot open"):
        enhope.load(path)
    path.write_bytes(b"not a safetensors file")
    with pytest.raises(ValueError, match="not a model"):
        enhope.load(path)
    for bad in (b"", b"\0" * 100):
        with pytest.raises(ValueError):
            enhope._enhope.from_bytes(bad)
    with pytest.raises(OSError):
        enhope.EnHOPE(n_factors=5, n_hidden=4, n_epochs=1).fit(np.eye(4, dtype=np.float32), [0, 1, 0, 1]).save(tmp_path)


def test_datasets_load_reads_the_formats_of_the_command(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,species\n1,2,x\n3,4,y\n5,6,x\n")
    data = enhope.datasets.load(tmp_path / "t.csv", label="species")
    assert data.data.tolist() == [[1, 2], [3, 4], [5, 6]] and data.target.tolist() == ["x", "y", "x"]
    assert data.feature_names == ["a", "b"] and not data.data.flags.writeable
    (tmp_path / "t.svm").write_text("1 1:0.5 3:2\n2 2:1\n")
    sparse = enhope.datasets.load(tmp_path / "t.svm").data
    assert sparse.toarray().tolist() == [[0.5, 0, 2], [0, 1, 0]]
    values = enhope.datasets.load("synthetic:digits,n=50,seed=1").data  # the array keeps the data set alive
    assert pickle.loads(pickle.dumps(values)).sum() == values.sum()
    with pytest.raises(OSError):
        enhope.datasets.load(os.path.join(tmp_path, "none.csv"))
    with pytest.raises(ValueError):
        enhope.datasets.load("synthetic:unknown")
