"""Do q-values keep their word? Small designs for many seeds, and the table of realised false discovery rates.

.venv/bin/python -m benchmarks.selection run --methods fewvars --problems calibration --seeds 500
.venv/bin/python -m benchmarks.selection calibration
"""

from collections.abc import Sequence

import numpy as np

from benchmarks.rows import Row, table
from benchmarks.selection.problems import Problem, noise_over_time, over_time, toeplitz

LEVELS = (0.05, 0.1, 0.2)


def four(a, b, c, d):
    return a - 1.1 * np.tanh(1.5 * b) + 0.6 * c**2 + 0.8 * c * d


def three(a, b, c):
    return 0.9 * a + 0.7 * b**2 - np.sin(1.5 * c)


PROBLEMS = [
    Problem("calibration, null", 200, 20, None, None),
    Problem("calibration, sparse", 200, 20, four, 2),
    Problem("calibration, neighbours correlated 0.7", 200, 20, four, 2, toeplitz(0.7)),
    Problem("calibration, many rows", 2500, 20, four, 0.3),
    *(
        Problem(f"calibration, rows correlated {rho:g}", 400, 12, three, 2, over_time(rho), noise_over_time(rho))
        for rho in (0.5, 0.9, 0.95)
    ),
]


def rate(row: Row, level: float) -> tuple[int, float]:
    """Return how many true inputs have a q-value of at most a level, and the share of false ones among all of these."""
    chosen = {int(j) for j, q in row["q"].items() if q <= level}
    true = set(row["support"])
    return len(chosen & true), len(chosen - true) / max(len(chosen), 1)


def calibration(problems: Sequence[Problem], rows: dict[str, list[Row]]) -> str:
    """Return a line per design: fits, the realised rate at each level, and what is found compared with the default."""
    lines = []
    for problem in problems:
        some = [
            row | {"support": np.flatnonzero(problem.data(row["seed"]).support).tolist()}
            for row in rows.get(problem.name, [])
        ]
        if not some:
            continue
        cells = []
        for level in LEVELS:
            false = np.array([rate(row, level)[1] for row in some])
            error = false.std(ddof=1) / np.sqrt(len(false)) if len(false) > 1 else np.nan
            cells.append(f"{false.mean():.3f} ± {error:.3f}" + " above" * bool(false.mean() > level + 2 * error))
        default = sum(row["found"] for row in some)
        found = sum(rate(row, 0.1)[0] for row in some)
        anything = sum(bool(row["selected"]) for row in some)
        wrong = sum(row["wrong"] for row in some)
        shares = f"{found / default:.2f}" if default else "-", f"{wrong / max(wrong + default, 1):.3f}"
        lines.append((problem.name, len(some), *cells, *shares, anything))
    columns = ("design", "fits", *(f"rate at {level:g}" for level in LEVELS))
    return table((*columns, "found at 0.1 / by default", "wrong share, default", "fits that select anything"), lines)
