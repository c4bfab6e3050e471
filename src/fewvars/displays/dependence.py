"""How the prediction depends on each selected variable."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fewvars.displays.figure import BLUE, GREY, PALE, fitted_attribute, new_axes, only_text, quiet, split_axes
from fewvars.displays.names import distinct_names, label, names_of
from fewvars.displays.partial import Dependence, partial_dependence

MOST_TICKS = 6  # levels of a category that get a label


class DependenceDisplay:
    """Partial dependence on each variable, one panel each, on a common scale.

    The blue line is the average over the data. A thin line is one sample whose other variables stay as they
    were measured; thin lines that are not parallel show an interaction. The ticks mark deciles of the variable.
    The levels of a category are side by side, with dots for the averages.

    Parameters
    ----------
    dependences : list of Dependence
    names : sequence of str, optional
        One for each dependence.
    target : str
        Name of the output.
    """

    def __init__(
        self, dependences: Sequence[Dependence], *, names: Sequence[str] | None = None, target: str = "y"
    ) -> None:
        self.dependences = list(dependences)
        if names is None:
            names = [f"x{found.variable}" for found in self.dependences]
        self.names = distinct_names(names, len(self.dependences))
        self.target = target

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, ax: Any = None, **options: Any) -> "DependenceDisplay":
        """Draw the selected variables of a fitted model, the most important first; options are those of `of`."""
        return cls.of(estimator, X, **options).plot(ax=ax)

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: Any,
        *,
        variables: Sequence[int] | None = None,
        output: int = 0,
        feature_names: Sequence[str] | None = None,
        target: str = "y",
        max_rows: int = 200,
        max_panels: int = 12,
    ) -> "DependenceDisplay":
        """Compute what `from_estimator` draws, without drawing it.

        Parameters
        ----------
        X : (n, d)
            Data to average over.
        variables : sequence of int, optional
            Numbers of the variables to draw instead.
        output : int
            Which of several outputs to draw.
        max_rows, max_panels : int
            Rows to average over, and variables to draw, at most.
        """
        if variables is None:
            support = np.flatnonzero(fitted_attribute(estimator, "support_", cls.__name__))
            importances = getattr(estimator, "feature_importances_", np.zeros(estimator.n_features_in_))
            variables = support[np.argsort(-importances[support], kind="stable")].tolist()
        chosen = list(variables)[:max_panels]
        every = names_of(estimator, feature_names)
        found = partial_dependence(estimator, X, chosen, output=output, max_rows=max_rows)
        return cls(found, names=[every[j] for j in chosen], target=target)

    def plot(self, ax: Any = None, *, columns: int = 4, max_lines: int = 20) -> "DependenceDisplay":
        """Draw in the place of `ax`, which is split into panels (`axes_`), with at most `max_lines` thin lines each."""
        count = len(self.dependences)
        columns = min(columns, max(count, 1))
        n_rows = -(-max(count, 1) // columns)
        ax = new_axes(ax, (2.3 * columns + 0.6, 2.1 * n_rows + 0.4))
        self.ax_, self.figure_ = ax, ax.figure
        if not count:
            only_text(ax, "no variable selected")
            self.axes_: list[Any] = []
            return self
        panels = split_axes(ax, n_rows, columns)
        self.axes_ = panels[:count]
        for panel in panels[count:]:
            panel.set_axis_off()
        for k, (panel, found, name) in enumerate(zip(self.axes_, self.dependences, self.names, strict=True)):
            if k:
                panel.sharey(self.axes_[0])
            self._draw(panel, found, max_lines)
            panel.set_xlabel(label(name, 18))
            if k % columns:
                panel.tick_params(labelleft=False)
            else:
                panel.set_ylabel(label(self.target, 18))
        return self

    @staticmethod
    def _draw(panel: Any, found: Dependence, max_lines: int) -> None:
        from matplotlib.transforms import blended_transform_factory

        quiet(panel)
        marks = {"marker": "o", "linestyle": "none"} if found.levels else {}
        panel.plot(found.grid, found.curves[:max_lines].T, color=PALE, linewidth=0.7)
        panel.plot(found.grid, found.mean, color=BLUE, linewidth=2.0, **marks)
        if found.levels:
            panel.set_xticks(found.grid[:MOST_TICKS], [label(level, 8) for level in found.levels[:MOST_TICKS]])
        foot = blended_transform_factory(panel.transData, panel.transAxes)
        panel.vlines(found.deciles, 0, 0.04, transform=foot, color=GREY, linewidth=0.9)
