"""FitzHugh-Nagumo neurons on a graph: fast spikes, slow recovery, and diffusive coupling of the voltages."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from fewvars._common.validation import FloatArray, check_whole
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
class FitzHughNagumo(System):
    """Network of FitzHugh-Nagumo neurons with voltage v_k and recovery w_k.

    dv_k/dt = v_k - v_k^3 / 3 - w_k + I + Σ_j K_kj (v_j - v_k),
    dw_k/dt = r_k (v_k + a - b w_k).

    The state is (v_1, w_1, v_2, ...), so d is twice the number of neurons.

    Parameters
    ----------
    coupling : array-like of shape (neurons, neurons)
        K; K_kj is the pull of neuron j on neuron k. The diagonal is zero.
    rates : array-like of shape (neurons,)
        r, the speeds of the recovery, nonzero.
    current : float
        I. With a rate of 0.08, a single neuron spikes for ever if it lies between about 0.33 and 1.42.
    a, b : float
        Constants of the recovery; b is nonzero.

    References
    ----------
    R. FitzHugh, Impulses and physiological states in theoretical models of nerve membrane, Biophys. J. 1, 1961.
    J. Nagumo, S. Arimoto, S. Yoshizawa, An active pulse transmission line simulating nerve axon, Proc. IRE 50, 1962.
    """

    coupling: FloatArray
    rates: FloatArray
    current: float = 0.5
    a: float = 0.7
    b: float = 0.8
    d: int = dataclasses.field(init=False)
    unit: ClassVar[tuple[str, ...]] = ("v", "w")

    def __post_init__(self) -> None:
        freeze(self, "coupling", "rates")
        object.__setattr__(self, "d", 2 * checked_coupling("coupling", self.coupling))
        checked_vector("rates", self.rates, self.d // 2)
        if self.b == 0 or not self.rates.all():
            raise ValueError("b and rates must be nonzero: the graph assumes it.")

    @classmethod
    def random(
        cls, neurons: int = 10, *, neighbours: int = 2, strength: float = 0.1, seed: int | None = 0
    ) -> "FitzHughNagumo":
        """Draw a network of neurons of different speeds, each pulled by `neighbours` others.

        Parameters
        ----------
        neurons : int
            Number of neurons, at least 2.
        neighbours : int
            Number of nonzero K_kj in each row, each equal to `strength` / `neighbours`.
        strength : float
            Total pull on one neuron. The stronger it is, the more of them spike in step, and their differences no
            longer tell which pulls which.
        seed : int or None
            Seed of ``numpy.random.default_rng``. Order of draws: rates (uniform in [0.04, 0.12]), then the
            neighbours of each neuron in turn.
        """
        check_whole("neurons", neurons, minimum=2)
        rng = np.random.default_rng(seed)
        rates = rng.uniform(0.04, 0.12, neurons)
        return cls(random_coupling(rng, neurons, neighbours, strength), rates)

    def field(self, x: FloatArray) -> FloatArray:
        """Time derivative, shape (..., d)."""
        v, w = x[..., 0::2], x[..., 1::2]
        voltage = v - v**3 / 3 - w + self.current + pull(self.coupling, v)
        return interleaved(voltage, self.rates * (v + self.a - self.b * w))

    @property
    def graph(self) -> NDArray[np.bool_]:
        """Dependency graph (d, d): each neuron on itself, and each voltage on the voltages that pull it."""
        return coupled_graph([[True, True], [True, True]], self.coupling != 0, [[True, False], [False, False]])

    def default_initial_state(self) -> FloatArray:
        """Neurons at different phases of a spike."""
        phases = golden_phases(self.d // 2)
        return interleaved(1.5 * np.cos(phases), 0.5 + 0.5 * np.sin(phases))
