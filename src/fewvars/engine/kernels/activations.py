"""Activation functions over whole blocks, with their slopes, in loops that LLVM vectorises."""

import math

import numpy as np

from fewvars.engine.kernels._jit import jit

IDENTITY, TANH, SIGMOID, RELU, SOFTPLUS, SIN = range(6)
CODES = {
    "tanh": TANH,
    "sigmoid": SIGMOID,
    "relu": RELU,
    "softplus": SOFTPLUS,
    "sin": SIN,
    "identity": IDENTITY,
}

# Single precision: x P(x^2) / Q(x^2), minimax in relative error on |x| <= 8.5 (1.2e-8 before rounding),
# where tanh has reached 1.
_LIMIT, _HALF, _ONE = np.float32(8.5), np.float32(0.5), np.float32(1.0)
_P0, _P1, _P2 = (
    np.float32(0.9999999882781312),
    np.float32(0.13413232458683289),
    np.float32(3.534008904312768e-3),
)
_P3, _P4 = np.float32(2.125071954634285e-5), np.float32(1.4268721176022728e-8)
_Q1, _Q2 = np.float32(0.467465552319428), np.float32(0.026022685006583966)
_Q3, _Q4 = np.float32(3.3488341699208074e-4), np.float32(8.14492822737742e-7)


@jit
def _tanh_single(x):
    """Return tanh(x) within 5e-7."""
    x = min(max(x, -_LIMIT), _LIMIT)
    u = x * x
    p = (((_P4 * u + _P3) * u + _P2) * u + _P1) * u + _P0
    q = (((_Q4 * u + _Q3) * u + _Q2) * u + _Q1) * u + _ONE
    return x * p / q


@jit
def _tanh_double(x):
    """Return tanh(x) within a relative 2e-15.

    Lambert's continued fraction, cut after nine terms, gives tanh(x/4); the formula for the double
    argument, applied twice, brings it back without amplifying the relative error.
    """
    x = 0.25 * min(max(x, -19.1), 19.1)
    u = x * x
    p = (((u + 990.0) * u + 135135.0) * u + 4729725.0) * u + 34459425.0
    q = (((45.0 * u + 13860.0) * u + 945945.0) * u + 16216200.0) * u + 34459425.0
    t = x * p / q
    t = 2.0 * t / (1.0 + t * t)
    return 2.0 * t / (1.0 + t * t)


# A NaN passes through: `min` and `max` return it when it is their first argument.


@jit
def _tanh(z, slope):
    if z.itemsize == 4:
        for i in range(z.size):
            a = _tanh_single(z[i])
            z[i] = a
            slope[i] = _ONE - a * a
    else:
        for i in range(z.size):
            a = _tanh_double(z[i])
            z[i] = a
            slope[i] = 1.0 - a * a


@jit
def _sigmoid(z, slope):
    if z.itemsize == 4:
        for i in range(z.size):
            a = _HALF + _HALF * _tanh_single(_HALF * z[i])
            z[i] = a
            slope[i] = a * (_ONE - a)
    else:
        for i in range(z.size):
            a = 0.5 + 0.5 * _tanh_double(0.5 * z[i])
            z[i] = a
            slope[i] = a * (1.0 - a)


@jit
def activate(code, block, slopes):
    """Replace pre-activations by activations, and write the derivative at each of them.

    Parameters
    ----------
    code : int
        One of the codes above; the identity leaves both blocks alone, and its slopes are never read.
    block : float array (units, samples)
        Pre-activations on entry, activations on exit.
    slopes : float array (units, samples)
        Receives the derivative of the activation.
    """
    z, slope = block.reshape(block.size), slopes.reshape(slopes.size)
    if code == TANH:
        _tanh(z, slope)
    elif code == SIGMOID:
        _sigmoid(z, slope)
    elif code == RELU:
        for i in range(z.size):
            slope[i] = 1.0 if z[i] > 0.0 else 0.0
            z[i] *= slope[i]
    elif code == SOFTPLUS:
        for i in range(z.size):
            decay = math.exp(-abs(z[i]))
            slope[i] = (1.0 if z[i] >= 0.0 else decay) / (1.0 + decay)
            z[i] = max(z[i], 0.0) + math.log1p(decay)
    elif code == SIN:
        for i in range(z.size):
            slope[i] = math.cos(z[i])
            z[i] = math.sin(z[i])
