"""Functions of few linear combinations of the inputs, g(Dx): networks and polynomials, fitted jointly with D."""

from dataclasses import dataclass, replace

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.network import Network
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import levenberg_marquardt
from fewvars.search.directions.ridge_polynomial import RidgePolynomial


@dataclass(frozen=True, eq=False)
class RidgeFunction:
    """F(x) = g(Dx) on standardised inputs: a model, whose first layer is D, and its parameters."""

    model: Network | RidgePolynomial
    theta: FloatArray

    @property
    def directions(self) -> FloatArray:
        """D, (k, d)."""
        return self.model.layers(self.theta)[0].weights

    def predict(self, X: FloatArray) -> FloatArray:
        """Return F(X), (n, outputs)."""
        return self.model.predict(self.theta, X)

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return dF_c / dx_j, (n, outputs, d)."""
        return self.model.input_jacobian(self.theta, X)


@dataclass(frozen=True)
class NetworkForm:
    """g is a network, fitted first for given combinations, then jointly with them."""

    widths: tuple[int, ...] = (10, 10)
    activation: str = "tanh"
    ridge: float = 1e-4
    max_iterations: int = 40
    seed: int = 0

    def fit(self, samples: Samples, directions: FloatArray) -> RidgeFunction:
        """Fit to samples (n, d), starting from directions (k, d)."""
        samples = samples.for_jacobian(directions.size + 10 * sum(self.widths))
        start = unit_variance(directions, samples)
        k, (d, outputs) = len(start), (samples.X.shape[1], samples.Y.shape[1])
        inner = Network(k, self.widths, outputs, self.activation)
        combined = replace(samples, X=samples.X @ start.T)
        alone = levenberg_marquardt(
            inner,
            combined,
            theta=inner.initialise(self.seed),
            ridge=self.ridge,
            max_iterations=self.max_iterations,
        )
        network = Network(d, (k, *self.widths), outputs, ("identity", *(self.activation,) * len(self.widths)))
        theta = np.concatenate([start.ravel(), np.zeros(k), alone.theta])
        joint = levenberg_marquardt(network, samples, theta=theta, ridge=self.ridge, max_iterations=self.max_iterations)
        return RidgeFunction(network, joint.theta)

    def restarts(self, n: int) -> "list[NetworkForm]":
        """Return the form with n different random starts."""
        return [replace(self, seed=self.seed + k) for k in range(n)]

    def with_last_linear(self) -> "NetworkForm":
        """Return the form itself: a network has no linear version of its last combination."""
        return self


@dataclass(frozen=True)
class PolynomialForm:
    """g is a polynomial of some degree; with `last_linear` the last combination enters only as a linear term."""

    degree: int = 2
    last_linear: bool = False
    ridge: float = 1e-6
    max_iterations: int = 40

    def fit(self, samples: Samples, directions: FloatArray) -> RidgeFunction:
        """Fit to samples (n, d), starting from directions (k, d)."""
        k, d = directions.shape
        model = RidgePolynomial.of(d, k, self.degree, samples.Y.shape[1], last_linear=self.last_linear)
        samples = samples.for_jacobian(model.n_parameters)
        theta = model.start(unit_variance(directions, samples), samples)
        found = levenberg_marquardt(model, samples, theta=theta, ridge=self.ridge, max_iterations=self.max_iterations)
        return RidgeFunction(model, found.theta)

    def restarts(self, n: int) -> "list[PolynomialForm]":
        """Return the form alone: its fit does not start at random."""
        return [self]

    def with_last_linear(self) -> "PolynomialForm":
        """Return the form whose last combination enters only as a linear term."""
        return replace(self, last_linear=True)


Form = NetworkForm | PolynomialForm


def unit_variance(directions: FloatArray, samples: Samples) -> FloatArray:
    """Scale directions (k, d) so that each combination has variance one."""
    spread = np.sqrt(np.average((samples.X @ directions.T) ** 2, axis=0, weights=samples.weights))
    return directions / np.where(spread > 0, spread, 1.0)[:, None]
