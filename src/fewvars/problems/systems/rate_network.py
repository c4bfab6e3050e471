"""A recurrent network of firing rates: each unit leaks, and is driven by the tanh of a few others."""

import dataclasses
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from fewvars._common.validation import FloatArray, check_whole
from fewvars.problems.systems._base import System
from fewvars.problems.systems._units import checked_square, checked_vector, freeze


@final
@dataclass(frozen=True, eq=False)
class RateNetwork(System):
    """Rate network, dx_i/dt = -x_i + Σ_j W_ij tanh(x_j) + b_i.

    Parameters
    ----------
    weights : array-like of shape (d, d)
        W; W_ij is the weight of unit j in the equation of unit i.
    drive : array-like of shape (d,)
        b.

    References
    ----------
    H. Sompolinsky, A. Crisanti, H. J. Sommers, Chaos in random neural networks, PRL 61, 1988.
    """

    weights: FloatArray
    drive: FloatArray
    d: int = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        freeze(self, "weights", "drive")
        object.__setattr__(self, "d", checked_square("weights", self.weights))
        checked_vector("drive", self.drive, self.d)

    @classmethod
    def random(cls, d: int = 50, *, inputs: int = 5, gain: float = 5.0, seed: int | None = 0) -> "RateNetwork":
        """Draw a network where each unit listens to `inputs` others.

        Parameters
        ----------
        d : int
            Number of units, at least 2.
        inputs : int
            Number of nonzero weights in each row, none on the diagonal.
        gain : float
            Weights are normal with standard deviation `gain` / sqrt(`inputs`); there is no drive.
            Activity dies out below 1 in large networks. At the default values it keeps going for about
            four draws in five (for seed 0 too); the others settle and say little about their graph.
        seed : int or None
            Seed of ``numpy.random.default_rng``. Order of draws: for each unit in turn, its inputs,
            then their weights.
        """
        check_whole("d", d, minimum=2)
        if not 0 <= inputs < d:
            raise ValueError(f"inputs must lie in 0..{d - 1}, got {inputs}.")
        rng = np.random.default_rng(seed)
        weights = np.zeros((d, d))
        for i in range(d):
            chosen = rng.choice(np.delete(np.arange(d), i), inputs, replace=False)
            weights[i, chosen] = gain / np.sqrt(max(inputs, 1)) * rng.standard_normal(inputs)
        return cls(weights, np.zeros(d))

    def field(self, x: FloatArray) -> FloatArray:
        """Time derivative, shape (..., d)."""
        return self.drive - x + np.tanh(x) @ self.weights.T

    @property
    def graph(self) -> NDArray[np.bool_]:
        """Dependency graph (d, d): the weights, and the leak of each unit on itself."""
        return (self.weights != 0) | np.eye(self.d, dtype=bool)

    def default_initial_state(self) -> FloatArray:
        """Rates spread over [-1, 1]."""
        return np.cos(np.arange(self.d) * np.pi * (3 - np.sqrt(5)))
