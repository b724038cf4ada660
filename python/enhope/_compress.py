"""Small models of a fitted estimator: compression and weights in int8."""

import copy

from . import _arrays, _frames
from ._prediction import show_warnings


def compress(self, X, y, *, size=None, error=None, operations=None, bits=None, n_epochs=None):
    """Train further while weights are removed, for a model of a few kilobytes.

    At least one of the three limits is needed. The new estimator has the attribute
    ``compression_``, a dict of bytes, errors of the validation part, weights and multiplications,
    before and after.

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Training samples, those of ``fit`` in the same order: then the validation part is the same.
    y : array-like of shape (n_samples,)
        Labels.
    size : int, default=None
        Limit of the bytes of the saved file.
    error : float, default=None
        Limit of the fraction of errors in the validation part. The file becomes as small as this
        allows.
    operations : int, default=None
        Limit of the multiplications for a sample, which determine its time.
    bits : int, default=None
        Bits of a weight, 4 to 8. None: 5.
    n_epochs : int, default=None
        Length of a compression. None: 60.

    Returns
    -------
    estimator : object
        A new fitted estimator; this one is unchanged.
    """
    model, data, n = self._check_input(X)
    found, code = _arrays.classes(_arrays.labels(y, n, type(self).__name__)[0])
    for label in found:
        if label not in self.classes_:
            raise ValueError(f"y has the label {label!r}, which the model does not have: pass the training samples")
    limits = (size or 0, error or 0, operations or 0, bits or 0)
    settings = [] if n_epochs is None else [b"n_epochs", str(n_epochs).encode()]
    new, interruption, _, warnings, report = self._call_train(X, data, n, code, found, settings, model, limits=limits)
    if interruption is not None:
        raise interruption
    show_warnings(warnings)
    out = _with_model(self, new)
    out.compression_ = report
    return out


def quantize(self, X):
    """Store the weights in int8: about a quarter of the bytes, and faster predictions.

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Training samples, by which ranges are measured.

    Returns
    -------
    estimator : object
        A new fitted estimator; this one is unchanged.
    """
    model, data, n = self._check_input(X)
    return _with_model(self, model.quantize(_frames.payload(data), n))


def _with_model(estimator, model):
    out = copy.copy(estimator)
    note = estimator._model.note("python")
    if note is not None:
        model.set_note("python", note)
    out._set_model(model, estimator.classes_)
    return out
