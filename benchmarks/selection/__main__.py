"""Which inputs does an output depend on? Runs problems x methods x seeds, and prints the tables.

    .venv-bench/bin/python -m benchmarks.selection run --methods fewvars linear-forward --problems reported --seeds 20
    .venv-bench/bin/python -m benchmarks.selection table --problems reported

Every fit is a line in benchmarks/results/selection/METHOD.jsonl: started again, only what is missing is run. Rows of
rivals stay valid when fewvars changes. Settings are chosen on the problems called `development`, seeds from 100;
`reported` ones have other functions and shapes, seeds 0 to 19. A fit that takes longer than the time limit (seconds of
the processor, or three times that by the clock) is killed, and counted as such; after two of these the other seeds of
that problem are not tried. `--problems` takes collections (`list` prints them) or patterns of names; `--before FOLDER`
is a checkout of an older fewvars, for the method `before`. `calibration` compares the q-values of the problems of that
name with the false discovery rates that were realised.
"""

import argparse
import sys
from pathlib import Path

from benchmarks.rows import add_options, read, seeds
from benchmarks.selection import calibration, registry, tables
from benchmarks.selection.harness import TIME_LIMIT, CannotRun, Runner

RESULTS = Path("benchmarks/results/selection")
MEASURED = {"hiv": "positions on the list / off it", "light_tunnel": "edges right / wrong, 27 to be found"}


def run(options: argparse.Namespace) -> None:
    problems = registry.chosen(options.problems, options.data)
    for problem in problems:
        if problem.missing:
            print(f"{problem.name} is skipped: {problem.missing}", file=sys.stderr)
    problems = [problem for problem in problems if not problem.missing]
    for method in options.methods:
        if method == "before" and options.before is None:
            raise SystemExit("the method `before` needs --before FOLDER, a checkout of an older fewvars")
        runner = Runner(
            method,
            options.results / f"{method}.jsonl",
            jobs=options.jobs,
            limit=options.time_limit,
            source=options.before.resolve() / "src" if method == "before" else None,
            data=options.data,
        )
        print(
            f"{method}: {len(problems)} problems, seeds {options.first_seed} to {seeds(options)[-1]}", file=sys.stderr
        )
        try:
            runner.rows(problems, seeds(options), fresh=options.fresh, retry=options.retry)
        except CannotRun as reason:
            print(reason, file=sys.stderr)


def print_tables(options: argparse.Namespace) -> None:
    """Print the tables of all rows there are, or of those of some seeds."""
    collections = registry.collections()
    real = {name: [problem.name for problem in collections[name]] for name in MEASURED}
    names = [problem.name for problem in registry.chosen(options.problems)]
    rows = [row for method in options.methods for row in read(options.results / f"{method}.jsonl")]
    rows = [row for row in rows if options.seeds is None or row["seed"] in seeds(options)]
    by_cell = tables.latest([row for row in rows if row["problem"] in names])
    methods = [method for method in options.methods if any(m == method for _, m in by_cell)]
    problems = [
        name for name in names if any(p == name for p, _ in by_cell) and not any(name in r for r in real.values())
    ]
    simulated = (
        tables.overview(problems, methods, by_cell),
        tables.null(problems, methods, by_cell),
        tables.check(problems, methods, by_cell, options.ours),
    )
    parts = [
        *(simulated if problems else ()),
        *(tables.measured(real[name], methods, by_cell, right) for name, right in MEASURED.items()),
        tables.details(problems, methods, by_cell) if options.details else "",
        "\n".join(f"- {name}: {registry.METHODS[name].note}." for name in methods),
    ]
    print("\n\n".join(part for part in parts if part))


def print_calibration(options: argparse.Namespace) -> None:
    """Print whether q-values keep the rates that they promise."""
    problems = calibration.PROBLEMS
    by_cell = tables.latest(read(options.results / f"{tables.OURS}.jsonl"))
    rows = {p.name: tables.finished(by_cell.get((p.name, tables.OURS), {})) for p in problems}
    print(calibration.calibration(problems, rows))


def print_names(options: argparse.Namespace) -> None:
    for name, some in registry.collections().items():
        print(f"{name}:", *(f"  {problem.name}" for problem in some), sep="\n")
    print("methods:", *(f"  {name}" for name in registry.METHODS), sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.selection", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run", help="make the rows that are missing")
    add_options(running, seeds=20)
    running.add_argument("--time-limit", type=float, default=TIME_LIMIT, help="processor seconds of a fit")
    running.add_argument("--before", type=Path, help="checkout of an older fewvars")
    running.add_argument("--retry", action="store_true", help="make rows of failures again")
    running.set_defaults(run=run, results=RESULTS)
    printing = commands.add_parser("table", help="print what the rows say")
    printing.add_argument("--first-seed", type=int, default=0)
    printing.add_argument("--seeds", type=int, help="how many; all there are")
    printing.add_argument("--details", action="store_true", help="also errors, seconds and failures")
    printing.add_argument(
        "--ours", default=tables.OURS, choices=list(registry.METHODS), help="compared with the rivals"
    )
    printing.add_argument("--results", type=Path, default=RESULTS, help="folder of the rows")
    printing.set_defaults(run=print_tables)
    for command, problems in ((running, ["reported"]), (printing, ["reported", *MEASURED])):
        command.add_argument("--methods", nargs="+", choices=list(registry.METHODS), default=list(registry.METHODS))
        command.add_argument("--problems", nargs="+", default=problems, help="collections, or patterns of names")
    keeping = commands.add_parser("calibration", help="print the false discovery rates that q-values keep")
    keeping.add_argument("--results", type=Path, default=RESULTS, help="folder of the rows")
    keeping.set_defaults(run=print_calibration)
    listing = commands.add_parser("list", help="print the names of problems and methods")
    listing.set_defaults(run=print_names)
    running.add_argument("--data", type=Path, help="folder of measured data, which the project does not contain")
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
