"""Samples without a label in fit."""

import numpy as np
import pytest

import enhope
from conftest import quick

METHODS = [enhope.EnHOPE, enhope.DeepEnHOPE, enhope.LinearEnHOPE]


@pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("marked", [-1, np.nan, None], ids=str)
def test_every_mark_of_a_missing_label_gives_the_same_model(cls, marked, blobs):
    X, y = blobs
    some = np.arange(len(y)) % 4 != 0
    model = quick(cls, missing_label=-1).fit(X, np.where(some, -1, y))
    values = [marked if hidden else label for hidden, label in zip(some, y.tolist())]
    text = np.array(values, dtype=object if marked is None else None)
    again = quick(cls, missing_label=np.nan if marked is None else marked).fit(X, text)
    np.testing.assert_array_equal(model.classes_, np.unique(y))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    alone = quick(cls).fit(X[~some], y[~some])
    assert not np.array_equal(alone.transform(X), model.transform(X))


def test_minus_one_is_a_class_unless_it_marks_missing_labels(blobs):
    X, y = blobs
    assert list(quick(enhope.EnHOPE).fit(X, y - 1).classes_) == [-1, 0, 1]


def test_a_missing_label_is_an_error_unless_it_is_marked(blobs):
    X, y = blobs
    y = y.astype(float)
    y[3] = np.nan
    with pytest.raises(ValueError, match=r"y\[3\] is NaN, a missing label.*or set missing_label"):
        quick(enhope.EnHOPE).fit(X, y)
    with pytest.raises(ValueError, match="y has no labels"):
        quick(enhope.EnHOPE, missing_label=-1).fit(X, np.full(len(y), -1))


def test_partial_fit_takes_samples_without_a_label(blobs):
    X, y = blobs
    some = np.arange(len(y)) % 3 == 0
    model = quick(enhope.EnHOPE, missing_label=-1)
    model.partial_fit(X, np.where(some, y, -1), classes=np.unique(y))
    model.partial_fit(X, np.where(some, y, -1))
    assert list(model.classes_) == list(np.unique(y))
