"""Group lasso on the columns of a layer: groups of inputs or hidden units become zero together."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from fewvars._common.validation import FloatArray, check_whole
from fewvars.engine.penalties.penalty import CompiledProx, Penalty, adaptive_weights


def group_labels(groups: Any, n_inputs: int, name: str = "groups") -> np.ndarray:
    """Return a label 0, 1, ... for each input.

    Parameters
    ----------
    groups : None, (n_inputs,) labels, or a list of lists of input indices
        None puts every input in its own group.
    name : str
        Name of the argument in error messages.
    """
    if groups is None:
        return np.arange(n_inputs)
    if isinstance(groups, str | dict) or not np.iterable(groups):
        raise ValueError(f"{name}={groups!r}: give one label for each of the {n_inputs} inputs, or lists of inputs.")
    if all(np.ndim(g) == 0 and not isinstance(g, (set, frozenset)) for g in groups):
        labels = np.asarray(groups)
        if labels.shape != (n_inputs,):
            raise ValueError(f"{name} has {labels.size} labels: give one for each of the {n_inputs} inputs.")
        if labels.dtype.kind == "f" and np.isnan(labels).any():
            raise ValueError(f"{name} has no label for input {np.argmax(np.isnan(labels))}: give every input one.")
        return np.unique(labels, return_inverse=True)[1]
    labels = np.full(n_inputs, -1)
    for g, members in enumerate(groups):
        if not np.iterable(members):
            raise ValueError(f"{name} mixes lists with {members!r}: put a single input in a list, too.")
        for j in members:
            if not isinstance(j, (int, np.integer)) or not 0 <= j < n_inputs:
                raise ValueError(f"{name} contains input {j!r}: use input indices from 0 to {n_inputs - 1}.")
            if labels[j] >= 0:
                raise ValueError(f"{name} overlap: input {j} is in more than one group. Put it in one only.")
            labels[j] = g
    missing = np.flatnonzero(labels < 0)
    if missing.size:
        raise ValueError(f"{name} leave out input {missing[0]}: put every input in exactly one group.")
    return np.unique(labels, return_inverse=True)[1]


@dataclass(frozen=True, eq=False)
class ColumnGroups(Penalty):
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
        """Always: it is a sum of norms with weights that do not depend on W."""
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
        """Return strength * weights, infinite for frozen groups."""
        return np.where(self.frozen, np.inf, strength * self.weights)

    def prox(self, W: FloatArray, tau: float) -> FloatArray:
        """Scale each group by max(0, 1 - tau weight / norm)."""
        norms, thresholds = self.norms(W), self.thresholds(tau)
        alive = norms > thresholds
        factors = np.zeros_like(norms)
        factors[alive] = 1.0 - thresholds[alive] / norms[alive]
        return (W * factors[self.labels]).astype(W.dtype)

    def compiled_prox(self, strength: float) -> CompiledProx:
        """Return the labels and thresholds of the groups."""
        return CompiledProx(self.labels, self.thresholds(strength))

    def adaptive(self, initial: FloatArray, *, gamma: float = 2.0, floor: float = 1e-8) -> Self:
        """Weigh each group by 1 / max(norm, floor)^gamma; a group that is exactly zero is frozen."""
        norms = self.norms(initial)
        return replace(self, weights=adaptive_weights(norms, gamma, floor), frozen=norms == 0)

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
        """Return the penalty on a subset of the columns (a mask); the groups keep their weights."""
        kept, labels = np.unique(self.labels[columns], return_inverse=True)
        return replace(self, labels=labels, weights=self.weights[kept], frozen=self.frozen[kept])


@dataclass(frozen=True, eq=False)
class InputGroups(ColumnGroups):
    """Group lasso on the first layer: its columns, one for each input, or groups of them."""

    layer: ClassVar[int] = 0

    @classmethod
    def of(cls, n_inputs: int, groups: Any = None) -> "InputGroups":
        """Weigh each group by the root of its size; for `groups`, see `group_labels`."""
        labels = group_labels(groups, check_whole("n_inputs", n_inputs))
        sizes = np.bincount(labels)
        return cls(labels, np.sqrt(sizes), np.zeros(sizes.size, bool))


@dataclass(frozen=True, eq=False)
class SecondLayerColumns(ColumnGroups):
    """Group lasso on the columns of the second layer: the penalty of the paper's Algorithm 2.

    A network can evade it by growing the first layer and shrinking the second, and it counts columns rather than
    the rank. `SingularValues` has neither drawback.
    """

    layer: ClassVar[int] = 1

    @classmethod
    def of(cls, width: int) -> "SecondLayerColumns":
        """Put each of the `width` columns in its own group."""
        width = check_whole("width", width)
        return cls(np.arange(width), np.ones(width), np.zeros(width, bool))
