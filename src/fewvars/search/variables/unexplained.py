"""The residual of a model, and F-tests of whether further columns would explain some of it."""

from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc

from fewvars._common.validation import FloatArray

FEWEST_EFFECTIVE = 25  # rows that must carry a column for its scores to show their own variance


@dataclass(frozen=True, eq=False)
class Unexplained:
    """The residual of a model, and how much information it carries.

    Attributes
    ----------
    residual : (n, outputs)
        Orthogonal to the model.
    n_columns : int
        Of the model.
    n_rows : int
        Rows that count.
    block : int
        Rows that depend on each other: their scores are summed before their variance is estimated.
    labels : bool
        Whether outputs are labels. Those that a model is sure of say nothing more, so that only the rows that carry the
        residual count: a wave could otherwise explain the last five errors of a classifier "significantly".
    """

    residual: FloatArray
    n_columns: int
    n_rows: int
    block: int = 1
    labels: bool = False

    @property
    def degrees_of_freedom(self) -> int:
        """Rows less columns."""
        return self.n_rows - self.n_columns

    def p_value(self, basis: FloatArray) -> float:
        """Return the p-value of adding columns that are orthonormal to each other and to the model, (n, m)."""
        m = basis.shape[1]
        if m == 0 or (self.denominators(m) < 2).all():
            return 1.0
        explained = ((basis.T @ self.residual) ** 2).sum(axis=0)
        return float(self.combined(self.ratios(explained, m) / self.inflation(basis), m))

    def ratios(self, explained: FloatArray, m: int) -> FloatArray:
        """Return F ratios of m columns, given the sums of squares that they explain of each output (..., outputs)."""
        left = np.maximum((self.residual**2).sum(axis=0) - explained, 1e-300)
        return (explained / m) / (left / max(self.degrees_of_freedom - m, 1))

    def combined(self, ratios: FloatArray, m: int, denominators: FloatArray | None = None) -> FloatArray:
        """Return p-values of F ratios (..., outputs): the smallest over the outputs, times their number."""
        free = self.denominators(m) if denominators is None else denominators
        p = fdtrc(m, np.maximum(free, 1), ratios).min(axis=-1)
        return np.minimum(p * self.residual.shape[1], 1.0)

    def denominators(self, m: int) -> FloatArray:
        """Return the degrees of freedom of the variance of each output beside m more columns, (outputs,)."""
        rows = carrying_rows(self.residual) if self.labels else np.full(self.residual.shape[1], self.n_rows)
        free = np.minimum(rows, self.n_rows) - self.n_columns - m
        return free if self.block == 1 else np.minimum(free, self.n_rows // self.block - 1)

    def inflation(self, basis: FloatArray) -> FloatArray:
        """Return by how much the scores of a basis vary more than those of independent, equal errors, (outputs,).

        The errors are the residuals with the basis in the model, so that an effect does not inflate its own variance.
        """
        if self.block == 1 and effective_rows(basis) < FEWEST_EFFECTIVE:
            return np.ones(self.residual.shape[1])
        errors = self.residual - basis @ (basis.T @ self.residual)
        variance = (errors**2).sum(axis=0) / max(self.degrees_of_freedom - basis.shape[1], 1)
        scores = basis[:, :, None] * errors[:, None, :]
        sums = scores if self.block == 1 else np.add.reduceat(scores, np.arange(0, len(scores), self.block), axis=0)
        return np.maximum((sums**2).sum(axis=0).mean(axis=0) / np.maximum(variance, 1e-300), 1.0)


def carrying_rows(columns: FloatArray) -> FloatArray:
    """Return the number of rows that carry each column u, (sum u^2)^2 / sum u^4."""
    squares = columns * columns
    return squares.sum(axis=0) ** 2 / np.maximum((squares * squares).sum(axis=0), 1e-300)


def effective_rows(basis: FloatArray) -> float:
    """Return the smallest number of rows that carry a column of a basis."""
    return float(carrying_rows(basis).min(initial=np.inf))
