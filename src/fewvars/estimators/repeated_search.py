"""The error to expect on new rows, from a search and fit repeated without each part of the rows in turn."""

from dataclasses import dataclass, replace

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.losses import SQUARED
from fewvars.estimators.assessment import Assessment
from fewvars.estimators.preparation import Prepared
from fewvars.estimators.selectable import without_excluded
from fewvars.heads import Head, HeadChoice, Trial, agree, choose_head
from fewvars.search.problem import Problem
from fewvars.search.variables.ridge_judge import RidgeJudge
from fewvars.search.variables.search import Variables, find_in_closed_form
from fewvars.search.variables.settings import Groups, VariableSettings
from fewvars.search.variables.tested import false_discovery_rates

MOST_REPEATED = 20_000  # most rows for which the whole search is repeated without each fold


@dataclass(frozen=True, eq=False)
class OnInputs:
    """A function of some of the inputs (inputs,)."""

    inputs: np.ndarray
    head: Head

    def predict(self, X: FloatArray) -> FloatArray:
        """Return predictions (n, outputs) at all inputs (n, inputs)."""
        return self.head.predict(X[:, self.inputs])


def is_quick_to_repeat(data: Prepared, found: Variables) -> bool:
    """Return whether repeating the search takes little time: no network has decided, and nothing was smoothed."""
    return found.judge == RidgeJudge.name and len(data.target.y) <= MOST_REPEATED and not data.inputs.smooths_target


def assess_by_repetition(
    data: Prepared,
    found: Variables,
    choice: HeadChoice,
    settings: VariableSettings,
    *,
    fdr: float | None = None,
    max_degree: int = 4,
) -> Assessment:
    """Predict each fold by what is found without it.

    With a false discovery rate, inputs are selected by it, and a polynomial of at most `max_degree` depends on all.
    """
    kind, n_inputs = choice.kind, choice.trial.X.shape[1]
    held_out = replace(data.for_whole_search(), by_ratio=data.held_out.by_ratio)
    every = replace(choice.trial, X=data.inputs.X, y=data.target.y, held_out=held_out)

    def fit(k: int, train: np.ndarray) -> OnInputs:
        part = data.part(train)
        scaling, whole = part.inputs.scaling, found.groups
        Z = without_excluded(scaling.apply(part.inputs.X), ~whole.usable[whole.labels])
        groups = whole.within(Z, scaling.constant)
        inputs = _selected_inputs(part.problem, groups, settings, fdr)
        own = replace(choice.trial, X=part.inputs.X[:, inputs], y=choice.trial.y[train], weight=part.sample_weight)
        fit = choice.chosen.rough or choice.fit
        if kind is not None and inputs.sum() > n_inputs:  # more variables may need a lower degree
            again = choose_head([kind], replace(own, held_out=part.held_out.first())).chosen
            fit = again.rough or again.fit
        elif not inputs.any():
            fit = own.null_model
        head = fit(own.X, own.y, own.weight)
        if fdr is not None:
            trial = replace(own, held_out=part.problem.reserve)
            head = _of_all_inputs(head, trial, groups.labels[inputs], max_degree)
        return OnInputs(inputs, head)

    return Assessment.of(every.score_splits(fit).models, every)


def _selected_inputs(problem: Problem, groups: Groups, settings: VariableSettings, fdr: float | None) -> np.ndarray:
    """Return which inputs are selected on some of the rows, (inputs,): by the search, or by their q-values."""
    if fdr is None:
        return find_in_closed_form(problem, groups, settings).inputs
    selected = groups.included | (false_discovery_rates(problem, groups, settings) <= fdr)
    return selected[groups.labels]


def _of_all_inputs(head: Head, trial: Trial, labels: np.ndarray, max_degree: int) -> Head:
    """Add the groups of inputs, labelled (inputs,), that a sum of terms does not use; other functions use all."""
    form = head.as_sum()
    if form is None or trial.loss != SQUARED:
        return head
    members, own = np.unique(labels, return_inverse=True)
    kept = np.ones(members.size, bool)
    return agree(form, trial, own, kept, np.zeros(members.size), max_degree).head
