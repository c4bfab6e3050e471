"""Choose the directions: functions of k linear combinations, fitted at each rank, compared on held-out blocks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fewvars._common.threads import in_threads
from fewvars._common.validation import FloatArray
from fewvars.engine.network import Network
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import Outcome, adam
from fewvars.polynomials.polynomial import monomial_count
from fewvars.search.directions.ridge_functions import (
    Form,
    NetworkForm,
    PolynomialForm,
    RidgeFunction,
    unit_variance,
)
from fewvars.search.held_out import HeldOut

RIDGES = (1e-5, 1e-4, 1e-3)
# Standard errors by which a weak direction must show. The splits share most of their training rows, so where there is
# none the figure spreads by about 1.3 instead of one.
WEAK = 3.0
# Shares of the strongest direction: one below NOTHING is an artefact of the fit; one above STRONG is not tried without.
NOTHING, STRONG = 1e-3, 0.1


@dataclass(frozen=True, eq=False)
class RankCandidate:
    """A form with k directions, fitted on the training rows of each split, and its held-out errors."""

    rank: int
    form: Form | None
    functions: tuple[RidgeFunction, ...]
    errors: FloatArray


@dataclass(frozen=True, eq=False)
class RankSearch:
    """Functions of few directions, compared on held-out blocks.

    Parameters
    ----------
    samples : Samples
        Standardised data: all rows, all inputs, double precision.
    held_out : HeldOut
    activation : str
    seed : int
    n_jobs : int, optional
        Threads; the results do not depend on it.
    on_refit : callable
        Called without arguments after each refit.
    """

    samples: Samples
    held_out: HeldOut
    activation: str = "tanh"
    seed: int = 0
    n_jobs: int | None = None
    on_refit: Callable[[], None] = lambda: None

    def mean(self) -> RankCandidate:
        """Return the candidate of rank zero, which predicts the mean."""
        errors = []
        for train, test in self.held_out.splits:
            mean = np.average(self.samples.Y[train], axis=0, weights=self.samples.weights[train])
            errors.append(((self.samples.Y[test] - mean) ** 2).sum(axis=1))
        return RankCandidate(0, None, (), self.held_out.piece_errors(errors, self.samples.weights))

    def candidate(self, form: Form, directions: FloatArray) -> RankCandidate:
        """Fit a form on the training rows of each split, from these directions (k, d)."""
        functions, errors = [], []
        for train, test in self.held_out.splits:
            functions.append(form.fit(self.samples.rows(train), directions))
            predicted = functions[-1].predict(self.samples.X[test])
            errors.append(((predicted - self.samples.Y[test]) ** 2).sum(axis=1))
        self.on_refit()
        return RankCandidate(
            len(directions), form, tuple(functions), self.held_out.piece_errors(errors, self.samples.weights)
        )

    def candidates(self, tasks: Sequence[tuple[Form, FloatArray]]) -> list[RankCandidate]:
        """Fit several forms, in threads."""
        return in_threads(lambda task: self.candidate(*task), tasks, self.n_jobs)

    def error(self, candidate: RankCandidate) -> float:
        """Return the typical held-out error, by which candidates are ranked."""
        return self.held_out.typical(candidate.errors)

    def on_first_split(self) -> "RankSearch":
        """Return the search that compares on the first split alone: a quick look."""
        return replace(self, held_out=self.held_out.first())

    def with_outputs(self, Y: FloatArray, held_out: HeldOut) -> "RankSearch":
        """Return the search for other outputs (n, outputs), compared on other rows."""
        return replace(self, samples=replace(self.samples, Y=Y), held_out=held_out)

    def refitted(self, candidate: RankCandidate) -> RankCandidate:
        """Fit the same form anew, going on from its directions."""
        if candidate.form is None:
            return self.mean()
        return self.candidate(candidate.form, candidate.functions[0].directions)

    def forms(self, rank: int) -> list[Form]:
        """Return the forms to try: polynomials as long as they have far fewer terms than there are samples."""
        polynomials = [PolynomialForm(k) for k in (2, 3) if monomial_count(rank, k) * 8 <= len(self.samples)]
        return [
            *polynomials,
            *(NetworkForm(activation=self.activation, ridge=ridge, seed=self.seed) for ridge in RIDGES),
        ]

    def strengths(self, candidate: RankCandidate) -> tuple[FloatArray, FloatArray]:
        """Return its directions, (k, d), and how strongly the function depends on them, (k,), strongest first."""
        return _leading(candidate.functions[0].gradient(self.samples.X), self.samples, candidate.rank)

    def linear_rest(self, base: RankCandidate) -> tuple[FloatArray, float]:
        """Return the combination (1, d) that explains most of the training residual, and its evidence.

        It is uncorrelated with the combinations of the base. The evidence is its mean product with the held-out
        residual in standard errors over the pieces: a direction too weak to be worth its parameters shows here.
        """
        products, found = [], []
        for (train, test), function in zip(self.held_out.splits, base.functions, strict=True):
            rows, outside = self.samples.rows(train), self.samples.X[test]
            rest = rows.Y - function.predict(rows.X)
            direction = _uncorrelated(_linear_fit(rows.X, rest, rows.weights), function.directions, rows)
            slopes = _linear_fit(rows.X @ direction.T, rest, rows.weights)  # (1, outputs)
            left = self.samples.Y[test] - function.predict(outside)
            products.append((left * (outside @ direction.T @ slopes)).sum(axis=1))
            found.append(direction)
        pieces = self.held_out.piece_errors(products, self.samples.weights)
        mean, spread = self.held_out.measured(pieces)
        return found[0], mean / max(spread, 1e-300)


def _linear_fit(X: FloatArray, Y: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the slopes (d, outputs) of Y on X with an intercept."""
    roots = np.sqrt(weights.astype(float))[:, None]
    design = np.column_stack([X, np.ones(len(X))])
    return np.linalg.lstsq(design * roots, Y * roots, rcond=1e-10)[0][:-1]


def _uncorrelated(slopes: FloatArray, directions: FloatArray, samples: Samples) -> FloatArray:
    """Return the strongest combination (1, d) in slopes (d, outputs), made uncorrelated with the directions."""
    strongest = slopes @ np.linalg.svd(samples.X @ slopes, full_matrices=False)[2][:1].T
    within = _linear_fit(samples.X @ directions.T, samples.X @ strongest, samples.weights)
    return unit_variance((strongest - directions.T @ within).T, samples)


@dataclass(frozen=True, eq=False)
class Directions:
    """The chosen rank and the evidence.

    Attributes
    ----------
    best : RankCandidate
        Of the chosen rank.
    ranks, errors, errors_se : (ranks,)
        Ranks that were tried, the held-out error of the best form of each, and its standard error over the pieces.
    held_out_error : float
        Of the chosen rank. It chose the rank, so it is not a test error.
    """

    best: RankCandidate
    ranks: np.ndarray
    errors: FloatArray
    errors_se: FloatArray
    held_out_error: float


def low_rank(network: Network, theta: FloatArray, rank: int) -> tuple[Network, FloatArray]:
    """Cut the first layer to a rank and write it as two: W_1 ~ (U sqrt(S)) (sqrt(S) V^T), the inner one linear."""
    first, *rest = network.layers(theta)
    U, s, Vt = np.linalg.svd(first.weights.astype(float), full_matrices=False)
    roots = np.sqrt(s[:rank])
    activations = ("identity", *network.activation)
    factored = Network(network.n_inputs, (rank, *network.widths), network.n_outputs, activations)
    parts = [roots[:, None] * Vt[:rank], np.zeros(rank), U[:, :rank] * roots, first.biases]
    for layer in rest:
        parts += [layer.weights, layer.biases]
    return factored, np.concatenate([part.ravel() for part in parts])


def refined_starts(
    search: RankSearch,
    network: Network,
    thetas: Mapping[int, FloatArray],
    train: Samples,
    most: int,
    *,
    n_updates: int,
    ridge: float,
    **options: Any,
) -> tuple[dict[int, FloatArray], int]:
    """Cut networks along the path to each rank, and train all their factors jointly by Adam.

    Parameters
    ----------
    thetas : mapping of rank to parameters of `network`
    train : Samples
        The training rows of the first split.
    most : int
        Largest rank to return.

    Returns
    -------
    directions by rank, (rank, d), and the rank with the smallest typical error on the first split
    """
    look = search.on_first_split()
    test = look.held_out.splits[0][1]
    directions, errors = {}, {}
    for rank in range(1, min(most, max(thetas, default=0)) + 1):
        enough = thetas[min(r for r in thetas if r >= rank)]
        factored, start = low_rank(network, enough, rank)
        fit = adam(
            factored,
            train,
            theta=start.astype(train.X.dtype),
            n_updates=n_updates,
            schedule="cosine",
            ridge=ridge,
            first_ridge=ridge,
            **options,
        )
        theta = start if fit.outcome is Outcome.DIVERGED else fit.theta.astype(float)
        directions[rank] = factored.layers(theta)[0].weights
        squared = ((factored.predict(theta, search.samples.X[test]) - search.samples.Y[test]) ** 2).sum(axis=1)
        errors[rank] = look.held_out.typical(look.held_out.piece_errors([squared], search.samples.weights))
        search.on_refit()
    return directions, min(errors, key=lambda rank: errors[rank], default=0)


def choose_directions(
    search: RankSearch,
    starts: Mapping[int, FloatArray],
    likely: int,
    *,
    max_rank: int,
    n_directions: int | None = None,
) -> Directions:
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
    look, some = search.on_first_split(), replace(search, held_out=search.held_out.first(2))
    form = min(look.candidates([(form, starts[likely]) for form in search.forms(likely)]), key=look.error).form
    assert form is not None
    tried = {0: some.mean(), likely: some.candidate(form, starts[likely])}
    best = tried[likely]
    if n_directions is None:
        _extend(some, tried, form, starts)
        order = sorted(tried)
        best = tried[order[some.held_out.smallest_not_worse([tried[k].errors for k in order])]]
        best = _without_idle(some, best, tried)
        best = _with_linear_rest(search, some, best, tried, max_rank)
    return _evidence(some, best, tried)


def _completed(directions: FloatArray, k: int) -> FloatArray:
    """Return the directions (r, d) and more that are orthogonal to them, k in all."""
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
    """Drop the weakest directions while the others do as well alone, or where next to nothing depends on them.

    These start from the directions of the larger rank that matter most: the path may have no good start for them.
    """
    while base.form is not None and base.rank > 1:
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
    search: RankSearch, some: RankSearch, base: RankCandidate, tried: dict[int, RankCandidate], max_rank: int
) -> RankCandidate:
    """Add a direction along which the residual held out of all splits is linear beyond doubt.

    A polynomial is first tried with its weakest direction replaced by such a linear one: if that is not worse, it
    is the simpler form of the same rank, and nothing linear is left to be added.
    """
    for _ in range(search.samples.Y.shape[1]):  # at most one for each output
        if base.form is None or base.rank == search.samples.X.shape[1]:
            break
        form = replace(base.form, last_linear=True) if isinstance(base.form, PolynomialForm) else base.form
        if form is not base.form and base.rank > 1:
            strongest = search.strengths(base)[0][:-1]
            direction, _ = some.linear_rest(some.candidate(base.form, strongest))
            simpler = some.candidate(form, np.vstack([strongest, direction]))
            if some.held_out.not_worse(simpler.errors, base.errors):
                tried[base.rank] = simpler
                return simpler
        if base.rank >= max_rank:
            break
        direction, evidence = search.linear_rest(search.refitted(base))
        if evidence < WEAK:
            break
        larger = some.candidate(form, np.vstack([base.functions[0].directions, direction]))
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
    forms = [replace(form, seed=form.seed + s) for s in range(n_fits)] if isinstance(form, NetworkForm) else [form]
    fits = [one.fit(search.samples, chosen.functions[0].directions) for one in forms]
    gradients = np.concatenate([fit.gradient(search.samples.X) for fit in fits], axis=1)
    directions, values = _leading(gradients, search.samples, chosen.rank)
    return directions, values / np.sqrt(len(fits))


def _leading(gradients: FloatArray, samples: Samples, k: int) -> tuple[FloatArray, FloatArray]:
    """Return the leading right singular vectors (k, d) and values of the table of gradients (n, any, d)."""
    table = (np.sqrt(samples.weights)[:, None, None] * gradients).reshape(-1, gradients.shape[2])
    values, vectors = np.linalg.eigh(table.T @ table / len(samples))
    values, directions = values[::-1][:k], vectors.T[::-1][:k]
    largest = directions[np.arange(k), np.abs(directions).argmax(axis=1)]
    return directions * np.sign(largest)[:, None], np.sqrt(np.maximum(values, 0.0))


def _evidence(search: RankSearch, best: RankCandidate, tried: Mapping[int, RankCandidate]) -> Directions:
    ranks = sorted(tried)
    measured = [search.held_out.measured(tried[k].errors) for k in ranks]
    return Directions(
        best=best,
        ranks=np.array(ranks),
        errors=np.array([mean for mean, _ in measured]),
        errors_se=np.array([se for _, se in measured]),
        held_out_error=search.held_out.mean(best.errors),
    )
