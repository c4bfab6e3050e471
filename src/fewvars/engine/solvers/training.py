"""Stochastic training on mini-batches: Adam, and proximal gradient with momentum."""

import numpy as np

from fewvars._common.threads import single_blas_thread
from fewvars._common.validation import FloatArray, check_real, check_whole
from fewvars.engine import kernels
from fewvars.engine.network import Network
from fewvars.engine.penalties import CompiledProx, Penalty
from fewvars.engine.samples import Samples
from fewvars.engine.solvers.outcome import Fit, Outcome
from fewvars.engine.solvers.schedules import learning_rates

# Work of one call into the compiled loop, in parameters times samples: about 50 ms, so that Ctrl-C is heard in between.
_CHUNK = 2e8
_DIVERGED = 1e3
_NO_PROX = CompiledProx(np.zeros(0, np.int64), np.zeros(0))
# Updates between two proxes outside of the compiled loop: a singular value decomposition costs as much as several.
_UPDATES_PER_PROX = 4


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
        Seed of the order of the samples, which are reshuffled every epoch.
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
        self.ridge = network.ridge_strengths(ridge, first_ridge)
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

    def adam(self, rates: FloatArray) -> FloatArray:
        """Make one Adam update for each learning rate; return the loss of each batch."""
        return self._run(rates, kernels.ADAM)

    def proximal(self, rates: FloatArray, penalty: Penalty, strength: float, *, momentum: float = 0.0) -> FloatArray:
        """Make one proximal gradient update for each learning rate; return the loss of each batch."""
        check_real("momentum", momentum, below=1.0)
        check_real("strength", strength)
        W = penalty.penalised(self.network.layers(self.theta))
        penalty.value(W)  # raises an error if their shapes differ
        compiled = penalty.compiled_prox(strength)
        if compiled is not None:
            return self._run(rates, kernels.MOMENTUM, momentum, compiled, penalty.layer)
        size = min(self._chunk, _UPDATES_PER_PROX)
        losses: list[FloatArray] = [np.empty(0)]
        for start in range(0, len(rates), size):
            part = rates[start : start + size]
            losses.append(self._run(part, kernels.MOMENTUM, momentum))
            if self.outcome is Outcome.DIVERGED:
                break
            W[:] = penalty.prox(W, strength * part.sum() / (1.0 - momentum))
        return np.concatenate(losses)

    def keep_inputs(self, alive: np.ndarray) -> None:
        """Continue with the inputs that are alive (indices or a mask); the others then cost nothing.

        `Network.restore_inputs` maps the parameters back to all inputs.
        """
        network, samples = self.network, self.samples.columns(alive)
        self.network, self.samples = network.with_inputs(samples.X.shape[1]), samples
        self.theta, self._first, self._second = (
            network.select_inputs(vector, alive) for vector in (self.theta, self._first, self._second)
        )

    def fit(self, losses: FloatArray) -> Fit:
        """Return the state as a result."""
        return Fit(self.theta.copy(), losses, len(losses), self.outcome)

    @property
    def _chunk(self) -> int:
        """Number of updates in one call into the compiled loop."""
        return max(1, int(_CHUNK / (self.theta.size * -(-len(self.samples) // self.n_batches))))

    def _run(
        self,
        rates: FloatArray,
        optimiser: int,
        momentum: float = 0.0,
        prox: CompiledProx = _NO_PROX,
        layer: int = 0,
    ) -> FloatArray:
        losses, chunk = np.empty(len(rates)), self._chunk
        for start in range(0, len(rates), chunk):
            if self.outcome is Outcome.DIVERGED:
                return losses[:start]
            part, trace = rates[start : start + chunk], losses[start : start + chunk]
            with single_blas_thread():
                done = kernels.train(
                    self.theta, self.network.sizes, self.network.codes,
                    self.samples.X, self.samples.Y, self.samples.weights, self.samples.loss.compiled, self.ridge,
                    part, self.n_batches, self._order, self._clock, self._random, trace,
                    optimiser, self._first, self._second, momentum, layer, prox.labels, prox.thresholds,
                )  # fmt: skip
            if done and self._reference == np.inf:
                # After a good start, a penalty that switches all inputs off would otherwise pass for divergence.
                self._reference = max(trace[0], self.samples.mean_loss(np.zeros_like(self.samples.Y)))
            if done < len(part) or trace.mean() > _DIVERGED * self._reference:
                self.outcome = Outcome.DIVERGED
                return losses[: start + done]
        return losses


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
) -> Fit:
    """Minimise L + ridge by Adam, from `theta` or from parameters drawn with the seed."""
    if theta is None:
        theta = network.initialise(seed, samples.X.dtype)
    trainer = Trainer(network, theta, samples, batch_size=batch_size, ridge=ridge, first_ridge=first_ridge, seed=seed)
    return trainer.fit(trainer.adam(learning_rates(learning_rate, n_updates, schedule)))
