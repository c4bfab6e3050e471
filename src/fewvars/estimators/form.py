"""The form of the equations: differential equations in weak form, or the map over one sampling interval.

Where samples are far apart, the state changes too much from one to the next for averages over windows of time. Where
they are close together, the change over one interval is mostly noise. So the form is chosen whose left sides are better
explained on held-out rows.
"""

from collections.abc import Callable

import numpy as np

from fewvars._common.threads import single_blas_thread
from fewvars.estimators.equations import EquationSearch
from fewvars.estimators.system import System

AUTO = "auto"
EQUATIONS_TRIED = 6
POORLY_EXPLAINED = 0.5  # share of the variance that the weak form must leave unexplained before steps are tried
MUCH_LESS = 0.8  # of what the weak form leaves unexplained: steps that leave less than this are chosen


def steps_explain_more(weak: System, steps: Callable[[], System]) -> bool:
    """Return whether some equations of the map are better explained than those in weak form.

    Parameters
    ----------
    steps : callable
        Returns the system with the changes over one interval as left sides.
    """
    unexplained = _unexplained(weak)
    return unexplained > POORLY_EXPLAINED and _unexplained(steps()) < MUCH_LESS * unexplained


def _unexplained(system: System) -> float:
    """Return the share of the variance of the left sides that a few equations leave unexplained, as a typical value.

    The system keeps their supports.
    """
    d = len(system.include)
    chosen = np.unique(np.linspace(0, d - 1, min(EQUATIONS_TRIED, d)).astype(int)).tolist()
    with single_blas_thread():
        searches = [EquationSearch(system, i) for i in chosen]
        found = [search.support(search.problem) for search in searches]
    system.known.update(zip(chosen, found, strict=True))
    errors = [support.error for support in found]
    return float(np.exp(np.mean(np.log(np.maximum(errors, np.finfo(float).tiny)))))
