"""Ridge regressions with some rows left out, for any of many columns, from Gram matrices that are made once.

With F the columns, G = F'F and r = F'y over all rows, leaving out rows B needs only
(G - F_B'F_B + strength n I)^-1 (r - F_B'y_B), and a choice of columns only these rows and columns of the matrices.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import final

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.search.held_out import HeldOut, RowLoss
from fewvars.search.variables.terms import Term, Terms

Split = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Design:
    """A constant and the columns of terms, with mean square one.

    Attributes
    ----------
    mask : (groups,) bool
        The groups whose terms are there.
    columns : (n, m)
    terms : tuple of Term
    widths : tuple of int
        Number of columns of each term.
    sizes : (m,)
        What the columns were divided by.
    """

    mask: np.ndarray
    columns: FloatArray
    terms: tuple[Term, ...]
    widths: tuple[int, ...]
    sizes: FloatArray

    @classmethod
    def of(cls, terms: Terms, mask: np.ndarray, single: Sequence[str], paired: Sequence[str]) -> "Design":
        """Collect all terms of these kinds of single groups of a mask (groups,), and of pairs of them."""
        groups = np.flatnonzero(mask).tolist()
        chosen = [Term(kind, (group,)) for group in groups for kind in single]
        chosen += [Term(kind, pair) for pair in combinations(groups, 2) for kind in paired]
        widths = tuple(terms.columns(term).shape[1] for term in chosen)
        return cls.scaled(mask, terms.design(chosen), tuple(chosen), widths)

    @classmethod
    def scaled(
        cls, mask: np.ndarray, columns: FloatArray, terms: tuple[Term, ...], widths: tuple[int, ...]
    ) -> "Design":
        """Scale the columns, a constant among them."""
        sizes = np.sqrt(np.einsum("ij,ij->j", columns, columns) / len(columns))
        sizes = np.where(sizes > 0, sizes, 1.0)
        return cls(mask, columns / sizes, terms, widths, sizes)

    def places(self, mask: np.ndarray) -> np.ndarray:
        """Return which columns only groups of a mask (groups,) occur in; the constant always."""
        inside = [all(mask[group] for group in term.groups) for term in self.terms]
        return np.flatnonzero(np.r_[True, np.repeat(inside, self.widths).astype(bool)])


@dataclass(frozen=True, eq=False)
class RidgeEquations(ABC):
    """Ridge regressions on some columns of a design, fitted to the training rows of each split.

    Attributes
    ----------
    design : Design
    Y : (n, outputs), double precision
    weights : (n,), double precision
    splits : tuple of (train, test) row numbers
    """

    design: Design
    Y: FloatArray
    weights: FloatArray
    splits: tuple[Split, ...]

    @abstractmethod
    def coefficients(self, mask: np.ndarray, strengths: Sequence[float]) -> FloatArray:
        """Return the fits to the groups of a mask, (splits, strengths, m, outputs); zero for columns of others."""

    def predictions(self, coefficients: FloatArray) -> list[FloatArray]:
        """Return predictions (strengths, test, outputs) of the held-out rows of each split."""
        n_strengths, m, n_outputs = coefficients.shape[1:]
        side_by_side = coefficients.transpose(0, 2, 1, 3).reshape(-1, m, n_strengths * n_outputs)
        found = [columns @ fits for columns, fits in zip(self._tests, side_by_side, strict=True)]
        return [split.reshape(-1, n_strengths, n_outputs).transpose(1, 0, 2) for split in found]

    def best(
        self, coefficients: FloatArray, held_out: HeldOut, loss: RowLoss
    ) -> tuple[int, tuple[FloatArray, ...], FloatArray]:
        """Return which strength predicts best, its losses (test,) for each split, and its errors (pieces,)."""
        predicted = np.concatenate(self.predictions(coefficients), axis=1)
        Y = np.broadcast_to(self.Y[held_out.tested], predicted.shape)
        shape = (-1, Y.shape[2])
        losses = loss.values(predicted.reshape(shape), Y.reshape(shape)).reshape(predicted.shape[:2])
        errors = [held_out.piece_errors([own], self.weights) for own in losses]
        best = int(np.argmin([held_out.typical(error) for error in errors]))
        ends = np.cumsum([len(test) for _, test in self.splits])
        return best, tuple(np.split(losses[best], ends[:-1])), errors[best]

    @cached_property
    def _tests(self) -> tuple[FloatArray, ...]:
        return tuple(self.design.columns[test] for _, test in self.splits)


@final
@dataclass(frozen=True, eq=False)
class NormalEquations(RidgeEquations):
    """Squared error: Gram matrices of the columns, and of the columns with the outputs, for each split."""

    @cached_property
    def _grams(self) -> tuple[FloatArray, FloatArray]:
        """The matrices (splits, m, m) and the right-hand sides (splits, m, outputs)."""
        roots = np.sqrt(self.weights)[:, None]
        F, Y = self.design.columns * roots, self.Y * roots
        grams, crosses = [], []
        for train, _ in self.splits:
            out = np.ones(len(F), bool)
            out[train] = False
            own = F[out]
            grams.append(own.T @ own)  # of an array with its own transpose BLAS computes half
            crosses.append(own.T @ Y[out])
        return F.T @ F - np.array(grams), F.T @ Y - np.array(crosses)

    def coefficients(self, mask: np.ndarray, strengths: Sequence[float]) -> FloatArray:
        """Return the fits to the groups of a mask, (splits, strengths, m, outputs); zero for columns of others."""
        grams, crosses = self._grams
        places = self.design.places(mask)
        ridges = np.multiply.outer([len(train) for train, _ in self.splits], strengths)[:, :, None]
        own = np.repeat(grams[:, None, places[:, None], places], len(strengths), axis=1)
        np.einsum("skmm->skm", own)[:] += ridges
        found = np.zeros((*own.shape[:2], *crosses.shape[1:]))
        found[:, :, places] = np.linalg.solve(own, crosses[:, None, places])
        return found
