"""An epidemic on a graph of communities: susceptible, exposed and infectious shares of each."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from fewvars._common.validation import FloatArray, check_real, check_whole
from fewvars.problems.systems._base import System
from fewvars.problems.systems._units import checked_square, coupled_graph, freeze, interleaved, random_coupling


@final
@dataclass(frozen=True, eq=False)
class SEIR(System):
    """SEIR model on a graph, with births and deaths at the same rate m.

    dS_k/dt = m - S_k Σ_j B_kj I_j - m S_k,
    dE_k/dt = S_k Σ_j B_kj I_j - (s + m) E_k,
    dI_k/dt = s E_k - (g + m) I_k.

    S, E and I are shares of the population of community k. The recovered share R_k = 1 - S_k - E_k - I_k acts on
    nothing, so it is left out of the state (S_1, E_1, I_1, S_2, ...) and d is three times the number of communities.

    Parameters
    ----------
    transmission : array-like of shape (communities, communities)
        B, not negative; B_kj is the rate at which infectious members of community j infect those of community k.
        Every row has a positive entry.
    incubation, recovery : float
        The rates s and g, positive.
    turnover : float
        m, positive.

    References
    ----------
    R. M. Anderson, R. M. May, Infectious Diseases of Humans, Oxford University Press, 1991.
    """

    transmission: FloatArray
    incubation: float = 0.5
    recovery: float = 0.25
    turnover: float = 0.01
    d: int = dataclasses.field(init=False)
    unit: ClassVar[tuple[str, ...]] = ("S", "E", "I")

    def __post_init__(self) -> None:
        freeze(self, "transmission")
        object.__setattr__(self, "d", 3 * checked_square("transmission", self.transmission))
        if (self.transmission < 0).any() or not (self.transmission > 0).any(axis=1).all():
            raise ValueError("transmission must not be negative, and every row needs a positive entry.")
        for name in ("incubation", "recovery", "turnover"):
            check_real(name, getattr(self, name), strict=True)

    @classmethod
    def random(
        cls, communities: int = 6, *, neighbours: int = 2, strength: float = 0.2, seed: int | None = 0
    ) -> "SEIR":
        """Draw communities that differ in their transmission, each infected by `neighbours` others.

        Parameters
        ----------
        communities : int
            Number of communities, at least 2.
        neighbours : int
            Number of nonzero B_kj off the diagonal of each row, each equal to `strength` / `neighbours`.
        strength : float
            Total transmission from other communities.
        seed : int or None
            Seed of ``numpy.random.default_rng``. Order of draws: the neighbours of each community in turn, then the
            transmission within each community (uniform in [0.4, 1]).
        """
        check_whole("communities", communities, minimum=2)
        rng = np.random.default_rng(seed)
        between = random_coupling(rng, communities, neighbours, strength)
        return cls(between + np.diag(rng.uniform(0.4, 1.0, communities)))

    def field(self, x: FloatArray) -> FloatArray:
        """Time derivative, shape (..., d)."""
        susceptible, exposed, infectious = x[..., 0::3], x[..., 1::3], x[..., 2::3]
        infections = susceptible * (infectious @ self.transmission.T)
        return interleaved(
            self.turnover * (1 - susceptible) - infections,
            infections - (self.incubation + self.turnover) * exposed,
            self.incubation * exposed - (self.recovery + self.turnover) * infectious,
        )

    @property
    def graph(self) -> NDArray[np.bool_]:
        """Dependency graph (d, d): S and E of a community on the infectious of all that infect it."""
        own = [[True, False, False], [True, True, False], [False, True, True]]
        infected = [[False, False, True], [False, False, True], [False, False, False]]
        return coupled_graph(own, self.transmission > 0, infected)

    def default_initial_state(self) -> FloatArray:
        """One in a hundred of the first community is infectious; the others are all susceptible."""
        infectious = np.zeros(self.d // 3)
        infectious[0] = 0.01
        return interleaved(1 - infectious, np.zeros_like(infectious), infectious)
