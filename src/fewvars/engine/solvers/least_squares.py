"""Levenberg-Marquardt: damped Gauss-Newton steps on all samples, for models with few parameters."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import get_blas_funcs
from scipy.linalg.lapack import dposv

from fewvars._common.threads import single_blas_thread
from fewvars._common.validation import FloatArray, check_real, check_whole
from fewvars.engine.network import Layer
from fewvars.engine.samples import Samples
from fewvars.engine.solvers.outcome import Fit, Outcome

_LARGEST_DAMPING = 1e8


class LeastSquaresModel(Protocol):
    """The interface that `levenberg_marquardt` needs: a network, or any other function of few parameters."""

    def layers(self, theta: FloatArray) -> tuple[Layer, ...]:
        """Return views of the parameters; the ridge is on the weights of each."""

    def check_samples(self, samples: Samples, theta: FloatArray) -> None:
        """Raise an error if the samples do not fit the model."""

    def predict(self, theta: FloatArray, X: FloatArray) -> FloatArray:
        """Return predictions (n, outputs)."""

    def parameter_jacobian(self, theta: FloatArray, X: FloatArray) -> FloatArray:
        """Return the derivatives of the predictions by the parameters, (parameters, outputs, n)."""


def levenberg_marquardt(
    model: LeastSquaresModel,
    samples: Samples,
    *,
    theta: FloatArray,
    ridge: float = 1e-5,
    max_iterations: int = 100,
    tolerance: float = 1e-5,
    damping_factor: float = 4.0,
) -> Fit:
    """Minimise L + ridge sum_k |W_k|^2 over models of few parameters by damped Gauss-Newton steps from `theta`.

    A step solves (2/n J^T V J + 2 ridge + mu) step = -gradient (Marquardt, 1963), with V half the curvature of the
    loss: the identity for squared error. The damping mu falls by `damping_factor` after a step that lowers the
    objective and grows by it after one that does not: a small factor needs fewer iterations but tries more steps in
    each. The run ends when ten iterations together lower the objective by less than the relative tolerance.
    An iteration costs n p^2 operations for p parameters: the derivatives are in single precision, the residuals and
    the objective in double.
    """
    theta = np.asarray(theta, np.float64).copy()
    check_whole("max_iterations", max_iterations, minimum=0)
    check_real("damping_factor", damping_factor, minimum=1.0, strict=True)
    problem = _Problem.of(model, samples, theta, check_real("ridge", ridge))
    at, damping = problem.evaluate(theta), 1e-2
    values = [at.value]
    outcome = Outcome.EXHAUSTED if np.isfinite(at.value) else Outcome.DIVERGED
    for _ in range(max_iterations if outcome is Outcome.EXHAUSTED else 0):
        new, damping = _damped_descent(problem, at, damping, damping_factor)
        if new is None:
            outcome = Outcome.STALLED
            break
        at = new
        values.append(at.value)
        if len(values) > 10 and values[-11] - values[-1] < tolerance * values[-11]:
            outcome = Outcome.CONVERGED
            break
    return Fit(at.theta, np.array(values[1:]), len(values) - 1, outcome)


@dataclass(frozen=True, eq=False)
class _Point:
    theta: FloatArray
    value: float
    predicted: FloatArray


@dataclass(frozen=True, eq=False)
class _Problem:
    """The objective L + 1/2 sum_p penalised_p theta_p^2 of a model, and its quadratic approximations."""

    model: LeastSquaresModel
    samples: Samples
    single: FloatArray  # the inputs in single precision
    penalised: FloatArray

    @staticmethod
    def of(model: LeastSquaresModel, samples: Samples, theta: FloatArray, ridge: float) -> "_Problem":
        model.check_samples(samples, theta)
        penalised = np.zeros(theta.size)
        for layer in model.layers(penalised):
            layer.weights[:] = 2.0 * ridge
        return _Problem(model, samples, samples.X.astype(np.float32), penalised)

    def evaluate(self, theta: FloatArray) -> _Point:
        predicted = self.model.predict(theta, self.samples.X)
        value = self.samples.mean_loss(predicted) + float(0.5 * (self.penalised @ theta**2))
        return _Point(theta, value, predicted)

    def expand(self, at: _Point) -> tuple[FloatArray, FloatArray]:
        """Return the gradient and the upper triangle of the Gauss-Newton matrix; the ridge is in the former only."""
        loss, Y, weights = self.samples.loss, self.samples.Y, self.samples.weights
        curvatures = loss.curvatures(at.predicted, Y)
        residual = loss.derivatives(at.predicted, Y) / curvatures
        jacobian = self.model.parameter_jacobian(at.theta.astype(np.float32), self.single)
        halves = (weights[:, None] * (0.5 * curvatures)).astype(np.float32)
        gradient, matrix = normal_equations(jacobian, residual, halves)
        return gradient + self.penalised * at.theta, matrix.astype(np.float64)


def normal_equations(jacobian: FloatArray, residual: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return 2/n sum_ic v_ic J_ic r_ic and the upper triangle of 2/n sum_ic v_ic J_ic J_ic^T.

    The Jacobian (parameters, outputs, n) is overwritten; residual r and weights v (n, outputs).
    """
    n = len(weights)
    with single_blas_thread():
        roots = np.sqrt(weights)
        if weights.min() != 1 or weights.max() != 1:
            jacobian *= roots.T
        weighted = (residual * roots).T.ravel()
        rows = jacobian.reshape(len(jacobian), -1)
        gradient = (2.0 / n) * (rows @ weighted.astype(rows.dtype))
        # The transpose is in Fortran's order, so nothing is copied; syrk does half the work of a full product.
        (syrk,) = get_blas_funcs(("syrk",), (rows,))
        return gradient, syrk(2.0 / n, rows.T, trans=1)


def _damped_descent(problem: _Problem, at: _Point, damping: float, factor: float) -> tuple[_Point | None, float]:
    """Raise the damping until a step lowers the objective; return the new point, or None, and the next damping."""
    slope, matrix = problem.expand(at)
    while damping <= _LARGEST_DAMPING:
        new = problem.evaluate(at.theta + _damped_step(matrix, problem.penalised + damping, slope))
        if new.value < at.value:
            return new, max(damping / factor, 1e-10)
        damping *= factor
    return None, damping


def _damped_step(matrix: FloatArray, damping: FloatArray, slope: FloatArray) -> FloatArray:
    """Return -(matrix + diag(damping))^-1 slope, or zero if rounding has made the matrix indefinite."""
    damped = matrix.copy(order="F")
    np.einsum("ii->i", damped)[:] += damping
    with single_blas_thread():
        _, step, failed = dposv(damped, -slope, overwrite_a=True)
    return np.zeros_like(slope) if failed else step
