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

class EnHOPE(Estimator):
    exemplars_: np.ndarray
    exemplar_labels_: np.ndarray
    def __init__(
        self,
        *,
        recipe: Optional[str] = ...,
        n_components: Optional[int] = ...,
        factors: Optional[int] = ...,
        hidden: Optional[int] = ...,
        order: Optional[int] = ...,
        start: Optional[float] = ...,
        exemplars: Optional[str] = ...,
        n_exemplars: Optional[int] = ...,
        form: Optional[str] = ...,
        similarity: Optional[str] = ...,
        dof: Optional[int] = ...,
        target: Optional[str] = ...,
        weight: Optional[str] = ...,
        solver: Optional[str] = ...,
        epochs: Optional[int] = ...,
        batch: Optional[int] = ...,
        parts: Optional[int] = ...,
        iterations: Optional[int] = ...,
        rate: Optional[float] = ...,
        shift: Optional[float] = ...,
        affine: Optional[float] = ...,
        elastic: Optional[float] = ...,
        noise: Optional[float] = ...,
        dropout: Optional[float] = ...,
        adversary: Optional[float] = ...,
        label_smoothing: Optional[float] = ...,
        class_weighting: Optional[str] = ...,
        valid: Optional[float] = ...,
        time: Optional[float] = ...,
        patience: Optional[int] = ...,
        scale: Optional[str] = ...,
        neighbours: Optional[int] = ...,
        random_state: Any = ...,
        image_shape: Optional[Tuple[int, int]] = ...,
        device: str = ...,
        precision: str = ...,
        n_jobs: Optional[int] = ...,
        verbose: bool = ...,
        callback: Optional[Callable[[Progress], Any]] = ...,
        warm_start: bool = ...,
    ) -> None: ...
    def partial_fit(self, X: Any, y: Any = ..., classes: Any = ...) -> "EnHOPE": ...

class HOPE(Estimator):
    def __init__(
        self,
        *,
        recipe: Optional[str] = ...,
        n_components: Optional[int] = ...,
        factors: Optional[int] = ...,
        hidden: Optional[int] = ...,
        order: Optional[int] = ...,
        start: Optional[float] = ...,
        form: Optional[str] = ...,
        similarity: Optional[str] = ...,
        dof: Optional[int] = ...,
        target: Optional[str] = ...,
        weight: Optional[str] = ...,
        solver: Optional[str] = ...,
        epochs: Optional[int] = ...,
        batch: Optional[int] = ...,
        parts: Optional[int] = ...,
        iterations: Optional[int] = ...,
        rate: Optional[float] = ...,
        shift: Optional[float] = ...,
        affine: Optional[float] = ...,
        elastic: Optional[float] = ...,
        noise: Optional[float] = ...,
        dropout: Optional[float] = ...,
        adversary: Optional[float] = ...,
        class_weighting: Optional[str] = ...,
        valid: Optional[float] = ...,
        time: Optional[float] = ...,
        patience: Optional[int] = ...,
        scale: Optional[str] = ...,
        neighbours: Optional[int] = ...,
        random_state: Any = ...,
        image_shape: Optional[Tuple[int, int]] = ...,
        device: str = ...,
        precision: str = ...,
        n_jobs: Optional[int] = ...,
        verbose: bool = ...,
        callback: Optional[Callable[[Progress], Any]] = ...,
        warm_start: bool = ...,
    ) -> None: ...
    def partial_fit(self, X: Any, y: Any = ..., classes: Any = ...) -> "HOPE": ...

class DeepEnHOPE(Estimator):
    exemplars_: np.ndarray
    exemplar_labels_: np.ndarray
    def __init__(
        self,
        *,
        recipe: Optional[str] = ...,
        n_components: Optional[int] = ...,
        layers: Union[str, int, Sequence[int], None] = ...,
        unit: Optional[str] = ...,
        start: Optional[float] = ...,
        exemplars: Optional[str] = ...,
        n_exemplars: Optional[int] = ...,
        form: Optional[str] = ...,
        similarity: Optional[str] = ...,
        dof: Optional[int] = ...,
        target: Optional[str] = ...,
        weight: Optional[str] = ...,
        solver: Optional[str] = ...,
        epochs: Optional[int] = ...,
        batch: Optional[int] = ...,
        parts: Optional[int] = ...,
        iterations: Optional[int] = ...,
        rate: Optional[float] = ...,
        shift: Optional[float] = ...,
        affine: Optional[float] = ...,
        elastic: Optional[float] = ...,
        noise: Optional[float] = ...,
        dropout: Optional[float] = ...,
        adversary: Optional[float] = ...,
        label_smoothing: Optional[float] = ...,
        class_weighting: Optional[str] = ...,
        valid: Optional[float] = ...,
        time: Optional[float] = ...,
        patience: Optional[int] = ...,
        scale: Optional[str] = ...,
        neighbours: Optional[int] = ...,
        random_state: Any = ...,
        image_shape: Optional[Tuple[int, int]] = ...,
        device: str = ...,
        precision: str = ...,
        n_jobs: Optional[int] = ...,
        verbose: bool = ...,
        callback: Optional[Callable[[Progress], Any]] = ...,
        warm_start: bool = ...,
    ) -> None: ...
    def partial_fit(self, X: Any, y: Any = ..., classes: Any = ...) -> "DeepEnHOPE": ...

class DtMCML(Estimator):
    def __init__(
        self,
        *,
        recipe: Optional[str] = ...,
        n_components: Optional[int] = ...,
        layers: Union[str, int, Sequence[int], None] = ...,
        unit: Optional[str] = ...,
        start: Optional[float] = ...,
        form: Optional[str] = ...,
        similarity: Optional[str] = ...,
        dof: Optional[int] = ...,
        target: Optional[str] = ...,
        weight: Optional[str] = ...,
        solver: Optional[str] = ...,
        epochs: Optional[int] = ...,
        batch: Optional[int] = ...,
        parts: Optional[int] = ...,
        iterations: Optional[int] = ...,
        rate: Optional[float] = ...,
        shift: Optional[float] = ...,
        affine: Optional[float] = ...,
        elastic: Optional[float] = ...,
        noise: Optional[float] = ...,
        dropout: Optional[float] = ...,
        adversary: Optional[float] = ...,
        class_weighting: Optional[str] = ...,
        valid: Optional[float] = ...,
        time: Optional[float] = ...,
        patience: Optional[int] = ...,
        scale: Optional[str] = ...,
        neighbours: Optional[int] = ...,
        random_state: Any = ...,
        image_shape: Optional[Tuple[int, int]] = ...,
        device: str = ...,
        precision: str = ...,
        n_jobs: Optional[int] = ...,
        verbose: bool = ...,
        callback: Optional[Callable[[Progress], Any]] = ...,
        warm_start: bool = ...,
    ) -> None: ...
    def partial_fit(self, X: Any, y: Any = ..., classes: Any = ...) -> "DtMCML": ...

class DtNCA(Estimator):
    def __init__(
        self,
        *,
        recipe: Optional[str] = ...,
        n_components: Optional[int] = ...,
        layers: Union[str, int, Sequence[int], None] = ...,
        unit: Optional[str] = ...,
        start: Optional[float] = ...,
        form: Optional[str] = ...,
        similarity: Optional[str] = ...,
        dof: Optional[int] = ...,
        target: Optional[str] = ...,
        weight: Optional[str] = ...,
        solver: Optional[str] = ...,
        epochs: Optional[int] = ...,
        batch: Optional[int] = ...,
        parts: Optional[int] = ...,
        iterations: Optional[int] = ...,
        rate: Optional[float] = ...,
        shift: Optional[float] = ...,
        affine: Optional[float] = ...,
        elastic: Optional[float] = ...,
        noise: Optional[float] = ...,
        dropout: Optional[float] = ...,
        adversary: Optional[float] = ...,
        class_weighting: Optional[str] = ...,
        valid: Optional[float] = ...,
        time: Optional[float] = ...,
        patience: Optional[int] = ...,
        scale: Optional[str] = ...,
        neighbours: Optional[int] = ...,
        random_state: Any = ...,
        image_shape: Optional[Tuple[int, int]] = ...,
        device: str = ...,
        precision: str = ...,
        n_jobs: Optional[int] = ...,
        verbose: bool = ...,
        callback: Optional[Callable[[Progress], Any]] = ...,
        warm_start: bool = ...,
    ) -> None: ...
    def partial_fit(self, X: Any, y: Any = ..., classes: Any = ...) -> "DtNCA": ...

class PtSNE(Estimator):
    def __init__(
        self,
        *,
        recipe: Optional[str] = ...,
        n_components: Optional[int] = ...,
        layers: Union[str, int, Sequence[int], None] = ...,
        unit: Optional[str] = ...,
        start: Optional[float] = ...,
        form: Optional[str] = ...,
        similarity: Optional[str] = ...,
        dof: Optional[int] = ...,
        perplexity: Optional[float] = ...,
        solver: Optional[str] = ...,
        epochs: Optional[int] = ...,
        batch: Optional[int] = ...,
        parts: Optional[int] = ...,
        iterations: Optional[int] = ...,
        rate: Optional[float] = ...,
        shift: Optional[float] = ...,
        affine: Optional[float] = ...,
        elastic: Optional[float] = ...,
        noise: Optional[float] = ...,
        dropout: Optional[float] = ...,
        adversary: Optional[float] = ...,
        valid: Optional[float] = ...,
        time: Optional[float] = ...,
        patience: Optional[int] = ...,
        scale: Optional[str] = ...,
        neighbours: Optional[int] = ...,
        random_state: Any = ...,
        image_shape: Optional[Tuple[int, int]] = ...,
        device: str = ...,
        precision: str = ...,
        n_jobs: Optional[int] = ...,
        verbose: bool = ...,
        callback: Optional[Callable[[Progress], Any]] = ...,
        warm_start: bool = ...,
    ) -> None: ...
    def partial_fit(self, X: Any, y: Any = ..., classes: Any = ...) -> "PtSNE": ...

class LinearEnHOPE(Estimator):
    exemplars_: np.ndarray
    exemplar_labels_: np.ndarray
    def __init__(
        self,
        *,
        recipe: Optional[str] = ...,
        n_components: Optional[int] = ...,
        start: Optional[float] = ...,
        exemplars: Optional[str] = ...,
        n_exemplars: Optional[int] = ...,
        form: Optional[str] = ...,
        similarity: Optional[str] = ...,
        dof: Optional[int] = ...,
        target: Optional[str] = ...,
        weight: Optional[str] = ...,
        solver: Optional[str] = ...,
        epochs: Optional[int] = ...,
        batch: Optional[int] = ...,
        parts: Optional[int] = ...,
        iterations: Optional[int] = ...,
        rate: Optional[float] = ...,
        shift: Optional[float] = ...,
        affine: Optional[float] = ...,
        elastic: Optional[float] = ...,
        noise: Optional[float] = ...,
        dropout: Optional[float] = ...,
        adversary: Optional[float] = ...,
        label_smoothing: Optional[float] = ...,
        class_weighting: Optional[str] = ...,
        valid: Optional[float] = ...,
        time: Optional[float] = ...,
        patience: Optional[int] = ...,
        scale: Optional[str] = ...,
        neighbours: Optional[int] = ...,
        random_state: Any = ...,
        image_shape: Optional[Tuple[int, int]] = ...,
        device: str = ...,
        precision: str = ...,
        n_jobs: Optional[int] = ...,
        verbose: bool = ...,
        callback: Optional[Callable[[Progress], Any]] = ...,
        warm_start: bool = ...,
    ) -> None: ...
    def partial_fit(self, X: Any, y: Any = ..., classes: Any = ...) -> "LinearEnHOPE": ...

class MCMLPlus(Estimator):
    def __init__(
        self,
        *,
        recipe: Optional[str] = ...,
        n_components: Optional[int] = ...,
        start: Optional[float] = ...,
        form: Optional[str] = ...,
        similarity: Optional[str] = ...,
        dof: Optional[int] = ...,
        target: Optional[str] = ...,
        weight: Optional[str] = ...,
        solver: Optional[str] = ...,
        epochs: Optional[int] = ...,
        batch: Optional[int] = ...,
        parts: Optional[int] = ...,
        iterations: Optional[int] = ...,
        rate: Optional[float] = ...,
        shift: Optional[float] = ...,
        affine: Optional[float] = ...,
        elastic: Optional[float] = ...,
        noise: Optional[float] = ...,
        dropout: Optional[float] = ...,
        adversary: Optional[float] = ...,
        class_weighting: Optional[str] = ...,
        valid: Optional[float] = ...,
        time: Optional[float] = ...,
        patience: Optional[int] = ...,
        scale: Optional[str] = ...,
        neighbours: Optional[int] = ...,
        random_state: Any = ...,
        image_shape: Optional[Tuple[int, int]] = ...,
        device: str = ...,
        precision: str = ...,
        n_jobs: Optional[int] = ...,
        verbose: bool = ...,
        callback: Optional[Callable[[Progress], Any]] = ...,
        warm_start: bool = ...,
    ) -> None: ...
    def partial_fit(self, X: Any, y: Any = ..., classes: Any = ...) -> "MCMLPlus": ...

class MCML(Estimator):
    def __init__(
        self,
        *,
        recipe: Optional[str] = ...,
        n_components: Optional[int] = ...,
        valid: Optional[float] = ...,
        time: Optional[float] = ...,
        scale: Optional[str] = ...,
        neighbours: Optional[int] = ...,
        random_state: Any = ...,
        image_shape: Optional[Tuple[int, int]] = ...,
        device: str = ...,
        precision: str = ...,
        n_jobs: Optional[int] = ...,
        verbose: bool = ...,
        callback: Optional[Callable[[Progress], Any]] = ...,
    ) -> None: ...

class NCA(Estimator):
    def __init__(
        self,
        *,
        recipe: Optional[str] = ...,
        n_components: Optional[int] = ...,
        start: Optional[float] = ...,
        form: Optional[str] = ...,
        similarity: Optional[str] = ...,
        dof: Optional[int] = ...,
        target: Optional[str] = ...,
        weight: Optional[str] = ...,
        solver: Optional[str] = ...,
        epochs: Optional[int] = ...,
        batch: Optional[int] = ...,
        parts: Optional[int] = ...,
        iterations: Optional[int] = ...,
        rate: Optional[float] = ...,
        shift: Optional[float] = ...,
        affine: Optional[float] = ...,
        elastic: Optional[float] = ...,
        noise: Optional[float] = ...,
        dropout: Optional[float] = ...,
        adversary: Optional[float] = ...,
        class_weighting: Optional[str] = ...,
        valid: Optional[float] = ...,
        time: Optional[float] = ...,
        patience: Optional[int] = ...,
        scale: Optional[str] = ...,
        neighbours: Optional[int] = ...,
        random_state: Any = ...,
        image_shape: Optional[Tuple[int, int]] = ...,
        device: str = ...,
        precision: str = ...,
        n_jobs: Optional[int] = ...,
        verbose: bool = ...,
        callback: Optional[Callable[[Progress], Any]] = ...,
        warm_start: bool = ...,
    ) -> None: ...
    def partial_fit(self, X: Any, y: Any = ..., classes: Any = ...) -> "NCA": ...

class LMNN(Estimator):
    def __init__(
        self,
        *,
        recipe: Optional[str] = ...,
        n_components: Optional[int] = ...,
        start: Optional[float] = ...,
        targets: Optional[int] = ...,
        solver: Optional[str] = ...,
        epochs: Optional[int] = ...,
        batch: Optional[int] = ...,
        parts: Optional[int] = ...,
        iterations: Optional[int] = ...,
        rate: Optional[float] = ...,
        shift: Optional[float] = ...,
        affine: Optional[float] = ...,
        elastic: Optional[float] = ...,
        noise: Optional[float] = ...,
        dropout: Optional[float] = ...,
        adversary: Optional[float] = ...,
        valid: Optional[float] = ...,
        time: Optional[float] = ...,
        patience: Optional[int] = ...,
        scale: Optional[str] = ...,
        neighbours: Optional[int] = ...,
        random_state: Any = ...,
        image_shape: Optional[Tuple[int, int]] = ...,
        device: str = ...,
        precision: str = ...,
        n_jobs: Optional[int] = ...,
        verbose: bool = ...,
        callback: Optional[Callable[[Progress], Any]] = ...,
        warm_start: bool = ...,
    ) -> None: ...
    def partial_fit(self, X: Any, y: Any = ..., classes: Any = ...) -> "LMNN": ...

class PCA(Estimator):
    def __init__(
        self,
        *,
        recipe: Optional[str] = ...,
        n_components: Optional[int] = ...,
        valid: Optional[float] = ...,
        scale: Optional[str] = ...,
        neighbours: Optional[int] = ...,
        random_state: Any = ...,
        image_shape: Optional[Tuple[int, int]] = ...,
        device: str = ...,
        precision: str = ...,
        n_jobs: Optional[int] = ...,
        verbose: bool = ...,
        callback: Optional[Callable[[Progress], Any]] = ...,
    ) -> None: ...

class LPP(Estimator):
    def __init__(
        self,
        *,
        recipe: Optional[str] = ...,
        n_components: Optional[int] = ...,
        graph: Optional[str] = ...,
        links: Optional[int] = ...,
        valid: Optional[float] = ...,
        time: Optional[float] = ...,
        scale: Optional[str] = ...,
        neighbours: Optional[int] = ...,
        random_state: Any = ...,
        image_shape: Optional[Tuple[int, int]] = ...,
        device: str = ...,
        precision: str = ...,
        n_jobs: Optional[int] = ...,
        verbose: bool = ...,
        callback: Optional[Callable[[Progress], Any]] = ...,
    ) -> None: ...

class SNC(Estimator):
    exemplars_: np.ndarray
    exemplar_labels_: np.ndarray
    def __init__(
        self,
        *,
        recipe: Optional[str] = ...,
        exemplars: Optional[str] = ...,
        n_exemplars: Optional[int] = ...,
        form: Optional[str] = ...,
        similarity: Optional[str] = ...,
        dof: Optional[int] = ...,
        target: Optional[str] = ...,
        weight: Optional[str] = ...,
        solver: Optional[str] = ...,
        epochs: Optional[int] = ...,
        batch: Optional[int] = ...,
        parts: Optional[int] = ...,
        iterations: Optional[int] = ...,
        rate: Optional[float] = ...,
        shift: Optional[float] = ...,
        affine: Optional[float] = ...,
        elastic: Optional[float] = ...,
        noise: Optional[float] = ...,
        dropout: Optional[float] = ...,
        adversary: Optional[float] = ...,
        label_smoothing: Optional[float] = ...,
        class_weighting: Optional[str] = ...,
        valid: Optional[float] = ...,
        time: Optional[float] = ...,
        patience: Optional[int] = ...,
        scale: Optional[str] = ...,
        neighbours: Optional[int] = ...,
        random_state: Any = ...,
        image_shape: Optional[Tuple[int, int]] = ...,
        device: str = ...,
        precision: str = ...,
        n_jobs: Optional[int] = ...,
        verbose: bool = ...,
        callback: Optional[Callable[[Progress], Any]] = ...,
        warm_start: bool = ...,
    ) -> None: ...
    def partial_fit(self, X: Any, y: Any = ..., classes: Any = ...) -> "SNC": ...

class KNN(Estimator):
    def __init__(
        self,
        *,
        recipe: Optional[str] = ...,
        scale: Optional[str] = ...,
        neighbours: Optional[int] = ...,
        random_state: Any = ...,
        image_shape: Optional[Tuple[int, int]] = ...,
        device: str = ...,
        precision: str = ...,
        n_jobs: Optional[int] = ...,
        verbose: bool = ...,
        callback: Optional[Callable[[Progress], Any]] = ...,
    ) -> None: ...
