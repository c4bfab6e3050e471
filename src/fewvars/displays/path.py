"""The path: at which strength of the penalty each variable is removed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewvars.displays.figure import (
    GREY,
    PALE,
    draw_ends,
    fitted_attribute,
    new_axes,
    only_text,
    plain_ticks,
    quiet,
)
from fewvars.displays.names import distinct_names, group_names, label, names_of


class PathDisplay:
    """Norms of the input groups over the strength of the penalty.

    A line ends where the penalty removes its group. Selected groups are coloured and named, the others are grey.

    Parameters
    ----------
    strengths : (m,)
    norms : (m, groups)
    selected : (groups,) bool
    names : sequence of str, optional
        One for each group.
    lambda_ : float, optional
        The chosen strength, marked by a line.
    """

    def __init__(
        self,
        strengths: ArrayLike,
        norms: ArrayLike,
        selected: ArrayLike,
        *,
        names: Sequence[str] | None = None,
        lambda_: float | None = None,
    ) -> None:
        self.strengths = np.asarray(strengths, float)
        self.norms = np.asarray(norms, float)
        self.selected = np.asarray(selected, bool)
        if self.norms.shape != (self.strengths.size, self.selected.size):
            raise ValueError(
                f"norms has shape {self.norms.shape}: give one row for each of the {self.strengths.size} strengths "
                f"and one column for each of the {self.selected.size} entries of selected."
            )
        self.names = distinct_names(names, self.selected.size)
        self.lambda_ = lambda_

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, feature_names: Sequence[str] | None = None, ax: Any = None, max_labels: int = 12
    ) -> "PathDisplay":
        """Draw the path of a fitted `FewVariablesRegressor`."""
        return cls.of(estimator, feature_names=feature_names).plot(ax=ax, max_labels=max_labels)

    @classmethod
    def of(cls, estimator: Any, *, feature_names: Sequence[str] | None = None) -> "PathDisplay":
        """Return what would be drawn, without drawing it."""
        path = fitted_attribute(estimator, "path_", cls.__name__)
        if getattr(path, "labels", None) is None:
            raise ValueError(f"PathDisplay draws norms of inputs; the path of {type(estimator).__name__} has none.")
        groups = np.bincount(path.labels, estimator.support_) > 0
        names = group_names(names_of(estimator, feature_names), path.labels)
        return cls(path.strengths, path.magnitudes, groups, names=names, lambda_=estimator.lambda_)

    def plot(self, ax: Any = None, *, max_labels: int = 12) -> "PathDisplay":
        """Draw onto `ax`; of more than `max_labels` selected groups those that last longest are named."""
        from matplotlib.collections import LineCollection

        ax = new_axes(ax, (7.0, 4.2))
        self.ax_, self.figure_ = ax, ax.figure
        quiet(ax)
        ax.set_xlabel("strength of the penalty λ")
        ax.set_ylabel("norm of first-layer weights")
        if not self.norms.any():
            only_text(ax, "no path: nothing to select from")
            return self
        alive = np.where(self.norms > 0, self.norms, np.nan)
        others = [np.column_stack([self.strengths, alive[:, g]]) for g in np.flatnonzero(~self.selected)]
        ax.set_xscale("log")
        ax.set_yscale("log")
        shown = alive[:, self.selected] if self.selected.any() else alive
        low = max(0.5 * np.nanmin(shown), 1e-3 * np.nanmax(alive)) if np.isfinite(shown).any() else np.nanmin(alive)
        ax.set_ylim(low, 1.3 * np.nanmax(alive))
        ax.set_xlim(self.strengths[0], max(self.strengths[-1], self.strengths[0] * 1.01))
        if others:
            name = "other variables" if self.selected.any() else "variables, none of them selected"
            ax.add_collection(LineCollection(others, colors=PALE, linewidths=0.8, label=name), autolim=False)
        self._draw_selected(ax, alive, max_labels)
        if self.lambda_:
            ax.axvline(self.lambda_, color=GREY, linewidth=1.0, linestyle=(0, (4, 3)), label="chosen λ")
        plain_ticks(ax.xaxis)
        plain_ticks(ax.yaxis)
        if ax.get_legend_handles_labels()[0]:
            ax.legend(loc="lower left", frameon=False, fontsize="small")
        return self

    def _draw_selected(self, ax: Any, alive: np.ndarray, max_labels: int) -> None:
        chosen = np.flatnonzero(self.selected & np.isfinite(alive).any(axis=0))
        last = np.array([np.flatnonzero(np.isfinite(alive[:, g]))[-1] for g in chosen], int)
        chosen = chosen[np.lexsort((-alive[last, chosen], -last))]
        texts = [label(self.names[g], 16) for g in chosen]
        draw_ends(ax, self.strengths, alive[:, chosen], texts, max_labels)
