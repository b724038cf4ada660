"""Prediction by a fitted estimator: embedding, classes, probabilities, neighbors, scores."""

import numpy as np

from . import _arrays, _frames, _places
from ._base import ClassifierMixin, NotFittedError, TransformerMixin, warn
from ._placement import Placement

_SLICE_WORK = 1 << 35  # multiplications that take about a second
# Slices are multiples of the library's blocks of rows, so that they do not affect results.
_BLOCK_ROWS = 1008
# Arguments of Model.predict.
_OUTPUTS = ("label", "proba", "winner", "distance", "margin", "Y", "neighbor", "neighbor_distance")


class Prediction(Placement, ClassifierMixin, TransformerMixin):
    """The part of an estimator that uses its model."""

    def _one_row(self, X, proba=None, Y=None):
        """Predict a single row without conversions: the class number, or an array is filled.

        Returns None if X is not one row in a format of the library, or needs a check of its names.
        """
        if type(X) is not np.ndarray or self._columns is not None or "feature_names_in_" in self.__dict__:
            return None
        return self._model.row(X, self._row_placement(), proba, Y)

    def _has_one_row(self, X):
        """Whether _one_row can be tried, before its output is created."""
        return type(X) is np.ndarray and X.ndim == 2 and len(X) == 1 and "_model" in self.__dict__

    # ---- samples ----

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

    def _fitted_model(self):
        """The model of the estimator, which has to be fitted."""
        model = self.__dict__.get("_model")
        if model is None:
            raise NotFittedError(f"{type(self).__name__} is not fitted yet: call fit first, or load a model with enhope.load")
        return model

    def _check_input(self, X):
        """Check the estimator and X; return (model, samples, number of samples)."""
        model = self._fitted_model()
        if self._columns is not None:
            data, n, _ = self._encoded(X, _arrays.feature_names(X))
            return model, data, n
        data, n, H, _ = _arrays.samples(X)
        if H != self.n_features_in_ or data is not X or "feature_names_in_" in self.__dict__:
            self._check_features(X, H, _arrays.feature_names(X))
        return model, data, n

    # ---- outputs ----

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
        with _places.of(X):
            show_warnings(model.embed(_frames.payload(data), n, self._placement(), Y))
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

    def _predict_into(self, X, model, data, n, k=0, **outputs):
        """Fill the given arrays, slice by slice, so that Ctrl-C can interrupt long calls."""
        info = model.info()
        work = info["parameters"] + info["references"] * info["outputs"]  # multiplications of a row
        rows = max(_SLICE_WORK // max(work, 1) // _BLOCK_ROWS, 1) * _BLOCK_ROWS if self.device == "cpu" else n
        where, arrays = self._placement(), [outputs.get(name) for name in _OUTPUTS]
        for first in range(0, n, rows):
            part = slice(first, min(first + rows, n))
            out = [a if a is None or n <= rows else a[part] for a in arrays]
            some = _frames.payload(_rows_of(data, part) if n > rows else data)
            with _places.of(X, first):
                show_warnings(model.predict(some, part.stop - part.start, where, k, *out))

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
        self._predict_into(X, model, data, n, label=label)
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
        self._predict_into(X, model, data, n, label=label, proba=proba)
        top = proba.argmax(axis=1)
        rows = np.flatnonzero(top != label)
        voted, largest = label[rows], top[rows]
        proba[rows, voted], proba[rows, largest] = proba[rows, largest], proba[rows, voted]
        equal = proba[rows, voted] == proba[rows, largest]
        proba[rows[equal], voted[equal]] = np.nextafter(proba[rows[equal], voted[equal]], np.float32(2))
        return self._in_class_order(proba, 0)

    def predict_log_proba(self, X):
        """Predict the logarithm of the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
            Logarithms of ``predict_proba``; -inf for the probability 0.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X).astype(np.float64))

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
        self._predict_into(X, model, data, n, k, neighbor=index, neighbor_distance=distance)
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

    def score_samples(self, X):
        """Return how typical each sample is: the logarithm of its similarity to the nearest exemplar.

        The score is 0 for a sample at an exemplar and decreases with the distance in the embedding,
        by the similarity of the model. A sample with a low score is far from every class. For an
        outlier detector, compare with a quantile of the scores of known samples. A method without
        exemplars compares with the nearest training sample.

        The map places every input somewhere, so an input that resembles no training sample can have
        a high score. The score detects samples between and beside the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Scores, at most 0; higher is more typical.
        """
        model, data, n = self._check_input(X)
        distance = np.empty(n, np.float32)
        self._predict_into(X, model, data, n, distance=distance)
        squared = distance.astype(np.float64) ** 2
        if model.setting("similarity") == "gaussian":
            return -squared
        dof = float(model.setting("dof") or 1)
        return -(dof + 1) / 2 * np.log1p(squared / dof)

    def _references(self):
        """Coordinates and class numbers of the exemplars, or of the training samples."""
        info = self._model.info()
        Y, label = np.empty((info["references"], info["outputs"]), np.float32), np.empty(info["references"], np.int32)
        self._model.references(self._placement(), Y, label)
        return Y, label


def show_warnings(warnings):
    """Issue a warning for each line."""
    for line in warnings.splitlines():
        warn(line)


def _rows_of(data, part):
    """A slice of the data that _arrays.samples returns."""
    if not isinstance(data, tuple):
        return data[part]
    start, column, value, H = data
    begin, end = start[part.start], start[part.stop]
    return start[part.start:part.stop + 1] - begin, column[begin:end], value[begin:end], H


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

