"""The estimators: one class for each row of the table of methods, with the parameters that the table of settings has for it."""

import copyreg
import inspect
import json
import operator
import os
import sys

import numpy as np

from . import _arrays, _enhope, _table
from ._base import BaseEstimator, ClassifierMixin, NotFittedError, TransformerMixin, warn
from ._progress import Listener

# Pickle, copy and joblib hold a model as the bytes of its file.
copyreg.pickle(_enhope.Model, lambda model: (_enhope.from_bytes, (model.to_bytes(),)))

# Parameters that are no settings of the library: (name, default, type, help)
_OWN = [
    ("image_shape", None, "tuple of (int, int), or None",
     "rows and columns of the images that the rows of X are, for the settings that move images; an X of three "
     "dimensions tells it by itself"),
    ("device", "cpu", "str", "where to compute: 'cpu', 'cuda', 'cuda:1', or 'auto' (cuda where it is, else cpu)"),
    ("precision", "fp32", "str", "how exactly a GPU takes the inputs of products: 'fp32', 'tf32' or 'bf16'"),
    ("n_jobs", None, "int or None", "threads; None or -1: all cores, -2: all but one. One in a process that was forked"),
    ("verbose", False, "bool", "a progress bar in a terminal and in a notebook, lines elsewhere"),
    ("callback", None, "callable or None",
     "called after each epoch with a ``Progress``; training stops, and the best state so far is kept, where it "
     "returns true"),
]
_WARM = ("warm_start", False, "bool", "whether ``fit`` goes on from what was fitted before")

# Multiplications: below the first, threads cost more than they bring; about the second are a second's. Slices are whole
# blocks of the library's, so that they change nothing.
_ALONE, _SLICE, _BLOCK = 1 << 23, 1 << 35, 1008


class Estimator(ClassifierMixin, TransformerMixin, BaseEstimator):
    """What all estimators share. Use one of its subclasses, such as ``EnHOPE``."""

    _method = None  # the row of the table
    _settings = ()  # (parameter, row of the table of settings)
    _defaults = {}  # of all parameters

    # ---- training ----

    def fit(self, X, y=None):
        """Learns the map, and what new points are compared with.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            float32 and uint8 in C order are read where they lie; other numbers become float32. Three dimensions: images.
            uint8 is taken for intensities, which share one scale; of a table with columns of different units give
            float32, or ``scale="standard"``.
        y : array of shape (n_samples,)
            Labels of any type.

        Returns
        -------
        self
            Also after Ctrl-C, which stops training, keeps the best state so far and is raised then.
        """
        goes_on = getattr(self, "warm_start", False) and hasattr(self, "_model")
        return self._train(X, y, goes_on, {})

    def _train(self, X, y, goes_on, overrides, all_classes=None):
        names = _arrays.feature_names(X)
        data, n, H, image = _arrays.samples(X)
        if goes_on:
            self._check_features(X, H, names)
        y = _arrays.labels(y, n, type(self).__name__)
        if n == 1 and not goes_on:
            raise ValueError("X has 1 sample: training needs samples of at least two classes")
        found, code = _arrays.classes(y)
        if all_classes is not None:
            code = _renumber(found, code, all_classes)
            found = all_classes
        texts = [_arrays.label_text(label).encode() for label in found]
        inputs = None if names is None else [_arrays.plain(name).encode() for name in names]
        rows, columns = image or self._image_shape()
        if goes_on:
            self._check_decided()
        begun = self._begun if goes_on and hasattr(self, "_begun") else self._decided()
        listener = Listener(self.callback, self.verbose) if self.callback or self.verbose else None
        try:
            model, _, error, information, warnings = _enhope.train(
                data, n, code.astype(np.int32), texts, inputs, int(rows), int(columns),
                self._setting_texts(overrides, goes_on),
                self._where(), self._model if goes_on else None, listener,
            )
        except ValueError as refused:
            raise ValueError(self._parameter_words(str(refused))) from None
        finally:
            if listener:
                listener.close()
        classes = np.union1d(self.classes_, found) if goes_on else found
        if not goes_on or not hasattr(self, "n_features_in_"):
            self.n_features_in_ = H
            if names is not None:
                self.feature_names_in_ = names
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        self._begun = begun
        self._note(model, classes, overrides)
        self._take(model, classes)
        if error is not None:
            raise error
        for line in information.splitlines() if self.verbose else ():
            sys.stderr.write(line + "\n")
        for line in warnings.splitlines():
            warn(line)
        return self

    def _decided(self):
        """The parameters that cannot change while training goes on, as texts."""
        return {
            parameter: None if getattr(self, parameter) is None else _table.value_text(getattr(self, parameter), row)
            for parameter, row in _table.settings_of(self._method)
            if row["fixed"]
        }

    def _check_decided(self):
        begun = getattr(self, "_begun", {})
        for parameter, text in self._decided().items():
            if text != begun.get(parameter, text):
                raise ValueError(
                    f"{parameter} is {getattr(self, parameter)!r}: training goes on from a model that began with "
                    f"{begun[parameter]}, which cannot change; begin anew by a new estimator, or by fit without warm_start"
                )

    def _note(self, model, classes, overrides):
        """Keeps in the model what its file would not tell: the type of labels, and parameters that a call overrode."""
        note = {}
        kind = _arrays.label_kind(classes)
        if kind is not None:
            note["labels"] = kind
        own = {key: getattr(self, key) for key in overrides if key in self._defaults}
        if own:
            note["parameters"] = {key: None if value is None else str(value) for key, value in own.items()}
        if note:
            model.set_note("python", json.dumps(note))

    def _take(self, model, classes):
        """The fitted attributes, from a model and its labels in order."""
        info = model.info()
        number = {_arrays.label_text(label): i for i, label in enumerate(classes)}
        order = np.asarray([number[_arrays.label_text(name)] for name in model.classes()], dtype=np.intp)
        self._model = model
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
        """What each epoch came to, as arrays: epoch, seconds, loss, valid_error."""
        if "_model" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no history_ before it is fitted")
        columns = np.asarray(self._model.history(), dtype=np.float64).reshape(-1, 4).T
        history = dict(zip(("epoch", "seconds", "loss", "valid_error"), columns.copy()))
        history["epoch"] = history["epoch"].astype(np.int64)
        return history

    def _setting_texts(self, overrides, goes_on=False):
        """Names and values of the parameters that are set. Where training goes on, what the model fixes is the model's."""
        recipe = getattr(self, "recipe", None)
        texts = [] if recipe is None else ["recipe", recipe]
        texts += ["method", self._method["name"]]
        for parameter, row in self._settings:
            value = overrides.get(parameter, getattr(self, parameter))
            if value is None or row["name"] == "recipe" or (goes_on and row["fixed"]):
                continue
            if row["name"] == "seed":
                value = _seed(value)
            texts += [row["name"], _table.value_text(value, row)]
        return [_arrays.plain(str(text)).encode() for text in texts]

    def _parameter_words(self, text):
        """The library's sentence with our names for its settings."""
        for setting, parameter in _table.PARAMETERS.items():
            if text.startswith((f"{setting} is ", f"{setting} = ", f"{setting} does not ")):
                return parameter + text[len(setting):]
        return text

    def _image_shape(self):
        if self.image_shape is None:
            return 0, 0
        try:
            rows, columns = (operator.index(side) for side in self.image_shape)
            if rows > 0 and columns > 0:
                return rows, columns
        except (TypeError, ValueError):
            pass
        raise ValueError(f"image_shape is {self.image_shape!r}: expected two whole numbers, rows and columns, or None")

    def _threads(self):
        """The number that the library takes: 0 is all."""
        if self.n_jobs is None:
            return 0
        try:
            jobs = operator.index(self.n_jobs)
            if jobs != 0 and abs(jobs) < 2**31:
                return jobs if jobs > 0 else 0 if jobs == -1 else max(1, (os.cpu_count() or 1) + 1 + jobs)
        except TypeError:
            pass
        raise ValueError(f"n_jobs is {self.n_jobs!r}: expected a whole number other than 0, or None")

    def _where(self, work=None):
        """What the module takes for a place; work: multiplications of the call, as far as they are known."""
        jobs = self._threads()
        if jobs == 0 and work is not None and work < _ALONE:
            jobs = 1
        if jobs == 0 and self.device == "cpu" and self.precision == "fp32":
            return None
        return str(self.device), str(self.precision), jobs

    # ---- asking ----

    def _check_features(self, X, H, names):
        fitted = getattr(self, "feature_names_in_", None)
        if fitted is not None and names is None:
            warn(f"X has no names of columns, and {type(self).__name__} was fitted with some")
        elif names is not None and fitted is None and hasattr(self, "n_features_in_"):
            warn(f"X has names of columns, and {type(self).__name__} was fitted without")
        elif names is not None and (len(names) != len(fitted) or (names != fitted).any()):
            raise ValueError(_names_differ(fitted, names))
        if H != self.n_features_in_:
            raise ValueError(
                f"X has {H} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input"
            )

    def _asked(self, X):
        """(the model, samples, their number)"""
        model = self.__dict__.get("_model")
        if model is None:
            raise NotFittedError(f"{type(self).__name__} is not fitted yet: call fit, or load a model")
        data, n, H, _ = _arrays.samples(X)
        if H != self.n_features_in_ or data is not X or "feature_names_in_" in self.__dict__:
            self._check_features(X, H, _arrays.feature_names(X))
        return model, data, n

    def transform(self, X):
        """Coordinates of X in the embedding: float32 of shape (n_samples, n_components)."""
        model, data, n = self._asked(X)
        Y = np.empty((n, model.info()["outputs"]), np.float32)
        model.embed(data, n, self._where(n * model.info()["parameters"]), Y)
        return Y

    def fit_transform(self, X, y=None):
        """``fit(X, y)``, then ``transform(X)``."""
        return self.fit(X, y).transform(X)

    def _ask(self, model, data, n, k, label=None, proba=None, index=None, distance=None):
        """Fills the arrays. Long work is done in slices, between which Ctrl-C is heard: rows do not know of each other."""
        info = model.info()
        each = info["parameters"] + info["references"] * info["outputs"]  # of a row
        rows = max(_SLICE // max(each, 1) // _BLOCK, 1) * _BLOCK if self.device == "cpu" else n
        where = self._where(n * each)
        for first in range(0, n, rows):
            own = slice(first, min(first + rows, n))
            some = [a if a is None or n <= rows else a[own] for a in (label, proba, index, distance)]
            model.predict(_rows_of(data, own) if n > rows else data, own.stop - own.start, where, k, some[0], some[1], None,
                          None, None, None, some[2], some[3])

    def predict(self, X):
        """The class of each row of X: the vote of the nearest exemplars (or training points)."""
        model, data, n = self._asked(X)
        label = np.empty(n, np.int32)
        self._ask(model, data, n, 0, label)
        return self._labels[label]

    def predict_proba(self, X):
        """The probability of each class, in the order of ``classes_``: its share in the similarity to all exemplars,
        calibrated on the validation part; where there are none, in the vote of the nearest training points.

        Where the vote of the nearest and the largest share name different classes, which is rare, the two change places,
        so that ``predict`` always names the most probable class.
        """
        model, data, n = self._asked(X)
        proba = np.empty((n, len(self._labels)), np.float32)
        label = np.empty(n, np.int32)
        self._ask(model, data, n, 0, label, proba)
        top = proba.argmax(axis=1)
        rows = np.flatnonzero(top != label)
        said, largest = label[rows], top[rows]
        proba[rows, said], proba[rows, largest] = proba[rows, largest], proba[rows, said]
        equal = proba[rows, said] == proba[rows, largest]
        proba[rows[equal], said[equal]] = np.nextafter(proba[rows[equal], said[equal]], np.float32(2))
        return self._columns(proba, 0)

    def _columns(self, by_number, missing):
        """Columns by the model's numbers, in the order of classes_."""
        if len(self._order) == len(self.classes_) and (self._order == np.arange(len(self._order))).all():
            return by_number
        out = np.full((len(by_number), len(self.classes_)), missing, by_number.dtype)
        out[:, self._order] = by_number
        return out

    def kneighbors(self, X, n_neighbors=None, return_distance=True):
        """The nearest exemplars (or training points) of each row of X, nearest first.

        Returns
        -------
        distances : float32 of shape (n_samples, n_neighbors)
            In the embedding. Only where ``return_distance`` is true.
        indices : int64 of shape (n_samples, n_neighbors)
            Rows of ``exemplars_``; of a method without exemplars, of the training points.
        """
        model, data, n = self._asked(X)
        k = model.info()["neighbours"] if n_neighbors is None else int(n_neighbors)
        if k < 1:
            raise ValueError(f"n_neighbors is {k}: expected at least 1")
        k = min(k, np.iinfo(np.int32).max)
        index = np.empty((n, min(k, model.info()["references"])), np.int64)
        distance = np.empty(index.shape, np.float32) if return_distance else None
        if index.shape[1] < k:
            raise ValueError(f"n_neighbors is {k}: the model has {index.shape[1]} references")
        self._ask(model, data, n, k, index=index, distance=distance)
        return (distance, index) if return_distance else index

    def decision_function(self, X):
        """How much speaks for each class: the logarithm of its probability. Of two classes, one number from -1 to 1: the
        second's probability less the first's. The largest, or the sign, is what ``predict`` says."""
        proba = self.predict_proba(X)
        if proba.shape[1] == 2:
            return 2 * proba[:, 1].astype(np.float64) - 1
        return np.log(np.maximum(proba, np.finfo(np.float32).tiny))

    def _references(self):
        """Coordinates of the exemplars (or training points) in the embedding, and their class numbers."""
        info = self._model.info()
        Y, label = np.empty((info["references"], info["outputs"]), np.float32), np.empty(info["references"], np.int32)
        self._model.references(self._where(), Y, label)
        return Y, label

    # ---- files ----

    def save(self, path):
        """Writes the model to a file that ``enhope.load`` and the command ``enhope`` read; whole or not at all."""
        if "_model" not in self.__dict__:
            self._asked(None)
        self._model.save(os.fspath(path))

    def __getstate__(self):
        return {**self.__dict__, "_enhope_version": _enhope.version}

    def __setstate__(self, state):
        """Of any version: parameters that it did not have are the defaults."""
        self.__dict__.update({**self._defaults, **state})
        self.__dict__.pop("_enhope_version", None)

    # ---- what scikit-learn asks ----

    def get_feature_names_out(self, input_features=None):
        """Names of the coordinates: that of the class in small letters and a number, as in enhope0, enhope1."""
        if "_model" not in self.__dict__:
            self._asked(None)
        name = type(self).__name__.lower()
        return np.asarray([f"{name}{i}" for i in range(self._model.info()["outputs"])], dtype=object)

    @property
    def _n_features_out(self):
        return self._model.info()["outputs"]

    def _more_tags(self):
        return {"requires_y": True, "X_types": ["2darray", "sparse"], "preserves_dtype": [np.float32]}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def __sklearn_is_fitted__(self):
        return "_model" in self.__dict__


def _partial_fit(self, X, y=None, classes=None):
    """Walks once through X: the first call begins, later ones go on. Classes may join at any call.

    Parameters
    ----------
    X, y
        As for ``fit``. The first call needs samples of at least two classes.
    classes : array, optional
        All labels that will ever come, as scikit-learn's own estimators ask for; not needed.

    Returns
    -------
    self
    """
    goes_on = hasattr(self, "_model")
    known = None if classes is None or goes_on else np.unique(np.asarray(classes))
    return self._train(X, y, goes_on, {"epochs": 1, "valid": 0, "patience": 0}, known)


def _rows_of(data, own):
    """A slice of what _arrays.samples gives."""
    if not isinstance(data, tuple):
        return data[own]
    start, column, value, H = data
    begin, end = start[own.start], start[own.stop]
    return start[own.start:own.stop + 1] - begin, column[begin:end], value[begin:end], H


def _renumber(found, code, all_classes):
    at = np.searchsorted(all_classes, found)
    strange = [label for label, i in zip(found, at) if i == len(all_classes) or all_classes[i] != label]
    if strange:
        raise ValueError(f"y has the label {strange[0]!r}, which is not in classes: expected one of {list(all_classes)}")
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
    """A seed from what scikit-learn calls a random state: a number, or something that draws one."""
    if hasattr(random_state, "randint"):
        return int(random_state.randint(0, 2**31 - 1))
    if hasattr(random_state, "integers"):
        return int(random_state.integers(0, 2**31 - 1))
    return random_state


def _parameters(method):
    """(name, default, type, help) of every parameter."""
    rows = []
    for parameter, row in _table.settings_of(method):
        text = f"{row['help']}; {_table.range_text(row)}. Default: {row['initial']}, or the recipe's."
        if parameter == "recipe":
            said = "; ".join(f"{r['name']!r}: {r['summary']}" for r in _table.RECIPES)
            text = f"{row['help']}. {said}. Default: {row['initial']!r}."
        if parameter == "random_state":
            text = f"the seed {row['help']}, or a numpy generator that draws one. Default: {row['initial']}."
        rows.append((parameter, None, f"{_table.type_text(row)} or None", text))
    own = _OWN + [_WARM] if _table.learns(method) else _OWN
    return rows + own


_EXAMPLE = """
    Examples
    --------
    >>> import enhope
    >>> X, y = enhope.datasets.load("synthetic:blobs,n=300,classes=3,inputs=5,seed=1", return_X_y=True)
    >>> model = enhope.{name}({said}).fit(X, y)
    >>> model.transform(X[:4]).shape
    (4, {outputs})
    >>> bool(model.score(X, y) > 0.9)
    True
"""
_QUICK = {"factors": "20", "hidden": "10", "layers": "'20-10'", "epochs": "40"}


def _docstring(method, name, rows):
    import textwrap

    lines = [f"{method['summary'][0].upper()}{method['summary'][1:]}.", ""]
    facts = [("map", method["map"]), ("similarity", method["similarity"]), ("normaliser", method["normaliser"]),
             ("target", method["target"]), ("compared with", method["compared"])]
    lines += textwrap.wrap("; ".join(f"{k}: {v}" for k, v in facts if v != "-") + ".", 100)
    lines += ["", "Parameters", "----------"]
    for parameter, default, kind, text in rows:
        lines.append(f"{parameter} : {kind}, default {default!r}")
        lines += textwrap.wrap(text[0].upper() + text[1:], 96, initial_indent="    ", subsequent_indent="    ")
    lines += ["", "Attributes", "----------"]
    attributes = [("classes_", "the labels, in order"), ("n_features_in_", "inputs"),
                  ("feature_names_in_", "their names, where X was a frame"), ("n_iter_", "epochs that were trained"),
                  ("history_", "a dict of arrays: epoch, seconds, loss, valid_error")]
    if method["compared"] == "z exemplars":
        attributes += [("exemplars_", "the exemplars, in the units of X"), ("exemplar_labels_", "their labels")]
    for attribute, text in attributes:
        lines += [attribute, f"    {text[0].upper()}{text[1:]}."]
    said = ", ".join(f"{k}={v}" for k, v in _QUICK.items() if any(row[0] == k for row in rows))
    outputs = 5 if method["map"] == "identity" else 2
    return "\n".join(lines) + "\n" + textwrap.dedent(_EXAMPLE.format(name=name, said=said, outputs=outputs))


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
                raise TypeError(f"{name}() has no parameter {key!r}: expected some of {', '.join(defaults)}")
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
    if _table.learns(method):
        members["partial_fit"] = _partial_fit
    return type(name, (Estimator,), members)


def make_classes(module):
    """{name: class}, in the table's order."""
    made = [_make_class(method, module) for method in _table.METHODS]
    return {cls.__name__: cls for cls in made}


def from_model(model, classes_by_method):
    """A fitted estimator around a model, its parameters those that the model was trained with."""
    info = model.info()
    cls = classes_by_method.get(info["method"])
    if cls is None:
        raise ValueError(f"the model is of the method {info['method']!r}, which this version does not know")
    estimator = cls()
    texts = {row["name"]: model.setting(row["name"]) for row in _table.SETTINGS if row["name"] != "recipe"}
    said = [word.encode() for name, text in texts.items() if text is not None for word in (name, text)]
    applicable = _enhope.applicable(said)
    for parameter, row in _table.settings_of(cls._method):
        text = model.setting(row["name"])
        if text is not None and row["name"] in applicable:
            setattr(estimator, parameter, _table.value_of(text, row))
    estimator.n_features_in_ = info["inputs"]
    if info["image_rows"]:
        estimator.image_shape = (info["image_rows"], info["image_columns"])
    names = model.inputs()
    if names is not None:
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    kind, own = _read_note(model, dict(cls._settings))
    for parameter, value in own.items():
        setattr(estimator, parameter, value)
    estimator._begun = estimator._decided()
    estimator._take(model, np.unique(_arrays.label_values(model.classes(), kind)))
    return estimator


def _read_note(model, rows):
    """(type of the labels or None, {parameter: value}); files are not trusted."""
    try:
        note = json.loads(model.note("python") or "{}")
        kind, own = note.get("labels"), note.get("parameters", {})
        own = {key: None if text is None else _table.value_of(text, rows[key]) for key, text in own.items() if key in rows}
        if isinstance(kind, (str, type(None))):
            return kind, own
    except (ValueError, TypeError, AttributeError, RecursionError):
        pass
    raise ValueError("the model's note 'python' is not of the form that this package writes")
