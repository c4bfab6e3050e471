"""The common steps of estimators that search on held-out blocks: validate, smooth, search, fit the head, assess it."""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _check_sample_weight

from fewvars._common.progress import Progress
from fewvars._common.streams import RESAMPLES, stream
from fewvars._common.threads import single_blas_thread
from fewvars._common.validation import FloatArray
from fewvars.engine.losses import Loss
from fewvars.engine.solvers import Outcome
from fewvars.estimators.assessment import Assessment
from fewvars.estimators.fitted import FittedFunction
from fewvars.estimators.inputs import given_to_fit
from fewvars.estimators.parameters import SearchParameters
from fewvars.estimators.preparation import Plan, Prepared
from fewvars.estimators.row_order import RowOrder
from fewvars.estimators.rows import Rows
from fewvars.estimators.standardised import prepare_inputs
from fewvars.heads import HeadChoice, HeadKind, HeadSettings, MeanHead, Trial, fit_chosen_head, kinds_of
from fewvars.search.problem import Problem, Settings
from fewvars.search.smoothing import smoothing_helps
from fewvars.series.outliers import absurd_values

MOST_REFITTED = 20_000  # rows; with more, the error of a quick fit stands for that of the full fit, which is smaller

# Returns what is found on a problem.
Search = Callable[[Problem, Any, Progress], Any]


class BlockedEstimator(SearchParameters, FittedFunction):
    """Abstract: an estimator that searches on blocks of time and fits a head to what it found."""

    path_: Any
    n_iter_: int

    _n_splits = 2

    @abstractmethod
    def _settings(self) -> Settings:
        """Check the parameters and return how to search."""

    @abstractmethod
    def _search(self, data: Prepared) -> Search:
        """Return the search on these inputs: all rows, or resamples of them."""

    @abstractmethod
    def _store(self, data: Prepared, found: Any, settings: Any) -> None:
        """Set the fitted attributes that describe what was found."""

    @abstractmethod
    def _votes(self, found: Any) -> np.ndarray:
        """Return the answers that a resample supports, as zeros and ones."""

    @abstractmethod
    def _may_find_nothing(self) -> bool:
        """Return whether the search may find nothing; it may not if the user asked for something."""

    def _is_certain(self, data: Prepared) -> bool:
        """Return whether the evidence for what was found is clear, however badly the function predicts."""
        return False

    @abstractmethod
    def _find_nothing(self) -> None:
        """Set the fitted attributes to nothing found, and warn."""

    def _ordered(self, rows: Rows, outputs: FloatArray) -> Rows:
        """Return the rows in the order in which blocks of them are held out."""
        return rows

    def _agree(self, data: Prepared, found: Any, choice: HeadChoice) -> None:
        """Make what was found agree with the function: each variable is needed."""

    def _keep_or_replace(self, data: Prepared, found: Any, own: Assessment) -> Assessment:
        """Replace the function by a standard one if that predicts better; return the assessment of what remains."""
        return own

    def _interpret(self, data: Prepared, found: Any, settings: Any) -> None:
        """Set the fitted attributes that depend on the final function."""

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        t: ArrayLike | float | None = None,
        trajectory: ArrayLike | None = None,
    ) -> Self:
        """Find what y depends on, and fit the function.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,) or (n, outputs)
            Several outputs share what is found.
        sample_weight : array-like of shape (n,), optional
        t : array-like of shape (n,) or scalar, optional
            Times of the rows (numbers or datetimes), or the step between them.
        trajectory : array-like of shape (n,), optional
            Labels of the runs that the rows belong to.
        """
        fresh = copy(self)  # a fit that fails or is interrupted leaves this model as it was
        fresh._fit(X, y, sample_weight, t, trajectory)
        self.__dict__ = fresh.__dict__
        return self

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, t: Any, trajectory: Any) -> None:
        for optional in ("_encoding", "selection_frequencies_"):
            self.__dict__.pop(optional, None)  # of an earlier fit
        given = given_to_fit(self, X, y, t, trajectory)
        inputs, outputs = given.X, given.y.reshape(len(given.X), -1)
        if given.encoding is not None:
            self._encoding = given.encoding
        self._single_output = given.y.ndim == 1
        self._loss.check(outputs)
        weight = _check_sample_weight(sample_weight, inputs, dtype=np.float64, ensure_non_negative=True)
        settings = self._settings()
        absurd = self._loss.measured & np.any([absurd_values(column) for column in outputs.T], axis=0)
        weight = np.where(given.counted & ~absurd, weight, 0.0)
        rows = self._ordered(Rows.of(inputs, outputs, weight, t, trajectory, self.cv), outputs)
        inputs, outputs = inputs[rows.chosen], outputs[rows.chosen]
        self.input_range_ = np.stack([inputs.min(axis=0), inputs.max(axis=0)])
        with Progress(self.verbose) as progress, single_blas_thread():
            order = RowOrder.of(rows, inputs, outputs, self.shuffle, self._input_names())
            left_out = [
                f"Row {row} was left out: its target is absurdly far from all others." for row in np.flatnonzero(absurd)
            ]
            self.notes_ = (*given.notes, *left_out, *order.notes)
            versions = self._versions(rows, inputs, outputs, order, settings)
            data, search, found = self._best_version(versions, settings, progress)
            self.smoothed_ = data.inputs.smoothed
            self._store(data, found, settings)
            progress.stage("head", "fit")
            choice, assessment = self._fit_function(data, found, settings, progress)
            assessment = self._keep_or_replace(data, found, assessment)
            self._store_assessment(data, choice, assessment)
            self._interpret(data, found, settings)
            if self.n_resamples:
                self.selection_frequencies_ = self._frequencies(data, search, settings, progress)

    def _versions(
        self, rows: Rows, inputs: FloatArray, outputs: FloatArray, order: RowOrder, settings: Settings
    ) -> list[Prepared]:
        """Return the data to search on: smoothed, as measured, or first the one and then the other."""
        if order.shuffled and not rows.in_order:
            mixed = rows.mixed(inputs, outputs, np.random.default_rng(settings.seed))
            rows, inputs, outputs = rows.only(mixed), inputs[mixed], outputs[mixed]
        plan = Plan(
            self.n_blocks,
            n_splits=self._n_splits,
            shuffle=order.shuffled,
            own_past=order.own_past,
            seed=settings.seed,
            loss=self._loss,
        )
        versions = prepare_inputs(rows, inputs, self.smoothing, lagged=order.lagged)
        return [Prepared.of(version, outputs, plan) for version in versions]

    def _best_version(
        self, versions: list[Prepared], settings: Settings, progress: Progress
    ) -> tuple[Prepared, Search, Any]:
        """Search on the first version of the data, and on the second if smoothing turns out not to help."""
        data, *others = versions
        search = self._search(data)
        found = _checked(search(data.problem, settings, progress))
        for other in others:
            first = data.held_out.first()
            smoothed, measured = (
                replace(version.as_measured(data.target.scaling, np.float32), held_out=first)
                for version in (data, other)
            )
            if not smoothing_helps(smoothed, measured, settings, partial(found.refitted_errors, settings=settings)):
                data, search = other, self._search(other)
                found = _checked(search(data.problem, settings, progress))
        return data, search, found

    def _fit_function(
        self, data: Prepared, found: Any, settings: Settings, progress: Progress
    ) -> tuple[HeadChoice, Assessment]:
        """Fit a function and estimate its error on new rows; one that fails there gives way to simpler ones."""
        simpler: Sequence[str] | None = None
        while True:
            choice = self._fit_head(data, settings, progress, simpler)
            self._agree(data, found, choice)
            assessment = self._assessment(data, found, choice, settings)
            simpler = choice.simpler
            if assessment.beats_null or not simpler:
                return choice, assessment

    def _fit_head(
        self, data: Prepared, settings: Settings, progress: Progress, names: Sequence[str] | None
    ) -> HeadChoice:
        """Choose the function on held-out rows, by default among all kinds, and fit it to all rows."""
        trial = Trial(self._coordinates(data.inputs.X), data.target.y, data.sample_weight, data.for_heads(), self._loss)
        options = HeadSettings(
            activation=self.activation,
            max_degree=self.max_degree,
            gap=data.gap,
            seed=settings.seed,
            n_jobs=self.n_jobs,
            on_fit=progress.step,
        )

        def kinds(loss: Loss) -> list[HeadKind]:
            every = kinds_of(self.head, replace(options, loss=loss))
            return [kind for kind in every if names is None or kind.head.name in names]

        self._head, choice = fit_chosen_head(kinds, trial)
        self.head_ = choice.name
        unit = self._loss.error_unit(trial.y, trial.weight)
        self.head_errors_ = {name: trial.held_out.mean(errors) / unit for name, errors in choice.errors.items()}
        return choice

    def _store_assessment(self, data: Prepared, choice: HeadChoice, assessment: Assessment) -> None:
        """Set the error to expect on new rows; if the null model predicts them as well, nothing was found."""
        nothing = not assessment.beats_null and self._may_find_nothing()
        if nothing and self._is_certain(data):
            self.notes_ += (
                "The evidence for the selected inputs is clear, but a few rows dominate the error, and on these the "
                'function predicts no better than a constant. Look for outliers in y; loss="huber" gives them little '
                "weight.",
            )
        elif nothing:
            self._find_nothing()
            X, y = choice.trial.X[:, :0], data.target.y
            trial = replace(choice.trial, X=X, y=y, held_out=data.problem.reserve)
            self._head, self.head_ = trial.null_model(X, y, trial.weight), MeanHead.name
            assessment = Assessment.of(trial.score(trial.null_model).models, trial)
        unit = self._loss.error_unit(data.target.y, data.sample_weight)
        self.expected_error_, self.expected_error_se_ = assessment.error / unit, assessment.error_se / unit
        self.expected_rmse_, self.residual_quantiles_ = assessment.rmse, assessment.quantiles

    def _assessment(self, data: Prepared, found: Any, choice: HeadChoice, settings: Any) -> Assessment:
        """Assess the function on held-out rows, which were also used to choose it."""
        again = choice.chosen.quick and len(data.target.y) <= MOST_REFITTED
        scored = choice.trial.score(choice.fit) if again else choice.chosen.scored
        return Assessment.of(scored.models, replace(choice.trial, y=data.target.y))

    def _frequencies(self, data: Prepared, search: Search, settings: Settings, progress: Progress) -> FloatArray:
        """Return how often each answer is found in bootstrap resamples of the blocks."""
        total: Any = 0.0
        for k in range(self.n_resamples):
            rng = stream(settings.seed, RESAMPLES, k)
            problem = data.resampled(rng, self.n_blocks)
            own = replace(settings, seed=int(rng.integers(2**31 - 1)))
            total = total + self._votes(_checked(search(problem, own, progress)))
        return total / self.n_resamples


def _checked(found: Any) -> Any:
    """Return what was found; warn if the first stage diverged."""
    if found.first_outcome is Outcome.DIVERGED:
        warnings.warn(f"The first stage: {found.first_outcome.value}", stacklevel=5)
    return found
