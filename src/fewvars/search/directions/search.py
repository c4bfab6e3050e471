"""The search for few directions as a pure function: first stage, path, choice of the rank."""

from dataclasses import dataclass

import numpy as np

from fewvars._common.progress import Progress
from fewvars._common.validation import FloatArray
from fewvars.engine.penalties import RANK_TOLERANCE, SingularValues
from fewvars.engine.solvers import Outcome
from fewvars.search.directions.choice import RankChoice, active_directions, choose_directions
from fewvars.search.directions.path import full_to_zero_rank
from fewvars.search.directions.ranks import RankSearch
from fewvars.search.directions.starts import refined_starts
from fewvars.search.path import Path
from fewvars.search.problem import Problem, Settings


@dataclass(frozen=True)
class DirectionSettings(Settings):
    """How directions are searched for.

    Attributes
    ----------
    n_directions : int, optional
        Number of directions to find; by default it is chosen.
    max_rank : int
        Largest number of directions that is considered.
    """

    n_directions: int | None = None
    max_rank: int = 10


@dataclass(frozen=True, eq=False)
class Directions:
    """What was found.

    Attributes
    ----------
    choice : RankChoice
    path : Path
    n_updates : int
        Of the first stage and the path.
    first_outcome : Outcome
        How the first stage ended.
    """

    choice: RankChoice
    path: Path
    n_updates: int
    first_outcome: Outcome

    @property
    def rank(self) -> int:
        """Number of directions."""
        return self.choice.best.rank

    @property
    def strength(self) -> float:
        """The largest strength on the path at which at least as many directions were alive as were chosen."""
        return self.path.largest_strength(self.rank)

    def refitted_errors(self, problem: Problem, settings: DirectionSettings) -> FloatArray:
        """Return the held-out errors (pieces,) of what was found, refitted to other data."""
        return _rank_search(problem, settings).refitted(self.choice.best).errors

    def fitted(self, problem: Problem, settings: DirectionSettings) -> tuple[FloatArray, FloatArray]:
        """Fit what was found to all rows: return orthonormal directions (k, inputs) and their singular values (k,)."""
        directions: FloatArray = np.zeros((self.rank, problem.constant_inputs.size))
        values: FloatArray = np.zeros(0)
        if self.rank:
            search = _rank_search(problem, settings)
            directions[:, ~problem.constant_inputs], values = active_directions(search, self.choice.best)
        return directions, values


def find_directions(problem: Problem, settings: DirectionSettings, progress: Progress) -> Directions:
    """Find the directions that the outputs depend on, without side effects."""
    search = _rank_search(problem, settings, progress)
    d = search.samples.X.shape[1]
    path = Path.empty(min(settings.hidden_layer_sizes[0], d), tolerance=RANK_TOLERANCE)
    n_updates, first_outcome = 0, Outcome.FINISHED
    starts: dict[int, FloatArray] = {}
    likely = 0
    if d and not problem.constant and settings.n_directions != 0:
        progress.stage("path", "strength")
        train = problem.samples.columns(~problem.constant_inputs).rows(problem.held_out.splits[0][0])
        network, first = settings.first_stage(train)
        initial = network.layers(first.theta)[0].weights
        penalty = SingularValues.of(*reversed(initial.shape)).adaptive(initial)
        path, thetas = full_to_zero_rank(
            network, first.theta, train, penalty, on_strength=progress.step, **settings.along_path
        )
        n_updates = first.n_updates + settings.path_updates * len(path.strengths)
        first_outcome = first.outcome
        most = settings.max_rank if settings.n_directions is None else settings.n_directions
        starts, likely = refined_starts(
            search, network, thetas, train, most, n_updates=settings.refit_updates, **settings.training
        )
    progress.stage("choosing", "fit")
    most = min(settings.max_rank, settings.hidden_layer_sizes[0])
    choice = choose_directions(search, starts, likely, max_rank=most, n_directions=settings.n_directions)
    return Directions(choice, path, n_updates, first_outcome)


def _rank_search(problem: Problem, settings: DirectionSettings, progress: Progress | None = None) -> RankSearch:
    """Return the search on the columns that are not constant, in double precision."""
    double = problem.samples.columns(~problem.constant_inputs).astype(np.float64)
    step = (lambda: None) if progress is None else progress.step
    return RankSearch(double, problem.held_out, settings.activation, settings.seed, settings.n_jobs, step)
