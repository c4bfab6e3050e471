"""The error to expect on new rows, from predictions of rows that a model was not fitted to."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.heads import Trial
from fewvars.search.held_out import Predictor
from fewvars.series.scaling import Scaling

CLEARLY_BETTER = 4.0  # standard errors
LEVELS = np.linspace(0.0, 1.0, 1001)  # of the quantiles of residuals that are kept


@dataclass(frozen=True, eq=False)
class Assessment:
    """Errors on rows that the model was not fitted to.

    Attributes
    ----------
    trial : Trial
        The data, and which rows were held out.
    errors : (pieces,)
        Of the pieces of held-out rows.
    error, error_se : float
        Mean squared error over the variance of y, averaged over the outputs that vary, and its standard error.
    explains : bool
        Whether the error is smaller than that of the mean of all rows.
    beats_null, clearly_beats_null : bool
        Whether the error is smaller than that of the means of training rows, and by far more than choosing variables
        can explain.
    rmse : (outputs,)
        Root mean squared error in units of y.
    quantiles : (levels, outputs)
        Of y minus its prediction.
    """

    trial: Trial
    errors: FloatArray
    error: float
    error_se: float
    explains: bool
    beats_null: bool
    clearly_beats_null: bool
    rmse: FloatArray
    quantiles: FloatArray

    @classmethod
    def of(cls, models: Sequence[Predictor], trial: Trial) -> "Assessment":
        """Assess models that were fitted to the training rows of each split of a trial."""
        held_out, y = trial.held_out, trial.y
        tests = [test for _, test in held_out.splits]
        pairs = [(model.predict(trial.X[test]), y[test]) for model, test in zip(models, tests, strict=True)]
        losses = [trial.row_loss.values(output, target) for output, target in pairs]
        errors = held_out.piece_errors(losses, trial.weight)
        error, se = held_out.measured(errors)
        residuals = np.concatenate([target - trial.loss.mean(output) for output, target in pairs])
        weights = np.concatenate([trial.weight[test] for test in tests])
        quantiles = np.quantile(residuals, LEVELS, axis=0, method="inverted_cdf", weights=weights)
        null = trial.score(trial.null_model).errors
        constant = trial.null_model(trial.X, y, trial.weight)
        explains = error < held_out.mean(trial.score_splits(lambda *_: constant).errors)
        scale = Scaling.of(y, trial.weight).scale  # squares of huge values must not overflow
        rmse = scale * np.sqrt(np.average((residuals / scale) ** 2, axis=0, weights=weights))
        clearly = held_out.better(errors, null, CLEARLY_BETTER)
        return cls(trial, errors, error, se, explains, error < held_out.mean(null), clearly, rmse, quantiles)


def margins(quantiles: FloatArray, coverage: float) -> tuple[FloatArray, FloatArray]:
    """Return what to add to predictions, (outputs,) each, for intervals with this coverage of new rows."""
    tail = 0.5 * (1.0 - coverage)
    low, high = (np.array([np.interp(level, LEVELS, column) for column in quantiles.T]) for level in (tail, 1.0 - tail))
    return low, high
