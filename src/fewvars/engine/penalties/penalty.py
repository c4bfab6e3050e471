"""The interface of penalties: value, prox, distance to optimality, and what is not zero ("alive")."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Self

import numpy as np

from fewvars._common.validation import FloatArray, check_real
from fewvars.engine.network import Layer


class CompiledProx(NamedTuple):
    """What the training loop needs for the prox of sum_g thresholds[g] |W_g|_F over groups of columns.

    Attributes
    ----------
    labels : (columns,) group of each column
    thresholds : (groups,) infinite for a group that stays zero; empty for no prox at all
    """

    labels: np.ndarray
    thresholds: FloatArray


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
    def subdifferential_distance(self, W: FloatArray, gradient: FloatArray, strength: float) -> float:
        """Return the distance of -gradient from strength times the subdifferential of the value at W."""

    @abstractmethod
    def support(self, W: FloatArray) -> np.ndarray:
        """Return which columns or singular values are alive, as booleans."""

    @abstractmethod
    def compiled_prox(self, strength: float) -> CompiledProx | None:
        """Return what the training loop needs to apply the prox itself, or None if it cannot."""

    def penalised(self, layers: Sequence[Layer]) -> FloatArray:
        """Return the weight matrix on which the penalty acts, given the layers of a network."""
        if self.layer >= len(layers):
            raise ValueError(f"penalty={self!r} is for layer {self.layer + 1}: this network has {len(layers)}.")
        return layers[self.layer].weights


def adaptive_weights(norms: FloatArray, gamma: float, floor: float) -> FloatArray:
    """Return 1 / max(norm, floor)^gamma for each norm."""
    check_real("gamma", gamma, strict=True)
    check_real("floor", floor, strict=True)
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        # Neither infinite nor zero, however large gamma is: the sum of infinity times zero is NaN.
        return np.clip(1.0 / np.maximum(norms, floor) ** gamma, 1e-300, 1e300)
