"""The function on the selected variables: an average of refitted networks, or a sparse polynomial."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fewvars._common.threads import in_threads
from fewvars._common.validation import FloatArray
from fewvars.engine.network import Network, Samples
from fewvars.engine.solvers import levenberg_marquardt
from fewvars.polynomials.dictionary import fit_polynomial
from fewvars.polynomials.polynomial import Polynomial, monomial_count
from fewvars.search.held_out import HeldOut
from fewvars.series.scaling import Scaling
from fewvars.series.splits import BlockedSplit


@dataclass(frozen=True, eq=False)
class NetworkHead:
    """The mean of networks on standardised variables.

    Attributes
    ----------
    network : Network
    thetas : (networks, n_parameters)
    inputs, outputs : Scaling
    ridge : float
    """

    network: Network
    thetas: FloatArray
    inputs: Scaling
    outputs: Scaling
    ridge: float

    def predict(self, X: FloatArray) -> FloatArray:
        """Return predictions (n, outputs) at the selected variables X (n, variables)."""
        Z = self.inputs.apply(X)
        return self.outputs.undo(np.mean([self.network.predict(theta, Z) for theta in self.thetas], axis=0))

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return derivatives (n, outputs, variables)."""
        Z = self.inputs.apply(X)
        mean = np.mean([self.network.input_jacobian(theta, Z) for theta in self.thetas], axis=0)
        return mean * self.outputs.scale[:, None] / self.inputs.scale


@dataclass(frozen=True, eq=False)
class DictionaryHead:
    """A sparse polynomial in the user's units, coefficients (terms, outputs)."""

    polynomial: Polynomial

    def predict(self, X: FloatArray) -> FloatArray:
        """Return predictions (n, outputs) at the selected variables X (n, variables)."""
        return self.polynomial.predict(X)

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return derivatives (n, outputs, variables)."""
        return self.polynomial.gradient(X)


@dataclass(frozen=True, eq=False)
class MeanHead:
    """No variables: the mean (outputs,)."""

    mean: FloatArray

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the mean for every row, (n, outputs)."""
        return np.tile(self.mean, (len(X), 1))

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return nothing: there are no variables, (n, outputs, 0)."""
        return np.zeros((len(X), self.mean.size, 0))


Head = NetworkHead | DictionaryHead | MeanHead


@dataclass(frozen=True)
class HeadFit:
    """How heads are fitted.

    Networks: Levenberg-Marquardt in double precision, averaged over starts; the widths and the ridge are
    those that do best on the held-out blocks. Polynomials: of all degrees up to `max_degree` whose library
    has at most `max_terms` monomials, the smallest that is not worse than the best there.
    """

    widths: tuple[tuple[int, ...], ...] = ((10,), (10, 10, 10))
    activation: str = "tanh"
    ridges: tuple[float, ...] = (1e-6, 1e-5, 1e-4, 1e-3)
    max_iterations: int = 60
    n_networks: int = 8
    max_jacobian: float = 4e7
    max_degree: int = 4
    max_terms: int = 1000
    seed: int = 0
    n_jobs: int | None = None
    on_fit: Callable[[], None] = lambda: None

    def network_head(
        self, X: FloatArray, y: FloatArray, weight: FloatArray, widths: tuple[int, ...], ridge: float
    ) -> NetworkHead:
        """Fit networks to X (n, variables), y (n, outputs); of very many rows, only to every second, third, ..."""
        network = Network(X.shape[1], widths, y.shape[1], self.activation)
        inputs, outputs = Scaling.of(X, weight), Scaling.of(y, weight)
        samples = Samples.of(inputs.apply(X), outputs.apply(y), weight).for_jacobian(
            network.n_parameters, self.max_jacobian
        )

        def theta(seed: int) -> FloatArray:
            start = network.initialise(seed)
            found = levenberg_marquardt(network, samples, theta=start, ridge=ridge, max_iterations=self.max_iterations)
            self.on_fit()
            return found.theta

        thetas = in_threads(theta, range(self.seed, self.seed + self.n_networks), self.n_jobs)
        return NetworkHead(network, np.array(thetas), inputs, outputs, ridge)

    def dictionary_head(
        self, X: FloatArray, y: FloatArray, weight: FloatArray, degree: int, gap: int
    ) -> DictionaryHead:
        """Fit a sparse polynomial; its own blocks, inside these rows, choose how sparse."""
        splits = BlockedSplit(max(2, min(4, len(X) // 2)), gap=min(gap, len(X) // 16))
        counts = weight / weight.mean()
        fit = fit_polynomial(X, y, degree=degree, splits=list(splits.split(X)), sample_weight=counts)
        self.on_fit()
        return DictionaryHead(fit.polynomial)

    def degrees(self, X: FloatArray, y: FloatArray) -> list[int]:
        """Return the degrees whose library is affordable, far smaller than the samples, and does not overflow."""
        limit = min(self.max_terms, len(X) // 4)
        extent = np.log10(max(np.abs(X).max(), 1.0 / Scaling.of(X).scale.min(), 1.0))
        most = 100 - np.log10(max(np.abs(y).max(), 1.0))
        return [
            k for k in range(1, self.max_degree + 1) if monomial_count(X.shape[1], k) <= limit and k * extent < most
        ]


def held_out_errors(
    fit: Callable[[FloatArray, FloatArray, FloatArray], Head],
    X: FloatArray,
    y: FloatArray,
    weight: FloatArray,
    held_out: HeldOut,
) -> FloatArray:
    """Return the errors (pieces,) of a head fitted to the training rows, in units of the variance of y."""
    scaling = Scaling.of(y, weight)
    n_varying = max(int((~scaling.constant).sum()), 1)
    squared = []
    for train, test in held_out.splits:
        head = fit(X[train], y[train], weight[train])
        squared.append((((head.predict(X[test]) - y[test]) / scaling.scale) ** 2).sum(axis=1) / n_varying)
    return held_out.piece_errors(squared, weight)


@dataclass(frozen=True, eq=False)
class HeadChoice:
    """Which head does best on the held-out blocks, and the errors (pieces,) of the best of each kind tried."""

    recipe: HeadFit
    kind: str
    degree: int
    shape: tuple[tuple[int, ...], float]
    errors: dict[str, FloatArray]
    gap: int

    def fit(self, X: FloatArray, y: FloatArray, weight: FloatArray) -> Head:
        """Fit it to X (n, variables), y (n, outputs)."""
        if self.kind == "network":
            return self.recipe.network_head(X, y, weight, *self.shape)
        return self.recipe.dictionary_head(X, y, weight, self.degree, self.gap)


def choose_head(
    kind: str, recipe: HeadFit, X: FloatArray, y: FloatArray, weight: FloatArray, held_out: HeldOut, gap: int
) -> HeadChoice:
    """Choose the head that does best on the held-out blocks; in a tie, the polynomial.

    Parameters
    ----------
    kind : {"auto", "network", "dictionary"}
    X : (n, variables) the selected variables
    y : (n, outputs)
    gap : int
        Rows between the blocks that choose the sparsity of a polynomial.
    """
    degrees = recipe.degrees(X, y) if kind != "network" else []
    if kind == "dictionary" and not degrees:
        degrees = [1]
    errors: dict[str, FloatArray] = {}
    degree, shape = 1, (recipe.widths[0], recipe.ridges[0])
    if degrees:
        tried = [
            held_out_errors(partial(recipe.dictionary_head, degree=k, gap=gap), X, y, weight, held_out) for k in degrees
        ]
        chosen = held_out.smallest_not_worse(tried)
        degree, errors["dictionary"] = degrees[chosen], tried[chosen]
    if kind != "dictionary":
        shape, errors["network"] = _network_shape(recipe, X, y, weight, held_out, errors.get("dictionary"))
    if len(errors) == 2 and not held_out.not_worse(errors["dictionary"], errors["network"]):
        winner = "network"
    else:
        winner = next(iter(errors))
    return HeadChoice(recipe, winner, degree, shape, errors, gap)


def _network_shape(
    recipe: HeadFit, X: FloatArray, y: FloatArray, weight: FloatArray, held_out: HeldOut, rival: FloatArray | None
) -> tuple[tuple[tuple[int, ...], float], FloatArray]:
    """Return the widths and the ridge that suit best, and their errors; a rough look if the rival wins anyway.

    The widths are compared at one ridge. Of the ridges the smallest is taken that is not worse than the best: what
    one network gains by a larger one, the average over networks has already.
    """
    quick = replace(
        recipe, n_networks=1, max_iterations=recipe.max_iterations // 2, max_jacobian=recipe.max_jacobian / 4, n_jobs=1
    )

    def errors_of(shape: tuple[tuple[int, ...], float]) -> FloatArray:
        fit = partial(quick.network_head, widths=shape[0], ridge=shape[1])
        return held_out_errors(fit, X, y, weight, held_out)

    middle = recipe.ridges[len(recipe.ridges) // 2]
    looks = in_threads(errors_of, [(widths, middle) for widths in recipe.widths], recipe.n_jobs)
    best = min(range(len(looks)), key=lambda k: held_out.mean(looks[k]))
    widths, errors = recipe.widths[best], looks[best]
    if rival is not None and held_out.better(rival, errors):
        return (widths, middle), errors
    others = [ridge for ridge in recipe.ridges if ridge != middle]
    found = dict(zip(others, in_threads(errors_of, [(widths, ridge) for ridge in others], recipe.n_jobs), strict=True))
    found[middle] = errors
    reference = min(found.values(), key=held_out.mean)
    ridge = min(ridge for ridge, e in found.items() if held_out.not_worse(e, reference))
    return (widths, ridge), found[ridge]
