"""The laws of a pendulum and of carts on springs, from their measured positions (Schmidt and Lipson 2009).

`.venv/bin/python -m benchmarks.dynamics.mechanics --data FOLDER` fits d2x/dt2 = f(x, dx/dt) to the positions alone and
prints the equations. FOLDER holds the folder `pendulum` with the files of the paper: lines of trial, time, positions
and velocities, which are not used. The valid time is that of a simulation from the first smoothed state.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

import fewvars as fv
from benchmarks.rows import table
from fewvars.series.smoothing import smoother

CASES = {
    "pendulum": ("real_pend_h_1.txt", ("angle",), ("angle",)),
    "cart on a spring": ("real_linear_h_1.txt", ("x",), ()),
    "two coupled carts": ("real_double_linear_h_1.txt", ("x1", "x2"), ()),
}


def laws(file: Path, names: tuple[str, ...], angles: tuple[str, ...], target: str) -> tuple[list[str], float, float]:
    """Return the equations, the valid time of a simulation from the first state, and the duration of the data."""
    values = np.loadtxt(file, comments="%")
    t, positions = values[:, 1], values[:, 2 : 2 + len(names)]
    smooth = smoother(positions, t)
    states = np.column_stack([smooth.values, smooth.derivative])
    model = fv.DynamicsRegressor(order=2, target=target, angles=list(angles), random_state=0)
    model.fit(pd.DataFrame(positions, columns=names), t=t)
    found = zip(names, model.equations_, model.held_out_errors_, strict=True)
    text = [f"d²{name}/dt² = {right.replace('`', '')} (held-out error {error:.2g})" for name, right, error in found]
    return text, model.valid_time(states, t), float(np.ptp(t))


def main() -> None:
    """Print a table of the laws."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds the folder pendulum")
    folder = parser.parse_args().data / "pendulum"
    lines = []
    for case, (file, names, angles) in CASES.items():
        for target in ("weak", "derivative"):
            found, valid, duration = laws(folder / file, names, angles, target)
            lines.append([case, target, "<br>".join(found), f"{valid:.3g} of {duration:.3g}"])
    print(table(["system", "target", "law", "valid time"], lines))


if __name__ == "__main__":
    main()
