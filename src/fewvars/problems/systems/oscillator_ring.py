"""A ring of second-order oscillators: positions on springs, pulled by the tanh of the distance to their neighbours."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from fewvars._common.validation import FloatArray, check_real, check_whole
from fewvars.problems.systems._base import System
from fewvars.problems.systems._units import coupled_graph, golden_phases, interleaved


@final
@dataclass(frozen=True)
class OscillatorRing(System):
    """Ring of oscillators with position x_k and velocity v_k, k modulo `oscillators`.

    dx_k/dt = v_k,
    dv_k/dt = -a x_k + e (tanh(x_{k-1} - x_k) + tanh(x_{k+1} - x_k)).

    The state is (x_1, v_1, x_2, ...), so d = 2 `oscillators`. The force derives from a potential, see `energy`.

    Parameters
    ----------
    oscillators : int
        Number of oscillators, at least 3.
    stiffness, coupling : float
        a and e, positive.
    """

    oscillators: int = 20
    stiffness: float = 1.0
    coupling: float = 1.0
    d: int = dataclasses.field(init=False)
    unit: ClassVar[tuple[str, ...]] = ("x", "v")

    def __post_init__(self) -> None:
        check_whole("oscillators", self.oscillators, minimum=3)
        check_real("stiffness", self.stiffness, strict=True)
        check_real("coupling", self.coupling, strict=True)
        object.__setattr__(self, "d", 2 * self.oscillators)

    def field(self, x: FloatArray) -> FloatArray:
        """Time derivative, shape (..., d)."""
        position, velocity = x[..., 0::2], x[..., 1::2]
        # The pull of k + 1 on k is minus that of k on k + 1.
        pull = np.tanh(np.roll(position, -1, axis=-1) - position)
        return interleaved(velocity, -self.stiffness * position + self.coupling * (pull - np.roll(pull, 1, axis=-1)))

    def energy(self, x: FloatArray) -> FloatArray:
        """Σ_k v_k^2 / 2 + a x_k^2 / 2 + e log cosh(x_{k+1} - x_k), shape (...), which every trajectory conserves."""
        position, velocity = x[..., 0::2], x[..., 1::2]
        stretch = np.roll(position, -1, axis=-1) - position
        springs = velocity**2 / 2 + self.stiffness * position**2 / 2
        return (springs + self.coupling * np.log(np.cosh(stretch))).sum(axis=-1)

    @property
    def graph(self) -> NDArray[np.bool_]:
        """Dependency graph (d, d): each position on its velocity, each velocity on three positions."""
        eye = np.eye(self.oscillators, dtype=bool)
        neighbours = np.roll(eye, 1, axis=1) | np.roll(eye, -1, axis=1)
        return coupled_graph([[False, True], [True, False]], neighbours, [[False, False], [True, False]])

    def default_initial_state(self) -> FloatArray:
        """Oscillators out of step, with amplitudes of 2, where tanh is far from a line."""
        phases = golden_phases(self.oscillators)
        return interleaved(2 * np.cos(phases), 2 * np.sin(phases))
