"""The paper's figures from rows and stored curves; nothing is fitted here."""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from fewvars._common.optional import require_matplotlib
from fewvars.displays import NetworkDisplay
from fewvars.displays.figure import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    plain_ticks,
    quiet,
)
from fewvars.study.row import Row
from fewvars.study.rows import Arrays, Folder
from fewvars.study.specification import Experiment
from fewvars.study.summary import Summary

# One colour and one marker for each family, in every figure.
_LOOKS = {
    "literal": (VERMILLION, "s", "--"),
    "ours": (BLUE, "o", "-"),
    "plain": (GREY, "^", ":"),
    "group-lasso": (ORANGE, "v", "-."),
    "dictionary": (GREEN, "D", "-"),
    "dictionary-l1": (PURPLE, "P", "--"),
}
_TRUTH = "#92c5de"  # a pale blue, so that the thin line on it stays visible
_OTHER = (SKY, "X", ":")
_PAPER = {"literal": "paper, its method", "dictionary-l1": "paper, dictionary"}


def as_svg(figure: Any, name: str) -> bytes:
    """Return the figure as SVG, equal bytes for equal figures."""
    import matplotlib

    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": name}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def curves(experiment: Experiment, settings: Sequence[str], rows: Sequence[Row], folder: Folder) -> Any | None:
    """Draw learned over true values on the test times, a panel for each method in each setting.

    The paper's Figs. 2, 3, 5 and 6, of replicate 0. None if no curve is stored.
    """
    stored: dict[tuple[str, str], tuple[Row, Arrays]] = {}
    for row in rows:
        if row.experiment == experiment.name and row.replicate == 0 and row.fitted:
            curve = folder.curve(row)
            if curve is not None:
                stored[row.setting, row.method] = row, curve
    methods = [method for method in experiment.methods if any((name, method.name) in stored for name in settings)]
    shown = [name for name in settings if any((name, method.name) in stored for method in methods)]
    if not shown:
        return None
    several = len(shown) > 1
    # One setting: panels in two columns. Several: a column for each, a row of panels for each method.
    panels = [(name, method) for method in methods for name in shown]
    n_columns = len(shown) if several else min(2, len(methods))
    n_rows = -(-len(panels) // n_columns)
    figure = _figure((11.0, 1.75 * n_rows + 0.6))
    grid = figure.subplots(n_rows, n_columns, sharex=True, sharey="col" if several else True, squeeze=False)
    lines: list[Any] = []
    for ax, (name, method) in zip(grid.flat, panels, strict=False):
        if (name, method.name) not in stored:
            ax.set_axis_off()
            continue
        row, curve = stored[name, method.name]
        lines = _draw_curve(ax, curve)
        where = f"{name}, {method.label}" if several else method.label
        ax.set_title(f"{where}: error {row.relative_error:.2g}", fontsize=9)
    for ax in list(grid.flat)[len(panels) :]:
        ax.set_axis_off()
    for i, j in np.ndindex(grid.shape):
        if i + 1 == n_rows or not grid[i + 1, j].axison:
            grid[i, j].set_xlabel("time")
            grid[i, j].tick_params(labelbottom=True)
    figure.legend(lines, ["true", "learned"], loc="outside upper right", ncols=2, frameon=False, fontsize=9)
    return figure


def _draw_curve(ax: Any, curve: Arrays) -> list[Any]:
    quiet(ax)
    lines = ax.plot(curve["t"], curve["truth"], color=_TRUTH, linewidth=3.6)
    lines += ax.plot(curve["t"], curve["predicted"], color=VERMILLION, linewidth=1.2)
    # A method that fails badly must not make all others look flat.
    low, high = curve["truth"].min(), curve["truth"].max()
    reach = 0.25 * (high - low) or 1.0
    ax.set_ylim(low - reach, high + reach)
    ax.margins(x=0.01)
    return lines


def over_noise(experiment: Experiment, summaries: Sequence[Summary]) -> Any | None:
    """Draw relative error, specificity and sensitivity over the noise level: the paper's Fig. 4, and sensitivity."""
    usable = [summary for summary in summaries if summary.n]
    if not usable:
        return None
    figure = _figure((11.0, 3.9))
    axes = figure.subplots(1, 3)
    panels = (("relative_error", "relative error"), ("specificity", "specificity"), ("sensitivity", "sensitivity"))
    lines: dict[str, Any] = {}
    methods = [method for method in experiment.methods if any(item.method == method for item in usable)]
    for ax, (metric, title) in zip(axes, panels, strict=True):
        quiet(ax)
        for position, method in enumerate(methods):
            colour, marker, style = _LOOKS.get(method.family, _OTHER)
            mine = [item for item in usable if item.method == method and metric in item.means]
            # Shifted slightly, so that equal values do not hide each other.
            aside = 0.0004 * (position - (len(methods) - 1) / 2)
            lines[method.label] = ax.errorbar(
                [item.setting.noise_x + aside for item in mine],
                [item.means[metric].value for item in mine],
                [np.nan_to_num(item.means[metric].error) for item in mine],
                color=colour,
                marker=marker,
                linestyle=style,
                markersize=5,
                linewidth=1.3,
                capsize=2,
            )
        _draw_paper(ax, experiment, metric, lines)
        ax.set_xlabel("noise level")
        ax.set_xticks(sorted({item.setting.noise_x for item in usable}))
        ax.set_title(title, fontsize=10)
        if metric == "relative_error":
            ax.set_yscale("log")
            plain_ticks(ax.yaxis)
        else:
            ax.set_ylim(-0.05, 1.05)
    figure.legend(list(lines.values()), list(lines), loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return figure


def _draw_paper(ax: Any, experiment: Experiment, metric: str, lines: dict[str, Any]) -> None:
    """Mark the paper's figures of the method that it proposes and of the dictionary."""
    for setting in experiment.settings:
        for method in experiment.methods:
            text = getattr(experiment.paper(setting.name, method.name), metric, "")
            if text and method.family in _PAPER:
                colour = _LOOKS[method.family][0]
                (mark,) = ax.plot(
                    setting.noise_x, float(text.split()[0]), "*", markersize=12, markerfacecolor="none", color=colour
                )
                lines[_PAPER[method.family]] = mark


def network(row: Row, folder: Folder, names: Sequence[str], target: str) -> Any | None:
    """Draw the network of a fit with its live and dead inputs: the paper's Fig. 1. None if it is not stored."""
    curve = folder.curve(row)
    if curve is None or "hidden_layers" not in curve or row.selected is None:
        return None
    selected = np.zeros(len(names), bool)
    selected[list(row.selected)] = True
    figure = _figure((7.2, 4.4))
    NetworkDisplay(selected, curve["hidden_layers"].tolist(), names=names, targets=(target,)).plot(ax=figure.subplots())
    return figure


def _figure(size: tuple[float, float]) -> Any:
    require_matplotlib("Figures need")
    from matplotlib.figure import Figure  # not pyplot, which keeps every figure and whose state belongs to the user

    return Figure(figsize=size, layout="constrained")
