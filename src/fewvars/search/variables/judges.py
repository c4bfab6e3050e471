"""The judges of supports by name; a new judge needs one file and one line here."""

from collections.abc import Callable

import numpy as np

from fewvars.search.judge import Judge
from fewvars.search.problem import Problem, Settings
from fewvars.search.variables.network_judge import NetworkJudge
from fewvars.search.variables.ridge_judge import RidgeJudge

JUDGES: dict[str, Callable[[Problem, np.ndarray, Settings, Callable[[], None]], Judge]] = {
    NetworkJudge.name: NetworkJudge.of,
    RidgeJudge.name: RidgeJudge.of,
}
