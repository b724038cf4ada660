"""The estimators: one class for each method, with parameters from the table of settings."""

import copyreg
import inspect
import json
import operator
import os
import sys

import numpy as np

from . import _arrays, _enhope, _export, _frames, _table
from ._base import BaseEstimator, ClassifierMixin, NotFittedError, TransformerMixin, warn
from ._progress import Listener
from ._weighted import WeightedFit

# Pickle, copy and joblib store a model as the contents of its file.
copyreg.pickle(_enhope.Model, lambda model: (_enhope.from_bytes, (model.to_bytes(),)))

# Parameters that are not settings of the library: (name, default, type, help)
_EXTRA_PARAMETERS = [
    ("image_shape", None, "tuple of (int, int) or None",
     "rows and columns of the images in X, for parameters that transform images. Not needed if X has "
     "three dimensions"),
    ("device", "cpu", "str",
     "compute device: 'cpu', 'cuda', 'cuda:1', or 'auto' for a GPU if available, otherwise the CPU"),
    ("precision", "fp32", "str",
     "precision of the inputs of matrix products on a GPU: 'fp32', 'tf32' or 'bf16'. 'float32' or 'int8' choose "
     "the arithmetic of predictions on the CPU; training then uses 'fp32'"),
    ("n_jobs", None, "int or None",
     "number of threads. None and -1 use all cores, -2 all but one. A forked process always uses one thread"),
    ("verbose", False, "bool", "whether to show progress: a bar in a terminal or notebook, lines elsewhere"),
    ("callback", None, "callable or None",
     "called with a ``Progress`` after each epoch. If it returns true, training stops and keeps the best "
     "state so far"),
]
_WARM_START = ("warm_start", False, "bool",
               "whether ``fit`` continues from the fitted state instead of starting anew")

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

_SLICE_WORK = 1 << 35  # multiplications that take about a second
# Slices are multiples of the library's blocks of rows, so that they do not affect results.
_BLOCK_ROWS = 1008


class Estimator(ClassifierMixin, TransformerMixin, BaseEstimator):
    """Base class of all estimators. Use a subclass, such as ``EnHOPE``."""

    _method = None  # row of the table of methods
    _settings = ()  # (parameter, row of the table of settings)
    _defaults = {}  # of all parameters, by name
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
            Labels of any type.

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
        y = _arrays.labels(y, n, type(self).__name__)
        weights = _arrays.weights(sample_weight, n)
        if n == 1 and not continues:
            raise ValueError("X has 1 sample: training needs samples of at least two classes")
        found, code = _arrays.classes(y)
        if all_classes is not None:
            code = _renumber(found, code, all_classes)
            found = all_classes
        texts = [_arrays.label_text(label).encode() for label in found]
        inputs = None if names is None or encoded else [_arrays.plain(name).encode() for name in names]
        rows, columns = image or self._image_shape()
        if continues:
            self._check_fixed()
        fixed = self._fixed if continues and hasattr(self, "_fixed") else self._fixed_parameters()
        listener = Listener(self.callback, self.verbose) if self.callback or self.verbose else None
        try:
            model, _, interruption, information, warnings = _enhope.train(
                _frames.payload(data), n, code.astype(np.int32), texts, inputs, int(rows), int(columns),
                self._setting_texts(overrides, continues),
                self._training_placement(), self._model if continues else None, listener, weights,
            )
        finally:
            if listener:
                listener.close()
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
        _show(warnings)
        return self

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

    def _setting_texts(self, overrides, continues):
        """Names and values of the parameters, without fixed ones if training continues."""
        recipe = getattr(self, "recipe", None)
        texts = [] if recipe is None else ["recipe", recipe]
        texts += ["method", self._method["name"]]
        for parameter, row in self._settings:
            value = overrides.get(parameter, getattr(self, parameter))
            if value is None or row["name"] == "recipe" or (continues and row["fixed"]):
                continue
            if row["name"] == "random_state":
                value = _seed(value)
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

    def _n_threads(self):
        """The number of threads for the library, in which 0 means all cores."""
        if self.n_jobs is None:
            return 0
        try:
            jobs = operator.index(self.n_jobs)
            if jobs != 0 and abs(jobs) < 2**31:
                return jobs if jobs > 0 else 0 if jobs == -1 else max(1, (os.cpu_count() or 1) + 1 + jobs)
        except TypeError:
            pass
        raise ValueError(f"n_jobs is {self.n_jobs!r}: expected an integer other than 0, or None")

    def _placement(self):
        """(device, precision, threads) for the module; None: the defaults."""
        jobs = self._n_threads()
        if jobs == 0 and self.device == "cpu" and self.precision == "fp32":
            return None
        return str(self.device), str(self.precision), jobs

    def _training_placement(self):
        """The same for training, which has no arithmetic of predictions."""
        where = self._placement()
        return where if where is None or where[1] not in ("float32", "int8") else (where[0], "fp32", where[2])

    def _one_row(self, X, proba=None, Y=None):
        """Predict a single row without conversions: the class number, or an array is filled.

        Returns None if X is not one row in a format of the library, or needs a check of its names.
        """
        if type(X) is not np.ndarray or self._columns is not None or "feature_names_in_" in self.__dict__:
            return None
        default = self.n_jobs is None and self.device == "cpu" and self.precision == "fp32"
        return self._model.row(X, None if default else self._placement(), proba, Y)

    def _has_one_row(self, X):
        return type(X) is np.ndarray and X.ndim == 2 and len(X) == 1 and "_model" in self.__dict__

    # ---- prediction ----

    def _check_features(self, X, H, names):
        fitted = getattr(self, "feature_names_in_", None)
        if fitted is not None and names is None:
            warn(f"X has no column names, but {type(self).__name__} was fitted with column names")
        elif names is not None and fitted is None and hasattr(self, "n_features_in_"):
            warn(f"X has column names, but {type(self).__name__} was fitted without column names")
        elif names is not None and (len(names) != len(fitted) or (names != fitted).any()):
            raise ValueError(_names_differ(fitted, names))
        if H != self.n_features_in_:
            raise ValueError(
                f"X has {H} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input"
            )

    def _encoded(self, X, names):
        """X with the columns of the model: (data, number of samples, number of columns of X)."""
        fitted = hasattr(self, "feature_names_in_")
        data, n, H = _frames.model_data(X, names, self._columns, fitted)
        if not fitted or names is None:  # by position; otherwise the library finds the columns by name
            self._check_features(X, H, names)
        return data, n, H

    def _check_input(self, X):
        """Check the estimator and X; return (model, samples, number of samples)."""
        model = self.__dict__.get("_model")
        if model is None:
            raise NotFittedError(f"{type(self).__name__} is not fitted yet: call fit first, or load a model with enhope.load")
        if self._columns is not None:
            data, n, _ = self._encoded(X, _arrays.feature_names(X))
            return model, data, n
        data, n, H, _ = _arrays.samples(X)
        if H != self.n_features_in_ or data is not X or "feature_names_in_" in self.__dict__:
            self._check_features(X, H, _arrays.feature_names(X))
        return model, data, n

    def transform(self, X):
        """Embed samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        Y : ndarray of shape (n_samples, n_components), float32
            Coordinates in the embedding.
        """
        if self._has_one_row(X):
            Y = np.empty((1, self._model.outputs()), np.float32)
            if self._one_row(X, None, Y) is not None:
                return Y
        model, data, n = self._check_input(X)
        Y = np.empty((n, model.outputs()), np.float32)
        _show(model.embed(_frames.payload(data), n, self._placement(), Y))
        return Y

    def fit_transform(self, X, y=None, **fit_params):
        """Train the model and embed the training samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Labels.
        **fit_params : dict
            Other arguments of ``fit``, such as ``sample_weight``.

        Returns
        -------
        Y : ndarray of shape (n_samples, n_components), float32
            Coordinates in the embedding.
        """
        return self.fit(X, y, **fit_params).transform(X)

    def _predict_into(self, model, data, n, k, label=None, proba=None, index=None, distance=None):
        """Fill the given arrays, slice by slice, so that Ctrl-C can interrupt long calls."""
        info = model.info()
        work = info["parameters"] + info["references"] * info["outputs"]  # multiplications of a row
        rows = max(_SLICE_WORK // max(work, 1) // _BLOCK_ROWS, 1) * _BLOCK_ROWS if self.device == "cpu" else n
        where = self._placement()
        for first in range(0, n, rows):
            part = slice(first, min(first + rows, n))
            out = [a if a is None or n <= rows else a[part] for a in (label, proba, index, distance)]
            some = _frames.payload(_rows_of(data, part) if n > rows else data)
            _show(model.predict(some, part.stop - part.start, where, k, out[0], out[1], None, None, None, None, out[2], out[3]))

    def predict(self, X):
        """Predict the class of each sample by a vote of its nearest exemplars.

        Methods without exemplars compare with all training samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted labels.
        """
        number = self._one_row(X) if "_model" in self.__dict__ else None
        if number is not None:
            return self._labels[number:number + 1].copy()
        model, data, n = self._check_input(X)
        label = np.empty(n, np.int32)
        self._predict_into(model, data, n, 0, label)
        return self._labels[label]

    def predict_proba(self, X):
        """Predict the probability of each class.

        The probability of a class is its share of the similarity to all exemplars, calibrated on
        the validation part. For a method without exemplars, it is the share of votes of the nearest
        training samples. In rare cases the vote and the largest share give different classes. The
        two probabilities are then exchanged, so that ``predict`` always returns the most probable
        class.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes), float32
            Probabilities, with columns in the order of ``classes_``.
        """
        if self._has_one_row(X):
            proba = np.empty((1, len(self._labels)), np.float32)
            if self._one_row(X, proba) is not None:
                return self._in_class_order(proba, 0)
        model, data, n = self._check_input(X)
        proba = np.empty((n, len(self._labels)), np.float32)
        label = np.empty(n, np.int32)
        self._predict_into(model, data, n, 0, label, proba)
        top = proba.argmax(axis=1)
        rows = np.flatnonzero(top != label)
        voted, largest = label[rows], top[rows]
        proba[rows, voted], proba[rows, largest] = proba[rows, largest], proba[rows, voted]
        equal = proba[rows, voted] == proba[rows, largest]
        proba[rows[equal], voted[equal]] = np.nextafter(proba[rows[equal], voted[equal]], np.float32(2))
        return self._in_class_order(proba, 0)

    def _in_class_order(self, by_number, missing):
        """Reorder columns from the class numbers of the model to the order of classes_."""
        if len(self._order) == len(self.classes_) and (self._order == np.arange(len(self._order))).all():
            return by_number
        out = np.full((len(by_number), len(self.classes_)), missing, by_number.dtype)
        out[:, self._order] = by_number
        return out

    def kneighbors(self, X, n_neighbors=None, return_distance=True):
        """Find the nearest exemplars of each sample.

        If the method has no exemplars, it finds the nearest training samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Samples.
        n_neighbors : int or None, default=None
            Number of neighbors; None uses the number that votes in ``predict``.
        return_distance : bool, default=True
            Whether to return the distances.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_neighbors), float32
            Distances in the embedding in ascending order. Only if ``return_distance`` is true.
        indices : ndarray of shape (n_samples, n_neighbors), int64
            Rows of ``exemplars_``, or of the training samples if the method has no exemplars.
        """
        model, data, n = self._check_input(X)
        k = model.info()["n_neighbors"] if n_neighbors is None else int(n_neighbors)
        if k < 1:
            raise ValueError(f"n_neighbors is {k}: expected at least 1")
        k = min(k, np.iinfo(np.int32).max)
        index = np.empty((n, min(k, model.info()["references"])), np.int64)
        distance = np.empty(index.shape, np.float32) if return_distance else None
        if index.shape[1] < k:
            raise ValueError(f"n_neighbors is {k}: expected at most {index.shape[1]}, the number of exemplars or training samples")
        self._predict_into(model, data, n, k, index=index, distance=distance)
        return (distance, index) if return_distance else index

    def decision_function(self, X):
        """Return a score for each class: the logarithm of its probability.

        With two classes, the score is the probability of the second minus that of the first, from
        -1 to 1.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,) with two classes
            Scores. ``predict`` returns the class with the largest score, or the class that the sign
            gives.
        """
        proba = self.predict_proba(X)
        if proba.shape[1] == 2:
            return 2 * proba[:, 1].astype(np.float64) - 1
        return np.log(np.maximum(proba, np.finfo(np.float32).tiny))

    def _references(self):
        """Coordinates and class numbers of the exemplars, or of the training samples."""
        info = self._model.info()
        Y, label = np.empty((info["references"], info["outputs"]), np.float32), np.empty(info["references"], np.int32)
        self._model.references(self._placement(), Y, label)
        return Y, label

    # ---- files ----

    def save(self, path):
        """Save the model to a file that ``enhope.load`` and the command ``enhope`` can read.

        The write is atomic: an error leaves an existing file unchanged.

        Parameters
        ----------
        path : str or path-like
            File to write.
        """
        if "_model" not in self.__dict__:
            self._check_input(None)
        self._model.save(os.fspath(path))

    to_onnx = _export.to_onnx
    to_c = _export.to_c

    def __getstate__(self):
        return {**self.__dict__, "_enhope_version": _enhope.version}

    def __setstate__(self, state):
        """Restore a pickle of any version. Missing parameters get their defaults."""
        state = {_table.current_name(name) or name: value for name, value in state.items()}
        self.__dict__.update({**self._defaults, **state})
        self.__dict__.pop("_enhope_version", None)

    # ---- scikit-learn's interface ----

    def set_params(self, **params):
        """Set parameters by name.

        Parameters
        ----------
        **params : dict
            New values of parameters.

        Returns
        -------
        self : object
            The estimator.
        """
        for name in params:
            if name not in self._defaults and _table.current_name(name) is not None:
                raise ValueError(_unknown_parameter(type(self).__name__, name, self._defaults))
        return super().set_params(**params)

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
        if "_model" not in self.__dict__:
            self._check_input(None)
        name = type(self).__name__.lower()
        return np.asarray([f"{name}{i}" for i in range(self._model.info()["outputs"])], dtype=object)

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


def _partial_fit(self, X, y=None, classes=None):
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


def _show(warnings):
    for line in warnings.splitlines():
        warn(line)


def _rows_of(data, part):
    """A slice of the data that _arrays.samples returns."""
    if not isinstance(data, tuple):
        return data[part]
    start, column, value, H = data
    begin, end = start[part.start], start[part.stop]
    return start[part.start:part.stop + 1] - begin, column[begin:end], value[begin:end], H


def _renumber(found, code, all_classes):
    """Convert indices in the labels found in y to indices in all_classes."""
    at = np.searchsorted(all_classes, found)
    unknown = [label for label, i in zip(found, at) if i == len(all_classes) or all_classes[i] != label]
    if unknown:
        raise ValueError(f"y has the label {unknown[0]!r}, which is not in classes: expected one of {list(all_classes)}")
    return at[code]


def _names_differ(fitted, names):
    text = "The feature names should match those that were passed during fit.\n"
    for what, some in (("unseen at fit time", sorted(set(names) - set(fitted))),
                       ("seen at fit time, yet now missing", sorted(set(fitted) - set(names)))):
        if some:
            text += f"Feature names {what}:\n" + "".join(f"- {name}\n" for name in some[:5])
            text += f"and {len(some) - 5} more\n" if len(some) > 5 else ""
    if set(names) == set(fitted):
        text += "Feature names must be in the same order as they were in fit.\n"
    return text


def _seed(random_state):
    """The seed of a random state, which is an integer or a numpy random generator."""
    if hasattr(random_state, "randint"):
        return int(random_state.randint(0, 2**31 - 1))
    if hasattr(random_state, "integers"):
        return int(random_state.integers(0, 2**31 - 1))
    return random_state


def _parameters(method):
    """(name, default, type, help) of each parameter."""
    rows = []
    for parameter, row in _table.settings_of(method):
        kind = _table.type_text(row)
        values = f"; {_table.range_text(row)}" if row["type"] in ("integer", "real") else ""
        text = f"{row['help']}{values}. Default: {row['initial']}, or the value of the recipe."
        if parameter == "recipe":
            recipes = "; ".join(f"{r['name']!r}: {r['summary']}" for r in _table.RECIPES)
            text = f"{row['help']}. {recipes}. Default: {row['initial']!r}."
        if row["type"] == "choice":
            kind = "{" + ", ".join(repr(choice) for choice in row["choices"].split("|")) + "}"
        if parameter == "class_weight":
            text = ("weight of the samples of each class in the loss and in the validation error. 'balanced': all classes have "
                    "equal total weight; a dict: labels that it does not contain have weight 1. Default: equal weights.")
        if parameter == "random_state":
            kind = "int, numpy.random.RandomState, numpy.random.Generator"
            text = f"seed of all random choices, or a numpy random generator that draws it. Default: {row['initial']}."
        rows.append((parameter, None, f"{kind} or None", text))
    return rows + _EXTRA_PARAMETERS + ([_WARM_START] if _table.learns(method) else [])


_EXAMPLE = """
    Examples
    --------
    >>> import enhope
    >>> X, y = enhope.datasets.load("synthetic:blobs,n=300,classes=3,inputs=5,seed=1", return_X_y=True)
    >>> model = enhope.{name}({arguments}).fit(X, y)
    >>> model.transform(X[:4]).shape
    (4, {outputs})
    >>> bool(model.score(X, y) > 0.9)
    True
"""
_EXAMPLE_VALUES = {"n_factors": "20", "n_hidden": "10", "hidden_layer_sizes": "'20-10'", "n_epochs": "40"}


def _docstring(method, name, rows):
    import textwrap

    lines = [f"{method['summary'][0].upper()}{method['summary'][1:]}.", ""]
    facts = [("Map", method["map"]), ("similarity", method["similarity"]), ("normalizer", method["normalizer"]),
             ("target", method["target"]), ("compared with", method["compared"])]
    lines += textwrap.wrap("; ".join(f"{k}: {v}" for k, v in facts if v != "-") + ".", 100)
    lines += ["", "Parameters", "----------"]
    for parameter, default, kind, text in rows:
        lines.append(f"{parameter} : {kind}, default={default!r}")
        sentence = text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")
        lines += textwrap.wrap(sentence, 96, initial_indent="    ", subsequent_indent="    ")
    lines += ["", "Attributes", "----------"]
    attributes = [("classes_ : ndarray of shape (n_classes,)", "Sorted labels."),
                  ("n_features_in_ : int", "Number of inputs."),
                  ("feature_names_in_ : ndarray of str", "Names of the inputs, if X was a data frame."),
                  ("n_iter_ : int", "Number of epochs trained."),
                  ("history_ : dict of ndarray", "Results of each epoch: ``epoch``, ``seconds``, ``loss``, ``valid_error``.")]
    if method["compared"] == "z exemplars":
        attributes += [("exemplars_ : ndarray of shape (n_exemplars, n_features)", "Exemplars, in the units of X."),
                       ("exemplar_labels_ : ndarray of shape (n_exemplars,)", "Labels of the exemplars.")]
    for attribute, text in attributes:
        lines += [attribute, f"    {text}"]
    arguments = ", ".join(f"{k}={v}" for k, v in _EXAMPLE_VALUES.items() if any(row[0] == k for row in rows))
    outputs = 5 if method["map"] == "identity" else 2
    return "\n".join(lines) + "\n" + textwrap.dedent(_EXAMPLE.format(name=name, arguments=arguments, outputs=outputs))



def _unknown_parameter(owner, name, defaults):
    """The error message for an unknown parameter, with the current name of a renamed one."""
    current = _table.current_name(name)
    if current == "":
        return f"{owner} has no parameter {name!r}: it was removed, leave it out"
    if current in defaults:
        return f"{owner} has no parameter {name!r}: it is now {current!r}"
    return f"{owner} has no parameter {name!r}: expected some of {', '.join(defaults)}"


def _make_class(method, module):
    name = _table.class_name(method["name"])
    rows = _parameters(method)
    defaults = {row[0]: row[1] for row in rows}
    signature = inspect.Signature(
        [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        + [inspect.Parameter(k, inspect.Parameter.KEYWORD_ONLY, default=v) for k, v in defaults.items()]
    )

    def __init__(self, **params):
        for key in params:
            if key not in defaults:
                raise TypeError(_unknown_parameter(f"{name}()", key, defaults))
        for key, value in defaults.items():
            setattr(self, key, params.get(key, value))

    __init__.__signature__ = signature
    __init__.__qualname__ = f"{name}.__init__"
    members = {
        "__init__": __init__,
        "__doc__": _docstring(method, name, rows),
        "__module__": module,
        "_method": method,
        "_defaults": defaults,
        "_settings": tuple(_table.settings_of(method)),
    }
    weighted = method["compared"] == "z exemplars"
    if _table.learns(method) and not weighted:
        members["partial_fit"] = _partial_fit
    return type(name, (WeightedFit, Estimator) if weighted else (Estimator,), members)


def make_classes(module):
    """Create the classes of all methods: {name: class}, in the order of the table."""
    made = [_make_class(method, module) for method in _table.METHODS]
    return {cls.__name__: cls for cls in made}


def from_model(model, classes_by_method):
    """Create a fitted estimator for a model, with the parameters of its training."""
    info = model.info()
    cls = classes_by_method.get(info["method"])
    if cls is None:
        raise ValueError(f"the model has the unknown method {info['method']!r}: load it with a newer version of enhope")
    estimator = cls()
    texts = {row["name"]: model.setting(row["name"]) for row in _table.SETTINGS if row["name"] != "recipe"}
    pairs = [word.encode() for name, text in texts.items() if text is not None for word in (name, text)]
    applicable = _enhope.applicable(pairs)
    for parameter, row in _table.settings_of(cls._method):
        text = model.setting(row["name"])
        if text is not None and row["name"] in applicable:
            setattr(estimator, parameter, _table.value_of(text, row))
    columns = model.columns()
    estimator.n_features_in_ = info["inputs"] if columns is None else len(columns)
    if info["image_rows"]:
        estimator.image_shape = (info["image_rows"], info["image_columns"])
    names = model.inputs() if columns is None else [column["name"] for column in columns]
    if names is not None and None not in names:
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    kind, parameters = _read_note(model, dict(cls._settings))
    for parameter, value in parameters.items():
        setattr(estimator, parameter, value)
    estimator._fixed = estimator._fixed_parameters()
    estimator._set_model(model, np.unique(_arrays.label_values(model.classes(), kind)))
    weights = getattr(estimator, "class_weight", None)
    if weights not in (None, "balanced"):
        estimator.class_weight = _table.class_weights(weights, estimator.classes_.tolist())
    return estimator


def _read_note(model, rows):
    """Read and validate the note of _write_note: (type of labels or None, {parameter: value})."""
    try:
        note = json.loads(model.note("python") or "{}")
        kind, texts = note.get("labels"), note.get("parameters", {})
        texts = {_table.current_name(name) or name: text for name, text in texts.items()}
        parameters = {name: None if text is None else _table.value_of(text, rows[name])
                      for name, text in texts.items() if name in rows}
        if isinstance(kind, (str, type(None))):
            return kind, parameters
    except (ValueError, TypeError, AttributeError, RecursionError):
        pass
    raise ValueError("the note 'python' of the model is invalid: the file is damaged, or another program changed it")
