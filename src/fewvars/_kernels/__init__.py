"""Compiled kernels: layers, activations, passes and training loops on flat parameter vectors. No classes."""

from ._jit import FASTMATH
from .activations import CODES
from .evaluation import full_gradient, input_jacobian, parameter_jacobian, predict
from .passes import BLOCK
from .training import ADAM, MOMENTUM, train

__all__ = [
    "ADAM",
    "BLOCK",
    "CODES",
    "FASTMATH",
    "MOMENTUM",
    "full_gradient",
    "input_jacobian",
    "parameter_jacobian",
    "predict",
    "train",
]
