"""Tables as text: CSV and its kin, plain or compressed by gzip.

Polars reads them if it is installed. What polars rejects, the plain reader below reads, or explains in an error.
"""

import csv
import gzip
import io
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from fewvars.files.tables import source as sources
from fewvars.files.tables.names import check_names, naming_hint
from fewvars.files.tables.source import Column, Source, file_of, first_bytes
from fewvars.files.tables.values import MISSING, from_polars, from_text

_GZIP = b"\x1f\x8b"
_SEPARATORS = ",;\t|"


def columns(source: Source, delimiter: str | None) -> Iterator[tuple[str, Column]]:
    """Yield the names and values of all columns."""
    separator = _separator(source, delimiter)
    found = names(source, delimiter)
    values = _fast_columns(source, separator, len(found)) or _plain_columns(source, separator)
    return zip(found, values, strict=True)


def names(source: Source, delimiter: str | None) -> list[str]:
    """Return the names in the header."""
    with _text(source) as lines:
        return _header(csv.reader(lines, delimiter=_separator(source, delimiter)))


def content(named: Mapping[str, Column]) -> bytes:
    """Return columns as the content of a CSV file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(named)
    writer.writerows(zip(*(map(str, column) for column in map(_writable, named.values())), strict=True))
    return text.getvalue().encode()


def _writable(column: Column) -> Iterable[Any]:
    """Floats as the shortest text that reads back the same, datetimes in ISO form, durations in seconds."""
    if column.dtype.kind == "M":
        return np.datetime_as_string(column)
    if column.dtype.kind == "m":
        return (column / np.timedelta64(1, "s")).tolist()
    return ("" if value is None else value for value in column.tolist())


def _separator(source: Source, given: str | None) -> str:
    if given is None:
        named = isinstance(source, Path) and {".tsv", ".tab"} & set(source.suffixes[-2:])
        return "\t" if named else _found_separator(source)
    if len(given) != 1:
        raise ValueError(f"The delimiter must be a single character, not {given!r}.")
    return given


def _found_separator(source: Source) -> str:
    """Return the separator that cuts the header into most fields, and the first row into equally many; or a comma."""
    with _text(source) as lines:
        first = list(islice((line for line in lines if line.strip()), 2))
    found = {}
    for mark in _SEPARATORS:
        widths = {len(record) for record in csv.reader(first, delimiter=mark)}
        found[mark] = widths.pop() if len(widths) == 1 else 1
    return max(found, key=lambda mark: found[mark])


@contextmanager
def _text(source: Source) -> Iterator[TextIO]:
    """Open a CSV as text, and turn the ways in which that can fail into a ValueError."""
    start = first_bytes(source)
    compressed = start.startswith(_GZIP)
    try:
        with (gzip.open if compressed else _plain_open)(file_of(source), "rb") as raw:
            yield io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")
    except UnicodeDecodeError as error:
        found = error.object[error.start]
        hint = " (UTF-16?)" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
        raise ValueError(f"Not UTF-8 text{hint}: there is a byte 0x{found:02x}. Save it as UTF-8.") from None
    except csv.Error as error:
        raise ValueError(f"Not a CSV file: {error}.") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"The compressed file is damaged: {error}.") from None


def _plain_open(file: Any, mode: str) -> Any:
    return file if isinstance(file, io.BytesIO) else open(file, mode)


def _header(records: Iterator[list[str]]) -> list[str]:
    names = next((record for record in records if record), None)
    if names is None:
        raise ValueError("The file is empty.")
    names = [name.strip() for name in names]
    check_names(names)
    return names


def _fast_columns(source: Source, delimiter: str, width: int) -> list[Column] | None:
    """Read by polars; None where the plain reader must look closer."""
    polars = sources.polars_or_none()
    if polars is None or ord(delimiter) > 127:
        return None
    options = {"separator": delimiter, "glob": False, "infer_schema_length": 100}
    try:
        # Columns that start with numbers are read as such: guessing from all rows would take several times as long.
        sample = polars.read_csv(file_of(source), n_rows=100, **options)
        numeric = {name: polars.Float64 for name, kind in sample.schema.items() if kind.is_numeric()}
        options["schema_overrides"] = numeric
        try:
            frame = polars.read_csv(file_of(source), **options)
        except polars.exceptions.ComputeError:  # marks of missing values, perhaps; looking for them takes time
            frame = polars.read_csv(file_of(source), null_values=list(MISSING[1:]), **options)
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError):
        return None
    if frame.width != width or not frame.height:
        return None
    holes = frame.null_count().row(0)  # known already, whereas scanning the rows takes time
    if min(holes) and frame.select(polars.all_horizontal(polars.all().is_null()).any()).item():  # a blank line?
        return None
    return [from_polars(polars, series, decimal_comma=delimiter != ",") for series in frame]


def _plain_columns(source: Source, delimiter: str) -> list[Column]:
    """Read by NumPy if all is numbers, otherwise field by field."""
    with _text(source) as lines:
        names = _header(csv.reader(lines, delimiter=delimiter))
        first = next((line for line in lines if line.strip()), "")
        if _all_numbers(first, delimiter):  # otherwise the whole file would be read in vain
            try:
                table = np.loadtxt(
                    chain([first], lines), delimiter=delimiter, quotechar='"', comments=None, ndmin=2, encoding="utf-8"
                )
            except UnicodeDecodeError:
                raise
            except ValueError:
                table = np.zeros((0, 0))
            if table.shape[1] == len(names):
                return list(table.T)
    with _text(source) as lines:
        records = csv.reader(lines, delimiter=delimiter)
        _header(records)
        rows: list[list[str]] = []
        for record in records:
            if len(record) > len(names):
                raise ValueError(
                    f"Row {len(rows) + 1} has {len(record)} fields and the header {len(names)} "
                    f"(separated by {delimiter!r}). {naming_hint(names) or 'Quote fields that hold the separator.'}"
                )
            if record:
                rows.append(record + [""] * (len(names) - len(record)))
    commas = delimiter != ","
    return [from_text(list(column), decimal_comma=commas) for column in zip(*rows, strict=True)] or [np.zeros(0)] * len(
        names
    )


def _all_numbers(line: str, delimiter: str) -> bool:
    try:
        return bool([float(field) for record in csv.reader([line], delimiter=delimiter) for field in record])
    except ValueError:
        return False
