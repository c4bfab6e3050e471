"""Tables of named columns, read from and written to CSV, Parquet and NPZ files, with precise error messages.

Each format is a module. The format of a file is detected from its first bytes, never from its name.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.files.tables import delimited, npz, parquet
from fewvars.files.tables.names import check_names, naming_hint
from fewvars.files.tables.source import Column, first_bytes, source_of

__all__ = ["Table", "column_names", "naming_hint", "read_table", "table_bytes"]

_WRITERS = {".csv": delimited.content, ".parquet": parquet.content, ".npz": npz.content}
SUFFIXES = tuple(_WRITERS)  # that `table_bytes` can write


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length.

    Attributes
    ----------
    columns : mapping from name to array of shape (n_rows,)
        float64 for numbers and booleans, with NaN where a value is missing; datetime64 or timedelta64 for
        times, with NaT; object for anything else, with None.
    n_rows : int
    """

    columns: Mapping[str, Column]
    n_rows: int

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""
        return list(self.columns)

    def matrix(self, names: Iterable[str]) -> FloatArray:
        """Return numeric columns as an array of shape (n_rows, columns), contiguous by rows."""
        chosen = [self.columns[name] for name in names]
        return np.stack(chosen, axis=1) if chosen else np.zeros((self.n_rows, 0))


def read_table(source: str | Path | bytes, *, delimiter: str | None = None) -> Table:
    """Read a table.

    Parameters
    ----------
    source : path or bytes
        CSV with a header (plain or compressed by gzip, UTF-8), Parquet, or NPZ: its 1-d arrays are columns, a
        2-d array named X gives columns x0, x1, ... or those named in the array `names`. NPZ files with
        pickled objects are rejected.
    delimiter : str, optional
        Between the fields of a CSV. Default: a tab if the file is named .tsv or .tab, otherwise the separator that
        splits the first two lines into the most fields.

    Raises
    ------
    ValueError
        If it isn't a table: empty, ragged, two columns of one name, not UTF-8, damaged.
    ImportError
        For Parquet without polars.
    """
    data = source_of(source)
    start = first_bytes(data)
    if start.startswith(npz.START):
        named = list(npz.columns(data))
    elif start.startswith(parquet.START):
        named = list(parquet.columns(data))
    else:
        named = list(delimited.columns(data, delimiter))
    check_names([name for name, _ in named])
    lengths = {len(column) for _, column in named}
    if len(lengths) > 1:
        sizes = ", ".join(f"{name!r} {len(column)}" for name, column in named[:8])
        raise ValueError(f"The columns differ in length ({sizes}): all must have the same number of rows.")
    if lengths <= {0}:
        raise ValueError("There is a header but there are no rows." if named else "There are no columns.")
    return Table(dict(named), lengths.pop())


def column_names(source: str | Path, *, delimiter: str | None = None) -> list[str]:
    """Return the names of the columns alone; of CSV and Parquet, without reading the rest."""
    data = source_of(source)
    start = first_bytes(data)
    if start.startswith(parquet.START):
        return [name for name, _ in parquet.columns(data, n_rows=0)]
    if start.startswith(npz.START):
        return [name for name, _ in npz.columns(data)]
    return delimited.names(data, delimiter)


def table_bytes(columns: Mapping[str, Column], suffix: str) -> bytes:
    """Return columns as the content of a file named .csv, .parquet or .npz, in full precision.

    In a CSV, durations are seconds and missing texts are empty.
    """
    return _WRITERS[suffix](columns)
