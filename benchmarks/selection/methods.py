"""A method says which inputs matter, and predicts: the registry, and the methods that need no other package.

Every fit has one core's worth of threads, except where `FewVariablesRegressor` decides for itself. Seconds are those of
the selection; ours include the fit of the function, which selection needs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import f as f_distribution

import fewvars as fv
from benchmarks.selection.problems import Data, source_text

TREES = 200

Predict = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method says: selected inputs (d,), ways to predict (the one better on the test set counts), anything else.

    A way to predict is a function that returns a prediction function, so that refits are not part of the time.
    """

    selected: np.ndarray
    predictions: Sequence[Callable[[], Predict]]
    extras: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Method:
    """A named function (data, seed) -> Answer.

    `needs` are distributions that must be installed; `ours` methods depend on the source of fewvars, the others do not.
    `prepare` is called once, before the clock starts, to have everything compiled. `note` is a line below the table.
    """

    name: str
    select: Callable[[Data, int], Answer]
    needs: Sequence[str] = ()
    ours: bool = False
    prepare: Callable[[], None] | None = None
    note: str = ""

    @property
    def source(self) -> list[str]:
        """What an answer depends on, as text."""
        return [source_text(self.select)] if self.ours else [source_text(self.select), source_text(refits)]


def refits(data: Data, selected: np.ndarray, seed: int) -> list[Callable[[], Predict]]:
    """Return ridge regression and a random forest on the selected inputs, what a careful user would try afterwards."""
    if not selected.any():
        return [lambda: lambda Z: np.full(len(Z), data.y.mean())]
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    models = [
        make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 3, 13))),
        RandomForestRegressor(TREES, min_samples_leaf=2, random_state=seed),
    ]

    def refitted(model):
        fitted = model.fit(data.X[:, selected], data.y)
        return lambda Z: fitted.predict(Z[:, selected])

    return [lambda model=model: refitted(model) for model in models]


def compiled() -> None:
    """Have everything compiled, so that no fit is charged for it."""
    X = np.random.default_rng(0).standard_normal((400, 10))
    for y in (np.sin(3 * X[:, 1]) * X[:, 2], X[:, 0]):
        fv.FewVariablesRegressor(random_state=0).fit(X, y, t=1.0)
        fv.FewVariablesRegressor(random_state=0).fit(X, y)


def few_variables(data: Data, seed: int, **options: Any) -> Answer:
    options |= {"shuffle": True} if data.shuffle else {}
    model = fv.FewVariablesRegressor(random_state=seed, **options)
    model.fit(data.X, data.y, t=data.t, trajectory=data.trajectory)
    extras: dict[str, Any] = {"head": getattr(model, "head_", None)}
    q_values = getattr(model, "q_values_", None)  # of the older package there are none
    if q_values is not None:
        extras["q"] = {int(j): round(float(q_values[j]), 4) for j in np.flatnonzero(q_values <= 0.5)}
    return Answer(model.support_, [lambda: model.predict], extras)


def few_groups(data: Data, seed: int) -> Answer:
    """Let the inputs of a group, such as the mutations at one position, enter or leave together."""
    return few_variables(data, seed, feature_groups=data.groups)


def oracle(data: Data, seed: int) -> Answer:
    """Fit the function to the true variables alone."""
    true = data.support
    if not true.any():
        return Answer(true, [lambda: lambda Z: np.full(len(Z), data.y.mean())])
    model = fv.FewVariablesRegressor(n_variables=int(true.sum()), random_state=seed)
    model.fit(data.X[:, true], data.y, t=data.t, trajectory=data.trajectory)
    return Answer(true, [lambda: lambda Z: model.predict(Z[:, true])], {"head": getattr(model, "head_", None)})


def linear_forward(data: Data, seed: int, level: float = 0.05) -> Answer:
    """Add the input with the smallest p-value of its F-test while that is below level / inputs left."""
    columns = data.X - data.X.mean(axis=0)
    residual = data.y - data.y.mean()
    norms = np.maximum((columns**2).sum(axis=0), np.finfo(float).tiny)
    rounding = np.finfo(float).eps * max(residual @ residual, 1e-200)
    selected = np.zeros(data.X.shape[1], bool)
    while not selected.all() and len(residual) - selected.sum() > 2:
        left = (columns**2).sum(axis=0)
        usable = ~selected & (left > 1e-9 * norms)  # not a combination of those selected
        gain = np.where(usable, (columns.T @ residual) ** 2 / np.where(usable, left, 1.0), 0.0)
        best = int(gain.argmax())
        freedom = len(residual) - selected.sum() - 2
        unexplained = max(residual @ residual - gain[best], rounding)
        ratio = gain[best] / (unexplained / freedom)
        if f_distribution.sf(ratio, 1, freedom) * (~selected).sum() > level:
            break
        selected[best] = True
        direction = columns[:, best] / np.sqrt(left[best])
        columns = columns - np.outer(direction, direction @ columns)
        residual = residual - direction * (direction @ residual)
    return Answer(selected, refits(data, selected, seed))


METHODS = [
    Method("fewvars", few_variables, (), True, compiled, "`FewVariablesRegressor(random_state=seed)` as it comes"),
    Method("fewvars-groups", few_groups, (), True, compiled, "the same with `feature_groups`, where there are groups"),
    Method("before", few_variables, (), True, compiled, "the same of an older source tree"),
    Method("oracle", oracle, (), True, compiled, "`FewVariablesRegressor` on the true variables alone"),
    Method("linear-forward", linear_forward, note="F-test, Bonferroni bound 0.05 over the inputs left"),
]
