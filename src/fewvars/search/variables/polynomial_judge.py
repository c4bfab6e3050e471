"""The judge that fits all monomials of a few inputs by ridge regression, for functions that sums of pairs miss.

Where a sum of simple terms cannot follow a function, other inputs stand in for what is missing. A full polynomial of
the inputs of a small support follows it better, and shows which of them are needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.samples import Samples
from fewvars.polynomials.polynomial import monomial_count, monomial_exponents, monomial_values
from fewvars.search.held_out import HeldOut
from fewvars.search.judge import Verdict
from fewvars.search.problem import Problem
from fewvars.search.variables.normal_equations import Design, NormalEquations
from fewvars.search.variables.terms import REACH, Term, Terms

STRENGTHS = (1e-7, 1e-5, 1e-3)  # of the ridge, for columns of mean square one
MOST_COLUMNS = 260
ROWS_PER_COLUMN = 5
HIGHEST_DEGREE = 6


@dataclass(frozen=True, eq=False)
class PolynomialJudge:
    """Fits polynomials of the inputs of a support, of the highest degree that is affordable for all that are compared.

    Attributes
    ----------
    samples : Samples
        Standardised: all rows.
    terms : Terms
        The inputs, and the windows that rows are averages over.
    held_out : HeldOut
    """

    samples: Samples
    terms: Terms
    held_out: HeldOut
    _equations: dict[bytes, NormalEquations] = field(default_factory=dict, init=False, repr=False)

    name: ClassVar[str] = "polynomial"
    fewest_rows: ClassVar[int] = 8

    @classmethod
    def of(cls, problem: Problem, terms: Terms) -> "PolynomialJudge":
        """Return the judge of a problem whose inputs are those of the terms."""
        return cls(problem.samples, terms, problem.reserve)

    def on(self, held_out: HeldOut) -> "PolynomialJudge":
        """Return the same judge with other rows held out."""
        return replace(self, held_out=held_out)

    def degree(self, mask: np.ndarray) -> int:
        """Return the highest degree whose monomials of the groups of a mask are affordable, at least one."""
        n_inputs = int(mask[self.terms.labels].sum())
        most = min(MOST_COLUMNS, len(self.samples) / ROWS_PER_COLUMN)
        return max((k for k in range(1, HIGHEST_DEGREE + 1) if monomial_count(n_inputs, k) <= most), default=1)

    def judge(self, masks: Sequence[np.ndarray], like: Verdict | None = None, effort: int = 1) -> list[Verdict]:
        """Fit each support, all of them by polynomials of one degree."""
        if not masks:
            return []
        equations = self._equations_of(np.logical_or.reduce(list(masks)))
        return [self._verdict(equations, mask) for mask in masks]

    def tuned(self, mask: np.ndarray, effort: int = 1) -> tuple["PolynomialJudge", Verdict]:
        """Return this judge: there is nothing to tune."""
        return self, self.judge([mask])[0]

    def residuals(self, verdict: Verdict, rows: np.ndarray) -> FloatArray:
        """Return what the fit to the first split leaves unexplained in some rows, (rows, outputs)."""
        design, coefficients = verdict.state
        return self.samples.Y[rows] - design.columns[rows] @ coefficients

    def _equations_of(self, mask: np.ndarray) -> NormalEquations:
        found = self._equations.get(mask.tobytes())
        if found is None:
            design = monomials(self.terms, mask, self.degree(mask))
            Y, weights = self.samples.Y.astype(np.float64), self.samples.weights.astype(np.float64)
            found = self._equations[mask.tobytes()] = NormalEquations(design, Y, weights, self.held_out.splits)
        return found

    def _verdict(self, equations: NormalEquations, mask: np.ndarray) -> Verdict:
        fits = equations.coefficients(mask, STRENGTHS)
        best, losses, errors = equations.best(fits, self.held_out, self.samples.loss)
        state = (equations.design, fits[0][best])
        return Verdict(mask, losses, errors, state)


def monomials(terms: Terms, mask: np.ndarray, degree: int) -> Design:
    """Return all monomials up to a degree of the inputs of the groups of a mask, as the rows see them."""
    inputs = np.flatnonzero(mask[terms.labels])
    exponents = monomial_exponents(inputs.size, degree, constant=False)
    values = monomial_values(np.clip(terms.Z[:, inputs], -REACH, REACH), exponents)
    columns = np.column_stack([np.ones(len(terms)), values if terms.windows is None else terms.windows @ values])
    groups = [tuple(np.unique(terms.labels[inputs[row > 0]]).tolist()) for row in exponents]
    kinds = tuple(Term("monomial", own) for own in groups)
    return Design.scaled(mask, columns, kinds, (1,) * len(kinds))
