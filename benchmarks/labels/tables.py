"""Tables of the rows: what was found, how well new rows are predicted, and where a rival does better."""

from collections.abc import Iterable

import numpy as np

from benchmarks.labels import methods, problems
from benchmarks.rows import Row, mean_and_error, table

CAREFUL = 0.1  # wrong share of a rival that counts

Cells = dict[tuple[str, str], dict[int, Row]]


def everything(rows: list[Row]) -> str:
    """Return the tables of classes, of numbers, and the comparison with the rivals."""
    cells: Cells = {}
    for row in rows:
        cells.setdefault((row["problem"], row["method"]), {})[row["seed"]] = row
    done = {cell: {s: row for s, row in some.items() if "failure" not in row} for cell, some in cells.items()}
    return "\n\n".join([labels(done), numbers(done), comparison(done), failures(cells)])


def labels(cells: Cells) -> str:
    """Return a line for each problem and method."""
    lines = []
    for problem in problems.LABELS:
        for method in methods.CLASSIFIERS:
            rows = list(cells.get((problem, method), {}).values())
            if rows:
                found = f"{_sum(rows, 'found')} / {_sum(rows, 'needed')}" if rows[0]["needed"] else ""
                figures = (_mean(rows, "useful"), _mean(rows, "probes"))
                scores = (mean_and_error(row[name] for row in rows) for name in ("loss", "accuracy"))
                lines.append((problem, method, found, *figures, *scores, _median(rows, "busy"), len(rows)))
    heading = ("problem", "method", "true found", "useful", "probes", "log loss", "accuracy", "processor s", "seeds")
    return table(heading, lines)


def numbers(cells: Cells) -> str:
    """Return a line for each problem and loss."""
    lines = []
    for problem in problems.NUMBERS:
        for loss in methods.REGRESSORS:
            rows = list(cells.get((problem, loss), {}).values())
            if rows:
                found = f"{_sum(rows, 'found')} / {_sum(rows, 'needed')}"
                error = mean_and_error(row["loss"] for row in rows)
                lines.append((problem, loss, found, _sum(rows, "probes"), error, _median(rows, "busy"), len(rows)))
    return table(("problem", "loss", "true found", "wrong", "squared error", "processor s", "seeds"), lines)


def comparison(cells: Cells) -> str:
    """Return where a careful rival finds more true variables, or predicts better with redundant or measured inputs."""
    lines = []
    for problem in problems.LABELS:
        ours = cells.get((problem, "fewvars"), {})
        if not ours:
            continue
        known = next(iter(ours.values()))["needed"] > 0 and "redundant" not in problem  # of copies, any will do
        for rival in list(methods.CLASSIFIERS)[1:]:
            theirs = cells.get((problem, rival), {})
            seeds = sorted(ours.keys() & theirs.keys())
            if not seeds:
                continue
            wrong = sum(theirs[s]["probes"] for s in seeds)
            chosen = sum(theirs[s]["probes"] + theirs[s]["useful"] for s in seeds)
            share = wrong / max(chosen, 1)
            found = _paired(ours[s]["found"] - theirs[s]["found"] for s in seeds) if known else ""
            loss = _paired(ours[s]["loss"] - theirs[s]["loss"] for s in seeds)
            inputs = _paired(len(ours[s]["selected"]) - len(theirs[s]["selected"]) for s in seeds)
            lines.append((problem, rival, f"{share:.2f}", found, loss, inputs, len(seeds)))
    heading = ("problem", "rival", "its wrong share", "true found, ours - its", "log loss", "inputs", "seeds")
    return table(heading, lines) + f"\n\nA rival counts as careful if its wrong share is at most {CAREFUL:g}."


def failures(cells: Cells) -> str:
    """Return the fits that failed."""
    failed = [
        f"- {problem}, {method}, seed {seed}: {row['failure']}"
        for (problem, method), some in cells.items()
        for seed, row in some.items()
        if "failure" in row
    ]
    return "\n".join(["Failed fits:", *failed]) if failed else "No fit failed."


def _sum(rows: list[Row], name: str) -> int:
    return sum(row[name] for row in rows)


def _mean(rows: list[Row], name: str) -> str:
    return f"{_sum(rows, name) / len(rows):.1f}"


def _median(rows: list[Row], name: str) -> str:
    return f"{np.median([row[name] for row in rows]):.2g}"


def _paired(differences: Iterable[float]) -> str:
    values = np.array(list(differences), float)
    if len(values) < 2:
        return f"{values.mean():+.3g}"
    return f"{values.mean():+.3g} ± {values.std(ddof=1) / np.sqrt(len(values)):.2g}"
