"""Ridge regressions under losses other than squared error, by iteratively reweighted least squares."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.losses import SQUARED, Loss
from fewvars.engine.solvers.reweighted import reweighted_least_squares
from fewvars.search.variables.normal_equations import RidgeEquations


@final
@dataclass(frozen=True, eq=False)
class ReweightedEquations(RidgeEquations):
    """Fits from the strongest ridge to the weakest, each of which goes on from the one before."""

    loss: Loss = SQUARED

    def coefficients(self, mask: np.ndarray, strengths: Sequence[float]) -> FloatArray:
        """Return the fits to the groups of a mask, (splits, strengths, m, outputs); zero for columns of others."""
        places = self.design.places(mask)
        columns = self.design.columns[:, places]
        found = np.zeros((len(self.splits), len(strengths), self.design.columns.shape[1], self.Y.shape[1]))
        for split, (train, _) in enumerate(self.splits):
            F, Y, weights = columns[train], self.Y[train], self.weights[train]
            start = None
            for k in np.argsort(strengths)[::-1]:
                ridge = np.full(places.size, strengths[k] * len(train))
                ridge[0] = 0.0  # of the constant
                start = reweighted_least_squares(F, Y, weights, self.loss, ridge=ridge, start=start, tolerance=1e-4)
                found[split, k, places] = start
        return found
