"""Exports and small models from Python: the bytes and files of the command, C that computes what the
model does, and refusals."""

import ctypes
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

import enhope

SETTINGS = {"n_factors": 11, "n_hidden": 7, "n_epochs": 4, "random_state": 3}


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(240, 6)).astype(np.float32)
    y = np.array(["left", "right", "über"])[np.argmax(X[:, :3], axis=1)]
    return enhope.EnHOPE(**SETTINGS).fit(X, y), X


def test_onnx_has_the_bytes_of_the_command(fitted, command, tmp_path):
    model, _ = fitted
    model.save(tmp_path / "m.safetensors")
    model.to_onnx(tmp_path / "python.onnx")
    subprocess.run(
        [command, "export", tmp_path / "m.safetensors", "-o", tmp_path / "command.onnx", "--name", "model"], check=True
    )
    written = (tmp_path / "python.onnx").read_bytes()
    assert written == (tmp_path / "command.onnx").read_bytes() == model.to_onnx()
    assert written.startswith(b"\x08\x08\x12\x06enhope") and "über".encode() in written


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_compiled_c_predicts_what_the_model_predicts(fitted, tmp_path, precision):
    model, X = fitted
    model.to_c(tmp_path / "m.c", name="m", precision=precision)
    flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "-o", "m.so", "m.c"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "m.so"))
    names = (ctypes.c_char_p * 3).in_dll(library, "m_class_name")
    at = ctypes.POINTER(ctypes.c_float)
    proba = np.empty((len(X), 3), np.float32)
    labels = [
        names[library.m_proba(x.ctypes.data_as(at), p.ctypes.data_as(at))].decode() for x, p in zip(X, proba)
    ]
    order = np.argsort([name.decode() for name in names])
    if precision == "float32":
        assert (np.array(labels) == model.predict(X)).all()
        np.testing.assert_allclose(proba[:, order], model.predict_proba(X), atol=1e-5)
    else:
        assert np.mean(np.array(labels) == model.predict(X)) > 0.95
    bad = np.full(6, np.nan, np.float32)
    assert library.m_predict(bad.ctypes.data_as(at)) == -1


def test_c_is_returned_as_text(fitted):
    source, header = fitted[0].to_c(name="tiny")
    assert "int tiny_predict(const float *x);" in header and '#include "tiny.h"' in source


def test_frames_are_encoded_or_refused():
    X = pd.DataFrame({
        "size": [1.5, 2.5, np.nan, 7.5] * 9,
        "color": ["red", "blue", "red", None] * 9,
        "day": pd.to_datetime(["2024-02-29", "2023-01-05", "2024-03-01", "2023-01-07"] * 9),
    })
    y = [0, 0, 1, 1] * 9
    model = enhope.EnHOPE(**SETTINGS).fit(X[["size", "color"]], y)
    assert b"color" in model.to_onnx() and b"ai.onnx.ml" in model.to_onnx()
    assert b"ai.onnx.ml" not in model.to_onnx(encoded=True)
    assert "const char *col_color;" in model.to_c()[1]
    dated = enhope.EnHOPE(**SETTINGS).fit(X, y)
    with pytest.raises(ValueError, match="dates of column 'day'"):
        dated.to_onnx()
    assert "double col_day;" in dated.to_c()[1]


def test_refusals(fitted, tmp_path):
    model, _ = fitted
    with pytest.raises(ValueError, match="ends with .onnx"):
        model.to_onnx(tmp_path / "m.pb")
    with pytest.raises(ValueError, match="ends with .c"):
        model.to_c(tmp_path / "m.h")
    with pytest.raises(ValueError, match="the name is 'a b'"):
        model.to_c(name="a b")
    with pytest.raises(ValueError, match="expected float32 or int8"):
        model.to_onnx(precision="fp16")
    with pytest.raises(OSError):
        model.to_onnx(tmp_path / "missing" / "m.onnx")
    with pytest.raises(enhope.NotFittedError if hasattr(enhope, "NotFittedError") else ValueError):
        enhope.EnHOPE().to_onnx()


def test_quantized_estimator_is_smaller_and_predicts_alike(fitted, tmp_path):
    model, X = fitted
    small = model.quantize(X)
    assert type(small) is type(model) and small is not model and small.get_params() == model.get_params()
    model.save(tmp_path / "m.safetensors")
    small.save(tmp_path / "s.safetensors")
    assert (tmp_path / "s.safetensors").stat().st_size < (tmp_path / "m.safetensors").stat().st_size
    assert np.mean(small.predict(X) == model.predict(X)) > 0.95
    assert (enhope.load(tmp_path / "s.safetensors").predict(X) == small.predict(X)).all()
    with pytest.raises(enhope.NotFittedError):
        enhope.EnHOPE().quantize(X)
    with pytest.raises(ValueError, match="5 features"):
        model.quantize(X[:, :5])


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(600, 30)).astype(np.float32)
    y = np.argmax(X[:, :3], axis=1)
    return enhope.EnHOPE(n_factors=60, n_hidden=30, n_epochs=10, random_state=3).fit(X, y), X, y


def test_compressed_estimator_keeps_to_its_limits(large, command, tmp_path):
    model, X, y = large
    small = model.compress(X, y, size=3000, n_epochs=10)
    small.save(tmp_path / "s.safetensors")
    report = small.compression_
    assert (tmp_path / "s.safetensors").stat().st_size == report["bytes"] <= 3000 < report["bytes_before"]
    assert report["weights"] < report["weights_before"] and report["samples"] > 0
    assert set(small.predict(X)) == {0, 1, 2} and small.score(X, y) > 0.8
    assert small.classes_.dtype == model.classes_.dtype and not hasattr(model, "compression_")
    assert (enhope.load(tmp_path / "s.safetensors").predict(X) == small.predict(X)).all()
    fast = model.compress(X, y, operations=1500, n_epochs=10)
    assert fast.compression_["operations"] <= 1500 < fast.compression_["operations_before"]


def test_limits_that_cannot_be_met_are_refused(large):
    model, X, y = large
    for limits, message in (({}, "size"), ({"size": 200}, "bytes"), ({"size": 6000, "bits": 9}, "bits")):
        with pytest.raises(ValueError, match=message):
            model.compress(X, y, n_epochs=10, **limits)
    with pytest.raises(ValueError, match="inconsistent|labels"):
        model.compress(X, y[:-1], size=6000)
    with pytest.raises(TypeError):
        model.compress(X, y, size="64kB")
    with pytest.raises(ValueError, match="the label 3, which"):
        model.compress(X, y + 1, size=6000)


def test_stopped_compression_raises(large):
    model, X, y = large

    def stop(_):
        raise KeyboardInterrupt

    ends = []

    def stop_at_the_end(progress):
        ends.extend([progress.epoch] * progress.epoch_done)
        if progress.epoch == progress.epochs and progress.epoch_done:
            raise KeyboardInterrupt

    model.callback = stop
    try:
        with pytest.raises(KeyboardInterrupt):
            model.compress(X, y, size=6000)
        model.callback = stop_at_the_end
        with pytest.raises(KeyboardInterrupt):
            model.compress(X, y, size=6000, n_epochs=10)
        with pytest.raises(KeyboardInterrupt):
            model.compress(X, y, error=0.5, n_epochs=10)  # by several compressions
        assert len(ends) == 20
        model.callback = lambda _: True
        with pytest.raises(RuntimeError, match="stopped"):
            model.compress(X, y, size=6000)
    finally:
        model.callback = None
