"""The form of the equations: differential equations in weak form, or the map over one sampling interval.

Where samples are far apart, the state changes too much from one to the next for averages over windows of time. Where
they are close together, the change over one interval is mostly noise. So the form is chosen whose left sides are better
explained on held-out rows.
"""

from collections.abc import Callable, Sequence

import numpy as np

from fewvars._common.threads import single_blas_thread
from fewvars.estimators.equations import EquationSearch
from fewvars.estimators.system import System

AUTO = "auto"
EQUATIONS_TRIED = 6
POORLY_EXPLAINED = 0.5  # share of the variance that the weak form must leave unexplained before steps are tried
MUCH_LESS = 0.8  # of what the weak form leaves unexplained: steps that leave less than this are chosen


def steps_explain_more(weak: Sequence[System], steps: Callable[[], Sequence[System]]) -> bool:
    """Return whether some equations of the map are better explained than those in weak form.

    Parameters
    ----------
    weak : list of System
        One for each equation.
    steps : callable
        Returns the systems with the changes over one interval as left sides.
    """
    unexplained = _unexplained(weak)
    return unexplained > POORLY_EXPLAINED and _unexplained(steps()) < MUCH_LESS * unexplained


def _unexplained(systems: Sequence[System]) -> float:
    """Return the share of the variance of the left sides that a few equations leave unexplained, as a typical value.

    The systems keep their supports.
    """
    d = len(systems)
    errors = []
    with single_blas_thread():
        for i in np.unique(np.linspace(0, d - 1, min(EQUATIONS_TRIED, d)).astype(int)).tolist():
            search = EquationSearch(systems[i], i)
            found = systems[i].known[i] = search.support(search.problem)
            errors.append(max(found.error, np.finfo(float).tiny))
    return float(np.exp(np.mean(np.log(errors))))
