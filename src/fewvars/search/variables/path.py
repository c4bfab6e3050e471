"""The regularisation path from dense to empty, warm-started, on a network that shrinks as inputs die."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fewvars._common.validation import FloatArray, check_choice
from fewvars.engine.network import Network
from fewvars.engine.penalties import InputGroups
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import Objective, Outcome, Trainer, learning_rates, monotone


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
    distances : (m,) or None
        Of the monotone solver: the distance of zero from the subdifferential of L + ridge + strength * penalty
        on all inputs, those dropped included, at the end of each strength.
    steps, constants : (m,) or None
        Of the monotone solver: the smallest step taken at each strength, and the largest ratio of the change of the
        gradient to the step, an estimate from below of its Lipschitz constant.
    """

    strengths: FloatArray
    norms: FloatArray
    losses: FloatArray
    labels: np.ndarray
    outcome: Outcome
    distances: FloatArray | None = None
    steps: FloatArray | None = None
    constants: FloatArray | None = None

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

    def nested_supports(self, among: np.ndarray | None = None) -> list[np.ndarray]:
        """Return one set of groups (a mask) for each size, from all (or all of those given, a mask) down to none.

        Groups die in the order of their critical strengths; those that die at the same strength are taken
        in the order of their norms just before.
        """
        if not len(self.strengths):
            return []
        alive = self.norms > 0
        last = np.where(alive.any(axis=0), len(alive) - 1 - alive[::-1].argmax(axis=0), -1)
        norms = np.where(last >= 0, self.norms[last, np.arange(self.norms.shape[1])], 0.0)
        order = np.lexsort((norms, last))  # the first to die first
        masks = [np.ones(order.size, bool) if among is None else among]
        for group in order[masks[0][order]]:
            masks.append(masks[-1].copy())
            masks[-1][group] = False
        return masks


def starting_strength(samples: Samples, value: float) -> float:
    """Return the strength at which a penalty of this value is a hundredth of the variance of y."""
    return 0.01 * samples.null_loss() / max(value, 1e-30)


class _Descent:
    """What the path asks of a `Trainer`, by monotone descent on all samples in double precision."""

    def __init__(
        self, network: Network, theta: FloatArray, samples: Samples, *, ridge: float, tolerance: float
    ) -> None:
        double = samples.astype(np.float64)
        self.network, self.samples = network, double
        self.theta: FloatArray = np.asarray(theta, np.float64)
        self.outcome = Outcome.FINISHED
        self._all, self._ridge, self._tolerance, self._step = double, ridge, tolerance, 1.0
        self._constant = 0.0
        self.certificate: list[tuple[float, float, float]] = []

    def proximal(self, rates: FloatArray, penalty: InputGroups, strength: float, *, momentum: float) -> FloatArray:
        """Make at most one update for each rate, with steps of its own; return the loss at the end, (1,)."""
        objective = Objective(self.network, self.samples, penalty, strength, ridge=self._ridge)
        fit = monotone(
            objective, self.theta, max_iterations=len(rates), tolerance=self._tolerance, initial_step=self._step
        )
        self.theta, self.outcome = fit.theta, fit.outcome
        if fit.n_updates:
            self._step, self._constant = float(fit.steps[-1]), fit.constant
        self._smallest = float(fit.steps.min(initial=self._step))
        return np.array([self.network.loss(self.theta, self.samples)])

    def certify(self, penalty: InputGroups, strength: float, alive: np.ndarray) -> None:
        """Note how this strength has ended: the problem is that on all inputs, of which some are alive (a mask)."""
        network = self.network.with_inputs(alive.size)
        objective = Objective(network, self._all, penalty, strength, ridge=self._ridge)
        theta = self.network.restore_inputs(self.theta, alive, alive.size)
        distance = objective.distance(theta, objective.smooth(theta)[1], 1.0)
        self.certificate.append((distance, self._smallest, self._constant))

    def keep_inputs(self, alive: np.ndarray) -> None:
        """Go on with the living inputs alone (a mask)."""
        self.theta = self.network.select_inputs(self.theta, alive)
        self.samples = self.samples.columns(alive)
        self.network = self.network.with_inputs(self.samples.X.shape[1])


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
    solver: str = "momentum",
    tolerance: float = 1e-4,
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
        Updates at each strength; with the monotone solver, the most.
    solver : {"momentum", "monotone"}
        Mini-batches with momentum, or `solvers.monotone` on all samples in double precision. The latter ends each
        strength with a certificate: `Path.distances`, `steps` and `constants`. It needs no learning rate, momentum,
        batch size or seed.
    tolerance : float
        Distance to stationarity at which the monotone solver goes on to the next strength.
    on_strength : callable, optional
        Called with the path so far after each strength.
    """
    W = network.layers(theta)[0].weights
    strength = first_strength or starting_strength(samples, penalty.value(W))
    trainer: Trainer | _Descent
    if check_choice("solver", solver, ("momentum", "monotone")) == "monotone":
        trainer = _Descent(network, theta, samples, ridge=ridge, tolerance=tolerance)
    else:
        trainer = Trainer(network, theta, samples, batch_size=batch_size, ridge=ridge, seed=seed)
    rates = learning_rates(learning_rate, updates)
    alive = np.ones(network.n_inputs, bool)
    inner = penalty
    path = Path(np.empty(0), np.empty((0, penalty.weights.size)), np.empty(0), penalty.labels, Outcome.EXHAUSTED)
    while len(path.strengths) < max_strengths and path.outcome is Outcome.EXHAUSTED:
        losses = trainer.proximal(rates, inner, strength, momentum=momentum)
        if isinstance(trainer, _Descent):
            trainer.certify(penalty, strength, alive)
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
            *(np.array(trainer.certificate).T if isinstance(trainer, _Descent) else ()),
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
