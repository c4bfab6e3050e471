"""Fitted functions of few variables: which columns they use, their gradient, equation and findings."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from fewvars._common.validation import FloatArray
from fewvars.estimators.findings import Findings
from fewvars.estimators.fitted import FittedFunction
from fewvars.estimators.inputs import column_names


class FittedVariables(SelectorMixin, FittedFunction):
    """A head on selected columns of the inputs."""

    path_: Any
    support_: np.ndarray
    support_sizes_: np.ndarray
    support_errors_: FloatArray
    support_errors_se_: FloatArray
    feature_importances_: FloatArray
    feature_importances_se_: FloatArray
    interactions_: tuple[tuple[str, str], ...]
    stand_ins_: tuple[tuple[str, str], ...]

    def _of_columns(self, values: np.ndarray) -> np.ndarray:
        """Return values of columns of X (n_features,) for the inputs that they became, (inputs,)."""
        return values if self._encoding is None else values[self._encoding.sources]

    def _coordinates(self, X: FloatArray) -> FloatArray:
        return X[:, self._of_columns(self.support_)]

    def _used(self) -> np.ndarray:
        return self.support_

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
