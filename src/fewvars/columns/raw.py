"""The columns of any table as arrays: numbers as float64, times as datetime64, all else as text."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fewvars._common.validation import FloatArray

DAY = np.timedelta64(1, "D")


class Raw(NamedTuple):
    """One column of a table.

    Attributes
    ----------
    values : (n,)
        float64 with NaN where a value is missing; datetime64 or timedelta64 with NaT; or object, with None.
    levels : tuple of str, optional
        The order of the levels, where the type of the column declares one.
    """

    values: np.ndarray
    levels: tuple[str, ...] | None = None

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers."""
        return self.values.dtype.kind == "f"

    @property
    def is_time(self) -> bool:
        """Whether it holds dates, times or durations."""
        return self.values.dtype.kind in "mM"

    @property
    def missing(self) -> np.ndarray:
        """Where a value is missing, (n,) bool."""
        return missing_values(self.values)

    def numbers(self) -> FloatArray:
        """Return the values as numbers, (n,): dates as days since 1970, durations as days.

        Raises ValueError with the first row that holds something else.
        """
        if self.is_number:
            return self.values
        if self.is_time:
            since = self.values if self.values.dtype.kind == "m" else self.values - np.datetime64(0, "D")
            return since / DAY
        found = np.full(len(self.values), np.nan)
        for row, value in enumerate(self.values):
            try:
                found[row] = np.nan if value is None else float(value)
            except (TypeError, ValueError):
                raise ValueError(f"row {row} holds {str(value)[:40]!r}") from None
        return found

    def texts(self) -> np.ndarray:
        """Return the values as text, (n,) object, with None where one is missing: 3.0 and 3 are the same level."""
        if self.is_number:
            values, places = np.unique(self.values, return_inverse=True)
            return np.array([level_text(value) for value in values], dtype=object)[places]
        missing = self.missing
        return np.array([None if gone else level_text(v) for v, gone in zip(self.values, missing, strict=True)], object)


def level_text(value: Any) -> str | None:
    """Return the name of a level; None for a missing value."""
    if value is None or value != value:
        return None
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def missing_values(values: np.ndarray) -> np.ndarray:
    """Return where a value is missing, of an array of any type, bool of the same shape."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind != "O":
        return np.zeros(values.shape, bool)
    return np.array([_is_missing(value) for value in values.flat], bool).reshape(values.shape)


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or the NA of pandas, which is not even false."""
    if value is None:
        return True
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | np.datetime64) and bool(value != value)


def raw_columns(X: Any) -> list[Raw] | None:
    """Return the columns of a table that holds more than numbers; None for plain numbers in any container."""
    import narwhals

    frame = narwhals.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, narwhals.DataFrame):
        plain = (narwhals.Boolean, narwhals.Unknown)
        if all(kind.is_numeric() or kind in plain for kind in frame.schema.dtypes()):
            return None
        columns = [_of_series(frame[:, j]) for j in range(frame.shape[1])]
    else:
        table = _objects(X)
        if table is None:
            return None
        columns = [Raw(_plain(column)) for column in table.T]
    return None if all(column.is_number for column in columns) else columns


def of_matrix(X: FloatArray) -> list[Raw]:
    """Return the columns of a matrix of numbers."""
    return [Raw(column) for column in X.T]


def as_objects(columns: Sequence[Raw]) -> np.ndarray:
    """Return columns as one array (n, columns) of objects."""
    return np.column_stack([column.values.astype(object) for column in columns])


def _objects(X: Any) -> np.ndarray | None:
    """Return a matrix (n, columns) that holds something other than numbers as an array of objects."""
    if isinstance(X, list | tuple):
        try:
            kind = np.asarray(X).dtype.kind
        except ValueError:  # ragged: reported elsewhere
            return None
        X = np.array(X, dtype=object) if kind in "USO" else X
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "USOM" or not X.size:
        return None
    try:
        if X.dtype.kind != "M":
            X.astype(np.float64)
            return None
    except TypeError:  # not even text: reported elsewhere
        if not all(isinstance(value, str | float | int | np.generic) or _is_missing(value) for value in X.flat):
            return None
    except ValueError:
        pass
    return X.astype(object) if X.dtype.kind != "M" else X


def _of_series(series: Any) -> Raw:
    """Return a series of narwhals as a column."""
    import narwhals

    kind = series.dtype
    if kind.is_numeric() or kind == narwhals.Boolean:
        return Raw(np.asarray(series.cast(narwhals.Float64).to_numpy(), np.float64))
    if kind == narwhals.Date or kind == narwhals.Datetime:
        return Raw(np.asarray(series.cast(narwhals.Datetime("us")).to_numpy(), "datetime64[us]"))
    if kind == narwhals.Duration:
        return Raw(np.asarray(series.to_numpy(), "timedelta64[us]"))
    levels = tuple(map(str, kind.categories)) if isinstance(kind, narwhals.Enum) else None
    return Raw(_plain(np.array([*series.to_list(), None], dtype=object)[:-1]), levels)


def _plain(values: np.ndarray) -> np.ndarray:
    """Return an array of objects as numbers if it holds nothing else; missing values are None otherwise."""
    if values.dtype.kind == "M":
        return values
    try:
        return np.where(missing_values(values), np.nan, values).astype(np.float64)
    except (TypeError, ValueError):
        found = values.copy()
        found[missing_values(values)] = None
        return found
