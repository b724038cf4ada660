"""enhope: a map of labelled data in two dimensions, and a classifier that looks at a few exemplars.

Each method is a scikit-learn estimator; ``EnHOPE`` is the one to begin with.

>>> import enhope
>>> X, y = enhope.datasets.load("synthetic:digits,n=600,seed=1", return_X_y=True)
>>> model = enhope.EnHOPE(factors=50, hidden=20, epochs=10).fit(X, y)
>>> model.transform(X).shape
(600, 2)
>>> len(model.exemplars_)
20
"""

import os as _os

# Threads that wait must not spin: work comes in small pieces, and others may want the cores. OpenMP reads this when it is
# loaded, so our module is the first to be imported here.
_quiet = not any(name in _os.environ for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"))
if _quiet:
    _os.environ["OMP_WAIT_POLICY"] = "passive"
from . import _enhope

if _quiet:
    del _os.environ["OMP_WAIT_POLICY"]
from . import datasets
from ._base import NotFittedError
from ._estimator import Estimator, from_model as _from_model, make_classes as _make_classes
from ._plot import Map, plot
from ._progress import Progress

__version__ = _enhope.version

_classes = _make_classes(__name__)
globals().update(_classes)


def load(path):
    """The estimator in a model file, of this package or of the command ``enhope``.

    Labels are numbers where all names of classes in the file are whole numbers, else texts.
    """
    return _from_model(_enhope.load(_os.fspath(path)), {cls._method["name"]: cls for cls in _classes.values()})


def devices():
    """What this machine computes on: a list of (name, available, text)."""
    return _enhope.devices()


__all__ = [*_classes, "Estimator", "Map", "NotFittedError", "Progress", "datasets", "devices", "load", "plot"]
