"""Rivals, each as its own documentation recommends, told to keep the false discovery rate at 0.1 where they can be.

Inputs are standardised first. Where a method does not predict, ridge regression and a random forest are fitted to what
it selected, and the one with the smaller *test* error counts. Packages are imported when a fit needs them.
"""

from functools import partial

import numpy as np

from benchmarks.selection.methods import Answer, Method, refits
from benchmarks.selection.problems import Data

FDR = 0.1


def standardised(X: np.ndarray) -> np.ndarray:
    """Return X with columns of mean 0 and standard deviation 1; constant ones are left at 0."""
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def lasso_cv(data: Data, seed: int) -> Answer:
    """Five-fold cross-validation chooses the strength; inputs with a coefficient are selected."""
    from sklearn.linear_model import LassoCV

    model = LassoCV(cv=5, max_iter=5000, random_state=seed).fit(standardised(data.X), data.y)
    selected = model.coef_ != 0
    centre, spread = data.X.mean(axis=0), np.where(data.X.std(axis=0) > 0, data.X.std(axis=0), 1.0)
    return Answer(selected, [lambda: lambda Z: model.predict((Z - centre) / spread), *refits(data, selected, seed)])


def boruta(data: Data, seed: int) -> Answer:
    """Shadow forest: trees of depth 5 (its documentation recommends 3 to 7), their number automatic, 100 rounds."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(max_depth=5, random_state=seed)
    model = BorutaPy(forest, n_estimators="auto", random_state=seed).fit(data.X, data.y)
    tentative = np.flatnonzero(model.support_weak_).tolist()
    return Answer(model.support_, refits(data, model.support_, seed), {"tentative": tentative})


def lassonet(data: Data, seed: int) -> Answer:
    """`LassoNetRegressorCV` as it comes; its own model, and a dense network on what it selected, are both tried."""
    import torch
    from lassonet import LassoNetRegressor, LassoNetRegressorCV

    torch.set_num_threads(1)
    centre, spread = data.X.mean(axis=0), np.where(data.X.std(axis=0) > 0, data.X.std(axis=0), 1.0)
    mean, scale = data.y.mean(), data.y.std()
    X, y = (data.X - centre) / spread, (data.y - mean) / scale
    options = {"random_state": seed, "torch_seed": seed, "verbose": 0}
    model = LassoNetRegressorCV(**options).fit(X, y)
    selected = model.best_selected_.numpy()

    def dense():
        fitted = LassoNetRegressor(**options).fit(X[:, selected], y, dense_only=True)
        return lambda Z: mean + scale * fitted.predict(((Z - centre) / spread)[:, selected])[:, 0]

    own = [lambda: lambda Z: mean + scale * model.predict((Z - centre) / spread)[:, 0]]
    return Answer(selected, [*own, *[dense] * bool(selected.any()), *refits(data, selected, seed)])


def knockoffs(data: Data, seed: int, statistic: str, offset: int, **options) -> Answer:
    """Gaussian model-X knockoffs, covariance by Ledoit and Wolf, the package's default construction (MVR).

    With offset 1, the "knockoff+" filter, the rate is controlled, but at 0.1 it can select ten inputs or none; with
    offset 0 a modified rate is controlled, and a few inputs can be found.
    """
    from knockpy import knockoff_stats
    from knockpy.knockoff_filter import KnockoffFilter

    np.random.seed(seed)  # noqa: NPY002  the package has no other way
    model = KnockoffFilter(fstat=statistic, ksampler="gaussian", fstat_kwargs=options)
    model.forward(X=standardised(data.X), y=data.y, fdr=FDR)
    selected = knockoff_stats.data_dependent_threshhold(model.W, fdr=FDR, offset=offset) <= model.W
    return Answer(selected, refits(data, selected, seed))


def stability_paths(data: Data, seed: int, selector: str) -> Answer:
    """Integrated path stability selection, inputs with a q-value of at most 0.1; settings as they come.

    It first keeps the 200 inputs with the largest distance correlation. That is left out where there are not more,
    and done by the faster of its two engines otherwise.
    """
    from ipss import ipss

    options = {} if selector == "l1" else {"preselect": False}
    if data.X.shape[1] > 200 and selector != "l1":
        options = {"preselector_args": {"engine": "dcor"}}
    np.random.seed(seed)  # noqa: NPY002  the package has no other way
    found = ipss(standardised(data.X), data.y, selector=selector, force_regression=True, **options)
    q = {int(j): float(value) for j, value in found["q_values"].items()}
    selected = np.array([q.get(j, 1.0) <= FDR for j in range(data.X.shape[1])])
    return Answer(selected, refits(data, selected, seed), {"q": {j: round(v, 4) for j, v in q.items() if v <= 0.5}})


def compile_distance_correlation() -> None:
    import dcor

    x = np.random.default_rng(0).standard_normal((2, 100))
    dcor.distance_correlation_sqr(x[0], x[1], method="auto")


def desparsified_lasso(data: Data, seed: int) -> Answer:
    """Benjamini-Hochberg at 0.1 on the p-values of the desparsified lasso, hidimstat's method for many inputs.

    Version 0.4.0 sets the penalties of the nodewise regressions, as documented, only if told None; otherwise they are
    all 1, and on standardised inputs no regression happens.
    """
    from hidimstat import DesparsifiedLasso

    model = DesparsifiedLasso(random_state=seed, preconfigure_model_x_path=None)
    model.fit(standardised(data.X), data.y)
    model.importance()
    selected = np.asarray(model.fdr_selection(FDR)) != 0
    return Answer(selected, refits(data, selected, seed))


def distilled_randomization(data: Data, seed: int) -> Answer:
    """Benjamini-Hochberg at 0.1 on the p-values of the distilled conditional randomization test with LassoCV.

    A tenth of the inputs, at least 50, pass its screening: by default a tenth would, of ten inputs one.
    """
    from hidimstat import D0CRT
    from sklearn.linear_model import LassoCV

    kept = min(100.0, max(10.0, 5000 / data.X.shape[1]))
    model = D0CRT(estimator=LassoCV(random_state=seed), screening_threshold=kept, random_state=seed)
    model.fit_importance(standardised(data.X), data.y)
    selected = np.asarray(model.fdr_selection(FDR)) != 0
    return Answer(selected, refits(data, selected, seed))


METHODS = [
    Method("lasso-cv", lasso_cv, ("scikit-learn",), note="LassoCV, five folds"),
    Method(
        "ipss-lasso",
        partial(stability_paths, selector="l1"),
        ("ipss",),
        note="integrated path stability selection of the lasso, q <= 0.1",
    ),
    Method(
        "ipss-forest",
        partial(stability_paths, selector="rf"),
        ("ipss", "dcor"),
        False,
        compile_distance_correlation,
        "the same of forests",
    ),
    Method(
        "ipss-boosting",
        partial(stability_paths, selector="gb"),
        ("ipss", "dcor"),
        False,
        compile_distance_correlation,
        "of boosted trees",
    ),
    Method(
        "knockoffs-lasso",
        partial(knockoffs, statistic="lasso", offset=0),
        ("knockpy",),
        note="Gaussian model-X knockoffs, lasso, offset 0",
    ),
    Method(
        "knockoffs-lasso-plus",
        partial(knockoffs, statistic="lasso", offset=1),
        ("knockpy",),
        note="the same with offset 1, knockoff+",
    ),
    Method(
        "knockoffs-forest",
        partial(knockoffs, statistic="randomforest", offset=0, n_estimators=200),
        ("knockpy",),
        note="with swap importances of a forest, offset 0",
    ),
    Method("hidimstat-lasso", desparsified_lasso, ("hidimstat",), note="desparsified lasso, BH at 0.1"),
    Method("hidimstat-d0crt", distilled_randomization, ("hidimstat",), note="distilled randomization test, BH at 0.1"),
    Method("boruta", boruta, ("boruta",), note="shadow forest, trees of depth 5"),
    Method("lassonet", lassonet, ("lassonet", "torch"), note="LassoNetRegressorCV"),
]
