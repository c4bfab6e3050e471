"""The data for tests: the terms and outputs of a problem in double precision, on no more rows than needed."""

from typing import NamedTuple

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.losses import SQUARED, Loss
from fewvars.search.problem import Problem
from fewvars.search.variables.terms import Terms
from fewvars.series.dependence import autocorrelation_time

MOST_ENTRIES = 10_000_000  # of the inputs
MOST_ROWS = 20_000  # with more rows, whatever matters is significant anyway
MOST_SMOOTHED = 2000  # rows of a smoothed trajectory, where neighbours are nearly equal


class Testable(NamedTuple):
    """What tests are made on.

    Attributes
    ----------
    terms : Terms
    Y : (n, outputs), double precision
    weights : (n,)
    starts : (n,) bool
        The first row of each run.
    ordered : bool
        Whether the order of the rows may mean something; if not, rows count as independent.
    loss : Loss
    """

    terms: Terms
    Y: FloatArray
    weights: FloatArray
    starts: np.ndarray
    ordered: bool
    loss: Loss = SQUARED

    @classmethod
    def of(cls, problem: Problem, labels: np.ndarray) -> "Testable":
        """Take the data of a problem; if it has very many rows, only some of them."""
        samples = problem.samples
        n, d = samples.X.shape
        most = min(MOST_SMOOTHED if problem.smoothed else MOST_ROWS, MOST_ENTRIES // d)
        rows = np.arange(0, n, -(-n // most))
        runs = np.cumsum(problem.starts)[rows]
        if problem.terms is None:
            terms = Terms.of(samples.X[rows].astype(np.float64), labels)
        else:  # not copied if possible: problems share terms and their cached columns
            terms = problem.terms if len(rows) == n else problem.terms.rows(rows)
        starts = np.r_[True, np.diff(runs) > 0]
        varying = np.ptp(samples.Y, axis=0) > 0
        Y = samples.Y[np.ix_(rows, varying)].astype(np.float64)
        return cls(terms, Y, samples.weights[rows], starts, problem.ordered, samples.loss)

    @property
    def autocorrelation_time(self) -> float:
        """Of the output that depends most on previous rows; one if the order means nothing."""
        return max(map(autocorrelation_time, self.Y.T)) if self.ordered else 1.0

    def rows(self, chosen: np.ndarray) -> "Testable":
        """Return some of the rows; one that follows a gap begins a run."""
        starts = self.starts[chosen] | np.r_[True, np.diff(chosen) > 1] if self.ordered else self.starts[chosen]
        return self._replace(
            terms=self.terms.rows(chosen), Y=self.Y[chosen], weights=self.weights[chosen], starts=starts
        )
