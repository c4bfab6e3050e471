"""The result of a solver, and how it ended."""

from dataclasses import dataclass
from enum import Enum

from fewvars._common.validation import FloatArray


class Outcome(Enum):
    """How a solver ended, in a sentence."""

    FINISHED = "All the updates that were asked for have been made."
    CONVERGED = "The distance to stationarity fell below the tolerance."
    STALLED = "No step lowers the objective any further in double precision."
    EXHAUSTED = "The largest number of iterations was reached before the tolerance."
    DIVERGED = (
        "The loss grew a thousandfold or stopped being finite; the last finite parameters were kept. "
        "Lower the learning rate or rescale the data."
    )


@dataclass(frozen=True, eq=False)
class Fit:
    """The result of a solver.

    Attributes
    ----------
    theta : (n_parameters,)
    losses : (n_updates,) loss of each mini-batch, or the objective after each iteration of a full-batch solver
    n_updates : int
    outcome : Outcome
    """

    theta: FloatArray
    losses: FloatArray
    n_updates: int
    outcome: Outcome
