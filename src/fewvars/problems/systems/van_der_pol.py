"""Van der Pol oscillators on a graph: relaxation oscillations, pulled towards those of a few others."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from fewvars._common.validation import FloatArray, check_real, check_whole
from fewvars.problems.systems._base import System
from fewvars.problems.systems._units import (
    checked_coupling,
    checked_vector,
    coupled_graph,
    freeze,
    golden_phases,
    interleaved,
    pull,
    random_coupling,
)


@final
@dataclass(frozen=True, eq=False)
class VanDerPol(System):
    """Network of Van der Pol oscillators (x_k, v_k).

    dx_k/dt = v_k,
    dv_k/dt = m (1 - x_k^2) v_k - ω_k^2 x_k + Σ_j K_kj (x_j - x_k).

    The state is (x_1, v_1, x_2, ...), so d is twice the number of oscillators. ``VanDerPol([[0.0]], [1.0])`` is a
    single oscillator.

    Parameters
    ----------
    coupling : array-like of shape (oscillators, oscillators)
        K; K_kj is the pull of oscillator j on oscillator k. The diagonal is zero.
    frequencies : array-like of shape (oscillators,)
        ω.
    damping : float
        m, positive.

    References
    ----------
    B. van der Pol, On relaxation-oscillations, Phil. Mag. 2, 1926.
    """

    coupling: FloatArray
    frequencies: FloatArray
    damping: float = 1.0
    d: int = dataclasses.field(init=False)
    unit: ClassVar[tuple[str, ...]] = ("x", "v")

    def __post_init__(self) -> None:
        freeze(self, "coupling", "frequencies")
        object.__setattr__(self, "d", 2 * checked_coupling("coupling", self.coupling))
        checked_vector("frequencies", self.frequencies, self.d // 2)
        check_real("damping", self.damping, strict=True)

    @classmethod
    def random(
        cls,
        oscillators: int = 10,
        *,
        neighbours: int = 2,
        strength: float = 0.5,
        damping: float = 1.0,
        seed: int | None = 0,
    ) -> "VanDerPol":
        """Draw a network of oscillators of different frequencies, each pulled by `neighbours` others.

        Parameters
        ----------
        oscillators : int
            Number of oscillators, at least 2.
        neighbours : int
            Number of nonzero K_kj in each row, each equal to `strength` / `neighbours`.
        strength : float
            Total pull on one oscillator. The stronger it is, the more of them lock, and their differences no longer
            tell which pulls which.
        damping : float
            m.
        seed : int or None
            Seed of ``numpy.random.default_rng``. Order of draws: frequencies (uniform in [0.7, 1.4]), then the
            neighbours of each oscillator in turn.
        """
        check_whole("oscillators", oscillators, minimum=2)
        rng = np.random.default_rng(seed)
        frequencies = rng.uniform(0.7, 1.4, oscillators)
        return cls(random_coupling(rng, oscillators, neighbours, strength), frequencies, damping)

    def field(self, x: FloatArray) -> FloatArray:
        """Time derivative, shape (..., d)."""
        x, v = x[..., 0::2], x[..., 1::2]
        force = self.damping * (1 - x**2) * v - self.frequencies**2 * x + pull(self.coupling, x)
        return interleaved(v, force)

    @property
    def graph(self) -> NDArray[np.bool_]:
        """Dependency graph (d, d): each oscillator on itself, and each velocity on the positions that pull it."""
        return coupled_graph([[False, True], [True, True]], self.coupling != 0, [[False, False], [True, False]])

    def default_initial_state(self) -> FloatArray:
        """Oscillators out of step, near the limit cycle, whose amplitude is about 2."""
        phases = golden_phases(self.d // 2)
        return interleaved(2 * np.cos(phases), 2 * np.sin(phases))
