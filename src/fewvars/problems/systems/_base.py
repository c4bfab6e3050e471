"""What every system provides (field, graph, names, initial state), and the integrator that they share."""

import warnings
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import ODEintWarning, odeint, solve_ivp

from fewvars._common.validation import FloatArray

# odeint allows 500 internal steps between two output times, too few for sparse outputs at tight tolerances.
_MAX_STEPS_PER_OUTPUT = 50_000


class IntegrationError(RuntimeError):
    """The integrator gave up, or the solution left the finite numbers."""


class System(ABC):
    """An autonomous system dx/dt = field(x) of d variables. Abstract; the concrete systems are final.

    Attributes
    ----------
    d : int
    unit : tuple of str
        Names of the variables of one unit; the state is that of the first unit, that of the second, ...
    """

    d: int
    unit: ClassVar[tuple[str, ...]] = ("x",)

    @abstractmethod
    def field(self, x: FloatArray) -> FloatArray:
        """Time derivative, shape (..., d), of states of shape (..., d)."""

    @property
    @abstractmethod
    def graph(self) -> NDArray[np.bool_]:
        """Dependency graph (d, d): graph[i, j] is True iff dx_i/dt depends on x_j."""

    @abstractmethod
    def default_initial_state(self) -> FloatArray:
        """Usual state at the first time, shape (d,)."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the d variables: those of a unit, counted from one as papers do."""
        return tuple(f"{name}{k + 1}" for k in range(self.d // len(self.unit)) for name in self.unit)


def simulate(
    system: System,
    t: ArrayLike,
    x0: ArrayLike | None = None,
    *,
    rtol: float = 1e-9,
    atol: float = 1e-9,
    method: str = "LSODA",
) -> FloatArray:
    """Integrate a system.

    Parameters
    ----------
    system : System
        The system, of d variables.
    t : array-like of shape (n,)
        Strictly increasing output times. The first is the time of `x0`.
    x0 : array-like of shape (d,), optional
        State at ``t[0]``. Default: ``system.default_initial_state()``.
    rtol, atol : float
        Relative and absolute tolerance of a step. A chaotic trajectory depends on them: with other
        tolerances it soon becomes another trajectory, equally valid as data.
    method : str
        ``"LSODA"`` (compiled loop of `scipy.integrate.odeint`), or another method of
        `scipy.integrate.solve_ivp`, which is slower.

    Returns
    -------
    ndarray of shape (n, d)
        States at the times `t`; row 0 is `x0`.

    Raises
    ------
    IntegrationError
        When a step fails or the solution is no longer finite.
    """
    times = _checked_times(t)
    start = _checked_state(system, x0)
    if method.upper() == "LSODA":
        states = _integrate_lsoda(system, times, start, rtol, atol)
    else:
        states = _integrate_ivp(system, times, start, rtol, atol, method)
    finite = np.isfinite(states).all(axis=1)
    if not finite.all():
        raise IntegrationError(f"The solution is not finite from t = {times[np.argmin(finite)]:g} on.")
    return states


def _integrate_lsoda(system: System, times: FloatArray, start: FloatArray, rtol: float, atol: float) -> FloatArray:
    # On failure odeint leaves the remaining rows and its own record of times uninitialised,
    # so the time reached is kept here.
    reached = times[0]

    def derivative(x: FloatArray, time: float) -> FloatArray:
        nonlocal reached
        reached = time
        return system.field(x)

    with warnings.catch_warnings(), np.errstate(over="ignore", invalid="ignore"):
        warnings.simplefilter("error", ODEintWarning)
        try:
            return odeint(derivative, start, times, rtol=rtol, atol=atol, mxstep=_MAX_STEPS_PER_OUTPUT)
        except ODEintWarning as failure:
            reason = str(failure).split(" Run with")[0]
    raise IntegrationError(_failure(system, reached, times[-1], reason))


def _integrate_ivp(
    system: System,
    times: FloatArray,
    start: FloatArray,
    rtol: float,
    atol: float,
    method: str,
) -> FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):
        solution = solve_ivp(
            lambda _, x: system.field(x),
            (times[0], times[-1]),
            start,
            method=method,
            t_eval=times,
            rtol=rtol,
            atol=atol,
        )
    if not solution.success:
        reached = solution.t[-1] if solution.t.size else times[0]
        raise IntegrationError(_failure(system, reached, times[-1], solution.message))
    return np.ascontiguousarray(solution.y.T)


def _failure(system: System, reached: float, end: float, reason: str) -> str:
    return (
        f"Integrating {type(system).__name__} stopped near t = {reached:g}, before t = {end:g}: {reason} "
        "The solution may blow up there; try another x0, a shorter t or other parameters."
    )


def _checked_times(t: ArrayLike) -> FloatArray:
    times = np.asarray(t, dtype=np.float64)
    if times.ndim != 1 or times.size < 2 or not np.isfinite(times).all() or (np.diff(times) <= 0).any():
        raise ValueError("t must be a vector of at least two strictly increasing, finite times.")
    return times


def _checked_state(system: System, x0: ArrayLike | None) -> FloatArray:
    start = system.default_initial_state() if x0 is None else np.array(x0, dtype=np.float64)
    if start.shape != (system.d,):
        raise ValueError(f"x0 must have shape ({system.d},), got {start.shape}.")
    if not np.isfinite(start).all():
        raise ValueError("x0 must be finite.")
    return start
