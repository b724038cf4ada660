"""Conversion of arrays, sparse matrices and data frames to the formats of the library.

The formats are float32 or uint8 in C order, and CSR. Data that already has such a format is not
copied. Only numpy is required: a sparse matrix is recognized by its method tocsr(), a frame by its
attribute columns.
"""

import ast

import numpy as np

from . import _places
from ._base import DataConversionWarning, warn

_float32, _uint8 = np.dtype(np.float32), np.dtype(np.uint8)


def feature_names(X):
    """Column names of a frame as an array of str; None if X has no names."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return None
    if hasattr(X, "collect") and not hasattr(X, "to_numpy"):
        raise TypeError(f"X is a {type(X).__name__}: expected a frame with values; pass X.collect()")
    names = list(columns)
    texts = sum(isinstance(name, str) for name in names)
    if texts and texts < len(names):
        kinds = sorted({type(name).__name__ for name in names})
        raise TypeError(f"X has column names of types {', '.join(kinds)}: expected strings only, or none; convert with "
            "X.columns = X.columns.astype(str)"
        )
    return np.asarray(names, dtype=object) if texts else None


def _sparse(X):
    if getattr(X, "ndim", 2) != 2:
        raise ValueError(f"X is a sparse array of shape {X.shape}: expected two dimensions, samples x features")
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
        # copies, because the caller may change X during training
        np.array(X.indptr, dtype=np.int64),
        np.array(X.indices, dtype=np.int32),
        np.ascontiguousarray(_narrow(X.data), dtype=np.float32),
    )
    return (*parts, H), n, H, None


def _refuse_empty(n, H):
    if n < 1:
        raise ValueError(f"X has no samples (shape=({n}, {H})): expected at least 1")
    # scikit-learn's checks require this wording
    raise ValueError(f"X has 0 feature(s) (shape=({n}, {H})) while a minimum of 1 is required.")


def _narrow(a):
    """a as float32. Values out of range become infinite, which the library rejects."""
    if a.dtype == _float32:
        return a
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(a, dtype=np.float32)


def is_missing(value):
    """Whether a value is missing: None, NaN, or a missing value of a frame (NA, NaT, null)."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return False


def _frame_numbers(a, columns):
    """A frame as float64. The error message names the first column that is not numeric."""
    for j, name in enumerate(columns):
        try:
            if a.dtype.kind in "mM":
                raise TypeError
            a[:, j].astype(np.float64)
        except (TypeError, ValueError):
            values = a[:, j].tolist()
            missing = [v for v in values if is_missing(v)]
            other = next((v for v in values if not is_missing(v) and not isinstance(v, (int, float, np.number))), None)
            found = f"{other!r:.60}" if other is not None else f"{missing[0]!r}" if missing else str(a.dtype)
            raise ValueError(f"X: column {name!r} contains {found}: expected numbers; encode or drop it") from None
    return a.astype(np.float64)


def _numbers(a, X):
    """An array of objects or texts as float64. The error message has the place of a missing value or a text."""
    try:
        return a.astype(np.float64)
    except (TypeError, ValueError):
        for at in np.ndindex(a.shape) if a.ndim == 2 else ():
            if is_missing(a[at]):
                raise ValueError(_places.not_finite(X, *at, np.nan)) from None
            if isinstance(a[at], (str, bytes)):
                try:
                    float(a[at])
                except ValueError:
                    raise ValueError(f"{_places.place(X, *at)} is {a[at]!r:.60}: expected a number; pass a data frame, whose "
                                     "texts the model encodes") from None
        raise


def _is_foreign(X):
    """Whether X offers its memory by the array API's DLPack only."""
    return hasattr(X, "__dlpack__") and not any(hasattr(X, name) for name in ("__array__", "__array_interface__"))


def dense(X):
    """X as an array of numbers."""
    columns = getattr(X, "columns", None)
    if hasattr(X, "to_numpy") and not isinstance(X, np.ndarray):
        X = X.to_numpy()
    elif _is_foreign(X):
        X = np.from_dlpack(X)
    if np.ma.is_masked(X):
        raise ValueError("X has masked values: expected numbers only; replace them with X.filled(value)")
    a = np.asarray(X)
    if a.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X is of type {a.dtype}")
    if columns is not None and a.ndim == 2 and a.dtype.kind in "OUSVmM":
        return _frame_numbers(a, columns)
    if a.dtype.kind in "OUSV":
        a = _numbers(a, X)
    if a.dtype.kind not in "biuf":
        raise ValueError(f"X is of type {a.dtype}: expected numbers")
    return a


def table_shape(a):
    """(n, H) of an array of samples."""
    if a.ndim != 2:
        raise ValueError(
            f"X has {a.ndim} dimension{'' if a.ndim == 1 else 's'}: expected samples x features. Reshape your data: "
            "X.reshape(1, -1) is one sample, X.reshape(-1, 1) one feature"
        )
    n, H = a.shape
    if n < 1 or H < 1:
        _refuse_empty(n, H)
    return n, H


def matrix(X):
    """X as an array of numbers; None if it is sparse or already has a format of the library."""
    if hasattr(X, "tocsr") or (isinstance(X, np.ndarray) and X.dtype in (_float32, _uint8)):
        return None
    return dense(X)


def samples(X):
    """Convert X for the extension module: (data, n, H, image shape or None)."""
    if type(X) is np.ndarray and X.ndim == 2 and (X.dtype == _float32 or X.dtype == _uint8):
        flags = X.flags
        if flags.c_contiguous and flags.aligned and X.size:
            n, H = X.shape
            return X, n, H, None
    if hasattr(X, "tocsr"):
        return _sparse(X)
    a = dense(X)
    if a.ndim == 3:  # images
        if 0 in a.shape:
            _refuse_empty(a.shape[0], a.shape[1] * a.shape[2])
        data, n, H, _ = samples(a.reshape(a.shape[0], -1))
        return data, n, H, a.shape[1:]
    n, H = table_shape(a)
    if a.dtype.kind == "b":
        a = a.view(np.uint8)
    if a.dtype != _uint8:
        a = _narrow(a)
    if not (a.flags.c_contiguous and a.flags.aligned):
        a = np.array(a, order="C")  # also aligned, which ascontiguousarray does not guarantee
    return a, n, H, None


def _missing_labels(y):
    """The indices of the labels that are missing."""
    if y.dtype.kind == "O":
        return [i for i, value in enumerate(y.tolist()) if is_missing(value)]
    return np.flatnonzero(np.isnan(y) if y.dtype.kind == "f" else np.isnat(y)) if y.dtype.kind in "fmM" else ()


def _labeled(y, missing_label):
    """Which samples have a label, given the value that marks the others; NaN and None mark all missing values."""
    if is_missing(missing_label):
        labeled = np.ones(len(y), bool)
        labeled[_missing_labels(y)] = False
    else:
        labeled = np.asarray(y != missing_label, dtype=bool)
        if labeled.ndim == 0:  # numpy compares arrays of another type as a whole
            labeled = np.ones(len(y), bool)
    if not labeled.any():
        raise ValueError(f"y has no labels: every value is missing_label ({missing_label!r}); expected at least two classes")
    return labeled


def labels(y, n, name, missing_label=None):
    """Check y, and return its labels as an array and which samples have one (None: all n)."""
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None")
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        warn("A column-vector y was passed when a 1d array was expected; y.ravel() is used", DataConversionWarning)
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y has shape {y.shape}: expected (n_samples,), one label for each sample")
    if len(y) != n:
        raise ValueError(f"y has {len(y)} labels, but X has {n} samples: expected one label for each sample")
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported: y contains complex numbers")
    labeled = None if missing_label is None else _labeled(y, missing_label)
    if labeled is not None:
        y = y[labeled]
    missing = _missing_labels(y)
    if len(missing):
        value = y[missing[0]]
        raise ValueError(f"y[{missing[0]}] is {'NaN' if y.dtype.kind == 'f' else value}, a missing label: expected a "
                         "label for each sample; drop the samples without one, or set missing_label")
    if y.dtype.kind == "f":
        if np.isinf(y).any():
            raise ValueError(f"y[{np.isinf(y).argmax()}] is inf: expected integers or strings")
        if (y != np.floor(y)).any():
            raise ValueError("Unknown label type: continuous. Labels are classes: expected integers or strings")
    return y, labeled


def weights(sample_weight, n):
    """Check sample_weight and return it as an array of n float64; None: all samples are equal."""
    if sample_weight is None:
        return None
    values = np.asarray(sample_weight)
    if values.dtype.kind not in "biufO":
        raise ValueError(f"sample_weight is of type {values.dtype}: expected numbers")
    values = values.astype(np.float64)
    if values.ndim == 0:
        values = np.full(n, values)
    if values.shape != (n,):
        raise ValueError(f"sample_weight has shape {values.shape}: expected ({n},), one weight for each sample")
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(wrong):
        raise ValueError(f"sample_weight has {values[wrong[0]]} in row {wrong[0]}: expected finite numbers from 0")
    if not values.any():
        raise ValueError("sample_weight is 0 for all samples: expected at least one weight above 0")
    return values


def classes(y):
    """The sorted distinct labels, and the index of each sample's label among them."""
    try:
        found, code = np.unique(y, return_inverse=True)
    except TypeError:
        kinds = sorted({type(v).__name__ for v in y.tolist()})
        raise ValueError(f"y has labels of types {', '.join(kinds)}, which cannot be sorted: expected one type; convert y to str") from None
    return found, code.reshape(-1)


def plain(text):
    """The text with NUL and characters that UTF-8 cannot encode replaced by escapes."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode("utf-8")


def label_text(label):
    """The name of a class in a model, for a label."""
    if isinstance(label, (float, np.floating)) and float(label).is_integer():
        label = int(label)
    return plain(str(label))


def _integers(names):
    """The names as integers; None unless every name is the decimal form of an integer."""
    try:
        numbers = [int(name) for name in names]
        if [str(number) for number in numbers] == list(names):
            return np.asarray(numbers, dtype=np.int64)
    except (ValueError, OverflowError):
        pass
    return None


def label_kind(labels):
    """The type of labels to record in a model file; None if the class names suffice."""
    kind = labels.dtype.kind
    if kind == "O":
        types = {type(label) for label in labels.tolist()}
        kind = {str: "U", bool: "b", bytes: "S"}.get(types.pop()) if len(types) == 1 else None
    if kind == "U":
        return None if _integers([label_text(label) for label in labels]) is None else "text"
    return {"b": "bool", "S": "bytes", "M": labels.dtype.name, "m": labels.dtype.name}.get(kind)


def label_values(names, kind=None):
    """Labels from class names. If kind is None: integers if all names are, otherwise strings."""
    if kind is None:
        numbers = _integers(names)
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
        raise ValueError(f"the model states labels of type {kind!r}, but its class names are not of that type: the file is damaged") from None
    return np.asarray(names, dtype=str)
