"""A whole dynamical system from measured trajectories: the graph, the equations, a simulation, and how sure."""

from copy import copy
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import make_interp_spline
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from fewvars._common.progress import Progress
from fewvars._common.threads import in_threads, single_blas_thread
from fewvars._common.validation import FloatArray, check_choice, check_real, check_whole
from fewvars.estimators.equations import Equation, EquationSettings, Measurements, System
from fewvars.estimators.measurements import TARGETS, InputColumns, Smooth, at_samples, in_weak_form
from fewvars.estimators.simulation import Bounds, Simulation, integrate, iterate
from fewvars.estimators.standardised import SMOOTHING
from fewvars.heads import HeadSettings, kinds_of
from fewvars.search.variables.evidence import q_values
from fewvars.series.trajectories import FEWEST_ROWS, Trajectories, by_run

RANGE = 0.5  # part of a variable's range by which a simulation may leave it


class DynamicsRegressor(BaseEstimator):
    """Find a system of differential equations dx/dt = f(x, u) from noisy trajectories of many variables.

    Each equation is a function of few variables. The variables are found by tests and held-out windows of time; the
    function is a sparse polynomial or, where that explains less, an average of networks.

    Parameters
    ----------
    target : {"weak", "derivative", "step"}, default="weak"
        What the equations are compared with. "weak": averages of dx/dt over short windows, computed from x as measured
        without differentiating it. "derivative": derivatives of the smoothed trajectory at every sample. "step": the
        change over one sampling interval, for coarsely sampled systems and for maps.
    order : {1, 2}, default=1
        With 2 the equations are d2x/dt2 = f(x, dx/dt, u): for second-order systems of which only the positions were
        measured. States are then positions followed by velocities.
    angles : sequence of str or int, or "all", optional
        Variables on a circle, in radians: they enter the equations through their sine and cosine.
    time : bool, default=False
        Whether time itself may enter the equations.
    include, exclude : sequence of pairs, or array-like of shape (n_features, n_inputs), optional
        Edges (effect, cause), by name or number, that must or must not be in the graph, or masks of them. Causes are
        the states, then the controls, then time.
    smoothing : {"auto", "on", "off"}, default="auto"
        Whether the inputs are smoothed in time. "auto" smooths unless the target is "step".
    head : {"auto", "dictionary", "network"}, default="auto"
        The form of the functions: sparse polynomials, networks, or the simplest that predicts held-out windows well.
    max_degree : int, default=4
        Largest degree of the polynomials.
    n_blocks : int, default=20
        Blocks of consecutive windows; a quarter of each is held out in turn.
    n_resamples : int, default=0
        Repeat the selection on this many resamples of the blocks, for `edge_frequencies_`.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int, optional
        Threads over equations. The result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    graph_ : (d, d) bool
        Whether the equation of variable i depends on variable j (with order 2, on its position or velocity). With
        ``target="step"`` it is the graph of the map over one sampling interval, which has more edges than the
        equations of a continuous system.
    input_graph_ : (d, n_inputs) bool
        The same for all inputs of the equations, named in `inputs_`: states, controls, time.
    edge_scores_ : (d, d)
        Minus the decimal logarithm of the p-value, on all windows, of leaving out an edge of the graph or of adding
        another: all edges can be ranked by it.
    edge_q_values_ : (d, d)
        The smallest false discovery rate, among all edges, at which each edge would be selected, by tests on windows
        that have not chosen the other edges.
    edge_frequencies_ : (d, d)
        Share of the resamples in which each edge was selected; only with `n_resamples`.
    input_scores_, input_q_values_, input_frequencies_ : (d, n_inputs)
        The same for all inputs.
    inputs_ : tuple of str
    equations_ : list of str
        The right side of each equation: its polynomial as text, or what kind of function it is.
    heads_ : tuple of Head
        The functions, each of the selected input columns.
    held_out_errors_ : (d,)
        Held-out mean squared error of each equation over the variance of its left side. It chose the variables, so it
        is not a test error.
    head_errors_ : tuple of dict
        Held-out error of each kind of function that was tried.
    lower_, upper_ : (states,)
        The range of the states in the data.
    step_ : float
        The median sampling interval.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np, fewvars as fv
    >>> t = np.arange(0, 20, 0.02)
    >>> X = fv.systems.simulate(fv.systems.Lorenz63(), t)
    >>> model = fv.DynamicsRegressor(random_state=0).fit(X, t=t)
    >>> model.graph_.astype(int).tolist()
    [[1, 1, 0], [1, 1, 1], [1, 1, 1]]
    """

    def __init__(
        self,
        *,
        target: str = "weak",
        order: int = 1,
        angles: Any = None,
        time: bool = False,
        include: Any = None,
        exclude: Any = None,
        smoothing: str = "auto",
        head: str = "auto",
        max_degree: int = 4,
        n_blocks: int = 20,
        n_resamples: int = 0,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.target = target
        self.order = order
        self.angles = angles
        self.time = time
        self.include = include
        self.exclude = exclude
        self.smoothing = smoothing
        self.head = head
        self.max_degree = max_degree
        self.n_blocks = n_blocks
        self.n_resamples = n_resamples
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        t: ArrayLike | float | None = None,
        trajectory: ArrayLike | None = None,
        u: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Find the equations.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The variables; rows in which one is NaN are left out.
        y : array-like of shape (n, d), optional
            Measured derivatives (of order 2 with ``order=2``). They are then the target.
        t : array-like of shape (n,) or scalar, optional
            Times of the rows (numbers or datetimes), or the step between them; by default 1.
        trajectory : array-like of shape (n,), optional
            Labels of the runs that the rows belong to.
        u : array-like of shape (n,) or (n, controls), optional
            Control inputs or forcing.
        sample_weight : array-like of shape (n,), optional
        """
        fresh = copy(self)  # a fit that fails or is interrupted leaves this model as it was
        fresh._fit(X, y, t, trajectory, u, sample_weight)
        self.__dict__ = fresh.__dict__
        return self

    def _fit(self, X: ArrayLike, y: Any, t: Any, trajectory: Any, u: Any, sample_weight: Any) -> None:
        settings = self._settings()
        variables = validate_data(self, X, dtype=np.float64, order="C", ensure_all_finite="allow-nan")
        weight = _check_sample_weight(sample_weight, variables, dtype=np.float64, ensure_non_negative=True)
        controls, names = self._controls(u, len(variables), None)
        derivatives = None if y is None else self._derivatives(y, variables.shape)
        present = np.isfinite(np.column_stack([variables, controls])).all(axis=1) & (weight > 0)
        if derivatives is not None:
            present &= np.isfinite(derivatives).all(axis=1)
        runs = Trajectories.of(t, trajectory, present)
        self._columns = InputColumns(tuple(map(str, self._names())), self.order, self._angles(), names, bool(self.time))
        data, states = self._measured(runs, variables, controls, weight, derivatives)
        include, exclude = (self._edges(name) for name in ("include", "exclude"))
        if (include & exclude).any():
            i, j = np.argwhere(include & exclude)[0]
            raise ValueError(f"include and exclude both name the edge ({i}, {j}): leave it out of one of them.")
        with Progress(self.verbose) as progress, single_blas_thread():
            progress.stage("equations", "equation", total=len(include))
            system = System.of(data, settings)

            def find(i: int) -> Equation:
                found = system.find(i, include[i], exclude[i])
                progress.step()
                return found

            found = in_threads(find, range(len(include)), self.n_jobs)
        usable = np.array([system.groups(include[i], exclude[i]).usable for i in range(len(include))])
        self._store(found, usable)
        self.lower_, self.upper_ = states.min(axis=0), states.max(axis=0)
        self.step_ = runs.step

    def _settings(self) -> EquationSettings:
        check_choice("target", self.target, TARGETS)
        check_choice("order", self.order, (1, 2))
        check_choice("smoothing", self.smoothing, SMOOTHING)
        if self.order == 2 and self.target == "step":
            raise ValueError('order=2 and target="step" do not go together: use target="weak", or order=1.')
        kinds_of(self.head, HeadSettings())
        for name in ("max_degree", "n_blocks"):
            check_whole(name, getattr(self, name))
        check_whole("n_resamples", self.n_resamples, minimum=0)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return EquationSettings(self.head, self.max_degree, self.n_blocks, self.n_resamples, seed)

    def _measured(
        self, runs: Trajectories, X: FloatArray, u: FloatArray, weight: FloatArray, y: FloatArray | None
    ) -> tuple[Measurements, FloatArray]:
        """Return what the search is given, and the states (n, states)."""
        columns, rows = self._columns, runs.rows
        X, u, weight = X[rows], u[rows], weight[rows]
        for j in columns.angles:
            X[:, [j]] = by_run(runs.places, X[:, [j]], partial(np.unwrap, axis=0))
        smooths = self.smoothing == "on" or (self.smoothing == "auto" and self.target != "step")
        smooth = Smooth.of(runs, X, columns.order, smooths)
        states = smooth.values if columns.order == 1 else np.column_stack([smooth.values, smooth.derivatives[0]])
        inputs = columns.columns(states, u, runs.t)
        if y is not None:
            return at_samples(columns, runs, inputs, weight, y[rows], gap=smooth.bandwidth), states
        if self.target == "weak":
            return in_weak_form(columns, runs, X, inputs, weight, smooth), states
        if self.target == "derivative":
            targets, gap = smooth.derivatives[-1], smooth.bandwidth
            return at_samples(columns, runs, inputs, weight, targets, gap=gap, smoothed=True), states
        now, then = runs.next_rows()
        if now.size < FEWEST_ROWS:
            raise ValueError(
                f'target="step" needs rows one step of {runs.step:g} apart, and only {now.size} have such a successor: '
                'sample at equal steps, or use target="weak".'
            )
        return at_samples(columns, runs, inputs, weight, X[then] - X[now], places=now), states

    def _names(self) -> list[Any]:
        return list(getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)]))

    def _controls(self, u: Any, n: int, expected: int | None) -> tuple[FloatArray, tuple[str, ...]]:
        """Return controls (n, controls) and their names; complain if they are not `expected` columns."""
        if u is None:
            if expected:
                raise ValueError(f"u is missing: the model was fitted with {expected} controls; give them too.")
            return np.empty((n, 0)), ()
        values = np.asarray(u, dtype=np.float64)
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2 or len(values) != n:
            raise ValueError(f"u has shape {np.shape(u)}: give one row for each of the {n} rows of X.")
        if expected is not None and values.shape[1] != expected:
            raise ValueError(f"u has {values.shape[1]} columns: the model was fitted with {expected} controls.")
        names = [str(name) for name in getattr(u, "columns", [f"u{k}" for k in range(values.shape[1])])]
        clash = sorted(set(names) & set(map(str, self._names())))
        if clash:
            raise ValueError(f"u and X both have a column {clash[0]!r}: rename one of them.")
        return values, tuple(names)

    def _derivatives(self, y: Any, shape: tuple[int, ...]) -> FloatArray:
        values = np.asarray(y, dtype=np.float64)
        values = values[:, None] if values.ndim == 1 else values
        if values.shape != shape:
            raise ValueError(f"y has shape {np.shape(y)}: give the derivative of every entry of X, shape {shape}.")
        return values

    def _angles(self) -> tuple[int, ...]:
        if self.angles is None:
            return ()
        names = list(map(str, self._names()))
        if isinstance(self.angles, str) and self.angles == "all" and "all" not in names:
            return tuple(range(len(names)))
        chosen = [self.angles] if np.ndim(self.angles) == 0 else list(self.angles)
        return tuple(sorted({_position("angles", item, names) for item in chosen}))

    def _edges(self, argument: str) -> np.ndarray:
        """Return the mask (d, groups) of edges that a parameter names."""
        given, groups, names = getattr(self, argument), self._columns.groups, self._columns.variables
        shape = (len(names), len(groups))
        mask = np.zeros(shape, bool)
        if given is None:
            return mask
        array = np.asarray(given, dtype=object) if isinstance(given, list | tuple) else np.asarray(given)
        if array.dtype == bool:
            if array.shape != shape:
                raise ValueError(f"{argument} has shape {array.shape}: give a mask of shape {shape}, or pairs.")
            return array.copy()
        for pair in given:
            if np.shape(pair) != (2,):
                raise ValueError(f"{argument} holds {pair!r}: give pairs (effect, cause).")
            mask[_position(argument, pair[0], list(names)), _position(argument, pair[1], list(groups))] = True
        return mask

    def _store(self, found: list[Equation], usable: np.ndarray) -> None:
        columns = self._columns
        self.inputs_ = columns.groups
        self.input_graph_ = np.array([equation.support for equation in found])
        self.input_scores_ = np.array([equation.scores for equation in found])
        p_values = np.array([equation.p_values for equation in found])
        self.input_q_values_ = q_values(p_values.ravel(), usable.ravel()).reshape(p_values.shape)
        self.heads_ = tuple(equation.head for equation in found)
        self.held_out_errors_ = np.array([equation.held_out_error for equation in found])
        self.head_errors_ = tuple(equation.head_errors for equation in found)
        self.__dict__.pop("input_frequencies_", None)  # of an earlier fit
        if self.n_resamples:
            self.input_frequencies_ = np.array([equation.frequencies for equation in found])

    def _by_variable(self, values: np.ndarray, combine: Any) -> np.ndarray:
        """Return values (d, groups) combined over the groups that belong to each variable, (d, d)."""
        d = len(self._columns.variables)
        parts = values[:, : self._columns.order * d].reshape(d, -1, d)
        return combine(parts, axis=1)

    @property
    def graph_(self) -> np.ndarray:
        """Which equation depends on which variable, (d, d)."""
        return self._by_variable(self.input_graph_, np.any)

    @property
    def edge_scores_(self) -> FloatArray:
        """Evidence for every edge, selected or not, (d, d)."""
        return self._by_variable(self.input_scores_, np.max)

    @property
    def edge_q_values_(self) -> FloatArray:
        """The smallest false discovery rate at which each edge would be selected, (d, d)."""
        return np.minimum(self._columns.order * self._by_variable(self.input_q_values_, np.min), 1.0)

    @property
    def edge_frequencies_(self) -> FloatArray:
        """Share of the resamples in which each edge was selected, (d, d)."""
        return self._by_variable(self.input_frequencies_, np.max)

    @property
    def equations_(self) -> list[str]:
        """The right side of each equation."""
        check_is_fitted(self, "heads_")
        names, labels = np.array(self._columns.names, dtype=object), self._columns.labels
        texts = []
        for head, support in zip(self.heads_, self.input_graph_, strict=True):
            chosen = [str(name) for name in names[support[labels]]]
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
            Times, if the model was fitted with ``time=True``.
        """
        check_is_fitted(self, "heads_")
        states = self._states(X)
        controls, _ = self._controls(u, len(states), len(self._columns.controls))
        if t is None and self._columns.time:
            raise ValueError("t is missing: the model was fitted with time=True; give the times too.")
        times = np.broadcast_to(np.asarray(0.0 if t is None else t, dtype=np.float64), (len(states),))
        return self._field(states, controls, times)

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

    def _field(self, states: FloatArray, u: FloatArray, t: FloatArray) -> FloatArray:
        columns, labels = self._columns.columns(states, u, t), self._columns.labels
        found = np.column_stack(
            [
                head.predict(columns[:, support[labels]])[:, 0]
                for head, support in zip(self.heads_, self.input_graph_, strict=True)
            ]
        )
        return states + found if self.target == "step" else found

    def simulate(
        self, x0: ArrayLike, t: ArrayLike, *, u: Any = None, margin: float = RANGE, rtol: float = 1e-6
    ) -> Simulation:
        """Integrate the equations from a state, as long as it stays near the data.

        Parameters
        ----------
        x0 : array-like of shape (states,)
            The state at the first time: the variables, with ``order=2`` followed by their velocities.
        t : array-like of shape (n,)
            Increasing times.
        u : array-like of shape (n, controls) or callable, optional
            Controls at these times, interpolated linearly, or as a function of time.
        margin : float, default=0.5
            The simulation stops when a variable is outside its range in the data by more than this part of the range.
            Angles may go round.
        rtol : float, default=1e-6
            Relative tolerance of a step.

        Returns
        -------
        Simulation
            The states (n, states) and how it ended.
        """
        check_is_fitted(self, "heads_")
        columns, times = self._columns, np.asarray(t, dtype=np.float64)
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

        if self.target == "step":
            if np.abs(np.diff(times) - self.step_).max() > 1e-3 * self.step_:
                raise ValueError(f'With target="step" the times t must be {self.step_:g} apart, as in the data.')
            return iterate(field, start, times, bounds)
        return integrate(field, start, times, bounds, rtol, rtol * np.where(extent > 0, extent, 1.0))

    def _control_function(self, u: Any, t: FloatArray) -> Any:
        n_controls = len(self._columns.controls)
        if callable(u):
            return lambda time: np.asarray(u(time), dtype=np.float64).reshape(n_controls)
        values, _ = self._controls(u, len(t), n_controls)
        if not n_controls:
            return lambda time: np.empty(0)
        line = make_interp_spline(t, values, k=1)
        return lambda time: line(min(max(time, t[0]), t[-1]))

    def valid_time(self, X: ArrayLike, t: ArrayLike, *, u: Any = None, threshold: float = 0.4) -> float:
        """Return for how long a simulation from the first row of X stays close to the trajectory X.

        The error is the distance of the states over the root mean square distance of X from its mean; the time is
        that of the last row before the error exceeds the threshold, counted from the first row.
        """
        states = self._states(X)
        check_real("threshold", threshold, strict=True)
        times = np.asarray(t, dtype=np.float64)
        if times.shape != (len(states),):
            raise ValueError(f"t has shape {times.shape}: give one time for each of the {len(states)} rows of X.")
        found = self.simulate(states[0], times, u=u).X
        size = np.sqrt(((states - states.mean(axis=0)) ** 2).sum(axis=1).mean())
        good = np.linalg.norm(found - states, axis=1) <= threshold * size
        return float(times[-1 if good.all() else max(int(np.argmin(good)) - 1, 0)] - times[0])

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

        The left sides are taken from other trajectories as in `fit`, which describes the parameters.
        """
        check_is_fitted(self, "heads_")
        variables = validate_data(self, X, dtype=np.float64, reset=False, ensure_all_finite="allow-nan")
        controls, _ = self._controls(u, len(variables), len(self._columns.controls))
        derivatives = None if y is None else self._derivatives(y, variables.shape)
        present = np.isfinite(np.column_stack([variables, controls])).all(axis=1)
        runs = Trajectories.of(t, trajectory, present)
        data, _ = self._measured(runs, variables, controls, np.ones(len(variables)), derivatives)
        labels = self._columns.labels
        left = [
            np.var(data.targets[:, i] - data.windows @ head.predict(data.inputs[:, support[labels]])[:, 0])
            for i, (head, support) in enumerate(zip(self.heads_, self.input_graph_, strict=True))
        ]
        total = data.targets.var(axis=0)
        moving = total > 0
        return float(np.mean(1.0 - np.array(left)[moving] / total[moving])) if moving.any() else 1.0


def _position(argument: str, item: Any, names: list[str]) -> int:
    """Return the place of an item, a name or a number, among names."""
    if isinstance(item, str) and item in names:
        return names.index(item)
    if isinstance(item, int | np.integer) and not isinstance(item, bool) and 0 <= item < len(names):
        return int(item)
    raise ValueError(f"{argument}={item!r}: give one of {', '.join(names[:8])}..., or a number below {len(names)}.")
