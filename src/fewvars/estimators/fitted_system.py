"""Fitted systems: graphs, equations, the vector field, simulations and scores."""

from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import make_interp_spline
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from fewvars._common.validation import FloatArray, check_real
from fewvars.estimators.about_systems import checked_controls, checked_derivatives, complete_rows
from fewvars.estimators.input_columns import InputColumns
from fewvars.estimators.measurements import measured
from fewvars.estimators.simulation import Bounds, Simulation, integrate, iterate
from fewvars.heads import Head
from fewvars.series.splits import first_datetime, times_since
from fewvars.series.trajectories import Trajectories

RANGE = 0.5  # part of a variable's range by which a simulation may leave it


class FittedSystem(BaseEstimator):
    """Abstract: a model with a function of few inputs for each variable, which `fit` has found."""

    target: str
    target_: str
    smoothing: str
    n_features_in_: int
    heads_: tuple[Head, ...]
    input_graph_: np.ndarray
    input_scores_: FloatArray
    input_q_values_: FloatArray
    input_frequencies_: FloatArray
    lower_: FloatArray
    upper_: FloatArray
    step_: float
    start_: str
    _columns: InputColumns

    @property
    def form(self) -> str:
        """The target that was used; models of earlier versions were saved without it."""
        return self.__dict__.get("target_", self.target)

    def _by_variable(self, attribute: str, combine: Any) -> np.ndarray:
        """Return an attribute (d, groups) combined over the groups that belong to each variable, (d, d)."""
        check_is_fitted(self, "heads_")
        values, d = getattr(self, attribute), len(self._columns.variables)
        parts = values[:, : self._columns.order * d].reshape(d, -1, d)
        return combine(parts, axis=1)

    @property
    def graph_(self) -> np.ndarray:
        """Which equation depends on which variable, (d, d)."""
        return self._by_variable("input_graph_", np.any)

    @property
    def edge_scores_(self) -> FloatArray:
        """Evidence for every edge, selected or not, (d, d)."""
        return self._by_variable("input_scores_", np.max)

    @property
    def edge_q_values_(self) -> FloatArray:
        """The smallest false discovery rate at which each edge would be selected, (d, d)."""
        return np.minimum(self._by_variable("input_q_values_", np.min) * self._columns.order, 1.0)

    @property
    def edge_frequencies_(self) -> FloatArray:
        """Share of the resamples in which each edge was selected, (d, d)."""
        check_is_fitted(self, "heads_")
        if "input_frequencies_" not in self.__dict__:
            raise AttributeError(
                "edge_frequencies_ needs resamples, and the model was fitted without: set n_resamples and fit again."
            )
        return self._by_variable("input_frequencies_", np.max)

    @property
    def equations_(self) -> list[str]:
        """The right side of each equation."""
        check_is_fitted(self, "heads_")
        texts = []
        for head, used in zip(self.heads_, self.input_graph_[:, self._columns.labels], strict=True):
            chosen = list(compress(self._columns.names, used))
            text = head.text(chosen)
            texts.append(f"{head.describe()} of {', '.join(chosen)}" if text is None else text[0])
        return texts

    def predict(self, X: ArrayLike, *, u: ArrayLike | None = None, t: ArrayLike | None = None) -> FloatArray:
        """Return the right sides of the equations, (n, d): derivatives, or with a target "step" the next states.

        Parameters
        ----------
        X : array-like of shape (n, states)
            The variables; with ``order=2`` followed by their velocities.
        u : array-like of shape (n, controls), optional
        t : array-like of shape (n,) or scalar, optional
            Times, if the model was fitted with ``time=True``. If it was fitted to datetimes, these may be datetimes or
            seconds since `start_`.
        """
        check_is_fitted(self, "heads_")
        states = self._states(X)
        controls, _ = checked_controls(u, len(states), self._columns.variables, len(self._columns.controls))
        if t is None and self._columns.time:
            raise ValueError("t is missing: the model was fitted with time=True; give the times too.")
        times = times_since(None, self._counted(0.0 if t is None else t))
        if times.shape not in ((), (len(states),)):
            raise ValueError(f"t has shape {times.shape}: give one time, or one for each of {len(states)} rows of X.")
        if not np.isfinite(times).all():
            raise ValueError("t holds a time that is missing or not finite: leave the row out, or give its time.")
        return self._field(states, controls, np.broadcast_to(times, (len(states),)))

    def _smoothing(self, y: Any, t: Any) -> str:
        """Whether inputs are smoothed; rows with measured derivatives and without times may be in any order."""
        return "off" if self.smoothing == "auto" and y is not None and t is None else self.smoothing

    def _states(self, X: ArrayLike) -> FloatArray:
        if self._columns.order == 1:
            return validate_data(self, X, dtype=np.float64, order="C", reset=False)
        states = np.asarray(X, dtype=np.float64)
        if states.ndim != 2 or states.shape[1] != len(self._columns.states):
            raise ValueError(
                f"X has shape {states.shape}: give the {self.n_features_in_} variables followed by their velocities, "
                f"shape (n, {len(self._columns.states)})."
            )
        return states

    def _counted(self, t: Any) -> Any:
        """Return datetimes as numbers, counted as in `fit`, and other times as they are."""
        if first_datetime(t) is None:
            return t
        start = self.__dict__.get("start_")
        if start is None and self._columns.time:
            raise ValueError(
                "t holds datetimes, but the model was fitted with time=True and times that were numbers: give numbers "
                "with the same origin and unit."
            )
        return times_since(start, t)

    def _right_sides(self, columns: FloatArray) -> FloatArray:
        """Return the functions (n, d) at inputs (n, columns)."""
        used = self.input_graph_[:, self._columns.labels]
        return np.column_stack(
            [head.predict(columns[:, own])[:, 0] for head, own in zip(self.heads_, used, strict=True)]
        )

    def _field(self, states: FloatArray, u: FloatArray, t: FloatArray) -> FloatArray:
        found = self._right_sides(self._columns.columns(states, u, t))
        return states + found if self.form == "step" else found

    def simulate(
        self, x0: ArrayLike, t: ArrayLike, *, u: Any = None, margin: float = RANGE, rtol: float = 1e-6
    ) -> Simulation:
        """Integrate the equations from a state, as long as it stays near the data.

        Parameters
        ----------
        x0 : array-like of shape (states,)
            The state at the first time: the variables, with ``order=2`` followed by their velocities.
        t : array-like of shape (n,)
            Increasing times. Datetimes become seconds since `start_`, or since the first of them if the model was
            fitted to numbers.
        u : array-like of shape (n, controls) or callable, optional
            Controls at these times, interpolated linearly, or as a function of time as a number.
        margin : float, default=0.5
            The simulation stops when a variable is outside its range in the data by more than this part of the range.
            Angles are not limited.
        rtol : float, default=1e-6
            Relative tolerance of a step.

        Returns
        -------
        Simulation
            The states (n, states) and how it ended.
        """
        check_is_fitted(self, "heads_")
        columns, times = self._columns, times_since(None, self._counted(t))
        start = np.asarray(x0, dtype=np.float64)
        if start.shape != (len(columns.states),) or not np.isfinite(start).all():
            raise ValueError(f"x0={x0!r}: give {len(columns.states)} finite numbers, for {', '.join(columns.states)}.")
        if times.ndim != 1 or times.size < 2 or not np.isfinite(times).all() or (np.diff(times) <= 0).any():
            raise ValueError("t must hold at least two finite, increasing times.")
        check_real("margin", margin)
        check_real("rtol", rtol, strict=True)
        control = self._control_function(u, times)
        extent = self.upper_ - self.lower_
        lower, upper = self.lower_ - margin * extent, self.upper_ + margin * extent
        lower[list(columns.angles)], upper[list(columns.angles)] = -np.inf, np.inf
        bounds = Bounds(lower, upper, columns.states)

        def field(time: float, x: FloatArray) -> FloatArray:
            found = self._field(x[None], control(time)[None], np.array([time]))[0]
            return found if columns.order == 1 else np.r_[x[len(found) :], found]

        if self.form == "step":
            if np.abs(np.diff(times) - self.step_).max() > 1e-3 * self.step_:
                raise ValueError(f'With target="step" the times t must be {self.step_:g} apart, as in the data.')
            return iterate(field, start, times, bounds)
        return integrate(field, start, times, bounds, rtol, rtol * np.where(extent > 0, extent, 1.0))

    def _control_function(self, u: Any, t: FloatArray) -> Any:
        n_controls = len(self._columns.controls)
        if callable(u):
            return lambda time: np.asarray(u(time), dtype=np.float64).reshape(n_controls)
        values, _ = checked_controls(u, len(t), self._columns.variables, n_controls)
        if not n_controls:
            return lambda time: np.empty(0)
        line = make_interp_spline(t, values, k=1)
        return lambda time: line(min(max(time, t[0]), t[-1]))

    def valid_time(self, X: ArrayLike, t: ArrayLike, *, u: Any = None, threshold: float = 0.4) -> float:
        """Return for how long a simulation from the first row of X stays close to the trajectory X.

        The error is the distance of the states over the root mean square distance of X from its mean; the time is
        that of the last row before the error exceeds the threshold, counted from the first row, in seconds if the times
        are datetimes. Angles are compared modulo a full turn.
        """
        check_is_fitted(self, "heads_")
        states = self._states(X)
        check_real("threshold", threshold, strict=True)
        times = times_since(None, self._counted(t))
        if times.shape != (len(states),):
            raise ValueError(f"t has shape {times.shape}: give one time for each of the {len(states)} rows of X.")
        found = self.simulate(states[0], times, u=u).X
        size = np.sqrt((self._differences(states, self._means(states)) ** 2).sum(axis=1).mean())
        good = np.linalg.norm(self._differences(found, states), axis=1) <= threshold * size
        return float(times[-1 if good.all() else max(int(np.argmin(good)) - 1, 0)] - times[0])

    def _means(self, states: FloatArray) -> FloatArray:
        """Return the mean of each state (n, states); of angles, the direction of the mean of their unit vectors."""
        means, angles = states.mean(axis=0), list(self._columns.angles)
        means[angles] = np.angle(np.exp(1j * states[:, angles]).mean(axis=0))
        return means

    def _differences(self, states: FloatArray, others: FloatArray) -> FloatArray:
        """Return the differences of states; those of angles are within half a turn."""
        differences, angles = states - others, list(self._columns.angles)
        differences[:, angles] = np.angle(np.exp(1j * differences[:, angles]))
        return differences

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        t: ArrayLike | float | None = None,
        trajectory: ArrayLike | None = None,
        u: ArrayLike | None = None,
    ) -> float:
        """Return the coefficient of determination of the left sides of the equations, averaged over the variables.

        The left sides are computed from these trajectories as in `fit`, which describes the parameters.
        """
        check_is_fitted(self, "heads_")
        variables = validate_data(self, X, dtype=np.float64, reset=False, ensure_all_finite="allow-nan")
        columns = self._columns
        controls, _ = checked_controls(u, len(variables), columns.variables, len(columns.controls))
        derivatives = None if y is None else checked_derivatives(y, variables.shape, self.form)
        runs = Trajectories.of(self._counted(t), trajectory, complete_rows(variables, controls, derivatives))
        ones = np.ones(len(variables))
        data, _ = measured(columns, runs, variables, controls, ones, derivatives, self.form, self._smoothing(y, t))
        right = self._right_sides(data[0].inputs)
        scores = []
        for i, own in enumerate(data):
            target = own.targets[:, i]
            left, total = np.mean((target - own.windows @ right[:, i]) ** 2), target.var()
            scores += [1.0 - left / total] if total > 0 else []
        return float(np.mean(scores)) if scores else 1.0
