"""Measures of a map: how well an embedding keeps what is near in the inputs."""

import operator

import numpy as np

from . import _arrays, _enhope, _labels, _places, _placement

__all__ = ["measure_map"]


def _points(X, Y, labels, classes):
    """The arguments of the module for rows, their embedding and their labels."""
    data, n, _, _ = _arrays.samples(X)
    embedding = np.ascontiguousarray(Y, dtype=np.float32)
    if embedding.ndim != 2 or len(embedding) != n or embedding.shape[1] < 1:
        raise ValueError(f"Y has shape {embedding.shape}, but X has {n} samples: expected ({n}, n_components)")
    bad = np.argwhere(~(np.abs(embedding) <= 1e18))
    if len(bad):
        i, j = bad[0]
        raise ValueError(f"Y[{i}, {j}] is {embedding[i, j]}: expected a finite number of at most 1e18 in size")
    code = None
    if labels is not None:
        found, index = _labels.encode(_labels.one_for_each(labels, n))
        numbers = [-1 if label is None else classes.setdefault(label, len(classes)) for label in found]
        code = np.array(numbers, np.int32)[index]
    return [data, n, embedding, code]


def measure_map(X, Y, labels=None, *, references=None, n_neighbors=None, sample=10000, random_state=0, n_jobs=None):
    """Measure how well an embedding, by any method, keeps what is near in the inputs.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Inputs. Distances are Euclidean; scale the columns before if their units differ.
    Y : array-like of shape (n_samples, n_components)
        Embedding of the same samples.
    labels : array-like of shape (n_samples,) or None, default=None
        Labels of any type, for the accuracies. None and NaN mark samples without a label.
    references : tuple (X, Y) or (X, Y, labels), or None, default=None
        Samples that each sample is compared with, such as the training samples; None: the other
        samples.
    n_neighbors : int or None, default=None
        Number k of neighbors; None: 15, or fewer if there are few samples.
    sample : int, default=10000
        Maximum number of samples to measure, and 10 % of the maximum number of references. If
        there are more, they are chosen at random.
    random_state : int, default=0
        Seed of the choice and of the random pairs.
    n_jobs : int or None, default=None
        Number of threads; -1: all cores.

    Returns
    -------
    measures : dict
        ``trustworthiness`` and ``continuity`` (Venna and Kaski 2001), from 0 to 1. The k nearest in
        the map are near in the inputs, and the reverse. ``preservation``: the share of the k
        nearest in the inputs that are also the k nearest in the map. ``accuracy_1``,
        ``accuracy_5``, ``accuracy_15``: accuracy of the label of most of the nearest references in
        the map; NaN without labels. ``triplets``: the share of random pairs of which the same one
        is nearer in inputs and map. ``spearman``: rank correlation of the distances of random
        pairs. ``n_neighbors``, ``n_rows``, ``n_references``: k, the number of samples measured, and
        the number of references of each.

    Examples
    --------
    >>> import enhope
    >>> X, y = enhope.datasets.load("synthetic:blobs,n=300,classes=3,inputs=5,seed=1", return_X_y=True)
    >>> measures = enhope.metrics.measure_map(X, X[:, :2], y)
    >>> measures["n_rows"], measures["n_references"], measures["n_neighbors"]
    (300, 299, 15)
    """
    numbers = {"n_neighbors": 0 if n_neighbors is None else n_neighbors, "sample": sample, "random_state": random_state}
    for name, value in numbers.items():
        minimum = 0 if name == "random_state" or (name == "n_neighbors" and n_neighbors is None) else 1
        try:
            numbers[name] = operator.index(value)
        except TypeError:
            numbers[name] = -1
        if not minimum <= numbers[name] < 2**31:
            raise ValueError(f"{name} is {value!r}: expected an integer of at least {minimum}")
    if references is not None and (not isinstance(references, (tuple, list)) or len(references) not in (2, 3)):
        raise ValueError("references must be (X, Y) or (X, Y, labels)")
    classes = {}
    with _places.of(X):
        other = _points(references[0], references[1], references[2] if len(references) == 3 else None,
                        classes) if references is not None else None
        rows = _points(X, Y, labels, classes)
        threads = _placement.n_threads(n_jobs)
        return _enhope.measure_map((*rows, len(classes)), None if other is None else (*other, len(classes)),
                                   ("cpu", "fp32", threads), *numbers.values())
