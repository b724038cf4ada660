"""The tables of methods, settings and recipes, from which the estimators are generated."""

from . import _enhope

METHODS = _enhope.methods()
SETTINGS = _enhope.settings()
RECIPES = _enhope.recipes()

# A parameter has the name of its setting, with one exception: class_weight is class_weighting,
# because scikit-learn's checks pass dicts to a parameter named class_weight.
PARAMETERS = {"class_weight": "class_weighting"}

_CAPITALIZED = {"en", "deep", "dt", "pt", "linear"}


def current_name(name):
    """The current name of a renamed parameter: "" if it was removed, None if no parameter had this name."""
    setting = _enhope.current_name(name) if name.isascii() else None
    return PARAMETERS.get(setting or name, setting)


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
    return [
        (PARAMETERS.get(row["name"], row["name"]), row)
        for row in SETTINGS
        if row["name"] != "method" and applies(row, method)
    ]


def type_text(row):
    """The type of a setting, for docstrings and stubs."""
    return {"integer": "int", "real": "float", "text": "str, list of int"}.get(row["type"], "str")


def range_text(row):
    """The permitted values of a number, for docstrings."""
    kind = "an integer" if row["type"] == "integer" else "a number"
    return f"{kind} from {row['minimum']:.15g} to {row['maximum']:.15g}"


def value_of(text, row):
    """The value of a setting, from its text."""
    return {"integer": int, "real": float}.get(row["type"], str)(text)


def value_text(value, row):
    """A parameter's value as text. Lists are joined with the separator of the setting."""
    item = getattr(value, "item", None)  # a numpy scalar
    if callable(item) and getattr(value, "ndim", 1) == 0:
        value = item()
    if row["type"] == "text" and (isinstance(value, (tuple, list)) or getattr(value, "ndim", 0) == 1):
        return (row["choices"] or "N-").lstrip("N")[:1].join(str(part) for part in value)
    return repr(value) if isinstance(value, float) else str(value)
