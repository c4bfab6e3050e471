"""A drawing of the network: selected inputs, inputs without connections, hidden units and outputs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewvars.displays.figure import BLUE, GREY, PALE, fitted_attribute, new_axes
from fewvars.displays.names import distinct_names, label, names_of

_MOST_LIVE, _MOST_DEAD, _MOST_UNITS = 14, 4, 7


class NetworkDisplay:
    """A drawing of the network in which inputs that were not selected are grey and not connected.

    Of many inputs and hidden units only a few are drawn; dots stand for the others.

    Parameters
    ----------
    selected : (d,) bool
        Inputs that are connected.
    hidden_layer_sizes : sequence of int
        Units of each hidden layer.
    names : sequence of d str, optional
    targets : sequence of str
        Names of the outputs.
    """

    def __init__(
        self,
        selected: ArrayLike,
        hidden_layer_sizes: Sequence[int],
        *,
        names: Sequence[str] | None = None,
        targets: Sequence[str] = ("y",),
    ) -> None:
        self.selected = np.asarray(selected, bool)
        self.hidden_layer_sizes = tuple(int(width) for width in hidden_layer_sizes)
        self.names = distinct_names(names, self.selected.size)
        self.targets = list(targets)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        feature_names: Sequence[str] | None = None,
        targets: Sequence[str] = ("y",),
        ax: Any = None,
    ) -> "NetworkDisplay":
        """Draw the network that selected the inputs of a fitted model."""
        return cls.of(estimator, feature_names=feature_names, targets=targets).plot(ax=ax)

    @classmethod
    def of(
        cls, estimator: Any, *, feature_names: Sequence[str] | None = None, targets: Sequence[str] = ("y",)
    ) -> "NetworkDisplay":
        """Return what would be drawn, without drawing it."""
        support = fitted_attribute(estimator, "support_", cls.__name__)
        network = getattr(estimator, "network_", None)
        widths = (
            fitted_attribute(estimator, "hidden_layer_sizes", cls.__name__) if network is None else network.sizes[1:-1]
        )
        return cls(support, widths, names=names_of(estimator, feature_names), targets=targets)

    def plot(self, ax: Any = None) -> "NetworkDisplay":
        """Draw onto `ax`."""
        ax = new_axes(ax, (7.2, 4.4))
        ax.set_axis_off()
        inputs = self._inputs()
        columns = [_heights(len(inputs))]
        columns += [_heights(min(width, _MOST_UNITS)) for width in self.hidden_layer_sizes]
        columns += [_heights(min(len(self.targets), _MOST_UNITS))]
        alive = np.array([colour == BLUE and single for _, colour, single in inputs], bool)
        hidden = [_units(heights, width) for heights, width in zip(columns[1:-1], self.hidden_layer_sizes, strict=True)]
        self._draw_edges(ax, [columns[0][alive], *hidden, columns[-1]])
        size = 90 if len(inputs) <= 12 else 50
        for y, (text, colour, single) in zip(columns[0], inputs, strict=True):
            if single:
                ax.scatter(0, y, s=size, facecolor=colour if colour == BLUE else "none", edgecolor=colour, zorder=3)
            else:
                _dots(ax, 0, y, colour)
            options = {} if colour == BLUE else {"color": GREY}
            ax.annotate(
                text,
                (0, y),
                (-11, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                annotation_clip=False,
                **options,
            )
        self._draw_units(ax, columns)
        ax.set_xlim(-0.25, len(columns) - 0.6)
        ax.set_ylim(-1.3, 1.22)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _inputs(self) -> list[tuple[str, str, bool]]:
        """Return the entries of the first column: text, colour, and whether it is a single input."""
        rows = []
        for members, most, colour, kind in (
            (np.flatnonzero(self.selected), _MOST_LIVE, BLUE, "selected"),
            (np.flatnonzero(~self.selected), _MOST_DEAD, PALE, "not selected"),
        ):
            drawn = members if members.size <= most else members[: most - 1]
            rows += [(label(self.names[j], 20), colour, True) for j in drawn]
            if drawn.size < members.size:
                rows.append((f"{members.size - drawn.size} more, {kind}", colour, False))
        return rows

    @staticmethod
    def _draw_edges(ax: Any, drawn: list[np.ndarray]) -> None:
        from matplotlib.collections import LineCollection

        for layer in range(len(drawn) - 1):
            left, right = drawn[layer], drawn[layer + 1]
            lines = [[(layer, a), (layer + 1, b)] for a in left for b in right]
            first = layer == 0
            ax.add_collection(
                LineCollection(lines, colors=BLUE if first else PALE, linewidths=0.8 if first else 0.5, alpha=0.6),
                autolim=False,
            )

    def _draw_units(self, ax: Any, columns: list[np.ndarray]) -> None:
        for layer, (heights, width) in enumerate(zip(columns[1:-1], self.hidden_layer_sizes, strict=True), start=1):
            units = _units(heights, width)
            ax.scatter(np.full(units.size, layer), units, s=60, facecolor=GREY, edgecolor=GREY, zorder=3)
            if units.size < heights.size:
                _dots(ax, layer, heights[heights.size // 2], GREY)
            ax.text(layer, -1.24, f"{width} units", ha="center", va="bottom", fontsize="small")
        last = len(columns) - 1
        for y, name in zip(columns[-1], self.targets, strict=False):
            ax.scatter(last, y, s=90, facecolor=BLUE, edgecolor=BLUE, zorder=3)
            ax.annotate(
                label(name, 16), (last, y), (11, 0), textcoords="offset points", va="center", annotation_clip=False
            )
        left = f"{self.selected.sum()} of {self.selected.size} inputs"
        ax.text(0.3, -1.24, left, ha="right", va="bottom", fontsize="small")


def _units(heights: np.ndarray, width: int) -> np.ndarray:
    """Return the heights of the units drawn; if there are more units, dots in the middle stand for them."""
    return heights if width <= heights.size else np.delete(heights, heights.size // 2)


def _dots(ax: Any, x: float, y: float, colour: str) -> None:
    ax.scatter(np.full(3, x), y + 0.04 * np.array([-1, 0, 1]), s=6, color=colour, zorder=3)


def _heights(count: int) -> np.ndarray:
    """Return heights from top to bottom, (count,), evenly spaced around zero, closer if there are few."""
    reach = min(1.0, 0.16 * (count - 1)) if count > 1 else 0.0
    return np.linspace(reach, -reach, count)
