"""The classes of the estimators: one for each method. Estimators of model files."""

import json

import numpy as np

from . import _arrays, _parameters, _table
from ._estimator import Estimator, partial_fit
from ._parameters import unknown_parameter
from ._weighted import WeightedFit


def _make_class(method, module):
    name = _table.class_name(method["name"])
    rows = _parameters.of_method(method)
    defaults = {row[0]: row[1] for row in rows}
    main = _parameters.main_of(defaults)

    def __init__(self, settings=None, **params):
        params = {**(settings or {}), **params}
        for key in params:
            if key not in defaults:
                raise TypeError(unknown_parameter(f"{name}()", key, defaults))
        for key, value in defaults.items():
            if key in main or params.get(key, value) is not value:  # the others are attributes of the class
                setattr(self, key, params.get(key, value))

    __init__.__signature__ = _parameters.signature({key: defaults[key] for key in main})
    __init__.__qualname__ = f"{name}.__init__"
    members = {
        **defaults,
        "__init__": __init__,
        "__doc__": _parameters.docstring(method, name, rows),
        "__module__": module,
        "_method": method,
        "_defaults": defaults,
        "_main": main,
        "_settings": tuple(_table.settings_of(method)),
    }
    weighted = method["compared"] == "z exemplars"
    if _table.learns(method) and not weighted:
        members["partial_fit"] = partial_fit
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
    for parameter, value in _table.effective(model, cls._settings).items():
        setattr(estimator, parameter, value)
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