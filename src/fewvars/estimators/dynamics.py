"""Find a whole dynamical system from measured trajectories: the graph, the equations and the evidence."""

from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _check_sample_weight, validate_data

from fewvars._common.progress import Progress
from fewvars._common.validation import FloatArray, check_choice, check_seed, check_whole
from fewvars.estimators.about_systems import (
    angle_numbers,
    check_reserved_names,
    checked_controls,
    checked_derivatives,
    complete_rows,
    edge_masks,
)
from fewvars.estimators.all_equations import find_all
from fewvars.estimators.equations import Equation
from fewvars.estimators.fitted_system import FittedSystem
from fewvars.estimators.form import AUTO, steps_explain_more
from fewvars.estimators.input_columns import InputColumns
from fewvars.estimators.inputs import column_names
from fewvars.estimators.measurements import TARGETS, measured
from fewvars.estimators.standardised import SMOOTHING
from fewvars.estimators.system import EquationSettings, System, systems_of_measurements
from fewvars.heads import NetworkHead, PolynomialHead
from fewvars.search.variables.evidence import q_values
from fewvars.series.splits import first_datetime
from fewvars.series.trajectories import FEWEST_ROWS, Trajectories


@dataclass(kw_only=True, repr=False, eq=False)
class DynamicsRegressor(FittedSystem):
    """Find a system of differential equations dx/dt = f(x, u) from noisy trajectories of many variables.

    Each equation is a function of few variables. Tests and held-out windows of time select the variables. The function
    is a sparse polynomial or, if that predicts much better, an average of networks.

    Parameters
    ----------
    target : {"auto", "weak", "derivative", "step"}, default="auto"
        What the equations are compared with. "weak": averages of dx/dt over short windows, computed from x as measured
        without differentiating it. "derivative": derivatives of the smoothed trajectory at every sample. "step": the
        change over one sampling interval, for coarsely sampled systems and for maps. "auto": "weak", unless "step"
        explains its target much better on held-out rows; `target_` says which it is.
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
        Whether the inputs are smoothed in time. "auto" smooths unless the target is "step", or derivatives were
        measured at rows without times, which may be in any order.
    head : {"auto", "dictionary", "network"}, default="auto"
        The form of the functions: sparse polynomials, networks, or the simplest that predicts held-out windows well.
        "auto" also tries sums of functions of single variables, which follow sharp functions better than polynomials.
    max_degree : int, default=4
        Largest degree of the polynomials.
    n_blocks : int, default=20
        Blocks of consecutive windows; a quarter of each is held out in turn.
    n_resamples : int, default=0
        Repeat the selection on this many resamples of the blocks, for `edge_frequencies_`.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int, optional
        Processes over equations, if there are at least eight. The result does not depend on it.
    dask : str, optional
        Find the equations on the Dask cluster at this address, or with "local" on one with `n_jobs` workers that is
        started on this machine. The result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    target_ : str
        The target that was used: "weak", "derivative" or "step".
    graph_ : (d, d) bool
        Whether the equation of variable i depends on variable j (with order 2, on its position or velocity). If
        ``target_`` is "step", it is the graph of the map over one sampling interval, which has more edges than the
        equations of a continuous system.
    input_graph_ : (d, n_inputs) bool
        The same for all inputs of the equations, named in `inputs_`: states, controls, time.
    edge_scores_ : (d, d)
        Minus the decimal logarithm of the p-value, on all windows, of leaving out an edge of the graph or of adding
        another: all edges can be ranked by it.
    edge_q_values_ : (d, d)
        The smallest false discovery rate, among all edges, at which each edge would be selected, by tests on windows
        that were not used to choose the other edges. It is uncalibrated: if sums of simple terms cannot describe a
        function, more edges may be wrong than it suggests.
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
        Held-out mean squared error of each equation over the variance of its left side. It was used to choose the
        variables; measure the accuracy on new trajectories.
    head_errors_ : tuple of dict
        Held-out error of each kind of function that was tried.
    lower_, upper_ : (states,)
        The range of the states in the data.
    step_ : float
        The median sampling interval, in seconds if times were datetimes.
    start_ : str
        The first datetime in `t`, from which times are counted in seconds; only if `t` held datetimes.
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

    target: str = AUTO
    order: int = 1
    angles: Any = None
    time: bool = False
    include: Any = None
    exclude: Any = None
    smoothing: str = "auto"
    head: str = "auto"
    max_degree: int = 4
    n_blocks: int = 20
    n_resamples: int = 0
    random_state: Any = None
    n_jobs: int | None = None
    dask: str | None = None
    verbose: int = 0

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
            Measured derivatives (second derivatives with ``order=2``), which are then used as the target; not with
            ``target="step"``.
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
        variables = validate_data(
            self, X, dtype=np.float64, order="C", ensure_all_finite="allow-nan", ensure_min_samples=2
        )
        weight = _check_sample_weight(sample_weight, variables, dtype=np.float64, ensure_non_negative=True)
        names = tuple(column_names(self))
        empty = np.flatnonzero(np.isnan(variables).all(axis=0))
        if empty.size:
            raise ValueError(f"X has no number in column {names[empty[0]]}: leave the column out.")
        controls, control_names = checked_controls(u, len(variables), names)
        check_reserved_names(names, control_names, self.order, self.time)
        derivatives = None if y is None else checked_derivatives(y, variables.shape, self.target)
        runs = Trajectories.of(t, trajectory, complete_rows(variables, controls, derivatives) & (weight > 0))
        columns = InputColumns(names, self.order, angle_numbers(self.angles, names), control_names, bool(self.time))
        include, exclude = edge_masks(self.include, self.exclude, names, columns.groups)

        def systems_of(target: str) -> tuple[list[System], FloatArray]:
            smoothing = self._smoothing(y, t)
            data, states = measured(columns, runs, variables, controls, weight, derivatives, target, smoothing)
            return systems_of_measurements(data, settings, include, exclude), states

        self.target_ = "weak" if self.target == AUTO else self.target
        systems, states = systems_of(self.target_)
        may_step = derivatives is None and self.order == 1 and len(runs.next_rows()[0]) >= FEWEST_ROWS
        if self.target == AUTO and may_step and steps_explain_more(systems, lambda: systems_of("step")[0]):
            self.target_ = "step"
            systems, states = systems_of("step")
        with Progress(self.verbose) as progress:
            found = find_all(systems, n_jobs=self.n_jobs, dask=self.dask, progress=progress)
        self._columns = columns
        self._store(found, np.array([system.groups(i).usable for i, system in enumerate(systems)]))
        self.lower_, self.upper_ = states.min(axis=0), states.max(axis=0)
        self.step_ = runs.step
        self.__dict__.pop("start_", None)  # of an earlier fit
        start = first_datetime(t)
        if start is not None:
            self.start_ = start

    def _settings(self) -> EquationSettings:
        check_choice("target", self.target, (AUTO, *TARGETS))
        check_choice("order", self.order, (1, 2))
        check_choice("smoothing", self.smoothing, SMOOTHING)
        if self.order == 2 and self.target == "step":
            raise ValueError('order=2 and target="step" do not go together: use target="weak", or order=1.')
        check_choice("head", self.head, (AUTO, PolynomialHead.name, NetworkHead.name))
        for name in ("max_degree", "n_blocks"):
            check_whole(name, getattr(self, name))
        check_whole("n_resamples", self.n_resamples, minimum=0)
        if self.dask is not None and not isinstance(self.dask, str):
            raise ValueError(
                f'dask={self.dask!r}: give the address of a scheduler, such as tcp://host:8786, or "local".'
            )
        seed = check_seed(self.random_state)
        return EquationSettings(self.head, self.max_degree, self.n_blocks, self.n_resamples, seed)

    def _store(self, found: list[Equation], usable: np.ndarray) -> None:
        self.inputs_ = self._columns.groups
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
