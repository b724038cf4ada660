"""Supervised embeddings of labeled data, and classifiers that compare with a few exemplars.

Each method is a scikit-learn estimator. Start with ``EnHOPE``.

>>> import enhope
>>> X, y = enhope.datasets.load("synthetic:digits,n=600,seed=1", return_X_y=True)
>>> model = enhope.EnHOPE(n_factors=50, n_hidden=20, n_epochs=10, random_state=1).fit(X, y)
>>> model.transform(X).shape
(600, 2)
>>> len(model.exemplars_)
20
"""

import os as _os

# Waiting threads must not spin, because each call is short and other processes need the cores.
# OpenMP reads the variable when it is loaded, so _enhope is imported first.
_set_policy = not any(name in _os.environ for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"))
if _set_policy:
    _os.environ["OMP_WAIT_POLICY"] = "passive"
from . import _enhope

if _set_policy:
    del _os.environ["OMP_WAIT_POLICY"]
from . import datasets, metrics
from ._base import NotFittedError
from ._classes import from_model as _from_model, make_classes as _make_classes
from ._estimator import Estimator
from ._plot import Map, plot
from ._progress import Progress
from ._view import View, view

__version__ = _enhope.version

_made = _make_classes(__name__)
globals().update(_made)


def load(path):
    """Load an estimator from a model file.

    Parameters
    ----------
    path : str or path-like
        A file written by ``Estimator.save`` or by the command ``enhope``.

    Returns
    -------
    estimator : Estimator
        A fitted estimator of the class that belongs to the model's method. If the file does not
        state the type of the labels, they are integers if all class names are integers, otherwise
        strings.
    """
    return _from_model(_enhope.load(_os.fspath(path)), {cls._method["name"]: cls for cls in _made.values()})


def devices():
    """List the compute devices.

    Returns
    -------
    devices : list of tuple (name, available, text)
        ``name`` is a value for the parameter ``device``, ``available`` a bool, and ``text`` a
        description or the reason why the device is not available.
    """
    return _enhope.devices()


__all__ = [*_made, "Estimator", "Map", "NotFittedError", "Progress", "View", "datasets", "devices", "load", "metrics",
           "plot", "view"]
