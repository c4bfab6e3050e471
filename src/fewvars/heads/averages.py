"""What functions are compared with in weak form: averages over windows of time."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.heads.kind import StandardisedError
from fewvars.search.held_out import HeldOut
from fewvars.series.scaling import Scaling


@dataclass(frozen=True, eq=False)
class Averages:
    """Averages over windows of time, and the samples that they are taken over.

    Attributes
    ----------
    windows : (windows, samples) sparse
        The weights of the samples in each average.
    centres : (windows,)
        The sample in the middle of each window.
    y : (windows, outputs) the averages measured
    weight : (windows,)
    derivative : (samples, outputs)
        Estimates of what is averaged, for networks.
    held_out : HeldOut
        Of windows.
    """

    windows: Any
    centres: np.ndarray
    y: FloatArray
    weight: FloatArray
    derivative: FloatArray
    held_out: HeldOut

    @property
    def loss(self) -> StandardisedError:
        """The squared error over the variance of y."""
        return StandardisedError(Scaling.of(self.y, self.weight))

    def training_samples(self, train: np.ndarray) -> np.ndarray:
        """Return the samples nearest to the centre of a training window."""
        middles = (self.centres[1:] + self.centres[:-1]) / 2
        nearest = np.searchsorted(middles, np.arange(self.windows.shape[1]))
        return np.flatnonzero(np.isin(nearest, train))
