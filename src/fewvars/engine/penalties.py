"""Penalties that switch off inputs, directions or units, each with its value, prox and optimality."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from fewvars._common.validation import FloatArray, check_real, check_whole


def group_labels(groups: Any, n_inputs: int, name: str = "groups") -> np.ndarray:
    """Return a label 0, 1, ... for each input.

    Parameters
    ----------
    groups : None, (n_inputs,) labels, or a list of lists of input indices
        None puts every input in a group of its own.
    name : str
        What the user calls it, for errors.
    """
    if groups is None:
        return np.arange(n_inputs)
    if isinstance(groups, str) or not np.iterable(groups):
        raise ValueError(f"{name}={groups!r}: give a label for each of the {n_inputs} inputs, or lists of inputs.")
    if all(np.ndim(g) == 0 and not isinstance(g, (set, frozenset)) for g in groups):
        labels = np.asarray(groups)
        if labels.shape != (n_inputs,):
            raise ValueError(f"{name} has {labels.size} labels: give one for each of the {n_inputs} inputs.")
        return np.unique(labels, return_inverse=True)[1]
    labels = np.full(n_inputs, -1)
    for g, members in enumerate(groups):
        if not np.iterable(members):
            raise ValueError(f"{name} mixes lists with {members!r}: put an input that is alone in a list of one.")
        for j in members:
            if not isinstance(j, (int, np.integer)) or not 0 <= j < n_inputs:
                raise ValueError(f"{name} names input {j!r}: there are inputs 0 to {n_inputs - 1}.")
            if labels[j] >= 0:
                raise ValueError(f"{name} overlap: input {j} is in more than one. Put it in one only.")
            labels[j] = g
    missing = np.flatnonzero(labels < 0)
    if missing.size:
        raise ValueError(f"{name} miss input {missing[0]}: put every input in one group (of one, if alone).")
    return np.unique(labels, return_inverse=True)[1]


def _adaptive(norms: FloatArray, gamma: float, floor: float) -> FloatArray:
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        # Neither infinite nor zero, however large gamma is: the sum of infinity times zero is NaN.
        return np.clip(1.0 / np.maximum(norms, floor) ** gamma, 1e-300, 1e300)


class Penalty(ABC):
    """strength * value(W), W being the weight matrix (out, in) of one layer of a network."""

    layer: ClassVar[int]

    @property
    @abstractmethod
    def convex(self) -> bool:
        """Whether the value is a convex function of W."""

    @abstractmethod
    def value(self, W: FloatArray) -> float:
        """Return the penalty of W at strength one."""

    @abstractmethod
    def prox(self, W: FloatArray, tau: float) -> FloatArray:
        """Return argmin_V tau value(V) + 1/2 |V - W|_F^2."""

    @abstractmethod
    def adaptive(self, initial: FloatArray, *, gamma: float = 2.0, floor: float = 1e-8) -> Self:
        """Return this penalty with weights 1 / max(norm, floor)^gamma from an initial estimate of W."""

    @abstractmethod
    def critical_strength(self, gradient: FloatArray) -> float:
        """Return the smallest strength at which W = 0 is stationary, given the loss's gradient there."""

    @abstractmethod
    def subdifferential_distance(self, W: FloatArray, gradient: FloatArray, strength: float) -> float:
        """Return the distance of -gradient from strength times the subdifferential of the value at W."""

    @abstractmethod
    def support(self, W: FloatArray) -> np.ndarray:
        """Return what is alive, as booleans."""


@dataclass(frozen=True, eq=False)
class _ColumnGroups(Penalty):
    """sum_g weights[g] |W_g|_F over groups of columns.

    Attributes
    ----------
    labels : (columns,) group of each column
    weights : (groups,)
    frozen : (groups,) groups that stay zero whatever the strength
    """

    labels: np.ndarray
    weights: FloatArray
    frozen: np.ndarray

    @property
    def convex(self) -> bool:
        """Always, as a sum of norms with weights that do not depend on W."""
        return True

    def norms(self, W: FloatArray) -> FloatArray:
        """Return the norm of each group of columns."""
        if W.ndim != 2 or W.shape[1] != self.labels.size:
            raise ValueError(f"W has shape {W.shape}: this penalty is for {self.labels.size} columns.")
        squares = (W.astype(np.float64) ** 2).sum(axis=0)
        return np.sqrt(np.bincount(self.labels, squares, minlength=self.weights.size))

    def value(self, W: FloatArray) -> float:
        """Return sum_g weights[g] |W_g|_F."""
        return float(self.weights @ self.norms(W))

    def thresholds(self, strength: float) -> FloatArray:
        """Return strength * weights, infinite for frozen groups: what the training loop subtracts."""
        return np.where(self.frozen, np.inf, strength * self.weights)

    def prox(self, W: FloatArray, tau: float) -> FloatArray:
        """Scale each group by max(0, 1 - tau weight / norm)."""
        norms, thresholds = self.norms(W), self.thresholds(tau)
        alive = norms > thresholds
        factors = np.zeros_like(norms)
        factors[alive] = 1.0 - thresholds[alive] / norms[alive]
        return (W * factors[self.labels]).astype(W.dtype)

    def adaptive(self, initial: FloatArray, *, gamma: float = 2.0, floor: float = 1e-8) -> Self:
        """Weigh each group by 1 / max(norm, floor)^gamma; a group that is exactly zero is frozen."""
        check_real("gamma", gamma, strict=True)
        check_real("floor", floor, strict=True)
        norms = self.norms(initial)
        return replace(self, weights=_adaptive(norms, gamma, floor), frozen=norms == 0)

    def critical_strength(self, gradient: FloatArray) -> float:
        """Return max_g |gradient_g| / weights[g] over the groups that are not frozen."""
        return float(np.max(self.norms(gradient)[~self.frozen] / self.weights[~self.frozen], initial=0.0))

    def subdifferential_distance(self, W: FloatArray, gradient: FloatArray, strength: float) -> float:
        """Per group: |G + strength weight W / |W|| where alive, max(0, |G| - strength weight) where not."""
        norms, pull = self.norms(W), strength * self.weights
        dead = norms == 0
        inward = np.where(dead, 0.0, pull / np.where(dead, 1.0, norms))
        alive_parts = self.norms(gradient + inward[self.labels] * W)
        dead_parts = np.where(self.frozen, 0.0, np.maximum(0.0, self.norms(gradient) - pull))
        return float(np.linalg.norm(np.where(dead, dead_parts, alive_parts)))

    def support(self, W: FloatArray) -> np.ndarray:
        """Return which columns belong to a group that is not zero."""
        return (self.norms(W) > 0)[self.labels]

    def restrict(self, columns: np.ndarray) -> Self:
        """Return the penalty on some of the columns alone (a mask); their groups keep their weights."""
        kept, labels = np.unique(self.labels[columns], return_inverse=True)
        return replace(self, labels=labels, weights=self.weights[kept], frozen=self.frozen[kept])


@dataclass(frozen=True, eq=False)
class InputGroups(_ColumnGroups):
    """Group lasso on the first layer: its columns, one for each input, or groups of them."""

    layer: ClassVar[int] = 0

    @classmethod
    def of(cls, n_inputs: int, groups: Any = None) -> "InputGroups":
        """Weigh each group by the root of its size; for `groups`, see `group_labels`."""
        labels = group_labels(groups, check_whole("n_inputs", n_inputs))
        sizes = np.bincount(labels)
        return cls(labels, np.sqrt(sizes), np.zeros(sizes.size, bool))


@dataclass(frozen=True, eq=False)
class SecondLayerColumns(_ColumnGroups):
    """Group lasso on the columns of the second layer: the penalty of the paper's Algorithm 2.

    It can be escaped by growing the first layer and shrinking the second, and counts columns rather than
    rank; `SingularValues` has neither fault.
    """

    layer: ClassVar[int] = 1

    @classmethod
    def of(cls, width: int) -> "SecondLayerColumns":
        """Put each of the `width` columns in a group of its own."""
        width = check_whole("width", width)
        return cls(np.arange(width), np.ones(width), np.zeros(width, bool))


@dataclass(frozen=True, eq=False)
class SingularValues(Penalty):
    """sum_i weights[i] s_i(W), s_1 >= s_2 >= ... being the singular values of the first layer.

    With equal weights this is a multiple of the nuclear norm. Adaptive weights grow along the order; the
    thresholding below is still the exact prox, but the penalty is then not convex.
    """

    layer: ClassVar[int] = 0
    weights: FloatArray

    def __post_init__(self) -> None:
        if (np.diff(self.weights) < 0).any() or not (np.isfinite(self.weights) & (self.weights >= 0)).all():
            raise ValueError(
                f"weights={self.weights}: give finite, non-negative weights that do not decrease; otherwise "
                "thresholding is not the prox."
            )

    @classmethod
    def of(cls, n_inputs: int, width: int) -> "SingularValues":
        """Weigh all min(n_inputs, width) singular values equally."""
        return cls(np.ones(min(check_whole("n_inputs", n_inputs), check_whole("width", width))))

    @property
    def convex(self) -> bool:
        """Whether all weights are equal."""
        return bool((self.weights == self.weights[0]).all())

    def _decompose(self, W: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        if W.ndim != 2 or min(W.shape) != self.weights.size:
            raise ValueError(f"W has shape {W.shape}: this penalty is for {self.weights.size} singular values.")
        U, s, Vt = np.linalg.svd(W, full_matrices=False)
        return U, s, Vt

    def value(self, W: FloatArray) -> float:
        """Return sum_i weights[i] s_i(W)."""
        return float(self.weights @ self._decompose(W)[1])

    def prox(self, W: FloatArray, tau: float) -> FloatArray:
        """Soft-threshold s_i by tau weights[i]."""
        U, s, Vt = self._decompose(W)
        return ((U * np.maximum(s - tau * self.weights, 0.0)) @ Vt).astype(W.dtype)

    def adaptive(self, initial: FloatArray, *, gamma: float = 2.0, floor: float = 1e-8) -> "SingularValues":
        """Weigh singular value i by 1 / max(s_i, floor)^gamma."""
        check_real("gamma", gamma, strict=True)
        check_real("floor", floor, strict=True)
        return SingularValues(_adaptive(self._decompose(initial)[1].astype(np.float64), gamma, floor))

    def critical_strength(self, gradient: FloatArray) -> float:
        """Return max_i s_i(gradient) / weights[i]."""
        return float((self._decompose(gradient)[1] / self.weights).max())

    def subdifferential_distance(self, W: FloatArray, gradient: FloatArray, strength: float) -> float:
        """Return the distance for equal weights (Watson, 1992); it is not defined for others."""
        if not self.convex:
            raise ValueError("adaptive singular values are not convex: they have no subdifferential to measure.")
        pull = strength * self.weights[0]
        U, s, Vt = self._decompose(W)
        rank = int((s > 1e-12 * max(s[0], 1.0)).sum())
        U, Vt = U[:, :rank], Vt[:rank]
        outside = gradient - U @ (U.T @ gradient)
        outside = outside - (outside @ Vt.T) @ Vt
        inside = gradient - outside + pull * (U @ Vt)
        excess = np.maximum(np.linalg.svd(outside, compute_uv=False) - pull, 0.0)
        return float(np.hypot(np.linalg.norm(inside), np.linalg.norm(excess)))

    def support(self, W: FloatArray, tolerance: float = 1e-4) -> np.ndarray:
        """Return which singular values exceed the tolerance times the largest."""
        s = self._decompose(W)[1]
        return s > tolerance * s[0] if s[0] > 0 else np.zeros(s.size, bool)
