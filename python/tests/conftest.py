"""Fixtures. The tests use the package on PYTHONPATH; ENHOPE_COMMAND names the command of the same
build.
"""

import os

import numpy as np
import pytest

import enhope

QUICK = {"n_factors": 20, "n_hidden": 10, "hidden_layer_sizes": "20-10", "n_epochs": 30, "random_state": 1}
CLASSES = [cls for cls in vars(enhope).values()
           if isinstance(cls, type) and issubclass(cls, enhope.Estimator) and cls is not enhope.Estimator]


def quick(cls, **more):
    """An estimator of a class, with parameters that make training fast."""
    return cls(**{k: v for k, v in {**QUICK, **more}.items() if k in cls._defaults})


@pytest.fixture(scope="session")
def blobs():
    """Samples of three classes with five inputs (float32), and their labels."""
    X, y = enhope.datasets.load("synthetic:blobs,n=300,classes=3,inputs=5,seed=1", return_X_y=True)
    return np.array(X, np.float32), np.array(y)


@pytest.fixture(scope="session")
def command():
    path = os.environ.get("ENHOPE_COMMAND")
    if not path:
        pytest.skip("ENHOPE_COMMAND is not set")
    return path
