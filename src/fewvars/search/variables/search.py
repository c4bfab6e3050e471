"""The search for few variables as one pure function: first stage, path, choice of the support."""

from dataclasses import dataclass, replace

import numpy as np

from fewvars._common.progress import Progress
from fewvars._common.validation import FloatArray
from fewvars.engine.penalties import InputGroups
from fewvars.engine.solvers import Outcome
from fewvars.search.judge import Judge
from fewvars.search.path import Path
from fewvars.search.problem import Problem, Settings
from fewvars.search.variables.judges import JUDGES
from fewvars.search.variables.path import dense_to_empty
from fewvars.search.variables.selection import SupportSearch
from fewvars.search.variables.support import Support, choose_support
from fewvars.series.scaling import duplicated_columns


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
        One of `fewvars.search.variables.judges.JUDGES`.
    """

    n_variables: int | None = None
    max_candidates: int = 16
    max_inputs: int = 300
    solver: str = "momentum"
    judge: str = "network"


@dataclass(frozen=True, eq=False)
class Groups:
    """Group of each input (inputs,), which groups may be selected and which are always included (groups,)."""

    labels: np.ndarray
    usable: np.ndarray
    included: np.ndarray

    @classmethod
    def of(cls, labels: np.ndarray, include: np.ndarray, Z: FloatArray, constant: np.ndarray) -> "Groups":
        """Rule out groups of inputs that are constant or repeat an earlier column of Z (n, inputs)."""
        n_groups = int(labels.max()) + 1
        included = np.zeros(n_groups, bool)
        included[labels[include]] = True
        idle = constant | duplicated_columns(Z)
        usable = np.bincount(labels, ~idle, minlength=n_groups) > 0
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
    n_updates : int
        Of the first stage and the path.
    first_outcome : Outcome
        How the first stage ended.
    """

    support: Support
    labels: np.ndarray
    path: Path
    n_updates: int
    first_outcome: Outcome

    @property
    def inputs(self) -> np.ndarray:
        """Which inputs were selected, (inputs,)."""
        return self.support.groups[self.labels]

    @property
    def strength(self) -> float:
        """The largest strength on the path at which at least as many groups were alive as were selected."""
        return self.path.largest_strength(int(self.support.groups.sum()))


def find_variables(problem: Problem, groups: Groups, settings: VariableSettings, progress: Progress) -> Variables:
    """Find the groups of inputs that the outputs depend on; nothing outside is changed."""
    judge = JUDGES[settings.judge](problem, groups.labels, settings, progress.step)
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
        path, n_updates, first_outcome = _path(problem, groups.labels, usable, settings, progress)
        nested = path.nested_supports(usable)
    progress.stage("choosing", "refit")
    support = choose_support(
        search,
        nested,
        groups.included,
        usable,
        n_groups=settings.n_variables,
        max_candidates=settings.max_candidates,
    )
    return Variables(support, groups.labels, path, n_updates, first_outcome)


def refitted_errors(found: Variables, problem: Problem, settings: VariableSettings) -> FloatArray:
    """Return the held-out errors (pieces,) of what was found, judged on other data."""
    judge: Judge = JUDGES[settings.judge](problem, found.labels, settings, lambda: None)
    return judge.judge([found.support.groups])[0].errors


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
