"""Solvers on top of the compiled loops: Adam, proximal gradient, the paper's two stages, monotone descent."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from fewvars._common.threads import single_blas_thread
from fewvars._common.validation import FloatArray, check_choice, check_real, check_whole
from fewvars.engine import kernels
from fewvars.engine.network import Layer, Network, Samples
from fewvars.engine.penalties import InputGroups, Penalty, SecondLayerColumns

Schedule = Callable[[FloatArray], FloatArray]

SCHEDULES: dict[str, Schedule] = {
    "constant": np.ones_like,
    "linear": lambda progress: 1.0 - progress,
    "cosine": lambda progress: 0.5 + 0.5 * np.cos(np.pi * progress),
}

# Work of one call into the compiled loop, in parameters times samples: some 50 ms, so that progress is
# shown and Ctrl-C is heard in between.
_CHUNK = 2e8
_DIVERGED = 1e3


class Outcome(Enum):
    """How a solver ended, in a sentence."""

    FINISHED = "All the updates that were asked for have been made."
    CONVERGED = "The distance to stationarity fell below the tolerance."
    STALLED = "No step lowers the objective any further in double precision."
    EXHAUSTED = "The largest number of iterations was reached before the tolerance."
    DIVERGED = (
        "The loss grew a thousandfold or stopped being finite; the last finite parameters were kept. "
        "Lower the learning rate or rescale the data."
    )


@dataclass(frozen=True, eq=False)
class Fit:
    """What a solver found.

    Attributes
    ----------
    theta : (n_parameters,)
    losses : (n_updates,) loss of each mini-batch, or the objective after each iteration of a monotone solver
    n_updates : int
    outcome : Outcome
    """

    theta: FloatArray
    losses: FloatArray
    n_updates: int
    outcome: Outcome


def _penalised(network: Network, theta: FloatArray, penalty: Penalty | None) -> FloatArray:
    """Return a view of the weight matrix that the penalty acts on."""
    layers = network.layers(theta)
    layer = 0 if penalty is None else penalty.layer
    if layer >= len(layers):
        raise ValueError(f"penalty={penalty!r} is for layer {layer + 1}: this network has {len(layers)}.")
    return layers[layer].weights


def learning_rates(rate: float, n_updates: int, schedule: str = "constant") -> FloatArray:
    """Return one learning rate for each update; the schedules fall from `rate` towards zero."""
    check_real("learning_rate", rate, strict=True)
    check_whole("n_updates", n_updates, minimum=0)
    shape = SCHEDULES[check_choice("schedule", schedule, SCHEDULES)]
    return rate * shape(np.arange(n_updates) / max(n_updates, 1))


class Trainer:
    """A network in training: its parameters, the optimiser's memory and the place in the shuffled data.

    Parameters
    ----------
    network, theta, samples
        `theta` is copied; its dtype decides the precision.
    batch_size : int
        The data are cut into batches of at most this size that differ by one sample at most.
    ridge, first_ridge : float
        Strength of the squared weights of the later layers, and of the first: the objective is
        L + first_ridge |W_1|^2 + ridge sum_{k>1} |W_k|^2.
    seed : int
        Of the order of the samples, reshuffled every epoch.
    """

    def __init__(
        self,
        network: Network,
        theta: FloatArray,
        samples: Samples,
        *,
        batch_size: int = 128,
        ridge: float = 0.0,
        first_ridge: float = 0.0,
        seed: int = 0,
    ) -> None:
        network.check_samples(samples, theta)
        self.network, self.theta, self.samples = network, theta.copy(), samples
        self.n_batches = -(-len(samples) // check_whole("batch_size", batch_size))
        self.ridge = np.full(network.codes.size, check_real("ridge", ridge))
        self.ridge[0] = check_real("first_ridge", first_ridge)
        self.outcome = Outcome.FINISHED
        self._order = np.arange(len(samples), dtype=np.uint32)
        self._clock = np.zeros(2, np.int64)
        self._random = np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)
        self._reference = np.inf
        self.forget()

    def forget(self) -> None:
        """Clear the optimiser's memory, as before a new stage."""
        self._first, self._second = np.zeros_like(self.theta), np.zeros_like(self.theta)
        self._clock[1] = 0

    def adam(self, rates: FloatArray, on_chunk: Callable[[int], None] | None = None) -> FloatArray:
        """Make one Adam update for each learning rate; return the loss of each batch."""
        return self._run(rates, kernels.ADAM, 0.0, None, 0.0, on_chunk)

    def proximal(
        self,
        rates: FloatArray,
        penalty: Penalty,
        strength: float,
        *,
        momentum: float = 0.0,
        on_chunk: Callable[[int], None] | None = None,
    ) -> FloatArray:
        """Make one proximal gradient update for each learning rate; return the loss of each batch."""
        check_real("momentum", momentum, below=1.0)
        check_real("strength", strength)
        penalty.value(_penalised(self.network, self.theta, penalty))  # complains if their shapes differ
        return self._run(rates, kernels.MOMENTUM, momentum, penalty, strength, on_chunk)

    def keep_inputs(self, alive: np.ndarray) -> None:
        """Go on with the living inputs alone (indices or a mask): dead ones then cost nothing.

        `Network.restore_inputs` maps the parameters back to all inputs.
        """
        network, samples = self.network, self.samples.columns(alive)
        self.network, self.samples = network.with_inputs(samples.X.shape[1]), samples
        self.theta, self._first, self._second = (
            network.select_inputs(vector, alive) for vector in (self.theta, self._first, self._second)
        )

    def _run(
        self,
        rates: FloatArray,
        optimiser: int,
        momentum: float,
        penalty: Penalty | None,
        strength: float,
        on_chunk: Callable[[int], None] | None,
    ) -> FloatArray:
        compiled_prox = isinstance(penalty, (InputGroups, SecondLayerColumns))
        chunk = max(1, int(_CHUNK / (self.theta.size * -(-len(self.samples) // self.n_batches))))
        if penalty is not None and not compiled_prox:
            # A singular value decomposition costs several updates: thresholds add up over a few of them.
            chunk = min(chunk, 4)
        labels = penalty.labels if compiled_prox else np.zeros(0, np.int64)  # type: ignore[union-attr]
        thresholds = penalty.thresholds(strength) if compiled_prox else np.zeros(0)  # type: ignore[union-attr]
        layer = penalty.layer if penalty is not None else 0
        losses = np.empty(len(rates))
        for start in range(0, len(rates), chunk):
            if self.outcome is Outcome.DIVERGED:
                return losses[:start]
            part, trace = rates[start : start + chunk], losses[start : start + chunk]
            with single_blas_thread():
                done = kernels.train(
                    self.theta, self.network.sizes, self.network.codes,
                    self.samples.X, self.samples.Y, self.samples.weights, self.samples.loss.code, self.ridge,
                    part, self.n_batches, self._order, self._clock, self._random, trace,
                    optimiser, self._first, self._second, momentum, layer, labels, thresholds,
                )  # fmt: skip
            if done and self._reference == np.inf:
                # A good start is no reason to call it divergence when a penalty switches all inputs off.
                self._reference = max(trace[0], self.samples.mean_loss(np.zeros_like(self.samples.Y)))
            if done < len(part) or trace.mean() > _DIVERGED * self._reference:
                self.outcome = Outcome.DIVERGED
                return losses[: start + done]
            if penalty is not None and not compiled_prox:
                W = _penalised(self.network, self.theta, penalty)
                W[:] = penalty.prox(W, strength * part.sum() / (1.0 - momentum))
            if on_chunk is not None:
                on_chunk(len(part))
        return losses

    def fit(self, losses: FloatArray) -> Fit:
        """Return the state as a result."""
        return Fit(self.theta.copy(), losses, len(losses), self.outcome)


def adam(
    network: Network,
    samples: Samples,
    *,
    theta: FloatArray | None = None,
    n_updates: int,
    learning_rate: float = 0.005,
    schedule: str = "constant",
    batch_size: int = 128,
    ridge: float = 0.0,
    first_ridge: float = 0.0,
    seed: int = 0,
    on_chunk: Callable[[int], None] | None = None,
) -> Fit:
    """Minimise L + ridge by Adam, from `theta` or from parameters drawn with the seed."""
    if theta is None:
        theta = network.initialise(seed, samples.X.dtype)
    trainer = Trainer(network, theta, samples, batch_size=batch_size, ridge=ridge, first_ridge=first_ridge, seed=seed)
    return trainer.fit(trainer.adam(learning_rates(learning_rate, n_updates, schedule), on_chunk))


def two_stages(
    network: Network,
    samples: Samples,
    penalty: Penalty,
    strength: float,
    *,
    n_first: int,
    n_second: int,
    learning_rate: float = 0.005,
    gamma: float = 2.0,
    batch_size: int = 128,
    seed: int = 0,
) -> Fit:
    """Run the paper's Algorithm 1 or 2 (as the penalty says) on data that are already standardised.

    Adam without penalty gives the initial estimate; then come plain proximal gradient steps on
    L + strength * J with J weighted by 1 / norm^gamma of that estimate, started from it.
    """
    first = adam(network, samples, n_updates=n_first, learning_rate=learning_rate, batch_size=batch_size, seed=seed)
    weighted = penalty.adaptive(network.layers(first.theta)[penalty.layer].weights, gamma=gamma)
    trainer = Trainer(network, first.theta, samples, batch_size=batch_size, seed=seed)
    trainer.outcome = first.outcome
    losses = trainer.proximal(learning_rates(learning_rate, n_second), weighted, strength)
    return trainer.fit(np.concatenate([first.losses, losses]))


@dataclass(frozen=True, eq=False)
class MonotoneFit(Fit):
    """A monotone run and its certificate: how stationary its end is, and how it got there.

    Attributes
    ----------
    steps : (n_updates,) step sizes taken
    distance : float
        Distance of zero from the subdifferential of the objective at `theta`; where the penalty is not
        convex, |theta - prox(theta - tau gradient)| / tau at the last step size tau instead.
    constant : float
        Largest |change of the gradient| / |change of theta| in one update: an estimate, from below, of the
        Lipschitz constant of the gradient where the run passed. Zero if there were no updates.
    """

    steps: FloatArray
    distance: float
    constant: float


class Objective:
    """F(theta) = L + ridge + strength * penalty over all samples, in double precision."""

    def __init__(
        self,
        network: Network,
        samples: Samples,
        penalty: Penalty | None = None,
        strength: float = 0.0,
        *,
        ridge: float = 0.0,
        first_ridge: float = 0.0,
    ) -> None:
        self.network, self.samples, self.penalty = network, samples, penalty
        self.strength = check_real("strength", strength)
        self.ridge = np.full(network.codes.size, check_real("ridge", ridge))
        self.ridge[0] = check_real("first_ridge", first_ridge)

    def penalised(self, theta: FloatArray) -> FloatArray:
        """Return a view of the weight matrix that the penalty acts on."""
        return _penalised(self.network, theta, self.penalty)

    def smooth(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return L + ridge and its gradient."""
        return self.network.loss_gradient(theta, self.samples, self.ridge)

    def rough(self, theta: FloatArray) -> float:
        """Return strength * penalty."""
        return 0.0 if self.penalty is None else self.strength * self.penalty.value(self.penalised(theta))

    def step(self, theta: FloatArray, gradient: FloatArray, tau: float) -> FloatArray:
        """Return prox_{tau J}(theta - tau gradient)."""
        new = theta - tau * gradient
        if self.penalty is not None:
            W = self.penalised(new)
            W[:] = self.penalty.prox(W, tau * self.strength)
        return new

    def distance(self, theta: FloatArray, gradient: FloatArray, tau: float) -> float:
        """Return the distance to stationarity; see `MonotoneFit`."""
        if self.penalty is None:
            return float(np.linalg.norm(gradient))
        if not self.penalty.convex:
            return float(np.linalg.norm(theta - self.step(theta, gradient, tau)) / tau)
        W, G = self.penalised(theta), self.penalised(gradient)
        rest = gradient.copy()
        self.penalised(rest)[:] = 0.0
        rough = self.penalty.subdifferential_distance(W, G, self.strength)
        return float(np.hypot(np.linalg.norm(rest), rough))


def monotone(
    objective: Objective,
    theta: FloatArray,
    *,
    max_iterations: int = 1000,
    tolerance: float = 1e-6,
    initial_step: float = 1.0,
    on_chunk: Callable[[int], None] | None = None,
) -> MonotoneFit:
    """Full-batch proximal gradient with backtracking: F never increases from one iteration to the next.

    A step of size tau is accepted when F falls by at least 1e-4 / tau |step|^2, else tau is halved. The
    first trials of the iterations are the long and the short size of Barzilai and Borwein (1988) in turn
    (Dai and Fletcher, 2005): together they need several times fewer gradients than either alone.
    """
    theta = np.asarray(theta, np.float64).copy()
    tau = check_real("initial_step", initial_step, strict=True)
    smooth, gradient = objective.smooth(theta)
    value = smooth + objective.rough(theta)
    values, steps, constant, outcome = [value], [], 0.0, Outcome.EXHAUSTED
    if not np.isfinite(value):
        return MonotoneFit(theta, np.array([]), 0, Outcome.DIVERGED, np.array([]), np.inf, 0.0)
    for _ in range(check_whole("max_iterations", max_iterations, minimum=0)):
        if objective.distance(theta, gradient, tau) <= tolerance:
            outcome = Outcome.CONVERGED
            break
        while True:
            new = objective.step(theta, gradient, tau)
            smooth, new_gradient = objective.smooth(new)
            new_value = smooth + objective.rough(new)
            moved = new - theta
            if new_value <= value - 1e-4 / tau * (moved @ moved):
                break
            tau *= 0.5
            if tau < 1e-18:
                break
        if tau < 1e-18 or not moved.any():
            outcome = Outcome.STALLED
            break
        turned = new_gradient - gradient
        curvature, constant = moved @ turned, max(constant, float(np.linalg.norm(turned) / np.linalg.norm(moved)))
        steps.append(tau)
        theta, value, gradient = new, new_value, new_gradient
        values.append(value)
        if curvature > 0:
            trial = (moved @ moved) / curvature if len(steps) % 2 else curvature / (turned @ turned)
            tau = float(np.clip(trial, 0.1 * tau, 1e3 * tau))
        else:
            tau *= 2.0
        if on_chunk is not None:
            on_chunk(1)
    distance = objective.distance(theta, gradient, tau if tau >= 1e-18 else 1.0)
    if outcome is Outcome.EXHAUSTED and distance <= tolerance:
        outcome = Outcome.CONVERGED
    return MonotoneFit(theta, np.array(values[1:]), len(steps), outcome, np.array(steps), distance, constant)


class LeastSquaresModel(Protocol):
    """What `levenberg_marquardt` asks of a network, so that other small models can be fitted by it, too."""

    def layers(self, theta: FloatArray) -> tuple[Layer, ...]:
        """Return views of the parameters; the ridge is on the weights of each."""

    def check_samples(self, samples: Samples, theta: FloatArray) -> None:
        """Complain if the samples do not fit."""

    def predict(self, theta: FloatArray, X: FloatArray) -> FloatArray:
        """Return predictions (n, outputs)."""

    def gauss_newton(
        self, theta: FloatArray, samples: Samples, residual: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return the loss, its gradient and the Gauss-Newton matrix, given the residuals."""


def levenberg_marquardt(
    network: LeastSquaresModel,
    samples: Samples,
    *,
    theta: FloatArray | None = None,
    ridge: float = 1e-5,
    max_iterations: int = 100,
    tolerance: float = 1e-5,
    seed: int = 0,
    on_chunk: Callable[[int], None] | None = None,
) -> Fit:
    """Minimise L + ridge sum_k |W_k|^2 over small networks by damped Gauss-Newton steps on all samples.

    The step solves (2/n J^T J + 2 ridge + mu) step = -gradient (Marquardt, 1963); mu falls after a step that
    lowers the objective and grows after one that would not. It ends when ten iterations together lower the
    objective by less than the relative tolerance. An iteration costs n p^2 operations for p parameters: the
    derivatives are in single precision, the residuals and the objective in double.
    """
    if theta is None:
        if not isinstance(network, Network):
            raise ValueError("theta=None: only a network can be drawn at random; give parameters to start from.")
        theta = network.initialise(seed)
    theta = np.asarray(theta, np.float64).copy()
    check_real("ridge", ridge)
    check_whole("max_iterations", max_iterations, minimum=0)
    network.check_samples(samples, theta)
    single = samples.astype(np.float32)
    penalised = np.zeros(theta.size)
    for layer in network.layers(penalised):
        layer.weights[:] = 2.0 * ridge

    def evaluate(theta: FloatArray) -> tuple[float, FloatArray]:
        predicted = network.predict(theta, samples.X)
        return samples.mean_loss(predicted) + float(0.5 * (penalised @ theta**2)), predicted - samples.Y

    value, residual = evaluate(theta)
    values, damping = [value], 1e-2
    outcome = Outcome.EXHAUSTED if np.isfinite(value) else Outcome.DIVERGED
    for _ in range(max_iterations if outcome is Outcome.EXHAUSTED else 0):
        _, gradient, matrix = network.gauss_newton(theta.astype(np.float32), single, residual)
        slope, matrix = gradient + penalised * theta, matrix.astype(np.float64)
        while True:
            new = theta + _damped_step(matrix, penalised + damping, slope)
            value, residual = evaluate(new)
            if value < values[-1]:
                damping = max(damping / 4.0, 1e-10)
                break
            damping *= 4.0
            if damping > 1e8:
                outcome = Outcome.STALLED
                break
        if outcome is Outcome.STALLED:
            break
        theta = new
        values.append(value)
        if on_chunk is not None:
            on_chunk(1)
        if len(values) > 10 and values[-11] - values[-1] < tolerance * values[-11]:
            outcome = Outcome.CONVERGED
            break
    return Fit(theta, np.array(values[1:]), len(values) - 1, outcome)


def _damped_step(matrix: FloatArray, damping: FloatArray, slope: FloatArray) -> FloatArray:
    """Return -(matrix + diag(damping))^-1 slope; no step at all if rounding has spoilt the matrix."""
    try:
        with single_blas_thread():
            factor = cho_factor(matrix + np.diag(damping), overwrite_a=True, check_finite=False)
            return -cho_solve(factor, slope, check_finite=False)
    except np.linalg.LinAlgError:
        return np.zeros_like(slope)
