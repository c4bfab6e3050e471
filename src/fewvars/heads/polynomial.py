"""Sparse polynomials, called "dictionary" after the dictionary of monomials that they are chosen from."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, final

import numpy as np

from fewvars._common.kinds import one_of, require
from fewvars._common.validation import FloatArray
from fewvars._common.wording import counted
from fewvars.engine.losses import SQUARED
from fewvars.heads.head import Graph, SumHead
from fewvars.heads.kind import Chosen, HeadKind, HeadSettings, Trial
from fewvars.polynomials.dictionary import fit_polynomial
from fewvars.polynomials.polynomial import Polynomial, monomial_count
from fewvars.polynomials.refit import refitted, restricted, with_terms, without
from fewvars.polynomials.reweighted import fit_polynomial_under
from fewvars.search.held_out import EVIDENCE, TIE, Scored
from fewvars.series.row_order import repeats_itself
from fewvars.series.scaling import Scaling
from fewvars.series.splits import BlockedSplit

MOST_OUTPUTS = 10_000  # of a polynomial without terms
# A product of several variables must be nonzero in one row of forty, or in ten rows, to be a candidate: the product of
# two rare events would be estimated from a handful of rows.
ROWS_PER_NONZERO, ENOUGH_NONZERO = 40, 10
MOST_REWEIGHTED = 300  # most monomials under losses other than squared error, which need several fits instead of one


@final
@dataclass(frozen=True, eq=False)
class PolynomialHead(SumHead):
    """A sparse polynomial in the user's units, coefficients (terms, outputs)."""

    name: ClassVar = "dictionary"
    noun: ClassVar = "sparse polynomial"
    stored: ClassVar = {"polynomial": one_of(Polynomial)}

    polynomial: Polynomial

    @property
    def n_inputs(self) -> int:
        """Number of variables."""
        return self.polynomial.exponents.shape[1]

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.polynomial.coefficients.shape[1]

    def predict(self, X: FloatArray) -> FloatArray:
        """Return predictions (n, outputs)."""
        return self.polynomial.predict(X)

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return derivatives (n, outputs, inputs)."""
        return self.polynomial.gradient(X)

    def describe(self) -> str:
        """Return its number of terms, and whether it is linear or additive."""
        exponents = self.polynomial.exponents
        n_terms = counted(len(exponents), "term")
        if (exponents.sum(axis=1) <= 1).all():
            return f"linear, with {n_terms}"
        if self.n_inputs > 1 and (np.count_nonzero(exponents, axis=1) <= 1).all():
            return f"an additive polynomial with {n_terms}, each of one variable"
        return f"a sparse polynomial with {n_terms}"

    def text(self, names: Sequence[str], *, digits: int = 4) -> list[str]:
        """Return the polynomials."""
        return list(self.polynomial.equation(names, digits=max(digits, self.polynomial.digits)))

    @property
    def support(self) -> np.ndarray:
        """The variables (inputs,) that occur in a monomial."""
        return self.polynomial.support

    def refitted(self, X: FloatArray, y: FloatArray, weight: FloatArray) -> "PolynomialHead":
        """Return the same monomials fitted by least squares."""
        return PolynomialHead(refitted(self.polynomial, X, y, weight))

    def without(self, inputs: np.ndarray) -> "PolynomialHead":
        """Leave out the monomials in which one of these variables (inputs,) occurs."""
        return PolynomialHead(without(self.polynomial, inputs))

    def restricted(self, inputs: np.ndarray) -> "PolynomialHead":
        """Return the same polynomial of some variables (inputs,)."""
        return PolynomialHead(restricted(self.polynomial, inputs))

    def with_digits_for(self, X: FloatArray) -> "PolynomialHead":
        """Return the same polynomial with the digits that its values at X (n, inputs) need."""
        return PolynomialHead(self.polynomial.with_digits_for(X))

    def with_terms_of(self, inputs: np.ndarray, max_degree: int) -> list["PolynomialHead"]:
        """Return polynomials with powers of further variables (inputs,), or with products of them and the others."""
        unit = np.eye(inputs.size, dtype=np.int64)
        mine, others = unit[inputs], unit[self.support]
        constant = np.zeros((1, inputs.size), np.int64)
        found = []
        for powers in ((1,), (2,), (1, 2), (2, 4), (1, 2, 3), (1, 2, 3, 4)):
            if powers == (1,) or powers[-1] <= max_degree:
                found.append([constant[: powers[-1] - 1], *(power * mine for power in powers)])
        if max_degree > 1 and len(others):
            found.append([mine, (mine[:, None] + others).reshape(-1, inputs.size)])
        return [PolynomialHead(with_terms(self.polynomial, np.concatenate(terms))) for terms in found]

    def as_polynomial(self) -> Polynomial:
        """Return the polynomial."""
        return self.polynomial

    def interactions(self, labels: np.ndarray) -> tuple[tuple[int, int], ...]:
        """Return the pairs that occur together in a monomial."""
        return self.polynomial.interactions(labels)

    def export(self, graph: Graph, x: str) -> str:
        """Add the polynomial."""
        return graph.polynomial(x, self.polynomial)

    def check(self) -> None:
        """Raise ValueError unless the coefficients have two axes, with a believable number of outputs."""
        coefficients = self.polynomial.coefficients
        require(coefficients.ndim == 2, "PolynomialHead.polynomial.coefficients does not have two axes")
        # Without terms the file may claim any number of outputs, and `predict` would allocate memory for them.
        believable = len(coefficients) > 0 or coefficients.shape[1] <= MOST_OUTPUTS
        require(believable, f"PolynomialHead.polynomial has {coefficients.shape[1]} outputs and no terms")


@final
@dataclass(frozen=True)
class Polynomials(HeadKind):
    """Polynomials of all degrees up to `max_degree` whose library has at most `max_terms` monomials."""

    head: ClassVar = PolynomialHead

    max_degree: int = 4
    max_terms: int = 1000
    settings: HeadSettings = field(default_factory=HeadSettings)

    @classmethod
    def of(cls, settings: HeadSettings) -> "Polynomials":
        """Use the largest degree of the settings."""
        return cls(max_degree=settings.max_degree, settings=settings)

    def degrees(self, X: FloatArray, y: FloatArray) -> list[int]:
        """Return the degrees whose library is affordable, far smaller than the samples, and does not overflow."""
        limit = min(self.max_terms if self.settings.loss == SQUARED else MOST_REWEIGHTED, len(X) // 4)
        highest = computable_degree(X, y, min(self.max_degree, limit))  # one input has as many monomials as its degree
        return [k for k in range(1, highest + 1) if monomial_count(X.shape[1], k) <= limit]

    def suits(self, X: FloatArray, y: FloatArray) -> bool:
        """Return whether any degree is affordable."""
        return bool(self.degrees(X, y))

    def choose(self, trial: Trial, rival: Scored | None = None) -> Chosen:
        """Return the smallest degree that is not worse than the best."""
        degrees = self.degrees(trial.X, trial.y) or [1]
        return trial.simplest_not_worse([partial(self.fit, degree=degree) for degree in degrees])

    def blocks(self, X: FloatArray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return splits of rows into those that are fitted and blocks that are held out."""
        return list(BlockedSplit(max(2, min(4, len(X) // 2)), gap=min(self.settings.gap, len(X) // 16)).split(X))

    def fit(self, X: FloatArray, y: FloatArray, weight: FloatArray, *, degree: int) -> PolynomialHead:
        """Fit a sparse polynomial; blocks held out of these rows choose the number of terms."""
        cv, counts = self.blocks(X), weight / weight.mean()
        options: dict[str, Any] = {
            "max_degree": degree,
            "cv": cv,
            "sample_weight": counts,
            "fewest_rows": min(ENOUGH_NONZERO, len(X) // ROWS_PER_NONZERO),
        }
        if self.settings.loss == SQUARED:
            # If rows were smoothed, and therefore need a gap, their errors are functions of the inputs.
            tolerance = EVIDENCE if self.settings.gap else TIE
            by_ratio = not any(map(repeats_itself, y.T))
            found = fit_polynomial(X, y, tolerance=tolerance, by_ratio=by_ratio, **options).polynomial
        else:
            found = fit_polynomial_under(self.settings.loss, X, y, **options)
        self.settings.on_fit()
        return PolynomialHead(found)


def computable_degree(X: FloatArray, y: FloatArray, max_degree: int) -> int:
    """Return the largest degree whose monomials of X (n, inputs), times y, do not overflow; zero if there is none."""
    extent = np.log10(max(np.abs(X).max(), 1.0 / Scaling.of(X).scale.min(), 1.0))
    most = 100 - np.log10(max(np.abs(y).max(), 1.0))
    if most <= 0:
        return 0
    return int(min(max_degree, np.ceil(most / extent) - 1)) if extent > 0 else max_degree
