"""Single rows, which take a short path, and the predictor that a model keeps."""

import concurrent.futures
import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import enhope

X, y = enhope.datasets.load("synthetic:digits,n=240,seed=3", return_X_y=True)
NAMES = np.asarray(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
TINY = {"n_factors": 30, "n_hidden": 20, "n_epochs": 2}
ESTIMATORS = {
    "exemplars": enhope.EnHOPE(random_state=1, **TINY),
    "five components": enhope.EnHOPE(random_state=1, n_components=5, **TINY),
    "training points": enhope.HOPE(random_state=1, **TINY),
    "linear": enhope.NCA(random_state=1, n_epochs=2),
    "inputs": enhope.KNN(),
}


@pytest.fixture(scope="module", params=sorted(ESTIMATORS))
def fitted(request):
    return copy.deepcopy(ESTIMATORS[request.param]).fit(X, NAMES[y])


@pytest.mark.parametrize("kind", [np.uint8, np.float32, np.float64, np.int64])
def test_a_row_alone_has_the_result_of_the_batch(fitted, kind):
    data = X.astype(kind)
    labels, proba, Y = fitted.predict(data), fitted.predict_proba(data), fitted.transform(data)
    for i in range(0, len(data), 17):
        row = data[i:i + 1]
        assert fitted.predict(row)[0] == labels[i] and fitted.predict(row).dtype == labels.dtype
        np.testing.assert_array_equal(fitted.transform(row), Y[i:i + 1])
        if type(fitted) is not enhope.KNN:  # whose distances may differ in the last bits
            np.testing.assert_array_equal(fitted.predict_proba(row), proba[i:i + 1])
        assert fitted.classes_[fitted.predict_proba(row).argmax()] == labels[i]


def test_rows_of_any_layout_are_accepted(fitted):
    wanted = fitted.predict(X[7:8])
    frozen = X[7:8].copy()
    frozen.flags.writeable = False
    odd = np.zeros(X.shape[1] * 4 + 1, np.uint8)[1:].view(np.float32).reshape(1, -1)
    odd[:] = X[7]
    strided = np.repeat(X[7:8].astype(np.float32), 2, axis=1)[:, ::2]
    swapped = X[7:8].astype(np.dtype(np.float32).newbyteorder(">"))
    for row in (frozen, odd, strided, swapped, X[7:8].tolist(), np.asfortranarray(X[7:8]), X[7:8].astype(bool).view(np.uint8) * X[7:8]):
        assert fitted.predict(row)[0] == wanted[0]


def test_bad_rows_are_refused_with_the_message_of_a_batch(fitted):
    row = X[:1].astype(np.float64)
    for value in (np.nan, np.inf, -1e300):
        bad = row.copy()
        bad[0, 5] = value
        for method in (fitted.predict, fitted.predict_proba, fitted.transform):
            with pytest.raises(ValueError, match=r"X\[0, 5\] is (NaN|inf|-inf|-1e\+300)"):
                method(bad)
    far = np.repeat(row, 3, axis=0)
    far[2, 5:9] = 1e30
    for method in (fitted.predict, fitted.predict_proba, fitted.transform):
        with pytest.raises(ValueError, match=r"X\[2\] is too far from the training data"):
            method(far)
        with pytest.raises(ValueError, match=r"X\[0\] is too far from the training data"):
            method(far[2:])
    for method in (fitted.predict, fitted.predict_proba, fitted.transform):
        with pytest.raises(ValueError, match="783 features"):
            method(row[:, :783])
        with pytest.raises(ValueError, match="Reshape your data"):
            method(row[0])
        with pytest.raises(ValueError):
            method(row[:0])


def test_results_are_the_callers_own(fitted):
    first = fitted.predict(X[:1])
    wanted = first.copy()
    first[:] = NAMES[3]
    np.testing.assert_array_equal(fitted.predict(X[:1]), wanted)


def test_not_fitted():
    for method in ("predict", "predict_proba", "transform"):
        with pytest.raises(enhope.NotFittedError):
            getattr(enhope.EnHOPE(), method)(X[:1])


def test_fit_replaces_the_predictor():
    model = enhope.EnHOPE(random_state=1, **TINY).fit(X, y)
    before = model.transform(X[:1])
    model.set_params(random_state=2).fit(X, y)
    after = model.transform(X[:1])
    assert (before != after).any()
    np.testing.assert_array_equal(after, enhope.EnHOPE(random_state=2, **TINY).fit(X, y).transform(X[:1]))


def test_copies_and_pickles_predict_alike(fitted):
    wanted, one = fitted.predict(X), fitted.predict(X[:1])
    for other in (copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(other.predict(X[:1]), one)
        np.testing.assert_array_equal(other.predict(X), wanted)


def test_threads_share_a_model_and_change_its_placement(fitted):
    labels, Y = fitted.predict(X), fitted.transform(X)
    shared = copy.copy(fitted)  # with the same model

    def work(number):
        estimator = fitted if number % 2 else shared
        for i in range(number, len(X), 8):
            shared.n_jobs = 1 + (i % 2)
            if estimator.predict(X[i:i + 1])[0] != labels[i] or (estimator.transform(X[i:i + 3]) != Y[i:i + 3]).any():
                return False
        return True

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


FORK = """
import os, pickle, sys
model, X = pickle.load(sys.stdin.buffer)
wanted = model.predict(X)
child = os.fork()
if child == 0:
    good = (model.predict(X) == wanted).all() and model.predict(X[:1])[0] == wanted[0]
    os._exit(0 if good else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_process_predicts(fitted):
    # in a process of its own: LLVM's OpenMP can deadlock if another thread ends during a fork
    subprocess.run([sys.executable, "-c", FORK], input=pickle.dumps((fitted, X)), check=True, timeout=120)


def test_precisions():
    model = enhope.EnHOPE(random_state=1, precision="float32", **TINY).fit(X, y)
    wanted = enhope.EnHOPE(random_state=1, **TINY).fit(X, y)
    np.testing.assert_array_equal(model.transform(X), wanted.transform(X))
    np.testing.assert_array_equal(model.transform(X[:1]), wanted.transform(X[:1]))
    model.set_params(precision="int4")
    for rows in (X, X[:1]):
        with pytest.raises(ValueError, match="unknown precision 'int4'"):
            model.predict(rows)
