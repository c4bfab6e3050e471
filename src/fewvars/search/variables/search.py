"""The search for few variables as a pure function: tests, path, choice of the support."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fewvars._common.progress import Progress
from fewvars._common.validation import FloatArray
from fewvars.engine.solvers import Outcome
from fewvars.search.held_out import TIE
from fewvars.search.judge import Judge
from fewvars.search.path import Path
from fewvars.search.problem import Problem
from fewvars.search.variables.forward import Proposal
from fewvars.search.variables.judges import JUDGES
from fewvars.search.variables.network_judge import NetworkJudge
from fewvars.search.variables.path import first_stage_and_path
from fewvars.search.variables.ridge_judge import RidgeJudge
from fewvars.search.variables.selection import SupportSearch
from fewvars.search.variables.settings import AUTO, MONOTONE, Groups, VariableSettings
from fewvars.search.variables.support import UNTESTED, Support, choose_support, settled
from fewvars.search.variables.testable import MOST_ROWS
from fewvars.search.variables.tested import propose
from fewvars.search.variables.thinning import thinned
from fewvars.series.dependence import autocorrelation_time

# With at least this many independent rows networks are tried too; with fewer they detect no more than simple terms do.
# For dependent rows, their number over the autocorrelation time must be at least the second number.
FEWEST_INDEPENDENT, FEWEST_DEPENDENT = 1000, 50
PROBED_SIZES = (3, 8)  # sizes of supports along the path on which networks are tried
MOST_SMOOTHED = 4000  # rows of a smoothed trajectory that are judged in closed form: neighbours are nearly equal
NEARLY_EQUAL = 0.05  # relative excess of a loss
LARGEST_SIMILAR = 10  # size of the largest support along the path that is judged in closed form


@dataclass(frozen=True, eq=False)
class Variables:
    """What was found.

    Attributes
    ----------
    support : Support
    groups : Groups
        Which could have been selected.
    path : Path
        Over all groups: those that did not take part have magnitude zero.
    judge : str
        The judge that has decided.
    n_updates : int
        Of the first stage and the path.
    first_outcome : Outcome
        How the first stage ended.
    """

    support: Support
    groups: Groups
    path: Path
    judge: str
    n_updates: int = 0
    first_outcome: Outcome = Outcome.FINISHED

    def with_support(self, mask: np.ndarray, problem: Problem, settings: VariableSettings) -> "Variables":
        """Return the same result with another support (groups,), judged in closed form."""
        closed = closed_search(problem, self.groups.labels, settings)
        nothing = np.zeros_like(mask)
        return replace(self, support=settled(closed, [nothing, mask], nothing, fixed=True), judge=RidgeJudge.name)

    @property
    def inputs(self) -> np.ndarray:
        """Which inputs were selected, (inputs,)."""
        return self.support.groups[self.groups.labels]

    @property
    def strength(self) -> float:
        """The largest strength on the path at which at least as many groups were alive as were selected."""
        return self.path.largest_strength(int(self.support.groups.sum()))

    def refitted_errors(self, problem: Problem, settings: VariableSettings) -> FloatArray:
        """Return the held-out errors (pieces,) of what was found, judged on other data."""
        judge: Judge = JUDGES[self.judge](problem, self.groups.labels, settings, lambda: None)
        return judge.on(problem.held_out).judge([self.support.groups])[0].errors


def find_variables(problem: Problem, groups: Groups, settings: VariableSettings, progress: Progress) -> Variables:
    """Find the groups of inputs that the outputs depend on, without side effects.

    A forward search proposes a support, which a judge in closed form settles. Where there are rows enough for networks,
    a path proposes more, and if networks then predict held-out rows better than the closed form does, they decide.
    """
    if settings.judge != AUTO:
        return _found_along_path(problem, groups, settings, progress, JUDGES[settings.judge])
    progress.stage("searching", "step")
    proposal, problem = _proposed(problem, groups, settings)
    if proposal is not None and (settings.solver == MONOTONE or networks_matter(problem, proposal)):
        return _found_along_path(problem, groups, settings, progress, NetworkJudge.of, proposal)
    return _settled_in_closed_form(problem, groups, settings, proposal)


def find_in_closed_form(problem: Problem, groups: Groups, settings: VariableSettings) -> Variables:
    """Find groups of inputs without networks, which is quick enough to be repeated on parts of the rows."""
    proposal, problem = _proposed(problem, groups, settings)
    return _settled_in_closed_form(problem, groups, settings, proposal)


def reconsidered(problem: Problem, found: Variables, missed: np.ndarray, settings: VariableSettings) -> Variables:
    """Search again from the support and groups (a mask) that it has missed; return what predicts better.

    A step forward adds one input or a product. It misses inputs whose effects nearly cancel, as in x - y with x and y
    strongly correlated: only together they are significant.
    """
    proposal, clipped = propose(problem, found.groups, None, found.support.groups | missed)
    again = _settled_in_closed_form(clipped, found.groups, settings, proposal).support
    search = closed_search(clipped, found.groups.labels, settings)
    old, new = search.judge.judge([found.support.groups, again.groups])
    return replace(found, support=again) if search.held_out.better(new.errors, old.errors) else found


def _proposed(problem: Problem, groups: Groups, settings: VariableSettings) -> tuple[Proposal | None, Problem]:
    """Search forward by tests, if there is anything to find; return the problem with outliers clipped, too."""
    if problem.constant or not groups.usable.any():
        return None, problem
    return propose(problem, groups, settings.n_variables)


def _settled_in_closed_form(
    problem: Problem, groups: Groups, settings: VariableSettings, proposal: Proposal | None
) -> Variables:
    judge = _closed_judge(problem, groups.labels, settings)
    nested, sure = ([groups.included], groups.included) if proposal is None else (proposal.nested, proposal.sure)
    fixed = settings.n_variables is not None
    support = settled(_search_by(judge), nested, groups.included | sure, fixed=fixed)
    if proposal is not None and not fixed:
        support = _with_related(judge, support, proposal, groups.included)
    return Variables(support, groups, Path.empty(groups.usable.size, labels=groups.labels), RidgeJudge.name)


def _found_along_path(
    problem: Problem,
    groups: Groups,
    settings: VariableSettings,
    progress: Progress,
    judge_of: Callable[..., Judge],
    proposal: Proposal | None = None,
) -> Variables:
    """Judge supports along the path, and the proposal if there is one."""
    judge = judge_of(problem, groups.labels, settings, progress.step)
    if len(problem.samples) < judge.fewest_rows:
        raise ValueError(
            f"X has {len(problem.samples)} rows: the {judge.name} judge needs at least {judge.fewest_rows}."
        )
    search = SupportSearch(judge, problem.samples, groups.labels, problem.reserve)
    n_groups = groups.usable.size
    path = Path.empty(n_groups, labels=groups.labels)
    n_updates, first_outcome = 0, Outcome.FINISHED
    nested, usable = [np.zeros(n_groups, bool)], groups.usable
    if usable.any() and not problem.constant:
        usable = _screened(search, usable, settings) | groups.included
        if proposal is not None:
            usable = usable | proposal.mask
        path, n_updates, first_outcome = first_stage_and_path(problem, groups.labels, usable, settings, progress)
        nested = path.nested_supports(usable)
    progress.stage("choosing", "refit")
    found = partial(Variables, groups=groups, path=path, n_updates=n_updates, first_outcome=first_outcome)
    proposals: list[np.ndarray] = []
    if proposal is not None and settings.n_variables is None:
        ridge = _closed_judge(problem, groups.labels, settings)
        support = _settled_beside_path(ridge, proposal, nested, groups)
        clearly = not proposal.dependent
        if not network_explains_more(search, _search_by(ridge), support.groups, nested, clearly=clearly):
            return found(support, judge=RidgeJudge.name)
        proposals = [support.groups]
    support = choose_support(
        search,
        nested,
        groups.included,
        usable,
        n_groups=settings.n_variables,
        max_candidates=settings.max_candidates,
        proposals=proposals,
    )
    return found(support, judge=judge.name)


def _settled_beside_path(
    judge: RidgeJudge, proposal: Proposal, nested: Sequence[np.ndarray], groups: Groups
) -> Support:
    """Settle the proposal in closed form, together with supports along the path that are not much larger."""
    closed, size = _search_by(judge), int(proposal.mask.sum())
    similar = [mask | groups.included for mask in nested if size <= mask.sum() <= min(size + 2, LARGEST_SIMILAR)]
    if proposal.dependent:  # tests of dependent rows are not exact, so they do not decide
        support = settled(closed, [*proposal.nested, *similar], groups.included, TIE)
    else:
        support = settled(closed, proposal.nested, groups.included | proposal.sure, rivals=similar)
    return _with_related(judge, support, proposal, groups.included)


def closed_search(problem: Problem, labels: np.ndarray, settings: VariableSettings) -> SupportSearch:
    """Return the search that compares supports in closed form."""
    return _search_by(_closed_judge(problem, labels, settings))


def _search_by(judge: RidgeJudge) -> SupportSearch:
    return SupportSearch(judge, judge.samples, judge.labels)


def _closed_judge(problem: Problem, labels: np.ndarray, settings: VariableSettings) -> RidgeJudge:
    """Return the judge in closed form; of very many rows, it is given one in so many."""
    few = problem.thinned(-(-len(problem.samples) // (MOST_SMOOTHED if problem.smoothed else MOST_ROWS)))
    if not few.reserve.weights.all():  # splits of the user's that hold out very few rows
        few = problem
    return RidgeJudge.of(few, labels, settings)


def _with_related(judge: RidgeJudge, support: Support, proposal: Proposal, included: np.ndarray) -> Support:
    """Return a support of groups that are related to the outputs on their own, unless that of the tests is as good.

    As good is a loss within one standard error that is also at most a twentieth larger: with few rows, the standard
    error is so large that a support which predicts much worse is within it.
    """
    if proposal.related is None or not proposal.related.any():
        return support
    mask, errors = thinned(judge.samples, judge.terms, judge.held_out, proposal.related, included)
    [base] = judge.judge([support.groups])
    excess, spread = judge.held_out.log_ratio(base.errors, errors)
    if excess <= min(TIE * spread, NEARLY_EQUAL):
        return support
    return settled(_search_by(judge), [*proposal.nested, mask], included, fixed=True)


def networks_matter(problem: Problem, proposal: Proposal) -> bool:
    """Return whether there are enough rows for a network to detect more than sums of simple terms do.

    Along a smoothed trajectory a network sees more with any number of rows: what is left is not noise.
    """
    if problem.smoothed or not proposal.dependent:
        return problem.smoothed or len(problem.samples) >= FEWEST_INDEPENDENT
    return len(problem.samples) / max(map(autocorrelation_time, problem.samples.Y.T)) >= FEWEST_DEPENDENT


def network_explains_more(
    search: SupportSearch, closed: SupportSearch, mask: np.ndarray, nested: Sequence[np.ndarray], *, clearly: bool
) -> bool:
    """Return whether a network, on this support or on one along the path, predicts better than the closed form.

    Both are judged on the first split, whose held-out rows the path has not seen. `clearly` asks for three standard
    errors: tests of independent rows are exact, those of dependent rows are not.
    """
    first = search.held_out.first()
    tried = [mask, *(support for support in nested if support.sum() in PROBED_SIZES)]
    best = min(search.judge.on(first).judge(tried), key=lambda verdict: first.typical(verdict.errors))
    every = -(-len(search.samples) // len(closed.samples))
    rival = closed.judge.on(first.thinned(every, search.samples.weights)).judge([mask])[0]
    if clearly:
        return first.better(best.errors, rival.errors, UNTESTED)
    return first.typical(best.errors) < first.typical(rival.errors)


def _screened(search: SupportSearch, usable: np.ndarray, settings: VariableSettings) -> np.ndarray:
    """Keep the groups that explain most of y on their own, if there are too many for the path."""
    most = max(settings.max_inputs, settings.n_variables or 0)
    if usable.sum() <= most:
        return usable
    scores = search.suspicion(search.judge.judge([np.zeros(usable.size, bool)])[0], usable)
    kept = np.zeros(usable.size, bool)
    kept[np.argsort(-scores, kind="stable")[:most]] = True
    return kept
