"""The data of a fit, checked and in suitable units, and the monomials to choose from."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewvars._common.validation import FloatArray
from fewvars.polynomials.compressed import Compressed, check_memory, compress
from fewvars.polynomials.polynomial import carried_monomials, monomial_exponents
from fewvars.polynomials.units import Units


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """Inputs (n, d) and outputs (n, k) in their units, weights (n,), exponents (m, d) without the constant."""

    X: FloatArray
    Y: FloatArray
    weight: FloatArray
    exponents: NDArray[np.int64]
    constant: bool
    units: Units

    @staticmethod
    def of(
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        max_degree: int,
        constant: bool,
        max_memory: float,
        fewest_rows: int = 0,
    ) -> "Problem":
        """Check the data and choose units; raise MemoryError before anything large is built."""
        inputs, outputs, weight = _checked(X, y, sample_weight)
        check_memory(*inputs.shape, max_degree=max_degree, outputs=outputs.shape[1], max_memory=max_memory)
        exponents = monomial_exponents(inputs.shape[1], max_degree, constant=False)
        exponents = carried_monomials(exponents, inputs, fewest_rows)
        units = Units.of(inputs, outputs, weight, max_degree, constant)
        return Problem(units.inputs(inputs), units.outputs(outputs), weight, exponents, constant, units)

    def without_origin(self, X: ArrayLike, max_degree: int) -> "Problem":
        """Return the problem for the raw inputs."""
        inputs = np.asarray(X, dtype=np.float64)
        units = self.units.without_origin(inputs, max_degree)
        return replace(self, X=units.inputs(inputs), units=units)

    def compressed(self, rows: slice | NDArray[np.intp]) -> Compressed:
        """Return the compressed least-squares problem of some rows."""
        return compress(self.X[rows], self.Y[rows], self.weight[rows], self.exponents, self.constant)


def _checked(X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return inputs (n, d), outputs (n, k) and weights (n,)."""
    inputs, outputs = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if inputs.ndim != 2 or outputs.ndim not in (1, 2) or len(outputs) != len(inputs) or inputs.size == 0:
        raise ValueError(f"X (n, d) and y (n,) or (n, k) do not fit: {inputs.shape}, {outputs.shape}.")
    if not (np.isfinite(inputs).all() and np.isfinite(outputs).all()):
        raise ValueError("X and y must be finite.")
    weight = np.ones(len(inputs)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (len(inputs),) or not (np.isfinite(weight) & (weight >= 0)).all():
        raise ValueError(f"sample_weight must hold {len(inputs)} finite numbers of at least zero.")
    if weight.sum() < min(2, len(inputs)):
        raise ValueError(
            f"sample_weight counts samples but sums to {weight.sum():g}; multiply normalised weights by n."
        )
    return inputs, outputs.reshape(len(outputs), -1), weight
