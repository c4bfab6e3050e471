"""Make the function and the support agree: the function uses each variable, and predicts worse without it."""

from dataclasses import dataclass

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.heads.head import Head, SumHead
from fewvars.heads.kind import Trial
from fewvars.heads.mean import MeanHead
from fewvars.heads.polynomial import computable_degree


@dataclass(frozen=True, eq=False)
class Agreed:
    """A function and the evidence for each group of its inputs.

    Attributes
    ----------
    head : Head
        Of the inputs of the groups that it uses; the mean if it uses none.
    used : (groups,) bool
    importances, importances_se : (groups,)
        Rise of the held-out error when a group is left out of this function, and its standard error; zero if not used.
    """

    head: Head
    used: np.ndarray
    importances: FloatArray
    importances_se: FloatArray


def agree(
    form: SumHead, trial: Trial, labels: np.ndarray, kept: np.ndarray, needed: FloatArray, max_degree: int = 4
) -> Agreed:
    """Add terms of unused variables if that helps, and drop variables whose removal does not raise the error.

    Parameters
    ----------
    form : SumHead
    trial : Trial
        All rows, and those to hold out.
    labels : (inputs,) group of each input of the function
    kept : (groups,) bool
        Groups that the function must use.
    needed : (groups,)
        Standard errors by which the function must be worse without a group; with zero, any rise will do.
    max_degree : int
        Of terms that are added.
    """
    given, errors = form, _errors(form, trial)
    max_degree = computable_degree(trial.X, trial.y, max_degree)
    for g in np.flatnonzero(~_used(form, labels, kept.size)):
        longer = form.with_terms_of(labels == g, max_degree)
        if not longer:
            continue
        rivals = [_errors(sum_, trial) for sum_ in longer]
        best = min(rivals, key=trial.held_out.typical)
        first = next(k for k, rival in enumerate(rivals) if trial.held_out.not_worse(rival, best))
        if kept[g] or not trial.held_out.not_worse(errors, rivals[first], 0.0):
            form, errors = longer[first], rivals[first]
    while True:
        used = _used(form, labels, kept.size)
        shorter = {g: form.without(labels == g) for g in np.flatnonzero(used)}
        losses = {g: _errors(sum_, trial) for g, sum_ in shorter.items()}
        idle = [g for g in losses if not kept[g] and trial.held_out.not_worse(losses[g], errors, needed[g])]
        if not idle:
            break
        least = min(idle, key=lambda g: trial.held_out.typical(losses[g]))
        form, errors = shorter[least], losses[least]
    rise, spread = np.zeros(kept.size), np.zeros(kept.size)
    for g, lost in losses.items():
        rise[g], spread[g] = trial.held_out.excess(lost, errors)
    if not used.any():
        return Agreed(MeanHead.fit(trial.X, trial.y, trial.weight), used, rise, spread)
    if form is not given:
        form = form.refitted(trial.X, trial.y, trial.weight).with_digits_for(trial.X[:1000])
    return Agreed(form.restricted(used[labels]), used, rise, spread)


def follow(form: SumHead, trial: Trial, labels: np.ndarray, kept: np.ndarray) -> tuple[Head, np.ndarray]:
    """Return the function of the groups that a sum uses or must keep, and which these are, (groups,) bool."""
    used = kept | _used(form, labels, kept.size)
    if not used.any():
        return MeanHead.fit(trial.X, trial.y, trial.weight, loss=trial.loss), used
    return form.restricted(used[labels]), used


def _errors(form: SumHead, trial: Trial) -> FloatArray:
    return trial.score(form.refitted).errors


def _used(form: SumHead, labels: np.ndarray, n_groups: int) -> np.ndarray:
    used = np.zeros(n_groups, bool)
    used[labels[form.support]] = True
    return used
