"""The judge that refits small networks, trained by Adam on the inputs of a support."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fewvars._common.threads import in_threads
from fewvars._common.validation import FloatArray
from fewvars.engine.network import Network
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import Outcome, adam
from fewvars.search.held_out import Constant, HeldOut
from fewvars.search.judge import Verdict
from fewvars.search.problem import Problem, Settings

RIDGES = (1e-5, 1e-4, 1e-3, 1e-2)


@dataclass(frozen=True)
class Refit:
    """How a network is fitted to given variables.

    Minimises L + ridge (|W_1|^2 + |W_2|^2 + ...) by Adam with a cosine schedule, from parameters drawn at
    random or, at half the learning rate and with two thirds of the updates, from those of a similar support.
    """

    widths: tuple[int, ...] = (20, 20, 20)
    activation: str = "tanh"
    n_updates: int = 3000
    learning_rate: float = 0.01
    ridge: float = 1e-3
    batch_size: int = 128
    seed: int = 0

    def network(self, samples: Samples) -> Network:
        """Return the shape of the network for these samples."""
        return Network(samples.X.shape[1], self.widths, samples.Y.shape[1], self.activation)

    def fit(self, samples: Samples, theta: FloatArray | None = None) -> FloatArray:
        """Return the fitted parameters; all zero if training diverged."""
        cold = theta is None
        found = adam(
            self.network(samples),
            samples,
            theta=theta,
            n_updates=self.n_updates if cold else -(-2 * self.n_updates // 3),
            learning_rate=self.learning_rate * (1.0 if cold else 0.5),
            schedule="cosine",
            batch_size=self.batch_size,
            ridge=self.ridge,
            first_ridge=self.ridge,
            seed=self.seed,
        )
        return np.zeros_like(found.theta) if found.outcome is Outcome.DIVERGED else found.theta

    def objective(self, samples: Samples, theta: FloatArray) -> float:
        """Return what `fit` minimises."""
        squares = sum(float((layer.weights**2).sum()) for layer in self.network(samples).layers(theta))
        return samples.mean_loss(FittedNetwork(self.network(samples), theta).predict(samples.X)) + self.ridge * squares

    def best_of(self, samples: Samples, n_starts: int) -> FloatArray:
        """Fit from several random starts; return the parameters with the smallest objective."""
        fits = [replace(self, seed=self.seed + k).fit(samples) for k in range(n_starts)]
        return fits[0] if n_starts == 1 else min(fits, key=lambda theta: self.objective(samples, theta))


@dataclass(frozen=True, eq=False)
class FittedNetwork:
    """A network and its parameters."""

    network: Network
    theta: FloatArray

    def predict(self, X: FloatArray) -> FloatArray:
        """Return predictions (n, outputs)."""
        # In double precision, like the heads, to save compiling one more kernel before the first fit.
        return self.network.predict(self.theta.astype(np.float64), X.astype(np.float64))


@dataclass(frozen=True, eq=False)
class NetworkJudge:
    """Refits a network to the inputs of a support; the state of a verdict is the parameters for each split.

    Attributes
    ----------
    samples : Samples
        Standardised: all rows, all inputs.
    labels : (inputs,) group of each input
    held_out : HeldOut
    refit : Refit
    n_jobs : int, optional
        Threads; the results do not depend on it.
    on_refit : callable
        Called without arguments after each refit.
    """

    samples: Samples
    labels: np.ndarray
    held_out: HeldOut
    refit: Refit
    n_jobs: int | None = None
    on_refit: Callable[[], None] = lambda: None

    name: ClassVar[str] = "network"
    fewest_rows: ClassVar[int] = 8

    @classmethod
    def of(
        cls, problem: Problem, labels: np.ndarray, settings: Settings, on_refit: Callable[[], None] = lambda: None
    ) -> "NetworkJudge":
        """Return the judge of a problem; refits start at twice the learning rate of the path."""
        refit = Refit(
            widths=settings.hidden_layer_sizes,
            activation=settings.activation,
            n_updates=settings.refit_updates,
            learning_rate=2.0 * settings.learning_rate,
            batch_size=settings.batch_size,
            seed=settings.seed,
        )
        return cls(problem.samples, labels, problem.held_out, refit, settings.n_jobs, on_refit)

    def on(self, held_out: HeldOut) -> "NetworkJudge":
        """Return the same judge with other rows held out."""
        return replace(self, held_out=held_out)

    def judge(self, masks: Sequence[np.ndarray], like: Verdict | None = None, effort: int = 1) -> list[Verdict]:
        """Refit each support: from scratch, taking the best of `effort` starts, or warm from a similar one."""
        return in_threads(lambda mask: self._verdict(mask, like, effort), masks, self.n_jobs)

    def tuned(self, mask: np.ndarray, effort: int = 3) -> tuple["NetworkJudge", Verdict]:
        """Return the judge with the ridge that suits this support best on the first split, and its verdict.

        A refit that is too stiff, or stuck in a poor minimum, hides weak variables behind its own error.
        """
        judges = [replace(self, refit=replace(self.refit, ridge=ridge)) for ridge in RIDGES]
        first = self.held_out.first()
        verdicts = [judge.on(first).judge([mask], effort=max(1, effort - 1))[0] for judge in judges]
        best = judges[int(np.argmin([first.typical(verdict.errors) for verdict in verdicts]))]
        return best, best.judge([mask], effort=effort)[0]

    def residuals(self, verdict: Verdict, rows: np.ndarray) -> FloatArray:
        """Return what the fit to the first split leaves unexplained in some rows, (rows, outputs)."""
        chosen = self._columns(verdict.mask)
        train = self.samples.columns(chosen).rows(self.held_out.splits[0][0])
        model = self._model(train, verdict.state[0])
        predicted = model.predict(np.ascontiguousarray(self.samples.X[np.ix_(rows, chosen)]))
        return self.samples.Y[rows] - self.samples.loss.mean(predicted)

    def _columns(self, mask: np.ndarray) -> np.ndarray:
        return np.flatnonzero(mask[self.labels])

    def _model(self, train: Samples, theta: FloatArray) -> FittedNetwork | Constant:
        return (
            FittedNetwork(self.refit.network(train), theta)
            if train.X.shape[1]
            else Constant(train.loss.null_model(train.Y, train.weights))
        )

    def _verdict(self, mask: np.ndarray, like: Verdict | None, effort: int) -> Verdict:
        chosen = self._columns(mask)
        samples = self.samples.columns(chosen)

        def fit(split: int, train: np.ndarray) -> FittedNetwork | Constant:
            rows = samples.rows(train)
            if not chosen.size:
                theta: FloatArray = np.empty(0)
            elif like is None or not like.mask.any():
                theta = self.refit.best_of(rows, effort)
            else:
                theta = self.refit.fit(rows, self._carried(like, split, chosen))
            thetas.append(theta)
            return self._model(rows, theta)

        thetas: list[FloatArray] = []
        scored = self.held_out.score(fit, samples.X, samples.Y, samples.weights, samples.loss)
        self.on_refit()
        return Verdict(mask, scored.losses, scored.errors, tuple(thetas))

    def _carried(self, like: Verdict, split: int, chosen: np.ndarray) -> FloatArray:
        """Return the parameters of a similar support on other inputs: those it lacks get fresh weights."""
        before = self._columns(like.mask)
        network = self.refit.network(self.samples.columns(chosen))
        theta = network.initialise(self.refit.seed, self.samples.X.dtype)
        old = network.with_inputs(before.size)
        fresh, kept = network.layers(theta)[0].weights, old.layers(like.state[split])[0].weights
        _, here, there = np.intersect1d(chosen, before, return_indices=True)
        fresh[:, here] = kept[:, there]
        return np.concatenate([fresh.ravel(), like.state[split][kept.size :]])
