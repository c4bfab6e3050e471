"""What the estimators that choose on held-out blocks share: validate, smooth, search, fit the head, predict."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names_in, _check_sample_weight, check_is_fitted, validate_data

from fewvars._common.progress import Progress
from fewvars._common.threads import single_blas_thread
from fewvars._common.validation import FloatArray, check_choice, check_real, check_whole
from fewvars.engine.network import ACTIVATIONS
from fewvars.estimators.findings import Findings
from fewvars.estimators.preparation import (
    FEWEST_ROWS,
    Measured,
    Prepared,
    prepare,
    smooth_inputs,
    smoothing_helps,
)
from fewvars.heads import Head, HeadSettings, Trial, choose_head, kinds_of
from fewvars.search.variables.selection import Refit
from fewvars.series.splits import sample_times, trajectory_rows

SOLVERS = ("momentum", "monotone")


@dataclass(frozen=True, eq=False)
class Job:
    """What a fit hands to its stages: how refits are made, and where progress is shown."""

    recipe: Refit
    progress: Progress

    def reseeded(self, k: int) -> "Job":
        """Return the same job with another seed."""
        return replace(self, recipe=replace(self.recipe, seed=self.recipe.seed + k))


class BlockedRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A regressor that searches on blocks of time and fits a head to what it found; the search is abstract."""

    # Parameters of every such estimator, stored by the constructors of the subclasses.
    hidden_layers: tuple[int, ...]
    activation: str
    smoothing: str
    head: str
    max_degree: int
    cv: Any
    n_blocks: int
    shuffle: bool
    solver: str
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

    _n_splits = 2

    path_: Any
    n_iter_: int
    lambda_: float
    held_out_error_: float
    selection_frequencies_: FloatArray

    @abstractmethod
    def _search(self, data: Prepared, job: Job) -> Any:
        """Return what was found on these data, keeping the path as it grows."""

    @abstractmethod
    def _refitted_errors(self, found: Any, data: Prepared, job: Job) -> FloatArray:
        """Return the held-out errors (pieces,) of what was found, refitted to other data."""

    @abstractmethod
    def _store(self, data: Prepared, found: Any, job: Job) -> None:
        """Set the fitted attributes."""

    @abstractmethod
    def _coordinates(self, X: FloatArray) -> FloatArray:
        """Return the inputs of the head, (n, k), at inputs (n, d)."""

    @abstractmethod
    def _count(self, found: Any) -> np.ndarray:
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
        inputs, outputs = validate_data(
            self, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_min_samples=FEWEST_ROWS
        )
        self._single_output = outputs.ndim == 1
        outputs = np.asarray(outputs, np.float64).reshape(len(inputs), -1)
        weight = _check_sample_weight(sample_weight, inputs, dtype=np.float64, ensure_non_negative=True)
        recipe = self._recipe()
        samples = Measured.of(inputs, outputs, weight, t, trajectory, self.cv)
        if hasattr(self, "selection_frequencies_"):  # of an earlier fit
            del self.selection_frequencies_
        with Progress(self.verbose) as progress, single_blas_thread():
            job = Job(recipe, progress)
            data, *measured = prepare(
                samples,
                smoothing=self.smoothing,
                n_blocks=self.n_blocks,
                n_splits=self._n_splits,
                shuffle=self.shuffle,
                seed=recipe.seed,
            )
            found = self._search(data, job)
            refitted = partial(self._refitted_errors, found, job=job)
            if measured and not smoothing_helps(data, measured[0], recipe, refitted):
                data = measured[0]
                found = self._search(data, job)
            self.smoothed_ = data.smoothed
            self._store(data, found, job)
            self._fit_head(data, job)
            if self.n_resamples:
                self.selection_frequencies_ = self._frequencies(data, job)
        return self

    def _recipe(self) -> Refit:
        """Check the parameters and return how refits are made."""
        check_choice("activation", self.activation, ACTIVATIONS)
        kinds_of(self.head, HeadSettings())
        check_choice("solver", self.solver, SOLVERS)
        for name in ("max_degree", "first_updates", "path_updates", "refit_updates", "batch_size"):
            check_whole(name, getattr(self, name))
        check_whole("n_resamples", self.n_resamples, minimum=0)
        check_real("path_factor", self.path_factor, minimum=1.0, strict=True)
        check_real("learning_rate", self.learning_rate, strict=True)
        given = self.hidden_layers if np.iterable(self.hidden_layers) else ()
        widths = tuple(check_whole("hidden_layers", width) for width in given)
        if not widths:
            raise ValueError(f"hidden_layers={self.hidden_layers!r}: give the width of each layer, as in (20, 20, 20).")
        return Refit(
            widths=widths,
            activation=self.activation,
            n_updates=self.refit_updates,
            learning_rate=2.0 * self.learning_rate,
            batch_size=self.batch_size,
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
        )

    def _training(self) -> dict[str, Any]:
        """Return the options that the first stage and the path share."""
        return {"learning_rate": self.learning_rate, "ridge": 1e-4, "batch_size": self.batch_size}

    def _fit_head(self, data: Prepared, job: Job) -> None:
        job.progress.stage("head", "fit")
        self._head: Head
        settings = HeadSettings(
            activation=self.activation,
            max_degree=self.max_degree,
            gap=data.gap,
            seed=job.recipe.seed,
            n_jobs=self.n_jobs,
            on_fit=job.progress.step,
        )
        coordinates, first = self._coordinates(data.X), data.held_out.first()
        choice = choose_head(kinds_of(self.head, settings), Trial(coordinates, data.y, data.sample_weight, first))
        self._head = choice.fit(coordinates, data.y, data.sample_weight)
        self.head_ = choice.name
        self.head_errors_ = {name: first.mean(errors) for name, errors in choice.errors.items()}

    def _frequencies(self, data: Prepared, job: Job) -> FloatArray:
        """Return how often each answer is found when the blocks are drawn anew with replacement."""
        path, n_iter = self.path_, self.n_iter_
        total: Any = 0.0
        try:
            for k in range(self.n_resamples):
                resampled = data.resampled(np.random.default_rng([job.recipe.seed, k]), self.n_blocks)
                total = total + self._count(self._search(resampled, job.reseeded(k + 1)))
        finally:
            self.path_, self.n_iter_ = path, n_iter
        return total / self.n_resamples

    def _inputs(self, X: ArrayLike, t: Any, trajectory: Any) -> FloatArray:
        check_is_fitted(self, "head_")
        values = validate_data(self, X, dtype=np.float64, reset=False)
        if t is None and trajectory is not None:
            raise ValueError("trajectory is of use only with t: give the times too, or leave both out.")
        if t is None:
            return values
        if not self.smoothed_:
            sample_times(t, trajectory_rows(trajectory, len(values)))  # complains, though they are not used
            return values
        return smooth_inputs(values, t, trajectory)[0]

    def predict(
        self, X: ArrayLike, *, t: ArrayLike | float | None = None, trajectory: ArrayLike | None = None
    ) -> FloatArray:
        """Return predictions, (n,) or (n, outputs).

        With `t` the rows are taken for a noisy trajectory and smoothed first, as those of the fit were; not if these
        were used as measured (`smoothed_` is False). Without `t` they never are.
        """
        values = self._inputs(X, t, trajectory)
        return self._shaped(self._head.predict(self._coordinates(values)))

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

    @abstractmethod
    def _coordinate_names(self) -> list[str]:
        """Return the names of the inputs of the head."""

    def _common_findings(self) -> dict[str, Any]:
        """Return what the findings of all such models say."""
        check_is_fitted(self, "head_")
        text = self._head.text(self._coordinate_names())
        return {
            "inputs": tuple(map(str, _check_feature_names_in(self))),
            "frequencies": getattr(self, "selection_frequencies_", None),
            "held_out_error": self.held_out_error_,
            "head": self._head,
            "head_errors": self.head_errors_,
            "equations": None if text is None else tuple(text),
            "smoothed": self.smoothed_,
            "lambda_": self.lambda_,
        }

    def _shaped(self, predicted: FloatArray) -> FloatArray:
        return predicted[:, 0] if self._single_output else predicted

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
