"""The second half of the paper's algorithms on arrays: proximal gradient along a grid of lambda, and BIC."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.network import Network
from fewvars.engine.penalties import InputGroups, SecondLayerColumns
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import Outcome, Trainer, learning_rates
from fewvars.paper.configuration import Configuration
from fewvars.paper.first_stage import Stage, clear_idle, cut, selected

ColumnPenalty = InputGroups | SecondLayerColumns

# Below this a loss is rounding error of single precision; BIC takes its logarithm.
_SMALLEST_LOSS = float(np.finfo(np.float32).eps) ** 2


@final
@dataclass(frozen=True, eq=False)
class BICPath:
    """The grid of lambda and what BIC made of it; it ends early where nothing is left.

    Algorithm 1 selects among d inputs, Algorithm 2 among the H columns of the second layer.

    Attributes
    ----------
    lambdas : (m,) strengths of the penalty, increasing
    losses : (m,) mean squared error on the standardised training data, summed over the outputs
    sizes : (m,) number of selected inputs or columns
    degrees_of_freedom : (m,)
    bic : (m,)
    supports : (m, d) or (m, H) which were selected
    """

    lambdas: FloatArray
    losses: FloatArray
    sizes: np.ndarray
    degrees_of_freedom: np.ndarray
    bic: FloatArray
    supports: np.ndarray

    @property
    def best(self) -> int:
        """Index of the smallest BIC."""
        return int(self.bic.argmin())


def bic(
    losses: FloatArray, degrees_of_freedom: np.ndarray, n: float, k: int, *, likelihood: str = "estimated"
) -> FloatArray:
    """Return n k log(L / k) + df log n, or n L + df log n for a noise of unit variance.

    L (m,) is the mean over n samples of the squared error, summed over k outputs.
    """
    fit = n * losses if likelihood == "unit" else n * k * np.log(np.maximum(losses / k, _SMALLEST_LOSS))
    return fit + degrees_of_freedom * np.log(n)


def strengths(
    network: Network, initial: FloatArray, samples: Samples, penalty: ColumnPenalty, grid: FloatArray
) -> FloatArray:
    """Return the grid times (variance of y) / (penalty of the initial estimate)."""
    value = penalty.value(network.layers(initial)[penalty.layer].weights)
    return grid * (samples.null_loss() or 1.0) / (value or 1.0)


def second_stage(
    network: Network,
    initial: Stage,
    samples: Samples,
    penalty: ColumnPenalty,
    configuration: Configuration,
    *,
    n: float,
    seed: int,
) -> tuple[Stage, BICPath]:
    """Proximal gradient at every strength of the grid; return the fit with the smallest BIC, and the path."""
    lambdas = strengths(network, initial.theta, samples, penalty, configuration.relative_strengths())
    rates = learning_rates(configuration.learning_rate, configuration.n_second)
    walk = _Walk(network, initial.theta, samples, penalty, configuration.second_batch_size, seed)
    thetas, losses, n_updates = [], [], initial.n_updates
    for strength in lambdas:
        if configuration.start == "cold":
            walk = _Walk(network, initial.theta, samples, penalty, configuration.second_batch_size, seed)
        n_updates += walk.run(rates, strength)
        thetas.append(clear_idle(network, cut(walk.theta, configuration.threshold), penalty.layer))
        with np.errstate(over="ignore"):  # the last finite parameters of a run that diverged
            losses.append(network.loss(thetas[-1], samples))
        if walk.trainer.outcome is Outcome.DIVERGED or (configuration.start == "warm" and not walk.alive.any()):
            break
    path = _judge(network, np.array(thetas), lambdas[: len(thetas)], np.array(losses), penalty.layer, configuration, n)
    outcome = initial.outcome if initial.outcome is Outcome.DIVERGED else walk.trainer.outcome
    return Stage(thetas[path.best], n_updates, outcome), path


def _judge(
    network: Network,
    thetas: FloatArray,
    lambdas: FloatArray,
    losses: FloatArray,
    layer: int,
    configuration: Configuration,
    n: float,
) -> BICPath:
    supports = np.array([selected(network, theta, layer) for theta in thetas])
    sizes = supports.sum(axis=1)
    freedom = sizes if configuration.degrees_of_freedom == "inputs" else (thetas != 0).sum(axis=1)
    values = bic(losses, freedom, n, network.n_outputs, likelihood=configuration.likelihood)
    return BICPath(lambdas, losses, sizes, freedom, values, supports)


class _Walk:
    """Proximal gradient from one strength to the next; what is zero at the end of one stays out."""

    def __init__(
        self, network: Network, theta: FloatArray, samples: Samples, penalty: ColumnPenalty, batch_size: int, seed: int
    ) -> None:
        self.trainer = Trainer(network, theta, samples, batch_size=batch_size, seed=seed)
        self.penalty = penalty
        self._kept = np.arange(network.n_inputs)
        self._n_inputs = network.n_inputs

    @property
    def alive(self) -> np.ndarray:
        """Which of the columns kept so far are not zero."""
        return selected(self.trainer.network, self.trainer.theta, self.penalty.layer)

    @property
    def theta(self) -> FloatArray:
        """Parameters of the network on all inputs."""
        return self.trainer.network.restore_inputs(self.trainer.theta, self._kept, self._n_inputs)

    def run(self, rates: FloatArray, strength: float) -> int:
        """Make one update for each rate; return how many were made."""
        alive = self.alive
        if alive.any() and not alive.all():
            self._leave_out(alive)
        return len(self.trainer.proximal(rates, self.penalty, strength))

    def _leave_out(self, alive: np.ndarray) -> None:
        if self.penalty.layer > 0:
            self.penalty = replace(self.penalty, frozen=~alive)
        else:  # dropped altogether: the updates become cheaper
            self.trainer.keep_inputs(alive)
            self.penalty = self.penalty.restrict(alive)
            self._kept = self._kept[alive]
