"""A polynomial of few linear combinations of the inputs, fitted jointly with these combinations."""

from dataclasses import dataclass

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.losses import SQUARED
from fewvars.engine.network import Layer
from fewvars.engine.samples import Samples
from fewvars.engine.solvers.reweighted import reweighted_least_squares
from fewvars.polynomials.polynomial import monomial_exponents, monomial_values

_RIDGE = 1e-6  # times the number of rows, under other losses than squared error


@dataclass(frozen=True, eq=False)
class RidgePolynomial:
    """F(x) = sum_i c_i prod_j z_j^e_ij with z = D x, as one flat parameter vector (D, c).

    It has the methods that `fewvars.solvers.levenberg_marquardt` needs.

    Parameters
    ----------
    n_inputs : int
    exponents : (terms, k)
        e, one monomial of the k combinations a row.
    n_outputs : int
    """

    n_inputs: int
    exponents: np.ndarray
    n_outputs: int = 1

    @staticmethod
    def of(n_inputs: int, k: int, degree: int, n_outputs: int = 1, *, last_linear: bool = False) -> "RidgePolynomial":
        """Use all monomials up to a degree; with `last_linear` the last combination occurs only as a linear term."""
        exponents = monomial_exponents(k, degree)
        if last_linear:
            exponents = exponents[(exponents[:, -1] == 0) | (exponents.sum(axis=1) == 1)]
        return RidgePolynomial(n_inputs, exponents, n_outputs)

    @property
    def n_parameters(self) -> int:
        """Length of the parameter vector."""
        return self.exponents.shape[1] * self.n_inputs + len(self.exponents) * self.n_outputs

    def layers(self, theta: FloatArray) -> tuple[Layer, Layer]:
        """Return views: D (k, d) and c (outputs, terms), each with no biases."""
        cut = self.exponents.shape[1] * self.n_inputs
        directions = theta[:cut].reshape(-1, self.n_inputs)
        return Layer(directions, theta[:0]), Layer(theta[cut:].reshape(self.n_outputs, -1), theta[:0])

    def start(self, directions: FloatArray, samples: Samples) -> FloatArray:
        """Return the parameters with these directions (k, d) and the best coefficients for them."""
        values = monomial_values(samples.X.astype(float) @ directions.T, self.exponents)
        if samples.loss == SQUARED:
            roots = np.sqrt(samples.weights.astype(float))[:, None]
            coefficients = np.linalg.lstsq(values * roots, samples.Y * roots, rcond=1e-10)[0]
        else:
            ridge = _RIDGE * len(values)
            coefficients = reweighted_least_squares(values, samples.Y, samples.weights, samples.loss, ridge=ridge)
        return np.concatenate([directions.ravel(), coefficients.T.ravel()])

    def predict(self, theta: FloatArray, X: FloatArray) -> FloatArray:
        """Return F(X), (n, outputs)."""
        directions, coefficients = (layer.weights for layer in self.layers(theta))
        return monomial_values(X @ directions.T, self.exponents) @ coefficients.T

    def input_jacobian(self, theta: FloatArray, X: FloatArray) -> FloatArray:
        """Return dF_c / dx_j at every sample, (n, outputs, d)."""
        directions = self.layers(theta)[0].weights
        return np.einsum("kcn,kd->ncd", self._by_combination(theta, X @ directions.T), directions)

    def _by_combination(self, theta: FloatArray, Z: FloatArray) -> FloatArray:
        """Return the derivatives by the combinations at Z (n, k): (k, outputs, n)."""
        coefficients = self.layers(theta)[1].weights
        out = np.empty((Z.shape[1], self.n_outputs, len(Z)), Z.dtype)
        for j, exponents in enumerate(self.exponents.T):
            lowered = self.exponents.copy()
            lowered[:, j] = np.maximum(exponents - 1, 0)
            out[j] = (coefficients * exponents) @ monomial_values(Z, lowered).T
        return out

    def parameter_jacobian(self, theta: FloatArray, X: FloatArray) -> FloatArray:
        """Return the derivatives by the parameters at every sample, (parameters, outputs, n)."""
        directions = self.layers(theta)[0].weights
        Z = X.astype(np.float64) @ directions.T
        by_direction = self._by_combination(theta, Z)[:, None] * X.T[:, None]  # (k, d, outputs, n)
        n, outputs = len(Z), self.n_outputs
        jacobian = np.zeros((self.n_parameters, outputs, n), theta.dtype)
        jacobian[: directions.size] = by_direction.reshape(directions.size, outputs, n)
        by_coefficient = jacobian[directions.size :].reshape(outputs, -1, outputs, n)
        for c in range(outputs):
            by_coefficient[c, :, c] = monomial_values(Z, self.exponents).T
        return jacobian

    def check_samples(self, samples: Samples, theta: FloatArray) -> None:
        """Raise an error if parameters or samples have the wrong shape."""
        if theta.shape != (self.n_parameters,) or samples.X.shape[1] != self.n_inputs:
            raise ValueError(
                f"theta has shape {theta.shape} and X {samples.X.shape}: this polynomial needs "
                f"({self.n_parameters},) and {self.n_inputs} columns."
            )
