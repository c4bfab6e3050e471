"""Choose the directions: the smallest rank not worse than the best, less idle directions, plus weak linear ones."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.search.directions.ranks import RankCandidate, RankSearch, leading_directions
from fewvars.search.directions.ridge_functions import Form

# Standard errors that a weak direction needs. The splits share most of their training rows, so without a direction the
# statistic has a standard deviation of about 1.3 instead of one.
WEAK = 3.0
# Shares of the strongest direction: one below NOTHING is an artefact of the fit; one above STRONG is always kept.
NOTHING, STRONG = 1e-3, 0.1


@dataclass(frozen=True, eq=False)
class RankChoice:
    """The chosen rank and the evidence.

    Attributes
    ----------
    best : RankCandidate
        Of the chosen rank.
    ranks, errors, errors_se : (ranks,)
        Ranks that were tried, the held-out error of the best form of each, and its standard error over the pieces.
    held_out_error : float
        Of the chosen rank. It was used to choose the rank, so it is not a test error.
    """

    best: RankCandidate
    ranks: np.ndarray
    errors: FloatArray
    errors_se: FloatArray
    held_out_error: float


def choose_directions(
    search: RankSearch,
    starts: Mapping[int, FloatArray],
    likely: int,
    *,
    max_rank: int,
    n_directions: int | None = None,
) -> RankChoice:
    """Find the form that suits the likely rank best, compare ranks around it, and add a weak linear direction.

    Parameters
    ----------
    starts : mapping of rank to (rank, d)
        Directions from the path.
    likely : int
        The rank that did best along the path.
    max_rank : int
        The largest to consider.
    n_directions : int, optional
        The rank asked for.
    """
    mean = search.mean()
    if not starts or n_directions == 0:
        return _evidence(search, mean, {0: mean})
    if n_directions is not None:
        likely = n_directions
        starts = {likely: starts.get(likely, _completed(starts[max(starts)], likely))}
    one_split, two_splits = search.on_first_split(), replace(search, held_out=search.held_out.first(2))
    form = min(
        one_split.candidates([(form, starts[likely]) for form in search.forms(likely)]), key=one_split.error
    ).form
    assert form is not None
    tried = {0: two_splits.mean(), likely: two_splits.candidate(form, starts[likely])}
    best = tried[likely]
    if n_directions is None:
        _extend(two_splits, tried, form, starts)
        order = sorted(tried)
        best = tried[order[two_splits.held_out.smallest_not_worse([tried[k].errors for k in order])]]
        best = _without_idle(two_splits, best, tried)
        best = _with_linear_rest(search, two_splits, best, tried, max_rank)
    return _evidence(two_splits, best, tried)


def _completed(directions: FloatArray, k: int) -> FloatArray:
    """Return the directions (r, d), completed by orthogonal ones to k in all."""
    others = np.linalg.qr(directions.T, mode="complete")[0].T[len(directions) : k]
    return np.vstack([directions, others])


def _extend(search: RankSearch, tried: dict[int, RankCandidate], form: Form, starts: Mapping[int, FloatArray]) -> None:
    """Try the ranks next to the best one until the best has both neighbours."""
    while True:
        best = min(tried, key=lambda k: search.error(tried[k]))
        missing = [k for k in (best - 1, best + 1) if k in starts and k not in tried]
        if not missing:
            return
        for candidate in search.candidates([(form, starts[k]) for k in missing]):
            tried[candidate.rank] = candidate


def _without_idle(search: RankSearch, base: RankCandidate, tried: dict[int, RankCandidate]) -> RankCandidate:
    """Drop the weakest directions while the others predict as well, or the function hardly depends on them.

    Fits start from the strongest directions of the larger rank, because the path may have no good start.
    """
    while base.form is not None:
        directions, values = search.strengths(base)
        if values[-1] > STRONG * values[0]:
            break
        n_live = int((values > NOTHING * values[0]).sum())
        fewer = search.candidate(base.form, directions[: min(n_live, base.rank - 1)])
        if n_live == base.rank and not search.held_out.not_worse(fewer.errors, base.errors):
            break
        base = tried[fewer.rank] = fewer
    return base


def _with_linear_rest(
    search: RankSearch, two_splits: RankSearch, base: RankCandidate, tried: dict[int, RankCandidate], max_rank: int
) -> RankCandidate:
    """Add a direction along which the residual held out of all splits is significantly linear.

    A polynomial is first tried with its weakest direction replaced by such a linear one: if that is not worse, it
    is the simpler form of the same rank, and nothing linear is left to be added.
    """
    for _ in range(search.samples.Y.shape[1]):  # at most one for each output
        if base.form is None or base.rank == search.samples.X.shape[1]:
            break
        form = base.form.with_last_linear()
        if form is not base.form and base.rank > 1:
            strongest = search.strengths(base)[0][:-1]
            direction, _ = two_splits.linear_rest(two_splits.candidate(base.form, strongest))
            simpler = two_splits.candidate(form, np.vstack([strongest, direction]))
            if two_splits.held_out.not_worse(simpler.errors, base.errors):
                tried[base.rank] = simpler
                return simpler
        if base.rank >= max_rank:
            break
        direction, evidence = search.linear_rest(search.refitted(base))
        if evidence < WEAK:
            break
        larger = two_splits.candidate(form, np.vstack([base.functions[0].directions, direction]))
        values = search.strengths(larger)[1]
        if values[-1] <= NOTHING * values[0]:
            break
        base = tried[larger.rank] = larger
    return base


def active_directions(search: RankSearch, chosen: RankCandidate, n_fits: int = 4) -> tuple[FloatArray, FloatArray]:
    """Fit the chosen form to all rows and return its directions, (k, d), and their singular values, (k,).

    They are the leading right singular vectors of the table of gradients of the fitted function, of a few fits if it
    is a network: orthonormal in standardised inputs, ordered by how strongly the function depends on them
    (Constantine, Dow and Wang, 2014), the largest loading of each positive.
    """
    form = chosen.form
    assert form is not None
    fits = [one.fit(search.samples, chosen.functions[0].directions) for one in form.restarts(n_fits)]
    gradients = np.concatenate([fit.gradient(search.samples.X) for fit in fits], axis=1)
    directions, values = leading_directions(gradients, search.samples, chosen.rank)
    return directions, values / np.sqrt(len(fits))


def _evidence(search: RankSearch, best: RankCandidate, tried: Mapping[int, RankCandidate]) -> RankChoice:
    ranks = sorted(tried)
    measured = [search.held_out.measured(tried[k].errors) for k in ranks]
    return RankChoice(
        best=best,
        ranks=np.array(ranks),
        errors=np.array([mean for mean, _ in measured]),
        errors_se=np.array([se for _, se in measured]),
        held_out_error=search.held_out.mean(best.errors),
    )
