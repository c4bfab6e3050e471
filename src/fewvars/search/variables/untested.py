"""Groups that no test has accepted: what to try when a support leaves much more unexplained than noise does.

Along a short trajectory tests find little, since it has few independent parts. Where functions are sharp, the first
groups that tests accept stand in for others. So groups are added one after another, the most significant first, however
insignificant they are, and held-out rows decide which of them are needed.
"""

import numpy as np

from fewvars.search.held_out import EVIDENCE
from fewvars.search.problem import Problem
from fewvars.search.variables.forward import forward_search
from fewvars.search.variables.growing_model import GrowingModel
from fewvars.search.variables.products import suspicious_products
from fewvars.search.variables.selection import SupportSearch
from fewvars.search.variables.settings import Groups
from fewvars.search.variables.support import UNTESTED
from fewvars.search.variables.terms import Term
from fewvars.search.variables.testable import Testable

PAIRS = 6  # pairs of inputs that are tried
AT_ONCE = 8  # groups that are added before held-out rows decide


def better_support(search: SupportSearch, problem: Problem, groups: Groups, found: np.ndarray) -> np.ndarray:
    """Return the groups found (a mask), or others that predict held-out rows far better.

    First come pairs, as an equation may consist of products, and sums of steps, then whatever a forward search adds.
    """
    data = Testable.of(problem, groups.labels)
    base, *others = search.judge.judge([found, *_pairs(data, groups), *_sums_of_steps(data, groups)])
    better = [other for other in others if search.held_out.better(other.errors, base.errors, UNTESTED)]
    _, base = search.add_back(min([base, *better], key=search.error), groups.usable)
    while True:
        best = min(search.judge.judge(_grown(data, groups, base.mask)), key=search.error)
        grown = search.prune(best, groups.included, EVIDENCE)[0]
        if not search.held_out.better(grown.errors, base.errors, UNTESTED):
            return base.mask
        base = grown


def _pairs(data: Testable, groups: Groups) -> list[np.ndarray]:
    """Return supports of the pairs of inputs whose products are most suspicious."""
    usable = np.flatnonzero(groups.usable[groups.labels])
    pairs = suspicious_products(GrowingModel(data), usable, PAIRS, among=usable)
    return [groups.included | np.isin(np.arange(groups.usable.size), groups.labels[list(pair)]) for pair in pairs]


def _sums_of_steps(data: Testable, groups: Groups) -> list[np.ndarray]:
    """Return the supports that a forward search by steps of single groups passes through."""
    model = GrowingModel(data)
    for group in np.flatnonzero(groups.included).tolist():
        model.add(Term("steps", (group,)))
    masks = []
    for _ in range(AT_ONCE):
        outside = [Term("steps", (group,)) for group in np.flatnonzero(groups.usable & ~model.mask).tolist()]
        if not outside or model.degrees_of_freedom < len(data.Y) // 2:
            break
        model.add(outside[int(model.p_values(outside).argmin())])
        masks.append(model.mask)
    return masks


def _grown(data: Testable, groups: Groups, mask: np.ndarray) -> list[np.ndarray]:
    """Return the supports that a forward search from a mask (groups,) passes through."""
    most = min(int(mask.sum()) + AT_ONCE, int((groups.usable | mask).sum()))
    return forward_search(GrowingModel(data), groups.usable, mask, most).nested
