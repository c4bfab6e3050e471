"""Measured data with known causes, read from a folder that is not part of the project.

`hiv/`: mutations of the HIV protease and resistance to seven drugs (Rhee et al. 2006, Stanford HIV Drug Resistance
Database), as used by Barber and Candes (2015): `PI_mutations.csv.gz`, `PI_resistances.csv.gz`, and positions that
another kind of study found, `resistance_positions.json`. `light_tunnel/`: an optical bench with random settings, and
its physical causes (Gamella et al. 2025, https://github.com/juangamella/causal-chamber): `uniform_reference.csv.gz`
and `dag.csv`.
"""

import csv
import gzip
import inspect
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.selection.problems import Data

DRUGS = ("APV", "ATV", "IDV", "LPV", "NFV", "RTV", "SQV")
SETTINGS = ("red", "green", "blue", "pol_1", "pol_2", "l_11", "l_12", "l_21", "l_22", "l_31", "l_32")
EFFECTS = ("current", "angle_1", "angle_2", "ir_1", "ir_2", "ir_3", "vis_1", "vis_2", "vis_3")
FEWEST_ONES = 3


def columns(file: Path) -> tuple[list[str], list[list[str]]]:
    """Return the names and the rows of a compressed table."""
    with gzip.open(file, "rt") as text:
        names, *rows = csv.reader(text)
    return names, rows


@dataclass(frozen=True)
class Measured:
    """Data in a folder that may be missing."""

    label: str
    folder: Path

    @property
    def missing(self) -> str | None:
        """Why there are no data, None if there are."""
        return None if self.folder.is_dir() else f"{self.folder} does not exist; give --data FOLDER"


@dataclass(frozen=True)
class Resistance(Measured):
    """Log resistance to a drug from mutations; a discovery is a position, right if it is on the list.

    Columns with at least three ones count; of columns that are equal, the first is kept. Rows are in no order.
    """

    @property
    def name(self) -> str:
        """What rows and tables call it."""
        return f"HIV, {self.label}"

    @property
    def source(self) -> list[str]:
        """What the data depend on, as text."""
        return [inspect.getsource(Resistance), self.label]

    def data(self, seed: int) -> Data:
        """Return the data, the same for every seed; there is no test set."""
        names, rows = columns(self.folder / "PI_mutations.csv.gz")
        drugs, values = columns(self.folder / "PI_resistances.csv.gz")
        measured = [row[drugs.index(self.label)] for row in values]
        kept = [i for i, value in enumerate(measured) if value != "NA"]
        X = np.array([rows[i][1:] for i in kept], float)
        y = np.log([float(measured[i]) for i in kept])
        usable = np.flatnonzero(X.sum(axis=0) >= FEWEST_ONES)
        _, first = np.unique(X[:, usable], axis=1, return_index=True)
        usable = usable[np.sort(first)]
        positions = np.array([int(name[1:].split(".")[0]) for name in names[1:]])[usable]
        listed = json.loads((self.folder / "resistance_positions.json").read_text())["PI"]
        return Data(X[:, usable], y, None, None, np.isin(positions, listed), shuffle=True, groups=positions)


@dataclass(frozen=True)
class LightTunnel(Measured):
    """What a sensor shows from the eleven settings that vary; a discovery is an edge of the physical causes.

    The edges from the LEDs `l_*` are too weak to be seen in these settings, so that finding one is neither right nor
    wrong: 27 edges are visible.
    """

    @property
    def name(self) -> str:
        """What rows and tables call it."""
        return f"light tunnel, {self.label}"

    @property
    def source(self) -> list[str]:
        """What the data depend on, as text."""
        return [inspect.getsource(LightTunnel), self.label, *SETTINGS]

    def data(self, seed: int) -> Data:
        """Return the data, the same for every seed; there is no test set."""
        names, rows = columns(self.folder / "uniform_reference.csv.gz")
        table = np.array([[row[names.index(name)] for name in (*SETTINGS, self.label)] for row in rows], float)
        with (self.folder / "dag.csv").open() as text:
            causes = {source for source, target in list(csv.reader(text))[1:] if target == self.label}
        true = np.array([name in causes for name in SETTINGS])
        weak = true & np.array([name.startswith("l_") for name in SETTINGS])
        return Data(table[:, :-1], table[:, -1], None, None, true & ~weak, unjudged=weak)


def problems(folder: Path | None) -> dict[str, list[Resistance | LightTunnel]]:
    """Return the collections by name."""
    folder = folder or Path()
    return {
        "hiv": [Resistance(drug, folder / "hiv") for drug in DRUGS],
        "light_tunnel": [LightTunnel(effect, folder / "light_tunnel") for effect in EFFECTS],
    }
