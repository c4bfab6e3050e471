"""The figures of a report: displays drawn as inline SVG, each with a caption that says what was left out."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fewvars.displays import (
    CurveDisplay,
    DependenceDisplay,
    FrequencyDisplay,
    ImportanceDisplay,
    LoadingsDisplay,
    NetworkDisplay,
    PredictionDisplay,
    ShadowDisplay,
    SupportSizeDisplay,
)
from fewvars.displays.outputs import predictions
from fewvars.displays.partial import some_rows
from fewvars.engine.losses import Poisson
from fewvars.report._facts import Facts
from fewvars.report._markup import Markup, tag
from fewvars.report._svg import inline_svg, new_figure

HALF, FULL = 5.0, 10.0  # inches; half a page fills the screen of a phone
_CURVE_ROWS, _SCATTER_ROWS, _MOST_PANELS, _MOST_OUTPUTS = 1000, 1000, 8, 4


def _figure(name: str, draw: Callable[[Any], Any], width: float, height: float, description: str) -> Markup:
    figure = new_figure(width, height)
    draw(figure.subplots())
    return inline_svg(figure, name, description)


def half(name: str, draw: Callable[[Any], Any], caption: Any, description: str, height: float = 3.4) -> Markup:
    """Return a figure half a page wide."""
    return tag("figure", _figure(name, draw, HALF, height, description), tag("figcaption", caption), id=name)


def full(
    name: str,
    wide: Callable[[Any], Any],
    narrow: Callable[[Any], Any],
    heights: tuple[float, float],
    caption: Any,
    description: str,
) -> Markup:
    """Return a figure as wide as the page, drawn again for narrow screens, where its text would be too small."""
    return tag(
        "figure",
        tag("div", _figure(f"{name}-wide", wide, FULL, heights[0], description), class_="wide"),
        tag("div", _figure(f"{name}-narrow", narrow, HALF, heights[1], description), class_="narrow"),
        tag("figcaption", caption),
        id=name,
    )


def importances(facts: Facts) -> Markup:
    """Return the importances as bars."""
    display = ImportanceDisplay.of(facts.model, feature_names=facts.names)
    rows = min(facts.count, 16)
    caption = "The importances of the table" + (f", the first {rows} of {facts.count}." if rows < facts.count else ".")
    return half(
        "importances",
        partial(display.plot, max_shown=16),
        caption,
        "Importances of the selected variables with standard errors, as in the table.",
        height=0.9 + 0.24 * max(rows, 2),
    )


def sizes(facts: Facts) -> Markup:
    """Return held-out errors over the number of variables or directions."""
    display = SupportSizeDisplay.of(facts.model)
    rule = f"We choose the smallest number of {display.what} within one standard error of the best."
    if facts.by_directions:
        caption = f"Error on held-out blocks against the number of directions. {rule}"
    else:
        caption = (
            "Error on held-out blocks when the function is refitted to the variables that are left at each stage of "
            f"the path. {rule} Variables that lower the error are then added back, and those whose removal does not "
            "raise it are dropped."
        )
    best = facts.found.sizes[int(np.argmin(facts.found.errors))]
    description = (
        f"Held-out error against the number of {display.what}. The smallest error is at {best}; "
        f"{display.chosen} was chosen."
    )
    return half("sizes", display.plot, caption, description)


def _on_parallel_lines(facts: Facts) -> str:
    """Return what the shape of the lines says about interactions, on the scale that they are drawn on."""
    if facts.found.classes:
        return "Effects add up in log-odds, so lines of probability need not be parallel even without an interaction."
    if isinstance(facts.found.loss, Poisson):
        return "Effects multiply, so lines that are not proportional to each other show an interaction."
    return "Lines that are not parallel show an interaction."


def dependence(facts: Facts) -> list[Markup]:
    """Return partial dependence, one figure for each output."""
    found = []
    for k, target in enumerate(facts.targets[:_MOST_OUTPUTS]):
        shown = facts.found.order[:_MOST_PANELS].tolist()
        chosen = [facts.names[j] for j in shown]
        display = DependenceDisplay.of(
            facts.model, facts.X, variables=shown, output=k, feature_names=facts.names, target=target, max_rows=120
        )
        rows = len(display.dependences[0].curves)
        columns = min(4, len(shown))
        predicted = f"probability of {target}" if facts.found.classes else target
        caption = (
            f"How the predicted {predicted} changes with each variable while the others stay as measured. Blue: "
            f"average over {rows} of {facts.n_samples} samples, chosen at random; grey: single samples. "
            f"{_on_parallel_lines(facts)} The ticks mark deciles of the variable."
        )
        if len(shown) < facts.count:
            caption += f" Only the {len(shown)} most important of {facts.count} variables are shown."
        found.append(
            full(
                f"dependence-{k}",
                partial(display.plot, columns=columns, max_lines=15),
                partial(display.plot, columns=2, max_lines=10),
                (2.5 * -(-len(shown) // columns), 2.2 * -(-len(shown) // 2)),
                caption,
                f"Partial dependence of {target} on {', '.join(chosen)}.",
            )
        )
    return found


def curves(facts: Facts) -> list[Markup]:
    """Return measured and learned values over time, one figure for each output; none without times."""
    if facts.times is None:
        return []
    rows = window(facts, _CURVE_ROWS)
    few = rows[: _CURVE_ROWS * 2 // 5]
    where = ""
    if len(rows) < facts.n_samples:
        run = " of one run" if facts.trajectory is not None else ""
        where = f" Shown are {len(rows)} consecutive rows{run} from the middle of {facts.n_samples}."
        where += f" Narrow screens show the first {len(few)} of them." if len(few) < len(rows) else ""
    found = []
    for k, target in enumerate(facts.targets[:_MOST_OUTPUTS]):
        displays = [
            CurveDisplay(facts.y[part, k], facts.predicted[part, k], t=facts.times[part], name=target)
            for part in (rows, few)
        ]
        found.append(
            full(
                f"curve-{k}",
                displays[0].plot,
                displays[1].plot,
                (3.6, 3.6),
                f"Measured and predicted {target} over time, and their difference below.{where}",
                f"Measured and predicted {target} over time, and their difference.",
            )
        )
    return found


def window(facts: Facts, most: int) -> np.ndarray:
    """Return at most `most` consecutive rows of one run, around the middle of the data."""
    middle = len(facts.y) // 2
    rows = np.arange(len(facts.y))
    if facts.trajectory is not None:
        rows = rows[facts.trajectory == facts.trajectory[middle]]
    if len(rows) <= most:
        return rows
    first = int(np.clip(np.searchsorted(rows, middle) - most // 2, 0, len(rows) - most))
    return rows[first : first + most]


def agreement(facts: Facts) -> list[Markup]:
    """Return learned against measured values, one figure for each output."""
    found = []
    rows = some_rows(len(facts.y), _SCATTER_ROWS)
    for k, target in enumerate(facts.targets[:_MOST_OUTPUTS]):
        display = PredictionDisplay(facts.y[rows, k], facts.predicted[rows, k], name=target)
        caption = f"Predicted against measured {target}{_chosen_rows(rows, facts)}."
        found.append(
            half(f"agreement-{k}", display.plot, caption, f"Predicted against measured values of {target}.", height=4.0)
        )
    return found


def _chosen_rows(rows: np.ndarray, facts: Facts) -> str:
    """Return the end of a caption: how many rows are drawn, unless all are."""
    return f", {len(rows)} of {facts.n_samples} rows, chosen at random" if len(rows) < facts.n_samples else ""


def network(facts: Facts) -> Markup:
    """Return the drawing of the network that selected the variables."""
    display = NetworkDisplay.of(facts.model, feature_names=facts.names, targets=facts.targets)
    description = f"A network connected to {facts.count} of {len(facts.names)} inputs."
    caption = "The network that selected the variables. The others have no connections left. Some units are not drawn."
    return half("network", display.plot, caption, description, height=4.0)


def frequencies(facts: Facts) -> Markup | None:
    """Return how often variables, or numbers of directions, were found on resampled blocks, if that was asked for."""
    if facts.found.frequencies is None:
        return None
    display = FrequencyDisplay.of(facts.model, feature_names=None if facts.by_directions else facts.names)
    rows = int(np.clip(((display.frequencies > 0) | display.selected).sum(), 2, 16))
    what = "each number of directions is found" if facts.by_directions else "each variable is selected"
    caption = f"How often {what} in {facts.model.n_resamples} resamples of the blocks."
    return half("frequencies", partial(display.plot, max_shown=16), caption, caption, height=0.9 + 0.24 * rows)


def shadows(facts: Facts) -> list[Markup]:
    """Return the outputs over the directions, one figure for each output."""
    rows = some_rows(len(facts.y), _SCATTER_ROWS)
    Z = np.asarray(facts.model.transform(facts.X), float)[rows]
    learned = predictions(facts.model, facts.X)[rows]
    found = []
    for k, target in enumerate(facts.targets[:_MOST_OUTPUTS]):
        display = ShadowDisplay(Z, facts.y[rows, k], learned=learned[:, k], name=target)
        along = "direction" if facts.count == 1 else "first two directions"
        caption = f"The data along the {along}{_chosen_rows(rows, facts)}."
        found.append(half(f"shadow-{k}", display.plot, caption, f"{target} against the directions.", height=3.6))
    return found


def loadings(facts: Facts) -> Markup:
    """Return the loadings of the directions."""
    scale = np.asarray(facts.X, float).std(axis=0)
    display = LoadingsDisplay(facts.model.directions_, names=facts.names, scale=scale)
    rows = min(len(facts.names), 16)
    caption = "Loadings of the directions, times the standard deviation of each variable."
    return half(
        "loadings",
        lambda ax: display.plot(ax, max_shown=16, max_directions=3),
        caption,
        caption,
        height=1.0 + 0.2 * max(rows, 5),
    )
