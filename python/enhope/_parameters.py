"""The parameters of the estimators and their docstrings, from the tables of the library."""

import inspect
import textwrap

from . import _table

# Parameters in the signatures. The others are keywords too, and can be passed as a dict.
_MAIN = ("recipe", "n_components", "n_factors", "n_hidden", "hidden_layer_sizes", "n_exemplars", "n_epochs", "class_weight",
         "random_state", "device", "n_jobs", "verbose", "warm_start")
# The others by topic, in the order of the docstrings; the last topic has those that no other names.
_TOPICS = {
    "Map": ("order", "activation", "init_scale", "aux_components", "exemplars", "scaling"),
    "Objective": ("normalizer", "similarity", "dof", "target", "target_weight", "label_smoothing", "unlabeled_weight", "missing_label",
                  "adversarial_step", "graph_k", "lmnn_k", "perplexity"),
    "Optimization": ("solver", "batch_size", "n_chunks", "line_searches", "learning_rate", "validation_fraction", "patience",
                     "time_limit", "callback"),
    "Augmentation": ("shift", "affine", "elastic", "image_shape", "noise", "dropout"),
    "Further": (),
}
# Parameters that are not settings of the library: (name, default, type, help)
_EXTRA_PARAMETERS = [
    ("image_shape", None, "tuple of (int, int) or None",
     "rows and columns of the images in X, for parameters that transform images. Not needed if X has "
     "three dimensions"),
    ("missing_label", None, "object or None",
     "value of y that marks a sample without a label, such as -1 in scikit-learn's semi-supervised estimators. NaN marks "
     "all missing values. None: every sample has a label. With ``unlabeled_weight`` above 0, such samples take part in "
     "the training of exemplar methods"),
    ("device", "cpu", "str",
     "compute device: 'cpu', 'cuda', 'cuda:1', or 'auto' for a GPU if available, otherwise the CPU"),
    ("precision", "fp32", "str",
     "precision of the inputs of matrix products on a GPU: 'fp32', 'tf32' or 'bf16'. 'float32' or 'int8' choose "
     "the arithmetic of predictions on the CPU; training then uses 'fp32'"),
    ("n_jobs", None, "int or None",
     "number of threads. None is 1 unless a context of joblib sets it, -1 all cores, -2 all but one. A forked process "
     "always uses one thread"),
    ("verbose", False, "bool", "whether to show progress: a bar in a terminal or notebook, lines elsewhere"),
    ("callback", None, "callable or None",
     "called with a ``Progress`` after each epoch. If it returns true, training stops and keeps the best "
     "state so far"),
]
_WARM_START = ("warm_start", False, "bool",
               "whether ``fit`` continues from the fitted state instead of starting anew")

# A parameter of the constructor and of set_params only, which set those that it names.
_SETTINGS = ("settings", None, "dict or None", "the parameters of the sections below, by name, which can also be keywords")


def of_method(method):
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
            text = ("seed of all random choices, or a numpy random generator that draws it. None draws it from numpy's "
                    "global generator, and ``settings_`` then has it.")
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
_EXAMPLE_VALUES = {"n_factors": "20", "n_hidden": "10", "hidden_layer_sizes": "'20-10'", "n_epochs": "40", "random_state": "1"}


def by_topic(rows):
    """The rows of of_method as (title of a section, rows)."""
    topics = {name: title for title, names in _TOPICS.items() for name in names}
    last = list(_TOPICS)[-1]
    sections = {"Parameters": [row for row in rows if row[0] in _MAIN]}
    for title in _TOPICS:
        sections[f"{title} parameters"] = [row for row in rows if row[0] not in _MAIN and topics.get(row[0], last) == title]
    return [(title, some) for title, some in sections.items() if some]


def main_of(names):
    """Those of the names that are in the signature."""
    return tuple(name for name in names if name in _MAIN)


def signature(main):
    """The signature of a constructor from its main parameters; it takes the others as a dict or keywords."""
    return inspect.Signature(
        [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        + [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value) for name, value in {**main, "settings": None}.items()]
        + [inspect.Parameter("more_settings", inspect.Parameter.VAR_KEYWORD)]
    )


def _entry(name, kind, text):
    """The lines of a parameter in a docstring."""
    sentence = text + ("" if text.endswith(".") else ".")
    return [f"{name} : {kind}"] + textwrap.wrap(sentence, 96, initial_indent="    ", subsequent_indent="    ")


def docstring(method, name, rows):
    """The docstring of a class, from its rows of of_method."""
    lines = [f"{method['summary'][0].upper()}{method['summary'][1:]}.", ""]
    facts = [("Map", method["map"]), ("similarity", method["similarity"]), ("normalizer", method["normalizer"]),
             ("target", method["target"]), ("compared with", method["compared"])]
    lines += textwrap.wrap("; ".join(f"{k}: {v}" for k, v in facts if v != "-") + ".", 100)
    for title, some in by_topic(rows):
        lines += ["", title, "-" * len(title)]
        for parameter, default, kind, text in some + ([_SETTINGS] if title == "Parameters" else []):
            lines += _entry(parameter, f"{kind}, default={default!r}", text[0].upper() + text[1:])
    lines += ["", "Attributes", "----------"]
    attributes = [("classes_ : ndarray of shape (n_classes,)", "Sorted labels."),
                  ("n_features_in_ : int", "Number of inputs."),
                  ("feature_names_in_ : ndarray of str", "Names of the inputs, if X was a data frame."),
                  ("settings_ : dict", "Effective settings, also those that the recipe or the data chose."),
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


def unknown_parameter(owner, name, defaults):
    """The error message for an unknown parameter, with the current name of a renamed one."""
    current = _table.current_name(name)
    if current == "":
        return f"{owner} has no parameter {name!r}: it was removed, leave it out"
    if current in defaults:
        return f"{owner} has no parameter {name!r}: it is now {current!r}"
    return f"{owner} has no parameter {name!r}: expected some of {', '.join(defaults)}"
