"""The input of a search: standardised samples, the rows to hold out, and the settings of its networks."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fewvars.engine.network import Network
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import Fit, adam
from fewvars.search.held_out import HeldOut
from fewvars.search.variables.terms import Terms


@dataclass(frozen=True, eq=False)
class Problem:
    """Data to search on.

    Attributes
    ----------
    samples : Samples
        Standardised: all rows, all inputs, single precision.
    held_out : HeldOut
    reserve : HeldOut
        The same rows and more, to settle what remains in doubt.
    constant_inputs : (inputs,) bool
    constant : bool
        Whether all outputs are constant, so that there is nothing to explain.
    starts : (n,) bool
        The first row of each run.
    ordered : bool
        Whether the order of the rows may mean something.
    smoothed : bool
        Whether inputs or outputs were smoothed in time.
    terms : Terms, optional
        Functions of the inputs as the outputs see them, where a row is an average along a trajectory; without it,
        they are those of the samples.
    """

    samples: Samples
    held_out: HeldOut
    reserve: HeldOut
    constant_inputs: np.ndarray
    constant: bool
    starts: np.ndarray
    ordered: bool = True
    smoothed: bool = False
    terms: Terms | None = None

    def thinned(self, every: int) -> "Problem":
        """Return the problem of rows 0, every, 2 every, ..."""
        if every == 1:
            return self
        rows = np.arange(0, len(self.samples), every)
        weights = self.samples.weights
        return replace(
            self,
            samples=self.samples.rows(rows),
            held_out=self.held_out.thinned(every, weights),
            reserve=self.reserve.thinned(every, weights),
            starts=np.r_[True, np.diff(np.cumsum(self.starts)[rows]) > 0],
            terms=None if self.terms is None else self.terms.rows(rows),
        )


@dataclass(frozen=True)
class Settings:
    """Settings of the searches for variables and for directions: the network, and how long it is trained.

    Attributes
    ----------
    hidden_layer_sizes, activation
        Of the network on the path.
    first_updates, path_updates, refit_updates : int
        Updates of the first stage, of each strength on the path, and of each refit.
    path_factor : float
        Ratio of neighbouring strengths.
    batch_size : int
    learning_rate : float
        Of the first stage and the path.
    seed : int
    n_jobs : int, optional
        Threads over candidates. The result does not depend on it.
    """

    hidden_layer_sizes: tuple[int, ...] = (20, 20, 20)
    activation: str = "tanh"
    first_updates: int = 1600
    path_updates: int = 300
    refit_updates: int = 3000
    path_factor: float = 1.15
    batch_size: int = 128
    learning_rate: float = 0.005
    seed: int = 0
    n_jobs: int | None = None

    @property
    def training(self) -> dict[str, Any]:
        """The options that the first stage and the path share."""
        return {"learning_rate": self.learning_rate, "ridge": 1e-4, "batch_size": self.batch_size}

    @property
    def along_path(self) -> dict[str, Any]:
        """The options of the path, which starts from the first stage."""
        return {"factor": self.path_factor, "updates": self.path_updates, "seed": self.seed, **self.training}

    def first_stage(self, train: Samples) -> tuple[Network, Fit]:
        """Train a network briefly: the initial estimate that the path begins with."""
        network = Network(train.X.shape[1], self.hidden_layer_sizes, train.Y.shape[1], self.activation)
        return network, adam(network, train, n_updates=self.first_updates, seed=self.seed, **self.training)
