"""Does the answer agree with new rows, and with the next shuffle? Runs data x methods x splits, and prints the tables.

    .venv-bench/bin/python -m benchmarks.trust run
    .venv-bench/bin/python -m benchmarks.trust table > benchmarks/results/trust/table.md

Every fit is a line in benchmarks/results/trust/METHOD.jsonl: started again, only what is missing is run. The data sets
are those that scikit-learn and statsmodels ship, with 50 permuted probes beside the inputs: `reported` have at least
200 rows, `small` ones are listed only, `forecasts` are series whose next value is predicted from the last twelve, and
`rearranged` is one table in another order of its rows or without a tenth of them. Settings are chosen on the data
called `development`, with seeds from 100.
"""

import argparse
import sys
from pathlib import Path

from benchmarks.rows import add_options, collect, read, seeds
from benchmarks.trust import tables
from benchmarks.trust.fits import digest, fit
from benchmarks.trust.problems import ORIGINS, Forecast, Problem, RandomSplits, Rearranged
from benchmarks.trust.registry import COLLECTIONS, METHODS, chosen

RESULTS = Path("benchmarks/results/trust")
REPORTED = ["reported", "small", "forecasts", "rearranged"]


def run(options: argparse.Namespace) -> None:
    problems = chosen(options.problems)
    for problem in problems:
        if problem.missing:
            print(f"{problem.name} is skipped: {problem.missing}", file=sys.stderr)
    for method in options.methods:
        keys = [
            {"problem": problem.name, "method": method, "seed": seed}
            for number, seed in enumerate(seeds(options))
            for problem in problems
            if method in problem.methods and not problem.missing
            if number < ORIGINS or not isinstance(problem, Forecast)
        ]
        if keys:
            print(f"{method}: {len(keys)} fits", file=sys.stderr)
            collect(
                options.results / f"{method}.jsonl", fit, keys, n_jobs=options.jobs, fresh=options.fresh, code=digest
            )


def print_tables(options: argparse.Namespace) -> None:
    made = [row for method in METHODS for row in read(options.results / f"{method}.jsonl")]
    rows, wanted = tables.latest(made), {problem.name for problem in chosen(options.problems)}

    def names(kind: type[Problem], small: bool = False) -> list[str]:
        return [
            p.name for p in chosen(options.problems) if isinstance(p, kind) and (p in COLLECTIONS["small"]) == small
        ]

    parts = [
        tables.splits(names(RandomSplits), rows),
        tables.splits(names(RandomSplits, small=True), rows, judged=False),
        tables.forecasts(names(Forecast), rows),
        tables.rearranged(names(Rearranged), rows),
        tables.failures([row for row in made if row["problem"] in wanted]),
    ]
    print("\n\n".join(part for part in parts if part))


def print_names(options: argparse.Namespace) -> None:
    for name, some in COLLECTIONS.items():
        print(f"{name}:", *(f"  {problem.name}" for problem in some), sep="\n")
    print("methods:", *(f"  {name}" for name in METHODS), sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.trust", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run", help="make the rows that are missing")
    add_options(running, seeds=20)
    running.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    running.set_defaults(run=run, results=RESULTS)
    printing = commands.add_parser("table", help="print what the rows say")
    printing.add_argument("--results", type=Path, default=RESULTS, help="folder of the rows")
    printing.set_defaults(run=print_tables)
    for command in (running, printing):
        command.add_argument("--problems", nargs="+", default=REPORTED, help="collections, or patterns of names")
    commands.add_parser("list", help="print the names of data and methods").set_defaults(run=print_names)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
