"""The contents of a report: a fitted model, its data, and names for both."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from fewvars._common.validation import FloatArray
from fewvars.displays.names import distinct_names, names_of, plain
from fewvars.displays.outputs import predictions
from fewvars.estimators.base import BlockedEstimator
from fewvars.estimators.findings import Findings
from fewvars.series.scaling import Scaling

MOST_ROWS = 20_000  # to predict, and perhaps to smooth first


@dataclass(frozen=True, eq=False)
class Facts:
    """A fitted model and the data to show it on.

    Attributes
    ----------
    model : estimator
    found : Findings
        The results of the model.
    X : (n, d)
    y, predicted : (n, outputs)
        Of very many samples, consecutive ones from their middle.
    n_samples : int
        Number of all samples given.
    names : d texts, all different
    targets : one text for each output
    answers : one text for each column that the model explains: the same as `targets`, except for classes
    constant : bool
        Whether all outputs were constant, so that there was nothing to explain.
    times, trajectory : (n,) or None
    title, command : str or None
    seconds : float or None
        Duration of the fit.
    """

    model: BlockedEstimator
    found: Findings
    X: Any
    y: FloatArray
    predicted: FloatArray
    n_samples: int
    names: list[str]
    targets: list[str]
    answers: list[str]
    constant: bool
    times: np.ndarray | None
    trajectory: np.ndarray | None
    title: str | None
    command: str | None
    seconds: float | None

    @property
    def by_directions(self) -> bool:
        """Whether the model looks for directions rather than variables."""
        return self.found.kind == "directions"

    @property
    def count(self) -> int:
        """Number of variables or directions found."""
        return self.found.count

    @property
    def head_names(self) -> list[str]:
        """Names of the arguments of the function: variables, or indicators of their levels and gaps."""
        return distinct_names(self.found.head_names(self.names), self.found.head.n_inputs)

    @property
    def output(self) -> str:
        """The outputs in words."""
        return listed(self.answers, 4)

    @property
    def unexplained(self) -> float:
        """Mean squared error on the rows shown, over the variance of y, averaged over the outputs; nan if constant."""
        variance = self.y.var(axis=0)
        varying = variance > 0
        if not varying.any():
            return float("nan")
        errors = ((self.predicted - self.y) ** 2).mean(axis=0)
        return float((errors[varying] / variance[varying]).mean())


def gather(
    model: Any,
    X: Any,
    y: Any,
    *,
    t: Any = None,
    trajectory: Any = None,
    title: str | None = None,
    target_name: str | Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    command: str | None = None,
    seconds: float | None = None,
) -> Facts:
    """Check the arguments and predict."""
    if not isinstance(model, BlockedEstimator):
        raise ValueError(
            f"model is a {type(model).__name__}: a report needs a fitted FewVariablesRegressor, "
            "FewVariablesClassifier or FewDirectionsRegressor."
        )
    found = model.findings()
    names = names_of(model, feature_names)
    n = len(y)
    for name, values in (("X", X), ("t", None if np.ndim(t) == 0 else t), ("trajectory", trajectory)):
        if values is not None and len(values) != n:
            raise ValueError(f"{name} has {len(values)} rows and y has {n}: give the same rows of both.")
    first = max(0, (n - MOST_ROWS) // 2)
    rows = slice(first, first + MOST_ROWS)
    X, outputs = X[rows], _numbers(found, y)[rows]
    runs = None if trajectory is None else np.asarray(trajectory)[rows]
    step = t if t is None or np.ndim(t) == 0 else np.asarray(t)[rows]
    with warnings.catch_warnings():
        # Names may have been given only here, or to the model after the fit.
        warnings.filterwarnings("ignore", "X does not have valid feature names|X has feature names, but")
        predicted = predictions(model, X, step, runs)
    if outputs.size != predicted.size:
        raise ValueError(f"y has shape {np.shape(y)}: the model predicts {predicted.shape[1]} outputs.")
    if not np.isfinite(outputs).all():
        raise ValueError("y holds values that are not finite: leave these rows out of X, y and t.")
    times = step if step is None or np.ndim(step) else np.asarray(step) * np.arange(first, first + len(predicted))
    whole = np.flatnonzero(~np.isnan(predicted).any(axis=1))
    if len(whole) < len(predicted):  # values are missing in the other rows, which the model leaves out
        X, outputs, predicted = _safe_indexing(X, whole), outputs[whole], predicted[whole]
        times, runs = (None if values is None else values[whole] for values in (times, runs))
    answers = _targets(target_name, y, 1 if found.classes else predicted.shape[1])
    return Facts(
        model=model,
        found=found,
        X=X,
        y=outputs.reshape(predicted.shape),
        predicted=predicted,
        n_samples=n,
        names=names,
        targets=_classes_of(found, answers[0]) if found.classes else answers,
        answers=answers,
        constant=not found.classes and _was_constant(model, y),
        times=times,
        trajectory=runs,
        title=None if title is None else plain(title),
        command=command,
        seconds=seconds,
    )


def _numbers(found: Findings, y: Any) -> FloatArray:
    """Return y as numbers, (n,) or (n, outputs): labels become ones and zeros for the second class, or for each."""
    if not found.classes:
        return np.asarray(y, np.float64)
    labels = np.array([str(label) for label in np.asarray(y).ravel().tolist()])
    return np.column_stack([labels == name for name in found.classes[len(found.classes) == 2 :]]).astype(np.float64)


def _classes_of(found: Findings, target: str) -> list[str]:
    return [plain(f"{target} = {name}") for name in found.classes[len(found.classes) == 2 :]]


def _was_constant(model: Any, y: Any) -> bool:
    """Return whether y is constant and was so in the fit, which then has no path."""
    if len(model.path_.strengths):
        return False
    return bool(Scaling.of(np.asarray(y, np.float64).reshape(len(y), -1)).constant.all())


def _targets(given: str | Sequence[str] | None, y: Any, count: int) -> list[str]:
    """Return the given names of the outputs, or those of the columns of y, or y."""
    if given is None:
        given = getattr(y, "columns", None) if np.ndim(y) == 2 else getattr(y, "name", None)
    if given is None or (isinstance(given, str) and not given):
        given = "y"
    if isinstance(given, str) or np.ndim(given) == 0:
        return [plain(given)] if count == 1 else [plain(f"{given} [{k}]") for k in range(count)]
    texts = [plain(name) for name in given]
    if len(texts) != count:
        raise ValueError(f"target_name has {len(texts)} names: give one for each of the {count} outputs.")
    return texts


def listed(texts: Sequence[str], most: int) -> str:
    """Return "a, b and c", or "a, b and 7 more"."""
    shown = list(texts) if len(texts) <= most else [*texts[:most], f"{len(texts) - most} more"]
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]
