"""Genes that activate or repress each other through Hill functions, and whose products decay."""

import dataclasses
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from fewvars._common.validation import FloatArray, check_real, check_whole
from fewvars.problems.systems._base import System
from fewvars.problems.systems._units import checked_square, checked_vector, freeze, golden_phases


@final
@dataclass(frozen=True, eq=False)
class GeneNetwork(System):
    """Gene network, dx_i/dt = c_i (b + Σ_j |W_ij| h_ij(x_j) - x_i), for concentrations x >= 0.

    h_ij(x) = x^n / (1 + x^n) where gene j activates gene i (W_ij > 0), and 1 / (1 + x^n) where it represses it
    (W_ij < 0). Concentrations are in units of the threshold of h.

    Parameters
    ----------
    weights : array-like of shape (d, d)
        W.
    rates : array-like of shape (d,)
        c, positive: one over the lifetimes of the products.
    exponent : float
        n, positive: how abruptly a gene is switched.
    basal : float
        b, the production without regulation, at least zero.

    References
    ----------
    M. B. Elowitz, S. Leibler, A synthetic oscillatory network of transcriptional regulators, Nature 403, 2000.
    """

    weights: FloatArray
    rates: FloatArray
    exponent: float = 4.0
    basal: float = 0.05
    d: int = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        freeze(self, "weights", "rates")
        object.__setattr__(self, "d", checked_square("weights", self.weights))
        checked_vector("rates", self.rates, self.d)
        if (self.rates <= 0).any():
            raise ValueError("rates must be positive: concentrations would grow without bound.")
        check_real("exponent", self.exponent, strict=True)
        check_real("basal", self.basal)

    @classmethod
    def random(cls, d: int = 12, *, inputs: int = 2, seed: int | None = 0) -> "GeneNetwork":
        """Draw a network of rings of three genes, each repressing the next, that also regulate each other.

        The rings ("repressilators") keep the network oscillating, each at its own speed.

        Parameters
        ----------
        d : int
            Number of genes, a multiple of 3, at least 3.
        inputs : int
            Number of genes that regulate each gene: the one before it in its ring, with a weight of 2.5 to 3.5, and
            others, with weights of 0.3 to 0.7 and either sign.
        seed : int or None
            Seed of ``numpy.random.default_rng``. Order of draws: the rate of each ring (uniform in [0.6, 1.4]); for
            each gene in turn, the weight of its repressor, the others that regulate it, their weights and signs.
        """
        check_whole("d", d, minimum=3)
        if d % 3:
            raise ValueError(f"d={d}: give a multiple of 3, the number of genes in a ring.")
        if not 1 <= inputs < d:
            raise ValueError(f"inputs={inputs}: give a number in 1..{d - 1}.")
        rng = np.random.default_rng(seed)
        rates = np.repeat(rng.uniform(0.6, 1.4, d // 3), 3)
        weights = np.zeros((d, d))
        for i in range(d):
            repressor = i - 1 if i % 3 else i + 2
            weights[i, repressor] = -rng.uniform(2.5, 3.5)
            others = rng.choice(np.setdiff1d(np.arange(d), (i, repressor)), inputs - 1, replace=False)
            weights[i, others] = rng.uniform(0.3, 0.7, inputs - 1) * rng.choice((-1, 1), inputs - 1)
        return cls(weights, rates)

    def field(self, x: FloatArray) -> FloatArray:
        """Time derivative, shape (..., d)."""
        # 1 / (1 + x^n) = 1 - x^n / (1 + x^n). Concentrations that noise made negative count as zero.
        power = np.maximum(x, 0.0) ** self.exponent
        production = self.basal + np.maximum(-self.weights, 0.0).sum(axis=1)
        return self.rates * (production + (power / (1 + power)) @ self.weights.T - x)

    @property
    def graph(self) -> NDArray[np.bool_]:
        """Dependency graph (d, d): the weights, and the decay of each product."""
        return (self.weights != 0) | np.eye(self.d, dtype=bool)

    def default_initial_state(self) -> FloatArray:
        """Concentrations spread over 0.2 to 1.8."""
        return 1 + 0.8 * np.cos(golden_phases(self.d))
