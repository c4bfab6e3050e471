"""A graph as a matrix of which derivative depends on which variable, compared with the true graph if it is known."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewvars.displays.figure import BLUE, ORANGE, VERMILLION, fitted_attribute, new_axes
from fewvars.displays.names import distinct_names, label, names_of


class GraphDisplay:
    """A graph as a matrix of squares: row i has a square in column j when dx_i/dt depends on x_j.

    With the true graph, squares are blue where both agree, vermillion where an edge is wrong, and hollow
    orange where one is missed.

    Parameters
    ----------
    graph : (d, d) bool
    truth : (d, d) bool, optional
    names : sequence of d str, optional
    """

    def __init__(self, graph: ArrayLike, *, truth: ArrayLike | None = None, names: Sequence[str] | None = None) -> None:
        self.graph = np.asarray(graph, bool)
        d = len(self.graph)
        if self.graph.shape != (d, d):
            raise ValueError(f"graph has shape {self.graph.shape}: give a square matrix.")
        self.truth = None if truth is None else np.asarray(truth, bool)
        if self.truth is not None and self.truth.shape != (d, d):
            raise ValueError(f"truth has shape {self.truth.shape}: graph has {self.graph.shape}.")
        self.names = distinct_names(names, d)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        truth: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> "GraphDisplay":
        """Draw `graph_` of a fitted model."""
        graph = fitted_attribute(estimator, "graph_", cls.__name__)
        return cls(graph, truth=truth, names=names_of(estimator, feature_names)).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls, truth: ArrayLike, graph: ArrayLike, *, names: Sequence[str] | None = None, ax: Any = None
    ) -> "GraphDisplay":
        """Draw a given graph against the truth."""
        return cls(graph, truth=truth, names=names).plot(ax=ax)

    def plot(self, ax: Any = None) -> "GraphDisplay":
        """Draw onto `ax`."""
        d = len(self.graph)
        side = float(np.clip(1.6 + 0.16 * d, 3.4, 9.0))
        ax = new_axes(ax, (side + 0.6, side))
        ax.set_xlim(-0.6, d - 0.4)
        ax.set_ylim(d - 0.4, -0.6)
        ax.set_aspect("equal")
        ax.grid(alpha=0.35, linewidth=0.5)
        ax.set_axisbelow(True)
        if self.truth is None:
            self._squares(ax, self.graph, "depends", BLUE, True)
        else:
            keys = [
                self._squares(ax, self.graph & self.truth, "right", BLUE, True),
                self._squares(ax, self.graph & ~self.truth, "wrong", VERMILLION, True),
                self._squares(ax, ~self.graph & self.truth, "missed", ORANGE, False),
            ]
            ax.legend(
                handles=keys, loc="lower left", bbox_to_anchor=(0, 1.01), ncols=3, frameon=False, fontsize="small"
            )
        every = max(1, -(-d // 25))
        ticks = np.arange(0, d, every)
        texts = [label(self.names[j], 14) for j in ticks]
        turned = max((len(text) for text in texts), default=0) > 2
        ax.set_xticks(ticks, texts, rotation=90 if turned else 0, fontsize="small")
        ax.set_yticks(ticks, texts, fontsize="small")
        ax.set_xlabel("on this variable")
        ax.set_ylabel("this derivative depends")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @staticmethod
    def _squares(ax: Any, mask: np.ndarray, name: str, colour: str, filled: bool) -> Any:
        from matplotlib.collections import PatchCollection
        from matplotlib.patches import Rectangle

        face = colour if filled else "none"
        squares = [Rectangle((j - 0.4, i - 0.4), 0.8, 0.8) for i, j in np.argwhere(mask)]
        ax.add_collection(PatchCollection(squares, facecolor=face, edgecolor=colour, linewidths=1.0))
        return Rectangle((0, 0), 1, 1, facecolor=face, edgecolor=colour, label=f"{name}: {len(squares)}")
