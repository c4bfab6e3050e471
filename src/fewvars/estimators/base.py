"""What the estimators that choose on held-out blocks share: validate, smooth, search, fit the head, predict."""

import warnings
from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from fewvars._common.progress import Progress
from fewvars._common.threads import single_blas_thread
from fewvars._common.validation import (
    FloatArray,
    check_choice,
    check_jobs,
    check_real,
    check_seed,
    check_whole,
)
from fewvars.columns.encoding import DROP, ERROR, Encoding
from fewvars.engine.losses import SQUARED, Loss, robust_spread
from fewvars.engine.network import ACTIVATIONS
from fewvars.engine.solvers import Outcome
from fewvars.estimators.assessment import Assessment, margins
from fewvars.estimators.findings import Findings
from fewvars.estimators.inputs import column_names, given_to_fit, given_to_predict
from fewvars.estimators.preparation import Prepared, prepare_inputs, smooth_columns
from fewvars.estimators.row_order import RowOrder
from fewvars.estimators.rows import Rows
from fewvars.estimators.summary import summary
from fewvars.heads import Head, HeadChoice, HeadSettings, MeanHead, Trial, choose_head, kinds_of
from fewvars.search.held_out import HeldOut
from fewvars.search.problem import Problem, Settings
from fewvars.search.smoothing import smoothing_helps
from fewvars.series.outliers import absurd_values
from fewvars.series.splits import sample_times, trajectory_rows

# Fits whose residuals set the threshold of Huber's loss; one that falls by less than a fifth is not worth another fit.
MOST_MATCHES, CLOSE = 3, 0.8
MOST_REFITTED = 20_000  # rows; with more, the error of a quick fit is taken for that of the full one, which is smaller


class BlockedRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A regressor that searches on blocks of time and fits a head to what it found; the search is abstract."""

    # Parameters of every such estimator, stored by the constructors of the subclasses.
    hidden_layer_sizes: tuple[int, ...]
    activation: str
    smoothing: str
    head: str
    max_degree: int
    cv: Any
    n_blocks: int
    shuffle: Any
    first_updates: int
    path_updates: int
    refit_updates: int
    path_factor: float
    batch_size: int
    learning_rate: float
    n_resamples: int
    random_state: Any
    n_jobs: int | None
    verbose: int
    # Parameters of some of them.
    types: Any = None
    missing: str = ERROR
    unseen: str = ERROR

    _MISSING: ClassVar[tuple[str, ...]] = (ERROR, DROP)
    _n_splits = 2
    _has_intervals = True  # of new observations around predictions
    _encoding: Encoding | None = None  # of the columns of a table; plain numbers need none
    _loss: Loss = SQUARED  # of which the head predicts the mean, the log-odds or the logarithm of the rate

    path_: Any
    n_iter_: int
    lambda_: float
    held_out_error_: float
    head_: str
    head_errors_: dict[str, float]
    smoothed_: bool
    input_range_: FloatArray
    expected_error_: float
    expected_error_se_: float
    expected_rmse_: FloatArray
    residual_quantiles_: FloatArray
    notes_: tuple[str, ...]
    selection_frequencies_: FloatArray

    @abstractmethod
    def _settings(self) -> Settings:
        """Check the parameters and return how to search."""

    @abstractmethod
    def _search(self, data: Prepared, problem: Problem, settings: Any, progress: Progress) -> Any:
        """Return what is found on a problem: these data, or a resample of them."""

    @abstractmethod
    def _refitted_errors(self, found: Any, problem: Problem, settings: Any) -> FloatArray:
        """Return the held-out errors (pieces,) of what was found, refitted to another problem."""

    @abstractmethod
    def _store(self, data: Prepared, found: Any, settings: Any) -> None:
        """Set the fitted attributes that say what was found."""

    @abstractmethod
    def _coordinates(self, X: FloatArray) -> FloatArray:
        """Return the inputs of the head, (n, k), at inputs (n, d)."""

    @abstractmethod
    def _votes(self, found: Any) -> np.ndarray:
        """Return what a resample votes for, as zeros and ones."""

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        t: ArrayLike | float | None = None,
        trajectory: ArrayLike | None = None,
    ) -> Self:
        """Search, and fit the function.

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
        given = given_to_fit(self, X, y, t, trajectory)
        inputs, outputs = given.X, given.y
        self.__dict__.pop("_encoding", None)  # of an earlier fit
        if given.encoding is not None:
            self._encoding = given.encoding
        self._single_output = outputs.ndim == 1
        outputs = outputs.reshape(len(inputs), -1)
        self._loss.check(outputs)
        weight = _check_sample_weight(sample_weight, inputs, dtype=np.float64, ensure_non_negative=True)
        weight = np.where(given.counted, weight, 0.0)
        settings = self._settings()
        absurd = np.zeros(len(inputs), bool)
        if self._loss.outliers:
            absurd = np.any([absurd_values(column) for column in outputs.T], axis=0)
        weight = np.where(absurd, 0.0, weight)
        rows = self._ordered(Rows.of(inputs, outputs, weight, t, trajectory, self.cv), outputs)
        inputs, outputs = inputs[rows.chosen], outputs[rows.chosen]
        self.input_range_ = np.stack([inputs.min(axis=0), inputs.max(axis=0)])
        self.__dict__.pop("selection_frequencies_", None)  # of an earlier fit
        with Progress(self.verbose) as progress, single_blas_thread():
            order = RowOrder.of(rows, inputs, outputs, self.shuffle, self._input_names())
            versions = [
                Prepared.of(
                    version,
                    outputs,
                    n_blocks=self.n_blocks,
                    n_splits=self._n_splits,
                    shuffle=order.shuffled,
                    forecast=order.forecast,
                    seed=settings.seed,
                    loss=self._loss,
                )
                for version in prepare_inputs(rows, inputs, self.smoothing, lagged=order.lagged)
            ]
            data, found = self._best_version(versions, settings, progress)
            self.smoothed_ = data.inputs.smoothed
            self.notes_ = (*map(_left_out, np.flatnonzero(absurd).tolist()), *order.notes)
            self._store(data, found, settings)
            progress.stage("head", "fit")
            held_out = (
                data.held_out.first() if self._loss.outliers else data.held_out
            )  # a label says less than a number
            held_out = data.later() if order.forecast else held_out
            choice = self._fit_head(data, self._head_settings(data, settings, progress), held_out)
            self._assess(data, found, choice, settings)
            if self.n_resamples:
                self.selection_frequencies_ = self._frequencies(data, settings, progress)

    def _ordered(self, rows: Rows, outputs: FloatArray) -> Rows:
        """Return the rows in the order in which blocks of them are held out."""
        return rows

    def _best_version(self, versions: list[Prepared], settings: Settings, progress: Progress) -> tuple[Prepared, Any]:
        """Search on the first version of the data, and on the second if what was found on the first does not hold."""
        data, *others = versions
        found = self._checked_search(data, data.problem, settings, progress)
        for other in others:
            first = data.held_out.first()
            smoothed, measured = (
                replace(version.as_measured(data.target.scaling, np.float32), held_out=first)
                for version in (data, other)
            )
            refitted = partial(self._refitted_errors, found, settings=settings)
            if not smoothing_helps(smoothed, measured, settings, refitted):
                data, found = other, self._checked_search(other, other.problem, settings, progress)
        return data, found

    def _checked_search(self, data: Prepared, problem: Problem, settings: Settings, progress: Progress) -> Any:
        found = self._search(data, problem, settings, progress)
        if found.first_outcome is Outcome.DIVERGED:
            warnings.warn(f"The first stage: {found.first_outcome.value}", stacklevel=5)
        return found

    def _checked_options(self) -> dict[str, Any]:
        """Check the parameters that all searches share, and return them by the names of `Settings`."""
        check_choice("activation", self.activation, ACTIVATIONS)
        kinds_of(self.head, HeadSettings())
        for name in ("max_degree", "first_updates", "path_updates", "refit_updates", "batch_size"):
            check_whole(name, getattr(self, name))
        check_whole("n_resamples", self.n_resamples, minimum=0)
        check_real("path_factor", self.path_factor, minimum=1.0, strict=True)
        check_real("learning_rate", self.learning_rate, strict=True)
        given = self.hidden_layer_sizes if np.iterable(self.hidden_layer_sizes) else ()
        widths = tuple(check_whole("hidden_layer_sizes", width) for width in given)
        if not widths:
            raise ValueError(
                f"hidden_layer_sizes={self.hidden_layer_sizes!r}: give the width of each layer, as in (20, 20, 20)."
            )
        return {
            "hidden_layer_sizes": widths,
            "activation": self.activation,
            "first_updates": self.first_updates,
            "path_updates": self.path_updates,
            "refit_updates": self.refit_updates,
            "path_factor": self.path_factor,
            "batch_size": self.batch_size,
            "learning_rate": self.learning_rate,
            "seed": check_seed(self.random_state),
            "n_jobs": check_jobs(self.n_jobs),
        }

    def _input_names(self) -> list[str]:
        """Return a name for each input: that of the column which it stems from."""
        names = column_names(self)
        return names if self._encoding is None else [names[j] for j in self._encoding.sources]

    def _head_settings(self, data: Prepared, settings: Settings, progress: Progress) -> HeadSettings:
        return HeadSettings(
            activation=self.activation,
            max_degree=self.max_degree,
            gap=data.gap,
            seed=settings.seed,
            n_jobs=self.n_jobs,
            on_fit=progress.step,
            loss=self._loss.matched(robust_spread(data.target.y)),
        )

    def _fit_head(self, data: Prepared, options: HeadSettings, held_out: HeldOut) -> HeadChoice:
        """Choose the function on held-out rows, and fit it to all rows."""
        self._head: Head
        coordinates, y, weight = self._coordinates(data.inputs.X), data.target.y, data.sample_weight
        for _ in range(MOST_MATCHES):
            choice = choose_head(kinds_of(self.head, options), Trial(coordinates, y, weight, held_out, options.loss))
            self._head = choice.fit(coordinates, y, weight)
            matched = self._loss.matched(robust_spread(y - self._head.predict(coordinates)))
            if matched.threshold >= options.loss.threshold * CLOSE:
                break
            options = replace(options, loss=matched)
        self.head_ = choice.name
        unit = self._loss.error_unit(y, weight)
        self.head_errors_ = {name: held_out.mean(errors) / unit for name, errors in choice.errors.items()}
        return choice

    def _assess(self, data: Prepared, found: Any, choice: HeadChoice, settings: Settings) -> None:
        """Say what to expect on new rows; a function that is no better there than the null model is no answer."""
        assessment = self._assessment(data, found, choice, settings)
        if assessment.error >= assessment.null_error and self._may_find_nothing():
            self._find_nothing()
            trial = replace(choice.trial, X=choice.trial.X[:, :0], held_out=data.problem.reserve)
            self._head, self.head_ = trial.null_model(trial.X, trial.y, trial.weight), MeanHead.name
            assessment = Assessment.of(trial.score(trial.null_model), trial)
        unit = self._loss.error_unit(data.target.y, data.sample_weight)
        self.expected_error_, self.expected_error_se_ = assessment.error / unit, assessment.error_se / unit
        self.expected_rmse_, self.residual_quantiles_ = assessment.rmse, assessment.quantiles

    def _assessment(self, data: Prepared, found: Any, choice: HeadChoice, settings: Any) -> Assessment:
        """Assess the function on held-out rows, which have also chosen it."""
        again = choice.chosen.quick and len(data.target.y) <= MOST_REFITTED
        scored = choice.trial.score(choice.fit) if again else choice.chosen.scored
        return Assessment.of(scored, choice.trial)

    @abstractmethod
    def _may_find_nothing(self) -> bool:
        """Return whether nothing may be found: not if the user asked for something."""

    @abstractmethod
    def _find_nothing(self) -> None:
        """Set the fitted attributes to nothing found, and warn."""

    def _frequencies(self, data: Prepared, settings: Settings, progress: Progress) -> FloatArray:
        """Return how often each answer is found when the blocks are drawn anew with replacement."""
        total: Any = 0.0
        for k in range(self.n_resamples):
            problem = data.resampled(np.random.default_rng([settings.seed, k]), self.n_blocks)
            total = total + self._votes(self._checked_search(data, problem, settings.reseeded(k + 1), progress))
        return total / self.n_resamples

    def _inputs(self, X: ArrayLike, t: Any, trajectory: Any) -> FloatArray:
        """Return the inputs (n, inputs); rows that were left out because a value is missing hold NaN."""
        check_is_fitted(self, "head_")
        if t is None and trajectory is not None:
            raise ValueError("trajectory is of use only with t: give the times too, or leave both out.")
        smooths = t is not None and self.smoothed_
        values = given_to_predict(self, X, t, trajectory, None if smooths else self._used())
        if t is None:
            return values
        runs = trajectory_rows(trajectory, len(values))
        times = sample_times(t, runs)  # complains, whether or not they are used
        if smooths:
            whole = ~np.isnan(values).any(axis=1)
            labels = None if trajectory is None else np.asarray(trajectory)[whole]
            values = values.copy()
            values[whole] = smooth_columns(values[whole], times[whole], labels)[0]
        return values

    def _used(self) -> np.ndarray | None:
        """Return which columns of X predictions depend on, (n_features,) bool; None for all."""
        return None

    def _at_whole_rows(self, function: Callable[[FloatArray], FloatArray], coordinates: FloatArray) -> FloatArray:
        """Evaluate a function of the coordinates; it is NaN where one of them is missing."""
        whole = ~np.isnan(coordinates).any(axis=1)
        if whole.all():
            return function(coordinates)
        found = function(coordinates[whole])
        values = np.full((len(coordinates), *found.shape[1:]), np.nan)
        values[whole] = found
        return values

    def predict(
        self, X: ArrayLike, *, t: ArrayLike | float | None = None, trajectory: ArrayLike | None = None
    ) -> FloatArray:
        """Return predictions, (n,) or (n, outputs).

        With `t` the rows are taken for a noisy trajectory and smoothed first, as those of the fit were; not if these
        were used as measured (`smoothed_` is False). Without `t` they never are. With ``missing="drop"``, rows in which
        a needed value is missing are predicted as NaN.
        """
        values = self._inputs(X, t, trajectory)
        return self._shaped(self._loss.mean(self._at_whole_rows(self._head.predict, self._coordinates(values))))

    def outside_range(self, X: ArrayLike) -> np.ndarray:
        """Return which inputs of which rows are smaller or larger than all training data, (n, n_features) bool.

        Predictions for such rows are extrapolations. Inputs that the prediction does not depend on are never outside.
        """
        values = self._inputs(X, None, None)
        if not hasattr(self, "input_range_"):
            raise ValueError("This model is from an older file, without the range of the training data: fit it again.")
        lowest, highest = self.input_range_
        beyond = (values < lowest) | (values > highest)
        if self._encoding is not None:  # a column of X may be several inputs
            parts, beyond = beyond, np.zeros((len(values), self.n_features_in_), bool)
            np.logical_or.at(beyond.T, self._encoding.sources, parts.T)
        return self.findings().selected & beyond

    @available_if(lambda model: model._has_intervals)
    def predict_interval(
        self,
        X: ArrayLike,
        coverage: float = 0.9,
        *,
        t: ArrayLike | float | None = None,
        trajectory: ArrayLike | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper ends of intervals that hold new observations, each shaped like predictions.

        The intervals are as wide everywhere: they add quantiles of the errors on held-out rows to the predictions.

        Parameters
        ----------
        X : array-like of shape (n, d)
        coverage : float, default=0.9
            Share of new rows whose y shall lie inside; between 0 and 1.
        t, trajectory
            As for `predict`.
        """
        check_real("coverage", coverage, strict=True, below=1.0)
        predicted = self.predict(X, t=t, trajectory=trajectory).reshape(-1, self._head.n_outputs)
        low, high = margins(self.residual_quantiles_, coverage)
        return self._shaped(predicted + low), self._shaped(predicted + high)

    @property
    def equation_(self) -> str | list[str]:
        """The polynomial as text."""
        return self.equation(None)

    @abstractmethod
    def equation(self, names: Any = None) -> str | list[str]:
        """Return the polynomial as text in other names; one text for each output."""

    def _equation(self, names: Any) -> str | list[str]:
        text = self._head.text([str(name) for name in names])
        if text is None:
            raise AttributeError(
                f"equation_ exists only for functions that can be written as text, and this one is "
                f"{self._head.describe()}: fit with head='dictionary' to have one."
            )
        return text[0] if self._single_output else text

    @abstractmethod
    def findings(self) -> Findings:
        """Return what was found, as one record."""

    def summary(self) -> str:
        """Return what was found as text: the variables or directions, the evidence, the function and its error."""
        return summary(self.findings())

    def _common_findings(self) -> dict[str, Any]:
        """Return what the findings of all such models say."""
        check_is_fitted(self, "head_")
        return {
            "inputs": tuple(column_names(self)),
            "encoding": self._encoding,
            "frequencies": getattr(self, "selection_frequencies_", None),
            "held_out_error": self.held_out_error_,
            "expected_error": getattr(self, "expected_error_", np.nan),  # models from older files have none
            "expected_error_se": getattr(self, "expected_error_se_", np.nan),
            "expected_rmse": getattr(self, "expected_rmse_", np.zeros(0)),
            "notes": getattr(self, "notes_", ()),
            "head": self._head,
            "head_errors": self.head_errors_,
            "smoothed": self.smoothed_,
            "lambda_": self.lambda_,
            "loss": self._loss,
        }

    def _shaped(self, predicted: FloatArray) -> FloatArray:
        return predicted[:, 0] if self._single_output else predicted

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self.missing != ERROR
        return tags


def _left_out(row: int) -> str:
    return f"Row {row} was left out: its target lies absurdly far from all others."
