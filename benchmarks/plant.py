"""The command line, without options, on tables with dates, categories and empty cells.

Usage: .venv/bin/python -m benchmarks.plant [--seeds 12]

Each table is written as a CSV file, and `fewvars fit plant.csv --target yield --json` says which variables it finds.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from fewvars.files.tables import table_bytes
from fewvars.problems import plant_table

TRUTH = {"site", "temperature", "flow"}


def found(seed: int, folder: Path) -> dict:
    path = folder / "plant.csv"
    path.write_bytes(table_bytes(plant_table(seed=seed), ".csv"))
    command = [sys.executable, "-m", "fewvars", "fit", str(path), "--target", "yield", "--json", "--quiet"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=12)
    seeds = range(parser.parse_args().seeds)
    exact = 0
    print("| seed | variables found | largest q-value | held-out error | seconds |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            answer = found(seed, Path(folder))
            names = [variable["name"] for variable in answer["variables"]]
            exact += set(names) == TRUTH
            largest = max((variable["q_value"] for variable in answer["variables"]), default=float("nan"))
            print(
                f"| {seed} | {', '.join(names)} | {largest:.2g} | {answer['held_out_error']:.3g} | "
                f"{answer['seconds']:.1f} |",
                flush=True,
            )
    print(f"\nExactly the site, the temperature and the flow: {exact} of {len(seeds)}.")


if __name__ == "__main__":
    main()
