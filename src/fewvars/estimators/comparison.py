"""Variables, directions or neither: compare them on the same held-out blocks and choose the simplest adequate form."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewvars._common.cv import checked_splits
from fewvars._common.threads import single_blas_thread
from fewvars._common.validation import FloatArray, check_seed
from fewvars.estimators.few_directions import FewDirectionsRegressor
from fewvars.estimators.few_variables import FewVariablesRegressor
from fewvars.estimators.preparation import Plan, Prepared
from fewvars.estimators.row_order import RowOrder
from fewvars.estimators.rows import Rows
from fewvars.estimators.standardised import Target, prepare_inputs
from fewvars.heads import HeadSettings, Trial, choose_head, kinds_of
from fewvars.search.directions.ranks import RankSearch
from fewvars.search.variables.network_judge import NetworkJudge

_SENTENCES = {
    "mean": "no input predicts y better than its mean",
    "variables": "y is a function of few variables",
    "directions": "y is a function of few linear combinations of the inputs",
    "network": "y needs all inputs, and neither few variables nor few directions predict it as well",
}
_RULE = (
    "Forms are compared by their log ratios, in which every block counts equally; the hardest blocks dominate the\n"
    "mean errors. We choose the first form within one standard error of the best, and any form only if the best is\n"
    "better than the mean by two standard errors."
)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """How well each form predicts y, and which one to choose.

    Attributes
    ----------
    forms : tuple of str
        "mean", "variables", "directions" and "network" (of all inputs), from simple to complicated.
    numbers : (forms,)
        How many numbers describe what y depends on: none, the variables, the loadings of the directions, or the weights
        of the first layer of the network.
    errors, errors_se : (forms,)
        Held-out mean squared error over the variance of y as measured, and its standard error over the blocks.
    log_ratios, log_ratios_se : (forms,)
        Mean logarithm of the error over that of the best form to choose from, block by block, and its standard
        error: a form is as good as the best if it is within one standard error of zero.
    recommendation : str
        The simplest form that is not worse than the best. Variables or directions that are as
        numerous as the inputs are not few, and are not chosen.
    variables : FewVariablesRegressor
    directions : FewDirectionsRegressor
        The fitted models.
    """

    forms: tuple[str, ...]
    numbers: np.ndarray
    errors: FloatArray
    errors_se: FloatArray
    log_ratios: FloatArray
    log_ratios_se: FloatArray
    recommendation: str
    variables: FewVariablesRegressor
    directions: FewDirectionsRegressor

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = [f"{'form':<12}{'numbers':>8}  {'mean held-out error':<22}mean log ratio to the best"]
        for i, form in enumerate(self.forms):
            error = f"{self.errors[i]:.4g} ± {self.errors_se[i]:.2g}"
            ratio = f"{self.log_ratios[i]:.3f} ± {self.log_ratios_se[i]:.3f}"
            lines.append(f"{form:<12}{self.numbers[i]:>8}  {error:<22}{ratio}")
        lines.append(_RULE)
        lines += [
            f"The {form} are not a candidate, because there are as many of them as inputs."
            for form in _not_few(self.variables, self.directions)
        ]
        return "\n".join([*lines, f"Recommended: {self.recommendation}, because {_SENTENCES[self.recommendation]}."])


def compare(
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    t: ArrayLike | float | None = None,
    trajectory: ArrayLike | None = None,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
    **parameters: Any,
) -> Comparison:
    """Fit few variables, few directions and a plain network, and recommend the simplest that predicts well.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,) or (n, outputs)
    sample_weight, t, trajectory
        As for the estimators.
    random_state, n_jobs, verbose, **parameters
        Parameters of both estimators, for instance `n_blocks` or `smoothing`; each must exist in both.

    Notes
    -----
    Each form is refitted to the training rows of the same two splits and predicts the held-out outputs as measured. The
    variables and directions were chosen on these blocks, so measure the accuracy of the chosen form on new data.

    Examples
    --------
    >>> import numpy as np
    >>> import fewvars as fv
    >>> X = np.random.default_rng(0).standard_normal((300, 6))
    >>> fv.compare(X, X[:, 0] * X[:, 3] + X[:, 1] ** 2).recommendation
    'variables'
    """
    _check_shared(parameters)
    if parameters.get("cv") is not None:  # computed once: a splitter may be a generator, or random
        parameters["cv"] = checked_splits(parameters["cv"], X, y, trajectory)
    if random_state is None:
        random_state = check_seed(None)
    common = {"random_state": random_state, "n_jobs": n_jobs, "verbose": verbose, **parameters}
    variables = FewVariablesRegressor(**common).fit(X, y, sample_weight, t=t, trajectory=trajectory)
    directions = FewDirectionsRegressor(**common).fit(X, y, sample_weight, t=t, trajectory=trajectory)
    data = _prepared(variables, X, y, sample_weight, t, trajectory)
    with single_blas_thread():
        pieces = _errors(data, variables, directions)
    counts = {
        "mean": 0,
        "variables": int(variables.support_.sum()),
        "directions": directions.directions_.size,
        "network": variables.n_features_in_ * variables.hidden_layer_sizes[0],
    }
    forms, held_out = tuple(pieces), data.held_out
    choice = [form for form in forms if form not in _not_few(variables, directions)]
    best = min((pieces[form] for form in choice), key=held_out.typical)
    measured = [held_out.measured(errors) for errors in pieces.values()]
    ratios = [held_out.log_ratio(errors, best) for errors in pieces.values()]
    return Comparison(
        forms=forms,
        numbers=np.array([counts[form] for form in forms]),
        errors=np.array([mean for mean, _ in measured]),
        errors_se=np.array([se for _, se in measured]),
        log_ratios=np.array([mean for mean, _ in ratios]),
        log_ratios_se=np.array([se for _, se in ratios]),
        recommendation=choice[held_out.smallest_not_worse([pieces[form] for form in choice])],
        variables=variables,
        directions=directions,
    )


def _check_shared(parameters: dict[str, Any]) -> None:
    shared = FewVariablesRegressor().get_params().keys() & FewDirectionsRegressor().get_params().keys()
    for name, value in parameters.items():
        if name not in shared:
            raise ValueError(
                f"{name}={value!r}: compare takes parameters that both estimators have, which are "
                f"{', '.join(sorted(shared))}."
            )


def _not_few(variables: FewVariablesRegressor, directions: FewDirectionsRegressor) -> list[str]:
    """Return which of the two are as numerous as the inputs, so that they do not show which inputs matter."""
    counts = {"variables": int(variables.support_.sum()), "directions": directions.n_directions_}
    return [form for form, count in counts.items() if count == variables.n_features_in_]


def _prepared(model: FewVariablesRegressor, X: Any, y: Any, sample_weight: Any, t: Any, trajectory: Any) -> Prepared:
    """Prepare the data with the model's choice of smoothing, and outputs as measured, with total variance one."""
    inputs, outputs = np.asarray(X, float), np.asarray(y, float).reshape(len(X), -1)
    weight = np.ones(len(inputs)) if sample_weight is None else np.asarray(sample_weight, float)
    rows = Rows.of(inputs, outputs, weight, t, trajectory, model.cv)
    inputs, y = inputs[rows.chosen], outputs[rows.chosen]
    version = prepare_inputs(rows, inputs, "on" if model.smoothed_ else "off")[0]
    order = RowOrder.of(rows, inputs, y, model.shuffle, [f"x{j}" for j in range(inputs.shape[1])])
    plan = Plan(n_blocks=model.n_blocks, shuffle=order.shuffled, seed=model._settings().seed)
    data = Prepared.of(version, y, plan)
    measured = Target.of(replace(version, smooths_target=False), y)
    return replace(data, problem=data.as_measured(measured.scaling, np.float32))


def _errors(
    data: Prepared, variables: FewVariablesRegressor, directions: FewDirectionsRegressor
) -> dict[str, FloatArray]:
    """Return the held-out errors (pieces,) of each form, from simple to complicated; what was not found is left out."""
    everything = np.ones(variables.n_features_in_, bool)
    judge = NetworkJudge.of(data.problem, np.arange(everything.size), variables._settings())
    errors = {"mean": judge.judge([~everything])[0].errors}
    if variables.support_.any():
        errors["variables"] = _of_variables(data, variables)
    if directions.n_directions_:
        errors["directions"] = _of_directions(data, directions)
    return {**errors, "network": judge.tuned(everything)[1].errors}


def _of_variables(data: Prepared, model: FewVariablesRegressor) -> FloatArray:
    settings = HeadSettings(activation=model.activation, max_degree=model.max_degree, gap=data.gap)
    trial = Trial(data.inputs.X[:, model.support_], data.target.y, data.sample_weight, data.held_out)
    choice = choose_head(kinds_of(model.head, settings), trial)
    return choice.errors[choice.name]


def _of_directions(data: Prepared, model: FewDirectionsRegressor) -> FloatArray:
    kept = ~data.problem.constant_inputs
    samples = data.problem.samples.columns(kept).astype(np.float64)
    search = RankSearch(samples, data.held_out, model.activation, n_jobs=model.n_jobs)
    start = (model.directions_ * data.inputs.scaling.scale)[:, kept]
    return min(search.candidates([(form, start) for form in search.forms(len(start))]), key=search.error).errors
