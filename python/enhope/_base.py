"""What an estimator stands on: scikit-learn's classes where it is installed, and small ones of the same use where not."""

import inspect
import sys
import warnings

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
    from sklearn.exceptions import DataConversionWarning, NotFittedError

    HAVE_SKLEARN = True
except ImportError:
    HAVE_SKLEARN = False

    class NotFittedError(ValueError, AttributeError):
        """An estimator was asked before it was fitted."""

    class DataConversionWarning(UserWarning):
        """What was given was taken for something else."""

    class BaseEstimator:
        """Parameters by name."""

        @classmethod
        def _get_param_names(cls):
            return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

        def get_params(self, deep=True):
            """The parameters, as a dict."""
            return {name: getattr(self, name) for name in self._get_param_names()}

        def set_params(self, **params):
            """Sets parameters by name."""
            known = self._get_param_names()
            for name, value in params.items():
                if name not in known:
                    raise ValueError(f"{type(self).__name__} has no parameter {name!r}: expected one of {known}")
                setattr(self, name, value)
            return self

        def __repr__(self):
            said = [f"{k}={v!r}" for k, v in self.get_params().items() if v != self._defaults[k]]
            return f"{type(self).__name__}({', '.join(said)})"

    class ClassifierMixin:
        """The share of samples that are classified rightly."""

        _estimator_type = "classifier"

        def score(self, X, y, sample_weight=None):
            """The mean of predict(X) == y."""
            import numpy as np

            return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))

    class TransformerMixin:
        """Nothing that the estimators do not have themselves."""


def warn(text, category=UserWarning):
    """A warning at the line that called us, from wherever in the package."""
    level, frame = 2, sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__")).split(".")[0] in ("enhope", "sklearn"):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)
