"""Solvers: stochastic training (Adam, proximal gradient), monotone descent, and Levenberg-Marquardt."""

from fewvars.engine.solvers.least_squares import LeastSquaresModel, levenberg_marquardt
from fewvars.engine.solvers.monotone_descent import MonotoneFit, monotone
from fewvars.engine.solvers.objective import Objective
from fewvars.engine.solvers.outcome import Fit, Outcome
from fewvars.engine.solvers.schedules import SCHEDULES, learning_rates
from fewvars.engine.solvers.training import Trainer, adam

__all__ = [
    "SCHEDULES",
    "Fit",
    "LeastSquaresModel",
    "MonotoneFit",
    "Objective",
    "Outcome",
    "Trainer",
    "adam",
    "learning_rates",
    "levenberg_marquardt",
    "monotone",
]
