"""Methods that say which inputs matter, and predict: ours as it comes, rivals as their documentation recommends.

Inputs of rivals are standardised. Where a rival does not predict, logistic regression and a random forest are fitted to
what it selected; of all its predictions the best *on the new rows* counts. Packages are imported when a fit needs them.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

import fewvars as fv
from benchmarks.labels.problems import Data

Predict = Callable[[np.ndarray], np.ndarray]
Answer = tuple[np.ndarray, Sequence[Callable[[], Predict]]]  # selected (d,), and ways to come to a prediction


def classifier(data: Data, seed: int) -> Answer:
    """`FewVariablesClassifier(random_state=seed)`."""
    model = fv.FewVariablesClassifier(random_state=seed).fit(data.X, data.y)
    return model.support_, [lambda: model.predict_proba]


def regressor(data: Data, seed: int, loss: str) -> Answer:
    """`FewVariablesRegressor` with a loss."""
    model = fv.FewVariablesRegressor(loss=loss, random_state=seed).fit(data.X, data.y)
    return model.support_, [lambda: model.predict]


def l1_logistic(data: Data, seed: int) -> Answer:
    """Logistic regression with an l1 penalty, its strength by the log loss of five folds."""
    from sklearn.linear_model import LogisticRegressionCV

    binary = np.unique(data.y).size == 2
    model = LogisticRegressionCV(
        penalty="l1",
        solver="liblinear" if binary else "saga",
        max_iter=200 if binary else 2000,
        scoring="neg_log_loss",
        random_state=seed,
    )
    scale = _scaler(data.X)
    model.fit(scale(data.X), data.y)
    selected = (model.coef_ != 0).any(axis=0)
    return selected, [lambda: lambda Z: model.predict_proba(scale(Z)), *_refits(data, selected, seed)]


def boosting(data: Data, seed: int) -> Answer:
    """Boosted trees; inputs whose permutation raises the log loss of 30% of the rows by two standard deviations."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import train_test_split

    rows, checked = train_test_split(np.arange(len(data.y)), test_size=0.3, stratify=data.y, random_state=seed)
    model = HistGradientBoostingClassifier(early_stopping=True, random_state=seed).fit(data.X[rows], data.y[rows])
    found = permutation_importance(
        model, data.X[checked], data.y[checked], scoring="neg_log_loss", n_repeats=10, random_state=seed
    )
    selected = found.importances_mean > 2 * found.importances_std
    selected &= found.importances_mean > 0
    return selected, [lambda: model.predict_proba, *_refits(data, selected, seed)]


def boruta(data: Data, seed: int) -> Answer:
    """Shadow forest: trees of depth 5, their number automatic, 100 rounds."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(max_depth=5, class_weight="balanced", random_state=seed)
    selected = BorutaPy(forest, n_estimators="auto", random_state=seed).fit(data.X, data.y).support_
    return selected, _refits(data, selected, seed)


def lassonet(data: Data, seed: int) -> Answer:
    """`LassoNetClassifierCV` as it comes."""
    import torch
    from lassonet import LassoNetClassifierCV

    torch.set_num_threads(1)
    scale = _scaler(data.X)
    model = LassoNetClassifierCV(random_state=seed, torch_seed=seed, verbose=0)
    numbers = np.unique(data.y, return_inverse=True)[1]  # it takes no other labels than 0, 1, 2, ...
    model.fit(scale(data.X).astype(np.float32), numbers)
    selected = model.best_selected_.numpy()
    own = [lambda: lambda Z: model.predict_proba(scale(Z).astype(np.float32))]
    return selected, [*own, *_refits(data, selected, seed)]


def _scaler(X: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    centre, spread = X.mean(axis=0), X.std(axis=0)
    return lambda Z: (Z - centre) / np.where(spread > 0, spread, 1.0)


def _refits(data: Data, selected: np.ndarray, seed: int) -> list[Callable[[], Predict]]:
    """Return logistic regression and a random forest on the selected inputs; without any, the shares of the classes."""
    from sklearn.dummy import DummyClassifier
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    models = [
        make_pipeline(StandardScaler(), LogisticRegressionCV(scoring="neg_log_loss", max_iter=1000)),
        RandomForestClassifier(200, min_samples_leaf=2, random_state=seed),
    ]

    def fitted(model):
        known = model.fit(data.X[:, selected], data.y)
        return lambda Z: known.predict_proba(Z[:, selected])

    if not selected.any():
        shares = DummyClassifier(strategy="prior").fit(data.X, data.y)
        return [lambda: shares.predict_proba]
    return [partial(fitted, model) for model in models]


CLASSIFIERS = {
    "fewvars": classifier,
    "l1 logistic": l1_logistic,
    "boosting": boosting,
    "Boruta": boruta,
    "LassoNet": lassonet,
}
REGRESSORS = {loss: partial(regressor, loss=loss) for loss in ("squared", "poisson", "huber")}
METHODS = {**CLASSIFIERS, **REGRESSORS}
OURS = ("fewvars", *REGRESSORS)
