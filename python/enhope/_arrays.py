"""From what people hold (arrays, sparse matrices, frames) to what the library reads: float32 or uint8 in C order, or CSR.

What is so already is not copied. No package but numpy is asked for: a sparse matrix is known by its tocsr(), a frame by its
columns."""

import warnings

import numpy as np

from ._base import DataConversionWarning

_float32, _uint8 = np.dtype(np.float32), np.dtype(np.uint8)


def feature_names(X):
    """The names of a frame's columns as an array of str; None: it has none."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return None
    names = list(columns)
    texts = sum(isinstance(name, str) for name in names)
    if texts and texts < len(names):
        kinds = sorted({type(name).__name__ for name in names})
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{kinds} as feature name / column name types. If you want feature names to be stored and validated, you must "
            "convert them all to strings, by using X.columns = X.columns.astype(str) for example. Otherwise you can remove "
            "feature / column names from your input data, or convert them all to a non-string data type."
        )
    return np.asarray(names, dtype=object) if texts else None


def _sparse(X):
    if getattr(X, "ndim", 2) != 2:
        raise ValueError(f"X is a sparse array of shape {X.shape}: expected two dimensions")
    X = X.tocsr()
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{X!r}\n")
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    n, H = X.shape
    if n < 1 or H < 1:
        _refuse_empty(n, H)
    if H > np.iinfo(np.int32).max:
        raise ValueError(f"X has {H} columns: expected fewer than 2^31")
    parts = (
        np.ascontiguousarray(X.indptr, dtype=np.int64),
        np.ascontiguousarray(X.indices, dtype=np.int32),
        np.ascontiguousarray(_narrow(X.data), dtype=np.float32),
    )
    return (*parts, H), n, H, None


def _refuse_empty(n, H):
    if n < 1:
        raise ValueError(f"Found array with 0 sample(s) (shape=({n}, {H})) while a minimum of 1 is required.")
    raise ValueError(f"Found array with 0 feature(s) (shape=({n}, {H})) while a minimum of 1 is required.")


def _narrow(a):
    """As float32; a number that is too large becomes infinite, which the library refuses with its place."""
    if a.dtype == _float32:
        return a
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(a, dtype=np.float32)


def _dense(X):
    if hasattr(X, "to_numpy") and not isinstance(X, np.ndarray):
        X = X.to_numpy()
    a = np.asarray(X)
    if a.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{a!r}\n")
    if a.dtype.kind in "OUSV":
        a = a.astype(np.float64)  # raises what numpy says of what is no number
    if a.dtype.kind not in "biuf":
        raise ValueError(f"X is of type {a.dtype}: expected numbers")
    return a


def samples(X):
    """(what the module reads, n, H, image shape or None)"""
    if type(X) is np.ndarray and X.ndim == 2 and (X.dtype == _float32 or X.dtype == _uint8):
        flags = X.flags
        if flags.c_contiguous and flags.aligned and X.size:
            n, H = X.shape
            return X, n, H, None
    if hasattr(X, "tocsr"):
        return _sparse(X)
    a = _dense(X)
    if a.ndim == 3:  # images
        if 0 in a.shape:
            _refuse_empty(a.shape[0], a.shape[1] * a.shape[2])
        data, n, H, _ = samples(a.reshape(a.shape[0], -1))
        return data, n, H, a.shape[1:]
    if a.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {a.ndim}D array instead:\narray={a}.\nReshape your data either using "
            "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains a single sample."
        )
    n, H = a.shape
    if n < 1 or H < 1:
        _refuse_empty(n, H)
    if a.dtype.kind == "b":
        a = a.view(np.uint8)
    if a.dtype != _uint8:
        a = _narrow(a)
    if not (a.flags.c_contiguous and a.flags.aligned):
        a = np.array(a, order="C")  # aligned as well, which ascontiguousarray does not promise
    return a, n, H, None


def labels(y, n, name):
    """y as an array of n labels."""
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None")
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples, ), "
            "for example using ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    if len(y) != n:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n}, {len(y)}]")
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported: y holds complex numbers")
    if y.dtype.kind == "f":
        if np.isnan(y).any():
            raise ValueError("Input y contains NaN.")
        if np.isinf(y).any():
            raise ValueError(f"Input y contains infinity or a value too large for {y.dtype!r}.")
        if (y != np.floor(y)).any():
            raise ValueError("Unknown label type: continuous. Labels are classes: expected whole numbers or texts")
    if y.dtype.kind == "O" and any(v is None or v != v for v in y.tolist()):
        raise ValueError("Input y contains NaN or None: expected a label for each sample")
    return y


def classes(y):
    """The distinct labels in order, and the number of each sample's."""
    try:
        found, code = np.unique(y, return_inverse=True)
    except TypeError:
        kinds = sorted({type(v).__name__ for v in y.tolist()})
        raise ValueError(f"y has labels of types {', '.join(kinds)} that have no order: expected one type") from None
    return found, code.reshape(-1)


def plain(text):
    """A text that every file can hold: what is no UTF-8, and NUL, is written out."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode("utf-8")


def label_text(label):
    """The name of a class in a model."""
    if isinstance(label, (float, np.floating)) and float(label).is_integer():
        label = int(label)
    return plain(str(label))


def label_values(names):
    """Labels from the names of classes: numbers where all are whole numbers as Python writes them, else texts."""
    try:
        numbers = [int(name) for name in names]
        if [str(number) for number in numbers] == list(names):
            return np.asarray(numbers, dtype=np.int64)
    except (ValueError, OverflowError):
        pass
    return np.asarray(names, dtype=str)
