"""The regularisation path from full rank to none: singular values of the first layer become zero one by one."""

from collections.abc import Callable

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.network import Network
from fewvars.engine.penalties import RANK_TOLERANCE, SingularValues
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import Outcome, Trainer, learning_rates
from fewvars.search.path import Path, Stop, Walk, follow, growing, starting_strength


def full_to_zero_rank(
    network: Network,
    theta: FloatArray,
    samples: Samples,
    penalty: SingularValues,
    *,
    factor: float = 1.15,
    updates: int = 300,
    learning_rate: float = 0.005,
    momentum: float = 0.9,
    ridge: float = 1e-4,
    batch_size: int = 128,
    seed: int = 0,
    max_strengths: int = 400,
    on_strength: Callable[[], None] = lambda: None,
) -> tuple[Path, dict[int, FloatArray]]:
    """Raise the strength by `factor` until no direction is left, each time starting from the previous parameters.

    The first strength is that at which the whole penalty is a hundredth of the variance of y. Return the path,
    and for each rank along it the parameters with the smallest training loss.
    """

    def begin() -> Trainer:
        return Trainer(network, theta, samples, batch_size=batch_size, ridge=ridge, seed=seed)

    first = starting_strength(samples, penalty.value(network.layers(theta)[0].weights))
    strengths = growing(first, factor, max_strengths)
    rates = learning_rates(learning_rate, updates)
    stops: list[Stop] = []
    values: list[FloatArray] = []
    for stop in follow(begin, penalty, strengths, rates=rates, momentum=momentum, leave_out=Walk.keep_all):
        stops.append(stop)
        values.append(np.linalg.svd(network.layers(stop.theta)[0].weights.astype(float), compute_uv=False))
        on_strength()
    path = Path.of(stops, values, tolerance=RANK_TOLERANCE)
    best: dict[int, Stop] = {}
    for rank, stop in zip(path.sizes.tolist(), stops, strict=True):
        lowest = best[rank].settled_loss if rank in best else np.inf
        if stop.outcome is not Outcome.DIVERGED and stop.settled_loss < lowest:
            best[rank] = stop
    return path, {rank: stop.theta for rank, stop in best.items()}
