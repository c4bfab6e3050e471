"""The evidence for each group: p-values from rows that were not used to choose the others, and false discovery rates.

A forward search on the rows outside a fold chooses the terms of a model f. On the rows of the fold, the residual of the
model without group j is multiplied by what the group would add to it, h_j, both fitted outside the fold. If, given the
other selected groups, group j does not improve the prediction, the products have mean zero. Their sum over all folds,
over its standard error from sums over blocks of rows, is compared with a t distribution, two-sided: the folds share
their training rows, and with many of them the statistic grows like the absolute value of a normal one. Several random
splits into folds are combined by twice the median of their p-values.
This is the idea of the projected covariance measure (Lundborg, Kim, Shah and Samworth, 2024), cross-fitted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from fewvars._common.threads import in_threads, threads_for
from fewvars._common.validation import FloatArray
from fewvars.engine.losses import robust_spread
from fewvars.search.variables.forward import forward_search
from fewvars.search.variables.growing_model import CLIP, GrowingModel
from fewvars.search.variables.terms import Term, Terms
from fewvars.search.variables.testable import Testable
from fewvars.series.dependence import DEPENDENT, RowFilter

# With fewer rows there are several random splits into several folds, otherwise one into two.
FEW_ROWS, MOST_SPLITS, N_FOLDS = 2000, 3, 3
CERTAIN = 1e-3  # inputs with a smaller q-value matter, if rows are independent
WEAK = 0.2  # the evidence for a selected input with a larger q-value is called weak


def q_values(p_values: FloatArray, usable: np.ndarray) -> FloatArray:
    """Return the smallest false discovery rate at which each group is selected (Benjamini and Hochberg, 1995)."""
    found = np.ones(p_values.size)
    order = np.flatnonzero(usable)[np.argsort(p_values[usable], kind="stable")]
    rates = p_values[order] * order.size / np.arange(1, order.size + 1)
    found[order] = np.minimum(np.minimum.accumulate(rates[::-1])[::-1], 1.0)
    return found


def folds(n: int, time: float, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (train, test) rows of each fold: random ones, or consecutive ones with gaps if rows are dependent.

    Parameters
    ----------
    time : float
        Autocorrelation time: above `DEPENDENT`, rows are dependent, and gaps are that wide, up to a quarter of a fold.
        The first fold then begins at a random row, and what is before that row belongs to the last fold.
    """
    k = N_FOLDS if n < FEW_ROWS else 2
    rows = np.arange(n)
    if time <= DEPENDENT:
        place = rng.permutation(n) * k // n
        return [(rows[place != fold], rows[place == fold]) for fold in range(k)]
    place = (rows - rng.integers(n)) % n * k // n
    gap = min(time, n // (4 * k))  # along a trend the time is as long as the series, and would leave no rows
    return [(rows[_distance(rows, test) > gap], test) for test in (rows[place == fold] for fold in range(k))]


def _distance(rows: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Return how far each row is from the nearest test row; both are sorted."""
    place = np.searchsorted(test, rows)
    before, after = test[np.maximum(place - 1, 0)], test[np.minimum(place, test.size - 1)]
    return np.minimum(np.abs(rows - before), np.abs(after - rows))


@dataclass(frozen=True, eq=False)
class _Fold:
    """Terms on the training and the test rows, and the model that was chosen on the training rows."""

    model: GrowingModel
    test: Terms
    Y: FloatArray
    filter: RowFilter

    def products(self, groups: np.ndarray) -> FloatArray:
        """Return residual times contribution of each of some groups on the test rows, (groups, n_test)."""
        inside = self.model.mask[groups]
        found = np.empty((groups.size, len(self.Y)))
        for place in np.flatnonzero(inside):
            own = [term for term in self.model.chosen if groups[place] in term.groups]
            others = [term for term in self.model.chosen if groups[place] not in term.groups]
            found[place] = self._scores(others, [own])[0]
        found[~inside] = self._scores(list(self.model.chosen), self._singles(groups[~inside]))
        return found

    def _scores(self, base: list[Term], additions: list[list[Term]]) -> FloatArray:
        """Return, for each addition to the base model, the residual of the base times what the addition would add."""
        if not additions:
            return np.empty((0, len(self.Y)))
        model, outputs = self.model, self.model.robust_outputs
        design, outside = model.design(base), self.test.design(base)
        parts = [model.design(terms)[:, 1:] for terms in additions]
        slopes = np.linalg.lstsq(design, np.column_stack([outputs, *parts]), rcond=1e-8)[0]
        k = outputs.shape[1]
        if model.loss.measured:
            left = outputs - design @ slopes[:, :k]
            residual = self._clipped(self.filter.apply(self.Y - outside @ slopes[:, :k]))
        else:
            own = model.coefficients(base)
            inside = model.terms.design(base) @ own
            left = model.filter.apply(model.Y - model.loss.mean(inside))
            residual = self.filter.apply(self.Y - model.loss.mean(_within_range(outside @ own, inside)))
        outside = self.filter.apply(outside)
        scores, first = [], k
        for part, terms in zip(parts, additions, strict=True):
            own = slopes[:, first : first + part.shape[1]]
            first += part.shape[1]
            new = part - design @ own
            effect = np.linalg.lstsq(new, left, rcond=1e-6)[0]
            added = (self.filter.apply(self.test.design(terms)[:, 1:]) - outside @ own) @ effect
            scores.append((residual * _within_range(added, new @ effect)).sum(axis=1))
        return np.array(scores)

    def _clipped(self, residual: FloatArray) -> FloatArray:
        limit = CLIP * robust_spread(self.model.residual)
        return np.clip(residual, -limit, limit)

    def _singles(self, groups: np.ndarray) -> list[list[Term]]:
        """Return the line or the curve of each group, whichever is more significant on the training rows."""
        line, curve = self.model.screen("line"), self.model.screen("curve")
        return [[Term("curve" if curve[group] < line[group] else "line", (group,))] for group in groups.tolist()]


def _within_range(values: FloatArray, known: FloatArray) -> FloatArray:
    """Return values (n, outputs) clipped to the range of those on training rows.

    Polynomials soon become huge outside the training data, and a few rows would outweigh all others.
    """
    return np.clip(values, known.min(axis=0), known.max(axis=0))


def p_values(
    data: Testable,
    usable: np.ndarray,
    included: np.ndarray,
    *,
    seed: int = 0,
    max_splits: int = MOST_SPLITS,
    n_jobs: int | None = None,
) -> FloatArray:
    """Return a p-value for each usable group (a mask), one for the others, (groups,)."""
    n, time = len(data.Y), data.autocorrelation_time
    groups = np.flatnonzero(usable)

    def scores(fold: tuple[np.ndarray, np.ndarray]) -> FloatArray:
        """Return the products of each group, summed over blocks of rows of the fold, (groups, blocks)."""
        train, test = map(data.rows, fold)
        model = GrowingModel(train)
        forward_search(model, usable, included)
        own = RowFilter(np.sqrt(test.weights.astype(float)), test.starts, model.filter.coefficient)
        products = _Fold(model, test.terms, test.Y, own).products(groups)
        return np.add.reduceat(products, np.arange(0, len(test.Y), model.block), axis=1)

    n_splits = max_splits if n < FEW_ROWS else 1
    # Rows may have been mixed with this very seed: its children give other orders, default_rng((seed, 0)) would not.
    children = np.random.SeedSequence(seed).spawn(n_splits)
    splits = [folds(n, time, np.random.default_rng(child)) for child in children]
    sums = iter(in_threads(scores, [fold for split in splits for fold in split], threads_for(n, n_jobs)))
    found = np.ones(usable.size)
    found[groups] = combined([_p_value(np.hstack([next(sums) for _ in split])) for split in splits])
    return found


def _p_value(sums: FloatArray) -> FloatArray:
    """Return two-sided p-values that the sums of blocks (groups, blocks) have a positive mean."""
    statistic = sums.sum(axis=1) / np.sqrt(np.maximum((sums**2).sum(axis=1), 1e-300))
    return np.where(statistic > 0, 2.0 * stats.t.sf(statistic, max(sums.shape[1] - 1, 1)), 1.0)


def combined(p_values: Sequence[FloatArray]) -> FloatArray:
    """Return twice the median of p-values (splits, groups), however they depend on each other; a single one as it is.

    If each of them is at most u with probability u, at least half of them are with probability 2u at most (Markov's
    inequality; Meinshausen, Meier and Bühlmann, 2009).
    """
    if len(p_values) == 1:
        return p_values[0]
    return np.minimum(2.0 * np.median(p_values, axis=0), 1.0)


def interactions(terms: Iterable[Term]) -> tuple[tuple[int, int], ...]:
    """Return the pairs of groups that occur together in a term."""
    return tuple(sorted({(term.groups[0], term.groups[1]) for term in terms if len(term.groups) > 1}))
