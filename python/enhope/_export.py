"""Exports of a fitted estimator to other programs: ONNX and C."""

import os


def _path_with(path, ending):
    path = os.fspath(path)
    text = os.fsdecode(path)
    if not text.endswith(ending):
        raise ValueError(f"path is {text!r}: expected a name that ends with {ending}")
    return path


def to_onnx(self, path=None, *, precision=None, encoded=False):
    """Export the model as ONNX (opset 17, standard operators).

    The graph has the outputs ``label``, ``probabilities`` (n_samples, n_classes) and ``embedding``
    (n_samples, n_components). Its input is ``input`` (n_samples, n_features), or one input
    (n_samples, 1) for each column if the model was fitted to a data frame with categories.

    Parameters
    ----------
    path : str or path-like, default=None
        File to write, which ends with .onnx. None returns the bytes.
    precision : {"float32", "int8"}, default=None
        Arithmetic of the graph. None: int8 if the model is stored in int8, else float32.
    encoded : bool, default=False
        Take the encoded inputs instead of the columns of the data frame.

    Returns
    -------
    bytes or None
        The contents of the file if path is None.
    """
    model = self._fitted_model()
    target = None if path is None else _path_with(path, ".onnx")
    return model.export(target, "onnx", precision, None, int(encoded))


def to_c(self, path=None, *, name="model", precision=None, encoded=False):
    """Export the model as a C99 file without dependencies, and its header.

    Parameters
    ----------
    path : str or path-like, default=None
        File to write, which ends with .c. The header, which ends with .h, is written beside it.
        None returns both.
    name : str, default="model"
        Prefix of all names in the file: model_predict, model_proba, model_embed.
    precision : {"float32", "int8"}, default=None
        Arithmetic of the code. None: int8 if the model is stored in int8, else float32.
    encoded : bool, default=False
        Leave out the function that encodes a row of a data frame.

    Returns
    -------
    (str, str) or None
        The source and the header if path is None.
    """
    model = self._fitted_model()
    if path is not None:
        return model.export(_path_with(path, ".c"), "c", precision, name, int(encoded))
    return tuple(model.export(None, part, precision, name, int(encoded)).decode("ascii") for part in ("c", "h"))
