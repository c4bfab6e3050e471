"""Generalised Lotka-Volterra: populations that grow at rates linear in each other."""

import dataclasses
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from fewvars._common.validation import FloatArray, check_real, check_whole
from fewvars.problems.systems._base import System
from fewvars.problems.systems._units import checked_square, checked_vector, freeze


@final
@dataclass(frozen=True, eq=False)
class LotkaVolterra(System):
    """Generalised Lotka-Volterra web, dx_i/dt = x_i (r_i + Σ_j A_ij x_j), for positive x.

    Parameters
    ----------
    interactions : array-like of shape (d, d)
        A; A_ij is the effect of species j on the growth rate of species i.
    growth : array-like of shape (d,)
        r.
    """

    interactions: FloatArray
    growth: FloatArray
    d: int = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        freeze(self, "interactions", "growth")
        object.__setattr__(self, "d", checked_square("interactions", self.interactions))
        checked_vector("growth", self.growth, self.d)

    @classmethod
    def random(
        cls, d: int = 10, *, prey: int = 2, self_limitation: float = 0.0, seed: int | None = 0
    ) -> "LotkaVolterra":
        """Draw a food web with the equilibrium (1, ..., 1) that neither dies out nor explodes.

        Species i eats min(i, `prey`) of the species before it. What the eater gains the eaten loses
        (A is antisymmetric but for its diagonal), so V(x) = Σ_i (x_i - log x_i) is conserved when
        `self_limitation` is zero and falls otherwise: populations swing for ever, or settle.

        Parameters
        ----------
        d : int
            Number of species, at least 2.
        prey : int
            Number of species that each one eats, at least 1.
        self_limitation : float
            Minus the diagonal of A, at least zero.
        seed : int or None
            Seed of ``numpy.random.default_rng``. Order of draws: for each species in turn, which it
            eats, then how much (uniform in [0.5, 1.5]).
        """
        check_whole("d", d, minimum=2)
        check_whole("prey", prey, minimum=1)
        check_real("self_limitation", self_limitation)
        rng = np.random.default_rng(seed)
        interactions = -self_limitation * np.eye(d)
        for i in range(1, d):
            eaten = rng.choice(i, min(i, prey), replace=False)
            rate = rng.uniform(0.5, 1.5, eaten.size)
            interactions[i, eaten] = rate
            interactions[eaten, i] = -rate
        return cls(interactions, -interactions.sum(axis=1))

    def field(self, x: FloatArray) -> FloatArray:
        """Time derivative, shape (..., d)."""
        return x * (self.growth + x @ self.interactions.T)

    @property
    def graph(self) -> NDArray[np.bool_]:
        """Dependency graph (d, d): the interactions, and each species that changes at all on itself."""
        acts = self.interactions != 0
        return acts | np.diag(acts.any(axis=1) | (self.growth != 0))

    def default_initial_state(self) -> FloatArray:
        """Populations alternating between 0.6 and 1.4, away from the equilibrium of random webs."""
        return np.where(np.arange(self.d) % 2 == 0, 0.6, 1.4)
