"""The graph of a system as a drawing: variables on a circle, with an arrow to each from those it depends on."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewvars.displays.figure import BLUE, fitted_attribute, new_axes
from fewvars.displays.names import distinct_names, label, names_of

_MOST_NAMED = 60


class DiagramDisplay:
    """Variables on a circle; an arrow from x_j to x_i says that dx_i/dt depends on x_j, a ring that it depends on x_i.

    Parameters
    ----------
    graph : array-like of shape (d, d)
        graph[i, j] is True when dx_i/dt depends on x_j.
    names : sequence of d str, optional

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Of the last `plot`.
    """

    def __init__(self, graph: ArrayLike, *, names: Sequence[str] | None = None):
        self.graph = np.asarray(graph, dtype=bool)
        if self.graph.ndim != 2 or self.graph.shape[0] != self.graph.shape[1]:
            raise ValueError(f"graph has shape {self.graph.shape}: give a square matrix.")
        self.names = distinct_names(names, len(self.graph))

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, feature_names: Sequence[str] | None = None, ax: Any = None
    ) -> "DiagramDisplay":
        """Draw `graph_` of a fitted model."""
        graph = fitted_attribute(estimator, "graph_", cls.__name__)
        return cls(graph, names=names_of(estimator, feature_names)).plot(ax=ax)

    def plot(self, ax: Any = None) -> "DiagramDisplay":
        """Draw onto `ax`."""
        from matplotlib.patches import FancyArrowPatch

        ax = new_axes(ax, (5.0, 5.0))
        d = len(self.graph)
        angle = np.pi / 2 - 2 * np.pi * np.arange(d) / d
        places = np.column_stack((np.cos(angle), np.sin(angle)))
        size = float(np.clip(300 / d, 3.0, 14.0))  # diameter of a node, in points
        for i, j in np.argwhere(self.graph & ~np.eye(d, dtype=bool)):
            arrow = FancyArrowPatch(
                places[j],
                places[i],
                connectionstyle="arc3,rad=0.12",
                arrowstyle="-|>",
                mutation_scale=float(np.clip(size, 5.0, 11.0)),
                shrinkA=size / 2 + 1,
                shrinkB=size / 2 + 2,
                color=BLUE,
                linewidth=0.9,
                alpha=0.8,
            )
            ax.add_patch(arrow)
        own = np.diag(self.graph)
        ax.plot(*places[own].T, "o", markersize=size + 5, markerfacecolor="none", markeredgecolor=BLUE)
        ax.plot(*places.T, "o", markersize=size, color=BLUE)
        every = max(1, -(-d // _MOST_NAMED))
        for k in range(0, d, every):
            x, y = 1.13 * places[k]
            side = "center" if abs(x) < 0.1 else "left" if x > 0 else "right"
            ax.text(x, y, label(self.names[k], 14), ha=side, va="center", fontsize="small")
        ax.set_xlim(-1.6, 1.6)
        ax.set_ylim(-1.35, 1.35)
        ax.set_aspect("equal")
        ax.set_axis_off()
        self.ax_, self.figure_ = ax, ax.figure
        return self
