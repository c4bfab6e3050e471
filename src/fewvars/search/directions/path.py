"""The regularisation path from full rank to none: singular values of the first layer die one by one."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.network import Network
from fewvars.engine.penalties import SingularValues, significant
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import Outcome, Trainer, learning_rates
from fewvars.search.variables.path import starting_strength


@dataclass(frozen=True, eq=False)
class DirectionsPath:
    """Which directions are alive at each strength of the penalty.

    Attributes
    ----------
    strengths : (m,) increasing
    singular_values : (m, min(width, inputs)) of the first layer at the end of each strength, decreasing
    losses : (m,) mean training loss over the last quarter of the updates at each strength
    outcome : Outcome
    """

    strengths: FloatArray
    singular_values: FloatArray
    losses: FloatArray
    outcome: Outcome

    @staticmethod
    def empty(n_values: int) -> "DirectionsPath":
        """Return the path before its first strength."""
        return DirectionsPath(np.zeros(0), np.zeros((0, n_values)), np.zeros(0), Outcome.EXHAUSTED)

    @property
    def ranks(self) -> np.ndarray:
        """Return the number of living directions at each strength, (m,)."""
        return significant(self.singular_values).sum(axis=1)


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
    on_strength: Callable[[DirectionsPath], None] | None = None,
) -> tuple[DirectionsPath, dict[int, FloatArray]]:
    """Raise the strength by `factor` until no direction is left, going on from the parameters before.

    The first strength is that at which the whole penalty is a hundredth of the variance of y. Return the path,
    and for each rank along it the parameters with the smallest training loss.
    """
    strength = starting_strength(samples, penalty.value(network.layers(theta)[0].weights))
    trainer = Trainer(network, theta, samples, batch_size=batch_size, ridge=ridge, seed=seed)
    rates = learning_rates(learning_rate, updates)
    path = DirectionsPath.empty(penalty.weights.size)
    found: dict[int, tuple[float, FloatArray]] = {}
    while len(path.strengths) < max_strengths and path.outcome is Outcome.EXHAUSTED:
        losses = trainer.proximal(rates, penalty, strength, momentum=momentum)
        values = np.linalg.svd(network.layers(trainer.theta)[0].weights.astype(float), compute_uv=False)
        outcome = Outcome.EXHAUSTED
        if trainer.outcome is Outcome.DIVERGED:
            outcome = Outcome.DIVERGED
        elif not values.any():
            outcome = Outcome.FINISHED
        path = DirectionsPath(
            np.append(path.strengths, strength),
            np.vstack([path.singular_values, values]),
            np.append(path.losses, losses[-max(1, len(losses) // 4) :].mean() if len(losses) else np.inf),
            outcome,
        )
        rank, loss = int(path.ranks[-1]), float(path.losses[-1])
        if outcome is not Outcome.DIVERGED and loss < found.get(rank, (np.inf, theta))[0]:
            found[rank] = loss, trainer.theta.copy()
        if on_strength is not None:
            on_strength(path)
        strength *= factor
    return path, {rank: parameters for rank, (_, parameters) in found.items()}
