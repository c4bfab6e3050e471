"""Tables as Parquet files, by polars."""

import io
from collections.abc import Iterator, Mapping
from typing import Any

from fewvars.files.tables import source as sources
from fewvars.files.tables.source import Column, Source, file_of
from fewvars.files.tables.values import from_polars

START = b"PAR1"


def columns(source: Source, n_rows: int | None = None) -> Iterator[tuple[str, Column]]:
    """Yield the names and values of all columns, or of their first rows."""
    polars = _polars()
    try:
        frame = polars.read_parquet(file_of(source), n_rows=n_rows, glob=False)
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
        raise ValueError(f"The Parquet file cannot be read: {str(error).splitlines()[0]}") from None
    return ((series.name, from_polars(polars, series)) for series in frame)


def content(named: Mapping[str, Column]) -> bytes:
    """Return columns as the content of a file."""
    file = io.BytesIO()
    _polars().DataFrame(dict(named)).write_parquet(file)
    return file.getvalue()


def _polars() -> Any:
    polars = sources.polars_or_none()
    if polars is None:
        raise ImportError("Parquet needs polars: pip install 'fewvars[parquet]', or use CSV or NPZ.")
    return polars
