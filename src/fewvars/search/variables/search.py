"""The search for few variables as one pure function: first stage, path, choice of the support."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fewvars._common.progress import Progress
from fewvars._common.validation import FloatArray
from fewvars.engine.penalties import InputGroups
from fewvars.engine.solvers import Outcome
from fewvars.search.held_out import TIE
from fewvars.search.judge import Judge
from fewvars.search.path import Path
from fewvars.search.problem import Problem, Settings
from fewvars.search.variables.evidence import interactions, p_values, q_values
from fewvars.search.variables.forward import Proposal, forward_search
from fewvars.search.variables.growing_model import GrowingModel, Testable
from fewvars.search.variables.judges import JUDGES
from fewvars.search.variables.network_judge import NetworkJudge
from fewvars.search.variables.path import dense_to_empty
from fewvars.search.variables.ridge_judge import RidgeJudge
from fewvars.search.variables.selection import SupportSearch
from fewvars.search.variables.support import UNTESTED, Support, choose_support, settled
from fewvars.search.variables.terms import Terms
from fewvars.series.dependence import autocorrelation_time
from fewvars.series.scaling import duplicated_columns

AUTO, MONOTONE = "auto", "monotone"
# From so many independent rows on networks are tried too; fewer show nothing to them that simple terms do not see.
# Dependent rows are many more: their number over the autocorrelation time must be at least the second figure.
FEWEST_INDEPENDENT, FEWEST_DEPENDENT = 1000, 50
PROBED_SIZES = (3, 8)  # of the supports along the path on which networks are tried
LARGEST_SIMILAR = 10  # of the supports along the path that the closed form looks at
MOST_ENTRIES = 10_000_000  # of the inputs, in tests
MOST_ROWS = 20_000  # in tests: with more of them, what matters is significant anyway
MOST_SMOOTHED = 2000  # rows of a smoothed trajectory in tests: neighbours say the same


@dataclass(frozen=True)
class VariableSettings(Settings):
    """How variables are searched for.

    Attributes
    ----------
    n_variables : int, optional
        Number of groups asked for, instead of having it found.
    max_candidates : int
        Supports along the path that are judged.
    max_inputs : int
        More groups than this are screened first.
    solver : {"momentum", "monotone"}
        Of the path.
    judge : str
        "auto", or one of `fewvars.search.variables.judges.JUDGES` to decide alone on supports along the path.
    """

    n_variables: int | None = None
    max_candidates: int = 16
    max_inputs: int = 300
    solver: str = "momentum"
    judge: str = AUTO


@dataclass(frozen=True, eq=False)
class Groups:
    """Group of each input (inputs,), which groups may be selected and which are always included (groups,)."""

    labels: np.ndarray
    usable: np.ndarray
    included: np.ndarray

    @classmethod
    def of(
        cls, labels: np.ndarray, include: np.ndarray, exclude: np.ndarray, Z: FloatArray, constant: np.ndarray
    ) -> "Groups":
        """Rule out excluded groups, and those whose inputs are constant or repeat an earlier column of Z.

        Groups to include and to exclude are given by number.
        """
        n_groups = int(labels.max()) + 1
        included = np.zeros(n_groups, bool)
        included[include] = True
        idle = constant | duplicated_columns(Z)
        usable = np.bincount(labels, ~idle, minlength=n_groups) > 0
        usable[exclude] = False
        return cls(labels, usable | included, included)


@dataclass(frozen=True, eq=False)
class Variables:
    """What was found.

    Attributes
    ----------
    support : Support
    labels : (inputs,) group of each input
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
    labels: np.ndarray
    path: Path
    judge: str
    n_updates: int = 0
    first_outcome: Outcome = Outcome.FINISHED

    def with_support(self, mask: np.ndarray, problem: Problem, settings: VariableSettings) -> "Variables":
        """Return the same with another support (groups,), judged in closed form."""
        closed = closed_search(problem, self.labels, settings)
        nothing = np.zeros_like(mask)
        return replace(self, support=settled(closed, [nothing, mask], nothing, fixed=True), judge=RidgeJudge.name)

    @property
    def inputs(self) -> np.ndarray:
        """Which inputs were selected, (inputs,)."""
        return self.support.groups[self.labels]

    @property
    def strength(self) -> float:
        """The largest strength on the path at which at least as many groups were alive as were selected."""
        return self.path.largest_strength(int(self.support.groups.sum()))


def find_variables(problem: Problem, groups: Groups, settings: VariableSettings, progress: Progress) -> Variables:
    """Find the groups of inputs that the outputs depend on; nothing outside is changed.

    A forward search proposes a support, which a judge in closed form settles. Where there are rows enough for networks,
    a path proposes more, and if networks then predict held-out rows better than the closed form does, they decide.
    """
    if settings.judge != AUTO:
        return _found_along_path(problem, groups, settings, progress, JUDGES[settings.judge])
    closed = closed_search(problem, groups.labels, settings)
    if problem.constant or not groups.usable.any():
        support = settled(closed, [groups.included], groups.included)
        return Variables(support, groups.labels, Path.empty(groups.usable.size, labels=groups.labels), RidgeJudge.name)
    progress.stage("searching", "step")
    proposal, problem = propose(problem, groups, settings.n_variables)
    closed = closed_search(problem, groups.labels, settings)
    if settings.solver != MONOTONE and not networks_matter(problem, proposal):
        support = settled(closed, proposal.nested, groups.included, fixed=settings.n_variables is not None)
        return Variables(support, groups.labels, Path.empty(groups.usable.size, labels=groups.labels), RidgeJudge.name)
    return _found_along_path(problem, groups, settings, progress, NetworkJudge.of, proposal)


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
        path, n_updates, first_outcome = _path(problem, groups.labels, usable, settings, progress)
        nested = path.nested_supports(usable)
    progress.stage("choosing", "refit")
    found = partial(Variables, labels=groups.labels, path=path, n_updates=n_updates, first_outcome=first_outcome)
    proposals: list[np.ndarray] = []
    if proposal is not None and settings.n_variables is None:
        closed = closed_search(problem, groups.labels, settings)
        tolerance = TIE if proposal.dependent else 0.0
        size = int(proposal.mask.sum())
        similar = [mask | groups.included for mask in nested if size <= mask.sum() <= min(size + 2, LARGEST_SIMILAR)]
        if proposal.dependent:  # tests of dependent rows are not exact, and decide nothing
            support = settled(closed, [*proposal.nested, *similar], groups.included, tolerance)
        else:
            support = settled(closed, proposal.nested, groups.included, tolerance, rivals=similar)
        if not network_explains_more(search, closed, support.groups, nested, clearly=not proposal.dependent):
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


def closed_search(problem: Problem, labels: np.ndarray, settings: VariableSettings) -> SupportSearch:
    """Return the search that compares supports in closed form."""
    return SupportSearch(RidgeJudge.of(problem, labels, settings), problem.samples, labels)


def propose(problem: Problem, groups: Groups, n_groups: int | None) -> tuple[Proposal, Problem]:
    """Search forward by tests; return the proposal, and the problem without wild outputs."""
    model = GrowingModel(_testable(problem, groups.labels))
    proposal = forward_search(model, groups.usable, groups.included, n_groups)
    samples = problem.samples
    if not samples.loss.outliers:
        return proposal, problem
    Y, varying = samples.Y.copy(), np.ptp(samples.Y, axis=0) > 0
    terms = problem.terms
    if terms is None:
        terms = replace(model.terms, Z=samples.X.astype(np.float64), _known={})
    Y[:, varying] = model.without_outliers(terms, Y[:, varying].astype(np.float64))
    return proposal, replace(problem, samples=replace(samples, Y=Y))


def rates(problem: Problem, groups: Groups, settings: VariableSettings) -> FloatArray:
    """Return the smallest false discovery rate at which each group is selected, (groups,)."""
    if problem.constant or not groups.usable.any():
        return np.ones(groups.usable.size)
    data = _testable(problem, groups.labels)
    found = p_values(data, groups.usable, groups.included, seed=settings.seed, n_jobs=settings.n_jobs)
    return q_values(found, groups.usable)


def edge_evidence(problem: Problem, groups: Groups, mask: np.ndarray, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return p-values of all groups, and scores by which all can be ranked, given that those of a mask are selected.

    The p-values (groups,) are those of `rates`. The scores (groups,) are minus the decimal logarithm of the p-value, on
    all rows, of leaving out a selected group, or of adding the line or curve of another.
    """
    if problem.constant or not groups.usable.any():
        return np.ones(mask.size), np.zeros(mask.size)
    data = _testable(problem, groups.labels)
    p_value = p_values(data, groups.usable, groups.included, seed=seed)
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
    return interactions(forward_search(GrowingModel(_testable(problem, labels)), mask, mask).terms)


def _testable(problem: Problem, labels: np.ndarray) -> Testable:
    """Return the data for tests, in double precision: of many rows only as many as tests and memory need."""
    samples = problem.samples
    n, d = samples.X.shape
    most = min(MOST_SMOOTHED if problem.smoothed else MOST_ROWS, MOST_ENTRIES // d)
    rows = np.arange(0, n, -(-n // most))
    runs = np.cumsum(problem.starts)[rows]
    if problem.terms is None:
        terms = Terms.of(samples.X[rows].astype(np.float64), labels)
    else:  # as they are where possible: problems share them and what they have computed
        terms = problem.terms if len(rows) == n else problem.terms.rows(rows)
    starts = np.r_[True, np.diff(runs) > 0]
    varying = np.ptp(samples.Y, axis=0) > 0
    Y = samples.Y[np.ix_(rows, varying)].astype(np.float64)
    return Testable(terms, Y, samples.weights[rows], starts, problem.ordered, samples.loss)


def networks_matter(problem: Problem, proposal: Proposal) -> bool:
    """Return whether there are rows enough for a network to see more than sums of simple terms do.

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
    looks = [mask, *(support for support in nested if support.sum() in PROBED_SIZES)]
    best = min(search.judge.on(first).judge(looks), key=lambda verdict: first.typical(verdict.errors))
    rival = closed.judge.on(first).judge([mask])[0]
    if clearly:
        return first.better(best.errors, rival.errors, UNTESTED)
    return first.typical(best.errors) < first.typical(rival.errors)


def refitted_errors(found: Variables, problem: Problem, settings: VariableSettings) -> FloatArray:
    """Return the held-out errors (pieces,) of what was found, judged on other data."""
    judge: Judge = JUDGES[found.judge](problem, found.labels, settings, lambda: None)
    return judge.on(problem.held_out).judge([found.support.groups])[0].errors


def _screened(search: SupportSearch, usable: np.ndarray, settings: VariableSettings) -> np.ndarray:
    """Keep the groups that explain most of y on their own, if there are more than the path should carry."""
    most = max(settings.max_inputs, settings.n_variables or 0)
    if usable.sum() <= most:
        return usable
    scores = search.suspicion(search.judge.judge([np.zeros(usable.size, bool)])[0], usable)
    kept = np.zeros(usable.size, bool)
    kept[np.argsort(-scores, kind="stable")[:most]] = True
    return kept


def _path(
    problem: Problem, labels: np.ndarray, usable: np.ndarray, settings: VariableSettings, progress: Progress
) -> tuple[Path, int, Outcome]:
    """Run the first stage and the path on the training rows of the first split."""
    columns = np.flatnonzero(usable[labels])
    progress.stage("path, inputs left out", "input", total=columns.size)
    train = problem.samples.rows(problem.held_out.splits[0][0]).columns(columns)
    network, first = settings.first_stage(train)
    penalty = InputGroups.of(columns.size, labels[columns]).adaptive(network.layers(first.theta)[0].weights)
    path = dense_to_empty(
        network,
        first.theta,
        train,
        penalty,
        factor=settings.path_factor,
        updates=settings.path_updates,
        seed=settings.seed,
        solver=settings.solver,
        on_strength=lambda norms: progress.reach(int((norms == 0)[penalty.labels].sum())),
        **settings.training,
    )
    magnitudes = np.zeros((len(path.strengths), usable.size))
    magnitudes[:, usable] = path.magnitudes
    n_updates = first.n_updates + settings.path_updates * len(path.strengths)
    return replace(path, magnitudes=magnitudes, labels=labels), n_updates, first.outcome
