"""A method selects inputs, predicts, and claims how large its error on new rows will be."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LassoCV, LinearRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fewvars as fv
from benchmarks.selection.problems import source_text
from benchmarks.trust.problems import Data

COVERAGE = 0.9
TREES = 200

Predict = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Answer:
    """Selected inputs (d,), a prediction, the claimed RMSE on new rows, and intervals if the method has any."""

    selected: np.ndarray
    predict: Predict
    claimed: float
    interval: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None


def few_variables(data: Data, seed: int) -> Answer:
    model = fv.FewVariablesRegressor(random_state=seed).fit(data.X, data.y, t=data.t)
    interval = partial(model.predict_interval, coverage=COVERAGE)
    return Answer(model.support_, model.predict, float(model.expected_rmse_[0]), interval)


def lasso_cv(data: Data, seed: int) -> Answer:
    """Choose the penalty by five shuffled folds, inputs standardised; the claim is the error in these folds."""
    lasso = LassoCV(cv=KFold(5, shuffle=True, random_state=seed), max_iter=20_000)
    model = make_pipeline(StandardScaler(), lasso).fit(data.X, data.y)
    return Answer(lasso.coef_ != 0, model.predict, float(np.sqrt(lasso.mse_path_.mean(axis=1).min())))


def forest(data: Data, seed: int) -> Answer:
    """Choose the inputs tried at a split and the size of leaves out of bag; the claim is that error."""

    def grown(trees: int, share: float, leaf: int) -> tuple[float, RandomForestRegressor]:
        options = {"max_features": share, "min_samples_leaf": leaf, "oob_score": True, "random_state": seed}
        model = RandomForestRegressor(trees, **options).fit(data.X, data.y)
        return float(np.sqrt(np.mean((data.y - model.oob_prediction_) ** 2))), model

    choices = [(share, leaf) for share in (1 / 3, 1.0) for leaf in (1, 5)]
    error, model = grown(TREES, *min(choices, key=lambda choice: grown(TREES // 4, *choice)[0]))
    return Answer(np.ones(data.X.shape[1], bool), model.predict, error)


def autoregression(data: Data, seed: int) -> Answer:
    """Fit all lags by least squares."""
    n, d = data.X.shape
    model = LinearRegression().fit(data.X, data.y)
    claimed = np.sqrt(np.sum((data.y - model.predict(data.X)) ** 2) / (n - d - 1))
    return Answer(np.ones(d, bool), model.predict, float(claimed))


def persistence(data: Data, seed: int) -> Answer:
    """Predict the last value."""
    claimed = np.sqrt(np.mean((data.y - data.X[:, 0]) ** 2))
    return Answer(np.arange(data.X.shape[1]) == 0, lambda X: X[:, 0], float(claimed))


@dataclass(frozen=True, eq=False)
class Method:
    """A function (data, seed) -> Answer; the answers of `ours` depend on the source of fewvars."""

    answer: Callable[[Data, int], Answer]
    ours: bool = False

    @property
    def source(self) -> list[str]:
        """What an answer depends on, as text."""
        return [source_text(self.answer)]


METHODS = {
    "fewvars": Method(few_variables, ours=True),
    "lasso-cv": Method(lasso_cv),
    "forest": Method(forest),
    "autoregression": Method(autoregression),
    "persistence": Method(persistence),
}
