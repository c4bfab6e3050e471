"""Tables of rows, with the goals in the headings; a star marks a figure that misses its goal."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from benchmarks.rows import Row, table

OURS, LASSO, FOREST, AUTOREGRESSION, PERSISTENCE = "fewvars", "lasso-cv", "forest", "autoregression", "persistence"
CLAIMED_EACH, CLAIMED_MEAN, CLAIMED_FORECAST = (0.8, 1.25), (0.9, 1.1), (0.75, 1.33)
COVERAGE = (0.87, 0.93)
INPUTS = 0.5  # of those that LassoCV keeps
SAME_WAY = 0.95  # share of the fits that must agree on an input
MOST_UNCERTAIN = 3

Rows = dict[tuple[str, str], dict[int, Row]]


def latest(rows: list[Row]) -> Rows:
    """Return the rows that did not fail by problem and method, then seed; the last of each counts."""
    found: Rows = {}
    for row in rows:
        found.setdefault((row["problem"], row["method"]), {})[row["seed"]] = row
    return {
        cell: {seed: row for seed, row in sorted(some.items()) if "failure" not in row} for cell, some in found.items()
    }


def failures(rows: list[Row]) -> str:
    """Return a sentence about the fits that failed; empty if none did."""
    last = {(row["problem"], row["method"], row["seed"]): row for row in rows}
    counts = Counter((row["problem"], row["method"], row["failure"]) for row in last.values() if "failure" in row)
    listed = (f"{problem}, {method}: {n} ({why})" for (problem, method, why), n in counts.items())
    return f"Fits that failed and are left out above: {'; '.join(listed)}." if counts else ""


def on_our_seeds(problem: str, rows: Rows, *methods: str) -> list[dict[int, Row]]:
    """Return our rows of a problem, and those of other methods for the same seeds."""
    ours = rows.get((problem, OURS), {})
    return [ours, *({s: row for s, row in rows.get((problem, m), {}).items() if s in ours} for m in methods)]


def mean(rows: dict[int, Row], name: str) -> float:
    values = [row[name] for row in rows.values() if name in row]
    return float(np.mean(values)) if values else np.nan


def claimed_over_real(rows: dict[int, Row]) -> float:
    return mean(rows, "claimed") / mean(rows, "real")


def kept(rows: dict[int, Row]) -> float:
    """Return how many columns are selected in the mean, probes included."""
    return float(np.mean([len(row["selected"]) + len(row["probes"]) for row in rows.values()])) if rows else np.nan


def probes(rows: dict[int, Row]) -> float:
    """Return how many probes are selected in the mean."""
    return float(np.mean([len(row["probes"]) for row in rows.values()]))


def paired(ours: dict[int, Row], theirs: dict[int, Row], name: str) -> tuple[float, float]:
    """Return the mean of ours - theirs over common seeds, and its standard error."""
    differences = np.array([ours[seed][name] - theirs[seed][name] for seed in ours if seed in theirs])
    if len(differences) < 2:
        return np.nan, np.nan
    return float(differences.mean()), float(differences.std(ddof=1) / np.sqrt(len(differences)))


def marked(value: float, good: bool, form: str = ".2f") -> str:
    """Return a figure with a star unless it is good; a dash for one that does not exist."""
    return "-" if np.isnan(value) else f"{value:{form}}{'' if good else '*'}"


def within(value: float, bounds: tuple[float, float]) -> bool:
    return bounds[0] <= value <= bounds[1]


def spelt(bounds: tuple[float, float]) -> str:
    return f"{bounds[0]:g} to {bounds[1]:g}"


SPLITS = (
    "data (splits)",
    "training rows",
    "inputs",
    "selected",
    "probes",
    f"LassoCV keeps (ours at most {INPUTS:g} of it)",
    f"claimed / real ({spelt(CLAIMED_EACH)})",
    "R2 on new rows",
    "LassoCV",
    "forest",
    "ours - the better (at least -1 s.e.)",
    "coverage of 90%",
)


def split_line(problem: str, rows: Rows, judged: bool) -> tuple:
    """Return the line of one data set, means over the splits."""
    ours, lasso, forest = on_our_seeds(problem, rows, LASSO, FOREST)
    better = max((lasso, forest), key=lambda some: np.nan_to_num(mean(some, "r2"), nan=-np.inf))
    difference, error = paired(ours, better, "r2")
    ratio, first = claimed_over_real(ours), next(iter(ours.values()))
    return (
        f"{problem} ({len(ours)})",
        first["rows"],
        first["inputs"],
        f"{kept(ours) - probes(ours):.1f}",
        f"{probes(ours):.2f}",
        marked(kept(lasso), not judged or kept(ours) <= INPUTS * kept(lasso), ".1f"),
        marked(ratio, not judged or within(ratio, CLAIMED_EACH)),
        *(marked(mean(some, "r2"), True, ".3f") for some in (ours, lasso, forest)),
        f"{marked(difference, not judged or difference >= -error, '+.3f')} ± {error:.3f}",
        marked(mean(ours, "coverage"), True),
    )


def splits(problems: Sequence[str], rows: Rows, *, judged: bool = True) -> str:
    """Return a line per data set and, if they are judged, the means over the sets; empty without rows."""
    cells = {problem: rows[problem, OURS] for problem in problems if rows.get((problem, OURS))}
    text = table(SPLITS, [split_line(problem, rows, judged) for problem in cells]) if cells else ""
    if not judged or not cells:
        return text
    ratio = float(np.mean([claimed_over_real(ours) for ours in cells.values()]))
    coverage = float(np.mean([mean(ours, "coverage") for ours in cells.values()]))
    return (
        f"{text}\n\nMeans over the {len(cells)} sets: claimed / real {marked(ratio, within(ratio, CLAIMED_MEAN))} "
        f"(goal {spelt(CLAIMED_MEAN)}), coverage of 90% intervals "
        f"{marked(coverage, within(coverage, COVERAGE), '.3f')} (goal {spelt(COVERAGE)})."
    )


FORECASTS = (
    "series (origins)",
    "selected",
    f"claimed / real ({spelt(CLAIMED_FORECAST)})",
    "RMSE on new rows",
    "AR(12)",
    "persistence",
    "ours - AR(12) (at most 0)",
    "coverage of 90%",
)


def forecast_line(problem: str, rows: Rows) -> tuple:
    """Return the line of one series, means over the origins."""
    ours, theirs, last = on_our_seeds(problem, rows, AUTOREGRESSION, PERSISTENCE)
    ratio, (difference, error) = claimed_over_real(ours), paired(ours, theirs, "real")
    return (
        f"{problem} ({len(ours)})",
        f"{kept(ours):.1f}",
        marked(ratio, within(ratio, CLAIMED_FORECAST)),
        *(marked(mean(some, "real"), True, ".3g") for some in (ours, theirs, last)),
        f"{marked(difference, difference <= 0, '+.2g')} ± {error:.1g}",
        marked(mean(ours, "coverage"), True),
    )


def forecasts(problems: Sequence[str], rows: Rows) -> str:
    """Return a line per series; empty without rows."""
    lines = [forecast_line(problem, rows) for problem in problems if rows.get((problem, OURS))]
    return table(FORECASTS, lines) if lines else ""


def rearranged(problems: Sequence[str], rows: Rows) -> str:
    """Return how often each input is selected under each rearrangement, and which inputs are uncertain."""
    cells = {problem: rows[problem, OURS] for problem in problems if rows.get((problem, OURS))}
    if not cells:
        return ""
    counts = {
        problem: Counter(name for row in some.values() for name in (*row["selected"], *row["probes"]))
        for problem, some in cells.items()
    }

    def uncertain(name: str) -> bool:
        votes = ((counts[problem][name], len(some)) for problem, some in cells.items())
        return any(max(chosen, n - chosen) < SAME_WAY * n for chosen, n in votes)

    names = [name for name, _ in sum(counts.values(), Counter()).most_common()]
    lines = [
        (name, *(f"{counts[problem][name]} of {len(some)}" for problem, some in cells.items()), "yes" * uncertain(name))
        for name in names
    ]
    open_ones = [name for name in names if uncertain(name)]
    verdict = marked(len(open_ones), len(open_ones) <= MOST_UNCERTAIN, ".0f")
    return (
        f"{table(('selected at least once', *cells, 'uncertain'), lines)}\n\n"
        f"Inputs not decided the same way in {SAME_WAY:.0%} of the fits: {verdict} (goal: at most {MOST_UNCERTAIN}). "
        f"{', '.join(open_ones)}"
    ).rstrip()
