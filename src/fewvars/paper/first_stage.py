"""The first half of the paper's algorithms on arrays: standardise, then Adam for the initial estimate."""

from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.network import Network
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import Outcome, adam
from fewvars.paper.configuration import Configuration


@final
@dataclass(frozen=True, eq=False)
class Standardised:
    """Data divided by their sample standard deviations, not centred.

    Attributes
    ----------
    samples : Samples
        X / x_scale (n, d) and y / y_scale - offset (n, k).
    x_scale : (d,)
        Infinite for constant columns, which so become zero: they carry no information.
    y_scale : (k,)
        The absolute value of an output that is constant, or one if that is zero.
    offset : (k,)
        Where the output biases begin. Taking it off the outputs and adding it to the biases in the end is
        the same as beginning there, and loses no digits.
    n : float
        Number of samples, a sample of weight w counting w times.
    """

    samples: Samples
    x_scale: FloatArray
    y_scale: FloatArray
    offset: FloatArray
    n: float

    @staticmethod
    def of(
        X: FloatArray, Y: FloatArray, sample_weight: FloatArray | None, configuration: Configuration
    ) -> "Standardised":
        """Standardise X (n, d) and Y (n, k); rows of weight zero are left out."""
        weights = np.ones(len(X)) if sample_weight is None else sample_weight
        counted = weights > 0
        X, Y, weights = X[counted], Y[counted], weights[counted]
        n = float(weights.sum())
        if n < 2.0:
            raise ValueError(
                f"sample_weight sums to {n:g}: a weight counts how often its row occurs, and a standard "
                "deviation needs at least two rows. Scale the weights, for instance to a mean of one."
            )
        x_scale, y_scale = _deviations(X, weights), _deviations(Y, weights)
        x_scale[x_scale == 0] = np.inf
        size = np.abs(Y).max(axis=0)
        y_scale = np.where(y_scale > 0, y_scale, np.where(size > 0, size, 1.0))
        outputs = Y / y_scale
        offset = np.average(outputs, axis=0, weights=weights) * configuration.bias_at_mean
        samples = Samples.of(X / x_scale, outputs - offset, weights, dtype=configuration.precision)
        return Standardised(samples, x_scale, y_scale, offset, n)


def _deviations(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return sample standard deviations (columns,), zero where rounding is all the spread there is."""
    size = np.abs(values).max(axis=0)
    size[size == 0] = 1.0
    ratios = values / size  # whose squares do not overflow
    centred = ratios - np.average(ratios, axis=0, weights=weights)
    deviations = np.sqrt((weights @ centred**2) / (weights.sum() - 1.0))
    return np.where(deviations > 10.0 * np.finfo(float).eps, size * deviations, 0.0)


@final
@dataclass(frozen=True, eq=False)
class Stage:
    """Parameters of the network on standardised data, how many updates they took, and how that ended."""

    theta: FloatArray
    n_updates: int
    outcome: Outcome


def cut(theta: FloatArray, threshold: float) -> FloatArray:
    """Set parameters of absolute value below the threshold to zero, one by one."""
    return np.where(np.abs(theta) < threshold, 0, theta).astype(theta.dtype)


def selected(network: Network, theta: FloatArray, layer: int = 0) -> np.ndarray:
    """Return which columns of a layer are not all zero: those of the selected inputs, if it is the first."""
    return (network.layers(theta)[layer].weights != 0).any(axis=0)


def clear_idle(network: Network, theta: FloatArray, layer: int) -> FloatArray:
    """Set the parameters of units below the layer to zero if nothing reads them: they mean nothing."""
    theta = theta.copy()
    for lower, upper in pairwise(network.layers(theta)[: layer + 1]):
        idle = ~upper.weights.any(axis=0)
        lower.weights[idle], lower.biases[idle] = 0, 0
    return theta


def initial_parameters(
    network: Network, samples: Samples, configuration: Configuration, seed: int, layer: int = 0
) -> FloatArray:
    """Draw the parameters that the first stage begins with; columns of constant inputs are zero.

    The layers up to the one that is to be penalised are scaled down.
    """
    theta = network.initialise(seed)
    layers = network.layers(theta)
    if configuration.initialisation == "fan_in":
        rng = np.random.default_rng(seed)
        for weights, biases in layers:
            bound = 1.0 / np.sqrt(weights.shape[1])
            weights[:] = rng.uniform(-bound, bound, weights.shape)
            biases[:] = rng.uniform(-bound, bound, biases.shape)
    layers[0].weights[:] *= configuration.first_layer_scale * samples.X.any(axis=0)
    for later in layers[1 : layer + 1]:
        later.weights[:] *= configuration.first_layer_scale
    return theta.astype(samples.X.dtype)


def first_stage(network: Network, samples: Samples, configuration: Configuration, seed: int, layer: int = 0) -> Stage:
    """Adam without penalty: the initial estimate. The layer is the one that is penalised afterwards."""
    fit = adam(
        network,
        samples,
        theta=initial_parameters(network, samples, configuration, seed, layer),
        n_updates=configuration.n_first,
        learning_rate=configuration.learning_rate,
        batch_size=configuration.first_batch_size,
        seed=seed,
    )
    return Stage(fit.theta, fit.n_updates, fit.outcome)
