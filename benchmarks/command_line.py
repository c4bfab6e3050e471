"""Time and peak memory of every command on one large CSV, and of reading it against polars alone.

Run with `.venv/bin/python -m benchmarks.command_line`; `--rows` and `--columns` change the size. Each command runs
in a process of its own. Memory is the largest resident set of that process, which starts with the imports.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WRITING = "import sys; from benchmarks.command_line import write_data; write_data(*sys.argv[1:])"
READING = """
import sys, time
from pathlib import Path
import numpy, polars
from fewvars.files.tables import read_table
def read():
    polars.read_csv(sys.argv[1])
def read_to_numpy():
    polars.read_csv(sys.argv[1]).to_numpy(order="c")
def ours():
    table = read_table(sys.argv[1])
    table.matrix(table.names)
times = {read: [], read_to_numpy: [], ours: []}
for _ in range(7):  # in turns, so that a busy moment hits all of them
    for function, spent in times.items():
        start = time.perf_counter()
        function()
        spent.append(time.perf_counter() - start)
print(*map(min, times.values()))
"""
ALONE = {
    "polars.read_csv": "import sys, numpy, polars; polars.read_csv(sys.argv[1])",
    "read_table, to a matrix": (
        "import sys; from fewvars.files.tables import read_table; t = read_table(sys.argv[1]); t.matrix(t.names)"
    ),
}


def write_data(path, rows, columns):
    """Write a CSV in which y is a function of x3, x7 and x8 with a little noise."""
    import numpy as np

    from fewvars.files.tables import table_bytes

    rows, columns = int(rows), int(columns)
    rng = np.random.default_rng(100)
    X = rng.standard_normal((rows, columns))
    y = X[:, 3] * X[:, 7] - np.tanh(X[:, 8]) + 0.1 * rng.standard_normal(rows)
    Path(path).write_bytes(table_bytes({**{f"x{j}": X[:, j] for j in range(columns)}, "y": y}, ".csv"))


def run(command):
    """Run a command; return its time in seconds and its largest resident set in MB."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        spent = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            sys.exit(f"{' '.join(command)} failed: {errors.read().decode()}")
    kilobyte = 1 if platform.system() == "Darwin" else 1024
    return spent, usage.ru_maxrss * kilobyte / 1e6


def commands(folder, fit):
    """Return what to run, by what to call it."""
    data, model = str(folder / "data.csv"), str(folder / "model")
    fewvars = [sys.executable, "-m", "fewvars"]
    found = {
        "--version": ["--version"],
        "--help": ["--help"],
        "fit": ["fit", data, "--target", "y", "--save", model, *fit],
        "fit --json --report": ["fit", data, "--target", "y", "--json", "--report", str(folder / "report.html"), *fit],
        "predict to stdout": ["predict", model, data, "--quiet"],
        "predict to Parquet": ["predict", model, data, "--quiet", "--out", str(folder / "predicted.parquet")],
        "export": ["export", model, "--onnx", str(folder / "model.onnx")],
        "demo": ["demo", "--out", str(folder / "demo.html")],
        "bench": ["bench"],
        "completion bash": ["completion", "bash"],
    }
    scripts = {name: [sys.executable, "-c", code, data] for name, code in ALONE.items()}
    return {**scripts, **{f"fewvars {name}": [*fewvars, *arguments] for name, arguments in found.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--skip", nargs="*", default=[], help="first words of commands to leave out, such as demo")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="settings of the fit")
    parser.add_argument("--out", type=Path, help="also write the table to this file")
    options = parser.parse_args()
    lines = []

    def say(line):
        lines.append(line)
        print(line, flush=True)

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        data = folder / "data.csv"
        # Elsewhere, to keep this process small: the memory of a child is at least that of its parent.
        subprocess.run([sys.executable, "-c", WRITING, data, str(options.rows), str(options.columns)], check=True)
        size = f"{options.rows} rows, {options.columns} inputs, {data.stat().st_size / 1e6:.0f} MB of CSV"
        say(f"{size}; {os.cpu_count()} cores, Python {platform.python_version()}.")
        say("")
        say("| command | s | MB |")
        say("|---|---|---|")
        fit = [part for setting in options.set for part in ("--set", setting)]
        for code in ALONE.values():  # the first to load a library would be charged for reading it from the disk
            run([sys.executable, "-c", code, str(data)])
        for name, command in commands(folder, fit).items():
            if not set(name.split()) & set(options.skip):
                spent, memory = run(command)
                say(f"| {name} | {spent:.2f} | {memory:.0f} |")
        alone = subprocess.run([sys.executable, "-c", READING, str(data)], capture_output=True, text=True, check=True)
    theirs, converted, ours = map(float, alone.stdout.split())
    say("")
    say(
        f"Reading, best of seven: polars.read_csv {theirs:.3f} s; with its to_numpy {converted / theirs:.2f} times "
        f"that; read_table, to a matrix {ours / theirs:.2f} times."
    )
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
