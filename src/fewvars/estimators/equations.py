"""Find one equation of a system: the inputs it depends on, the evidence, and the function."""

from dataclasses import dataclass, field, replace

import numpy as np

from fewvars._common.streams import RESAMPLES, stream
from fewvars._common.validation import FloatArray
from fewvars.estimators.measurements import Measurements
from fewvars.estimators.preparation import Plan, Prepared
from fewvars.estimators.rows import Rows
from fewvars.estimators.standardised import Inputs
from fewvars.heads import Head, HeadSettings
from fewvars.heads.averages import Averages
from fewvars.heads.polynomial import PolynomialHead
from fewvars.heads.weak import ENOUGH, SMALL, WeakPolynomials, choose_weak_head
from fewvars.polynomials.polynomial import monomial_count
from fewvars.search.held_out import TIE
from fewvars.search.problem import Problem
from fewvars.search.variables.polynomial_judge import PolynomialJudge
from fewvars.search.variables.search import closed_search
from fewvars.search.variables.selection import SupportSearch
from fewvars.search.variables.settings import Groups, VariableSettings
from fewvars.search.variables.support import settled
from fewvars.search.variables.terms import Terms
from fewvars.search.variables.tested import edge_evidence, propose
from fewvars.search.variables.untested import better_support

MOST_FOR_POLYNOMIALS = 10  # inputs
DEGREE_OF_ALL, MOST_OF_ALL = 3, 60  # all inputs may be tried in one polynomial if they have few monomials
MOST_WITH_LINES = 100  # terms of a polynomial of the inputs found and a line in each other


@dataclass(frozen=True)
class EquationSettings:
    """How an equation is searched for: held-out blocks, resamples of them, and heads."""

    head: str = "auto"
    max_degree: int = 4
    n_blocks: int = 20
    n_resamples: int = 0
    seed: int = 0


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
class System:
    """Equations to be found, one for each target of the measurements.

    Attributes
    ----------
    data : Measurements
    settings : EquationSettings
    include, exclude : (d, groups) bool
        What each equation must or must not depend on.
    shared : Inputs
        Of all equations, scaled once.
    terms : Terms
        Of these inputs.
    """

    data: Measurements
    settings: EquationSettings
    include: np.ndarray
    exclude: np.ndarray
    shared: Inputs
    terms: Terms
    _known: dict[int, tuple[np.ndarray, float]] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, data: Measurements, settings: EquationSettings, include: np.ndarray, exclude: np.ndarray) -> "System":
        """Scale the inputs."""
        rows = Rows(np.arange(len(data.weight)), data.weight / data.weight.mean(), None, data.runs, None)
        gap = min(data.gap, max(map(len, rows.runs)) // 8)  # a wider one would leave nothing of short runs
        shared = Inputs.of(rows, data.inputs[data.centres], smoothed=data.smoothed, gap=gap)
        scaled = np.ascontiguousarray(shared.scaling.apply(data.inputs))
        rows_are_samples = data.windows.shape[0] == data.windows.shape[1]
        terms = Terms.of(scaled, data.labels, None if rows_are_samples else data.windows).with_steps()
        return cls(data, settings, include, exclude, shared, terms)

    def groups(self, i: int) -> Groups:
        """Return the groups of inputs with those that the i-th equation must or must not depend on."""
        labels, scaling = self.data.labels, self.shared.scaling
        included, excluded = (np.flatnonzero(mask[i]) for mask in (self.include, self.exclude))
        return Groups.of(labels, included, excluded, self.shared.Z, scaling.constant)

    def find(self, i: int) -> Equation:
        """Find the i-th equation."""
        settings = self.settings
        groups, noise, prepared = self.groups(i), self._noise(i), self._prepared(i)
        problem = self._with_terms(prepared.problem)
        mask, error = self._found(i)
        p_values, scores = edge_evidence(problem, groups, mask, settings.seed)
        frequencies = self._frequencies(i, prepared) if settings.n_resamples else np.full(mask.size, np.nan)
        averages = self._averages(i, problem)
        head, head_errors = choose_weak_head(
            self._columns(mask), averages, self._head_settings, head=settings.head, noise=noise
        )
        return Equation(mask, scores, p_values, frequencies, error, head, head_errors)

    def _frequencies(self, i: int, prepared: Prepared) -> FloatArray:
        """Return the share of resamples of the blocks in which each group is selected, (groups,)."""
        settings, groups, noise = self.settings, self.groups(i), self._noise(i)
        votes = []
        for k in range(settings.n_resamples):
            drawn = prepared.resampled(stream(settings.seed, RESAMPLES, i, k), settings.n_blocks)
            votes.append(self._support(i, self._with_terms(drawn), groups, noise)[0])
        return np.mean(votes, axis=0)

    def held_out_error(self, i: int) -> float:
        """Return the held-out error of the i-th equation over the variance of its target; zero if that is constant."""
        return self._found(i)[1]

    def _found(self, i: int) -> tuple[np.ndarray, float]:
        """Return the groups of inputs of the i-th equation, and its held-out error; each is searched for only once."""
        if i not in self._known:
            problem = self._with_terms(self._prepared(i).problem)
            self._known[i] = self._support(i, problem, self.groups(i), self._noise(i))
        return self._known[i]

    def _with_terms(self, problem: Problem) -> Problem:
        """Return a problem whose inputs are the averages over windows."""
        return replace(problem, terms=self.terms, smoothed=self.data.smoothed)

    def _prepared(self, i: int) -> Prepared:
        plan = Plan(self.settings.n_blocks, n_splits=4, random_parts=True, seed=self.settings.seed)
        return Prepared.of(self.shared, self.data.targets[:, [i]], plan)

    def _noise(self, i: int) -> float:
        """Return the variance of the errors of a target over its own."""
        return float(self.data.noise[i] / max(np.var(self.data.targets[:, i]), np.finfo(float).tiny))

    @property
    def _head_settings(self) -> HeadSettings:
        settings = self.settings
        return HeadSettings(max_degree=settings.max_degree, gap=self.data.gap, seed=settings.seed, n_jobs=1)

    def _averages(self, i: int, problem: Problem) -> Averages:
        """Return the i-th target in its own units, with the weights and the held-out rows of a problem."""
        data, weight = self.data, problem.samples.weights.astype(np.float64)
        own = data.targets[:, [i]], weight, data.derivatives[:, [i]]
        return Averages(data.windows, data.centres, *own, problem.held_out)

    def _columns(self, mask: np.ndarray) -> FloatArray:
        """Return the inputs of the groups of a mask, (samples, inputs)."""
        return np.ascontiguousarray(self.data.inputs[:, mask[self.data.labels]])

    def _support(self, i: int, problem: Problem, groups: Groups, noise: float) -> tuple[np.ndarray, float]:
        """Return the groups (a mask) that a target depends on, and the held-out error with them.

        Tests find little along a short trajectory, which has few independent parts. If more is left than noise (a
        share of the variance), more groups are therefore tried, and kept if they predict held-out rows much better.
        Where full polynomials of what was found predict better than sums of simple terms, they decide what is needed.
        """
        if problem.constant or not groups.usable.any():
            return groups.included, 0.0
        search_settings = VariableSettings(seed=self.settings.seed)
        proposal, data = propose(problem, groups, None)
        closed = closed_search(data, groups.labels, search_settings)
        support = settled(closed, proposal.nested, groups.included, TIE if proposal.dependent else 0.0)
        if support.held_out_error > max(ENOUGH * noise, SMALL):
            data = problem  # what is wild to a poor model may be right
            closed = closed_search(data, groups.labels, search_settings)
            other = better_support(closed, data, groups, support.groups)
            support = settled(closed, [support.groups, other], groups.included, TIE)
        if 1 < support.groups[groups.labels].sum() <= MOST_FOR_POLYNOMIALS:
            full = SupportSearch(PolynomialJudge.of(data, self.terms), data.samples, groups.labels)
            simple, better = (search.judge.judge([support.groups])[0] for search in (closed, full))
            if full.error(better) < closed.error(simple):
                support = settled(full, [support.groups], groups.included, TIE)
        mask, error = support.groups, support.held_out_error
        if error > max(ENOUGH * noise, SMALL):
            return self._by_terms(self._averages(i, problem), groups, mask, error, noise)
        return mask, error

    def _by_terms(
        self, averages: Averages, groups: Groups, found: np.ndarray, error: float, noise: float
    ) -> tuple[np.ndarray, float]:
        """Return the groups (a mask) in the terms of a sparse polynomial of all groups, if it halves the error.

        Judges compare supports by functions with many terms. Few windows, a single transient, or oscillators that
        nearly keep step do not determine these, but may determine the few terms of an equation. If there are too many
        groups for all their products, those that were not found enter by lines.
        """
        every = groups.usable | found
        columns = every[groups.labels]
        lines = ~found[groups.labels][columns]
        n_bent, n_lines = int((~lines).sum()), int(lines.sum())
        if monomial_count(n_bent + n_lines, DEGREE_OF_ALL) <= MOST_OF_ALL:
            lines[:] = False
        elif not n_bent or monomial_count(n_bent, DEGREE_OF_ALL) + n_lines > MOST_WITH_LINES:
            return found, error
        known = self._polynomial(averages, found, noise)[1] if found.any() else 1.0
        if known <= max(ENOUGH * noise, SMALL):
            return found, error
        head, lowest = self._polynomial(averages, every, noise, lines)
        if lowest > 0.5 * min(known, error):
            return found, error
        mask = groups.included.copy()
        mask[groups.labels[columns][head.polynomial.exponents.any(axis=0)]] = True
        return mask, lowest

    def _polynomial(
        self, averages: Averages, mask: np.ndarray, noise: float, lines: np.ndarray | None = None
    ) -> tuple[PolynomialHead, float]:
        """Return a sparse polynomial of the groups of a mask, and its held-out error."""
        head, errors = WeakPolynomials.of(self._columns(mask), averages, self._head_settings, lines).choose(noise)
        return head, averages.held_out.mean(errors)
