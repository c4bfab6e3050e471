"""Lorenz-63: three variables, one of the nine dependencies missing."""

import dataclasses
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from fewvars._common.validation import FloatArray
from fewvars.problems.systems._base import System


@final
@dataclass(frozen=True)
class Lorenz63(System):
    """Lorenz-63: dx/dt = s (y - x), dy/dt = x (r - z) - y, dz/dt = x y - b z.

    Parameters
    ----------
    sigma, rho, beta : float
        The constants s, r, b; s and b are nonzero.

    References
    ----------
    E. N. Lorenz, Deterministic nonperiodic flow, J. Atmos. Sci. 20, 1963.
    """

    sigma: float = 10.0
    rho: float = 28.0
    beta: float = 8.0 / 3.0
    d: int = dataclasses.field(default=3, init=False)

    def __post_init__(self) -> None:
        if not (self.sigma and self.beta):
            raise ValueError("sigma and beta must be nonzero: the graph assumes it.")

    def field(self, x: FloatArray) -> FloatArray:
        """Time derivative, shape (..., 3)."""
        u, v, w = x[..., 0], x[..., 1], x[..., 2]
        return np.stack((self.sigma * (v - u), u * (self.rho - w) - v, u * v - self.beta * w), axis=-1)

    @property
    def graph(self) -> NDArray[np.bool_]:
        """Dependency graph (3, 3): all but the dependence of dx/dt on z."""
        return np.array([[True, True, False], [True, True, True], [True, True, True]])

    @property
    def names(self) -> tuple[str, ...]:
        """The usual letters."""
        return ("x", "y", "z")

    def default_initial_state(self) -> FloatArray:
        """A state near the attractor's left wing."""
        return np.array([-8.0, 7.0, 27.0])
