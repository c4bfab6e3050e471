"""The regularisation path from dense to empty, warm-started, on a network that shrinks as inputs are removed."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from fewvars._common.progress import Progress
from fewvars._common.validation import FloatArray, check_choice
from fewvars.engine.network import Network
from fewvars.engine.penalties import InputGroups
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import Objective, Outcome, Trainer, learning_rates, monotone
from fewvars.search.path import Optimiser, Path, Stop, follow, starting_strength
from fewvars.search.problem import Problem
from fewvars.search.variables.settings import MOMENTUM, SOLVERS, VariableSettings


class Descent:
    """Stands in for a `Trainer` on the path: monotone descent on all samples in double precision.

    It notes in `certificate` how each strength has ended: the distance to stationarity on all inputs, those dropped
    included, the smallest step and the largest constant.
    """

    def __init__(
        self,
        network: Network,
        theta: FloatArray,
        samples: Samples,
        penalty: InputGroups,
        *,
        ridge: float,
        tolerance: float,
        certificate: list[tuple[float, float, float]],
    ) -> None:
        self.network, self.samples = network, samples.astype(np.float64)
        self.theta: FloatArray = np.asarray(theta, np.float64)
        self.outcome = Outcome.FINISHED
        self._whole, self._kept = Objective(network, self.samples, penalty, ridge=ridge), np.arange(network.n_inputs)
        self._ridge, self._tolerance, self._step, self._constant = ridge, tolerance, 1.0, 0.0
        self._certificate = certificate

    def proximal(self, rates: FloatArray, penalty: InputGroups, strength: float, *, momentum: float) -> FloatArray:
        """Make at most one update for each rate, with steps of its own; return the loss at the end, (1,)."""
        objective = Objective(self.network, self.samples, penalty, strength, ridge=self._ridge)
        fit = monotone(
            objective, self.theta, max_iterations=len(rates), tolerance=self._tolerance, initial_step=self._step
        )
        self.theta, self.outcome = fit.theta, fit.outcome
        if fit.n_updates:
            self._step, self._constant = float(fit.steps[-1]), fit.constant
        smallest = float(fit.steps.min(initial=self._step))
        self._certificate.append((self._distance(strength), smallest, self._constant))
        return np.array([self.network.loss(self.theta, self.samples)])

    def _distance(self, strength: float) -> float:
        whole = self._whole
        objective = Objective(whole.network, whole.samples, whole.penalty, strength, ridge=self._ridge)
        theta = self.network.restore_inputs(self.theta, self._kept, whole.network.n_inputs)
        return objective.distance(theta, objective.smooth(theta)[1], 1.0)

    def keep_inputs(self, alive: np.ndarray) -> None:
        """Continue with only the inputs of a mask."""
        self.theta = self.network.select_inputs(self.theta, alive)
        self.samples = self.samples.columns(alive)
        self.network = self.network.with_inputs(self.samples.X.shape[1])
        self._kept = self._kept[alive]


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
    solver: str = MOMENTUM,
    tolerance: float = 1e-4,
    on_strength: Callable[[FloatArray], None] = lambda norms: None,
) -> Path:
    """Raise the strength until no input is left, each time starting from the previous parameters.

    The strength grows by `factor`, and by its square where the previous strength has removed no input.

    Parameters
    ----------
    theta : (n_parameters,)
        Where to start: the initial estimate that the penalty's adaptive weights come from.
    first_strength : float, optional
        The first strength: by default that at which the whole penalty is a hundredth of the variance of y.
    updates : int
        Updates at each strength; with the monotone solver, the most.
    solver : {"momentum", "monotone"}
        Mini-batches with momentum, or `solvers.monotone` on all samples in double precision. The latter ends each
        strength with a certificate: `Path.distances`, `steps` and `constants`. It needs no learning rate, momentum,
        batch size or seed.
    tolerance : float
        Distance to stationarity at which the monotone solver goes on to the next strength.
    on_strength : callable, optional
        Called with the norms of the groups after each strength.
    """
    check_choice("solver", solver, SOLVERS)
    certificate: list[tuple[float, float, float]] = []

    def begin() -> Optimiser:
        if solver == MOMENTUM:
            return Trainer(network, theta, samples, batch_size=batch_size, ridge=ridge, seed=seed)
        options = {"ridge": ridge, "tolerance": tolerance}
        return Descent(network, theta, samples, penalty, **options, certificate=certificate)

    first = first_strength or starting_strength(samples, penalty.value(network.layers(theta)[0].weights))
    rates = learning_rates(learning_rate, updates)
    stops: list[Stop] = []
    norms: list[FloatArray] = []

    def strengths() -> Iterator[float]:
        strength = first
        for _ in range(max_strengths):
            yield strength
            idle = len(norms) > 1 and np.array_equal(norms[-1] == 0, norms[-2] == 0)
            strength *= factor**2 if idle else factor

    for stop in follow(begin, penalty, strengths(), rates=rates, momentum=momentum):
        stops.append(stop)
        norms.append(penalty.norms(network.layers(stop.theta)[0].weights))
        on_strength(norms[-1])
    certified = zip(("distances", "steps", "constants"), np.array(certificate).T, strict=False)
    return Path.of(stops, norms, labels=penalty.labels, **dict(certified))


def first_stage_and_path(
    problem: Problem, labels: np.ndarray, usable: np.ndarray, settings: VariableSettings, progress: Progress
) -> tuple[Path, int, Outcome]:
    """Run the first stage and the path on the training rows of the first split."""
    columns = np.flatnonzero(usable[labels])
    progress.stage("path, inputs left out", "input", total=columns.size)
    train = problem.samples.rows(problem.held_out.splits[0][0]).columns(columns)
    network, first = settings.first_stage(train)
    penalty = InputGroups.of(columns.size, labels[columns]).adaptive(network.layers(first.theta)[0].weights)
    path = dense_to_empty(
        network,
        first.theta,
        train,
        penalty,
        solver=settings.solver,
        on_strength=lambda norms: progress.reach(int((norms == 0)[penalty.labels].sum())),
        **settings.along_path,
    )
    magnitudes = np.zeros((len(path.strengths), usable.size))
    magnitudes[:, usable] = path.magnitudes
    n_updates = first.n_updates + settings.path_updates * len(path.strengths)
    return replace(path, magnitudes=magnitudes, labels=labels), n_updates, first.outcome
