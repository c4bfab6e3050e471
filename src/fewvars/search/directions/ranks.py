"""Functions of few linear combinations, fitted at each rank and scored on the held-out blocks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fewvars._common.threads import in_threads
from fewvars._common.validation import FloatArray
from fewvars.engine.samples import Samples
from fewvars.polynomials.polynomial import monomial_count
from fewvars.search.directions.ridge_functions import (
    Form,
    NetworkForm,
    PolynomialForm,
    RidgeFunction,
    unit_variance,
)
from fewvars.search.held_out import Constant, HeldOut, Predictor, Scored

RIDGES = (1e-5, 1e-4, 1e-3)


@dataclass(frozen=True, eq=False)
class RankCandidate:
    """A form with k directions, fitted on the training rows of each split, and its held-out errors."""

    rank: int
    form: Form | None
    functions: tuple[RidgeFunction, ...]
    errors: FloatArray


@dataclass(frozen=True, eq=False)
class RankSearch:
    """Functions of few directions, compared on held-out blocks.

    Parameters
    ----------
    samples : Samples
        Standardised data: all rows, all inputs, double precision.
    held_out : HeldOut
    activation : str
    seed : int
    n_jobs : int, optional
        Threads; the results do not depend on it.
    on_refit : callable
        Called without arguments after each refit.
    """

    samples: Samples
    held_out: HeldOut
    activation: str = "tanh"
    seed: int = 0
    n_jobs: int | None = None
    on_refit: Callable[[], None] = lambda: None

    def mean(self) -> RankCandidate:
        """Return the candidate of rank zero, which predicts the mean."""
        Y, weights, loss = self.samples.Y, self.samples.weights, self.samples.loss
        scored = self._scored(lambda train: Constant(loss.null_model(Y[train], weights[train])))
        return RankCandidate(0, None, (), scored.errors)

    def candidate(self, form: Form, directions: FloatArray) -> RankCandidate:
        """Fit a form on the training rows of each split, from these directions (k, d); the mean if there are none."""
        if not len(directions):
            return self.mean()
        scored = self._scored(lambda train: form.fit(self.samples.rows(train), directions))
        self.on_refit()
        return RankCandidate(len(directions), form, scored.models, scored.errors)

    def _scored(self, fit: Callable[[np.ndarray], Predictor]) -> Scored:
        """Fit the training rows of each split, and score the held-out rows."""
        samples = self.samples
        return self.held_out.score(lambda _, train: fit(train), samples.X, samples.Y, samples.weights, samples.loss)

    def candidates(self, tasks: Sequence[tuple[Form, FloatArray]]) -> list[RankCandidate]:
        """Fit several forms, in threads."""
        return in_threads(lambda task: self.candidate(*task), tasks, self.n_jobs)

    def error(self, candidate: RankCandidate) -> float:
        """Return the typical held-out error, by which candidates are ranked."""
        return self.held_out.typical(candidate.errors)

    def error_of(self, function: RidgeFunction) -> float:
        """Return the typical error of a function that has been fitted."""
        return self.held_out.typical(self._scored(lambda _: function).errors)

    def on_first_split(self) -> "RankSearch":
        """Return the search on the first split only, which is quicker."""
        return replace(self, held_out=self.held_out.first())

    def refitted(self, candidate: RankCandidate) -> RankCandidate:
        """Refit the same form, starting from its directions."""
        if candidate.form is None:
            return self.mean()
        return self.candidate(candidate.form, candidate.functions[0].directions)

    def forms(self, rank: int) -> list[Form]:
        """Return the forms to try; polynomials only if they have far fewer terms than there are samples."""
        polynomials = [PolynomialForm(k) for k in (2, 3) if monomial_count(rank, k) * 8 <= len(self.samples)]
        return [
            *polynomials,
            *(NetworkForm(activation=self.activation, ridge=ridge, seed=self.seed) for ridge in RIDGES),
        ]

    def strengths(self, candidate: RankCandidate) -> tuple[FloatArray, FloatArray]:
        """Return its directions, (k, d), and how strongly the function depends on them, (k,), strongest first."""
        return leading_directions(candidate.functions[0].gradient(self.samples.X), self.samples, candidate.rank)

    def linear_rest(self, base: RankCandidate) -> tuple[FloatArray, float]:
        """Return the combination (1, d) that explains most of the training residual, and its evidence.

        It is uncorrelated with the combinations of the base. The evidence is its mean product with the held-out
        residual in standard errors over the pieces: it reveals a direction that is too weak to be worth its parameters.
        """
        products, found, loss = [], [], self.samples.loss
        for (train, test), function in zip(self.held_out.splits, base.functions, strict=True):
            rows, outside = self.samples.rows(train), self.samples.X[test]
            rest = -loss.derivatives(function.predict(rows.X), rows.Y)
            direction = _uncorrelated(_linear_fit(rows.X, rest, rows.weights), function.directions, rows)
            slopes = _linear_fit(rows.X @ direction.T, rest, rows.weights)  # (1, outputs)
            left = -loss.derivatives(function.predict(outside), self.samples.Y[test])
            products.append((left * (outside @ direction.T @ slopes)).sum(axis=1))
            found.append(direction)
        pieces = self.held_out.piece_errors(products, self.samples.weights)
        mean, spread = self.held_out.measured(pieces)
        return found[0], mean / max(spread, 1e-300)


def _linear_fit(X: FloatArray, Y: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the slopes (d, outputs) of Y on X with an intercept."""
    roots = np.sqrt(weights.astype(float))[:, None]
    design = np.column_stack([X, np.ones(len(X))])
    return np.linalg.lstsq(design * roots, Y * roots, rcond=1e-10)[0][:-1]


def _uncorrelated(slopes: FloatArray, directions: FloatArray, samples: Samples) -> FloatArray:
    """Return the strongest combination (1, d) in slopes (d, outputs), made uncorrelated with the directions."""
    strongest = slopes @ np.linalg.svd(samples.X @ slopes, full_matrices=False)[2][:1].T
    within = _linear_fit(samples.X @ directions.T, samples.X @ strongest, samples.weights)
    return unit_variance((strongest - directions.T @ within).T, samples)


def leading_directions(gradients: FloatArray, samples: Samples, k: int) -> tuple[FloatArray, FloatArray]:
    """Return the leading right singular vectors (k, d) and values of the table of gradients (n, any, d)."""
    table = (np.sqrt(samples.weights)[:, None, None] * gradients).reshape(-1, gradients.shape[2])
    values, vectors = np.linalg.eigh(table.T @ table / len(samples))
    values, directions = values[::-1][:k], vectors.T[::-1][:k]
    largest = directions[np.arange(k), np.abs(directions).argmax(axis=1)]
    return directions * np.sign(largest)[:, None], np.sqrt(np.maximum(values, 0.0))
