"""The library's tables of methods, settings and recipes, as the estimators need them: nothing here is written twice."""

from . import _enhope

METHODS = _enhope.methods()
SETTINGS = _enhope.settings()
RECIPES = _enhope.recipes()

# What people who know scikit-learn look for; every other setting keeps its name.
PARAMETERS = {"dims": "n_components", "z": "n_exemplars", "seed": "random_state",
              "class_weight": "class_weighting"}  # scikit-learn's class_weight may be a dict

_SMALL = {"en", "deep", "dt", "pt", "linear"}


def class_name(method):
    """The name of the class for a row of the table: en-hope -> EnHOPE, mcml+ -> MCMLPlus."""
    parts = method.replace("+", "-plus").split("-")
    return "".join(part.capitalize() if part in _SMALL | {"plus"} else part.upper() for part in parts)


def applies(setting, method):
    """Whether a setting belongs to a method, perhaps with one solver or objective alone."""
    return method["name"] in setting["methods"]


def learns(method):
    """Whether a method is learned in steps, so that training can continue from a model."""
    return any(row["name"] == "epochs" and applies(row, method) for row in SETTINGS)


def settings_of(method):
    """The settings that an estimator of this method takes, as (parameter, setting)."""
    return [
        (PARAMETERS.get(row["name"], row["name"]), row)
        for row in SETTINGS
        if row["name"] != "method" and applies(row, method)
    ]


def type_text(row):
    """The type of a setting, for docstrings and stubs."""
    return {"integer": "int", "real": "float", "text": "str, list of int"}.get(row["type"], "str")


def range_text(row):
    """What a setting may be, in words."""
    if row["type"] == "choice":
        return "one of " + ", ".join(repr(c) for c in row["choices"].split("|"))
    if row["type"] == "text":
        return "a text"
    kind = "a whole number" if row["type"] == "integer" else "a number"
    return f"{kind} from {row['minimum']:.15g} to {row['maximum']:.15g}"


def value_of(text, row):
    """The value of a setting from its text."""
    return {"integer": int, "real": float}.get(row["type"], str)(text)


def value_text(value, row):
    """A parameter's value as the library reads settings: text. Numbers of a list are joined as the setting's form tells."""
    item = getattr(value, "item", None)  # a number of numpy's
    if callable(item) and getattr(value, "ndim", 1) == 0:
        value = item()
    if row["type"] == "text" and (isinstance(value, (tuple, list)) or getattr(value, "ndim", 0) == 1):
        return (row["choices"] or "N-").lstrip("N")[:1].join(str(part) for part in value)
    return repr(value) if isinstance(value, float) else str(value)
