"""Messages about values of X, with rows and columns as the user knows them.

The library counts from 1 and knows neither the index of a frame nor the type of X. Its messages are
rewritten here: rows and columns count from 0, those of a frame have their names.
"""

import contextlib
import re

import numpy as np

_LARGEST = float(np.finfo(np.float32).max)
_PLACE = re.compile(r"(?:X: )?(?:sample|row) (\d+)(?:, column (?:(\d+)|('.*?')))?(?: \('.*?'\))?(?=[ :,])")

_GIVEN = re.compile(r"'column (\d+)'")  # of a column without a name
_INPUT = re.compile(r"input (\d+)(?: \((['].*?['])\))?(?= has a value of size)")


def _label_of(X, i):
    """The label of row i in the index of a frame; the number if it has none."""
    index = getattr(X, "index", None)
    try:
        return index[i] if index is not None and not callable(index) else i
    except (TypeError, KeyError, IndexError):
        return i


def place(X, i, j=None):
    """The text for row i and column j of X: "X[3, 1]", or "row 'b7', column 'age' of X"."""
    columns = getattr(X, "columns", None)
    if columns is not None:
        row = f"row {_label_of(X, i)!r}"
        return f"{row} of X" if j is None else f"{row}, column {list(columns)[j]!r} of X"
    if j is None:
        return f"X[{i}]"
    shape = getattr(X, "shape", ())
    if len(shape) == 3:
        return f"X[{i}, {j // shape[2]}, {j % shape[2]}]"
    return f"X[{i}, {j}]"


def not_finite(X, i, j, value):
    """The message for a value that the library refuses as not finite."""
    where = place(X, i, j)
    if value != value:
        other = ("train with missing values in this column" if hasattr(X, "columns") else
                 "fit to a data frame, whose missing values the model encodes")
        return (f"{where} is NaN, a missing value: expected a number; fill it, for example with sklearn.impute.SimpleImputer, "
                f"drop the row, or {other}")
    if abs(value) == np.inf:
        return f"{where} is {value}: expected a finite number; replace it, or drop the row"
    return (f"{where} is {value:.6g}: expected at most {_LARGEST:.4g} in size, the largest float32; divide the column, "
            "or take its logarithm")


def _value(X, i, j):
    """The value of X as the user passed it, as float; NaN if it is no number."""
    try:
        if hasattr(X, "tocsr"):
            return float(X.tocsr()[i, j])
        if hasattr(X, "iloc"):
            return float(X.iloc[i, j])
        a = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X)
        return float(a.reshape(len(a), -1)[i, j])
    except (TypeError, ValueError, IndexError):
        return np.nan


def _column_number(X, number, name):
    """The column of X from a message: a number that counts from 1, or a quoted name. None: unknown."""
    given = _GIVEN.fullmatch(name or "")
    if number or given:
        return int(number or given.group(1)) - 1
    columns = [str(label) for label in getattr(X, "columns", ())]
    return columns.index(name[1:-1]) if name and name[1:-1] in columns else None


def _input(X, number, name):
    """The text for an input of the model. A model of a frame encodes its columns, so that the name counts."""
    if name and not _GIVEN.fullmatch(name):
        return f"column {name} of X"
    j = _column_number(X, None if name else number, name)
    shape = getattr(X, "shape", ())
    return f"X[:, {j // shape[2]}, {j % shape[2]}]" if len(shape) == 3 else f"X[:, {j}]"


def _rewritten(text, X, first):
    found = _INPUT.match(text)
    if found:
        return _input(X, *found.groups()) + text[found.end():]
    found = _PLACE.match(text)
    if not found:
        return text
    i, j = int(found.group(1)) - 1 + first, _column_number(X, found.group(2), found.group(3))
    rest = text[found.end():]
    if j is not None and re.match(r"(?:: .* is too large| is (?:NaN|-?infinite)):", rest):
        return not_finite(X, i, j, _value(X, i, j))
    column = f", column {found.group(3)}" if found.group(3) and j is None else ""
    return place(X, i, j) + column + rest


def of_warnings(text, X):
    """Lines of the library about X. It gives columns without names the name 'column 1' and so on."""
    columns = getattr(X, "columns", None)

    def name(found):
        j = int(found.group(1)) - 1
        return f"X[:, {j}]" if columns is None else repr(list(columns)[j])

    return _GIVEN.sub(name, text)


@contextlib.contextmanager
def of(X, first=0):
    """Rewrite the ValueErrors of the library about rows of X, whose row `first` is its first."""
    try:
        yield
    except ValueError as error:
        text = _rewritten(str(error), X, first)
        if text == str(error):
            raise
        raise type(error)(text) from None
