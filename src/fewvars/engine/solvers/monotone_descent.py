"""Monotone descent: full-batch proximal gradient with backtracking, and a certificate of where it ended."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fewvars._common.validation import FloatArray, check_real, check_whole
from fewvars.engine.solvers.objective import Objective
from fewvars.engine.solvers.outcome import Fit, Outcome

_SMALLEST_STEP = 1e-18


@dataclass(frozen=True, eq=False)
class MonotoneFit(Fit):
    """The result of monotone descent, with a certificate of how stationary it is.

    Attributes
    ----------
    steps : (n_updates,) step sizes taken
    distance : float
        Distance of zero from the subdifferential of the objective at `theta`. If the penalty is not convex,
        |theta - prox(theta - tau gradient)| / tau instead, with tau the last step size.
    constant : float
        Largest |change of the gradient| / |change of theta| in one update: a lower bound on the Lipschitz constant
        of the gradient along the run. Zero if there were no updates.
    """

    steps: FloatArray
    distance: float
    constant: float


def monotone(
    objective: Objective,
    theta: FloatArray,
    *,
    max_iterations: int = 1000,
    tolerance: float = 1e-6,
    initial_step: float = 1.0,
) -> MonotoneFit:
    """Full-batch proximal gradient with backtracking: F never increases from one iteration to the next.

    A step of size tau is accepted when F falls by at least 1e-4 / tau |step|^2; otherwise tau is halved. The first
    trial of each iteration alternates between the long and the short step of Barzilai and Borwein (1988), as Dai
    and Fletcher (2005) suggest: together they need several times fewer gradients than either alone.
    """
    tau = check_real("initial_step", initial_step, strict=True)
    at = _evaluate(objective, np.asarray(theta, np.float64).copy())
    if not np.isfinite(at.value):
        return MonotoneFit(at.theta, np.array([]), 0, Outcome.DIVERGED, np.array([]), np.inf, 0.0)
    values, steps, constant, outcome = [], [], 0.0, Outcome.EXHAUSTED
    for _ in range(check_whole("max_iterations", max_iterations, minimum=0)):
        if objective.distance(at.theta, at.gradient, tau) <= tolerance:
            outcome = Outcome.CONVERGED
            break
        new, tau = _backtrack(objective, at, tau)
        if new is None:
            outcome = Outcome.STALLED
            break
        values.append(new.value)
        steps.append(tau)
        moved, turned = new.theta - at.theta, new.gradient - at.gradient
        constant = max(constant, float(np.linalg.norm(turned) / np.linalg.norm(moved)))
        tau = _next_trial(moved, turned, tau, long=len(steps) % 2 == 1)
        at = new
    distance = objective.distance(at.theta, at.gradient, tau if tau >= _SMALLEST_STEP else 1.0)
    if outcome is Outcome.EXHAUSTED and distance <= tolerance:
        outcome = Outcome.CONVERGED
    return MonotoneFit(at.theta, np.array(values), len(steps), outcome, np.array(steps), distance, constant)


class _Point(NamedTuple):
    theta: FloatArray
    value: float
    gradient: FloatArray


def _evaluate(objective: Objective, theta: FloatArray) -> _Point:
    smooth, gradient = objective.smooth(theta)
    return _Point(theta, smooth + objective.rough(theta), gradient)


def _backtrack(objective: Objective, at: _Point, tau: float) -> tuple[_Point | None, float]:
    """Halve tau until F falls enough; return the new point, or None if there is none, and tau."""
    while tau >= _SMALLEST_STEP:
        new = _evaluate(objective, objective.step(at.theta, at.gradient, tau))
        moved = new.theta - at.theta
        if new.value <= at.value - 1e-4 / tau * (moved @ moved):
            return (new if moved.any() else None), tau
        tau *= 0.5
    return None, tau


def _next_trial(moved: FloatArray, turned: FloatArray, tau: float, *, long: bool) -> float:
    """Return the long or short step of Barzilai and Borwein, given the change of theta and of the gradient."""
    curvature = moved @ turned
    if curvature <= 0:
        return 2.0 * tau
    trial = (moved @ moved) / curvature if long else curvature / (turned @ turned)
    return float(np.clip(trial, 0.1 * tau, 1e3 * tau))
