"""Finished fits as durable rows: one JSON line each, in a file that one run writes and every run reads.

Every run appends to a file of its own, so runs that share a folder, even over a network, never write to the same
one, and a line torn by a crash has no successor to spoil. Lines that cannot be read are ignored: their fits count as
missing.
"""

import errno
import gzip
import io
import os
import re
import socket
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, final
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from fewvars._common.atomic import naming, write_atomically
from fewvars.study.row import Key, Row
from fewvars.study.tasks import Task

Arrays = dict[str, NDArray[Any]]


@final
@dataclass(frozen=True)
class Contents:
    """The contents of a folder for a plan: its rows, and the number of others.

    Attributes
    ----------
    rows : dict of Row by key
        One for each fit; a successful one takes precedence over failures.
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
        """A sentence about the rows that were not used."""
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
            # Read into memory first: NumPy would leave the handle of a torn file open.
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
    """Appends rows to a new file of the folder, made with the first row; a context manager."""

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
        if written < len(line):  # for example a full disk: nothing may follow a torn line
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
