"""Groups that no test accepts: what to try when a support leaves much more unexplained than noise does.

Along a short trajectory tests find little, since it has few independent parts. So groups are added one after another,
the most significant first, however insignificant they are, and held-out rows decide which of them are needed.
"""

import numpy as np

from fewvars.search.held_out import EVIDENCE
from fewvars.search.judge import Verdict
from fewvars.search.problem import Problem
from fewvars.search.variables.forward import forward_search
from fewvars.search.variables.growing_model import GrowingModel
from fewvars.search.variables.products import suspicious_products
from fewvars.search.variables.selection import SupportSearch
from fewvars.search.variables.settings import Groups
from fewvars.search.variables.support import UNTESTED
from fewvars.search.variables.testable import Testable

PAIRS = 6  # pairs of inputs that are tried
AT_ONCE = 8  # groups that are added before held-out rows decide


def better_support(search: SupportSearch, problem: Problem, groups: Groups, found: np.ndarray) -> np.ndarray:
    """Return the groups found (a mask), or others that predict held-out rows far better."""
    [base] = search.judge.judge([found])
    base = _best_pair(search, problem, groups, base)
    _, base = search.add_back(base, groups.usable)
    while True:
        grown = _grown(search, problem, groups, base)
        if not search.held_out.better(grown.errors, base.errors, UNTESTED):
            return base.mask
        base = grown


def _best_pair(search: SupportSearch, problem: Problem, groups: Groups, base: Verdict) -> Verdict:
    """Return the base, or a pair of groups that predicts far better by itself: an equation may consist of products."""
    labels, usable = groups.labels, np.flatnonzero(groups.usable[groups.labels])
    pairs = suspicious_products(GrowingModel(Testable.of(problem, labels)), usable, PAIRS, among=usable)
    masks = [groups.included | np.isin(np.arange(base.mask.size), labels[list(pair)]) for pair in pairs]
    better = [
        other for other in search.judge.judge(masks) if search.held_out.better(other.errors, base.errors, UNTESTED)
    ]
    return min([base, *better], key=search.error)


def _grown(search: SupportSearch, problem: Problem, groups: Groups, base: Verdict) -> Verdict:
    """Return the best of the supports that a forward search from the base passes through, without idle groups."""
    model = GrowingModel(Testable.of(problem, groups.labels))
    most = min(int(base.mask.sum()) + AT_ONCE, int((groups.usable | base.mask).sum()))
    proposal = forward_search(model, groups.usable, base.mask, most)
    best = min(search.judge.judge(proposal.nested), key=search.error)
    return search.prune(best, groups.included, EVIDENCE)[0]
