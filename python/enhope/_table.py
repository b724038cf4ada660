"""The tables of methods, settings and recipes, from which the estimators are generated."""

import re

from . import _arrays, _enhope

METHODS = _enhope.methods()
SETTINGS = _enhope.settings()
RECIPES = _enhope.recipes()

# Parameters that had other names than their settings: {old: current}.
_OLD_PARAMETERS = {"class_weighting": "class_weight"}

_CAPITALIZED = {"en", "deep", "dt", "pt", "linear"}


def current_name(name):
    """The current name of a renamed parameter: "" if it was removed, None if no parameter had this name."""
    if name in _OLD_PARAMETERS:
        return _OLD_PARAMETERS[name]
    return _enhope.current_name(name) if name.isascii() else None


def class_name(method):
    """The class name of a method: en-hope -> EnHOPE, mcml+ -> MCMLPlus."""
    parts = method.replace("+", "-plus").split("-")
    return "".join(part.capitalize() if part in _CAPITALIZED | {"plus"} else part.upper() for part in parts)


def applies(setting, method):
    """Whether a setting applies to a method, possibly with one solver or objective only."""
    return method["name"] in setting["methods"]


def learns(method):
    """Whether a method is trained in steps, so that training can continue from a model."""
    return any(row["name"] == "n_epochs" and applies(row, method) for row in SETTINGS)


def settings_of(method):
    """The settings of a method, as (parameter, row of the table)."""
    return [(row["name"], row) for row in SETTINGS if row["name"] != "method" and applies(row, method)]


def type_text(row):
    """The type of a setting, for docstrings and stubs."""
    if row["name"] == "class_weight":
        return "{'balanced'}, dict of {label: weight}"
    return {"integer": "int", "real": "float", "text": "str, list of int"}.get(row["type"], "str")


def range_text(row):
    """The permitted values of a number, for docstrings."""
    kind = "an integer" if row["type"] == "integer" else "a number"
    return f"{kind} from {row['minimum']:.15g} to {row['maximum']:.15g}"


def value_of(text, row):
    """The value of a setting, from its text. That of class_weight stays text, except for none."""
    if row["name"] == "class_weight" and text == "none":
        return None
    return {"integer": int, "real": float}.get(row["type"], str)(text)


def effective(model, settings):
    """The values of a model for those of the settings (rows of settings_of) that had an effect."""
    texts = {row["name"]: model.setting(row["name"]) for row in SETTINGS if row["name"] != "recipe"}
    pairs = [word.encode() for name, text in texts.items() if text is not None for word in (name, text)]
    applicable = _enhope.applicable(pairs)
    return {name: value_of(model.setting(name), row) for name, row in settings
            if name in applicable and model.setting(name) is not None}


def value_text(value, row):
    """A parameter's value as text. Lists are joined with the separator of the setting."""
    item = getattr(value, "item", None)  # a numpy scalar
    if callable(item) and getattr(value, "ndim", 1) == 0:
        value = item()
    if row["name"] == "class_weight" and isinstance(value, dict):
        return "none" if not value else ",".join(f"{_quoted(_arrays.label_text(label))}={_weight_text(weight)}" for label, weight in value.items())
    if row["name"] == "class_weight" and value != "none" and value != "balanced" and "=" not in str(value):
        raise ValueError(f"class_weight is {value!r}: expected 'balanced', a dict of labels and weights, or None")
    if row["type"] == "text" and (isinstance(value, (tuple, list)) or getattr(value, "ndim", 0) == 1):
        return (row["choices"] or "N-").lstrip("N")[:1].join(str(part) for part in value)
    return repr(value) if isinstance(value, float) else str(value)


def _quoted(name):
    """The name of a class in the list of class_weight."""
    return '"' + name.replace('"', '""') + '"' if any(mark in name for mark in ',="') else name


def _weight_text(weight):
    try:
        number = float(weight)
    except (TypeError, ValueError):
        number = 0
    if not 1e-9 <= number <= 1e9:
        raise ValueError(f"class_weight has the weight {weight!r}: expected a number from 1e-9 to 1e9")
    return repr(number)


def class_weights(text, labels):
    """The dict of a list NAME=WEIGHT,... for these labels."""
    weights = {}
    by_name = {_arrays.label_text(label): label for label in labels}
    for quoted, plain, weight in re.findall(r'(?:"((?:[^"]|"")+)"|([^",=]+))=([^,]*),?', text):
        name = quoted.replace('""', '"') or plain
        weights[by_name.get(name, name)] = float(weight)
    return weights
