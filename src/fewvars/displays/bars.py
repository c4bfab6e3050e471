"""One number per variable, with its uncertainty: importances and selection frequencies."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewvars.displays.figure import BLUE, PALE, findings_of, fitted_attribute, new_axes, quiet
from fewvars.displays.names import distinct_names, label, names_of
from fewvars.estimators.findings import SHARE
from fewvars.search.variables.evidence import WEAK


class ImportanceDisplay:
    """Importances of variables with standard errors, the most important on top.

    Parameters
    ----------
    importances : (d,)
    standard_errors : (d,), optional
    names : sequence of d str, optional
    shown : (d,) bool, optional
        Which variables to draw; by default those whose importance is not zero.
    unit : str
        The unit of the importances, in words.
    """

    def __init__(
        self,
        importances: ArrayLike,
        standard_errors: ArrayLike | None = None,
        *,
        names: Sequence[str] | None = None,
        shown: ArrayLike | None = None,
        q_values: ArrayLike | None = None,
        unit: str = SHARE,
    ) -> None:
        self.unit = unit
        self.importances = np.asarray(importances, float)
        self.q_values = None if q_values is None else np.asarray(q_values, float)
        d = self.importances.size
        self.standard_errors = np.zeros(d) if standard_errors is None else np.asarray(standard_errors, float)
        if self.standard_errors.shape != self.importances.shape:
            raise ValueError(
                f"standard_errors has shape {self.standard_errors.shape}: give one for each of the {d} importances."
            )
        self.names = distinct_names(names, d)
        self.shown = self.importances != 0 if shown is None else np.asarray(shown, bool)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, feature_names: Sequence[str] | None = None, ax: Any = None, max_shown: int = 20
    ) -> "ImportanceDisplay":
        """Draw the importances of the selected variables of a fitted model."""
        return cls.of(estimator, feature_names=feature_names).plot(ax=ax, max_shown=max_shown)

    @classmethod
    def of(cls, estimator: Any, *, feature_names: Sequence[str] | None = None) -> "ImportanceDisplay":
        """Return what would be drawn, without drawing it."""
        importances = fitted_attribute(estimator, "feature_importances_", cls.__name__)
        names = names_of(estimator, feature_names)
        return cls(
            importances,
            estimator.feature_importances_se_,
            names=names,
            shown=estimator.support_,
            q_values=estimator.findings().q_values,
            unit=estimator.findings().error_unit,
        )

    def plot(self, ax: Any = None, *, max_shown: int = 20) -> "ImportanceDisplay":
        """Draw onto `ax`, at most `max_shown` variables."""
        order = np.flatnonzero(self.shown)
        order = order[np.argsort(-self.importances[order], kind="stable")][:max_shown]
        ax = new_axes(ax, (6.4, 1.2 + 0.32 * max(order.size, 2)))
        rows = np.arange(order.size)
        weak = np.zeros(order.size, bool) if self.q_values is None else self.q_values[order] > WEAK
        for part, alpha in ((~weak, 0.85), (weak, 0.35)):
            ax.barh(rows[part], self.importances[order][part], height=0.56, color=BLUE, alpha=alpha)
        ax.errorbar(
            self.importances[order],
            rows,
            xerr=self.standard_errors[order],
            fmt="none",
            ecolor=ax.xaxis.label.get_color(),
            elinewidth=1.1,
            capsize=3,
        )
        ax.set_xlabel(f"rise of held-out error when left out\n({self.unit}, ± s.e.)")
        names = [self.names[j] + " (weak)" * bool(faint) for j, faint in zip(order, weak, strict=True)]
        _finish_rows(ax, names, int(self.shown.sum()), "no variable selected")
        self.ax_, self.figure_ = ax, ax.figure
        return self


class FrequencyDisplay:
    """How often each variable is selected when the data are resampled, the most frequent on top.

    Parameters
    ----------
    frequencies : (d,) between 0 and 1
    selected : (d,) bool
        Variables selected on all data, in colour.
    names : sequence of d str, optional
    """

    def __init__(self, frequencies: ArrayLike, selected: ArrayLike, *, names: Sequence[str] | None = None) -> None:
        self.frequencies = np.asarray(frequencies, float)
        self.selected = np.asarray(selected, bool)
        if self.selected.shape != self.frequencies.shape:
            raise ValueError(f"selected has shape {self.selected.shape}: frequencies has {self.frequencies.shape}.")
        self.names = distinct_names(names, self.frequencies.size)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, feature_names: Sequence[str] | None = None, ax: Any = None, max_shown: int = 20
    ) -> "FrequencyDisplay":
        """Draw the selection frequencies of a model that was fitted with `n_resamples`.

        Of a `FewDirectionsRegressor`: how often 0, 1, 2, ... directions were found.
        """
        return cls.of(estimator, feature_names=feature_names).plot(ax=ax, max_shown=max_shown)

    @classmethod
    def of(cls, estimator: Any, *, feature_names: Sequence[str] | None = None) -> "FrequencyDisplay":
        """Return what would be drawn, without drawing it."""
        frequencies = fitted_attribute(estimator, "selection_frequencies_", cls.__name__)
        found = findings_of(estimator, cls.__name__)
        if found.kind == "variables":
            return cls(frequencies, found.selected, names=names_of(estimator, feature_names))
        counts = np.arange(len(frequencies))
        return cls(frequencies, counts == found.count, names=[f"{k} directions" for k in counts])

    def plot(self, ax: Any = None, *, max_shown: int = 20) -> "FrequencyDisplay":
        """Draw onto `ax`, at most `max_shown` variables."""
        seen = np.flatnonzero((self.frequencies > 0) | self.selected)
        order = seen[np.lexsort((~self.selected[seen], -self.frequencies[seen]))][:max_shown]
        ax = new_axes(ax, (6.4, 1.2 + 0.32 * max(order.size, 2)))
        colours = [BLUE if self.selected[j] else PALE for j in order]
        ax.barh(np.arange(order.size), self.frequencies[order], height=0.56, color=colours)
        ax.set_xlim(0, 1)
        ax.set_xlabel("share of resamples (colour: found on all data)")
        _finish_rows(ax, [self.names[j] for j in order], seen.size, "nothing selected in any resample")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _finish_rows(ax: Any, names: Sequence[str], total: int, nothing: str) -> None:
    """Label the rows, from the top, and note how many were left out."""
    quiet(ax, "x")
    ax.set_yticks(range(len(names)), [label(name) for name in names])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(max(len(names), 1) - 0.4, -0.6)
    if not names:
        ax.text(0.5, 0.5, nothing, ha="center", va="center", transform=ax.transAxes)
    elif total > len(names):
        ax.set_title(f"the first {len(names)} of {total}", loc="right", fontsize="small")
