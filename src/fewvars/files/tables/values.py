"""Convert values of any origin to columns: numbers and booleans to float64, times to datetime64, all else to text."""

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from fewvars.files.tables.source import Column

MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "None", "-nan", "#N/A")
_DATE_FORMATS = ("%Y/%m/%d", "%d.%m.%Y")  # 01/02/2020 is rejected as ambiguous
_DECIMAL_COMMA = re.compile(r"[-+]?(\d+|\d{1,3}(\.\d{3})+)?(,\d+)?([eE][-+]?\d+)?")
_THOUSANDS = re.compile(r"[-+]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?")
_CLEARLY_THOUSANDS = re.compile(r".*,.*[,.].*")  # 1,234 may be a decimal comma, unlike 1,234.5 and 1,234,567
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f")


def from_text(texts: list[Any], *, decimal_comma: bool = False) -> Column:
    """Turn text into numbers, truth values or times, if all of it is; None and the usual marks are missing.

    With `decimal_comma`, 1,5 and 1.234,5 are numbers too. Percentages are numbers between 0 and 100.
    """
    texts = [None if text is None or text.strip() in MISSING else text.strip() for text in texts]
    numbers = [_numbers, *([_numbers_with_commas] if decimal_comma else []), _numbers_with_thousands]
    is_share = [text.endswith("%") for text in texts if text is not None]
    if is_share and all(is_share):
        found = _first_reading([text and text.rstrip("% ") for text in texts], numbers)
    else:
        found = _first_reading(texts, [*numbers, _truths, _times])
    return np.array(texts, dtype=object) if found is None else found


def _first_reading(texts: list[str | None], readers: Sequence[Callable[[list[str | None]], Column]]) -> Column | None:
    """Return what the first reader that can read all texts makes of them; None if none can."""
    for reader in readers:
        try:
            return reader(texts)
        except (ValueError, OverflowError):
            continue
    return None


def from_array(array: Column) -> Column:
    """Turn an array of NumPy into a column."""
    if array.dtype.kind in "biuf":
        return array.astype(np.float64, copy=False)
    if array.dtype.kind in "mM":
        return array
    if array.dtype.kind in "US":
        return from_text([text.decode("latin-1") if isinstance(text, bytes) else text for text in array.tolist()])
    return np.array([str(value) for value in array], dtype=object)


def from_polars(polars: Any, series: Any, *, decimal_comma: bool = False) -> Column:
    """Turn a series of polars into a column."""
    kind = series.dtype
    if kind.is_numeric() or kind == polars.Boolean:
        values: Column = series.cast(polars.Float64).to_numpy()  # a view if there is nothing to convert
        return values
    if kind == polars.Date or kind == polars.Datetime:
        return np.asarray(series.cast(polars.Datetime("us")).to_numpy(), "datetime64[us]")
    if kind == polars.Duration or kind == polars.Time:
        return np.asarray(series.cast(polars.Duration("us")).to_numpy(), "timedelta64[us]")
    if kind == polars.String or kind == polars.Categorical or kind == polars.Enum:
        return from_text(series.cast(polars.String).to_list(), decimal_comma=decimal_comma)
    if kind == polars.Null:
        return np.full(len(series), np.nan)
    return np.array([None if value is None else str(value) for value in series.to_list()], dtype=object)


def _numbers(texts: list[str | None]) -> Column:
    if any(text is not None and "_" in text for text in texts):  # float() would accept 1_000
        raise ValueError
    return np.array([math.nan if text is None else float(text) for text in texts])


def _numbers_with_commas(texts: list[str | None]) -> Column:
    """Read numbers with decimal commas; points may only stand between thousands."""
    if not all(text is None or _DECIMAL_COMMA.fullmatch(text) for text in texts):
        raise ValueError
    return _numbers([text and text.replace(".", "").replace(",", ".") for text in texts])


def _numbers_with_thousands(texts: list[str | None]) -> Column:
    """Read numbers with commas between thousands, if at least one of them can mean nothing else."""
    present = [text for text in texts if text is not None]
    if not all(map(_THOUSANDS.fullmatch, present)) or not any(map(_CLEARLY_THOUSANDS.fullmatch, present)):
        raise ValueError
    return _numbers([text and text.replace(",", "") for text in texts])


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
            break  # some have an offset from UTC and some do not
        utc = [m.astimezone(UTC).replace(tzinfo=None) if m and m.tzinfo else m for m in moments]
        return np.array(utc, dtype="datetime64[us]")
    raise ValueError
