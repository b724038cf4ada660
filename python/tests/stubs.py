"""Writes enhope/__init__.pyi from the tables: python3 python/tests/stubs.py > python/enhope/__init__.pyi

A test compares the file with what this writes."""

import enhope
from enhope import _estimator, _table

HEAD = '''\
"""Types of the package; written by stubs.py from the tables of methods and settings."""

import os
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, TypeVar, Union

import numpy as np

from . import datasets as datasets

__version__: str
__all__: List[str]
_Self = TypeVar("_Self", bound="Estimator")
_Path = Union[str, "os.PathLike[str]"]

class NotFittedError(ValueError, AttributeError): ...

class Progress(NamedTuple):
    epoch: int
    epochs: int
    batch: int
    batches: int
    loss: float
    valid_error: float
    best_error: float
    seconds: float
    seconds_left: float
    epoch_done: bool

class Map:
    Y: np.ndarray
    labels: Optional[np.ndarray]
    exemplars: Optional[np.ndarray]
    exemplar_labels: Optional[np.ndarray]
    title: str
    wrong: Optional[np.ndarray]
    def __init__(
        self,
        Y: Any,
        labels: Optional[np.ndarray],
        exemplars: Optional[np.ndarray] = ...,
        exemplar_labels: Optional[np.ndarray] = ...,
        title: str = ...,
        wrong: Optional[np.ndarray] = ...,
    ) -> None: ...
    @property
    def ax(self) -> Any: ...
    def draw(self, ax: Any = ...) -> Any: ...
    def show(self) -> None: ...
    def html(self) -> str: ...
    def save(self, path: _Path) -> None: ...

def plot(
    estimator: Any, X: Any, y: Any = ..., ax: Any = ..., title: Optional[str] = ..., errors: bool = ...
) -> Map: ...
def load(path: _Path) -> "Estimator": ...
def devices() -> List[Tuple[str, bool, str]]: ...

class Estimator:
    classes_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray
    n_iter_: int
    @property
    def history_(self) -> Dict[str, np.ndarray]: ...
    def fit(self: _Self, X: Any, y: Any = ...) -> _Self: ...
    def transform(self, X: Any) -> np.ndarray: ...
    def fit_transform(self, X: Any, y: Any = ...) -> np.ndarray: ...
    def predict(self, X: Any) -> np.ndarray: ...
    def predict_proba(self, X: Any) -> np.ndarray: ...
    def decision_function(self, X: Any) -> np.ndarray: ...
    def kneighbors(self, X: Any, n_neighbors: Optional[int] = ..., return_distance: bool = ...) -> Any: ...
    def score(self, X: Any, y: Any, sample_weight: Any = ...) -> float: ...
    def save(self, path: _Path) -> None: ...
    def get_params(self, deep: bool = ...) -> Dict[str, Any]: ...
    def set_params(self: _Self, **params: Any) -> _Self: ...
    def set_output(self: _Self, *, transform: Optional[str] = ...) -> _Self: ...
    def get_feature_names_out(self, input_features: Any = ...) -> np.ndarray: ...
'''
OWN = {
    "image_shape": "Optional[Tuple[int, int]]",
    "device": "str",
    "precision": "str",
    "n_jobs": "Optional[int]",
    "verbose": "bool",
    "callback": "Optional[Callable[[Progress], Any]]",
    "warm_start": "bool",
}


def kind(row, parameter):
    if parameter == "random_state":
        return "Any"
    if row["type"] == "text":
        return "Union[str, int, Sequence[int], None]"
    return f"Optional[{_table.type_text(row)}]"


def stub(method):
    name = _table.class_name(method["name"])
    rows = dict(_table.settings_of(method))
    lines = [f"class {name}(Estimator):"]
    if method["compared"] == "z exemplars":
        lines += ["    exemplars_: np.ndarray", "    exemplar_labels_: np.ndarray"]
    lines += ["    def __init__(", "        self,", "        *,"]
    for parameter, _, _, _ in _estimator._parameters(method):
        lines.append(f"        {parameter}: {OWN.get(parameter) or kind(rows[parameter], parameter)} = ...,")
    lines.append("    ) -> None: ...")
    if _table.learns(method):
        lines.append(f'    def partial_fit(self, X: Any, y: Any = ..., classes: Any = ...) -> "{name}": ...')
    return "\n".join(lines) + "\n"


def text():
    """The stub file."""
    return HEAD + "".join("\n" + stub(method) for method in _table.METHODS)


if __name__ == "__main__":
    print(text(), end="")
