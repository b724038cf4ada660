"""Weights of samples in fit, partial_fit, fit_transform and score."""

import inspect

import numpy as np
import pytest
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks

import enhope
from conftest import CLASSES, quick

WEIGHTED = [enhope.EnHOPE, enhope.DeepEnHOPE, enhope.LinearEnHOPE, enhope.SNC]


def overlapping(n=400):
    """Two overlapping classes of equal size."""
    random = np.random.default_rng(7)
    y = np.arange(n) % 2
    return (random.normal(size=(n, 2)) + np.column_stack([1.2 * y - 0.6, 0 * y])).astype(np.float32), y


def exemplars_and_map(model, X):
    return np.concatenate([model.exemplars_.ravel(), model.transform(X).ravel()])


@pytest.mark.parametrize("cls", WEIGHTED, ids=lambda cls: cls.__name__)
def test_equal_weights_change_nothing(cls, blobs):
    X, y = blobs
    plain = exemplars_and_map(quick(cls).fit(X, y), X)
    for weights in (np.full(len(y), 2.385), [3] * len(y), 0.1):
        np.testing.assert_array_equal(exemplars_and_map(quick(cls).fit(X, y, sample_weight=weights), X), plain)


@pytest.mark.parametrize("cls", WEIGHTED, ids=lambda cls: cls.__name__)
def test_weight_zero_leaves_samples_out(cls, blobs):
    X, y = blobs
    weights = np.ones(len(y))
    weights[200:] = 0
    wrong = y.copy()
    wrong[200:] = (wrong[200:] + 1) % 3
    far = X.copy()
    far[200:] += 1e6
    model = quick(cls).fit(far, wrong, sample_weight=weights)
    assert np.abs(model.exemplars_).max() < 2 * np.abs(X).max()
    assert model.score(X[:200], y[:200]) > 0.95
    assert model.score(far, wrong, sample_weight=weights) == model.score(X[:200], y[:200])


def test_heavy_samples_get_more_of_the_space():
    X, y = overlapping()
    first = [np.mean(quick(enhope.EnHOPE).fit(X, y, sample_weight=np.where(y == k, 20, 1)).predict(X) == 0)
             for k in (0, 1)]
    assert first[0] > 0.65 and first[1] < 0.35


def test_weights_and_class_weights_are_multiplied(blobs):
    X, y = blobs
    by_class = quick(enhope.EnHOPE, class_weight={0: 4, 2: 0.5}, validation_fraction=0).fit(X, y)
    by_sample = quick(enhope.EnHOPE, validation_fraction=0).fit(X, y, sample_weight=np.array([4, 1, 0.5])[y])
    both = quick(enhope.EnHOPE, class_weight={0: 2}, validation_fraction=0).fit(X, y, sample_weight=np.array([2, 1, 0.5])[y])
    for model in (by_sample, both):
        np.testing.assert_allclose(model.history_["loss"], by_class.history_["loss"], rtol=0.05)


def test_partial_fit_transform_and_pipelines_pass_weights_on():
    X, y = overlapping()
    weights = np.where(y == 1, 20, 1)
    plain, model = quick(enhope.EnHOPE, n_epochs=20), quick(enhope.EnHOPE, n_epochs=20)
    for _ in range(40):
        plain.partial_fit(X, y)
        model.partial_fit(X, y, sample_weight=weights)
    share = {"fit": np.mean(plain.predict(X)), "partial_fit": np.mean(model.predict(X))}
    Y = model.fit_transform(X, y, sample_weight=weights)
    np.testing.assert_array_equal(Y, model.transform(X))
    share["fit_transform"] = np.mean(model.predict(X))
    pipe = make_pipeline(quick(enhope.EnHOPE, n_epochs=20)).fit(X, y, enhope__sample_weight=weights)
    share["pipeline"] = np.mean(pipe.predict(X))
    predicted = cross_val_predict(quick(enhope.EnHOPE, n_epochs=20), X, y, fit_params={"sample_weight": weights}, cv=3)
    share["cross_val_predict"] = np.mean(predicted)
    without = share.pop("fit")
    assert all(value > without + 0.1 for value in share.values()), (without, share)


@pytest.mark.parametrize("weights, message", [
    (np.ones(10), r"sample_weight has shape \(10,\): expected \(300,\)"),
    (np.ones((300, 2)), r"sample_weight has shape \(300, 2\)"),
    (np.r_[np.ones(42), -1, np.ones(257)], "sample_weight has -1.0 in row 42: expected finite numbers from 0"),
    (np.r_[np.ones(42), np.nan, np.ones(257)], "sample_weight has nan in row 42"),
    (np.r_[np.inf, np.ones(299)], "sample_weight has inf in row 0"),
    (np.zeros(300), "sample_weight is 0 for all samples"),
    (["heavy"] * 300, "sample_weight is of type <U5: expected numbers"),
])
def test_bad_weights_are_refused(weights, message, blobs):
    X, y = blobs
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=message):
            getattr(quick(enhope.EnHOPE), method)(X, y, sample_weight=weights)


def test_only_methods_with_exemplars_accept_weights(blobs):
    X, y = blobs
    for cls in CLASSES:
        for method in {"fit", "partial_fit"} & set(dir(cls)):
            assert ("sample_weight" in inspect.signature(getattr(cls, method)).parameters) == (cls in WEIGHTED), cls
    with pytest.raises(TypeError, match="sample_weight"):
        quick(enhope.HOPE).fit(X, y, sample_weight=np.ones(len(y)))


@pytest.mark.parametrize("cls", WEIGHTED, ids=lambda cls: cls.__name__)
def test_scikit_learn_check_of_equal_weights_passes(cls):
    check = getattr(estimator_checks, "check_sample_weights_invariance", None)
    if check is None:
        pytest.skip("this version of scikit-learn has no check of equal weights alone")
    check(cls.__name__, quick(cls), kind="ones")
