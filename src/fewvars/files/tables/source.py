"""Where a table is read from: a regular file, or bytes that have been read from a pipe."""

import io
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

Column = NDArray[Any]
Source = Path | bytes
_NPY = b"\x93NUM"


def source_of(given: str | Path | bytes) -> Source:
    """Return a source that can be read twice: the path of a regular file, or the bytes of a pipe."""
    if isinstance(given, bytes):
        return given
    path = Path(given)
    return path.resolve() if path.is_file() else path.read_bytes()


def file_of(source: Source) -> Any:
    """Return a file that NumPy and polars can read."""
    return io.BytesIO(source) if isinstance(source, bytes) else source


def first_bytes(source: Source) -> bytes:
    """Return the first four bytes, which identify the format."""
    if isinstance(source, bytes):
        start = source[:4]
    else:
        with source.open("rb") as file:
            start = file.read(4)
    if not start:
        raise ValueError("The file is empty.")
    if start == _NPY:
        raise ValueError("A single .npy array has no column names: save the columns with numpy.savez.")
    return start


def polars_or_none() -> Any:
    """Return the module polars, or None if it is not installed."""
    try:
        import polars
    except ImportError:
        return None
    return polars
