"""Data as the command ``enhope`` reads it: IDX, CSV, TSV, LIBSVM, NPY, NPZ, MAT, plain or gzipped, and synthetic data."""

import os
from typing import Any, List, Optional, Tuple, Union

import numpy as np

from . import _arrays, _enhope

__all__ = ["Data", "load"]


class _Block:
    """An array that lies in a data set, for numpy to look at."""

    def __init__(self, owner, address, shape, typestr):
        self._owner = owner
        self.__array_interface__ = {"version": 3, "data": (address, True), "shape": shape, "typestr": typestr}


class Data:
    """Samples, their labels and what they are called.

    Attributes
    ----------
    data : array or scipy.sparse.csr_matrix of shape (n_samples, n_features)
        uint8 or float32, where the file's reader left it: not copied, read-only. Sparse data is a matrix of scipy's where
        that is installed, else dense.
    target : array of shape (n_samples,), or None
        Labels: numbers where all names of classes are, else texts; None where there are none.
    target_names : list of str
    feature_names : list of str, or None
    image_shape : tuple of (int, int), or None
    """

    data: Any
    target: Optional[np.ndarray]
    target_names: List[str]
    feature_names: Optional[List[str]]
    image_shape: Optional[Tuple[int, int]]

    def __init__(self, read):
        info = read.info()
        n, H = info["n"], info["inputs"]

        def block(name, shape, typestr):
            address = read.address(name)
            return None if address is None else np.asarray(_Block(read, address, shape, typestr))

        if info["kind"] == "csr":
            self.data = _sparse(block, n, H, info["stored"])
        else:
            self.data = block("x", (n, H), "|u1" if info["kind"] == "u8" else "<f4")
        self.target_names = read.names(True)
        code = block("label", (n,), "<i4")
        self.target = None
        if code is not None:
            values = _arrays.label_values(self.target_names)
            if (code < 0).any():  # samples without a label
                self.target = np.where(code < 0, None, values.astype(object)[np.maximum(code, 0)])
            else:
                self.target = values[code]
        self.feature_names = read.names(False)
        self.image_shape = (info["image_rows"], info["image_columns"]) if info["image_rows"] else None

    def __repr__(self):
        n, H = self.data.shape
        return f"<enhope data: {n} samples of {H} inputs, {len(self.target_names)} classes>"


def _sparse(block, n, H, stored):
    start = block("row_start", (n + 1,), "<i8")
    column, value = block("column", (stored,), "<i4"), block("value", (stored,), "<f4")
    if stored == 0:
        column, value = np.empty(0, np.int32), np.empty(0, np.float32)
    try:
        from scipy.sparse import csr_matrix
    except ImportError:
        dense = np.zeros((n, H), np.float32)
        dense[np.repeat(np.arange(n), np.diff(start)), column] = value
        return dense
    return csr_matrix((value, column, start), shape=(n, H))


def load(
    path: "Union[str, os.PathLike[str]]",
    part: Optional[str] = None,
    label: Union[str, int, None] = None,
    split: Optional[str] = None,
    limit: int = 0,
    variables: Optional[str] = None,
    return_X_y: bool = False,
) -> "Union[Data, Tuple[Any, Optional[np.ndarray]]]":
    """Reads data.

    Parameters
    ----------
    path : str or path
        A file, a folder of IDX files, ``"X.npy,y.npy"``, ``"synthetic:digits,n=6000,seed=1"`` or
        ``"synthetic:blobs,n=600,classes=3,inputs=5,seed=1"``.
    part : "train" or "test", optional
        The half of a folder, of an NPZ or of a split.
    label : str, optional
        Of CSV: the column of labels by name or by number from 1; ``"none"``: there is none.
    split : str, optional
        ``"N@SEED"``: shuffled, the first N are the train part.
    limit : int
        The first so many samples; 0: all.
    variables : str, optional
        Of MAT and NPZ: ``"X,y"``, the names of the variables.
    return_X_y : bool
        Gives ``(data, target)`` in place of a ``Data``.

    Examples
    --------
    >>> import enhope
    >>> digits = enhope.datasets.load("synthetic:digits,n=200,seed=1")
    >>> digits
    <enhope data: 200 samples of 784 inputs, 10 classes>
    >>> digits.data.dtype, digits.image_shape
    (dtype('uint8'), (28, 28))
    """
    text = None if label is None else str(label)
    data = Data(_enhope.read(os.fspath(path), part, text, split, variables, 0, int(limit)))
    return (data.data, data.target) if return_X_y else data
