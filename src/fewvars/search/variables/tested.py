"""The results of all tests on a problem: a proposal of variables, the evidence for each, and interactions."""

from dataclasses import replace

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.losses import SQUARED
from fewvars.search.problem import Problem
from fewvars.search.variables.evidence import interactions, p_values, q_values
from fewvars.search.variables.forward import Proposal, forward_search, related_groups
from fewvars.search.variables.growing_model import GrowingModel
from fewvars.search.variables.settings import Groups, VariableSettings
from fewvars.search.variables.testable import Testable


def propose(
    problem: Problem, groups: Groups, n_groups: int | None, start: np.ndarray | None = None
) -> tuple[Proposal, Problem]:
    """Search forward by tests, from some groups on; return the proposal, and the problem with outliers clipped."""
    model, samples = GrowingModel(Testable.of(problem, groups.labels)), problem.samples
    related = related_groups(model, groups.usable) if samples.loss.labels else None
    proposal = forward_search(model, groups.usable, groups.included, n_groups, start)
    if samples.loss != SQUARED:  # other losses handle outliers themselves
        proposal = replace(proposal, related=related)
        return proposal, replace(problem, samples=replace(samples, loss=model.matched_loss()))
    Y, varying = samples.Y.copy(), np.ptp(samples.Y, axis=0) > 0
    terms = model.terms.of_inputs(samples.X.astype(np.float64)) if problem.terms is None else problem.terms
    Y[:, varying] = model.without_outliers(terms, Y[:, varying].astype(np.float64))
    return proposal, replace(problem, samples=replace(samples, Y=Y))


def false_discovery_rates(problem: Problem, groups: Groups, settings: VariableSettings) -> FloatArray:
    """Return the smallest false discovery rate at which each group is selected, (groups,)."""
    if problem.constant or not groups.usable.any():
        return np.ones(groups.usable.size)
    data = Testable.of(problem, groups.labels)
    found = p_values(data, groups.usable, groups.included, seed=settings.seed, n_jobs=settings.n_jobs)
    return q_values(found, groups.usable)


def edge_evidence(problem: Problem, groups: Groups, mask: np.ndarray, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return p-values of all groups, and scores by which all can be ranked, given that those of a mask are selected.

    The p-values (groups,) are like those of `false_discovery_rates`, but from one split into folds, because a system
    has many equations. The scores (groups,) are minus the decimal logarithm of the p-value, on all rows, of leaving out
    a selected group, or of adding the line or curve of another.
    """
    if problem.constant or not groups.usable.any():
        return np.ones(mask.size), np.zeros(mask.size)
    data = Testable.of(problem, groups.labels)
    p_value = p_values(data, groups.usable, groups.included, seed=seed, max_splits=1)
    model = GrowingModel(data)
    if mask.any():
        forward_search(model, mask, mask)
    ranked = np.minimum(model.screen("line"), model.screen("curve"))
    for group in np.flatnonzero(mask).tolist():
        ranked[group] = model.dropped_p_value(group)
    ranked[~groups.usable] = 1.0
    return p_value, -np.log10(np.maximum(ranked, 1e-300))


def interacting(problem: Problem, labels: np.ndarray, mask: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Return the pairs of the selected groups (a mask) whose effects depend on each other."""
    if problem.constant or not mask.any():
        return ()
    return interactions(forward_search(GrowingModel(Testable.of(problem, labels)), mask, mask).terms)
