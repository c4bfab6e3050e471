"""Read named columns from a CSV, Parquet or NPZ file, and say exactly where it is not a table.

CSV goes to polars where it is installed; whatever polars refuses, the plain reader below reads or explains.
The kind of file is told by its first bytes, never by its name.
"""

import csv
import gzip
import io
import math
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

__all__ = ["Table", "column_names", "naming_hint", "read_table", "table_bytes"]

Column = NDArray[Any]

MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "None", "-nan", "#N/A")
SUFFIXES = (".csv", ".parquet", ".npz")  # that `table_bytes` knows
_DATE_FORMATS = ("%Y/%m/%d", "%d.%m.%Y")  # not 01/02/2020: nobody knows whether that is in January
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f")
_GZIP, _ZIP, _PARQUET, _NPY = b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"\x93NUM"
_NEEDS_POLARS = "Parquet needs polars: pip install 'fewvars[parquet]', or use CSV or NPZ."


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

    def matrix(self, names: Iterable[str]) -> NDArray[np.float64]:
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
        pickled objects are refused.
    delimiter : str, optional
        Between the fields of a CSV. Default: a tab if the file is named .tsv or .tab, otherwise a comma.

    Raises
    ------
    ValueError
        If it is no table: empty, ragged, two columns of one name, not UTF-8, damaged.
    ImportError
        For Parquet without polars.
    """
    data = _source(source)
    start = _start(data)
    if start.startswith(_ZIP):
        named = list(_npz_columns(data))
    elif start.startswith(_PARQUET):
        named = list(_parquet_columns(data))
    else:
        named = list(_csv_columns(data, _delimiter(data, delimiter), start))
    _check_names([name for name, _ in named])
    lengths = {len(column) for _, column in named}
    if len(lengths) > 1:
        sizes = ", ".join(f"{name!r} {len(column)}" for name, column in named[:8])
        raise ValueError(f"The columns differ in length ({sizes}): all must have the same number of rows.")
    if lengths <= {0}:
        raise ValueError("There is a header but there are no rows." if named else "There are no columns.")
    return Table(dict(named), lengths.pop())


def column_names(source: str | Path, *, delimiter: str | None = None) -> list[str]:
    """Return the names of the columns alone; of CSV and Parquet, without reading the rest."""
    data = _source(source)
    start = _start(data)
    if start.startswith(_PARQUET):
        return [name for name, _ in _parquet_columns(data, n_rows=0)]
    if start.startswith(_ZIP):
        return [name for name, _ in _npz_columns(data)]
    with _text(data, start) as lines:
        return _header(csv.reader(lines, delimiter=_delimiter(data, delimiter)))


def table_bytes(columns: Mapping[str, Column], suffix: str) -> bytes:
    """Return columns as the content of a file named .csv, .parquet or .npz; nothing is lost to rounding.

    In a CSV, durations are seconds and missing texts are empty.
    """
    if suffix == ".npz":
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:  # numpy.savez takes no column named `file`
            for name, column in columns.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, column, allow_pickle=False)
        return file.getvalue()
    if suffix == ".parquet":
        file = io.BytesIO()
        _polars(_NEEDS_POLARS).DataFrame(dict(columns)).write_parquet(file)
        return file.getvalue()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(map(str, column) for column in map(_writable, columns.values())), strict=True))
    return text.getvalue().encode()


def _writable(column: Column) -> Iterable[Any]:
    """Floats as the shortest text that reads back the same, datetimes in ISO form, durations in seconds."""
    if column.dtype.kind == "M":
        return np.datetime_as_string(column)
    if column.dtype.kind == "m":
        return (column / np.timedelta64(1, "s")).tolist()
    return ("" if value is None else value for value in column.tolist())


# Files


def _source(source: str | Path | bytes) -> Path | bytes:
    """Return what can be read twice: the path of a regular file, or the bytes themselves (of a pipe, say)."""
    if isinstance(source, bytes):
        return source
    path = Path(source)
    return path.resolve() if path.is_file() else path.read_bytes()


def _file(source: Path | bytes) -> Any:
    return io.BytesIO(source) if isinstance(source, bytes) else source


def _start(source: Path | bytes) -> bytes:
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


def _delimiter(source: Path | bytes, given: str | None) -> str:
    if given is None:
        return "\t" if isinstance(source, Path) and {".tsv", ".tab"} & set(source.suffixes[-2:]) else ","
    if len(given) != 1:
        raise ValueError(f"The delimiter must be a single character, not {given!r}.")
    return given


@contextmanager
def _text(source: Path | bytes, start: bytes) -> Iterator[TextIO]:
    """Open a CSV as text, and turn the ways in which that can fail into a ValueError."""
    compressed = start.startswith(_GZIP)
    try:
        with (gzip.open if compressed else _plain_open)(_file(source), "rb") as raw:
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


def _polars(needed: str | None = None) -> Any:
    """Return polars, or None if it is not installed; an error if it is needed."""
    try:
        import polars
    except ImportError:
        if needed is None:
            return None
        raise ImportError(needed) from None
    return polars


def _check_names(names: list[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if "" in names:
        complaint = f"Column {names.index('') + 1} has no name: name it in the header."
        raise ValueError(f"{complaint} {naming_hint(names)}".strip())
    if repeated:
        raise ValueError(f"Several columns are named {repeated[0]!r}: rename all but one.")


# CSV


def _header(records: Iterator[list[str]]) -> list[str]:
    names = next((record for record in records if record), None)
    if names is None:
        raise ValueError("The file is empty.")
    names = [name.strip() for name in names]
    _check_names(names)
    return names


def _csv_columns(source: Path | bytes, delimiter: str, start: bytes) -> Iterator[tuple[str, Column]]:
    with _text(source, start) as lines:
        names = _header(csv.reader(lines, delimiter=delimiter))
    columns = _fast_columns(source, delimiter, len(names)) or _plain_columns(source, delimiter, start)
    return zip(names, columns, strict=True)


def _fast_columns(source: Path | bytes, delimiter: str, width: int) -> list[Column] | None:
    """Read by polars; None where the plain reader must look closer."""
    polars = _polars()
    if polars is None or ord(delimiter) > 127:
        return None
    options = {"separator": delimiter, "glob": False, "infer_schema_length": 100}
    try:
        # Columns that start with numbers are read as such: guessing from all rows would take several times as long.
        sample = polars.read_csv(_file(source), n_rows=100, **options)
        numeric = {name: polars.Float64 for name, kind in sample.schema.items() if kind.is_numeric()}
        options["schema_overrides"] = numeric
        try:
            frame = polars.read_csv(_file(source), **options)
        except polars.exceptions.ComputeError:  # marks of missing values, perhaps; looking for them takes time
            frame = polars.read_csv(_file(source), null_values=list(MISSING[1:]), **options)
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError):
        return None
    if frame.width != width or not frame.height:
        return None
    holes = frame.null_count().row(0)  # known already, while looking into the rows takes time
    if min(holes) and frame.select(polars.all_horizontal(polars.all().is_null()).any()).item():  # a blank line?
        return None
    return [_from_polars(polars, series) for series in frame]


def _plain_columns(source: Path | bytes, delimiter: str, start: bytes) -> list[Column]:
    """Read by NumPy if all is numbers, otherwise field by field."""
    with _text(source, start) as lines:
        names = _header(csv.reader(lines, delimiter=delimiter))
        first = next((line for line in lines if line.strip()), "")
        if _all_numbers(first, delimiter):  # do not read the whole file in vain
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
    with _text(source, start) as lines:
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
    return [_from_text(list(column)) for column in zip(*rows, strict=True)] or [np.zeros(0)] * len(names)


def _all_numbers(line: str, delimiter: str) -> bool:
    try:
        return bool([float(field) for record in csv.reader([line], delimiter=delimiter) for field in record])
    except ValueError:
        return False


def naming_hint(names: list[str]) -> str:
    """Return what may be wrong with a header that lacks an expected name; empty if nothing seems to be."""
    if names[0].startswith(("#", "%", "//")):
        return "The first line is taken as the header and looks like a comment: if it is, remove it."
    if re.fullmatch("sep=.?", names[0], re.IGNORECASE):
        return "The first line is taken as the header and only names the separator: remove it, and use --delimiter."
    marks = [mark for mark in ";\t|" if mark in names[0]] if len(names) == 1 else []
    if marks:
        mark = "tab" if marks[0] == "\t" else repr(marks[0])
        return f"Is it separated by {mark}? Say so with --delimiter {mark}."
    if any(re.fullmatch(r"[-+]?\d*\.\d+([eE][-+]?\d+)?", name) for name in names):
        return "The first row looks like numbers: it must hold the names of the columns."
    return ""


def _from_text(texts: list[Any]) -> Column:
    """Turn text into numbers, truth values or times, if all of it is; None and the usual marks are missing."""
    texts = [None if text is None or text.strip() in MISSING else text.strip() for text in texts]
    for attempt in (_numbers, _truths, _times):
        try:
            return attempt(texts)
        except (ValueError, OverflowError):
            continue
    return np.array(texts, dtype=object)


def _numbers(texts: list[str | None]) -> Column:
    if any(text is not None and "_" in text for text in texts):  # float would take 1_000
        raise ValueError
    return np.array([math.nan if text is None else float(text) for text in texts])


def _truths(texts: list[str | None]) -> Column:
    values = {None: math.nan, "true": 1.0, "false": 0.0}
    try:
        return np.array([values[text and text.lower()] for text in texts])
    except KeyError:
        raise ValueError from None


def _times(texts: list[str | None]) -> Column:
    """ISO dates and times, with or without an offset from UTC, and a few other unambiguous dates."""
    formats = [date + clock for date in _DATE_FORMATS for clock in _CLOCKS]
    readers: list[Callable[[str], datetime]] = [datetime.fromisoformat]
    readers += [lambda text, form=form: datetime.strptime(text, form) for form in formats]  # type: ignore[misc]
    first = next(text for text in texts if text is not None)
    for reader in readers:
        try:
            reader(first)
        except ValueError:
            continue
        moments = [None if text is None else reader(text) for text in texts]
        if len({moment.tzinfo is None for moment in moments if moment}) > 1:
            break  # some in UTC, some who knows where
        utc = [m.astimezone(UTC).replace(tzinfo=None) if m and m.tzinfo else m for m in moments]
        return np.array(utc, dtype="datetime64[us]")
    raise ValueError


# Parquet and NPZ


def _parquet_columns(source: Path | bytes, n_rows: int | None = None) -> Iterator[tuple[str, Column]]:
    polars = _polars(_NEEDS_POLARS)
    try:
        frame = polars.read_parquet(_file(source), n_rows=n_rows, glob=False)
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
        raise ValueError(f"The Parquet file cannot be read: {str(error).splitlines()[0]}") from None
    return ((series.name, _from_polars(polars, series)) for series in frame)


def _from_polars(polars: Any, series: Any) -> Column:
    kind = series.dtype
    if kind.is_numeric() or kind == polars.Boolean:
        values: Column = series.cast(polars.Float64).to_numpy()  # a view if there is nothing to convert
        return values
    if kind == polars.Date or kind == polars.Datetime:
        return np.asarray(series.cast(polars.Datetime("us")).to_numpy(), "datetime64[us]")
    if kind == polars.Duration or kind == polars.Time:
        return np.asarray(series.cast(polars.Duration("us")).to_numpy(), "timedelta64[us]")
    if kind == polars.String or kind == polars.Categorical or kind == polars.Enum:
        return _from_text(series.cast(polars.String).to_list())
    if kind == polars.Null:
        return np.full(len(series), np.nan)
    return np.array([None if value is None else str(value) for value in series.to_list()], dtype=object)


def _npz_columns(source: Path | bytes) -> Iterator[tuple[str, Column]]:
    try:
        with np.load(_file(source), allow_pickle=False) as archive:
            names = [name for name in archive.files if not (name == "names" and "X" in archive.files)]
            for name in names:
                array = archive[name]
                if not isinstance(array, np.ndarray):
                    raise ValueError(f"There is a file {name!r} in it that is no array (a spreadsheet? Export CSV).")
                if name == "X" and array.ndim == 2:
                    given = archive["names"] if "names" in archive.files else None
                    yield from zip(_matrix_names(given, array.shape[1]), map(_from_array, array.T), strict=True)
                elif array.ndim == 1:
                    yield name, _from_array(array)
                else:
                    raise ValueError(
                        f"Array {name!r} has shape {array.shape}: give one 1-d array for each column, or a matrix X."
                    )
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError) as error:
        raise ValueError(f"The NPZ file is damaged: {error}.") from None
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise ValueError(
            "The NPZ file holds pickled objects, which can run code and are not read: save plain numbers or text."
        ) from None


def _matrix_names(given: Column | None, width: int) -> list[str]:
    if given is None:
        return [f"x{j}" for j in range(width)]
    if given.shape != (width,):
        raise ValueError(f"names has shape {given.shape}: name each of the {width} columns of X.")
    return [str(name) for name in given]


def _from_array(array: Column) -> Column:
    if array.dtype.kind in "biuf":
        return array.astype(np.float64, copy=False)
    if array.dtype.kind in "mM":
        return array
    if array.dtype.kind in "US":
        return _from_text([text.decode("latin-1") if isinstance(text, bytes) else text for text in array.tolist()])
    return np.array([str(value) for value in array], dtype=object)
