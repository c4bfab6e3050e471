"""Tables of rows: what was found, where a careful rival found more, and how often noise was taken for a variable."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.rows import Row, mean_and_error, table

WRONG = 0.1  # wrong share, of a rival that counts as careful, and asked of us in every row
WRONG_OVERALL = 0.05
ANYTHING = 0.05  # share of fits to noise that select anything
OURS = "fewvars"
TOLD = ("oracle",)  # methods that know the answer

Cell = tuple[str, str]  # problem, method


def latest(rows: list[Row]) -> dict[Cell, dict[int, Row]]:
    """Return the rows by problem and method, then seed; the last of each counts."""
    found: dict[Cell, dict[int, Row]] = {}
    for row in rows:
        found.setdefault((row["problem"], row["method"]), {})[row["seed"]] = row
    return found


def finished(by_seed: dict[int, Row]) -> list[Row]:
    return [row for _, row in sorted(by_seed.items()) if "failure" not in row]


def total(rows: list[Row], name: str) -> int:
    return sum(row[name] for row in rows)


def wrong_share(rows: list[Row]) -> float:
    """Return wrong / selected of all rows together, 0 if nothing was selected."""
    wrong, found = total(rows, "wrong"), total(rows, "found")
    return wrong / max(wrong + found, 1)


def paired(ours: dict[int, Row], theirs: dict[int, Row]) -> tuple[float, float, int]:
    """Return the mean difference in true variables found over common seeds, its standard error, and their number."""
    common = [s for s in ours if s in theirs and "failure" not in ours[s] and "failure" not in theirs[s]]
    differences = np.array([ours[seed]["found"] - theirs[seed]["found"] for seed in common], float)
    if not len(differences):
        return np.nan, np.nan, 0
    error = differences.std(ddof=1) / np.sqrt(len(differences)) if len(differences) > 1 else np.nan
    return float(differences.mean()), float(error), len(differences)


def cells(by_seed: dict[int, Row]) -> tuple[str, ...]:
    """Return the figures of one method on one problem: found, wrong, share, error, times, seeds, failures."""
    rows = finished(by_seed)
    failures = [row["failure"] for row in by_seed.values() if "failure" in row]
    timeouts = sum(failure in ("timeout", "not tried") for failure in failures)
    notes = [f"{timeouts} timed out or not tried after that"] * bool(timeouts)
    notes += [f"{len(failures) - timeouts} failed"] * (len(failures) > timeouts)
    if not rows:
        return "-", "-", "-", "-", "-", "-", "0", "; ".join(notes)
    errors = [row["error"] for row in rows if row["error"] is not None]
    return (
        f"{total(rows, 'found')} / {total(rows, 'possible')}",
        str(total(rows, "wrong")),
        f"{wrong_share(rows):.2f}",
        mean_and_error(errors) if errors else "-",
        f"{np.median([row['seconds'] for row in rows]):.2g}",
        f"{np.median([row['busy'] for row in rows]):.2g}",
        str(len(rows)),
        "; ".join(notes),
    )


FIGURES = ("true found", "wrong", "wrong share", "centred error", "s", "processor s", "seeds", "")


def details(problems: Sequence[str], methods: Sequence[str], rows: dict[Cell, dict[int, Row]]) -> str:
    lines = [(p, m, *cells(rows[p, m])) for p in problems for m in methods if (p, m) in rows]
    return table(("problem", "method", *FIGURES), lines)


def overview(problems: Sequence[str], methods: Sequence[str], rows: dict[Cell, dict[int, Row]]) -> str:
    """Return a line per problem: true found, +wrong; a star marks a wrong share above the bound."""

    def cell(problem, method):
        some = finished(rows.get((problem, method), {}))
        if not some:
            return "-"
        star = "*" if wrong_share(some) > WRONG else ""
        possible = total(some, "possible")
        found = f"{total(some, 'found') / possible:.2f}" if possible else "null"
        return f"{found}, +{total(some, 'wrong')}{star} ({len(some)})"

    lines = [(problem, *(cell(problem, method) for method in methods)) for problem in problems]
    everything = [[row for p in problems for row in finished(rows.get((p, m), {}))] for m in methods]
    lines.append(("**wrong share over all**", *(f"{wrong_share(some):.3f}" if some else "-" for some in everything)))
    note = "Share of the true variables found, number of wrong ones (seeds); \\* the wrong share is above "
    return table(("problem", *methods), lines) + f"\n\n{note}{WRONG:g}."


def measured(problems: Sequence[str], methods: Sequence[str], rows: dict[Cell, dict[int, Row]], right: str) -> str:
    """Return right / wrong discoveries per problem and over all, means over seeds; empty without rows."""
    sums = {method: np.zeros(2) for method in methods}
    lines = []
    for problem in problems:
        line = [problem]
        for method in methods:
            some = finished(rows.get((problem, method), {}))
            means = np.array([total(some, name) / max(len(some), 1) for name in ("found", "wrong")])
            sums[method] += means if some else np.nan
            line.append(f"{means[0]:g} / {means[1]:g}" if some else "-")
        lines.append(tuple(line))
    lines.append(("**all**", *(f"{found:g} / {wrong:g}" if found >= 0 else "-" for found, wrong in sums.values())))
    return table((right, *methods), lines) if any((p, m) in rows for p in problems for m in methods) else ""


def check(problems: Sequence[str], methods: Sequence[str], rows: dict[Cell, dict[int, Row]], ours: str = OURS) -> str:
    """Return where a careful rival finds more, and where we select too much."""
    lines, worse, compared = [], [], 0
    for problem in problems:
        mine = rows.get((problem, ours), {})
        for method in methods:
            theirs = rows.get((problem, method), {})
            if method in (ours, *TOLD) or not finished(theirs) or wrong_share(finished(theirs)) > WRONG:
                continue
            mean, error, n = paired(mine, theirs)
            if n == 0 or not total(finished(theirs), "possible"):
                continue
            compared += 1
            fewer = mean < -2 * error
            worse += [f"{problem}: {method} finds {-mean:.2f} ± {error:.2f} more per fit"] * fewer
            lines.append((problem, method, f"{mean:+.2f} ± {error:.2f}", n, "FEWER" if fewer else ""))
    text = [
        table(("problem", f"rival with wrong share <= {WRONG:g}", f"true found, {ours} - rival", "seeds", ""), lines)
    ]
    text += ["", f"Fewer by more than two standard errors: {len(worse)} of {compared} comparisons.", *worse]
    return "\n".join([*text, "", *wrong_ones(problems, rows, ours)])


def wrong_ones(problems: Sequence[str], rows: dict[Cell, dict[int, Row]], ours: str) -> list[str]:
    """Return sentences about our wrong share in every row and over all."""
    of = {p: finished(rows.get((p, ours), {})) for p in problems}
    with_truth = {p: some for p, some in of.items() if some and total(some, "possible")}
    if not with_truth:
        return [f"No rows of {ours}."]
    above = [f"{p}: {wrong_share(some):.2f}" for p, some in with_truth.items() if wrong_share(some) > WRONG]
    overall = wrong_share([row for some in of.values() for row in some])
    verdict = "as asked" if overall <= WRONG_OVERALL else "MORE than asked"
    return [
        f"{ours}: wrong share above {WRONG:g} in {len(above)} of {len(with_truth)} problems. " + "; ".join(above),
        f"{ours}: wrong share over all problems {overall:.3f}, at most {WRONG_OVERALL:g} asked: {verdict}.",
    ]


def null(problems: Sequence[str], methods: Sequence[str], rows: dict[Cell, dict[int, Row]]) -> str:
    """Return the share of fits to noise that select anything, per problem and over all; empty without such problems."""

    def cell(some: list[Row]) -> Any:
        return f"{sum(row['wrong'] > 0 for row in some)} of {len(some)}" if some else "-"

    def of(problem, method):
        return [row for row in finished(rows.get((problem, method), {})) if row["possible"] == 0]

    empty = [p for p in problems if any(of(p, m) for m in methods)]
    if not empty:
        return ""
    lines = [(p, *(cell(of(p, m)) for m in methods)) for p in empty]
    pooled = [[row for p in empty for row in of(p, m)] for m in methods]
    lines.append((f"**all** (goal: at most {ANYTHING:.0%})", *(cell(some) for some in pooled)))
    return table(("fits to noise that select anything", *methods), lines)
