"""The encoding of the columns of a table as columns of numbers, the same in `fit` and in `predict`.

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
from fewvars._common.wording import counted
from fewvars.columns.encoders import BASE, Category, Number
from fewvars.columns.kinds import Kind, counts_rows, kind_of, stray_text
from fewvars.columns.raw import Raw

ERROR, DROP, INDICATE = "error", "drop", "indicate"
MISSING, UNSEEN = (ERROR, DROP, INDICATE), (ERROR, BASE)
TYPES = (Kind.NUMBER, Kind.CATEGORY)


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
        """Detect the type of each column, or raise an error that says what is wrong with it.

        Parameters
        ----------
        types : dict
            "number" or "category" for columns, by number, that are not what they seem to be.
        rows : (n,) bool, optional
            Rows from which levels and means are learned; by default all.
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
                    found.append(Number.of(column, indicated and not bridged))
                else:
                    found.append(Category.of(column, indicated))
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
    """Return an error message about missing values (a mask) in a column."""
    return (
        f"X: column {name!r} has {counted(int(gone.sum()), 'missing value')} (NaN or None), the first in row "
        f"{int(np.argmax(gone))}: choose missing='indicate' or missing='drop', or fill in what is missing."
    )


def check_no_counter(X: FloatArray, names: Sequence[str], types: Mapping[int, str]) -> None:
    """Raise an error for columns (n, d) of a table with names that only count the rows."""
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
    """Return the type of a column, or raise an error if it cannot be an input."""
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
