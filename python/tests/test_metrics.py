"""Measures of a map."""

import math

import numpy as np
import pytest
import sklearn.manifold

import enhope

measure_map = enhope.metrics.measure_map


def made(n=90, seed=1):
    draw = np.random.RandomState(seed)
    X = draw.normal(3, 1, (n, 4))
    return X, X[:, :2] + draw.normal(0, 0.5, (n, 2)), draw.randint(0, 3, n)


def test_trustworthiness_and_continuity_are_those_of_scikit_learn():
    X, Y, _ = made()
    m = measure_map(X, Y, n_neighbors=9)
    assert m["trustworthiness"] == pytest.approx(sklearn.manifold.trustworthiness(X, Y, n_neighbors=9), abs=1e-5)
    assert m["continuity"] == pytest.approx(sklearn.manifold.trustworthiness(Y, X, n_neighbors=9), abs=1e-5)
    assert (m["n_rows"], m["n_references"], m["n_neighbors"]) == (90, 89, 9)
    assert math.isnan(m["accuracy_1"])


def test_labels_of_any_type_are_matched_between_samples_and_references():
    X, Y, y = made()
    names = np.array(["wine", "beer", "tea"])[y]
    other = (X[50:], Y[50:], names[50:])
    of_texts = measure_map(X[:50], Y[:50], names[:50], references=other)
    of_numbers = measure_map(X[:50], Y[:50], y[:50], references=(X[50:], Y[50:], y[50:]))
    assert of_texts == of_numbers and 0 < of_texts["accuracy_5"] < 1
    some = [None if i % 2 else label for i, label in enumerate(names)]
    assert 0 <= measure_map(X, Y, some)["accuracy_1"] <= 1
    assert math.isnan(measure_map(X, Y, y, references=(X, Y))["accuracy_1"])
    itself = measure_map(X, X, y, references=(X, X, y))
    assert itself["accuracy_1"] == 1 and itself["trustworthiness"] == 1


def test_a_sample_is_a_function_of_the_seed():
    X, Y, y = made()
    first, again, other = (measure_map(X, Y, y, sample=40, random_state=s) for s in (3, 3, 4))
    assert first == again != other
    assert (first["n_rows"], first["n_references"]) == (40, 39)


@pytest.mark.parametrize("change, message", [
    ({"Y": np.zeros((5, 2))}, "Y has shape"),
    ({"Y": np.where(np.arange(180).reshape(90, 2) == 9, np.nan, 0)}, r"Y\[4, 1\] is nan: expected a finite"),
    ({"n_neighbors": 0}, "n_neighbors is 0"),
    ({"n_neighbors": 60}, "k is 60"),
    ({"sample": 2.5}, "sample is 2.5"),
    ({"labels": [1, 2]}, "y has 2 labels"),
    ({"references": np.zeros((3, 2))}, "references must be"),
    ({"references": (np.zeros((50, 3)), np.zeros((50, 2)))}, "the references 3"),
    ({"references": (np.zeros((50, 4)), np.zeros((50, 3)))}, "as many columns"),
])
def test_unsuitable_arguments_have_a_message(change, message):
    X, Y, _ = made()
    with pytest.raises((ValueError, TypeError), match=message):
        measure_map(**{"X": X, "Y": Y, **change})
