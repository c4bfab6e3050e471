"""A readable NumPy implementation of what the kernels compute: slow and plain, in double precision.

Parameters are one flat vector: for each layer its weights (out, in), row by row, then its biases (out,).
"""

from collections.abc import Sequence

import numpy as np

ACTIVATIONS = {
    "identity": lambda z: z,
    "tanh": np.tanh,
    "sigmoid": lambda z: 1.0 / (1.0 + np.exp(-z)),
    "relu": lambda z: np.maximum(z, 0.0),
    "softplus": lambda z: np.logaddexp(z, 0.0),
    "sin": np.sin,
}

DERIVATIVES = {
    "identity": np.ones_like,
    "tanh": lambda z: 1.0 / np.cosh(z) ** 2,
    "sigmoid": lambda z: 0.25 / np.cosh(0.5 * z) ** 2,
    "relu": lambda z: (z > 0.0).astype(float),
    "softplus": lambda z: 1.0 / (1.0 + np.exp(-z)),
    "sin": np.cos,
}


class Perceptron:
    """F(x) = W_L s_{L-1}( ... s_1(W_1 x + b_1) ... ) + b_L, with sizes from the inputs to the outputs."""

    def __init__(self, sizes: Sequence[int], activations: Sequence[str]) -> None:
        self.sizes = [int(size) for size in sizes]
        self.activations = [*activations, "identity"]

    def layers(self, theta):
        """Return [(W (out, in), b (out,)), ...] as views."""
        found, place = [], 0
        for n_in, n_out in zip(self.sizes[:-1], self.sizes[1:], strict=True):
            W = theta[place : place + n_out * n_in].reshape(n_out, n_in)
            b = theta[place + n_out * n_in : place + n_out * n_in + n_out]
            found.append((W, b))
            place += n_out * (n_in + 1)
        return found

    def forward(self, theta, X):
        """Return the activations of all layers, inputs first, and the slopes of all layers but the input."""
        activations, slopes = [X], []
        for (W, b), name in zip(self.layers(theta), self.activations, strict=True):
            Z = activations[-1] @ W.T + b
            activations.append(ACTIVATIONS[name](Z))
            slopes.append(DERIVATIVES[name](Z))
        return activations, slopes

    def predict(self, theta, X):
        """Return F(X), (n, outputs)."""
        return self.forward(theta, X)[0][-1]

    def backward(self, theta, slopes, D):
        """Return the derivatives by all layers' pre-activations from those by the outputs, D (n, out)."""
        deltas = [D]
        for (W, _), slope in zip(self.layers(theta)[:0:-1], slopes[-2::-1], strict=True):
            deltas.insert(0, (deltas[0] @ W) * slope)
        return deltas

    def gradient(self, theta, X, Y, weights, ridge):
        """Return (L, R, gradient of L + R), L = 1/n sum_i w_i |F(x_i) - y_i|^2, R = sum_k ridge_k |W_k|^2."""
        activations, slopes = self.forward(theta, X)
        residual = activations[-1] - Y
        loss = (weights * (residual**2).sum(axis=1)).mean()
        deltas = self.backward(theta, slopes, 2.0 / len(X) * weights[:, None] * residual)
        penalty, parts = 0.0, []
        for (W, _), strength, A, D in zip(self.layers(theta), ridge, activations[:-1], deltas, strict=True):
            penalty += strength * (W**2).sum()
            parts += [(D.T @ A + 2.0 * strength * W).ravel(), D.sum(axis=0)]
        return loss, penalty, np.concatenate(parts)

    def parameter_jacobian(self, theta, X):
        """Return dF_c / dtheta at every sample, (n, outputs, parameters)."""
        activations, slopes = self.forward(theta, X)
        found = np.empty((len(X), self.sizes[-1], theta.size))
        for c in range(self.sizes[-1]):
            deltas = self.backward(theta, slopes, np.tile(np.eye(self.sizes[-1])[c], (len(X), 1)))
            for i in range(len(X)):
                parts = [
                    np.concatenate([np.outer(D[i], A[i]).ravel(), D[i]])
                    for D, A in zip(deltas, activations[:-1], strict=True)
                ]
                found[i, c] = np.concatenate(parts)
        return found

    def input_jacobian(self, theta, X):
        """Return dF_c / dx_j at every sample, (n, outputs, inputs)."""
        found = np.empty((len(X), self.sizes[-1], self.sizes[0]))
        _, slopes = self.forward(theta, X)
        for i in range(len(X)):
            J = np.eye(self.sizes[0])
            for (W, _), slope in zip(self.layers(theta), slopes, strict=True):
                J = slope[i][:, None] * (W @ J)
            found[i] = J
        return found


def soft_threshold_groups(W, labels, thresholds):
    """Return argmin_V sum_g thresholds[g] |V_g|_F + 1/2 |V - W|_F^2 over groups of columns."""
    V = np.zeros_like(W)
    for g, threshold in enumerate(thresholds):
        norm = np.linalg.norm(W[:, labels == g])
        if norm > threshold:
            V[:, labels == g] = (1.0 - threshold / norm) * W[:, labels == g]
    return V


class Order:
    """The order of the samples: Fisher and Yates with Marsaglia's 64-bit xorshift, anew for each epoch."""

    def __init__(self, n: int, batch_size: int, seed: int) -> None:
        self.samples = list(range(n))
        self.n_batches = -(-n // batch_size)
        self.batch = 0
        self.state = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]) | 1

    def _draw(self) -> int:
        mask = 2**64 - 1
        self.state ^= (self.state << 13) & mask
        self.state ^= self.state >> 7
        self.state ^= (self.state << 17) & mask
        return self.state

    def next_batch(self) -> list[int]:
        """Return the samples of the next mini-batch."""
        if self.batch % self.n_batches == 0:
            for i in range(len(self.samples) - 1, 0, -1):
                j = self._draw() % (i + 1)
                self.samples[i], self.samples[j] = self.samples[j], self.samples[i]
        k, n = self.batch % self.n_batches, len(self.samples)
        self.batch += 1
        return self.samples[k * n // self.n_batches : (k + 1) * n // self.n_batches]


class Training:
    """The training loop: Adam, or proximal gradient with momentum, on mini-batches."""

    def __init__(self, perceptron, theta, X, Y, weights, *, batch_size, ridge, seed):
        self.perceptron, self.theta = perceptron, np.array(theta, float)
        self.X, self.Y, self.weights = (np.array(a, float) for a in (X, Y, weights))
        self.ridge, self.order = ridge, Order(len(X), batch_size, seed)
        self.first, self.second = np.zeros(self.theta.size), np.zeros(self.theta.size)
        self.updates = 0

    def _batch_gradient(self):
        batch = self.order.next_batch()
        loss, _, gradient = self.perceptron.gradient(
            self.theta, self.X[batch], self.Y[batch], self.weights[batch], self.ridge
        )
        self.updates += 1
        return loss, gradient

    def adam(self, rate):
        """Make one update of Adam (Kingma and Ba, 2015, algorithm 1); return the loss of its batch."""
        loss, gradient = self._batch_gradient()
        self.first = 0.9 * self.first + 0.1 * gradient
        self.second = 0.999 * self.second + 0.001 * gradient**2
        first = self.first / (1.0 - 0.9**self.updates)
        second = self.second / (1.0 - 0.999**self.updates)
        self.theta -= rate * first / (np.sqrt(second) + 1e-8)
        return loss

    def proximal(self, rate, momentum, layer, labels, thresholds):
        """Make one update with momentum and the prox of the long-run step; return the loss of its batch."""
        loss, gradient = self._batch_gradient()
        self.first = momentum * self.first + gradient
        self.theta -= rate * self.first
        W = self.perceptron.layers(self.theta)[layer][0]
        W[:] = soft_threshold_groups(W, labels, rate / (1.0 - momentum) * thresholds)
        return loss

    def keep_inputs(self, alive):
        """Go on with the living inputs alone."""
        sizes = [int(alive.sum()), *self.perceptron.sizes[1:]]
        size = self.perceptron.sizes[0] * self.perceptron.sizes[1]
        vectors = []
        for vector in (self.theta, self.first, self.second):
            W = vector[:size].reshape(self.perceptron.sizes[1], -1)
            vectors.append(np.concatenate([W[:, alive].ravel(), vector[size:]]))
        self.theta, self.first, self.second = vectors
        self.X = self.X[:, alive]
        self.perceptron = Perceptron(sizes, self.perceptron.activations[:-1])
