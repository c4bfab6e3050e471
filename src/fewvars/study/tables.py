"""One table for each experiment: the paper's figures beside the measured ones, as Markdown and as HTML."""

import html
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

from fewvars.study.specification import Experiment
from fewvars.study.summary import Mean, Summary

_VARIABLES = {
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "exact": "exact support",
    "relative_error": "relative error",
    "centred_error": "centred error",
}
_DIRECTIONS = {
    "n_directions": "directions",
    "rank": "rank",
    "exact": "exact rank",
    "angle": "angle to true space",
    "angle_strong": "angle to strong plane",
    "relative_error": "relative error",
    "centred_error": "centred error",
}


@final
@dataclass(frozen=True)
class Table:
    """Cells as text."""

    header: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """Return a pipe table."""
        lines = [self.header, ("---",) * len(self.header), *self.body]
        return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)

    def html(self) -> str:
        """Return a table element; a setting is named once."""
        head = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in self.header)
        body, before = [], None
        for first, *rest in self.body:
            new = first != before
            cells = f'<th scope="row">{html.escape(first) if new else ""}</th>'
            cells += "".join(f"<td>{html.escape(cell)}</td>" for cell in rest)
            body.append(f"<tr{' class=new' if new else ''}>{cells}</tr>")
            before = first
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def table(experiment: Experiment, summaries: Iterable[Summary]) -> Table:
    """Return the table of an experiment; cells are mean ± standard error."""
    directions = any(setting.target == "directions" for setting in experiment.settings)
    columns = _DIRECTIONS if directions else _VARIABLES
    header = ["data", "method", "fits", *columns.values(), "seconds"]
    if not directions:
        header.append("paper: sensitivity, specificity, relative error")
    body = []
    for summary in summaries:
        cells = [summary.setting.name, summary.method.label, _count(summary)]
        cells += [show(summary.means.get(name)) for name in columns]
        cells.append("" if math.isnan(summary.seconds) else f"{summary.seconds:.2g}")
        if not directions:
            paper = experiment.paper(summary.setting.name, summary.method.name)
            figures = [getattr(paper, name) for name in ("sensitivity", "specificity", "relative_error")]
            cells.append(", ".join(figure or "-" for figure in figures) if any(figures) else "")
        body.append(tuple(cells))
    return Table(tuple(header), tuple(body))


def show(mean: Mean | None) -> str:
    """Return mean ± standard error; the mean alone if all values are equal, or if there is one only."""
    if mean is None:
        return ""
    if math.isnan(mean.error) or mean.error == 0:
        return f"{mean.value:.3g}"
    return f"{mean.value:.3g} ± {mean.error:.{1 if mean.error < 10 else 3}g}"


def _count(summary: Summary) -> str:
    return f"{summary.n} ({summary.n_failed} failed)" if summary.n_failed else str(summary.n)
