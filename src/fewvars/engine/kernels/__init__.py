"""Compiled kernels: networks and their training on flat parameter vectors, and least squares on subsets of columns."""

from fewvars.engine.kernels import _notice  # noqa: F401  - listens from now on
from fewvars.engine.kernels._jit import FASTMATH
from fewvars.engine.kernels.activations import CODES
from fewvars.engine.kernels.evaluation import (
    full_gradient,
    input_jacobian,
    parameter_jacobian,
    predict,
)
from fewvars.engine.kernels.passes import BLOCK
from fewvars.engine.kernels.subsets import best_addition, elimination, exchange, fit_columns, improved
from fewvars.engine.kernels.training import ADAM, MOMENTUM, train

__all__ = [
    "ADAM",
    "BLOCK",
    "CODES",
    "FASTMATH",
    "MOMENTUM",
    "best_addition",
    "elimination",
    "exchange",
    "fit_columns",
    "full_gradient",
    "improved",
    "input_jacobian",
    "parameter_jacobian",
    "predict",
    "train",
]
