"""A ring of Roessler oscillators, coupled to both neighbours through their first variables."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from fewvars._common.validation import FloatArray, check_whole
from fewvars.problems.systems._base import System
from fewvars.problems.systems._units import coupled_graph, interleaved


@final
@dataclass(frozen=True)
class RoesslerRing(System):
    """Ring of Roessler oscillators (u_k, v_k, w_k), k modulo `oscillators`.

    du_k/dt = -v_k - w_k + e (u_{k-1} - 2 u_k + u_{k+1}),
    dv_k/dt = u_k + a v_k,
    dw_k/dt = b + w_k (u_k - c).

    The state is (u_1, v_1, w_1, u_2, ...), so d = 3 `oscillators`.

    Parameters
    ----------
    oscillators : int
        Number of oscillators, at least 3.
    coupling : float
        e. At zero the oscillators are independent, and the graph has no edges between them.
    a, b, c : float
        Constants of the oscillator; a is nonzero.

    References
    ----------
    O. E. Roessler, An equation for continuous chaos, Phys. Lett. A 57, 1976.
    """

    oscillators: int = 5
    coupling: float = 0.05
    a: float = 0.2
    b: float = 0.2
    c: float = 5.7
    d: int = dataclasses.field(init=False)
    unit: ClassVar[tuple[str, ...]] = ("u", "v", "w")

    def __post_init__(self) -> None:
        check_whole("oscillators", self.oscillators, minimum=3)
        if self.a == 0:
            raise ValueError("a must be nonzero: the graph assumes it.")
        object.__setattr__(self, "d", 3 * self.oscillators)

    def field(self, x: FloatArray) -> FloatArray:
        """Time derivative, shape (..., d)."""
        u, v, w = x[..., 0::3], x[..., 1::3], x[..., 2::3]
        ring = np.concatenate((u[..., -1:], u, u[..., :1]), axis=-1)
        diffusion = self.coupling * (ring[..., :-2] - 2.0 * u + ring[..., 2:])
        return interleaved(-v - w + diffusion, u + self.a * v, self.b + w * (u - self.c))

    @property
    def graph(self) -> NDArray[np.bool_]:
        """Dependency graph (d, d); u_k depends on itself only through the coupling."""
        coupled = self.coupling != 0
        own = [[coupled, True, True], [True, True, False], [True, False, True]]
        pulled = [[coupled, False, False], [False, False, False], [False, False, False]]
        eye = np.eye(self.oscillators, dtype=bool)
        return coupled_graph(own, np.roll(eye, 1, axis=1) | np.roll(eye, -1, axis=1), pulled)

    def default_initial_state(self) -> FloatArray:
        """Oscillators spread evenly over one turn of radius 5, so that they start out of step."""
        phase = 2 * np.pi * np.arange(self.oscillators) / self.oscillators
        return np.stack((5 * np.cos(phase), 5 * np.sin(phase), np.full_like(phase, 0.02)), axis=-1).ravel()
