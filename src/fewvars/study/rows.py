"""Finished fits as durable rows: one JSON line each, in a file that one run writes and every run reads.

Every run appends to a file of its own, so runs that share a folder, even over a network, never write to the same
one, and a line torn by a crash has no successor to spoil. Lines that cannot be read are passed over: their fits
count as missing.
"""

import errno
import gzip
import io
import json
import os
import re
import socket
import zlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, final
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from fewvars._common.atomic import naming, write_atomically
from fewvars.study.specification import Task

Key = tuple[str, str, str, int]
Arrays = dict[str, NDArray[Any]]
FITTED, FAILED = "fitted", "failed"


@final
@dataclass(frozen=True)
class Row:
    """One fit: what was asked, what came out, where and when.

    Figures that do not apply (supports of directions, angles of variables) are None.

    Attributes
    ----------
    specification, experiment, setting, method, replicate, seed
        What was asked; see `Task`.
    outcome : {"fitted", "failed"}
    reason : str
        Exception type and message of a failure.
    sensitivity, specificity, relative_error, centred_error, exact
        As in `fewvars.metrics`; for directions, exact means the right number of them.
    selected : tuple of int
        Selected inputs, counted from zero.
    n_directions, rank : int
        Number of directions as the method counts them, and of those that are linearly independent.
    angle, angle_strong : float
        Largest principal angle in degrees to all true directions and to the strong two.
    head : str
        What predicts, if the method can choose.
    seconds : float
        Processor time of the fit.
    warnings : tuple of str
        What the fit warned of.
    trajectory : str
        Digits of the noiseless data: the system is chaotic, and another processor may follow another trajectory.
    versions, commit, host, finished
        Where it came from.
    """

    specification: str
    experiment: str
    setting: str
    method: str
    replicate: int
    seed: int
    outcome: str
    reason: str = ""
    sensitivity: float | None = None
    specificity: float | None = None
    exact: bool | None = None
    relative_error: float | None = None
    centred_error: float | None = None
    selected: tuple[int, ...] | None = None
    n_directions: int | None = None
    rank: int | None = None
    angle: float | None = None
    angle_strong: float | None = None
    head: str | None = None
    seconds: float | None = None
    warnings: tuple[str, ...] = ()
    trajectory: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    commit: str | None = None
    host: str = ""
    finished: str = ""

    @property
    def key(self) -> Key:
        """Names of the fit."""
        return self.experiment, self.setting, self.method, self.replicate

    @property
    def fitted(self) -> bool:
        """Whether the fit came to an end."""
        return self.outcome == FITTED

    def line(self) -> str:
        """Return the row as one line of strict JSON."""
        return json.dumps(asdict(self), allow_nan=False)

    @staticmethod
    def of(line: str) -> "Row":
        """Read a row; names that this version does not know are ignored."""
        values = json.loads(line)
        if not isinstance(values, dict):
            raise ValueError("A row is a JSON object.")
        known = {item.name: values[item.name] for item in fields(Row) if item.name in values}
        for name in ("selected", "warnings"):
            if known.get(name) is not None:
                known[name] = tuple(known[name])
        return Row(**known)


@final
@dataclass(frozen=True)
class Contents:
    """What a folder holds for a plan: its rows, and how many there are besides.

    Attributes
    ----------
    rows : dict of Row by key
        One for each fit; one that came to an end before any that failed.
    stale : int
        Rows of fits whose specification has changed since. They stay in the folder but are ignored.
    unreadable : int
        Incomplete lines.
    """

    rows: dict[Key, Row]
    stale: int
    unreadable: int

    @property
    def ignored(self) -> list[str]:
        """What was not used, in words."""
        changed = "rows were ignored, because the specification of their fits has changed"
        counts = {changed: self.stale, "incomplete lines were ignored": self.unreadable}
        return [f"{count} {what}." for what, count in counts.items() if count]


@final
class Folder:
    """The folder of a study: `rows/*.jsonl`, some perhaps compressed as `*.jsonl.gz`, and `curves/*.npz`."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @property
    def _files(self) -> list[Path]:
        rows = self.path / "rows"
        return sorted([*rows.glob("*.jsonl"), *rows.glob("*.jsonl.gz")])

    @property
    def has_rows(self) -> bool:
        """Whether there is any file of rows."""
        return bool(self._files)

    def all_rows(self) -> tuple[list[Row], int]:
        """Return all rows, oldest file first, and the number of lines (or compressed files) that cannot be read."""
        rows, unreadable = [], 0
        for file in self._files:
            content = file.read_bytes()
            try:
                content = gzip.decompress(content) if file.suffix == ".gz" else content
            except (OSError, EOFError, zlib.error):
                unreadable += 1
                continue
            for line in content.split(b"\n"):
                if not line.strip():
                    continue
                try:
                    rows.append(Row.of(line.decode()))
                except (ValueError, TypeError):
                    unreadable += 1
        return rows, unreadable

    def contents(self, specifications: dict[tuple[str, str, str], str]) -> Contents:
        """Return the rows that match.

        Parameters
        ----------
        specifications : dict
            From (experiment, setting, method) to the specification that a row must have.
        """
        everything, unreadable = self.all_rows()
        rows: dict[Key, Row] = {}
        stale = 0
        for row in everything:
            if specifications.get(row.key[:3]) != row.specification:
                stale += row.key[:3] in specifications
            elif row.key not in rows or (row.fitted and not rows[row.key].fitted):
                rows[row.key] = row
        return Contents(rows, stale, unreadable)

    def curve_file(self, row: Row | Task) -> Path:
        """Return where the curve of a fit is, if there is one."""
        name = re.sub(r"[^\w.-]+", "-", "_".join(map(str, row.key)))
        return self.path / "curves" / f"{name}_{row.specification}.npz"

    def curve(self, row: Row | Task) -> Arrays | None:
        """Return the arrays stored with a fit, or None."""
        try:
            # From memory: of a torn file NumPy would leave the handle open.
            with np.load(io.BytesIO(self.curve_file(row).read_bytes())) as stored:
                return dict(stored)
        except (OSError, EOFError, ValueError, BadZipFile):
            return None

    def fresh(self) -> "Folder":
        """Return this folder if it holds no rows, else the first of `name-2`, `name-3`, ... that holds none."""
        candidate, number = self, 1
        while candidate.has_rows:
            number += 1
            candidate = Folder(self.path.with_name(f"{self.path.name}-{number}"))
        return candidate


@final
class Writer:
    """Appends rows to a new file of the folder; a context manager. No row, no file."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._file: Any = None

    def __enter__(self) -> "Writer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def append(self, row: Row, curve: Arrays | None = None) -> None:
        """Store the curve, then the row; when this returns both are on disk."""
        if curve is not None:
            buffer = io.BytesIO()
            np.savez_compressed(buffer, **curve)  # type: ignore[arg-type]
            path = self._folder.curve_file(row)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, buffer.getvalue())
        if self._file is None:
            self._file = self._open()
        line = row.line().encode() + b"\n"
        with naming(self._file.name):
            written = self._file.write(line)
        if written < len(line):  # a full disk, say: nothing may follow a torn line
            name = self._file.name
            self._file.close()
            self._file = None
            short = f"only {written} of {len(line)} bytes of a row were written"
            raise OSError(errno.ENOSPC, short, name)
        os.fsync(self._file.fileno())

    def _open(self) -> Any:
        rows = self._folder.path / "rows"
        rows.mkdir(parents=True, exist_ok=True)
        start = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")
        path = rows / f"{start}-{socket.gethostname()}-{os.getpid()}.jsonl"
        write_atomically(path, b"")  # so that the name is durable before the first row is
        return open(path, "ab", buffering=0)  # unbuffered: a row is one call of the system


def missing(tasks: Iterable[Task], rows: dict[Key, Row], *, retry_failed: bool = False) -> list[Task]:
    """Return the tasks without a row, and on request those whose row is a failure."""
    return [task for task in tasks if task.key not in rows or (retry_failed and not rows[task.key].fitted)]
