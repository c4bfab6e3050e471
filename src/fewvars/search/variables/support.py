"""From nested supports to one support: compare sizes, refine the choice, measure the importance of each group."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.search.judge import Verdict
from fewvars.search.variables.selection import LeftOut, SupportSearch, switched

UNTESTED = 3.0  # standard errors by which a support that was not accepted by tests must be better


@dataclass(frozen=True, eq=False)
class Support:
    """The chosen groups and the evidence.

    Attributes
    ----------
    groups : (groups,) mask
    importances, importances_se : (groups,)
        Rise of the held-out mean squared error when a group is left out, and its standard error over the
        pieces, in units of the variance of y; zero for groups not chosen.
    sizes, errors, errors_se : (candidates,)
        Number of groups, held-out error and its standard error over the pieces, of the supports tried, on the
        first split, whose held-out rows the path has not seen.
    held_out_error : float
        Of the chosen support. It was used to choose the support, so it is not a test error.
    """

    groups: np.ndarray
    importances: FloatArray
    importances_se: FloatArray
    sizes: np.ndarray
    errors: FloatArray
    errors_se: FloatArray
    held_out_error: float


def candidate_sizes(n_groups: int, max_candidates: int) -> np.ndarray:
    """Return sizes to try: all small ones, then fewer and fewer, up to all groups."""
    small = np.arange(min(n_groups, max_candidates // 2) + 1)
    large = np.geomspace(max(small[-1], 1), max(n_groups, 1), max(2, max_candidates // 3))
    return np.unique(np.r_[small, np.rint(large).astype(int)])


def choose_support(
    search: SupportSearch,
    nested: Sequence[np.ndarray],
    always: np.ndarray,
    usable: np.ndarray,
    *,
    n_groups: int | None = None,
    max_candidates: int,
    proposals: Sequence[np.ndarray] = (),
) -> Support:
    """Choose among nested supports by the paired rule, add back groups that the path lost, drop unneeded ones.

    Parameters
    ----------
    nested : list of (groups,) masks
        From the path, one for each size.
    always : (groups,) mask
        Groups that are never left out.
    usable : (groups,) mask
        Groups that may be added back.
    n_groups : int, optional
        The number of groups to choose; the choice is then refined by exchanges only.
    max_candidates : int
        About how many sizes to try.
    proposals : list of (groups,) masks
        Other supports to try.
    """
    by_size = {int((m | always).sum()): m | always for m in nested}
    sizes = np.array(sorted(by_size))
    wanted = candidate_sizes(int(sizes[-1]), max_candidates)
    tried = sorted({int(sizes[np.abs(sizes - w).argmin()]) for w in wanted})
    if n_groups is not None:
        tried = [int(sizes[np.abs(sizes - n_groups).argmin()])]
    first = search.on_first_split()
    candidates = first.judge.judge([*(by_size[k] for k in tried), *(mask | always for mask in proposals)])
    candidates.sort(key=lambda candidate: candidate.mask.sum())
    chosen = first.smallest_not_worse(candidates)
    below = max((k for k in tried if k < chosen.mask.sum()), default=0)
    between = [k for k in sizes if below < k < chosen.mask.sum()]
    if between and n_groups is None:
        few = between[:: -(-len(between) // max(1, max_candidates // 3))]
        candidates = sorted(candidates + first.judge.judge([by_size[int(k)] for k in few]), key=lambda c: c.mask.sum())
        chosen = first.smallest_not_worse(candidates)
    search, base = search.tuned(chosen.mask)
    if n_groups is None:
        search, base = search.add_back(base, usable)
        base, left_out = search.prune(base, always)
        if search.in_doubt(left_out, always):
            search = search.on_reserve()
            base, left_out = search.prune(search.judge.judge([base.mask], effort=3)[0], always)
    else:
        base = exchange(search, base, always, usable)
        left_out = search.leave_one_out(base)
    return _evidence(search, base, left_out, first, candidates)


def settled(
    search: SupportSearch,
    masks: Sequence[np.ndarray],
    always: np.ndarray,
    tolerance: float = 0.0,
    *,
    fixed: bool = False,
    rivals: Sequence[np.ndarray] = (),
) -> Support:
    """Choose among proposed supports with a cheap judge, and drop groups whose removal does not raise the error.

    Parameters
    ----------
    masks : list of (groups,) masks
        The first is the smallest; the last of a forward search is what its tests have accepted.
    always : (groups,) mask
        Groups that are never left out.
    tolerance : float
        Standard errors by which the error must rise for a group to be kept.
    fixed : bool
        Whether the last mask is the answer, of which nothing is dropped.
    rivals : list of (groups,) masks
        Supports that no test has accepted: one of them is chosen only if it is better by three standard errors.
    """
    unique = {mask.tobytes(): mask for mask in masks}
    candidates = sorted(search.judge.judge(list(unique.values())), key=lambda candidate: candidate.mask.sum())
    if fixed:
        base = next(c for c in candidates if np.array_equal(c.mask, masks[-1]))
        return _evidence(search, base, search.leave_one_out(base), search, candidates)
    base = min((c for c in candidates if c.mask[always].all()), key=search.error)
    others = [
        rival
        for rival in search.judge.judge([rival | always for rival in rivals])
        if search.held_out.better(rival.errors, base.errors, UNTESTED)
    ]
    base = min([base, *others], key=search.error)
    base, left_out = search.prune(base, always, tolerance)
    return _evidence(search, base, left_out, search, candidates)


def exchange(search: SupportSearch, base: Verdict, always: np.ndarray, usable: np.ndarray) -> Verdict:
    """Swap the least important group for a suspicious one outside while that lowers the error significantly."""
    while (base.mask & ~always).any():
        best = base
        for g in search.suspects(base, usable):
            grown = search.judge.judge([switched(base.mask, g)], like=base)[0]
            _, without = search.leave_one_out(grown)
            best = min([best, *(c for h, c in without.items() if not always[h])], key=search.error)
        if best is base or not search.held_out.better(best.errors, base.errors):
            return base
        base = best
    return base


def _evidence(
    search: SupportSearch, base: Verdict, left_out: LeftOut, first: SupportSearch, candidates: Sequence[Verdict]
) -> Support:
    same, without = left_out
    rise, spread = np.zeros(base.mask.size), np.zeros(base.mask.size)
    for group, candidate in without.items():
        rise[group], spread[group] = search.held_out.excess(candidate.errors, same.errors)
    measured = [first.held_out.measured(c.errors) for c in candidates]
    return Support(
        groups=base.mask,
        importances=rise,
        importances_se=spread,
        sizes=np.array([int(c.mask.sum()) for c in candidates]),
        errors=np.array([mean for mean, _ in measured]),
        errors_se=np.array([se for _, se in measured]),
        held_out_error=search.held_out.mean(same.errors),
    )
