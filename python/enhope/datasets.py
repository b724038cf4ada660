"""Read data sets in the formats of the command ``enhope``.

The formats are IDX, CSV, TSV, LIBSVM, NPY, NPZ and MAT, plain or gzipped, and synthetic data.
"""

import os
from typing import Any, List, Optional, Tuple, Union

import numpy as np

from . import _arrays, _enhope

__all__ = ["Data", "load"]


class _Block:
    """Gives numpy access to an array of a data set without a copy."""

    def __init__(self, owner, address, shape, typestr):
        self._owner = owner
        self.__array_interface__ = {"version": 3, "data": (address, True), "shape": shape, "typestr": typestr}


class Data:
    """A data set, as returned by ``load``.

    Attributes
    ----------
    data : ndarray or scipy.sparse.csr_matrix of shape (n_samples, n_features)
        Samples as uint8 or float32, read-only. Sparse data is dense if scipy is not installed.
    target : ndarray of shape (n_samples,) or None
        Labels: integers if all class names are integers, otherwise strings. None if the data has no
        labels.
    target_names : list of str
        Names of the classes.
    feature_names : list of str or None
        Names of the inputs, if the data has them.
    image_shape : tuple of (int, int) or None
        Rows and columns, if the samples are images.
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
    classes: "Union[str, os.PathLike[str], None]" = None,
) -> "Union[Data, Tuple[Any, Optional[np.ndarray]]]":
    """Read a data set.

    Parameters
    ----------
    path : str or path-like
        A file, a folder of IDX files or images, ``"X.npy,y.npy"``,
        ``"synthetic:digits,n=6000,seed=1"`` or
        ``"synthetic:blobs,n=600,classes=3,inputs=5,seed=1"``.
    part : {"train", "test"} or None, default=None
        Part of a folder, of an NPZ file or of a split to read.
    label : str, int or None, default=None
        For CSV, the column with the labels: its name, or its number from 1. ``"none"`` if there is
        none.
    split : str or None, default=None
        ``"N@SEED"`` shuffles the samples; the first N are the part ``"train"``. With a fraction, as
        in ``"0.8@1"``, the part ``"train"`` has this fraction of every class.
    limit : int, default=0
        Maximum number of samples to read; 0 reads all.
    variables : str or None, default=None
        For MAT and NPZ, the names of the variables: ``"X,y"``.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a ``Data`` object.
    classes : str, path-like or None, default=None
        A file with the names of classes whose labels are numbers: one name per line, for the
        classes 0, 1, ..., or lines ``NUMBER,NAME``.

    Returns
    -------
    data : Data, or tuple of (ndarray, ndarray)

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
    data = Data(_enhope.read(os.fspath(path), part, text, split, variables, int(limit),
                             None if classes is None else os.fspath(classes)))
    return (data.data, data.target) if return_X_y else data
