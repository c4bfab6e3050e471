"""A sparse polynomial plus curves: functions of single variables that bend too sharply for a polynomial."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, final

import numpy as np

from fewvars._common.kinds import one_of, real, require
from fewvars._common.validation import FloatArray
from fewvars._common.wording import counted
from fewvars.heads.head import Graph, SumHead
from fewvars.heads.kind import Chosen, HeadKind, HeadSettings, Trial
from fewvars.heads.polynomial import PolynomialHead, Polynomials
from fewvars.heads.steps import StepsHead
from fewvars.polynomials.polynomial import Polynomial, monomial_values
from fewvars.polynomials.refit import restricted, with_terms, without
from fewvars.search.held_out import HeldOut, Scored
from fewvars.search.variables.ridge_judge import ROWS_PER_COLUMN
from fewvars.search.variables.terms import MOST_LEVELS, STEPS, Term, Terms
from fewvars.series.scaling import Scaling

MOST_ROWS = 5000  # with more, networks follow such functions as well
STRENGTHS = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)  # of the ridge on curves, whose columns have mean square one
TWO_STRENGTHS = (1e-4, 1e-2)  # enough to tell whether a variable needs a curve
ROUNDS = 2  # in which curves and the polynomial are fitted in turn whenever a curve is added


@final
@dataclass(frozen=True, eq=False)
class CurvesHead(SumHead):
    """f(x) = p(x) + sum_j c_j(x_j), where p is a sparse polynomial and each curve c_j a sum of steps.

    Attributes
    ----------
    polynomial : Polynomial
        With a constant.
    curves : StepsHead
        Without a constant or lines.
    strength : float
        Of the ridge on the curves, whose columns have variance one.
    """

    name: ClassVar = "curves"
    noun: ClassVar = "sparse polynomial plus curves"
    stored: ClassVar = {"polynomial": one_of(Polynomial), "curves": one_of(StepsHead), "strength": real(least=0.0)}

    polynomial: Polynomial
    curves: StepsHead
    strength: float

    @property
    def n_inputs(self) -> int:
        """Number of variables."""
        return self.curves.n_inputs

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.curves.n_outputs

    @property
    def curved(self) -> np.ndarray:
        """The variables (inputs,) that have a curve."""
        return np.any(self.curves.weights, axis=(0, 2))

    def predict(self, X: FloatArray) -> FloatArray:
        """Return predictions (n, outputs)."""
        return self.polynomial.predict(X) + self.curves.predict(X)

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return derivatives (n, outputs, inputs)."""
        return self.polynomial.gradient(X) + self.curves.gradient(X)

    def describe(self) -> str:
        """Return the number of terms and of curves."""
        n_terms, n_curves = len(self.polynomial.exponents), int(self.curved.sum())
        return f"a sparse polynomial with {counted(n_terms, 'term')}, plus {counted(n_curves, 'curve')}"

    def text(self, names: Sequence[str], *, digits: int = 4) -> list[str]:
        """Return the polynomials, each followed by the curves as in "+ curve(x3)"."""
        curves = "".join(f" + curve({name})" for name, own in zip(names, self.curved, strict=True) if own)
        return [text + curves for text in PolynomialHead(self.polynomial).text(names, digits=digits)]

    def interactions(self, labels: np.ndarray) -> tuple[tuple[int, int], ...]:
        """Return those of the polynomial; curves are functions of single variables."""
        return self.polynomial.interactions(labels)

    @property
    def support(self) -> np.ndarray:
        """The variables (inputs,) that occur in a monomial or have a curve."""
        return self.curved | self.polynomial.support

    def refitted(self, X: FloatArray, y: FloatArray, weight: FloatArray) -> "CurvesHead":
        """Return the same monomials and steps, fitted together."""
        exponents, curved = self.polynomial.exponents[1:], self.curved
        monomials = monomial_values(X - self.polynomial.origin, exponents)
        steps = self.curves.steps(X)[:, :, curved].reshape(len(X), -1)
        penalties = np.repeat([0.0, self.strength], [monomials.shape[1], steps.shape[1]])
        found, constant = _ridge(np.column_stack([monomials, steps]), y, weight, penalties)
        polynomial = replace(self.polynomial, coefficients=np.vstack([constant, found[: len(exponents)]]))
        weights = np.zeros_like(self.curves.weights)
        weights[:, curved] = found[len(exponents) :].reshape(len(weights), curved.sum(), y.shape[1])
        return replace(self, polynomial=polynomial, curves=replace(self.curves, weights=weights))

    def without(self, inputs: np.ndarray) -> "CurvesHead":
        """Leave out the curves of these variables (inputs,), and the monomials in which one of them occurs."""
        weights = np.where(inputs[:, None], 0.0, self.curves.weights)
        return replace(self, polynomial=without(self.polynomial, inputs), curves=replace(self.curves, weights=weights))

    def restricted(self, inputs: np.ndarray) -> SumHead:
        """Return the same function of some variables (inputs,); without a curve it is a polynomial."""
        polynomial = restricted(self.polynomial, inputs)
        if not self.curved.any():
            return PolynomialHead(polynomial)
        return replace(self, polynomial=polynomial, curves=self.curves.restricted(inputs))

    def with_digits_for(self, X: FloatArray) -> "CurvesHead":
        """Return the same function; the polynomial has the digits that its values at X (n, inputs) need."""
        return replace(self, polynomial=self.polynomial.with_digits_for(X))

    def export(self, graph: Graph, x: str) -> str:
        """Add the polynomial and the curves."""
        return graph.add("Add", graph.polynomial(x, self.polynomial), self.curves.export(graph, x))

    def check(self) -> None:
        """Raise ValueError unless both parts are functions of as many variables, with as many outputs."""
        PolynomialHead(self.polynomial).check()
        shape = self.polynomial.exponents.shape[1], self.polynomial.coefficients.shape[1]
        require(shape == (self.n_inputs, self.n_outputs), "CurvesHead.curves does not fit its polynomial")


@final
@dataclass(frozen=True)
class Curves(HeadKind):
    """Polynomials of all degrees plus curves of those variables that the polynomial does not follow."""

    head: ClassVar = CurvesHead
    squared_only: ClassVar = True

    polynomials: Polynomials = field(default_factory=Polynomials)

    @classmethod
    def of(cls, settings: HeadSettings) -> "Curves":
        """Use the polynomials of the settings."""
        return cls(Polynomials.of(settings))

    def suits(self, X: FloatArray, y: FloatArray) -> bool:
        """Return whether rows are few."""
        return len(X) <= MOST_ROWS and self.polynomials.suits(X, y)

    def choose(self, trial: Trial, rival: Scored | None = None) -> Chosen | None:
        """Return the smallest degree not worse than the best; None if no curve improves what the rival predicts."""
        if rival is not None:
            left = [trial.y - model.predict(trial.X) for model in rival.models]
            if _CurveSearch.of(trial).sharpest(left, []) is None:
                return None
        degrees = self.polynomials.degrees(trial.X, trial.y) or [1]
        return trial.simplest_not_worse([partial(self.fit, degree=degree) for degree in degrees])

    def fit(self, X: FloatArray, y: FloatArray, weight: FloatArray, *, degree: int) -> CurvesHead:
        """Fit a sparse polynomial, then add curves one by one while held-out blocks of these rows call for another.

        A variable without a term or a curve gets a line. At last all terms and curves are fitted together.
        """
        splits = self.polynomials.blocks(X)
        search = _CurveSearch.of(Trial(X, y, weight, HeldOut.of(splits, weight)))
        polynomial = self.polynomials.fit(X, y, weight, degree=degree).polynomial
        chosen: list[int] = []
        curves = np.zeros_like(y)
        while search.has_room(len(polynomial.exponents), len(chosen) + 1):
            left = y - polynomial.predict(X) - curves
            sharpest = search.sharpest([left] * len(splits), chosen)
            if sharpest is None:
                break
            chosen.append(sharpest)
            for _ in range(ROUNDS):
                curves = search.fitted(y - polynomial.predict(X), chosen)
                polynomial = self.polynomials.fit(X, y - curves, weight, degree=degree).polynomial
        return search.together(polynomial, chosen)


@dataclass(frozen=True, eq=False)
class _CurveSearch:
    """Ridge regressions on the steps of variables.

    Attributes
    ----------
    trial : Trial
    terms : Terms
        The steps of standardised variables.
    scaling : Scaling
        Of the variables.
    """

    trial: Trial
    terms: Terms
    scaling: Scaling

    @classmethod
    def of(cls, trial: Trial) -> "_CurveSearch":
        scaling = Scaling.of(trial.X, trial.weight)
        terms = Terms.of(scaling.apply(trial.X), np.arange(trial.X.shape[1])).with_steps()
        return cls(trial, terms, scaling)

    def has_room(self, n_terms: int, n_curves: int) -> bool:
        """Return whether there are enough rows for so many terms and curves."""
        return ROWS_PER_COLUMN * (1 + n_terms + (STEPS - 1) * n_curves) <= len(self.trial.X)

    def sharpest(self, left: Sequence[FloatArray], chosen: Sequence[int]) -> int | None:
        """Return the variable whose curve explains most of what is left, unless that is not significant.

        `left` (n, outputs) may differ from split to split.
        """
        rivals = np.setdiff1d(np.flatnonzero(self.terms.levels >= MOST_LEVELS), chosen)
        if not rivals.size or not self.has_room(0, len(chosen) + 1):
            return None
        errors = {j: self._best(self._steps([j]), left, 0, TWO_STRENGTHS)[1] for j in rivals.tolist()}
        best = min(errors, key=lambda j: self.trial.held_out.typical(errors[j]))
        nothing = self._errors(np.empty((len(left[0]), 0)), left, np.empty(0))
        return best if self.trial.held_out.better(errors[best], nothing) else None

    def fitted(self, left: FloatArray, chosen: Sequence[int]) -> FloatArray:
        """Return curves of the chosen variables that explain what is left, (n, outputs)."""
        columns = self._steps(chosen)
        strength, _ = self._best(columns, [left] * len(self.trial.held_out.splits), 0, STRENGTHS)
        coefficients, constant = _ridge(columns, left, self.trial.weight, np.full(columns.shape[1], strength))
        return columns @ coefficients + constant

    def together(self, polynomial: Polynomial, chosen: Sequence[int]) -> CurvesHead:
        """Return the terms of a polynomial, and curves of the chosen variables, fitted together."""
        X, y = self.trial.X, self.trial.y
        unit = np.eye(X.shape[1], dtype=np.int64)
        unused = ~polynomial.support
        unused[list(chosen)] = False
        polynomial = with_terms(polynomial, unit[unused])
        exponents = polynomial.exponents[polynomial.exponents.any(axis=1)]
        free = len(exponents)
        columns = np.column_stack([monomial_values(X - polynomial.origin, exponents), self._steps(chosen)])
        strength, _ = self._best(columns, [y] * len(self.trial.held_out.splits), free, STRENGTHS)
        polynomial = replace(
            polynomial,
            exponents=np.vstack([np.zeros((1, X.shape[1]), np.int64), exponents]),
            coefficients=np.ones((1 + free, y.shape[1])),
        )
        ones = np.zeros((X.shape[1], STEPS, y.shape[1]))
        ones[list(chosen), 1:] = 1.0
        coefficients = np.vstack([np.zeros(y.shape[1]), ones.reshape(-1, y.shape[1])])
        curves = StepsHead.in_units(coefficients, self.terms, self.scaling)
        return CurvesHead(polynomial, curves, strength).refitted(X, y, self.trial.weight).with_digits_for(X)

    def _steps(self, variables: Sequence[int]) -> FloatArray:
        """Return the steps of variables side by side, without the lines."""
        steps = [self.terms.columns(Term("steps", (j,)))[:, 1:] for j in variables]
        return np.column_stack([np.empty((len(self.trial.X), 0)), *steps])

    def _best(
        self, columns: FloatArray, left: Sequence[FloatArray], free: int, strengths: Sequence[float]
    ) -> tuple[float, FloatArray]:
        """Return the ridge on all but the first `free` columns that predicts best, and its errors (pieces,)."""
        curved = np.arange(columns.shape[1]) >= free
        errors = {strength: self._errors(columns, left, strength * curved) for strength in strengths}
        best = min(errors, key=lambda strength: self.trial.held_out.typical(errors[strength]))
        return best, errors[best]

    def _errors(self, columns: FloatArray, left: Sequence[FloatArray], penalties: FloatArray) -> FloatArray:
        """Return the held-out errors (pieces,) of ridge regressions, each on what is left in its split."""
        loss, weight = self.trial.row_loss, self.trial.weight
        losses = []
        for (train, test), y in zip(self.trial.held_out.splits, left, strict=True):
            coefficients, constant = _ridge(columns[train], y[train], weight[train], penalties)
            losses.append(loss.values(columns[test] @ coefficients + constant, y[test]))
        return self.trial.held_out.piece_errors(losses, weight)


def _ridge(
    columns: FloatArray, y: FloatArray, weight: FloatArray, penalties: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the coefficients (m, outputs) and the constant (outputs,) of a ridge regression.

    The penalties (m,) are those of columns of variance one.
    """
    share = weight / weight.sum()
    scaling, centre = Scaling.of(columns, weight), share @ y
    F = scaling.apply(columns)
    gram = (F * share[:, None]).T @ F
    gram[np.diag_indices_from(gram)] += penalties + 1e-10
    coefficients = np.linalg.solve(gram, (F * share[:, None]).T @ (y - centre)) / scaling.scale[:, None]
    return coefficients, centre - scaling.mean @ coefficients
