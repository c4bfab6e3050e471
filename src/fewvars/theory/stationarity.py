"""Theorem 2, stationarity: the distance of zero from the subdifferential, and its bound along a run."""

from dataclasses import dataclass

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.solvers import Objective
from fewvars.theory.decay import LossDecay


def stationarity(objective: Objective, theta: FloatArray) -> float:
    """Return dist(0, gradient of (L + ridge) + strength * subdifferential of the penalty), in double precision.

    It is the steepest slope of F downwards from theta. It is exact for input groups, second-layer columns and equally
    weighted singular values; adaptive singular values are rejected because they are not convex.
    """
    theta = np.asarray(theta, np.float64)
    if objective.penalty is not None and not objective.penalty.convex:
        raise ValueError(
            f"penalty={objective.penalty!r} is not convex and has no subdifferential: give equal weights, or use "
            "the length of a proximal step, as `solvers.MonotoneFit.distance` does."
        )
    return objective.distance(theta, objective.smooth(theta)[1], 1.0)


@dataclass(frozen=True, eq=False)
class StationarityBound:
    """Both sides of Theorem 2 after each of K iterations.

    Attributes
    ----------
    means : (K,)
        1/k sum_{j <= k} dist(0, subdifferential of F at theta_j)^2.
    printed_bounds : (K,)
        (3 + 3B / (2C)) mu + 3B / k (F_0 - F_k), B = (1/tau^2 + C^2) / (1/tau - C).
    sharp_bounds : (K,) or None
        (1/tau + C)^2 / (1/tau - C/2) / k (F_0 - F_k), from the sharper form of Theorem 1; None with mini-batches.
    rounding : (K,) error of the bounds from rounding in the difference of two values of F
    """

    means: FloatArray
    printed_bounds: FloatArray
    sharp_bounds: FloatArray | None
    rounding: FloatArray

    @property
    def holds(self) -> bool:
        """Whether the means never exceed any of the bounds, up to `rounding`."""
        bounds = (
            self.printed_bounds if self.sharp_bounds is None else np.minimum(self.printed_bounds, self.sharp_bounds)
        )
        return bool((self.means <= bounds + self.rounding).all())


def check_stationarity(decay: LossDecay) -> StationarityBound:
    """Evaluate Theorem 2 along the run of `check_loss_decay`, whose steps must be strictly below 1 / C."""
    C, inverse = decay.constant, 1.0 / decay.step
    if not inverse > C:
        raise ValueError(
            f"the run took steps of {decay.step * C:g} / C: Theorem 2 needs steps strictly below 1 / C. "
            "Run `check_loss_decay` with a fraction below 1."
        )
    counts = np.arange(1, len(decay.squared_distances) + 1)
    fallen = (decay.objectives[0] - decay.objectives[1:]) / counts
    printed, sharp = (inverse**2 + C**2) / (inverse - C), (inverse + C) ** 2 / (inverse - C / 2)
    full_batch = not decay.variances.any()
    return StationarityBound(
        means=np.cumsum(decay.squared_distances) / counts,
        printed_bounds=(3 + 3 * printed / (2 * C)) * decay.variance + 3 * printed * fallen,
        sharp_bounds=sharp * fallen if full_batch else None,
        rounding=3 * printed * np.maximum.accumulate(decay.rounding) / counts,
    )
