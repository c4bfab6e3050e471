"""Inputs outside a support that could replace one inside: the data cannot tell which of the two matters."""

import numpy as np

from fewvars.search.problem import Problem
from fewvars.search.variables.selection import SupportSearch, switched

SIMILAR = 0.5  # smallest correlation at which an input is tried in place of another
MOST_TRIED = 4  # for each input of the support
MOST_ROWS = 5000  # for correlations


def stand_ins(problem: Problem, labels: np.ndarray, mask: np.ndarray, search: SupportSearch) -> list[tuple[int, int]]:
    """Return pairs of groups, one inside the support (groups,) and one that predicts as well in its place.

    Parameters
    ----------
    labels : (inputs,) group of each input
    mask : (groups,) bool
    search : SupportSearch
        Compares supports on held-out rows.
    """
    pairs = [(g, h) for g in np.flatnonzero(mask).tolist() for h in _similar(problem, labels, mask, g)]
    if not pairs:
        return []
    own, *others = search.judge.judge([mask, *(switched(switched(mask, g), h) for g, h in pairs)])
    verdicts = zip(pairs, others, strict=True)
    return [pair for pair, other in verdicts if search.held_out.not_worse(other.errors, own.errors)]


def _similar(problem: Problem, labels: np.ndarray, mask: np.ndarray, group: int) -> list[int]:
    """Return the groups outside the support with an input that correlates most with one of this group."""
    Z = problem.samples.X[:: -(-len(problem.samples) // MOST_ROWS)]
    Z = (Z - Z.mean(axis=0)) / np.where(problem.constant_inputs, 1.0, Z.std(axis=0) + 1e-12)
    own = np.abs(Z[:, labels == group].T @ Z).max(axis=0) / len(Z)
    strongest = np.zeros(mask.size)
    np.maximum.at(strongest, labels, own)
    strongest[mask] = 0.0
    order = np.argsort(-strongest, kind="stable")[:MOST_TRIED]
    return [int(h) for h in order if strongest[h] >= SIMILAR]
