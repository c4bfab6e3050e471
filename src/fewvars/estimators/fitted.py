"""Fitted models: evaluate the function at new rows, and return what was found."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from fewvars._common.validation import FloatArray, check_choice, check_real
from fewvars.columns.encoding import DROP, ERROR, Encoding
from fewvars.engine.losses import LOSSES, Loss
from fewvars.estimators.assessment import margins
from fewvars.estimators.findings import Findings
from fewvars.estimators.inputs import column_names, given_to_predict
from fewvars.estimators.standardised import smooth_columns
from fewvars.estimators.summary import summary
from fewvars.heads import Head
from fewvars.series.splits import sample_times, trajectory_rows


class FittedFunction(BaseEstimator):
    """A head on coordinates of the inputs: selected columns, or combinations of all."""

    # Parameters of some estimators.
    types: Any = None
    missing: str = ERROR
    unseen: str = ERROR

    n_features_in_: int
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

    _MISSING: ClassVar[tuple[str, ...]] = (ERROR, DROP)
    _encoding: Encoding | None = None  # of the columns of a table; plain numbers need none
    _head: Head
    _single_output: bool

    @property
    @abstractmethod
    def _loss(self) -> Loss:
        """The loss under which the head predicts the mean, the log-odds or the logarithm of the rate."""

    @abstractmethod
    def _coordinates(self, X: FloatArray) -> FloatArray:
        """Return the inputs of the head, (n, k), at inputs (n, d)."""

    def _used(self) -> np.ndarray | None:
        """Return which columns of X predictions depend on, (n_features,) bool; None for all."""
        return None

    @abstractmethod
    def findings(self) -> Findings:
        """Return what was found, as one record."""

    @abstractmethod
    def equation(self, names: Any = None) -> str | list[str]:
        """Return the polynomial as text in other names; one text for each output."""

    @property
    def equation_(self) -> str | list[str]:
        """The polynomial as text."""
        return self.equation(None)

    def summary(self) -> str:
        """Return what was found as text: the variables or directions, the evidence, the function and its error."""
        return summary(self.findings())

    def outside_range(self, X: ArrayLike) -> np.ndarray:
        """Return which inputs of which rows are outside the range of the training data, (n, n_features) bool.

        Predictions for such rows are extrapolations. Inputs that the prediction does not depend on are never outside.
        """
        values = self._inputs(X, None, None)
        if not hasattr(self, "input_range_"):
            raise ValueError("This model is from an older file, without the range of the training data: fit it again.")
        lowest, highest = self.input_range_
        beyond = (values < lowest) | (values > highest)
        if self._encoding is not None:  # a column of X may have become several inputs
            parts, beyond = beyond, np.zeros((len(values), self.n_features_in_), bool)
            np.logical_or.at(beyond.T, self._encoding.sources, parts.T)
        return self.findings().selected & beyond

    def _input_names(self) -> list[str]:
        """Return a name for each input: that of its column."""
        names = column_names(self)
        return names if self._encoding is None else [names[j] for j in self._encoding.sources]

    def _inputs(self, X: ArrayLike, t: Any, trajectory: Any) -> FloatArray:
        """Return the inputs (n, inputs); rows that were left out because a value is missing hold NaN."""
        check_is_fitted(self, "head_")
        if t is None and trajectory is not None:
            raise ValueError("trajectory has no effect without t: give the times too, or leave both out.")
        smooths = t is not None and self.smoothed_
        values = given_to_predict(self, X, t, trajectory, None if smooths else self._used())
        if t is None:
            return values
        runs = trajectory_rows(trajectory, len(values))
        times = sample_times(t, runs)  # raises an error for bad times, whether or not they are used
        if smooths:
            whole = ~np.isnan(values).any(axis=1)
            labels = None if trajectory is None else np.asarray(trajectory)[whole]
            values = values.copy()
            values[whole] = smooth_columns(values[whole], times[whole], labels)[0]
        return values

    def _evaluate(
        self, what: Literal["predict", "gradient"], X: ArrayLike, t: Any = None, trajectory: Any = None
    ) -> FloatArray:
        """Return what the head predicts at rows of X, or its gradient; NaN where a coordinate is missing."""
        coordinates = self._coordinates(self._inputs(X, t, trajectory))
        function = self._head.predict if what == "predict" else self._head.gradient
        whole = ~np.isnan(coordinates).any(axis=1)
        if whole.all():
            return function(coordinates)
        found = function(coordinates[whole])
        values = np.full((len(coordinates), *found.shape[1:]), np.nan)
        values[whole] = found
        return values

    def _means(self, X: ArrayLike, t: Any, trajectory: Any) -> FloatArray:
        """Return the expected targets at rows of X, (n, outputs)."""
        return self._loss.mean(self._evaluate("predict", X, t, trajectory))

    def _shaped(self, values: FloatArray) -> FloatArray:
        """Return values (n, outputs, ...) without the axis of outputs if y had none."""
        return values[:, 0] if self._single_output else values

    def _equation(self, names: Any) -> str | list[str]:
        text = self._head.text([str(name) for name in names])
        if text is None:
            raise AttributeError(
                f"equation_ exists only for functions that can be written as text, and this one is "
                f"{self._head.describe()}: fit with head='dictionary' to have one."
            )
        return text[0] if self._single_output else text

    def _common_findings(self) -> dict[str, Any]:
        """Return the findings that all such models have."""
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self.missing != ERROR
        return tags


@dataclass(kw_only=True, repr=False, eq=False)
class FittedRegressor(MultiOutputMixin, RegressorMixin, FittedFunction):
    """A function that predicts numbers, with intervals around them."""

    loss: str = "squared"

    @property
    def _loss(self) -> Loss:
        return LOSSES[check_choice("loss", self.loss, LOSSES)]

    def predict(
        self, X: ArrayLike, *, t: ArrayLike | float | None = None, trajectory: ArrayLike | None = None
    ) -> FloatArray:
        """Return predictions, (n,) or (n, outputs).

        With `t`, the rows are smoothed first, like those of the fit, unless the fit used rows as measured (`smoothed_`
        is False). Without `t`, they are never smoothed. With ``missing="drop"``, rows in which a needed value is
        missing are predicted as NaN.
        """
        return self._shaped(self._means(X, t, trajectory))

    def predict_interval(
        self,
        X: ArrayLike,
        coverage: float = 0.9,
        *,
        t: ArrayLike | float | None = None,
        trajectory: ArrayLike | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper ends of intervals for new observations, each shaped like predictions.

        The intervals are equally wide everywhere: they add quantiles of the errors on held-out rows to the predictions.

        Parameters
        ----------
        X : array-like of shape (n, d)
        coverage : float, default=0.9
            Share of new rows whose y should lie inside; between 0 and 1.
        t, trajectory
            As for `predict`.
        """
        check_real("coverage", coverage, strict=True, below=1.0)
        predicted = self._means(X, t, trajectory)
        low, high = margins(self.residual_quantiles_, coverage)
        return self._shaped(predicted + low), self._shaped(predicted + high)
