"""The choice of a head in weak form, which compares measured averages over windows of time.

A polynomial is linear in its coefficients, so that it is fitted to the averages themselves. Networks are fitted to
derivatives of the smoothed trajectory, and only scored by averages.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.losses import SQUARED
from fewvars.heads.averages import Averages
from fewvars.heads.head import Head
from fewvars.heads.kind import HeadSettings, Trial
from fewvars.heads.mean import MeanHead
from fewvars.heads.network import NetworkHead, Networks
from fewvars.heads.polynomial import PolynomialHead, Polynomials
from fewvars.heads.steps import StepsHead
from fewvars.polynomials.dictionary import fit_polynomial
from fewvars.polynomials.polynomial import Polynomial, monomial_count, monomial_exponents, monomial_values
from fewvars.polynomials.units import Units
from fewvars.search.held_out import EVIDENCE, HeldOut, Predictor, RowLoss, Scored

MOST_TERMS = 300
NEGLIGIBLE = 1e-6  # squared error over the variance of y
# Errors up to this many times what noise leaves are good enough: errors of smoothed inputs may explain the rest.
TIMES_NOISE = 2.0
SIMILAR = 1.5  # times the smallest error
LARGEST_SUM = 1e4  # of the spreads of the terms, over that of y: terms that cancel so much cannot be trusted
WORTHWHILE = 0.5  # of the error of a simpler function, which a more flexible one must not exceed


@dataclass(frozen=True, eq=False, kw_only=True)
class HeldOutAverages(HeldOut):
    """Held-out windows: a function is fitted to samples, and its averages over windows are compared."""

    averages: Averages

    def score(
        self,
        fit: Callable[[int, np.ndarray], Predictor],
        X: FloatArray,
        Y: FloatArray,
        sample_weight: FloatArray,
        loss: RowLoss = SQUARED,
    ) -> Scored:
        """Fit the samples of the training windows of each split, and score the averages over its held-out windows."""
        data = self.averages
        models = tuple(fit(k, data.training_samples(train)) for k, (train, _) in enumerate(self.splits))
        losses = tuple(
            data.loss.values(data.windows[test] @ model.predict(X), data.y[test])
            for model, (_, test) in zip(models, self.splits, strict=True)
        )
        return Scored(models, losses, self.piece_errors(losses, data.weight))


def choose_weak_head(
    X: FloatArray,
    data: Averages,
    settings: HeadSettings,
    *,
    head: str = "auto",
    noise: float = 0.0,
    polynomial: tuple[PolynomialHead, FloatArray] | None = None,
) -> tuple[Head, dict[str, float]]:
    """Return the head on inputs X (samples, inputs), and the held-out error of each kind that was tried.

    Others than polynomials are tried only if polynomials leave more than twice what noise leaves, and not next to
    nothing: first sums of steps, then networks. Each is chosen if it halves the error of the one before: errors of
    smoothed inputs are functions of the state, and flexible functions follow them.

    Parameters
    ----------
    noise : float
        Variance of the errors of the averages, over the variance of the averages.
    polynomial : tuple, optional
        What `WeakPolynomials` chooses, if that is known already.
    """
    if not X.shape[1]:
        return MeanHead.fit(X, data.y, data.weight), {}
    held_out, first = data.held_out, data.held_out.first()
    tried: dict[str, FloatArray] = {}
    best: Head | None = None
    if head in ("auto", PolynomialHead.name):
        best, errors = polynomial or WeakPolynomials.of(X, data, settings).choose(noise)
        if head != "auto" or held_out.mean(errors) <= max(TIMES_NOISE * noise, NEGLIGIBLE):
            return best, {PolynomialHead.name: held_out.mean(errors)}
        tried[PolynomialHead.name] = errors[: first.weights.size]
    if head == "auto" and StepsHead.suits(X, data):
        steps, others = StepsHead.fit(X, data)
        tried[StepsHead.name] = others[: first.weights.size]
        if held_out.mean(others) <= WORTHWHILE * held_out.mean(errors):
            best = steps
    rival = None if best is None else Scored((), (), tried[best.name])
    scored = HeldOutAverages(first.splits, first.labels, first.weights, averages=data)
    ones = np.ones(len(X))
    kind = replace(Networks.of(settings), widths=((10, 10),), n_networks=4, rows_per_parameter=20)  # one per equation
    networks = kind.choose(Trial(X, data.derivative, ones, scored), rival)
    tried[NetworkHead.name] = networks.errors
    if best is None or first.mean(networks.errors) <= WORTHWHILE * first.mean(tried[best.name]):
        best = networks.fit(X, data.derivative, ones)
    return best, {name: first.mean(errors) for name, errors in tried.items()}


@dataclass(frozen=True, eq=False)
class WeakPolynomials:
    """Sparse polynomials fitted to averages.

    Attributes
    ----------
    data : Averages
    columns : (windows, terms) averages of all monomials but the constant
    exponents : (terms, inputs) of the monomials, lower degrees first
    origin : (inputs,) what the monomials are centred at
    settings : HeadSettings
    """

    data: Averages
    columns: FloatArray
    exponents: np.ndarray
    origin: FloatArray
    settings: HeadSettings

    @classmethod
    def of(
        cls, X: FloatArray, data: Averages, settings: HeadSettings, lines: np.ndarray | None = None
    ) -> "WeakPolynomials":
        """Average all monomials of X (samples, inputs) up to the largest degree that is affordable.

        Parameters
        ----------
        lines : (inputs,) bool, optional
            Inputs that enter by a line each, and not in products.
        """
        bent = np.ones(X.shape[1], bool) if lines is None else ~lines
        own = X[data.centres][:, bent]
        degree = max(replace(Polynomials.of(settings), max_terms=MOST_TERMS).degrees(own, data.y), default=1)
        monomials = np.zeros((monomial_count(own.shape[1], degree, constant=False), bent.size), np.int64)
        monomials[:, bent] = monomial_exponents(own.shape[1], degree, constant=False)
        exponents = np.vstack([np.eye(bent.size, dtype=np.int64)[~bent], monomials])
        origin = Units.of(X, data.derivative, np.ones(len(X)), degree, True).x_origin
        return cls(data, data.windows @ monomial_values(X - origin, exponents), exponents, origin, settings)

    @property
    def degrees(self) -> range:
        """The degrees to compare."""
        return range(1, int(self.exponents.sum(axis=1).max()) + 1)

    def choose(self, noise: float) -> tuple[PolynomialHead, FloatArray]:
        """Return the polynomial of the smallest degree that is not worse than the best, and its errors (pieces,).

        Higher degrees can follow the errors of smoothed inputs, which are functions of the state. So a degree that
        leaves little more than noise (a share of the variance of y) is enough, unless another leaves much less; and so
        is one that leaves next to nothing.

        The terms of each degree are chosen on all windows. The errors are those of these terms, fitted again without
        the windows held out: a part of few windows would often choose others, and miss rare events.
        """
        held_out = self.data.held_out
        fits = [self._linear(degree) for degree in self.degrees]
        fits = [fit for fit in fits if not self._cancels(fit)] or fits[:1]
        errors = [self._errors(fit) for fit in fits]
        means = [held_out.mean(error) for error in errors]
        little = max(min(TIMES_NOISE * noise, SIMILAR * min(means)), NEGLIGIBLE)
        enough = [k for k, mean in enumerate(means) if mean <= little]
        good = [k for k, mean in enumerate(means) if mean <= 2 * min(means)]  # others miss rare events
        k = enough[0] if enough else good[held_out.smallest_not_worse([errors[k] for k in good])]
        return self._head(fits[k]), errors[k]

    def _linear(self, degree: int) -> Polynomial:
        """Return a sparse sum of the columns up to a degree; held-out windows choose the number of terms."""
        data = self.data
        own = int((self.exponents.sum(axis=1) <= degree).sum())
        found = fit_polynomial(
            self.columns[:, :own],
            data.y,
            max_degree=1,
            cv=data.held_out.splits,
            tolerance=EVIDENCE,
            sample_weight=data.weight / data.weight.mean(),
        )
        return found.polynomial

    def _cancels(self, found: Polynomial) -> bool:
        """Return whether a sum of columns is the small difference of large terms."""
        columns = monomial_values(self.columns[:, : found.exponents.shape[1]] - found.origin, found.exponents)
        spread = (columns.std(axis=0) * np.abs(found.coefficients[:, 0])).sum()
        return bool(spread > LARGEST_SUM * self.data.y.std())

    def _errors(self, found: Polynomial) -> FloatArray:
        """Return the held-out errors (pieces,) of the terms of a sum of columns, fitted to the other windows."""
        data, held_out = self.data, self.data.held_out
        columns = monomial_values(self.columns[:, : found.exponents.shape[1]], found.exponents)
        columns /= np.abs(columns).max(axis=0)
        root = np.sqrt(data.weight)[:, None]
        losses = []
        for train, test in held_out.splits:
            coefficients = np.linalg.lstsq(root[train] * columns[train], root[train] * data.y[train], rcond=None)[0]
            losses.append(data.loss.values(columns[test] @ coefficients, data.y[test]))
        return held_out.piece_errors(losses, data.weight)

    def _head(self, linear: Polynomial) -> PolynomialHead:
        """Return the polynomial of the inputs that a sum of columns is."""
        exponents = linear.exponents @ self.exponents[: linear.exponents.shape[1]]
        coefficients = linear.coefficients.copy()
        if linear.origin.any():  # columns were shifted: that changes the constant
            shift = -(linear.exponents @ linear.origin) @ coefficients
            constant = ~exponents.any(axis=1)
            if constant.any():
                coefficients[constant] += shift
            else:
                exponents = np.vstack([np.zeros((1, exponents.shape[1]), int), exponents])
                coefficients = np.vstack([shift, coefficients])
        return PolynomialHead(Polynomial(exponents, coefficients, linear.digits, self.origin))
