"""Base classes of the estimators: those of scikit-learn, or minimal replacements."""

import sys
import warnings

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
    from sklearn.exceptions import DataConversionWarning, NotFittedError

    HAVE_SKLEARN = True
except ImportError:
    HAVE_SKLEARN = False

    class NotFittedError(ValueError, AttributeError):
        """Raised if an estimator is used before it is fitted."""

    class DataConversionWarning(UserWarning):
        """Warning about an implicit conversion of an argument."""

    class BaseEstimator:
        """The text of an estimator."""

        def __repr__(self):
            changed = [f"{k}={v!r}" for k, v in self.get_params().items() if v != self._defaults[k]]
            return f"{type(self).__name__}({', '.join(changed)})"

    class ClassifierMixin:
        """Accuracy."""

        _estimator_type = "classifier"

        def score(self, X, y, sample_weight=None):
            """Return the share of correctly classified samples."""
            import numpy as np

            return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))

    class TransformerMixin:
        """Empty: the estimators implement transform and fit_transform."""


def warn(text, category=UserWarning):
    """Issue a warning that points to the first line outside enhope and scikit-learn."""
    level, frame = 2, sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__")).split(".")[0] in ("enhope", "sklearn"):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)
