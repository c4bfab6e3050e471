"""A multilayer perceptron: its shape, and one flat parameter vector whose layers are views into it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from fewvars._common.threads import single_blas_thread
from fewvars._common.validation import FloatArray, check_choice, check_matrix, check_real, check_whole
from fewvars.engine import kernels
from fewvars.engine.samples import Samples

ACTIVATIONS = tuple(kernels.CODES)


class Layer(NamedTuple):
    """Views of one layer's parameters: weights (out, in), biases (out,)."""

    weights: FloatArray
    biases: FloatArray


@dataclass(frozen=True)
class Network:
    """The shape of a multilayer perceptron F: R^n_inputs -> R^n_outputs.

    F(x) = W_L s_{L-1}( ... s_1(W_1 x + b_1) ... ) + b_L, with W_1 of shape (widths[0], n_inputs).

    Parameters
    ----------
    n_inputs : int
    widths : sequence of int
        Units of the hidden layers; empty for a linear model.
    n_outputs : int
    activation : str or sequence of str
        One of "tanh", "sigmoid", "relu", "softplus", "sin", "identity", for all hidden layers or for each.
    """

    n_inputs: int
    widths: Sequence[int] = (20, 20, 20)
    n_outputs: int = 1
    activation: str | Sequence[str] = "tanh"
    sizes: np.ndarray = field(init=False, repr=False, compare=False)
    codes: np.ndarray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_whole("n_inputs", self.n_inputs)
        check_whole("n_outputs", self.n_outputs)
        if not isinstance(self.widths, Iterable):
            raise ValueError(
                f"widths={self.widths!r}: give a sequence, such as ({self.widths!r},) for one hidden layer."
            )
        widths = tuple(check_whole("widths", width) for width in self.widths)
        names = (self.activation,) * len(widths) if isinstance(self.activation, str) else tuple(self.activation)
        if len(names) != len(widths):
            raise ValueError(f"activation={self.activation!r}: give one for each of the {len(widths)} hidden layers.")
        for name in names:
            check_choice("activation", name, ACTIVATIONS)
        codes = [kernels.CODES[name] for name in names] + [kernels.CODES["identity"]]
        object.__setattr__(self, "widths", widths)
        object.__setattr__(self, "activation", names)
        object.__setattr__(self, "sizes", np.array([self.n_inputs, *widths, self.n_outputs], dtype=np.int64))
        object.__setattr__(self, "codes", np.array(codes, dtype=np.int64))

    def __reduce__(self) -> tuple:
        # Build the arrays again: memory-mapped copies are read-only, and numba would compile again for them.
        return Network, (self.n_inputs, self.widths, self.n_outputs, self.activation)

    @property
    def n_parameters(self) -> int:
        """Length of the parameter vector."""
        return int(((self.sizes[:-1] + 1) * self.sizes[1:]).sum())

    def with_inputs(self, n_inputs: int) -> "Network":
        """Return the same shape with another number of inputs."""
        return replace(self, n_inputs=n_inputs)

    def layers(self, theta: FloatArray) -> tuple[Layer, ...]:
        """Return the layers of a parameter vector as views: writing to a layer changes the vector."""
        self._check_parameters(theta)
        layers, place = [], 0
        for n_in, n_out in zip(self.sizes[:-1], self.sizes[1:], strict=True):
            weights = theta[place : place + n_in * n_out].reshape(n_out, n_in)
            place += n_in * n_out
            layers.append(Layer(weights, theta[place : place + n_out]))
            place += n_out
        return tuple(layers)

    def initialise(self, seed: int | np.random.Generator, dtype: DTypeLike = np.float64) -> FloatArray:
        """Draw parameters: weights uniform with variance 2 / (in + out) (Glorot and Bengio, 2010), or 2 / in
        in front of relu and softplus (He et al., 2015); biases zero.
        """
        rng = np.random.default_rng(seed)
        theta = np.zeros(self.n_parameters)
        for layer, activation in zip(self.layers(theta), (*self.activation, "identity"), strict=True):
            n_out, n_in = layer.weights.shape
            variance = 2.0 / n_in if activation in ("relu", "softplus") else 2.0 / (n_in + n_out)
            layer.weights[:] = rng.uniform(-1.0, 1.0, layer.weights.shape) * np.sqrt(3.0 * variance)
        return theta.astype(dtype)

    def select_inputs(self, theta: FloatArray, chosen: np.ndarray) -> FloatArray:
        """Return the parameters of the network that has only the chosen inputs (indices or a mask)."""
        W = self.layers(theta)[0].weights
        return np.concatenate([W[:, chosen].ravel(), theta[W.size :]])

    def restore_inputs(self, theta: FloatArray, chosen: np.ndarray, n_inputs: int) -> FloatArray:
        """Undo `select_inputs`; the other inputs get weights of zero."""
        W = self.layers(theta)[0].weights
        full = np.zeros((W.shape[0], n_inputs), theta.dtype)
        full[:, chosen] = W
        return np.concatenate([full.ravel(), theta[W.size :]])

    def predict(self, theta: FloatArray, X: ArrayLike) -> FloatArray:
        """Return F(X), (n, n_outputs), in the precision of `theta`."""
        theta = self._check_parameters(theta)
        X = check_matrix("X", X, dtype=theta.dtype, columns=self.n_inputs)
        out = np.empty((len(X), self.n_outputs), theta.dtype)
        with single_blas_thread():
            kernels.predict(theta, self.sizes, self.codes, X, out)
        return out

    def input_jacobian(self, theta: FloatArray, X: ArrayLike) -> FloatArray:
        """Return dF_c / dx_j at every sample, (n, n_outputs, n_inputs)."""
        theta = self._check_parameters(theta)
        X = check_matrix("X", X, dtype=theta.dtype, columns=self.n_inputs)
        out = np.empty((len(X), self.n_outputs, self.n_inputs), theta.dtype)
        with single_blas_thread():
            kernels.input_jacobian(theta, self.sizes, self.codes, X, out)
        return out

    def ridge_strengths(self, ridge: float, first_ridge: float) -> FloatArray:
        """Return one strength for each layer: `first_ridge` for the first and `ridge` for the others."""
        later = check_real("ridge", ridge)
        return np.array([check_real("first_ridge", first_ridge)] + [later] * (self.codes.size - 1))

    def loss(self, theta: FloatArray, samples: Samples) -> float:
        """Return L = sum_i w_i l(F(x_i), y_i) / sum_i w_i, with l the loss of the samples."""
        return samples.mean_loss(self.predict(theta, samples.X))

    def loss_gradient(
        self, theta: FloatArray, samples: Samples, ridge: FloatArray | None = None
    ) -> tuple[float, FloatArray]:
        """Return L + sum_k ridge_k |W_k|^2 over all samples, and its gradient (n_parameters,).

        `ridge` (layers,) holds one strength for each weight matrix.
        """
        theta = self._check_parameters(theta)
        self.check_samples(samples, theta)
        strengths = np.zeros(self.codes.size) if ridge is None else np.asarray(ridge, float)
        if strengths.shape != self.codes.shape:
            raise ValueError(f"ridge has shape {strengths.shape}: give {self.codes.size}, one for each layer.")
        gradient = np.empty_like(theta)
        with single_blas_thread():
            loss, penalty = kernels.full_gradient(
                theta, self.sizes, self.codes,
                samples.X, samples.Y, samples.weights, samples.loss.compiled, strengths, gradient,
            )  # fmt: skip
        return loss + penalty, gradient

    def parameter_jacobian(self, theta: FloatArray, X: ArrayLike) -> FloatArray:
        """Return dF_c / dtheta_p at every sample, (n_parameters, n_outputs, n)."""
        theta = self._check_parameters(theta)
        X = check_matrix("X", X, dtype=theta.dtype, columns=self.n_inputs)
        out = np.empty((theta.size, self.n_outputs, len(X)), theta.dtype)
        with single_blas_thread():
            kernels.parameter_jacobian(theta, self.sizes, self.codes, X, out)
        return out

    def check_samples(self, samples: Samples, theta: FloatArray) -> None:
        """Raise an error if the samples do not fit the network or differ from the parameters in precision."""
        self._check_parameters(theta)
        check_matrix("X", samples.X, dtype=theta.dtype, columns=self.n_inputs)
        if samples.Y.shape[1] != self.n_outputs:
            raise ValueError(f"y has {samples.Y.shape[1]} columns: this network has {self.n_outputs} outputs.")
        if samples.X.dtype != theta.dtype:
            raise ValueError(f"samples are {samples.X.dtype}, parameters {theta.dtype}: give both the same dtype.")

    def _check_parameters(self, theta: FloatArray) -> FloatArray:
        if theta.shape != (self.n_parameters,) or theta.dtype not in (np.float32, np.float64):
            raise ValueError(
                f"theta has shape {theta.shape} and dtype {theta.dtype}: this network needs "
                f"({self.n_parameters},), float32 or float64."
            )
        return np.require(theta, requirements=["C", "W", "A", "E"])  # numba would compile again for read-only arrays
