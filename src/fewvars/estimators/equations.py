"""Find one equation of a system: the inputs it depends on, the evidence for them, and the function."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fewvars._common.streams import RESAMPLES, stream
from fewvars._common.validation import FloatArray
from fewvars.estimators.preparation import Plan, Prepared
from fewvars.estimators.system import Support, System
from fewvars.heads import Head, HeadSettings
from fewvars.heads.averages import Averages
from fewvars.heads.polynomial import PolynomialHead
from fewvars.heads.weak import NEGLIGIBLE, TIMES_NOISE, WORTHWHILE, WeakPolynomials, choose_weak_head
from fewvars.polynomials.polynomial import monomial_count
from fewvars.search.held_out import TIE
from fewvars.search.problem import Problem
from fewvars.search.variables.polynomial_judge import PolynomialJudge
from fewvars.search.variables.search import closed_search
from fewvars.search.variables.selection import SupportSearch, switched
from fewvars.search.variables.settings import Groups, VariableSettings
from fewvars.search.variables.support import settled
from fewvars.search.variables.tested import edge_evidence, propose
from fewvars.search.variables.untested import better_support

MOST_INPUTS_OF_FULL_POLYNOMIALS = 10
DEGREE_OF_ALL, MOST_OF_ALL = 3, 60  # all inputs are tried in one polynomial if they have few monomials
MOST_TERMS = 100  # of all inputs up to degree two, or of the inputs found and a line in each other


@dataclass(frozen=True, eq=False)
class Equation:
    """The equation of one variable.

    Attributes
    ----------
    support : (groups,) bool
    scores : (groups,)
        Minus the decimal logarithm of the p-value of leaving a selected group out, or of adding another.
    p_values : (groups,)
        From rows that were not used to choose the other groups.
    frequencies : (groups,)
        Share of the resamples in which each group was selected; NaN without resamples.
    held_out_error : float
        Over the variance of the target.
    head : Head
        The function of the selected columns.
    head_errors : dict
        Held-out error of each kind of head that was tried.
    """

    support: np.ndarray
    scores: FloatArray
    p_values: FloatArray
    frequencies: FloatArray
    held_out_error: float
    head: Head
    head_errors: dict[str, float]


@dataclass(frozen=True, eq=False)
class EquationSearch:
    """The search for the i-th equation of a system."""

    system: System
    i: int

    @cached_property
    def groups(self) -> Groups:
        """The groups of inputs that it may depend on."""
        return self.system.groups(self.i)

    @cached_property
    def noise(self) -> float:
        """The variance of the errors of the target over its own."""
        data = self.system.data
        return float(data.noise[self.i] / max(np.var(data.targets[:, self.i]), np.finfo(float).tiny))

    @property
    def enough(self) -> float:
        """The held-out error below which nothing more is tried."""
        return max(TIMES_NOISE * self.noise, NEGLIGIBLE)

    @cached_property
    def prepared(self) -> Prepared:
        """The target, with the windows to hold out."""
        settings = self.system.settings
        plan = Plan(settings.n_blocks, n_splits=4, random_parts=True, seed=settings.seed)
        return Prepared.of(self.system.shared, self.system.data.targets[:, [self.i]], plan)

    @property
    def problem(self) -> Problem:
        """What the search is given."""
        return self._with_terms(self.prepared.problem)

    @property
    def head_settings(self) -> HeadSettings:
        """How functions are fitted."""
        settings = self.system.settings
        return HeadSettings(max_degree=settings.max_degree, gap=self.system.data.gap, seed=settings.seed, n_jobs=1)

    def equation(self) -> Equation:
        """Find the inputs, unless they are known, the evidence for them, and the function."""
        settings, found = self.system.settings, self.system.known.get(self.i) or self.support(self.problem)
        mask = found.groups
        p_values, scores = edge_evidence(self.problem, self.groups, mask, settings.seed)
        frequencies = self._frequencies() if settings.n_resamples else np.full(mask.size, np.nan)
        head, head_errors = choose_weak_head(
            self._columns(mask),
            self._averages(self.problem),
            self.head_settings,
            head=settings.head,
            noise=self.noise,
            polynomial=found.polynomial,
        )
        return Equation(mask, scores, p_values, frequencies, found.error, head, head_errors)

    def support(self, problem: Problem) -> Support:
        """Return the groups that the target of a problem depends on.

        Tests find little along a short trajectory, which has few independent parts. If more is left than noise, more
        groups are therefore tried, and kept if they predict held-out rows much better.
        Where full polynomials of what was found predict better than sums of simple terms, they decide what is needed.
        """
        groups = self.groups
        if problem.constant or not groups.usable.any():
            return Support(groups.included, 0.0)
        search_settings = VariableSettings(seed=self.system.settings.seed)
        proposal, _ = propose(problem, groups, None)  # outliers are kept: a transient may look like some
        closed = closed_search(problem, groups.labels, search_settings)
        support = settled(closed, proposal.nested, groups.included, TIE if proposal.dependent else 0.0)
        if support.held_out_error > self.enough:
            other = better_support(closed, problem, groups, support.groups)
            support = settled(closed, [support.groups, other], groups.included, TIE)
        search = closed
        if 1 < support.groups[groups.labels].sum() <= MOST_INPUTS_OF_FULL_POLYNOMIALS:
            full = SupportSearch(PolynomialJudge.of(problem, self.system.terms), problem.samples, groups.labels)
            simple, better = (search.judge.judge([support.groups])[0] for search in (closed, full))
            if full.error(better) < closed.error(simple):
                search, support = full, settled(full, [support.groups], groups.included, TIE)
        if support.held_out_error <= NEGLIGIBLE:
            support = settled(search, [self._not_negligible(search, support.groups)], groups.included, fixed=True)
        found = Support(support.groups, support.held_out_error)
        return self._by_terms(self._averages(problem), found) if found.error > self.enough else found

    def _not_negligible(self, search: SupportSearch, mask: np.ndarray) -> np.ndarray:
        """Drop groups (a mask) as long as next to nothing is left unexplained without them.

        Errors of averages and of smoothing are functions of the state, too, which show where there is no noise.
        """
        while True:
            _, without = search.leave_one_out(search.judge.judge([mask])[0])
            errors = {g: search.held_out.mean(one.errors) for g, one in without.items() if not self.groups.included[g]}
            least = min(errors, key=errors.__getitem__, default=None)
            if least is None or errors[least] > NEGLIGIBLE:
                return mask
            mask = switched(mask, least)

    def _frequencies(self) -> FloatArray:
        """Return the share of resamples of the blocks in which each group is selected, (groups,)."""
        settings = self.system.settings
        votes = []
        for k in range(settings.n_resamples):
            drawn = self.prepared.resampled(stream(settings.seed, RESAMPLES, self.i, k), settings.n_blocks)
            votes.append(self.support(self._with_terms(drawn)).groups)
        return np.mean(votes, axis=0)

    def _with_terms(self, problem: Problem) -> Problem:
        """Return a problem whose inputs are the averages over windows."""
        return replace(problem, terms=self.system.terms, smoothed=self.system.data.smoothed)

    def _averages(self, problem: Problem) -> Averages:
        """Return the target in its own units, with the weights and the held-out rows of a problem."""
        data, weight = self.system.data, problem.samples.weights.astype(np.float64)
        own = data.targets[:, [self.i]], weight, data.derivatives[:, [self.i]]
        return Averages(data.windows, data.centres, *own, problem.held_out)

    def _columns(self, mask: np.ndarray) -> FloatArray:
        """Return the inputs of the groups of a mask, (samples, inputs)."""
        data = self.system.data
        return np.ascontiguousarray(data.inputs[:, mask[data.labels]])

    def _by_terms(self, averages: Averages, found: Support) -> Support:
        """Return the groups in the terms of a sparse polynomial of all groups, if it halves the error.

        Judges compare supports by functions with many terms. Few windows, a single transient, or oscillators that
        nearly keep step do not determine these, but may determine the few terms of an equation.
        """
        groups = self.groups
        every = groups.usable | found.groups
        columns = every[groups.labels]
        affordable = list(self._affordable(~found.groups[groups.labels][columns]))
        if not affordable:
            return found
        known = 1.0
        if found.groups.any():
            polynomial = self._polynomial(averages, found.groups)
            known = averages.held_out.mean(polynomial[1])
            found = found._replace(polynomial=polynomial)
        if known <= self.enough:
            return found._replace(error=min(found.error, known))
        tried = [self._polynomial(averages, every, *terms) for terms in affordable]
        head, errors = min(tried, key=lambda candidate: averages.held_out.mean(candidate[1]))
        lowest = averages.held_out.mean(errors)
        if lowest > WORTHWHILE * min(known, found.error):
            return found
        mask = groups.included.copy()
        mask[groups.labels[columns][head.polynomial.exponents.any(axis=0)]] = True
        return Support(mask, lowest)

    def _affordable(self, unknown: np.ndarray) -> Iterator[tuple[np.ndarray, int]]:
        """Yield which inputs enter polynomials by lines only, and the degree of the others, if terms are few enough.

        Parameters
        ----------
        unknown : (inputs,) bool
            Inputs that were not found.
        """
        n, n_known, degree = unknown.size, int((~unknown).sum()), self.system.settings.max_degree
        if monomial_count(n, DEGREE_OF_ALL) <= MOST_OF_ALL:
            yield np.zeros_like(unknown), degree
            return
        if monomial_count(n, 2) <= MOST_TERMS:
            yield np.zeros_like(unknown), min(2, degree)
        if n_known and monomial_count(n_known, DEGREE_OF_ALL) + n - n_known <= MOST_TERMS:
            yield unknown, degree

    def _polynomial(
        self, averages: Averages, mask: np.ndarray, lines: np.ndarray | None = None, degree: int | None = None
    ) -> tuple[PolynomialHead, FloatArray]:
        """Return a sparse polynomial of the groups of a mask, and its held-out errors (pieces,)."""
        settings = self.head_settings if degree is None else replace(self.head_settings, max_degree=degree)
        return WeakPolynomials.of(self._columns(mask), averages, settings, lines).choose(self.noise)
