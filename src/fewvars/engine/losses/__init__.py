"""Losses, and how the compiled kernels compute them.

A new loss is one class here and one branch of `fewvars.engine.kernels.losses.output_error`.
"""

from fewvars.engine.losses.cross_entropy import CrossEntropy
from fewvars.engine.losses.huber import Huber, medians, robust_spread
from fewvars.engine.losses.loss import Loss
from fewvars.engine.losses.poisson import Poisson
from fewvars.engine.losses.squared import SquaredError

SQUARED = SquaredError()
LOSSES: dict[str, Loss] = {"squared": SQUARED, "huber": Huber(), "poisson": Poisson()}

__all__ = [
    "LOSSES",
    "SQUARED",
    "CrossEntropy",
    "Huber",
    "Loss",
    "Poisson",
    "SquaredError",
    "medians",
    "robust_spread",
]
