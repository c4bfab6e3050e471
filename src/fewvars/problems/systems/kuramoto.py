"""Kuramoto phase oscillators on a graph: each is pulled by the sine of its phase differences."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewvars._common.validation import FloatArray, check_whole
from fewvars.problems.systems._base import System
from fewvars.problems.systems._units import checked_coupling, checked_vector, freeze, golden_phases, random_coupling


@final
@dataclass(frozen=True, eq=False)
class Kuramoto(System):
    """Kuramoto model, dθ_i/dt = ω_i + Σ_j K_ij sin(θ_j - θ_i).

    The state holds unwrapped phases, which grow without bound. The field sees phase differences only:
    it is unchanged when every phase moves by the same amount, and θ_i enters its own equation through
    every difference.

    Parameters
    ----------
    coupling : array-like of shape (d, d)
        K; K_ij is the pull of oscillator j on oscillator i. The diagonal must be zero.
    frequencies : array-like of shape (d,)
        ω.

    References
    ----------
    Y. Kuramoto, Self-entrainment of a population of coupled non-linear oscillators, 1975.
    """

    coupling: FloatArray
    frequencies: FloatArray
    d: int = dataclasses.field(init=False)
    unit: ClassVar[tuple[str, ...]] = ("theta",)

    def __post_init__(self) -> None:
        freeze(self, "coupling", "frequencies")
        object.__setattr__(self, "d", checked_coupling("coupling", self.coupling))
        checked_vector("frequencies", self.frequencies, self.d)

    @classmethod
    def random(cls, d: int = 10, *, neighbours: int = 3, strength: float = 0.5, seed: int | None = 0) -> "Kuramoto":
        """Draw a system where each oscillator is pulled by `neighbours` others.

        Parameters
        ----------
        d : int
            Number of oscillators, at least 2.
        neighbours : int
            Number of nonzero K_ij in each row, each equal to `strength` / `neighbours`.
        strength : float
            Total pull on one oscillator. From about 1 on some oscillators lock, and their differences
            no longer vary.
        seed : int or None
            Seed of ``numpy.random.default_rng``. Order of draws: frequencies (standard normal), then
            the neighbours of each oscillator in turn.
        """
        check_whole("d", d, minimum=2)
        rng = np.random.default_rng(seed)
        frequencies = rng.standard_normal(d)
        return cls(random_coupling(rng, d, neighbours, strength), frequencies)

    def field(self, x: ArrayLike) -> FloatArray:
        """Time derivative, shape (..., d)."""
        # sin(b - a) = sin b cos a - cos b sin a: 2d sines instead of d^2.
        sine, cosine = np.sin(x), np.cos(x)
        return self.frequencies + cosine * (sine @ self.coupling.T) - sine * (cosine @ self.coupling.T)

    @property
    def graph(self) -> NDArray[np.bool_]:
        """Dependency graph (d, d): the coupling, and each coupled oscillator on itself."""
        pulls = self.coupling != 0
        return pulls | np.diag(pulls.any(axis=1))

    def default_initial_state(self) -> FloatArray:
        """Phases spread over the circle by the golden angle, which no symmetry of the graph shares."""
        return golden_phases(self.d)
