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
    """

    mask: np.ndarray
    columns: FloatArray
    terms: tuple[Term, ...]
    widths: tuple[int, ...]

    @classmethod
    def of(cls, terms: Terms, mask: np.ndarray, single: Sequence[str], paired: Sequence[str]) -> "Design":
        """Collect all terms of these kinds of single groups of a mask (groups,), and of pairs of them."""
        groups = np.flatnonzero(mask).tolist()
        chosen = [Term(kind, (group,)) for group in groups for kind in single]
        chosen += [Term(kind, pair) for pair in combinations(groups, 2) for kind in paired]
        columns = terms.design(chosen)
        sizes = np.sqrt(np.einsum("ij,ij->j", columns, columns) / len(columns))
        columns /= np.where(sizes > 0, sizes, 1.0)
        return cls(mask, columns, tuple(chosen), tuple(terms.columns(term).shape[1] for term in chosen))

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
        return [columns @ fits for columns, fits in zip(self._tests, coefficients, strict=True)]

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
        F, Y, weights = self.design.columns, self.Y, self.weights[:, None]
        gram, cross = F.T @ (weights * F), F.T @ (weights * Y)
        grams, crosses = [], []
        for train, _ in self.splits:
            out = np.ones(len(F), bool)
            out[train] = False
            weighted = F[out] * weights[out]
            grams.append(gram - F[out].T @ weighted)
            crosses.append(cross - weighted.T @ Y[out])
        return np.array(grams), np.array(crosses)

    def coefficients(self, mask: np.ndarray, strengths: Sequence[float]) -> FloatArray:
        """Return the fits to the groups of a mask, (splits, strengths, m, outputs); zero for columns of others."""
        grams, crosses = self._grams
        places = self.design.places(mask)
        ridges = np.multiply.outer([len(train) for train, _ in self.splits], strengths)[:, :, None, None]
        own = grams[:, None, places[:, None], places] + ridges * np.eye(places.size)
        found = np.zeros((*own.shape[:2], *crosses.shape[1:]))
        found[:, :, places] = np.linalg.solve(own, crosses[:, None, places])
        return found
