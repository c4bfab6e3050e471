"""The choices of the paper's algorithms and those it leaves open, in one place, with the reason for each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from fewvars._common.validation import check_choice, check_flag, check_real, check_whole
from fewvars.engine.network import Network


@final
@dataclass(frozen=True)
class Configuration:
    """How the paper's algorithms and its network baselines are run: the parameters of their estimators.

    The estimators take these as parameters of the same names; `fit` checks them by building this record. The plain
    network has only those of the first stage.

    The paper fixes three hidden layers of H = 20 tanh units, learning rate 0.005 for all optimisers, division
    by sample standard deviations without centring, adaptive weights 1 / |W~_j|^2, BIC, and the entrywise
    threshold 1e-4 at the end. It says nothing about the rest. We chose the defaults on trajectories,
    equations and noise that are not the paper's (`docs/literal-algorithm.md` has the figures).

    Parameters
    ----------
    hidden_layer_sizes : sequence of int
        Widths of the hidden layers; the paper has three of the same width H, mostly 20. In Algorithm 2 the first
        of them is linear.
    learning_rate : float
        The paper's value, constant, for both Adam and the proximal gradient. Neither has weight decay,
        and the proximal gradient has no momentum.
    threshold : float
        After training at a strength, parameters of smaller absolute value are set to zero one by one, not column
        by column: a column survives if one of its entries does. BIC uses the loss after that.
    n_first, first_batch_size : int
        Updates and batch size of Adam; the paper states neither epochs nor batches. 1600 updates of 100
        samples are 20 epochs of the paper's 8000 samples. Long training spoils the initial estimate: the
        samples are correlated in time, all inputs end up being used to fit noise, and the adaptive weights lose
        their contrast. We count updates rather than epochs, so that small data sets are trained as long.
    initialisation : {"glorot", "fan_in"}
        Weights uniform with variance 2 / (in + out) and biases zero (Glorot and Bengio, 2010), or weights and
        biases both uniform in +-1 / sqrt(in), as in PyTorch. The paper only says "initialize".
    first_layer_scale : float
        Factor on the initial first layer. Columns of irrelevant inputs stay near where they began, so with the
        usual size (norm 0.8) they look as important as the true ones; from near zero a column must earn its norm.
        In Algorithm 2 the factor multiplies the first two layers, whose product plays the part of the first layer
        in Algorithm 1.
    bias_at_mean : bool
        Whether the output bias begins at the mean of y. Outputs are not centred, and one of the paper's functions
        has a mean of 50 standard deviations, out of reach of a bias that moves by 0.005 at a time.
    n_second, second_batch_size : int
        Updates at each strength, and batch size, of the proximal gradient. The paper's formula uses all
        samples, its theorem on the stochastic step some of them; for the same work, batches make far more progress.
        In small batches, though, gradient noise keeps dead columns from staying zero.
    n_strengths : int
    first_strength, last_strength : float
        The grid of lambda, logarithmic, in units of (variance of y) / (penalty of the initial estimate): at 1
        the penalty is as large as the variance to be explained. The paper gives no grid, and no fixed one would
        do: its useful range moves by a factor of 100 with the scale of inputs and weights. Much below the
        first strength the penalty no longer keeps the network from fitting noise, and BIC prefers the dense model.
    start : {"warm", "cold"}
        The paper's second procedure says "initialize" without saying where. Warm: the first strength begins at
        the initial estimate and each later one where the previous one ended; inputs (in Algorithm 2: columns) that
        are zero at the end of one strength stay out. Cold: every strength begins at the initial estimate, with all
        inputs.
    likelihood : {"estimated", "unit"}
        First term of BIC, n the number of samples, k of outputs: n k log(L / k), a Gaussian likelihood with
        the residual variance estimated, or n L, which takes the variance of y for that of the noise.
    degrees_of_freedom : {"parameters", "inputs"}
        What is multiplied by log n in BIC: parameters that are not zero, or inputs (in Algorithm 2: columns)
        that are selected. Rows of the first layer whose column in the second is zero do not count.
    precision : {"float32", "float64"}
        Floating-point type of the training.

    Notes
    -----
    Algorithm 2 has the same defaults: the paper says that its training is the same. On development
    data only a longer first stage did clearly better.

    The unweighted group lasso, whose optimiser the paper does not name, differs only in having weights of one:
    it starts from the same initial estimate and has the same updates, grid and BIC. The plain network is the
    initial estimate itself.
    """

    PRECISIONS: ClassVar = ("float32", "float64")

    hidden_layer_sizes: Sequence[int] = (20, 20, 20)
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
        sizes = self.hidden_layer_sizes
        if isinstance(sizes, str) or not isinstance(sizes, (Sequence, np.ndarray)) or len(sizes) == 0:
            raise ValueError(f"hidden_layer_sizes={sizes!r}: give the width of each hidden layer, as in (20, 20, 20).")
        for size in sizes:
            check_whole("hidden_layer_sizes", size)
        check_flag("bias_at_mean", self.bias_at_mean)
        for name in ("first_batch_size", "second_batch_size", "n_strengths"):
            check_whole(name, getattr(self, name))
        for name in ("n_first", "n_second"):
            check_whole(name, getattr(self, name), minimum=0)
        for name in ("learning_rate", "first_layer_scale", "first_strength"):
            check_real(name, getattr(self, name), strict=True)
        check_real("threshold", self.threshold)
        check_real("last_strength", self.last_strength, minimum=self.first_strength)
        check_choice("initialisation", self.initialisation, ("glorot", "fan_in"))
        check_choice("start", self.start, ("warm", "cold"))
        check_choice("likelihood", self.likelihood, ("estimated", "unit"))
        check_choice("degrees_of_freedom", self.degrees_of_freedom, ("parameters", "inputs"))
        check_choice("precision", self.precision, self.PRECISIONS)

    def network(self, n_inputs: int, n_outputs: int, first_activation: str = "tanh") -> Network:
        """Return the shape of the network; the first activation of Algorithm 2 is the identity."""
        widths = tuple(int(size) for size in self.hidden_layer_sizes)
        return Network(n_inputs, widths, n_outputs, (first_activation, *("tanh",) * (len(widths) - 1)))

    def relative_strengths(self) -> np.ndarray:
        """Return the grid of lambda in its natural unit, (n_strengths,), increasing."""
        return np.geomspace(self.first_strength, self.last_strength, self.n_strengths)
