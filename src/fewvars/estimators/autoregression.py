"""The linear function of all earlier values of the target, which forecasts from few variables must not fall behind."""

from dataclasses import replace

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.estimators.assessment import Assessment
from fewvars.estimators.preparation import Prepared
from fewvars.heads import PolynomialHead
from fewvars.polynomials.dictionary import fit_polynomial
from fewvars.search.variables.settings import Groups

ROWS_PER_LAG = 4  # of the rows that the first fit sees


def autoregression(X: FloatArray, y: FloatArray, weight: FloatArray) -> PolynomialHead:
    """Fit a linear function of X (n, lags) by least squares; nothing is left out."""
    found = fit_polynomial(X, y, max_degree=1, strength=0.0, sample_weight=weight / weight.mean())
    return PolynomialHead(found.polynomial)


def own_past(data: Prepared, groups: Groups) -> np.ndarray:
    """Return the groups (groups,) that hold earlier values of the target and may be selected."""
    found = np.zeros(groups.usable.size, bool)
    found[groups.labels[list(data.plan.own_past)]] = True
    return found & groups.usable


def better_autoregression(data: Prepared, inputs: np.ndarray, own: Assessment) -> Assessment | None:
    """Assess the linear function of some inputs (inputs,) bool on the rows of another model's assessment.

    Return None unless its mean squared error is significantly smaller. We compare differences: ratios would give the
    quiet times of a series the same weight as those in which it moves.
    """
    held_out = replace(own.trial.held_out, by_ratio=False)
    if not inputs.any() or min(len(train) for train, _ in held_out.splits) < ROWS_PER_LAG * (inputs.sum() + 1):
        return None
    trial = replace(own.trial, X=data.inputs.X[:, inputs], held_out=held_out)
    linear = Assessment.of(trial.score(autoregression).models, trial)
    return linear if held_out.better(linear.errors, own.errors) else None
