"""The second half of the paper's algorithms on arrays: proximal gradient along a grid of lambda, and BIC."""

from dataclasses import replace

import numpy as np

from fewvars._common.bic import bic, gaussian_deviance
from fewvars._common.validation import FloatArray
from fewvars.engine.network import Network
from fewvars.engine.penalties import InputGroups, SecondLayerColumns
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import Outcome, Trainer, learning_rates
from fewvars.paper.configuration import Configuration
from fewvars.paper.first_stage import Stage, clear_idle, cut
from fewvars.search.path import Path, Walk, follow

ColumnPenalty = InputGroups | SecondLayerColumns

# Below this a loss is rounding error of single precision; BIC takes its logarithm.
_SMALLEST_LOSS = float(np.finfo(np.float32).eps) ** 2


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
) -> tuple[Stage, Path]:
    """Proximal gradient at every strength of the grid; return the fit with the smallest BIC, and the path."""
    lambdas = strengths(network, initial.theta, samples, penalty, configuration.relative_strengths())
    rates = learning_rates(configuration.learning_rate, configuration.n_second)

    def begin() -> Trainer:
        return Trainer(network, initial.theta, samples, batch_size=configuration.second_batch_size, seed=seed)

    stops = list(
        follow(
            begin,
            penalty,
            lambdas,
            rates=rates,
            leave_out=Walk.drop_inputs if penalty.layer == 0 else Walk.freeze_columns,
            warm=configuration.start == "warm",
        )
    )
    thetas = np.array([clear_idle(network, cut(stop.theta, configuration.threshold), penalty.layer) for stop in stops])
    with np.errstate(over="ignore"):  # the last finite parameters of a run that diverged
        losses = np.array([network.loss(theta, samples) for theta in thetas])
    norms = [np.linalg.norm(network.layers(theta)[penalty.layer].weights.astype(float), axis=0) for theta in thetas]
    path = replace(Path.of(stops, norms, labels=penalty.labels if penalty.layer == 0 else None), losses=losses)
    freedom = path.sizes if configuration.degrees_of_freedom == "inputs" else (thetas != 0).sum(axis=1)
    scores = bic_of_losses(losses, freedom, n, network.n_outputs, likelihood=configuration.likelihood)
    path = replace(path, degrees_of_freedom=freedom, bic=scores)
    diverged = Outcome.DIVERGED in (initial.outcome, path.outcome)
    n_updates = initial.n_updates + sum(len(stop.losses) for stop in stops)
    outcome = Outcome.DIVERGED if diverged else Outcome.FINISHED
    return Stage(thetas[path.best], n_updates, outcome), replace(path, outcome=outcome)


def bic_of_losses(
    losses: FloatArray, degrees_of_freedom: np.ndarray, n: float, k: int, *, likelihood: str = "estimated"
) -> FloatArray:
    """Return n k log(L / k) + df log n, or n L + df log n for a noise of unit variance.

    L (m,) is the mean over n samples of the squared error, summed over k outputs.
    """
    unit = likelihood == "unit"
    deviance = n * losses if unit else gaussian_deviance(losses[:, None] / k, n * k, _SMALLEST_LOSS)
    return bic(deviance, degrees_of_freedom, n)
