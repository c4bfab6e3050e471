"""The regularisation path from dense to empty, warm-started, on a network that shrinks as inputs die."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ._validation import FloatArray
from .network import Network, Samples
from .penalties import InputGroups
from .solvers import Outcome, Trainer, learning_rates


@dataclass(frozen=True, eq=False)
class Path:
    """Which groups of inputs are alive at each strength of the penalty.

    Attributes
    ----------
    strengths : (m,) increasing
    norms : (m, groups) norm of each group's first-layer weights at the end of each strength
    losses : (m,) mean training loss over the last quarter of the updates at each strength
    labels : (inputs,) group of each input
    outcome : Outcome
    """

    strengths: FloatArray
    norms: FloatArray
    losses: FloatArray
    labels: np.ndarray
    outcome: Outcome

    @property
    def sizes(self) -> np.ndarray:
        """Return the number of living groups at each strength, (m,)."""
        return (self.norms > 0).sum(axis=1)

    @property
    def supports(self) -> np.ndarray:
        """Return which inputs are alive at each strength, (m, inputs)."""
        return (self.norms > 0)[:, self.labels]

    def critical_strengths(self) -> FloatArray:
        """Return the strength at which each group died, (groups,); infinite if it never did."""
        dead = self.norms == 0
        return np.where(dead.any(axis=0), self.strengths[dead.argmax(axis=0)], np.inf)

    def nested_supports(self) -> list[np.ndarray]:
        """Return one set of groups (a mask) for each size from all down to none.

        Groups die in the order of their critical strengths; those that die at the same strength are taken
        in the order of their norms just before.
        """
        if not len(self.strengths):
            return []
        alive = self.norms > 0
        last = np.where(alive.any(axis=0), len(alive) - 1 - alive[::-1].argmax(axis=0), -1)
        norms = np.where(last >= 0, self.norms[last, np.arange(self.norms.shape[1])], 0.0)
        order = np.lexsort((norms, last))  # the first to die first
        masks = [np.ones(order.size, bool)]
        for group in order:
            masks.append(masks[-1].copy())
            masks[-1][group] = False
        return masks


def dense_to_empty(
    network: Network,
    theta: FloatArray,
    samples: Samples,
    penalty: InputGroups,
    *,
    first_strength: float | None = None,
    factor: float = 1.15,
    updates: int = 300,
    learning_rate: float = 0.005,
    momentum: float = 0.9,
    ridge: float = 1e-4,
    batch_size: int = 128,
    seed: int = 0,
    max_strengths: int = 400,
    on_strength: Callable[[Path], None] | None = None,
) -> Path:
    """Raise the strength by `factor` until no input is left, going on from the parameters before.

    Parameters
    ----------
    theta : (n_parameters,)
        Where to start: the initial estimate that the penalty's adaptive weights come from.
    first_strength : float, optional
        Where to start: by default the strength at which the whole penalty is a hundredth of the variance
        of y, found from the data.
    updates : int
        Updates at each strength.
    on_strength : callable, optional
        Called with the path so far after each strength.
    """
    W = network.layers(theta)[0].weights
    variance = float(np.average(((samples.Y - samples.Y.mean(axis=0)) ** 2).sum(axis=1), weights=samples.weights))
    strength = first_strength or 0.01 * variance / max(penalty.value(W), 1e-30)
    trainer = Trainer(network, theta, samples, batch_size=batch_size, ridge=ridge, seed=seed)
    rates = learning_rates(learning_rate, updates)
    alive = np.ones(network.n_inputs, bool)
    inner = penalty
    path = Path(np.empty(0), np.empty((0, penalty.weights.size)), np.empty(0), penalty.labels, Outcome.EXHAUSTED)
    while len(path.strengths) < max_strengths and path.outcome is Outcome.EXHAUSTED:
        losses = trainer.proximal(rates, inner, strength, momentum=momentum)
        W = np.zeros((network.sizes[1], network.n_inputs))
        W[:, alive] = trainer.network.layers(trainer.theta)[0].weights
        outcome = Outcome.EXHAUSTED
        if trainer.outcome is Outcome.DIVERGED:
            outcome = Outcome.DIVERGED
        elif not W.any():
            outcome = Outcome.FINISHED
        path = Path(
            np.append(path.strengths, strength),
            np.vstack([path.norms, penalty.norms(W)]),
            np.append(path.losses, losses[-max(1, len(losses) // 4) :].mean() if len(losses) else np.inf),
            penalty.labels,
            outcome,
        )
        if on_strength is not None:
            on_strength(path)
        strength *= factor
        living = penalty.support(W)
        if outcome is Outcome.EXHAUSTED and living.sum() < alive.sum():
            trainer.keep_inputs(living[alive])
            inner = penalty.restrict(living)
            alive = living
    return path
