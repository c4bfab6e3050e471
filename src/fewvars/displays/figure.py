"""Helpers of all displays: matplotlib on demand, colours that everyone can distinguish, plain axes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fewvars._common.optional import require_matplotlib
from fewvars._common.validation import FloatArray
from fewvars.estimators.findings import Findings

# Okabe and Ito (2008), without yellow, which is hard to see on white, and black, which is for text.
BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"
COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)
STYLES = ("-", "--", "-.", ":")
GREY, PALE = "#8c8c8c", "#c4c4c4"


def new_axes(ax: Any, figsize: tuple[float, float]) -> Any:
    """Return `ax`, or the axes of a new figure."""
    if ax is not None:
        return ax
    require_matplotlib("Plots need")
    from matplotlib import pyplot

    _, ax = pyplot.subplots(figsize=figsize, layout="constrained")
    return ax


def split_axes(ax: Any, n_rows: int, n_columns: int, **options: Any) -> list[Any]:
    """Replace `ax` by a grid of axes in its place and return them, row by row."""
    place = ax.get_subplotspec()
    if place is None:
        raise ValueError("ax is not part of a grid of subplots: give one made by pyplot.subplots().")
    ax.set_axis_off()
    grid = place.subgridspec(n_rows, n_columns, **options)
    return [ax.figure.add_subplot(grid[i, j]) for i in range(n_rows) for j in range(n_columns)]


def only_text(ax: Any, text: str) -> None:
    """Show a text where there is nothing to draw."""
    ax.set_axis_off()
    ax.text(0.5, 0.5, text, ha="center", va="center", transform=ax.transAxes)


def quiet(ax: Any, grid: str = "both") -> None:
    """Leave only the left and lower spine and a faint grid."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis=grid, alpha=0.35, linewidth=0.6)
    ax.set_axisbelow(True)


def colour_cycle(count: int) -> list[tuple[str, str]]:
    """Return `count` pairs of colour and line style, all different up to 24."""
    return [(COLOURS[k % len(COLOURS)], STYLES[k // len(COLOURS) % len(STYLES)]) for k in range(count)]


def plain_ticks(axis: Any) -> None:
    """Write the ticks of a logarithmic axis as plain numbers: 0.01, 0.1, 1."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    decades = np.log10(high / low) if low > 0 else 0.0
    axis.set_major_locator(LogLocator(subs=(1.0,) if decades > 1.7 else (1.0, 2.0, 5.0), numticks=7))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def whole_ticks(axis: Any) -> None:
    """Put ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def spread(positions: Sequence[float] | FloatArray, gap: float, low: float, high: float) -> FloatArray:
    """Move positions until neighbours are `gap` apart, in the same order and within [low, high] if there is room."""
    wanted = np.asarray(positions, float)
    if not wanted.size:
        return wanted
    order = np.argsort(wanted, kind="stable")
    gap = min(gap, (high - low) / max(wanted.size - 1, 1))
    # Subtracting k * gap turns "at least gap apart" into "not decreasing": least squares under that is isotonic.
    from sklearn.isotonic import isotonic_regression

    steps = gap * np.arange(wanted.size)
    fitted = isotonic_regression(wanted[order] - steps) + steps
    fitted = np.clip(fitted, low + steps, high - steps[::-1])
    found = np.empty_like(wanted)
    found[order] = fitted
    return found


def draw_ends(ax: Any, x: FloatArray, alive: FloatArray, texts: Sequence[str], named: int) -> None:
    """Draw the columns of `alive` (m, lines), nan where dead, with a dot where each ends; name the first ones.

    The axes are logarithmic, with limits set. Names stand to the right of the axes, apart from each other.
    """
    last = np.array([np.flatnonzero(np.isfinite(line))[-1] for line in alive.T], int)
    bottom, top = ax.get_ylim()
    ends = np.maximum(alive[last, np.arange(last.size)], bottom)
    looks = colour_cycle(last.size)
    for (colour, style), line, end, height in zip(looks, alive.T, last, ends, strict=True):
        ax.plot(x, line, color=colour, linestyle=style, linewidth=1.8)
        ax.plot(x[end], height, "o", color=colour, markersize=4.5, clip_on=False, zorder=3)
    heights = np.log(ends[:named] / bottom) / np.log(top / bottom)
    for place, text, end, height, (colour, _) in zip(
        spread(heights, 0.066, 0.02, 0.98), texts, last, ends, looks, strict=False
    ):
        ax.annotate(
            text,
            (x[end], height),
            (1.03, place),
            textcoords="axes fraction",
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.7, "alpha": 0.8, "shrinkB": 4},
        )


def fitted_attribute(model: Any, attribute: str, display: str) -> Any:
    """Return an attribute of a fitted model, or raise an error that says what the display needs."""
    try:
        return getattr(model, attribute)
    except AttributeError:
        raise ValueError(
            f"{display} needs a fitted model that has {attribute}, and this {type(model).__name__} doesn't. "
            "Call fit first, or choose another display."
        ) from None


def findings_of(model: Any, display: str) -> Findings:
    """Return the findings of a fitted model, or raise an error that says what the display needs."""
    fitted_attribute(model, "head_", display)
    found: Findings = model.findings()
    return found
