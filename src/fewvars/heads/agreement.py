"""Make the function and the support agree: the function uses each variable, and predicts worse without it."""

from dataclasses import dataclass

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.heads.head import Head
from fewvars.heads.kind import Trial
from fewvars.heads.mean import MeanHead
from fewvars.heads.polynomial import PolynomialHead, computable_degree
from fewvars.polynomials.polynomial import Polynomial
from fewvars.polynomials.refit import refitted, restricted, with_terms, without


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
    form: Polynomial, trial: Trial, labels: np.ndarray, kept: np.ndarray, needed: FloatArray, max_degree: int = 4
) -> Agreed:
    """Add terms of unused variables if that helps, and drop variables whose removal does not raise the error.

    Parameters
    ----------
    form : Polynomial
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
        longer = _enriched(form, labels == g, max_degree)
        rivals = [_errors(polynomial, trial) for polynomial in longer]
        best = min(rivals, key=trial.held_out.typical)
        first = next(k for k, rival in enumerate(rivals) if trial.held_out.not_worse(rival, best))
        if kept[g] or not trial.held_out.not_worse(errors, rivals[first], 0.0):
            form, errors = longer[first], rivals[first]
    while True:
        used = _used(form, labels, kept.size)
        shorter = {g: without(form, labels == g) for g in np.flatnonzero(used)}
        losses = {g: _errors(polynomial, trial) for g, polynomial in shorter.items()}
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
        form = refitted(form, trial.X, trial.y, trial.weight).with_digits_for(trial.X[:1000])
    return Agreed(PolynomialHead(restricted(form, used[labels])), used, rise, spread)


def _enriched(form: Polynomial, own: np.ndarray, max_degree: int) -> list[Polynomial]:
    """Return polynomials with powers of some inputs (d,) bool, or with products of them and those that occur.

    They are in order of preference: we choose the first that is not worse than the best.
    """
    unit = np.eye(own.size, dtype=np.int64)
    mine, others = unit[own], unit[form.support]
    constant = np.zeros((1, own.size), np.int64)
    found = []
    for powers in ((1,), (2,), (1, 2), (2, 4), (1, 2, 3), (1, 2, 3, 4)):
        if powers == (1,) or powers[-1] <= max_degree:
            found.append([constant[: powers[-1] - 1], *(power * mine for power in powers)])
    if max_degree > 1 and len(others):
        found.append([mine, (mine[:, None] + others).reshape(-1, own.size)])
    return [with_terms(form, np.concatenate(terms)) for terms in found]


def follow(form: Polynomial, trial: Trial, labels: np.ndarray, kept: np.ndarray) -> tuple[Head, np.ndarray]:
    """Return the function of the groups that a polynomial uses or must keep, and which these are, (groups,) bool."""
    used = kept | _used(form, labels, kept.size)
    if not used.any():
        return MeanHead.fit(trial.X, trial.y, trial.weight, loss=trial.loss), used
    return PolynomialHead(restricted(form, used[labels])), used


def _errors(form: Polynomial, trial: Trial) -> FloatArray:
    return trial.score(lambda X, y, weight: PolynomialHead(refitted(form, X, y, weight))).errors


def _used(form: Polynomial, labels: np.ndarray, n_groups: int) -> np.ndarray:
    used = np.zeros(n_groups, bool)
    used[labels[form.support]] = True
    return used
