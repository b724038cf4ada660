"""Tables whose columns the library encodes: texts, categories, booleans, dates, missing values, and
numbers that float32 cannot resolve.

A table is a list of columns for ``_enhope.frame``: ("number", name, values), ("boolean", ...),
("date", ...) with float64, NaN for missing; ("text", name, codes, texts); ("matrix", names, values).
Frames of pandas and polars are recognized by their attributes, so neither package is required.
"""

import datetime
import decimal
import numbers
import re

import numpy as np

from . import _arrays, _enhope, _places

# As in src/data/frame/encoding_fit.c: the distance of floats at the largest value of a column may
# be this part of the standard deviation.
_COARSEST = 1e-4
_BLOCK = 4096  # rows
# As in src/data/frame/ids.c: names of columns that may be ids, and rows above which a first column
# that counts them is one. The library decides.
_ID_NAME = re.compile(r"(?i:unnamed: .*|id|index|idx|row|rowid|no|nr|#|uuid|guid|)|.*[_. -](?i:id)|.*[a-z]I[dD]", re.S)
_FEW_ROWS = 20


class Table:
    """Columns of n rows. Slices are tables of some of the rows."""

    def __init__(self, columns, n):
        self.columns, self.n = columns, n

    def __getitem__(self, part):
        columns = [(kind, name, np.ascontiguousarray(values[part]), *texts) for kind, name, values, *texts in self.columns]
        return Table(columns, len(range(*part.indices(self.n))))

    def frame(self):
        """The columns as an object of the extension module."""
        return _enhope.frame(self.n, self.columns)


def payload(data):
    """The data for the extension module."""
    return data.frame() if isinstance(data, Table) else data


def training_data(X, names):
    """X for training: (data, n, H, image shape or None)."""
    if needs_encoding(X):
        table = of_frame(X, names)
        return table, table.n, len(table.columns), None
    a = _arrays.matrix(X)
    if a is None:
        return _arrays.samples(X)
    if needs_offset(a):
        return of_matrix(a, names, X), *a.shape, None
    return _arrays.samples(a)


def is_identity(columns):
    """Whether the columns of a model are numbers that are its inputs unchanged."""
    return all(c["type"] == "number" and c["offset"] == 0 and not c["missing"] and not c["constant"] for c in columns)


def model_data(X, names, columns, fitted_names):
    """X for a model with these columns: (data, n, H)."""
    if not hasattr(X, "tocsr"):
        if hasattr(X, "columns"):
            table = of_frame(X, names if fitted_names else None)
            return table, table.n, len(table.columns)
        if not is_identity(columns):
            a = X if isinstance(X, np.ndarray) else np.asarray(X)
            if a.ndim == 2 and a.dtype.kind in "OUS" and any(c["type"] != "number" for c in columns):
                table = of_frame(a, None)
            else:
                a = _arrays.dense(X)
                _arrays.table_shape(a)
                table = of_matrix(a, None, X)
            return table, table.n, a.shape[1]
    elif not is_identity(columns):
        raise ValueError("X is sparse, but the model was fitted to columns of different types: expected a data frame")
    return _arrays.samples(X)[:3]


# ---- columns of a frame ----


def _columns_of(X):
    """The columns of a frame as arrays or series, in order."""
    if hasattr(X, "iloc"):
        return [X.iloc[:, j] for j in range(X.shape[1])]
    if hasattr(X, "__getitem__"):
        return [X[name] for name in X.columns]
    return list(np.asarray(X.to_numpy()).T)


def _is_category(series):
    return hasattr(getattr(series, "dtype", None), "categories")


def _values(series):
    """The values of a column as an array. Times with a zone become those of the clock there."""
    if getattr(getattr(series, "dtype", None), "tz", None) is not None and hasattr(series, "dt"):
        series = series.dt.tz_localize(None)
    return series.to_numpy() if hasattr(series, "to_numpy") else np.asarray(series)


def _texts(name, values, missing):
    """A column of texts; values that are no texts are written as labels are."""
    texts, codes = [], np.full(len(values), -1, np.int32)
    known = {}
    for i, (value, absent) in enumerate(zip(values, missing)):
        if absent:
            continue
        code = known.get(value)
        if code is None:
            code = known[value] = len(texts)
            texts.append(_arrays.label_text(value).encode())
        codes[i] = code
    return "text", name, codes, texts


def _days(a):
    """Days since 1970-01-01 of an array of datetime64; NaN for NaT."""
    a = a.astype("datetime64[us]")
    days = a.astype(np.int64) / 86400e6
    days[np.isnat(a)] = np.nan
    return days


def _objects(label, name, a):
    """A column of Python objects, all of one kind apart from missing ones."""
    values = a.tolist()
    missing = [_arrays.is_missing(value) for value in values]
    some = [value for value, absent in zip(values, missing) if not absent]
    if all(isinstance(value, (bool, np.bool_)) for value in some):
        kind, convert = ("boolean" if some else "number"), float
    elif all(isinstance(value, (numbers.Real, decimal.Decimal)) for value in some):
        kind, convert = "number", float
    elif all(isinstance(value, (str, bytes)) for value in some):
        return _texts(name, values, missing)
    elif all(isinstance(value, (datetime.date, np.datetime64)) for value in some):
        clock = [None if absent else value.replace(tzinfo=None) if isinstance(value, datetime.datetime) else value
                 for value, absent in zip(values, missing)]
        return "date", name, _days(np.asarray(clock, dtype="datetime64[us]"))
    else:
        kinds = sorted({type(value).__name__ for value in some})
        raise ValueError(f"X: column {label!r} contains values of types {', '.join(kinds)}: expected one type; convert the "
                         f"column, for example with X[{label!r}].astype(str)")
    return kind, name, np.asarray([np.nan if absent else convert(value) for value, absent in zip(values, missing)])


def _column(label, name, series):
    """A column of a table, from a column of a frame."""
    a = _values(series)
    if a.ndim != 1:
        raise ValueError(f"X: column {label!r} has values of {a.ndim} dimensions: expected one value for each sample")
    if _is_category(series) or a.dtype.kind in "US":
        values = a.tolist()
        return _texts(name, values, [_arrays.is_missing(value) for value in values])
    if a.dtype.kind == "M":
        return "date", name, _days(a)
    if a.dtype.kind == "m":
        days = a.astype("timedelta64[us]").astype(np.int64) / 86400e6
        days[np.isnat(a)] = np.nan
        return "number", name, days
    if a.dtype.kind in "biuf":
        return ("boolean" if a.dtype.kind == "b" else "number"), name, np.array(a, dtype=np.float64)
    if a.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: column {label!r} of X is of type {a.dtype}")
    return _objects(label, name, a)


def of_frame(X, names):
    """The table of a frame or of an array of objects. names: an array of str, or None."""
    if hasattr(X, "columns"):
        labels, columns = list(X.columns), _columns_of(X)
    else:
        labels, columns = list(range(X.shape[1])), list(X.T)
    encoded = [None] * len(labels) if names is None else [_arrays.plain(name).encode() for name in names]
    return Table([_column(*some) for some in zip(labels, encoded, columns)], len(X))


def _may_be_id(j, label, a):
    """Whether the numbers of column j of a frame may be ids."""
    if not isinstance(label, str) or a.dtype.kind not in "iuf":
        return False
    if _ID_NAME.fullmatch(label):
        return True
    return j == 0 and len(a) > _FEW_ROWS and bool((a[1:] - a[:-1] == 1).all())


def needs_encoding(X):
    """Whether X is a frame with columns that are not numbers, with missing values, or with ids."""
    if not hasattr(X, "columns") or hasattr(X, "tocsr"):
        return False
    for j, (label, series) in enumerate(zip(X.columns, _columns_of(X))):
        if _is_category(series):
            return True
        a = _values(series)
        if _may_be_id(j, label, a):
            return True
        if a.dtype.kind in "USMm":
            return True
        if a.dtype.kind == "f" and np.isnan(a).any():
            return True
        if a.dtype.kind == "O" and not all(isinstance(value, numbers.Real) and value == value for value in a.tolist()):
            return True
    return False


# ---- numbers ----


def of_matrix(a, names, X):
    """The table of the numbers a (n, H) of X, which must be finite."""
    a = np.ascontiguousarray(a, dtype=np.float64)
    if not np.isfinite(a).all():
        i, j = np.argwhere(~np.isfinite(a))[0]
        raise ValueError(_places.not_finite(X, i, j, a[i, j]))
    encoded = None if names is None else [_arrays.plain(name).encode() for name in names]
    return Table([("matrix", encoded, a)], len(a))


def needs_offset(X):
    """Whether float32 cannot resolve the differences of a column of an array of finite numbers."""
    if X.ndim != 2 or 0 in X.shape or X.dtype.kind not in "iuf" or X.dtype.itemsize < 4 or X.dtype == np.float32:
        return False
    low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    with np.errstate(all="ignore"):
        spacing = np.maximum(np.abs(low), np.abs(high)) * np.finfo(np.float32).eps
        # the standard deviation is at least range / sqrt(2 n)
        suspect = np.flatnonzero((spacing > _COARSEST * (high - low) / np.sqrt(2 * len(X))) & (low < high))
        if len(suspect) == 0 or not np.isfinite(spacing).all():
            return False
        total, squares = np.zeros(len(suspect)), np.zeros(len(suspect))
        for begin in range(0, len(X), _BLOCK):
            block = X[begin:begin + _BLOCK, suspect].astype(np.float64) - low[suspect]
            total += block.sum(axis=0)
            squares += np.einsum("ij,ij->j", block, block)
        spread = np.sqrt(np.maximum(squares / len(X) - (total / len(X)) ** 2, 0))
    return bool((spacing[suspect] > _COARSEST * spread).any())
