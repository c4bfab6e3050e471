"""Whether to keep smoothed inputs: what was found on them must predict held-out rows better than its rivals."""

from collections.abc import Callable

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.search.problem import Problem, Settings
from fewvars.search.variables.network_judge import NetworkJudge
from fewvars.search.variables.ridge_judge import RidgeJudge


def smoothing_helps(
    smoothed: Problem, measured: Problem, settings: Settings, refitted: Callable[[Problem], FloatArray]
) -> bool:
    """Return whether what was found on smoothed inputs predicts the measured outputs better than its rivals do.

    The rivals are the same form on measured inputs, a network and a sum of curves of all measured inputs, and the mean,
    which must be significantly worse. Smoothing destroys rows that are not a trajectory, and inputs that change from
    row to row: what is found then predicts little on either kind of input, and only the last three rivals reveal it.

    Parameters
    ----------
    smoothed, measured : Problem
        The same outputs as measured, on the same held-out rows.
    refitted : callable
        Returns the held-out errors (pieces,) of what was found, refitted to a problem.
    """
    held_out, live = measured.held_out, ~measured.constant_inputs
    judge = NetworkJudge.of(measured, np.arange(live.size), settings)
    errors = refitted(smoothed)
    if not held_out.better(errors, judge.judge([np.zeros_like(live)])[0].errors):
        return False
    ridge = RidgeJudge.of(measured, np.arange(live.size), settings).on(held_out)
    rivals = refitted(measured), judge.judge([live])[0].errors, ridge.judge([live])[0].errors
    return held_out.typical(errors) < min(map(held_out.typical, rivals))
