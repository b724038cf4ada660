"""The base class of the estimators: training, files, and the interface of scikit-learn."""

import copyreg
import json
import operator
import os
import sys

import numpy as np

from . import _arrays, _compress, _enhope, _export, _frames, _places, _table
from ._base import BaseEstimator
from ._parameters import unknown_parameter
from ._prediction import Prediction, show_warnings
from ._progress import Listener
from ._weighted import WeightedFit

# Pickle, copy and joblib store a model as the contents of its file.
copyreg.pickle(_enhope.Model, lambda model: (_enhope.from_bytes, (model.to_bytes(),)))

# Checks of scikit-learn that fail, with the reason: for methods with weights of samples, and for other
# methods than en-hope. The checks of weights have other names since scikit-learn 1.6.
_FAILED_WEIGHT_CHECKS = dict.fromkeys(
    ("check_sample_weights_invariance", "check_sample_weight_equivalence_on_dense_data",
     "check_sample_weight_equivalence_on_sparse_data"),
    "it changes the order of the samples, on which batches, noise and the validation part depend",
)
_EXPECTED_FAILED_CHECKS = {
    "check_class_weight_classifiers": "class weights change the training, not the votes of neighbors, so on 50 samples of "
    "overlapping classes a weight of 10,000,000 does not give nearly all predictions to one class",
}


class Estimator(Prediction, BaseEstimator):
    """Base class of all estimators. Use a subclass, such as ``EnHOPE``."""

    _method = None  # row of the table of methods
    _settings = ()  # (parameter, row of the table of settings)
    _defaults = {}  # of all parameters, by name
    _main = ()  # names of the parameters in the signature
    _columns = None  # of the training data, if the model encodes them

    # ---- training ----

    def fit(self, X, y=None):
        """Train the model.

        Ctrl-C stops training and raises KeyboardInterrupt; the estimator then has the best state so
        far.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Training samples. An array of three dimensions contains images. Arrays of float32 and
            uint8 in C order are not copied; other numbers are converted to float32. Frames may
            have columns of texts, categories, booleans and dates, and missing values; the model
            encodes them. Columns of uint8 are scaled together, like intensities of images; for a
            table with columns of different units, pass float32 or choose the scaling
            ``'standard'``.
        y : array-like of shape (n_samples,)
            Labels of any type. ``EnTSNE``, ``DeepEnTSNE``, ``LinearEnTSNE``, ``PtSNE``, ``PCA`` and
            ``LPP`` also accept None; the estimator then has ``transform``, but does not predict.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, y, None)

    def _fit(self, X, y, sample_weight):
        continues = getattr(self, "warm_start", False) and hasattr(self, "_model")
        return self._train(X, y, continues, {}, sample_weight=sample_weight)

    def _fit_epoch(self, X, y, classes, sample_weight):
        continues = hasattr(self, "_model")
        known = None if classes is None or continues else np.unique(np.asarray(classes))
        overrides = {"n_epochs": 1, "validation_fraction": 0, "patience": 0}
        return self._train(X, y, continues, overrides, known, sample_weight)

    def _train(self, X, y, continues, overrides, all_classes=None, sample_weight=None):
        names = _arrays.feature_names(X)
        image = None
        if not continues:
            data, n, H, image = _frames.training_data(X, names)
        elif self._columns is not None:
            data, n, H = self._encoded(X, names)
        else:
            data, n, H, image = _arrays.samples(X)
            self._check_features(X, H, names)
        encoded = isinstance(data, _frames.Table)
        if y is not None or not self._method["unlabeled"]:
            y, labeled = _arrays.labels(y, n, type(self).__name__, self.missing_label)
        weights = _arrays.weights(sample_weight, n)
        if n == 1 and not continues:
            raise ValueError("X has 1 sample: training needs samples of at least two classes")
        found, code = (np.empty(0, int), None) if y is None else _arrays.classes(y)
        if all_classes is not None:
            if code is None:
                raise ValueError("classes was given without y: expected labels in y, or no classes")
            code = _renumber(found, code, all_classes)
            found = all_classes
        if y is not None and labeled is not None:
            numbers = np.full(n, -1, code.dtype)
            numbers[labeled] = code
            code = numbers
        inputs = None if names is None or encoded else [_arrays.plain(name).encode() for name in names]
        image = image or self._image_shape()
        if continues:
            self._check_fixed()
        fixed = self._fixed if continues and hasattr(self, "_fixed") else self._fixed_parameters()
        model, interruption, information, warnings, _ = self._call_train(
            X, data, n, code, found, self._setting_texts(overrides, continues), self._model if continues else None,
            inputs=inputs, image=image, weights=weights)
        classes = np.union1d(self.classes_, found) if continues else found
        if not continues or not hasattr(self, "n_features_in_"):
            self.n_features_in_ = H
            if names is not None:
                self.feature_names_in_ = names
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        self._fixed = fixed
        self._write_note(model, classes, overrides)
        self._set_model(model, classes)
        if interruption is not None:
            raise interruption
        for line in information.splitlines() if self.verbose else ():
            sys.stderr.write(line + "\n")
        show_warnings(warnings)
        return self

    def _call_train(self, X, data, n, code, found, settings, model, *, inputs=None, image=(0, 0), weights=None, limits=None):
        """Train on the samples and the numbers of their labels, which are those of `found`.

        A given model continues; with limits it is compressed. Returns the model, the exception that
        stopped training or None, information, warnings, and the report of a compression or None.
        """
        texts = [_arrays.label_text(label).encode() for label in found]
        rows, columns = image
        listener = Listener(self.callback, self.verbose) if self.callback or self.verbose else None
        try:
            with _places.of(X):
                model, _, interruption, information, warnings, report = _enhope.train(
                    _frames.payload(data), n, None if code is None else code.astype(np.int32), texts, inputs, int(rows), int(columns), settings,
                    self._training_placement(), model, listener, weights, limits,
                )
        finally:
            if listener:
                listener.close()
        return model, interruption, information, _places.of_warnings(warnings, X), report

    def _fixed_parameters(self):
        """The parameters that cannot change when training continues, as texts."""
        return {
            parameter: None if getattr(self, parameter) is None else _table.value_text(getattr(self, parameter), row)
            for parameter, row in _table.settings_of(self._method)
            if row["fixed"]
        }

    def _check_fixed(self):
        fixed = getattr(self, "_fixed", {})
        for parameter, text in self._fixed_parameters().items():
            if text != fixed.get(parameter, text):
                raise ValueError(
                    f"{parameter} is {getattr(self, parameter)!r}: training continues from a model with "
                    f"{fixed[parameter]}, which cannot change; create a new estimator, or call fit with warm_start=False"
                )

    def _write_note(self, model, classes, overrides):
        """Store in the model the type of labels and the overridden parameters."""
        note = {}
        kind = _arrays.label_kind(classes)
        if kind is not None:
            note["labels"] = kind
        values = {key: getattr(self, key) for key in overrides if key in self._defaults}
        if values:
            note["parameters"] = {key: None if value is None else str(value) for key, value in values.items()}
        if note:
            model.set_note("python", json.dumps(note))

    def _set_model(self, model, classes):
        """Set the fitted attributes from a model and its sorted labels."""
        info = model.info()
        index = {_arrays.label_text(label): i for i, label in enumerate(classes)}
        order = np.asarray([index[_arrays.label_text(name)] for name in model.classes()], dtype=np.intp)
        self._model = model
        self._columns = model.columns()
        self._order = order
        self._labels = classes[order]
        self.classes_ = classes
        self.n_iter_ = info["epochs"]
        if info["exemplars"]:
            self.exemplars_ = np.empty((info["references"], info["inputs"]), np.float32)
            model.exemplars(self.exemplars_)
            label = np.empty(info["references"], np.int32)
            model.references(None, None, label)
            self.exemplar_labels_ = self._labels[label]

    @property
    def history_(self):
        """Results of each epoch, a dict of arrays epoch, seconds, loss and valid_error."""
        if "_model" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no history_ yet: call fit first")
        columns = np.asarray(self._model.history(), dtype=np.float64).reshape(-1, 4).T
        history = dict(zip(("epoch", "seconds", "loss", "valid_error"), columns.copy()))
        history["epoch"] = history["epoch"].astype(np.int64)
        return history

    @property
    def settings_(self):
        """Effective settings of the training, a dict: also those that the recipe or the data chose."""
        if "_model" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no settings_ yet: call fit first")
        settings = _table.effective(self._model, self._settings)
        if isinstance(settings.get("class_weight"), str) and settings["class_weight"] != "balanced":
            settings["class_weight"] = _table.class_weights(settings["class_weight"], self.classes_.tolist())
        return settings

    def _seed(self, value, continues):
        """The seed for a training: of the model that continues, drawn if it is not an integer."""
        if value is None and continues:
            return self._model.setting("random_state")
        if value is None:
            value = np.random  # the global generator, as in scikit-learn
        for draw in ("randint", "integers"):
            if hasattr(value, draw):
                return int(getattr(value, draw)(0, 2**31 - 1))
        return value

    def _setting_texts(self, overrides, continues):
        """Names and values of the parameters, without fixed ones if training continues."""
        recipe = getattr(self, "recipe", None)
        texts = [] if recipe is None else ["recipe", recipe]
        texts += ["method", self._method["name"]]
        for parameter, row in self._settings:
            value = overrides.get(parameter, getattr(self, parameter))
            if row["name"] == "random_state":
                value = self._seed(value, continues)
            if value is None or row["name"] == "recipe" or (continues and row["fixed"]):
                continue
            texts += [row["name"], _table.value_text(value, row)]
        return [_arrays.plain(str(text)).encode() for text in texts]

    def _image_shape(self):
        if self.image_shape is None:
            return 0, 0
        try:
            rows, columns = (operator.index(side) for side in self.image_shape)
            if rows > 0 and columns > 0:
                return rows, columns
        except (TypeError, ValueError):
            pass
        raise ValueError(f"image_shape is {self.image_shape!r}: expected two positive integers, rows and columns, or None")

    # ---- files ----

    def save(self, path):
        """Save the model to a file that ``enhope.load`` and the command ``enhope`` can read.

        The write is atomic: an error leaves an existing file unchanged.

        Parameters
        ----------
        path : str or path-like
            File to write.
        """
        self._fitted_model().save(os.fspath(path))

    to_onnx = _export.to_onnx
    to_c = _export.to_c
    compress = _compress.compress
    quantize = _compress.quantize

    def __getstate__(self):
        return {**self.__dict__, "_enhope_version": _enhope.version}

    def __setstate__(self, state):
        """Restore a pickle of any version. Missing parameters have their defaults."""
        self.__dict__.update({_table.current_name(name) or name: value for name, value in state.items()})
        self.__dict__.pop("_enhope_version", None)

    # ---- scikit-learn's interface ----

    def get_params(self, deep=True):
        """Return the main parameters, and the others that differ from their defaults.

        Parameters
        ----------
        deep : bool, default=True
            Ignored; present for compatibility with scikit-learn.

        Returns
        -------
        params : dict
            Values of parameters by name.
        """
        return {name: getattr(self, name) for name in sorted(self._defaults) if name in self._main or not self._is_default(name)}

    def _is_default(self, name):
        value, default = getattr(self, name), self._defaults[name]
        return value is default or (isinstance(value, str) and value == default)

    def set_params(self, **params):
        """Set parameters by name.

        Parameters
        ----------
        **params : dict
            New values of any parameters. ``settings`` is a dict of further ones.

        Returns
        -------
        self : object
            The estimator.
        """
        params = {**(params.pop("settings", None) or {}), **params}
        for name in params:
            if name not in self._defaults:
                raise ValueError(unknown_parameter(type(self).__name__, name, self._defaults))
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def get_feature_names_out(self, input_features=None):
        """Return the names of the components: class name in lower case and number (enhope0).

        Parameters
        ----------
        input_features : None
            Ignored; present for compatibility with scikit-learn.

        Returns
        -------
        names : ndarray of str
            Names of the components.
        """
        outputs = self._fitted_model().info()["outputs"]
        name = type(self).__name__.lower()
        return np.asarray([f"{name}{i}" for i in range(outputs)], dtype=object)

    @property
    def _n_features_out(self):
        return self._model.info()["outputs"]

    def _expected_failed_checks(self):
        weighted = _FAILED_WEIGHT_CHECKS if isinstance(self, WeightedFit) else {}
        return {**weighted, **({} if self._method["name"] == "en-hope" else _EXPECTED_FAILED_CHECKS)}

    def _more_tags(self):
        return {"requires_y": True, "X_types": ["2darray", "sparse"], "preserves_dtype": [np.float32],
                "_xfail_checks": self._expected_failed_checks()}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def __sklearn_is_fitted__(self):
        return "_model" in self.__dict__


def partial_fit(self, X, y=None, classes=None):
    """Train for one epoch on X, starting from the current state. Each call may add classes.

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Training samples. The first call needs samples of at least two classes.
    y : array-like of shape (n_samples,)
        Labels.
    classes : array-like or None, default=None
        All labels that later calls may contain, as for scikit-learn's estimators. Optional.

    Returns
    -------
    self : object
        The fitted estimator.
    """
    return self._fit_epoch(X, y, classes, None)


def _renumber(found, code, all_classes):
    """Convert indices in the labels found in y to indices in all_classes."""
    at = np.searchsorted(all_classes, found)
    unknown = [label for label, i in zip(found, at) if i == len(all_classes) or all_classes[i] != label]
    if unknown:
        raise ValueError(f"y has the label {unknown[0]!r}, which is not in classes: expected one of {list(all_classes)}")
    return at[code]
