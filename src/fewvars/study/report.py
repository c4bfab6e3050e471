"""Turn the folder of a study into tables, figures and one page."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, final

from fewvars._common.atomic import write_atomically
from fewvars.problems.systems import Lorenz96
from fewvars.study.experiments import EXPERIMENTS
from fewvars.study.page import Picture, Section, page
from fewvars.study.row import Row
from fewvars.study.rows import Contents, Folder
from fewvars.study.specification import Drawing, Experiment
from fewvars.study.summary import Summary, summarise
from fewvars.study.tables import table
from fewvars.study.tasks import plan

_READING = (
    "Cells are means over replicates ± standard errors (none for a single fit, or if all are equal); seconds are "
    "medians of processor time. The relative error is the paper's, not centred; the centred error is "
    "the root of 1 - R^2. Both are on noiseless test samples."
)


@final
@dataclass(frozen=True)
class Report:
    """What was written.

    Attributes
    ----------
    page, tables : Path
        One HTML page; all tables in Markdown.
    figures : tuple of Path
    contents : Contents
        The rows that went into them.
    """

    page: Path
    tables: Path
    figures: tuple[Path, ...]
    contents: Contents


def write_report(folder: str | Path, *, experiments: Sequence[Experiment] = EXPERIMENTS) -> Report:
    """Make tables, figures and the page of all rows in a folder whose specification still holds.

    Writes `study.html`, `tables.md`, `tables/*.md`, `tables/*.html` and `figures/*.svg` into the folder. Without
    matplotlib there are no figures.
    """
    store = Folder(folder)
    contents = store.contents({task.key[:3]: task.specification for task in plan(experiments, 1)})
    for name in ("tables", "figures"):
        (store.path / name).mkdir(parents=True, exist_ok=True)
    sections, blocks, figures = [], [], []
    for experiment in experiments:
        rows = [row for row in contents.rows.values() if row.experiment == experiment.name]
        section, block = _section(experiment, rows, store)
        sections.append(section)
        blocks.append(block)
        write_atomically(store.path / "tables" / f"{experiment.name}.md", block + "\n")
        write_atomically(store.path / "tables" / f"{experiment.name}.html", section.table + "\n")
        for picture in section.pictures:
            figures.append(store.path / "figures" / f"{picture.name}.svg")
            write_atomically(figures[-1], picture.svg)
    head = [_READING, *_origin(contents)]
    tables_file, page_file = store.path / "tables.md", store.path / "study.html"
    write_atomically(tables_file, "\n\n".join((*head, *blocks)) + "\n")
    write_atomically(page_file, page(sections, head=head))
    return Report(page_file, tables_file, tuple(figures), contents)


def _section(experiment: Experiment, rows: list[Row], store: Folder) -> tuple[Section, str]:
    """Return an experiment for the page, and as Markdown."""
    replicates = 1 + max((row.replicate for row in rows), default=0)
    command = f"fewvars reproduce --only {experiment.name} --replicates {replicates}{_methods(experiment, rows)}"
    notes = [*experiment.notes, *_doubts(rows)]
    summaries = summarise(experiment, rows)
    cells = table(experiment, summaries)
    pictures = _pictures(experiment, rows, summaries, store) if find_spec("matplotlib") else []
    section = Section(experiment.name, experiment.title, cells.html() if rows else "", notes, pictures, command)
    text = cells.markdown() if rows else "Nothing has been run yet."
    parts = (f"## {experiment.title}", f"`{command}`", text, "\n".join(f"- {note}" for note in notes))
    return section, "\n\n".join(part for part in parts if part)


def _methods(experiment: Experiment, rows: list[Row]) -> str:
    """Return the options that choose the methods that there are rows of; none if that is all of them."""
    made = {row.method for row in rows}
    families = dict.fromkeys(method.family for method in experiment.methods if method.available)
    run = dict.fromkeys(method.family for method in experiment.methods if method.name in made)
    return "" if run == families else "".join(f" --methods {family}" for family in run)


def _pictures(experiment: Experiment, rows: list[Row], summaries: list[Summary], store: Folder) -> list[Picture]:
    """Return the figures of an experiment, those for which there are rows."""
    from fewvars.study.figures import as_svg

    drawn = [(drawing, _draw(drawing, experiment, rows, summaries, store)) for drawing in experiment.drawings]
    return [
        Picture(drawing.name, drawing.caption, as_svg(figure, drawing.name))
        for drawing, figure in drawn
        if figure is not None
    ]


def _draw(
    drawing: Drawing, experiment: Experiment, rows: list[Row], summaries: list[Summary], store: Folder
) -> Any | None:
    from fewvars.study import figures

    settings = [item for item in experiment.settings if drawing.setting in ("", item.name)]
    if drawing.kind == "curves":
        return figures.curves(experiment, [item.name for item in settings], rows, store)
    if drawing.kind == "levels":
        return figures.over_noise(experiment, summaries)
    for setting in settings:
        for row in rows:
            if row.replicate == 0 and (row.setting, row.method) == (setting.name, drawing.method):
                return figures.network(row, store, Lorenz96(setting.d).names, "f(x)")
    return None


def _doubts(rows: list[Row]) -> list[str]:
    """Return notes about the rows of a table: failures, and trajectories that differ."""
    notes = []
    failures = [row for row in rows if not row.fitted]
    if failures:
        first = failures[0]
        notes.append(
            f"{len(failures)} fits failed and are not in the means. The first is {first.setting}, {first.method}, "
            f"replicate {first.replicate}: {' '.join(first.reason.split())}"
        )
    trajectories = Counter((row.setting, row.trajectory) for row in rows if row.fitted)
    if len(trajectories) > len({setting for setting, _ in trajectories}):
        notes.append(
            "The fits used different trajectories, because the system is chaotic and machines round differently: "
            "compare only rows made on the same machine."
        )
    return notes


def _origin(contents: Contents) -> list[str]:
    """Return which rows were used and which versions made them."""
    rows = contents.rows.values()
    made = Counter(
        ", ".join((*(f"{name} {number}" for name, number in row.versions.items()), f"commit {row.commit or 'unknown'}"))
        for row in rows
    )
    return [*(f"{count} fits were made by {versions}." for versions, count in sorted(made.items())), *contents.ignored]
