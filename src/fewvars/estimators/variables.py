"""The common part of the few-variables regressor and classifier: which inputs may be selected, search and evidence."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from fewvars._common.validation import check_choice, check_real, check_whole
from fewvars.columns.encoding import ERROR, MISSING
from fewvars.engine.losses import SQUARED
from fewvars.engine.penalties import group_labels
from fewvars.estimators.assessment import Assessment
from fewvars.estimators.autoregression import autoregression, better_autoregression, own_past
from fewvars.estimators.base import BlockedEstimator, Search
from fewvars.estimators.fitted_variables import FittedVariables
from fewvars.estimators.inputs import column_names
from fewvars.estimators.preparation import Prepared
from fewvars.estimators.repeated_search import assess_by_repetition, is_quick_to_repeat
from fewvars.estimators.selectable import selectable_groups
from fewvars.heads import HeadChoice, PolynomialHead, SumHead, Trial, agree, follow
from fewvars.search.held_out import EVIDENCE, TIE
from fewvars.search.variables.evidence import CERTAIN, WEAK
from fewvars.search.variables.judges import JUDGES
from fewvars.search.variables.ridge_judge import RidgeJudge
from fewvars.search.variables.search import Variables, closed_search, find_variables, reconsidered
from fewvars.search.variables.settings import AUTO, MOMENTUM, SOLVERS, Groups, VariableSettings
from fewvars.search.variables.stand_ins import stand_ins
from fewvars.search.variables.tested import false_discovery_rates, interacting


@dataclass(kw_only=True, repr=False, eq=False)
class FewVariables(FittedVariables, BlockedEstimator):
    """Finds the few inputs that an output depends on. Subclasses define the loss and the predictions."""

    n_variables: int | None = None
    include: Any = None
    exclude: Any = None
    fdr: float | None = None
    judge: str = AUTO
    feature_groups: Any = None
    types: Any = None
    missing: str = ERROR
    unseen: str = ERROR
    solver: str = MOMENTUM
    max_candidates: int = 16
    max_inputs: int = 300

    _MISSING = MISSING
    _null_model: ClassVar[str]  # in words

    def _settings(self) -> VariableSettings:
        check_choice("solver", self.solver, SOLVERS)
        check_choice("judge", self.judge, (AUTO, *JUDGES))
        if self.fdr is not None:
            check_real("fdr", self.fdr, strict=True, below=1.0)
        check_whole("max_inputs", self.max_inputs)
        check_whole("max_candidates", self.max_candidates, minimum=2)
        return VariableSettings(
            **self._checked_options(self._loss),
            n_variables=self.n_variables,
            max_candidates=self.max_candidates,
            max_inputs=self.max_inputs,
            solver=self.solver,
            judge=self.judge,
        )

    def _column_groups(self) -> np.ndarray:
        """Return the group of each column of X, (n_features,)."""
        return group_labels(self.feature_groups, self.n_features_in_, name="feature_groups")

    def _search(self, data: Prepared) -> Search:
        columns = self._column_groups()
        groups = selectable_groups(self, columns, self._of_columns(columns), data.inputs)
        return lambda problem, settings, progress: find_variables(problem, groups, settings, progress)

    def _store(self, data: Prepared, found: Variables, settings: VariableSettings) -> None:
        q_values = false_discovery_rates(data.problem, found.groups, settings)
        if self.fdr is not None:
            found = found.with_support(found.groups.included | (q_values <= self.fdr), data.problem, settings)
        elif self._tests_are_exact(data) and self.n_variables is None and found.judge == RidgeJudge.name:
            missed = found.groups.usable & ~found.support.groups & (q_values <= CERTAIN)
            if missed.any():
                found = reconsidered(data.problem, found, missed, settings)
        support, labels = found.support, self._column_groups()
        self.q_values_ = q_values[labels]
        self.judge_ = found.judge
        self.support_ = support.groups[labels]
        samples = data.problem.samples
        unit = samples.loss.error_unit(samples.Y, samples.weights)
        self.feature_importances_ = support.importances[labels] / unit
        self.feature_importances_se_ = support.importances_se[labels] / unit
        self.support_sizes_ = support.sizes
        self.support_errors_, self.support_errors_se_ = support.errors / unit, support.errors_se / unit
        self.held_out_error_ = support.held_out_error / unit
        self.path_ = replace(found.path, labels=labels)
        self.n_iter_, self.lambda_ = found.n_updates, found.strength
        if not support.groups.any() and self.n_variables != 0:
            self._warn_of_nothing()

    def _warn_of_nothing(self) -> None:
        reason = f"predicts y on held-out rows better than {self._null_model} does"
        if self.fdr is not None:
            reason = f"has a q-value of at most fdr={self.fdr:g}"
        warnings.warn(
            f"No input {reason}: nothing was selected, and predictions are the same for all rows.",
            UserWarning,
            stacklevel=5,
        )

    def _may_find_nothing(self) -> bool:
        return self.n_variables is None and self.include is None and self.fdr is None and bool(self.support_.any())

    def _tests_are_exact(self, data: Prepared) -> bool:
        """Return whether small q-values can be trusted: rows are independent, and errors are squared."""
        return data.plan.shuffle and self._loss == SQUARED

    def _is_certain(self, data: Prepared) -> bool:
        return self._tests_are_exact(data) and bool((self.q_values_[self.support_] <= CERTAIN).any())

    def _find_nothing(self) -> None:
        kept = [name for name, selected in zip(column_names(self), self.support_, strict=True) if selected]
        self.notes_ += (
            f"The search selected {', '.join(kept)}, but when it is repeated without part of the rows, the function "
            f"that it finds predicts these rows no better than {self._null_model} does.",
        )
        self.support_ = np.zeros_like(self.support_)
        self.feature_importances_ = np.zeros_like(self.feature_importances_)
        self.feature_importances_se_ = np.zeros_like(self.feature_importances_se_)
        self._warn_of_nothing()

    def _votes(self, found: Variables) -> np.ndarray:
        return found.support.groups[self.path_.labels].astype(float)

    def _agree(self, data: Prepared, found: Variables, choice: HeadChoice) -> None:
        form = self._head.as_sum()
        if form is not None:
            weak = EVIDENCE if data.problem.ordered else TIE  # tests of independent rows have spoken for it
            certain = (self.q_values_ <= CERTAIN) & self._tests_are_exact(data)
            trial = replace(choice.trial, held_out=data.problem.reserve)
            self._agree_with(form, trial, found.groups, weak=weak, certain=certain)

    def _agree_with(
        self, form: SumHead, trial: Trial, groups: Groups, *, weak: float = 0.0, certain: np.ndarray | None = None
    ) -> None:
        """Match the support to a sum of terms, and measure what each variable adds to it.

        Variables with a large q-value leave it unless the error rises by `weak` standard errors without them. Those
        that are `certain` (n_features,) stay.
        """
        members, labels = np.unique(groups.labels[self._of_columns(self.support_)], return_inverse=True)
        asked = groups.included[members] | (self.n_variables is not None) | (self.fdr is not None)
        columns, used = self.path_.labels, np.zeros(groups.usable.size, bool)
        if certain is not None:
            asked = asked | np.isin(members, columns[certain])
        if self._loss == SQUARED:
            needed = np.array([weak * (self.q_values_[columns == group][0] > WEAK) for group in members])
            agreed = agree(form, trial, labels, asked, needed, self.max_degree)
            self._head, used[members] = agreed.head, agreed.used
            rise, spread = np.zeros((2, used.size))
            rise[members], spread[members] = agreed.importances, agreed.importances_se
            self.feature_importances_, self.feature_importances_se_ = rise[columns], spread[columns]
        else:  # under other losses coefficients depend on a ridge, so the importances are those of the search
            self._head, used[members] = follow(form, trial, labels, asked)
            self.feature_importances_ = np.where(used[columns], self.feature_importances_, 0.0)
            self.feature_importances_se_ = np.where(used[columns], self.feature_importances_se_, 0.0)
        self.head_ = self._head.name
        self.support_ = used[columns]

    def _assessment(
        self, data: Prepared, found: Variables, choice: HeadChoice, settings: VariableSettings
    ) -> Assessment:
        if choice.kind is None or not is_quick_to_repeat(data, found):
            return super()._assessment(data, found, choice, settings)
        repeated = assess_by_repetition(data, found, choice, settings, fdr=self.fdr, max_degree=self.max_degree)
        if repeated.explains:
            return repeated
        own = super()._assessment(data, found, choice, settings)  # a part of the rows may be too small to find anything
        return own if own.clearly_beats_null else repeated

    def _keep_or_replace(self, data: Prepared, found: Variables, own: Assessment) -> Assessment:
        """Replace the function by a linear function of all lags of the target if that forecasts better."""
        if self._loss != SQUARED or self.head not in (AUTO, PolynomialHead.name) or not self._may_find_nothing():
            return own
        lags = own_past(data, found.groups)
        linear = better_autoregression(data, lags[found.groups.labels], own)
        if linear is None:
            return own
        trial = linear.trial
        self.support_ = lags[self.path_.labels]
        self._agree_with(autoregression(trial.X, trial.y, trial.weight), trial, found.groups)
        self.head_errors_ = {**self.head_errors_, self.head_: linear.error}
        self.notes_ += (
            "A linear function of the earlier values of the target forecasts later rows better than the function that "
            "the search found, and replaces it.",
        )
        return linear

    def _interpret(self, data: Prepared, found: Variables, settings: VariableSettings) -> None:
        """Find which selected variables act together, and which others could stand in for them."""
        labels = found.groups.labels
        mask = np.isin(np.arange(found.groups.usable.size), self.path_.labels[self.support_])
        pairs = self._head.interactions(labels[self._of_columns(self.support_)])
        if pairs is None:  # the function cannot tell
            pairs = interacting(data.problem, labels, mask)
        self.interactions_ = self._named(pairs)
        search = closed_search(data.problem, labels, settings)
        self.stand_ins_ = self._named(stand_ins(data.problem, labels, mask, search))

    def _named(self, pairs: Iterable[tuple[int, int]]) -> tuple[tuple[str, str], ...]:
        """Return pairs of groups as pairs of names; a group is named after its inputs."""
        names, labels = column_names(self), self.path_.labels
        of_group = [" + ".join(names[j] for j in np.flatnonzero(labels == g)) for g in range(labels.max() + 1)]
        return tuple((of_group[g], of_group[h]) for g, h in pairs)
