"""Labels of plots and pages, of which some may be missing."""

import numpy as np

from ._arrays import is_missing


def one_for_each(y, n):
    """y as an array of n labels."""
    labels = np.asarray(y).ravel()
    if len(labels) != n:
        raise ValueError(f"y has {len(labels)} labels, but X has {n} samples: expected one label for each sample")
    return labels


def encode(labels):
    """The classes, and the index of each label. Missing labels (None, NaN) form a class None."""
    values = labels.tolist() if labels.dtype.kind == "O" else list(labels)
    present = [not is_missing(value) for value in values]
    distinct = {value for value, ok in zip(values, present) if ok}
    try:
        classes = sorted(distinct)
    except TypeError:
        classes = sorted(distinct, key=lambda value: (type(value).__name__, str(value)))
    if not all(present):
        classes.append(None)
    index = {value: i for i, value in enumerate(classes)}
    return classes, np.array([index[value if ok else None] for value, ok in zip(values, present)], dtype=int)
