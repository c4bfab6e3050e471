"""A least-squares model that grows term by term, and F-tests of further terms.

The tests hold up where plain ones do not: residuals beyond three robust standard deviations are clipped (Huber, 1964),
errors that depend on those of the row before are filtered first, and the variance of a score is inflated where the
products of a column and the residual, summed over blocks of rows, vary more than independent errors would let them.

Under the loss of labels or counts the fit is that of the loss, and the residual y - E[y] is what the tests are made on:
as the score equations make it orthogonal to the model, they are score tests (Rao, 1948).
"""

from collections.abc import Iterable, Sequence

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.losses import Loss, medians, robust_spread
from fewvars.engine.solvers.reweighted import reweighted_least_squares
from fewvars.search.variables.main_effects import MainEffects
from fewvars.search.variables.terms import Term, Terms
from fewvars.search.variables.testable import Testable
from fewvars.search.variables.unexplained import Bases, Unexplained
from fewvars.series.dependence import DEPENDENT, RowFilter, autocorrelation_time
from fewvars.series.row_order import repeats_itself

CLIP = 3.0  # robust standard deviations beyond which a residual counts no more in tests
WILD = 6.0  # and beyond which an output is clipped before supports are compared
NEARLY_HALF = 0.4  # of the rows: with labels, the commoner one fills more than that
SHORTEST_BLOCK = 5  # of dependent rows: no filter removes all dependence
_BATCH = 1_000_000  # entries of the columns of terms that are tested at once
_RIDGE = 1e-4  # times the number of rows: keeps separable classes finite


class GrowingModel:
    """Outputs as a sum of terms, the residual, and tests of whether another term would explain some of it."""

    def __init__(self, data: Testable) -> None:
        terms, weights = data.terms, data.weights
        self.terms, self.Y, self.loss = terms, data.Y, data.loss
        self.chosen: list[Term] = []
        self.dependent = data.autocorrelation_time > DEPENDENT
        self._counted = weights > 0
        # A median says nothing about the spread where one value fills half of the rows: the others are no outliers.
        self._most = np.where([repeats_itself(column, NEARLY_HALF) for column in data.Y.T], np.inf, 1.0)
        self.n_counted = int(self._counted.sum())
        self.block = 1
        self.filter = RowFilter(np.sqrt(weights.astype(np.float64)), data.starts)
        self._main = MainEffects(terms)
        self._Q: FloatArray
        self._rebuild()
        self._refilter()

    @property
    def mask(self) -> np.ndarray:
        """Which groups occur in the model, (groups,)."""
        found = np.zeros(self.terms.n_groups, bool)
        found[[g for term in self.chosen for g in term.groups]] = True
        return found

    @property
    def degrees_of_freedom(self) -> int:
        """Rows less columns."""
        return self._unexplained.degrees_of_freedom

    def _tested(self, residual: FloatArray, n_columns: int) -> Unexplained:
        return Unexplained(residual, n_columns, self.n_counted, self.block, self.loss.labels)

    @property
    def robust_outputs(self) -> FloatArray:
        """Filtered outputs (n, outputs) with residuals clipped: least squares on them gives the model's fit."""
        return self._fitted + self.residual

    def design(self, chosen: Iterable[Term]) -> FloatArray:
        """Return a constant and the columns of some terms, filtered, (n, 1 + columns)."""
        return self.filter.apply(self.terms.design(chosen))

    def without_outliers(self, terms: Terms, Y: FloatArray) -> FloatArray:
        """Return the outputs (n, outputs) of these or other rows with outliers clipped to near the model."""
        predicted = terms.design(self.chosen) @ self.coefficients(self.chosen)
        limit = self._most * WILD * robust_spread(Y - predicted)
        return predicted + np.clip(Y - predicted, -limit, limit)

    def matched_loss(self) -> Loss:
        """Return the loss with a scale that matches the residual of the model."""
        left = self.Y - self.terms.design(self.chosen) @ self.coefficients(self.chosen)
        return self.loss.matched(robust_spread(left))

    def add(self, term: Term) -> None:
        """Add a term to the model."""
        self.chosen.append(term)
        new = self.orthogonal(term)
        self._Q = np.column_stack([self._Q, new])
        self._main.project_out(new)
        self._settle()
        self._refilter()

    def keep(self, chosen: Iterable[Term]) -> None:
        """Drop all other terms."""
        self.chosen = list(chosen)
        self._rebuild()

    def p_values(self, terms: Sequence[Term], fewest_rows: int | np.ndarray = 0) -> FloatArray:
        """Return the p-value of adding each of some terms, infinite if fewer rows carry what it adds, (terms,)."""
        found, fewest = np.ones(len(terms)), np.broadcast_to(fewest_rows, len(terms))
        widths = [self.terms.columns(term).shape[1] for term in terms]
        for width in set(widths):
            same = [k for k, other in enumerate(widths) if other == width]
            at_once = max(1, _BATCH // (width * len(self.Y)))
            for batch in (same[first : first + at_once] for first in range(0, len(same), at_once)):
                bases = self._bases([terms[k] for k in batch])
                carried = bases.effective_rows >= fewest[batch]
                found[batch] = np.where(carried, self._unexplained.p_values(bases), np.inf)
        return found

    def orthogonal(self, term: Term) -> FloatArray:
        """Return an orthonormal basis (n, m) of what the term adds to the model."""
        bases = self._bases([term])
        return np.linalg.qr(bases.rows[0][bases.rows[0].any(axis=1)].T)[0]

    def _bases(self, terms: Sequence[Term]) -> Bases:
        """Return bases of what terms with equally many columns add to the model."""
        columns = self.filter.apply(np.column_stack([self.terms.columns(term) for term in terms])).T
        sizes = np.sqrt(np.einsum("ij,ij->i", columns, columns))[:, None]
        rest = columns / np.where(sizes > 0, sizes, 1.0)
        rest -= (rest @ self._Q) @ self._Q.T
        return Bases.of(rest.reshape(len(terms), -1, len(self.Y)))

    def dropped_p_value(self, group: int) -> float:
        """Return the p-value of leaving out every term that a group occurs in."""
        columns = self.design(term for term in self.chosen if group not in term.groups)
        sizes = np.linalg.norm(columns, axis=0)
        turn, s, _ = np.linalg.svd(self._Q.T @ (columns / np.where(sizes > 0, sizes, 1.0)))
        rotated, size = self._Q @ turn, len(turn) - int((s > 1e-6).sum())  # what the others span comes first
        if not size:
            return 1.0
        others, lost = rotated[:, :-size], Bases(rotated[:, -size:].T[None], np.array([size]))
        left, outputs = self._unexplained, self.robust_outputs
        if not self.loss.measured:
            outputs = self._left(others)
        if self.loss.labels:  # a model that predicts nearly all labels with certainty leaves too little to compare with
            return float(self._tested(outputs - others @ (others.T @ outputs), others.shape[1]).p_values(lost)[0])
        explained = ((lost.rows[0] @ outputs) ** 2).sum(axis=0)
        variance = (self.residual**2).sum(axis=0) / max(self.degrees_of_freedom, 1)
        ratio = explained / size / np.maximum(variance, 1e-300) / left.inflation(lost)[0]
        return float(left.combined(ratio, size, left.denominators(0)))

    def screen(self, kind: str) -> FloatArray:
        """Return plain p-values (groups,) of adding a line or a curve of each group."""
        found, left = np.ones(self.terms.n_groups), self._unexplained
        for groups, width, explained in self._main.explained(kind, self.residual):
            found[groups] = left.combined(left.ratios(explained, width), width)
        return found

    def _rebuild(self) -> None:
        """Recompute everything from the chosen terms and the filter."""
        self._y = self.filter.apply(self.Y)
        self._Q = self._basis(self.chosen)
        self._main.rebuild(self.filter, self._Q)
        self._settle()

    def _basis(self, chosen: Iterable[Term]) -> FloatArray:
        filtered = self.design(chosen)
        sizes = np.linalg.norm(filtered, axis=0)
        U, s, _ = np.linalg.svd(filtered / np.where(sizes > 0, sizes, 1.0), full_matrices=False)
        return U[:, s > 1e-6]

    def coefficients(self, chosen: Iterable[Term]) -> FloatArray:
        """Return those of a constant and the columns of some terms, fitted to the outputs, (1 + columns, outputs)."""
        design = self.design(chosen)
        if self.loss.measured:
            return np.linalg.lstsq(design, self.robust_outputs, rcond=1e-8)[0]
        return self._fit(design)

    def _fit(self, filtered: FloatArray) -> FloatArray:
        """Return the coefficients of filtered columns under the loss, (columns, outputs)."""
        roots = self.filter.roots
        columns = filtered / np.where(roots > 0, roots, 1.0)[:, None]
        return reweighted_least_squares(
            columns, self.Y, roots**2, self.loss, ridge=_RIDGE * float((columns[:, 0] ** 2) @ roots**2)
        )

    def _left(self, basis: FloatArray) -> FloatArray:
        """Return y - E[y] under the loss, filtered, with an orthonormal basis as the model, (n, outputs)."""
        roots = self.filter.roots[:, None]
        linear = basis @ self._fit(basis) / np.where(roots > 0, roots, 1.0)
        return roots * (self.Y - self.loss.mean(linear))

    def _settle(self) -> None:
        """Alternate between fitting and clipping residuals until both agree."""
        if self.loss.measured:
            self._settle_clipped()
        else:
            rest = self._left(self._Q)
            self._fitted, self.residual = self._y - rest, rest - self._Q @ (self._Q.T @ rest)
        if self.dependent:
            time = max(map(autocorrelation_time, self.residual.T))
            self.block = max(SHORTEST_BLOCK, int(np.ceil(2.0 * time)))
        self._unexplained = self._tested(self.residual, self._Q.shape[1])

    def _settle_clipped(self) -> None:
        middle = medians(self._y)
        fitted = self._Q @ (self._Q.T @ (middle + self._clipped(self._y - middle, WILD)))
        for _ in range(20):
            rest = self._clipped(self._y - fitted, CLIP)
            new = self._Q @ (self._Q.T @ (fitted + rest))
            moved, fitted = np.abs(new - fitted).max(axis=0), new
            if (moved <= 1e-3 * np.abs(rest).mean(axis=0)).all():
                break
        rest = self._clipped(self._y - fitted, CLIP)
        self._fitted, self.residual = fitted, rest - self._Q @ (self._Q.T @ rest)

    def _clipped(self, residual: FloatArray, most: float) -> FloatArray:
        limit = self._most * most * robust_spread(residual[self._counted])
        return np.clip(residual, -limit, limit)

    def _refilter(self) -> None:
        """Estimate again how errors depend on those of the previous row, and filter the rows accordingly."""
        if not (self.dependent and self.loss.measured):  # labels and counts are not autoregressive
            return
        raw = self.terms.design(self.chosen)
        slopes = np.linalg.lstsq(self.filter.apply(raw), self._y, rcond=1e-10)[0]
        coefficient = self.filter.coefficient_of(self.Y - raw @ slopes)
        if abs(coefficient - self.filter.coefficient) > 0.03:
            self.filter = RowFilter(self.filter.roots, self.filter.starts, coefficient)
            self._rebuild()


def smallest(p_values: FloatArray, most: int) -> Sequence[int]:
    """Return the places of the smallest p-values, the smallest first."""
    return np.argsort(p_values, kind="stable")[:most].tolist()
