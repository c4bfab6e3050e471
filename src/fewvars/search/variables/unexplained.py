"""The residual of a model, and F-tests of whether further columns would explain some of it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import fdtrc

from fewvars._common.validation import FloatArray

FEWEST_EFFECTIVE = 25  # rows that must carry a column for its scores to show their own variance
_LEAST = 1e-6  # square of what is new in a column of length one, below which it counts as spanned by others


@dataclass(frozen=True, eq=False)
class Bases:
    """Orthonormal bases of what each of several terms adds to a model.

    Attributes
    ----------
    rows : (terms, m, n)
        The columns of the bases; zero where a term adds fewer than m.
    sizes : (terms,)
        Number of columns of each.
    """

    rows: FloatArray
    sizes: np.ndarray

    @classmethod
    def of(cls, rest: FloatArray) -> "Bases":
        """Return bases of the spans of columns (terms, m, n) that were of length one before the projection."""
        gram = rest @ rest.transpose(0, 2, 1)
        if rest.shape[1] == 1:
            squares, vectors = gram[:, 0], np.ones_like(gram)
        else:
            squares, vectors = np.linalg.eigh(gram)  # unlike `svd`, it always converges
        large = squares > _LEAST
        scales = np.where(large, 1.0 / np.sqrt(np.where(large, squares, 1.0)), 0.0)
        return cls((vectors * scales[:, None]).transpose(0, 2, 1) @ rest, large.sum(axis=1))

    @cached_property
    def squares(self) -> FloatArray:
        """The squares of the rows, (terms, m, n)."""
        return self.rows * self.rows

    @cached_property
    def effective_rows(self) -> FloatArray:
        """The smallest number of rows of the data that carry a column of each basis, (terms,)."""
        fourth = np.einsum("tmn,tmn->tm", self.squares, self.squares)
        return 1.0 / np.maximum(fourth.max(axis=1, initial=0.0), 1e-300)


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

    @cached_property
    def _total(self) -> FloatArray:
        """The sum of the squares of each output, (outputs,)."""
        return (self.residual**2).sum(axis=0)

    @cached_property
    def _rows(self) -> FloatArray:
        """The number of rows that count for each output, (outputs,): those that carry the residuals of labels."""
        n_rows = np.full(self.residual.shape[1], self.n_rows)
        return np.minimum(carrying_rows(self.residual), n_rows) if self.labels else n_rows

    def p_values(self, bases: Bases) -> FloatArray:
        """Return the p-values (terms,) of adding each of some bases that are orthogonal to the model."""
        m = bases.sizes[:, None]
        explained = ((bases.rows @ self.residual) ** 2).sum(axis=1)
        found = self.combined(self.ratios(explained, np.maximum(m, 1)) / self.inflation(bases), np.maximum(m, 1))
        return np.where((m[:, 0] == 0) | (self.denominators(m) < 2).all(axis=-1), 1.0, found)

    def ratios(self, explained: FloatArray, m: int | np.ndarray) -> FloatArray:
        """Return F ratios of m columns, given the sums of squares that they explain of each output (..., outputs)."""
        left = np.maximum(self._total - explained, 1e-300)
        return (explained / m) / (left / np.maximum(self.degrees_of_freedom - m, 1))

    def combined(self, ratios: FloatArray, m: int | np.ndarray, denominators: FloatArray | None = None) -> FloatArray:
        """Return p-values of F ratios (..., outputs): the smallest over the outputs, times their number."""
        free = self.denominators(m) if denominators is None else denominators
        p = fdtrc(m, np.maximum(free, 1), ratios).min(axis=-1)
        return np.minimum(p * self.residual.shape[1], 1.0)

    def denominators(self, m: int | np.ndarray) -> FloatArray:
        """Return the degrees of freedom of the variance of each output beside m more columns, (..., outputs)."""
        free = self._rows - self.n_columns - m
        return free if self.block == 1 else np.minimum(free, self.n_rows // self.block - 1)

    def inflation(self, bases: Bases) -> FloatArray:
        """Return by how much the scores of bases vary more than those of independent, equal errors, (terms, outputs).

        The errors are the residuals with the basis in the model, so that an effect does not inflate its own variance.
        """
        m = np.maximum(bases.sizes, 1)[:, None]
        errors = self.residual - bases.rows.transpose(0, 2, 1) @ (bases.rows @ self.residual)
        variance = (errors**2).sum(axis=1) / np.maximum(self.degrees_of_freedom - m, 1)
        if self.block == 1:
            sums = (bases.squares.sum(axis=1)[:, None] @ errors**2)[:, 0]
        else:
            scores = bases.rows[..., None] * errors[:, None]
            sums = (np.add.reduceat(scores, np.arange(0, len(errors[0]), self.block), axis=2) ** 2).sum(axis=(1, 2))
        trusted = (self.block > 1) | (bases.effective_rows >= FEWEST_EFFECTIVE)[:, None]
        return np.where(trusted, np.maximum(sums / m / np.maximum(variance, 1e-300), 1.0), 1.0)


def carrying_rows(columns: FloatArray) -> FloatArray:
    """Return the number of rows that carry each column u, (sum u^2)^2 / sum u^4."""
    squares = columns * columns
    return squares.sum(axis=0) ** 2 / np.maximum((squares * squares).sum(axis=0), 1e-300)
