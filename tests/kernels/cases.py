"""Networks and data on which the kernels are tried."""

import numpy as np

from fewvars.engine.network import Network
from fewvars.engine.samples import Samples

from .reference import Perceptron

# Odd widths, widths that are no multiple of four, one input, one and several outputs, none to four hidden
# layers, an activation for each layer; the last two have a layer wide enough for BLAS.
NETWORKS = {
    "linear": Network(3, ()),
    "linear, one input": Network(1, (), 2),
    "one input": Network(1, (3,)),
    "odd": Network(5, (7, 3), 1, "sigmoid"),
    "multiples of four": Network(8, (4, 8), 4),
    "no multiples of four": Network(6, (5, 2, 9), 3, "softplus"),
    "identity first": Network(4, (3, 5, 2), 2, ("identity", "tanh", "relu")),
    "four hidden layers": Network(2, (3, 4, 5, 6), 1, "sin"),
    "single units": Network(3, (1, 1)),
    "wide first layer": Network(65, (64, 7)),
    "wide second layer": Network(3, (64, 66), 2, "relu"),
}
NARROW = [name for name in NETWORKS if not name.startswith("wide")]

# Relative to the largest entry. In single precision a sum of some hundred terms is good to about 1e-6, and
# passing it through a few layers costs another factor of a few.
TOLERANCE = {np.float64: 1e-10, np.float32: 2e-5}
PRECISIONS = list(TOLERANCE)


def parameters(network, dtype=np.float64, seed=0):
    """Return random parameters with biases that are not zero."""
    theta = network.initialise(seed)
    return (theta + 0.1 * np.random.default_rng(seed).normal(size=theta.size)).astype(dtype)


def samples(network, n, dtype=np.float64, seed=0, weighted=False):
    """Return random samples of a smooth function, with uneven weights if asked."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, network.n_inputs))
    Y = np.sin(X @ rng.normal(size=(network.n_inputs, network.n_outputs))) + 0.3
    return Samples.of(X, Y, rng.uniform(0.1, 2.0, n) if weighted else None, dtype=dtype)


def reference(network):
    """Return the NumPy implementation of a network."""
    return Perceptron(network.sizes, network.activation)


def doubles(data):
    """Return the arrays of some samples in double precision."""
    return data.X.astype(float), data.Y.astype(float), data.weights.astype(float)


def assert_close(found, expected, dtype):
    """Compare up to the tolerance of the precision, relative to the largest entry."""
    expected = np.asarray(expected)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE[dtype] * scale)
