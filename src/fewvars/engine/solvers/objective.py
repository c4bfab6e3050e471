"""The penalised objective over all samples: its smooth and nonsmooth parts, proximal steps, and stationarity."""

import numpy as np

from fewvars._common.validation import FloatArray, check_real
from fewvars.engine.network import Network
from fewvars.engine.penalties import Penalty
from fewvars.engine.samples import Samples


class Objective:
    """F(theta) = L + ridge + strength * penalty over all samples, in double precision."""

    def __init__(
        self,
        network: Network,
        samples: Samples,
        penalty: Penalty | None = None,
        strength: float = 0.0,
        *,
        ridge: float = 0.0,
        first_ridge: float = 0.0,
    ) -> None:
        self.network, self.samples, self.penalty = network, samples, penalty
        self.strength = check_real("strength", strength)
        self.ridge = network.ridge_strengths(ridge, first_ridge)

    def penalised(self, theta: FloatArray) -> FloatArray:
        """Return a view of the weight matrix that the penalty acts on; without penalty, of the first."""
        layers = self.network.layers(theta)
        return layers[0].weights if self.penalty is None else self.penalty.penalised(layers)

    def smooth(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return L + ridge and its gradient."""
        return self.network.loss_gradient(theta, self.samples, self.ridge)

    def rough(self, theta: FloatArray) -> float:
        """Return strength * penalty."""
        return 0.0 if self.penalty is None else self.strength * self.penalty.value(self.penalised(theta))

    def step(self, theta: FloatArray, gradient: FloatArray, tau: float) -> FloatArray:
        """Return prox_{tau J}(theta - tau gradient)."""
        new = theta - tau * gradient
        if self.penalty is not None:
            W = self.penalised(new)
            W[:] = self.penalty.prox(W, tau * self.strength)
        return new

    def distance(self, theta: FloatArray, gradient: FloatArray, tau: float) -> float:
        """Return the distance to stationarity; see `MonotoneFit`."""
        if self.penalty is None:
            return float(np.linalg.norm(gradient))
        if not self.penalty.convex:
            return float(np.linalg.norm(theta - self.step(theta, gradient, tau)) / tau)
        W, G = self.penalised(theta), self.penalised(gradient)
        rest = gradient.copy()
        self.penalised(rest)[:] = 0.0
        rough = self.penalty.subdifferential_distance(W, G, self.strength)
        return float(np.hypot(np.linalg.norm(rest), rough))
