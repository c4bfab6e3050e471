"""How the columns of a table become columns of numbers, the same at `fit` and at `predict`.

A number stays one column. A category of k levels becomes k - 1 indicators: the most frequent level is the base, for
which all of them are zero. Where values were missing, the number is set to its mean, the category to its base, and one
more indicator says so.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.columns.kinds import MOST_LEVELS, Kind, counts_rows, is_numeral, kind_of, stray_text
from fewvars.columns.raw import Raw

ERROR, DROP, INDICATE, BASE = "error", "drop", "indicate", "base"
MISSING, UNSEEN = (ERROR, DROP, INDICATE), (ERROR, BASE)
TYPES = (Kind.NUMBER, Kind.CATEGORY)


@dataclass(frozen=True)
class Number:
    """A column of numbers.

    Attributes
    ----------
    mean : float
        What stands in for missing values.
    indicated : bool
        Whether a second column says where values were missing.
    """

    mean: float
    indicated: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """What each column of numbers says about the column of the table, to be filled with its name."""
        return ("{}", "[{} is missing]") if self.indicated else ("{}",)

    def encode(self, column: Raw, unseen: str) -> FloatArray:
        """Return columns of numbers, (n, 1 or 2)."""
        values = _numbers(column)
        missing = np.isnan(values)
        filled = np.where(missing, self.mean, values)
        return np.column_stack([filled, missing] if self.indicated else [filled])


@dataclass(frozen=True)
class Category:
    """A column of levels.

    Attributes
    ----------
    levels : tuple of str
        The base comes first.
    indicated : bool
        Whether one more column says where values were missing.
    """

    levels: tuple[str, ...]
    indicated: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """What each column of numbers says about the column of the table, to be filled with its name."""
        others = [f"[{{}} = {level.replace('{', '{{').replace('}', '}}')}]" for level in self.levels[1:]]
        return (*others, "[{} is missing]") if self.indicated else (*others,) or ("{}",)

    def encode(self, column: Raw, unseen: str) -> FloatArray:
        """Return indicators of all levels but the base, (n, levels - 1 or levels); one of zeros for a single level."""
        texts = column.texts()
        place = {level: k for k, level in enumerate(self.levels)}
        codes = np.array([-1 if text is None else place.get(text, -2) for text in texts])
        if (codes == -2).any() and unseen != BASE:
            row = int(np.argmax(codes == -2))
            raise ValueError(
                f"row {row} holds {texts[row][:40]!r}, a level that was not in the fit: choose unseen='base' to treat "
                f"it like {self.levels[0][:40]!r}, the most frequent level"
            )
        indicators = codes[:, None] == np.arange(1, len(self.levels))
        columns = np.column_stack([indicators, codes == -1]) if self.indicated else indicators
        return columns.astype(np.float64) if columns.shape[1] else np.zeros((len(codes), 1))


@dataclass(frozen=True, eq=False)
class Encoding:
    """The columns of a table, each of which becomes one or more columns of numbers.

    Attributes
    ----------
    columns : tuple of Number or Category
    """

    columns: tuple[Number | Category, ...]

    @classmethod
    def of(
        cls,
        table: Sequence[Raw],
        names: Sequence[str],
        types: Mapping[int, str],
        rows: np.ndarray | None = None,
        *,
        indicate: bool = False,
        bridged: bool = False,
    ) -> "Encoding":
        """Find out what each column is, or say what is wrong with it.

        Parameters
        ----------
        types : dict
            "number" or "category" for columns, by number, that are not what they seem to be.
        rows : (n,) bool, optional
            Rows that count: the others have no say in levels and means.
        indicate : bool
            Whether a column with missing values gets an indicator of them.
        bridged : bool
            Whether gaps in columns of numbers are bridged in time, so that they need no indicator.
        """
        found: list[Number | Category] = []
        for j, (column, name) in enumerate(zip(table, names, strict=True)):
            try:
                kind = types.get(j) or _checked_kind(column, name)
                column = column if rows is None else Raw(column.values[rows], column.levels)
                indicated = indicate and bool(column.missing.any())
                if kind == Kind.NUMBER:
                    found.append(_number(column, indicated and not bridged))
                else:
                    found.append(_category(column, indicated))
            except ValueError as error:
                raise ValueError(f"X: column {name!r}: {error}.") from None
        encoding = cls(tuple(found))
        repeated = [name for name, count in Counter(encoding.names(names)).items() if count > 1]
        if repeated:
            raise ValueError(f"X: two columns of numbers would be called {repeated[0]!r}: rename a column or a level.")
        return encoding

    @cached_property
    def sources(self) -> np.ndarray:
        """The column of the table, by number, that each column of numbers comes from."""
        return np.repeat(np.arange(len(self.columns)), [len(column.names) for column in self.columns])

    def names(self, names: Sequence[str]) -> list[str]:
        """Return the names of the columns of numbers, given those of the columns of the table."""
        return [form.format(name) for column, name in zip(self.columns, names, strict=True) for form in column.names]

    def levels(self) -> dict[int, tuple[str, ...]]:
        """Return the levels of the categories, the base first, by the number of the column."""
        return {j: column.levels for j, column in enumerate(self.columns) if isinstance(column, Category)}

    def apply(
        self,
        table: Sequence[Raw],
        names: Sequence[str],
        *,
        missing: str = ERROR,
        unseen: str = ERROR,
        used: np.ndarray | None = None,
    ) -> FloatArray:
        """Return the columns of numbers, (n, columns).

        Parameters
        ----------
        missing : {"error", "drop", "indicate"}
            With "drop", rows with missing values have NaN in the columns of numbers that come from them.
        unseen : {"error", "base"}
            What to do about a level that was not in the fit.
        used : (columns of the table,) bool, optional
            Columns that matter; the others may hold anything, and become zero.
        """
        parts: list[FloatArray] = []
        for j, (how, column, name) in enumerate(zip(self.columns, table, names, strict=True)):
            if used is not None and not used[j]:
                parts.append(np.zeros((len(column.values), len(how.names))))
                continue
            gone = column.missing
            if missing == ERROR and gone.any():
                raise ValueError(missing_message(name, gone))
            try:
                part = how.encode(column, unseen)
            except ValueError as error:
                raise ValueError(f"X: column {name!r}: {error}.") from None
            parts.append(np.where(gone[:, None], np.nan, part) if missing == DROP else part)
        return np.concatenate(parts, axis=1)


def missing_message(name: str, gone: np.ndarray) -> str:
    """Return what to say about missing values (a mask) in a column."""
    count = int(gone.sum())
    return (
        f"X: column {name!r} has {count} missing value{'s' if count > 1 else ''} (NaN or None), the first in row "
        f"{int(np.argmax(gone))}: choose missing='indicate' or missing='drop', or fill in what is missing."
    )


def check_no_counter(X: FloatArray, names: Sequence[str], types: Mapping[int, str]) -> None:
    """Complain about columns (n, d) of a table with names that only count the rows."""
    for j in np.flatnonzero(counts_rows(X)).tolist():
        if j not in types:
            raise ValueError(f"X: column {names[j]!r}: {_REFUSED[Kind.ROW_NUMBER].format(name=names[j])}.")


_REFUSED = {
    Kind.ROW_NUMBER: "it only counts the rows, which says nothing about new ones: leave it out, give it as the times "
    "t=, or say types={{{name!r}: 'number'}} if it is a measurement",
    Kind.DATE: "it holds times: leave it out, give it as t=, or say types={{{name!r}: 'number'}} to use it as a number "
    "of days",
    Kind.IDENTIFIER: "its text is different in nearly every row, so that it only identifies them: leave it out, or say "
    "types={{{name!r}: 'category'}}",
}


def _checked_kind(column: Raw, name: str) -> Kind:
    """Return what a column is taken for, or complain."""
    kind = kind_of(column)
    if kind in _REFUSED:
        raise ValueError(_REFUSED[kind].format(name=name))
    if kind == Kind.CONSTANT:
        return Kind.NUMBER if column.is_number else Kind.CATEGORY
    stray = stray_text(column) if kind == Kind.CATEGORY else None
    if stray is not None:
        raise ValueError(
            f"row {stray} holds {column.values[stray][:40]!r}, but most of it is numbers: correct it, or say "
            f"types={{{name!r}: 'category'}}"
        )
    return kind


def _numbers(column: Raw) -> FloatArray:
    try:
        values = column.numbers()
    except ValueError as error:
        raise ValueError(f"{error} where a number is needed") from None
    if np.isinf(values).any():
        raise ValueError(f"row {int(np.argmax(np.isinf(values)))} holds inf: correct it or remove the row")
    return values


def _number(column: Raw, indicated: bool) -> Number:
    values = _numbers(column)
    present = values[~np.isnan(values)]
    return Number(float(present.mean()) if present.size else 0.0, indicated)


def _category(column: Raw, indicated: bool) -> Category:
    counts = Counter(text for text in column.texts() if text is not None)
    if len(counts) > MOST_LEVELS:
        raise ValueError(
            f"it has {len(counts)} levels, more than {MOST_LEVELS}: put rare ones together, or leave it out"
        )
    if not counts:
        raise ValueError("all of its values are missing: leave it out")
    ordered = [level for level in column.levels or () if level in counts] or _ordered(counts)
    base = max(ordered, key=lambda level: counts[level])
    return Category((base, *(level for level in ordered if level != base)), indicated)


def _ordered(counts: Counter[str]) -> list[str]:
    """Return levels in the order of the numbers that they are, or of the alphabet."""
    return sorted(counts, key=lambda level: (0, float(level), level) if is_numeral(level) else (1, 0.0, level))
