"""The path with a slider: which variables or directions are alive at each strength of the penalty."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.displays import PathDisplay, SingularValuesDisplay
from fewvars.displays.directions import ordinal
from fewvars.report._facts import Facts
from fewvars.report._figures import HALF
from fewvars.report._markup import Markup, data_block, join, tag
from fewvars.report._svg import inline_svg, new_figure

_MOST_NAMED = 60


@dataclass(frozen=True)
class Line:
    """One line of the path: its name, the steps at which it appears or disappears, and whether it was selected."""

    name: str
    switches: list[int]
    selected: bool

    def alive(self, step: int) -> bool:
        """Return whether it is alive at a step of the path."""
        return sum(switch <= step for switch in self.switches) % 2 == 1


@dataclass(frozen=True, eq=False)
class Lives:
    """The path as a reader sees it.

    Attributes
    ----------
    display : PathDisplay or SingularValuesDisplay
    strengths : (m,)
    lines : those that are ever alive, the longest-lived first
    total : int
        Number of lines, dead ones included.
    chosen : int
        Step of the chosen strength.
    what, caption : str
    """

    display: Any
    strengths: FloatArray
    lines: list[Line]
    total: int
    chosen: int
    what: str
    caption: str

    @classmethod
    def of(cls, facts: Facts) -> "Lives":
        """Read the path of a fitted model."""
        path = facts.model.path_
        if facts.by_directions:
            values = np.asarray(path.magnitudes)
            names = [f"{ordinal(k + 1)} direction" for k in range(values.shape[1])]
            selected = np.arange(values.shape[1]) < facts.count
            display: Any = SingularValuesDisplay(path.strengths, values, facts.count, lambda_=facts.found.lambda_)
            alive = np.isfinite(display.alive)
            what = "directions"
            caption = "Singular values of the first layer. A line ends where the penalty removes its direction."
        else:
            display = PathDisplay.of(facts.model, feature_names=facts.names)
            values, names, selected = display.norms, display.names, display.selected
            alive = values > 0
            what = "variables" if len(names) == len(facts.names) else "groups of variables"
            caption = (
                "Size of the weights of each variable. A line ends where the penalty removes its variable. Variables "
                "that were not selected are grey."
            )
        last = np.where(alive.any(axis=0), len(values) - 1 - alive[::-1].argmax(axis=0), -1)
        order = np.lexsort((-values[last, np.arange(last.size)], -last))
        changes = np.diff(alive.astype(int), axis=0, prepend=0)
        lines = [
            Line(names[g], np.flatnonzero(changes[:, g]).tolist(), bool(selected[g])) for g in order if last[g] >= 0
        ]
        strength = facts.found.lambda_ or path.strengths[-1]
        chosen = int(np.abs(np.log(path.strengths / strength)).argmin())
        return cls(display, np.asarray(path.strengths), lines, len(names), chosen, what, caption)

    @property
    def living(self) -> list[Line]:
        """The lines alive at the chosen strength."""
        return [line for line in self.lines if line.alive(self.chosen)]

    @property
    def reading(self) -> str:
        """The text of the page before anyone moves the slider."""
        count = len(self.living) or "none"
        return f"At λ = {self.strengths[self.chosen]:.3g}, {count} of {self.total} {self.what} are left."


def explorer(facts: Facts) -> tuple[Markup, Markup] | None:
    """Return the figure with its slider, and the list of what is alive; None if there is no path."""
    if not len(facts.model.path_.strengths):
        return None
    lives = Lives.of(facts)
    figure = new_figure(HALF, 3.5)
    ax = figure.subplots()
    lives.display.plot(ax=ax)
    description = f"{lives.caption} {lives.reading}"
    picture = inline_svg(figure, "path", description, lambda: _cursor(ax, lives.strengths[lives.chosen]))
    data = {
        "strengths": [f"{strength:.3g}" for strength in lives.strengths],
        "positions": [round(_position(ax, strength), 2) for strength in lives.strengths],
        "lines": [{"name": line.name, "switches": line.switches, "selected": line.selected} for line in lives.lines],
        "total": lives.total,
        "what": lives.what,
        "most": _MOST_NAMED,
        "chosen": lives.chosen,
    }
    return (
        tag("figure", picture, _slider(lives), tag("figcaption", lives.caption), id="path"),
        join(
            tag("p", lives.reading, id="path-reading", class_="reading", role="status"),
            tag("ul", *_chips(lives.living), id="path-alive", class_="alive"),
            data_block(data, "path-data"),
        ),
    )


def _position(ax: Any, strength: float) -> float:
    """Return the horizontal position of a strength, in units of the SVG."""
    return float(ax.transData.transform((strength, ax.get_ylim()[1]))[0])


def _cursor(ax: Any, strength: float) -> Markup:
    box, height, x = ax.get_window_extent(), ax.figure.bbox.height, _position(ax, strength)
    return Markup(
        f'<line class="cursor" x1="{x:.2f}" x2="{x:.2f}" y1="{height - box.y1:.2f}" y2="{height - box.y0:.2f}"/>'
    )


def _slider(lives: Lives) -> Markup:
    """Return the slider, which is hidden until the script has started."""
    return Markup(
        f'<input id="path-slider" type="range" min="0" max="{len(lives.strengths) - 1}" value="{lives.chosen}" '
        'aria-label="Strength of the penalty" aria-controls="path-alive" hidden>'
    )


def _chips(living: list[Line]) -> list[Markup]:
    chips = [
        tag("li", tag("bdi", line.name), class_="selected" if line.selected else None) for line in living[:_MOST_NAMED]
    ]
    if len(living) > _MOST_NAMED:
        chips.append(tag("li", f"{len(living) - _MOST_NAMED} more", class_="more"))
    return chips
