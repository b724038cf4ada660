"""The examples in docstrings, README, docs and the examples folder run."""

import doctest
import glob
import importlib
import os
import re
import runpy
import sys

import numpy
import pytest

import enhope
from conftest import CLASSES

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def run_or_skip(run):
    """Run, or skip the test if the page was not built."""
    try:
        run()
    except RuntimeError as error:
        if "built without its page" not in str(error):
            raise
        pytest.skip(str(error))


@pytest.mark.parametrize("name", ["enhope", "enhope._plot", "enhope._view", "enhope.datasets"])
def test_docstrings_of_modules(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted and not result.failed


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_docstrings_of_classes(cls):
    runner, finder = doctest.DocTestRunner(), doctest.DocTestFinder(recurse=False)
    for test in finder.find(cls, cls.__name__, globs={}):
        runner.run(test)
    assert runner.tries >= 5 and not runner.failures


@pytest.mark.parametrize("path", sorted(glob.glob(os.path.join(HERE, "..", "examples", "*.py"))), ids=os.path.basename)
def test_examples(path, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sys, "argv", [path, "--quick"])
    monkeypatch.chdir(tmp_path)
    run_or_skip(lambda: runpy.run_path(path, run_name="__main__"))
    assert capsys.readouterr().out


@pytest.mark.parametrize("page", ["README.md", "docs/guides/python.md"])
def test_pages(page, monkeypatch, tmp_path):
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        blocks = re.findall(r"```python\n(.*?)```", file.read(), re.S)
    assert blocks
    if any("import pandas" in block for block in blocks):
        pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    digits = enhope.datasets.load("synthetic:digits,n=300,seed=1")
    train, test = enhope.datasets.load("synthetic:digits,n=300,seed=2"), digits
    names = {"X": digits.data, "y": digits.target, "X_train": train.data, "y_train": train.target, "X_test": test.data,
             "y_test": test.target, "numpy": numpy}
    for block in blocks:
        run_or_skip(lambda: exec(compile(block, page, "exec"), names))
