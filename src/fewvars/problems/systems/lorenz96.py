"""Lorenz-96: a ring of sites, each driven by two products of its neighbours. The paper's system."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from fewvars._common.validation import FloatArray, check_whole
from fewvars.problems.systems._base import System


@final
@dataclass(frozen=True)
class Lorenz96(System):
    """Lorenz-96, dx_j/dt = -x_{j-2} x_{j-1} + x_{j-1} x_{j+1} - x_j + F, indices taken modulo d.

    Modulo d means x_{-1} = x_{d-1}, x_0 = x_d and x_{d+1} = x_1; the paper states the last two only.

    Parameters
    ----------
    d : int
        Number of sites, at least 4.
    forcing : float
        F. Chaotic at 8 with d = 40.

    References
    ----------
    E. N. Lorenz, Predictability: a problem partly solved, 1996.
    """

    d: int = 40
    forcing: float = 8.0

    def __post_init__(self) -> None:
        check_whole("d", self.d, minimum=4)

    def field(self, x: FloatArray) -> FloatArray:
        """Time derivative, shape (..., d)."""
        # One padded copy: np.roll, three times, takes three times as long on a single state.
        ring = np.concatenate((x[..., -2:], x, x[..., :1]), axis=-1)
        return (ring[..., 3:] - ring[..., :-3]) * ring[..., 1:-2] - x + self.forcing

    @property
    def graph(self) -> NDArray[np.bool_]:
        """Dependency graph (d, d): each site on itself, two sites before and one after."""
        eye = np.eye(self.d, dtype=bool)
        return eye | np.roll(eye, -1, axis=1) | np.roll(eye, -2, axis=1) | np.roll(eye, 1, axis=1)

    def default_initial_state(self) -> FloatArray:
        """All ones but the (d // 2)-th, 1.008: the paper's start at d = 40 (Sec. 4.1)."""
        state = np.ones(self.d)
        state[self.d // 2 - 1] = 1.008
        return state
