"""Every choice that the paper's algorithms leave open, in one place, with the reason for each."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from fewvars._common.validation import check_choice, check_real, check_whole
from fewvars.engine.network import Network


@final
@dataclass(frozen=True)
class Configuration:
    """How the paper's algorithms and its network baselines are run.

    The paper fixes three hidden layers of H = 20 tanh units, learning rate 0.005 for all optimisers, division
    by sample standard deviations without centring, adaptive weights 1 / |W~_j|^2, BIC, and the entrywise
    threshold 1e-4 at the end. It says nothing about the rest. The defaults were found on trajectories,
    equations and noise that are not the paper's (`docs/literal-algorithm.md` has the figures).

    Parameters
    ----------
    width, n_hidden_layers : int
        H and the number of hidden layers; the paper's values. In Algorithm 2 the first of them is linear.
    learning_rate : float
        The paper's value, for Adam and for the proximal gradient alike, constant. Neither has weight decay,
        and the proximal gradient has no momentum.
    threshold : float
        Parameters of smaller absolute value are set to zero one by one, not column by column, when a strength
        is done: a column survives if one of its entries does. The loss in BIC is the loss after that.
    n_first, first_batch_size : int
        Updates and batch size of Adam; the paper names neither epochs nor batches. 1600 updates of 100
        samples are 20 epochs of the paper's 8000 samples. Long training spoils the initial estimate: the
        samples are correlated in time, all inputs end up used to fit noise, and the adaptive weights lose
        their contrast. Updates rather than epochs, so that small data are not starved.
    initialisation : {"glorot", "fan_in"}
        Weights uniform with variance 2 / (in + out) and biases zero (Glorot and Bengio, 2010), or weights and
        biases both uniform in +-1 / sqrt(in), the habit of PyTorch. The paper says "initialize".
    first_layer_scale : float
        Factor on the initial first layer. Columns of idle inputs stay near where they began, so with the
        usual size (norm 0.8) they weigh as much as true ones; from near zero a column must earn its norm.
        In Algorithm 2 the factor is on the first two layers, whose product is what the first is in Algorithm 1.
    bias_at_mean : bool
        The output bias begins at the mean of y. Outputs are not centred, and one of the paper's functions has
        a mean of 50 standard deviations, out of reach of a bias that moves by 0.005 at a time.
    n_second, second_batch_size : int
        Updates at each strength and batch size of the proximal gradient. The paper's formula takes all
        samples, its theorem on the stochastic step some; equal work buys far more progress in batches.
        In small batches, though, gradient noise keeps dead columns from staying zero.
    n_strengths : int
    first_strength, last_strength : float
        The grid of lambda, logarithmic, in units of (variance of y) / (penalty of the initial estimate): at 1
        the penalty weighs as much as all there is to explain. The paper gives no grid, and no fixed one would
        do: its useful range moves by a factor of 100 with the scale of inputs and weights. Much below the
        first strength the penalty no longer prevents that noise is fitted, and BIC prefers the dense model.
    start : {"warm", "cold"}
        The second procedure says "initialize" without saying where. Warm: the first strength begins at the
        initial estimate and each next one where the last ended; inputs (in Algorithm 2: columns) that are zero
        at the end of one strength stay out. Cold: every strength begins at the initial estimate, with all inputs.
    likelihood : {"estimated", "unit"}
        First term of BIC, n the number of samples, k of outputs: n k log(L / k), a Gaussian likelihood with
        the residual variance estimated, or n L, with the variance of y taken for that of the noise.
    degrees_of_freedom : {"parameters", "inputs"}
        What is multiplied by log n in BIC: parameters that are not zero, or inputs (in Algorithm 2: columns)
        that are selected. Rows of the first layer whose column in the second is zero do not count.
    precision : {"float32", "float64"}
        Of the training.

    Notes
    -----
    Algorithm 2 takes this configuration as it is: the paper says that its training is the same. On development
    data only a longer first stage did clearly better.

    The unweighted group lasso, whose optimiser the paper does not name, differs by its weights of one only:
    same initial estimate as its start, same updates, same grid, same BIC. The plain network is the initial
    estimate itself.
    """

    PRECISIONS: ClassVar = ("float32", "float64")

    width: int = 20
    n_hidden_layers: int = 3
    learning_rate: float = 0.005
    threshold: float = 1e-4
    n_first: int = 1600
    first_batch_size: int = 100
    initialisation: str = "glorot"
    first_layer_scale: float = 0.03
    bias_at_mean: bool = True
    n_second: int = 3200
    second_batch_size: int = 400
    n_strengths: int = 30
    first_strength: float = 0.5
    last_strength: float = 30.0
    start: str = "warm"
    likelihood: str = "estimated"
    degrees_of_freedom: str = "parameters"
    precision: str = "float32"

    def __post_init__(self) -> None:
        for name in ("width", "n_hidden_layers", "first_batch_size", "second_batch_size", "n_strengths"):
            check_whole(name, getattr(self, name))
        for name in ("n_first", "n_second"):
            check_whole(name, getattr(self, name), minimum=0)
        for name in ("learning_rate", "first_layer_scale", "first_strength"):
            check_real(name, getattr(self, name), strict=True)
        check_real("threshold", self.threshold)
        check_real("last_strength", self.last_strength, minimum=self.first_strength)
        check_choice("initialisation", self.initialisation, ("glorot", "fan_in"))
        check_choice("bias_at_mean", self.bias_at_mean, (True, False))
        check_choice("start", self.start, ("warm", "cold"))
        check_choice("likelihood", self.likelihood, ("estimated", "unit"))
        check_choice("degrees_of_freedom", self.degrees_of_freedom, ("parameters", "inputs"))
        check_choice("precision", self.precision, self.PRECISIONS)

    def network(self, n_inputs: int, n_outputs: int, first_activation: str = "tanh") -> Network:
        """Return the shape of the network; Algorithm 2 has the identity for its first activation."""
        activations = (first_activation, *("tanh",) * (self.n_hidden_layers - 1))
        return Network(n_inputs, (self.width,) * self.n_hidden_layers, n_outputs, activations)

    def relative_strengths(self) -> np.ndarray:
        """Return the grid of lambda in its natural unit, (n_strengths,), increasing."""
        return np.geomspace(self.first_strength, self.last_strength, self.n_strengths)
