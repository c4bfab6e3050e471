"""Integrate a learned field, and report whether it left the range of the training data or blew up."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import final

import numpy as np
from scipy.integrate import RK45

from fewvars._common.validation import FloatArray

MOST_EVALUATIONS = 200_000
Field = Callable[[float, FloatArray], FloatArray]


class SimulationOutcome(Enum):
    """How a simulation ended."""

    FINISHED = "It reached the last time."
    LEFT_RANGE = "It left the range of the data that the model was fitted to."
    NOT_FINITE = "It is no longer finite."
    TOO_MANY_STEPS = "It needed too many steps."


@final
@dataclass(frozen=True, eq=False)
class Simulation:
    """A simulated trajectory and how it ended.

    Attributes
    ----------
    t : (n,) the times asked for, as numbers
    X : (n, d) states; NaN from where it stopped
    outcome : SimulationOutcome
    stopped_at : float or None
        The time at which it stopped, None if it finished.
    variable : str or None
        The first variable that left its range or is not finite.
    """

    t: FloatArray
    X: FloatArray
    outcome: SimulationOutcome
    stopped_at: float | None = None
    variable: str | None = None

    @property
    def finished(self) -> bool:
        """Whether it reached the last time."""
        return self.outcome is SimulationOutcome.FINISHED

    def describe(self) -> str:
        """Return in words how it ended."""
        if self.finished:
            return self.outcome.value
        where = "" if self.variable is None else f", first in {self.variable}"
        return f"{self.outcome.value[:-1]} at t = {self.stopped_at:.6g}{where}."


@final
@dataclass(frozen=True, eq=False)
class Bounds:
    """The smallest and the largest value (d,) that each variable may take, and the names of the variables."""

    lower: FloatArray
    upper: FloatArray
    names: tuple[str, ...]

    def outcome(self, x: FloatArray) -> tuple[SimulationOutcome, str | None]:
        """Return whether a state (d,) is finite and within the bounds, and the first variable that is not."""
        broken = ~np.isfinite(x)
        if broken.any():
            return SimulationOutcome.NOT_FINITE, self.names[int(np.argmax(broken))]
        outside = (x < self.lower) | (x > self.upper)
        if outside.any():
            return SimulationOutcome.LEFT_RANGE, self.names[int(np.argmax(outside))]
        return SimulationOutcome.FINISHED, None


def integrate(field: Field, x0: FloatArray, t: FloatArray, bounds: Bounds, rtol: float, atol: FloatArray) -> Simulation:
    """Solve dx/dt = field(t, x) by the Runge-Kutta method of Dormand and Prince (1980).

    Parameters
    ----------
    x0 : (d,) state at t[0]
    t : (n,) increasing times
    rtol, atol : tolerances of a step
    """
    X = np.full((t.size, x0.size), np.nan)
    X[0] = x0
    outcome, variable = bounds.outcome(x0)
    if outcome is not SimulationOutcome.FINISHED:
        return Simulation(t, X, outcome, float(t[0]), variable)
    with np.errstate(all="ignore"):
        solver = RK45(field, t[0], x0, t[-1], rtol=rtol, atol=atol)
        done = 1
        while done < t.size:
            failed = solver.step() is not None
            outcome, variable = bounds.outcome(solver.y)
            if failed and outcome is SimulationOutcome.FINISHED:
                outcome = SimulationOutcome.NOT_FINITE
            if solver.nfev > MOST_EVALUATIONS:
                outcome = SimulationOutcome.TOO_MANY_STEPS
            if outcome is not SimulationOutcome.FINISHED:
                return Simulation(t, X, outcome, float(solver.t), variable)
            reached = int(np.searchsorted(t, solver.t, side="right"))
            if reached > done:
                X[done:reached] = solver.dense_output()(t[done:reached]).T
                done = reached
    return Simulation(t, X, SimulationOutcome.FINISHED)


def iterate(step: Field, x0: FloatArray, t: FloatArray, bounds: Bounds) -> Simulation:
    """Apply a map x -> step(t, x) once for each time after the first."""
    X = np.full((t.size, x0.size), np.nan)
    X[0] = x0
    for k in range(t.size):
        outcome, variable = bounds.outcome(X[k])
        if outcome is not SimulationOutcome.FINISHED:
            X[k] = np.nan if k else x0
            return Simulation(t, X, outcome, float(t[k]), variable)
        if k + 1 < t.size:
            with np.errstate(all="ignore"):
                X[k + 1] = step(t[k], X[k])
    return Simulation(t, X, SimulationOutcome.FINISHED)
