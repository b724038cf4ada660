"""Unusual input gives a result or an exception with a message, never a crash.

These tests also run with sanitizers, and therefore without scikit-learn.
"""

import random

import numpy as np
import pytest

import enhope
from conftest import quick
from enhope import _enhope

ALLOWED = (ValueError, TypeError, OverflowError, MemoryError)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(40, 4)).astype(np.float32)
    y = np.arange(40) % 2
    X[y == 1] += 3
    return quick(enhope.EnHOPE, n_epochs=2).fit(X, y), X, y


def invalid_arrays():
    """Objects that are not tables of finite numbers."""
    base = np.arange(160, dtype=np.float32).reshape(40, 4)
    return [
        np.empty((0, 4), np.float32), np.empty((40, 0), np.float32), np.empty((0, 0)), np.float32(3), np.array([]),
        np.array(None), None, "text", b"bytes", object(), [], [[]], [[1, 2], [3]], {}, {1: 2}, range(4),
        np.full((40, 4), np.nan, np.float32), np.full((40, 4), np.inf), np.full((40, 4), 1e300), np.full((40, 4), -1e39),
        np.where(base == 7, np.nan, base), base.astype(complex), np.full((40, 4), None), np.full((40, 4), "x"),
        np.full((40, 4), {}), base.astype("datetime64[s]"), base.astype("timedelta64[s]"), base.view(np.void), base.T,
        np.ma.masked_array(base, base > 9), base.reshape(2, 2, 2, 20), np.zeros((40, 4, 0)), memoryview(b"abcd"),
        bytearray(16), np.random.default_rng(0), np.zeros((3, 4), np.uint8)[:, :0], np.empty((2**45, 0), np.float32),
        np.empty((0, 2**45), np.uint8), np.broadcast_to(np.float32(1), (2**45, 4)), np.broadcast_to(np.uint8(1), (2**60, 2)),
        np.broadcast_to(base[:, ::-1], (2**40, 40, 4)),
    ]


def valid_arrays():
    """Tables of four columns in unusual types and layouts."""
    base = np.arange(160, dtype=np.float32).reshape(40, 4)
    strided = np.lib.stride_tricks.as_strided
    return [
        base.astype(object), np.full((40, 4), b"1"), np.zeros((40, 4), [("a", "f4")]), base[::-1], base[:, ::-1],
        base.T.copy().T, base.astype(">f8"), base.astype(np.float16), base.astype(np.longdouble), base.astype(bool),
        base.astype(np.uint64), strided(base, (40, 4), (0, 0)), strided(base, (40, 4), (4, 0)), base[::-1, ::-1],
        strided(base[::-1], (40, 4), (-16, 4)), np.broadcast_to(np.float32(1), (40, 4)), np.broadcast_to(base[0], (40, 4)),
        np.ma.masked_array(base), np.matrix(base), base.reshape(40, 2, 2), memoryview(base),
        np.frombuffer(b"\1" * 641, np.uint8)[1:].view(np.float32).reshape(40, 4),
    ]


@pytest.mark.parametrize("i", range(len(invalid_arrays())))
def test_invalid_arrays_are_rejected(fitted, i):
    model, X, y = fitted
    array = invalid_arrays()[i]
    for call in (model.predict, model.transform, model.predict_proba, model.decision_function, model.kneighbors,
                lambda array: quick(enhope.EnHOPE, n_epochs=1).fit(array, y), lambda array: quick(enhope.HOPE, n_epochs=1).fit(array, y),
                lambda array: quick(enhope.KNN).fit(array, y)):
        with pytest.raises(ALLOWED) as error:
            call(array)
        assert str(error.value)


@pytest.mark.parametrize("i", range(len(valid_arrays())))
def test_valid_arrays_are_accepted_in_any_layout(fitted, i):
    model, X, y = fitted
    array = valid_arrays()[i]
    assert model.predict(array).shape == (40,) and np.isfinite(model.transform(array)).all()
    assert quick(enhope.EnHOPE, n_epochs=1).fit(array, y).predict(array).shape == (40,)
    quick(enhope.KNN).fit(array, y)


def test_arrays_of_a_wrong_size_are_rejected(fitted):
    model, X, y = fitted
    for array in (np.zeros((40, 5), np.float32), np.zeros((40, 8), np.float32)[:, ::3]):
        with pytest.raises(ValueError, match="is expecting 4 features"):
            model.predict(array)
    for few in (X[:1], X[::2]):
        assert model.predict(few).shape == (len(few),)
        with pytest.raises(ValueError):
            quick(enhope.EnHOPE, n_epochs=1).fit(few, y)


@pytest.mark.parametrize("i", range(len(invalid_arrays() + valid_arrays())))
def test_arrays_of_two_dimensions_are_rejected_as_labels(fitted, i):
    _, X, _ = fitted
    array = (invalid_arrays() + valid_arrays())[i]
    with pytest.raises(ALLOWED):
        quick(enhope.EnHOPE, n_epochs=1).fit(X, array)
    if isinstance(array, np.ndarray) and array.size < 1000:
        try:
            quick(enhope.EnHOPE, n_epochs=1).fit(X, array.ravel()[:40])
        except ALLOWED as error:
            assert str(error)


def test_malformed_sparse_matrices_do_not_crash(fitted):
    sp = pytest.importorskip("scipy.sparse")
    model, X, y = fitted
    rng = random.Random(1)
    for _ in range(150):
        matrix = sp.csr_matrix(np.where(X > 0, X, 0))
        for part in (matrix.indptr, matrix.indices):
            if rng.random() < 0.7:
                part[rng.randrange(len(part))] = rng.choice([-1, -2**31, 2**31 - 1, 0, 3, 4, 5, 99, len(matrix.data)])
        if rng.random() < 0.3:
            matrix.data[rng.randrange(len(matrix.data))] = rng.choice([np.nan, np.inf, 1e38])
        matrix.has_canonical_format = True  # not always true
        matrix.has_sorted_indices = True
        for call in (lambda: model.predict(matrix), lambda: quick(enhope.EnHOPE, n_epochs=1).fit(matrix, y)):
            try:
                call()
            except ALLOWED as error:
                assert str(error)


def test_extension_module_checks_its_arguments(fitted):
    model, X, y = fitted
    core = model._model
    Y = np.empty((40, 2), np.float32)
    bad = [None, 3, "x", X.T, X[:, ::2], X.astype(np.float64), X[:-1], Y, np.empty((40, 2), np.int32), (), (1, 2, 3, 4),
           (np.zeros(41, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), -5),
           (np.arange(41), np.zeros(3, np.int32), np.zeros(3, np.float32), 4),
           (np.arange(41)[::-1].copy(), np.zeros(50, np.int32), np.zeros(50, np.float32), 4)]
    for array in bad:
        for args in ((array, 40, None, Y), (X, array, None, Y), (X, 40, array, Y), (X, 40, None, array)):
            try:
                core.embed(*args)
            except ALLOWED as error:
                assert str(error)
        for at in range(12):
            args = [X, 40, None, 0] + [None] * 8
            args[at] = array
            try:
                core.predict(*args)
            except ALLOWED as error:
                assert str(error)
        for at in range(9):
            args = [X, 40, y.astype(np.int32), [b"0", b"1"], None, None, "m", 10, 10]
            args[at] = array
            try:
                core.page(*args)
            except (*ALLOWED, RuntimeError) as error:  # RuntimeError: built without the page
                assert str(error)
        for args in ((array, 40), (X, array)):
            try:
                core.quantize(*args)
            except ALLOWED as error:
                assert str(error)
        for at in range(13):
            args = [X, 40, y.astype(np.int32), [b"0", b"1"], None, 0, 0, [b"n_epochs", b"1"], *[None] * 5]
            args[at] = array
            try:
                _enhope.train(*args)
            except ALLOWED as error:
                assert str(error)
    readonly = Y.copy()
    readonly.flags.writeable = False
    with pytest.raises(TypeError, match="a writable array"):
        core.embed(X, 40, None, readonly)
    with pytest.raises(ValueError):
        _enhope.train(X, 40, np.full(40, 7, np.int32), [b"0", b"1"], None, 0, 0, [], *[None] * 5)
    for kind in (_enhope.Model, _enhope.Dataset):
        with pytest.raises(TypeError, match="only"):
            kind()
    for args in ((), (1,), ("a", "b")):
        for call in (_enhope.load, _enhope.from_bytes, _enhope.read, core.save, core.setting, core.references, core.exemplars):
            try:
                call(*args)
            except (*ALLOWED, OSError) as error:
                assert str(error)
