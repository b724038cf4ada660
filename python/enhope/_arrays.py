"""From what people hold (arrays, sparse matrices, frames) to what the library reads: float32 or uint8 in C order, or CSR.

What is so already is not copied. No package but numpy is asked for: a sparse matrix is known by its tocsr(), a frame by its
columns."""

import ast

import numpy as np

from ._base import DataConversionWarning, warn

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
        raise TypeError(f"X names its columns by {', '.join(kinds)}: expected texts for all, or for none (numbers are no names)")
    return np.asarray(names, dtype=object) if texts else None


def _sparse(X):
    if getattr(X, "ndim", 2) != 2:
        raise ValueError(f"X is a sparse array of shape {X.shape}: expected two dimensions")
    X = X.tocsr()
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X is of type {X.dtype}")
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    n, H = X.shape
    if n < 1 or H < 1:
        _refuse_empty(n, H)
    if H > np.iinfo(np.int32).max:
        raise ValueError(f"X has {H} columns: expected fewer than 2^31")
    parts = (
        np.array(X.indptr, dtype=np.int64),  # copies: what was checked must not change while it is read
        np.array(X.indices, dtype=np.int32),
        np.ascontiguousarray(_narrow(X.data), dtype=np.float32),
    )
    return (*parts, H), n, H, None


def _refuse_empty(n, H):
    if n < 1:
        raise ValueError(f"X has no samples (shape=({n}, {H})): expected at least 1")
    # scikit-learn's checks look for these words
    raise ValueError(f"X has 0 feature(s) (shape=({n}, {H})) while a minimum of 1 is required.")


def _narrow(a):
    """As float32; a number that is too large becomes infinite, which the library refuses with its place."""
    if a.dtype == _float32:
        return a
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(a, dtype=np.float32)


def is_missing(value):
    """Whether something stands for what is not there: None, NaN, or what frames have for it (NA, NaT, null)."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return False


def _frame_numbers(a, columns):
    """float64 of a frame whose columns are not all of numbers' types; names the first that holds none."""
    for j, name in enumerate(columns):
        try:
            if a.dtype.kind in "mM":
                raise TypeError
            a[:, j].astype(np.float64)
        except (TypeError, ValueError):
            values = a[:, j].tolist()
            lost = [v for v in values if is_missing(v)]
            other = next((v for v in values if not is_missing(v) and not isinstance(v, (int, float, np.number))), None)
            held = f"{other!r:.60}" if other is not None else f"{lost[0]!r}" if lost else str(a.dtype)
            raise ValueError(f"X: column {name!r} holds {held}: expected numbers") from None
    return a.astype(np.float64)


def _dense(X):
    columns = getattr(X, "columns", None)
    if hasattr(X, "to_numpy") and not isinstance(X, np.ndarray):
        X = X.to_numpy()
    if np.ma.is_masked(X):
        raise ValueError("X has masked values: expected numbers for all, X.filled(value) has them")
    a = np.asarray(X)
    if a.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X is of type {a.dtype}")
    if columns is not None and a.ndim == 2 and a.dtype.kind in "OUSVmM":
        return _frame_numbers(a, columns)
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
            f"X has {a.ndim} dimension{'' if a.ndim == 1 else 's'}: expected samples x features. Reshape your data: "
            "X.reshape(1, -1) is one sample, X.reshape(-1, 1) one feature"
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
        warn("A column-vector y was passed when a 1d array was expected; it is taken as y.ravel()", DataConversionWarning)
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y is of shape {y.shape}: expected one label for each sample")
    if len(y) != n:
        raise ValueError(f"y has {len(y)} labels and X {n} samples: expected as many")
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported: y holds complex numbers")
    if y.dtype.kind == "f":
        if np.isnan(y).any():
            raise ValueError("y has NaN among its labels: expected a label for each sample")
        if np.isinf(y).any():
            raise ValueError("y has inf among its labels: expected whole numbers or texts")
        if (y != np.floor(y)).any():
            raise ValueError("Unknown label type: continuous. Labels are classes: expected whole numbers or texts")
    if (y.dtype.kind == "O" and any(map(is_missing, y.tolist()))) or (y.dtype.kind in "mM" and np.isnat(y).any()):
        raise ValueError("y has None, NaN, NaT or NA among its labels: expected a label for each sample")
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


def _numbers(names):
    """The names as whole numbers; None: some are not written as Python writes them."""
    try:
        numbers = [int(name) for name in names]
        if [str(number) for number in numbers] == list(names):
            return np.asarray(numbers, dtype=np.int64)
    except (ValueError, OverflowError):
        pass
    return None


def label_kind(labels):
    """What a file must tell for these labels to be read back as they are; None: nothing, their names do."""
    kind = labels.dtype.kind
    if kind == "O":
        types = {type(label) for label in labels.tolist()}
        kind = {str: "U", bool: "b", bytes: "S"}.get(types.pop()) if len(types) == 1 else None
    if kind == "U":
        return None if _numbers([label_text(label) for label in labels]) is None else "text"
    return {"b": "bool", "S": "bytes", "M": labels.dtype.name, "m": labels.dtype.name}.get(kind)


def label_values(names, kind=None):
    """Labels from the names of classes. By itself: numbers where all are whole numbers as Python writes them, else texts."""
    if kind is None:
        numbers = _numbers(names)
        return np.asarray(names, dtype=str) if numbers is None else numbers
    try:
        if kind == "bool":
            return np.asarray([("False", "True").index(name) for name in names], dtype=bool)
        if kind == "bytes":
            return np.asarray([ast.literal_eval(name) for name in names], dtype=bytes)
        if kind.startswith("datetime64"):
            return np.asarray(names, dtype=kind)
        if kind.startswith("timedelta64"):
            return np.asarray([int(name.split()[0]) for name in names], dtype=kind)
    except (ValueError, TypeError, SyntaxError, IndexError):
        raise ValueError(f"the model has classes that are no labels of the type {kind!r}, which it tells") from None
    return np.asarray(names, dtype=str)
