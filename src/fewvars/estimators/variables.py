"""The common part of the few-variables regressor and classifier: which inputs may be selected, search and evidence."""

import warnings
from collections.abc import Iterable, Set
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from fewvars._common.validation import FloatArray, check_choice, check_real, check_whole
from fewvars.columns.encoding import MISSING
from fewvars.engine.losses import SQUARED
from fewvars.engine.penalties import group_labels
from fewvars.estimators.assessment import Assessment
from fewvars.estimators.autoregression import autoregression, better_autoregression, own_past
from fewvars.estimators.base import BlockedEstimator, Search
from fewvars.estimators.findings import WEAK, Findings
from fewvars.estimators.inputs import column_names, positions
from fewvars.estimators.preparation import Prepared
from fewvars.estimators.repeated_search import assess_by_repetition, is_quick_to_repeat
from fewvars.heads import HeadChoice, PolynomialHead, Trial, agree, follow
from fewvars.search.problem import Problem
from fewvars.search.variables.judges import JUDGES
from fewvars.search.variables.search import Variables, closed_search, find_variables, refitted_errors
from fewvars.search.variables.settings import AUTO, SOLVERS, Groups, VariableSettings
from fewvars.search.variables.stand_ins import stand_ins
from fewvars.search.variables.tested import false_discovery_rates, interacting


class FewVariables(SelectorMixin, BlockedEstimator):
    """Finds the few inputs that an output depends on. Subclasses define the loss and the predictions."""

    # Parameters of all these estimators, stored by the constructors of the subclasses.
    n_variables: int | None
    include: Any
    exclude: Any
    fdr: float | None
    judge: str
    feature_groups: Any
    solver: str
    max_candidates: int
    max_inputs: int

    interactions_: tuple[tuple[str, str], ...]
    stand_ins_: tuple[tuple[str, str], ...]

    _MISSING = MISSING
    _null_model: str  # in words

    def _settings(self) -> VariableSettings:
        check_choice("solver", self.solver, SOLVERS)
        check_choice("judge", self.judge, (AUTO, *JUDGES))
        if self.fdr is not None:
            check_real("fdr", self.fdr, strict=True, below=1.0)
        check_whole("max_inputs", self.max_inputs)
        check_whole("max_candidates", self.max_candidates, minimum=2)
        return VariableSettings(
            **self._checked_options(),
            n_variables=self.n_variables,
            max_candidates=self.max_candidates,
            max_inputs=self.max_inputs,
            solver=self.solver,
            judge=self.judge,
        )

    def _of_columns(self, values: np.ndarray) -> np.ndarray:
        """Return values of columns of X (n_features,) for the inputs that they became, (inputs,)."""
        return values if self._encoding is None else values[self._encoding.sources]

    def _column_groups(self) -> np.ndarray:
        """Return the group of each column of X, (n_features,)."""
        return group_labels(self.feature_groups, self.n_features_in_, name="feature_groups")

    def _groups(self, data: Prepared) -> Groups:
        """Return which groups of inputs may be selected."""
        labels, scaling = self._column_groups(), data.inputs.scaling
        include = labels[self._positions("include", self.include)]
        exclude = labels[self._positions("exclude", self.exclude)]
        if np.intersect1d(include, exclude).size:
            raise ValueError(
                f"include={self.include!r} and exclude={self.exclude!r} name the same input, or inputs of one group: "
                "leave it out of one of them."
            )
        groups = Groups.of(self._of_columns(labels), include, exclude, scaling.apply(data.inputs.X), scaling.constant)
        if self.n_variables is not None:
            check_whole("n_variables", self.n_variables, minimum=0)
            fewest, most = int(groups.included.sum()), int(groups.usable.sum())
            if self.n_variables > most:
                raise ValueError(
                    f"n_variables={self.n_variables}: there are only {most} to choose from that are not constant and "
                    "do not repeat another; ask for at most that many."
                )
            if self.n_variables < fewest:
                raise ValueError(f"n_variables={self.n_variables}: include names {fewest}; ask for at least that many.")
        return groups

    def _positions(self, argument: str, chosen: Any) -> np.ndarray:
        if chosen is None:
            return np.zeros(0, int)
        d = self.n_features_in_
        items = [chosen] if np.ndim(chosen) == 0 and not isinstance(chosen, Set) else list(chosen)
        if len(items) == d and all(isinstance(item, bool | np.bool_) for item in items):
            return np.flatnonzero(items)
        return np.array(positions(self, argument, items, f", or a mask of {d} booleans"), int)

    def _search(self, data: Prepared) -> Search:
        groups = self._groups(data)
        return lambda problem, settings, progress: find_variables(problem, groups, settings, progress)

    def _refitted_errors(self, found: Variables, problem: Problem, settings: VariableSettings) -> FloatArray:
        return refitted_errors(found, problem, settings)

    def _store(self, data: Prepared, found: Variables, settings: VariableSettings) -> None:
        q_values = false_discovery_rates(data.problem, found.groups, settings)
        if self.fdr is not None:
            found = found.with_support(found.groups.included | (q_values <= self.fdr), data.problem, settings)
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

    def _find_nothing(self) -> None:
        kept = [name for name, selected in zip(column_names(self), self.support_, strict=True) if selected]
        self.notes_ += (
            f"The search selected {', '.join(kept)}, but when it is repeated without part of the rows, the function "
            f"that it finds predicts these rows no better than {self._null_model} does.",
        )
        self.support_ = np.zeros_like(self.support_)
        self.feature_importances_ = np.zeros_like(self.feature_importances_)
        self.feature_importances_se_ = np.zeros_like(self.feature_importances_se_)
        self.interactions_ = self.stand_ins_ = ()
        self._warn_of_nothing()

    def _coordinates(self, X: FloatArray) -> FloatArray:
        return X[:, self._of_columns(self.support_)]

    def _used(self) -> np.ndarray:
        return self.support_

    def _votes(self, found: Variables) -> np.ndarray:
        return found.support.groups[self.path_.labels].astype(float)

    def _interpret(self, data: Prepared, found: Variables, choice: HeadChoice, settings: VariableSettings) -> None:
        """Match the support to the polynomial, and find interactions and stand-ins."""
        if isinstance(self._head, PolynomialHead):
            self._agree_with(self._head, replace(choice.trial, held_out=data.problem.reserve), found.groups)
        self._relate(data, found, settings)

    def _relate(self, data: Prepared, found: Variables, settings: VariableSettings) -> None:
        """Find which selected variables act together, and which others could stand in for them."""
        labels, polynomial = found.groups.labels, self._head.as_polynomial()
        mask = np.isin(np.arange(found.groups.usable.size), self.path_.labels[self.support_])
        if polynomial is None:
            pairs = interacting(data.problem, labels, mask)
        else:  # what the function itself says
            pairs = polynomial.interactions(labels[self._of_columns(self.support_)])
        self.interactions_ = self._named(pairs)
        search = closed_search(data.problem, labels, settings)
        self.stand_ins_ = self._named(stand_ins(data.problem, labels, mask, search))

    def _agree_with(self, head: PolynomialHead, trial: Trial, groups: Groups, *, trusted: bool = False) -> None:
        """Match the support to the polynomial, and measure what each variable adds to it.

        Variables that are not `trusted` leave it if there is little evidence for them.
        """
        members, labels = np.unique(groups.labels[self._of_columns(self.support_)], return_inverse=True)
        asked = groups.included[members] | (self.n_variables is not None) | (self.fdr is not None)
        columns, used = self.path_.labels, np.zeros(groups.usable.size, bool)
        if self._loss == SQUARED:
            weak = np.array([not trusted and self.q_values_[columns == group][0] > WEAK for group in members])
            agreed = agree(head, trial, labels, asked, weak, self.max_degree)
            self._head, used[members] = agreed.head, agreed.used
            rise, spread = np.zeros((2, used.size))
            rise[members], spread[members] = agreed.importances, agreed.importances_se
            self.feature_importances_, self.feature_importances_se_ = rise[columns], spread[columns]
        else:  # under other losses coefficients depend on a ridge, so the importances are those of the search
            self._head, used[members] = follow(head, trial, labels, asked)
            self.feature_importances_ = np.where(used[columns], self.feature_importances_, 0.0)
            self.feature_importances_se_ = np.where(used[columns], self.feature_importances_se_, 0.0)
        self.head_ = self._head.name
        self.support_ = used[columns]

    def _assessment(
        self, data: Prepared, found: Variables, choice: HeadChoice, settings: VariableSettings
    ) -> Assessment:
        own = self._own_assessment(data, found, choice, settings)
        if self._loss != SQUARED or self.head not in (AUTO, PolynomialHead.name) or not self._may_find_nothing():
            return own
        lags = own_past(data, found.groups)
        linear = better_autoregression(data, lags[found.groups.labels], own)
        if linear is None:
            return own
        trial = linear.trial
        self.support_ = lags[self.path_.labels]
        self._agree_with(autoregression(trial.X, trial.y, trial.weight), trial, found.groups, trusted=True)
        self._relate(data, found, settings)
        self.head_errors_ = {**self.head_errors_, self.head_: linear.error}
        self.notes_ += (
            "A linear function of the earlier values of the target forecasts later rows better than the function that "
            "the search found, and replaces it.",
        )
        return linear

    def _own_assessment(
        self, data: Prepared, found: Variables, choice: HeadChoice, settings: VariableSettings
    ) -> Assessment:
        """Assess what the search found."""
        if choice.kind is None or not is_quick_to_repeat(data, found):
            return super()._assessment(data, found, choice, settings)
        repeated = assess_by_repetition(data, found, choice, settings)
        if repeated.explains:
            return repeated
        own = super()._assessment(data, found, choice, settings)  # a part of the rows may be too small to find anything
        return own if own.clearly_beats_null else repeated

    def _named(self, pairs: Iterable[tuple[int, int]]) -> tuple[tuple[str, str], ...]:
        """Return pairs of groups as pairs of names; a group is named after its inputs."""
        names, labels = column_names(self), self.path_.labels
        of_group = [" + ".join(names[j] for j in np.flatnonzero(labels == g)) for g in range(labels.max() + 1)]
        return tuple((of_group[g], of_group[h]) for g, h in pairs)

    @property
    def levels_(self) -> dict[str, tuple[str, ...]]:
        """The levels of each category by the name of its column, the base first."""
        check_is_fitted(self, "support_")
        names = column_names(self)
        return {} if self._encoding is None else {names[j]: found for j, found in self._encoding.levels().items()}

    def gradient(self, X: ArrayLike) -> FloatArray:
        """Return the derivatives of the prediction by all columns, (n, d) or (n, outputs, d); NaN for categories."""
        derivatives = self._evaluate("gradient", X)
        full = np.zeros((*derivatives.shape[:2], self.n_features_in_))
        own = self._of_columns(np.arange(self.n_features_in_))[self._of_columns(self.support_)]
        columns, first = np.unique(own, return_index=True)
        full[:, :, columns] = derivatives[:, :, first]
        if self._encoding is not None:
            full[:, :, [j for j in self._encoding.levels() if self.support_[j]]] = np.nan
        return self._shaped(full)

    def equation(self, names: Any = None) -> str | list[str]:
        """Return the polynomial as text in other names, one for each input of X; one text for each output."""
        check_is_fitted(self, "support_")
        if names is not None and len(names) != self.n_features_in_:
            raise ValueError(f"names has {len(names)} entries: give one for each of the {self.n_features_in_} inputs.")
        return self._equation(self.findings().head_names(names))

    def findings(self) -> Findings:
        """Return which variables were found, and the evidence for them."""
        common = self._common_findings()
        chosen = np.flatnonzero(self.support_)
        order = chosen[np.argsort(-self.feature_importances_[chosen], kind="stable")]
        return Findings(
            kind="variables",
            names=tuple(common["inputs"][j] for j in order),
            selected=self.support_,
            order=order,
            importances=self.feature_importances_[order],
            importances_se=self.feature_importances_se_[order],
            q_values=getattr(self, "q_values_", None),  # models from older files have none
            interactions=getattr(self, "interactions_", ()),
            stand_ins=getattr(self, "stand_ins_", ()),
            sizes=self.support_sizes_,
            errors=self.support_errors_,
            errors_se=self.support_errors_se_,
            chosen_size=np.unique(self.path_.labels[self.support_]).size,
            **common,
        )

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "support_")
        return self.support_
