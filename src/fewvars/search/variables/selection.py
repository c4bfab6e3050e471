"""Choose a support: refit candidates on the training blocks, compare them on the held-out blocks, mend."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fewvars._common.threads import in_threads
from fewvars._common.validation import FloatArray
from fewvars.engine.network import Network
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import Outcome, adam
from fewvars.search.held_out import NEGLIGIBLE, HeldOut

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
        """Return the parameters found; all zero if training diverged."""
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
        residual = self.predict(samples, theta, samples.X) - samples.Y
        return float(np.average((residual**2).sum(axis=1), weights=samples.weights)) + self.ridge * squares

    def predict(self, samples: Samples, theta: FloatArray, X: FloatArray) -> FloatArray:
        """Return predictions at X (n, outputs); without variables, the mean of the samples."""
        if samples.X.shape[1] == 0:
            mean = np.average(samples.Y, axis=0, weights=samples.weights)
            return np.broadcast_to(mean, (len(X), mean.size))
        # In double precision, like the heads: one kernel less to compile before the first fit.
        return self.network(samples).predict(theta.astype(np.float64), X.astype(np.float64))


@dataclass(frozen=True, eq=False)
class Candidate:
    """A support (a mask over groups), its refitted parameters for each split, and its held-out errors."""

    mask: np.ndarray
    thetas: tuple[FloatArray, ...]
    errors: FloatArray


LeftOut = tuple[Candidate, dict[int, Candidate]]


@dataclass(frozen=True, eq=False)
class SupportSearch:
    """Refits of supports, compared on held-out blocks; a support is a mask over groups of inputs.

    Parameters
    ----------
    samples : Samples
        Standardised data: all rows, all inputs.
    labels : (inputs,) group of each input
    held_out : HeldOut
    refit : Refit
    n_jobs : int, optional
        Threads; the results do not depend on it.
    on_refit : callable
        Called without arguments after each refit.
    reserve : HeldOut, optional
        More held-out rows, for what stays in doubt.
    """

    samples: Samples
    labels: np.ndarray
    held_out: HeldOut
    refit: Refit
    n_jobs: int | None = None
    on_refit: Callable[[], None] = lambda: None
    reserve: HeldOut | None = None

    def columns(self, mask: np.ndarray) -> np.ndarray:
        """Return the inputs of a support."""
        return np.flatnonzero(mask[self.labels])

    def refits(self, masks: Sequence[np.ndarray], start: Candidate | None = None, n_starts: int = 1) -> list[Candidate]:
        """Refit each mask: from scratch, taking the best of `n_starts`, or warm from a similar candidate."""
        return in_threads(lambda mask: self._refit(mask, start, n_starts), masks, self.n_jobs)

    def _refit(self, mask: np.ndarray, start: Candidate | None, n_starts: int) -> Candidate:
        chosen = self.columns(mask)
        samples = self.samples.columns(chosen)
        thetas: list[FloatArray] = []
        squared = []
        for split, (train, test) in enumerate(self.held_out.splits):
            rows = samples.rows(train)
            if chosen.size == 0:
                theta: FloatArray = np.empty(0)
            elif start is None or not start.mask.any():
                fits = [replace(self.refit, seed=self.refit.seed + k).fit(rows) for k in range(n_starts)]
                theta = min(fits, key=lambda found: self.refit.objective(rows, found))
            else:
                theta = self.refit.fit(rows, self._carried(start, split, chosen))
            thetas.append(theta)
            predicted = self.refit.predict(rows, theta, samples.X[test])
            squared.append(((predicted - samples.Y[test]).astype(float) ** 2).sum(axis=1))
        self.on_refit()
        return Candidate(mask, tuple(thetas), self.held_out.piece_errors(squared, samples.weights))

    def _carried(self, start: Candidate, split: int, chosen: np.ndarray) -> FloatArray:
        """Return the parameters of `start` on other inputs: those it lacks get fresh weights."""
        before = self.columns(start.mask)
        network = self.refit.network(self.samples.columns(chosen))
        theta = network.initialise(self.refit.seed, self.samples.X.dtype)
        old = network.with_inputs(before.size)
        fresh, kept = network.layers(theta)[0].weights, old.layers(start.thetas[split])[0].weights
        _, here, there = np.intersect1d(chosen, before, return_indices=True)
        fresh[:, here] = kept[:, there]
        return np.concatenate([fresh.ravel(), start.thetas[split][kept.size :]])

    def error(self, candidate: Candidate) -> float:
        """Return the typical held-out error, by which candidates are ranked."""
        return self.held_out.typical(candidate.errors)

    def bic(self, candidate: Candidate) -> float:
        """Return n log(training error) + parameters log(n) on the training rows of the first split."""
        train = self.held_out.splits[0][0]
        rows = self.samples.columns(self.columns(candidate.mask)).rows(train)
        theta = candidate.thetas[0]
        residual = self.refit.predict(rows, theta, rows.X) - rows.Y
        error = float(np.average((residual.astype(float) ** 2).sum(axis=1), weights=rows.weights))
        return len(rows) * np.log(max(error, NEGLIGIBLE)) + theta.size * np.log(len(rows))

    def smallest_not_worse(self, candidates: Sequence[Candidate]) -> Candidate:
        """Return the first of candidates, ordered by size, that is not worse than the best."""
        return candidates[self.held_out.smallest_not_worse([c.errors for c in candidates])]

    def on_first_split(self) -> "SupportSearch":
        """Return the search that compares on the first split alone: a quick look."""
        return replace(self, held_out=self.held_out.first())

    def tuned(self, mask: np.ndarray, n_starts: int = 3, n_looks: int = 2) -> tuple["SupportSearch", Candidate]:
        """Return the search with the ridge that suits this support best on the first split, and its candidate.

        A refit that is too stiff, or stuck in a poor minimum, hides weak variables behind its own error.
        """
        searches = [replace(self, refit=replace(self.refit, ridge=ridge)) for ridge in RIDGES]
        looks = [search.on_first_split() for search in searches]
        errors = [look.error(look.refits([mask], n_starts=n_looks)[0]) for look in looks]
        best = searches[int(np.argmin(errors))]
        return best, best.refits([mask], n_starts=n_starts)[0]

    def leave_one_out(self, base: Candidate) -> LeftOut:
        """Go on from the base with all of its groups, and without each of them in turn."""
        members = np.flatnonzero(base.mask)
        if not members.size:
            return base, {}
        same, *without = self.refits([base.mask, *(switched(base.mask, g) for g in members)], start=base)
        return same, dict(zip(members.tolist(), without, strict=True))

    def prune(self, base: Candidate, always: np.ndarray) -> tuple[Candidate, LeftOut]:
        """Drop, one by one, the group that is missed least, while leaving it out is within a standard error.

        Return what is left, and what `leave_one_out` says of it.
        """
        while True:
            same, without = self.leave_one_out(base)
            idle = [
                candidate
                for group, candidate in without.items()
                if not always[group] and self.held_out.not_worse(candidate.errors, same.errors)
            ]
            if not idle:
                return base, (same, without)
            base = min(idle, key=self.error)

    def in_doubt(self, left_out: LeftOut, always: np.ndarray) -> bool:
        """Return whether some group is not missed beyond doubt, and there are more rows to decide it."""
        same, without = left_out
        more = self.reserve is not None and len(self.reserve.splits) > len(self.held_out.splits)
        return more and not all(
            always[group] or self.held_out.worse(candidate.errors, same.errors) for group, candidate in without.items()
        )

    def on_reserve(self) -> "SupportSearch":
        """Return the search that compares on all held-out rows: the last word."""
        return replace(self, held_out=self.reserve or self.held_out, reserve=None)

    def suspects(self, base: Candidate, usable: np.ndarray, n_most: int = 4) -> np.ndarray:
        """Return the usable groups outside that could explain most of the residual."""
        scores = self.suspicion(base, usable & ~base.mask)
        return np.argsort(-scores, kind="stable")[: min(n_most, int((usable & ~base.mask).sum()))]

    def add_back(self, base: Candidate, usable: np.ndarray) -> tuple["SupportSearch", Candidate]:
        """Add left-out groups, the most suspicious first, while one of them lowers the error beyond doubt.

        The most suspicious is also tried from scratch with a ridge of its own: a strongly nonlinear variable
        may be out of reach of a network that has settled without it. Return the search with that ridge.
        """
        while (usable & ~base.mask).any():
            grown = [switched(base.mask, g) for g in self.suspects(base, usable)]
            same, *more = self.refits([base.mask, *grown], start=base)
            found = [(self, candidate) for candidate in more] + [self.tuned(grown[0], n_starts=2, n_looks=1)]
            better = [pair for pair in found if self._helps(pair[1], same)]
            if not better:
                return self, base
            search, base = min(better, key=lambda pair: self.error(pair[1]))
            if search is not self:
                return search.add_back(base, usable)
        return self, base

    def _helps(self, candidate: Candidate, base: Candidate) -> bool:
        """Return whether a candidate is better on all splits, and on the first, whose rows raised no suspicion."""
        first = self.held_out.first()
        count = first.weights.size
        return self.held_out.better(candidate.errors, base.errors) and not first.not_worse(
            base.errors[:count], candidate.errors[:count]
        )

    def suspicion(self, base: Candidate, groups: np.ndarray, max_rows: int = 4000) -> FloatArray:
        """Return how much of the training residual each of the groups (a mask) could explain; -1 elsewhere.

        The share of the residual's squares that falls into the span of x, x^2, x^3 and |x| of the group's
        inputs, each alone and times each input of the support: interactions and even functions show, which
        the gradient with respect to the weights of a dead input would miss.
        """
        train = self.held_out.splits[0][0]
        rows = train[:: -(-len(train) // max_rows)]
        chosen = self.columns(base.mask)
        samples = self.samples.columns(chosen).rows(train)
        weights = self.samples.weights[rows].astype(float)
        roots = np.sqrt(weights)[:, None]
        residual = self.samples.Y[rows] - self.refit.predict(
            samples, base.thetas[0], np.ascontiguousarray(self.samples.X[np.ix_(rows, chosen)])
        )
        residual = roots * (residual - np.average(residual, axis=0, weights=weights))
        factors = np.column_stack([np.ones(len(rows)), self.samples.X[np.ix_(rows, chosen)]])
        scores = np.full(base.mask.size, -1.0)
        for g in np.flatnonzero(groups):
            x = self.samples.X[np.ix_(rows, np.flatnonzero(self.labels == g))].astype(float)
            shapes = np.column_stack([x, x**2, x**3, np.abs(x)])
            basis = (factors[:, :, None] * shapes[:, None, :]).reshape(len(rows), -1)
            basis = roots * (basis - np.average(basis, axis=0, weights=weights))
            gram = basis.T @ basis
            gram[np.diag_indices_from(gram)] += 1e-6 * np.trace(gram) / len(gram) + 1e-12
            cross = basis.T @ residual
            scores[g] = np.sum(cross * np.linalg.solve(gram, cross)) / max(np.sum(residual**2), 1e-300)
        return scores


def switched(mask: np.ndarray, group: int | np.integer[Any]) -> np.ndarray:
    """Return the mask with one group added or left out."""
    other = mask.copy()
    other[group] = ~other[group]
    return other
