"""Turn the X and y that a user gives to `fit` and `predict` into numbers: encode tables and drop incomplete rows."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _check_feature_names_in, validate_data

from fewvars._common.validation import FloatArray, check_choice, check_samples
from fewvars.columns.encoders import BASE
from fewvars.columns.encoding import (
    DROP,
    ERROR,
    INDICATE,
    TYPES,
    UNSEEN,
    Encoding,
    check_no_counter,
    missing_message,
)
from fewvars.columns.raw import Raw, missing_values, of_matrix, raw_columns
from fewvars.estimators.rows import FEWEST_ROWS
from fewvars.series.gaps import bridge_gaps, gaps_in_words


class Given(NamedTuple):
    """The checked arguments of `fit`.

    Attributes
    ----------
    X : (n, inputs), finite
    y : (n,) or (n, outputs), finite
    counted : (n,) bool
        Rows that are not left out because of missing values.
    encoding : Encoding, optional
        How the columns became inputs; None for plain numbers, which are the inputs themselves.
    notes : tuple of str
        What a user should know about rows that were left out.
    """

    X: FloatArray
    y: np.ndarray
    counted: np.ndarray
    encoding: Encoding | None
    notes: tuple[str, ...]


def given_to_fit(model: Any, X: Any, y: Any, t: Any, trajectory: Any) -> Given:
    """Check X and y, encode a table, and find the rows to use; the model learns the names of the columns."""
    check_choice("missing", model.missing, model._MISSING)
    check_choice("unseen", model.unseen, UNSEEN)
    y, present = _target(y)
    checked = partial(check_samples, y=y, fewest=FEWEST_ROWS, allow_nan=True)
    table, encoding = raw_columns(X), None
    if table is None:
        values, outputs = checked(model, X)
    else:
        validate_data(model, X, skip_check_array=True)
    names = column_names(model)
    types = _types(model)
    if table is None and hasattr(model, "feature_names_in_"):
        check_no_counter(values, names, types)
    if table is not None or types or model.missing == INDICATE:
        table = of_matrix(values) if table is None else table
        bridges = model.missing == INDICATE and t is not None and model.smoothing != "off"
        rows = _rows_to_learn_from(table, present, model.missing)
        encoding = Encoding.of(table, names, types, rows, indicate=model.missing == INDICATE, bridged=bridges)
        if bridges:
            table = _bridged(table, encoding, names, t, trajectory, loudly=True)
        values = encoding.apply(table, names, missing=model.missing, unseen=BASE)  # in rows that are left out
        values, outputs = checked(copy(model), values)  # a copy, as the model knows the names of the table's columns
    elif model.missing == ERROR:
        _check_complete(values, names)
    notes = [] if present is None else [_unknown_targets(present)]
    present = np.ones(len(values), bool) if present is None else present
    counted = present & ~np.isnan(values).any(axis=1)
    n_incomplete = int((present & ~counted).sum())
    if n_incomplete:
        notes.append(f"Values of X are missing in {n_incomplete} of {len(counted)} rows, which are left out.")
    if not counted.all():
        _check_enough(values, counted, present, names if encoding is None else encoding.names(names))
        values = np.where(counted[:, None], values, 0.0)
    return Given(values, outputs, counted, encoding, tuple(notes))


def given_to_predict(model: Any, X: Any, t: Any, trajectory: Any, used: np.ndarray | None) -> FloatArray:
    """Return the inputs (n, inputs), with NaN where a value is missing and rows with missing values are left out.

    Only the columns of an encoded table that are in `used` (a mask) are read.
    """
    encoding: Encoding | None = model._encoding
    table = None if encoding is None else raw_columns(X)
    if table is None:
        values = validate_data(model, X, dtype=np.float64, order="C", ensure_all_finite="allow-nan", reset=False)
    else:
        validate_data(model, X, reset=False, skip_check_array=True)
    names = column_names(model)
    if encoding is None:
        if model.missing == ERROR:
            _check_complete(values, names)
        return values
    table = of_matrix(values) if table is None else table
    if model.missing == INDICATE and t is not None:
        table = _bridged(table, encoding, names, t, trajectory)
    return encoding.apply(table, names, missing=model.missing, unseen=model.unseen, used=used)


def column_names(model: Any) -> list[str]:
    """Return the names of the columns of X."""
    return [str(name) for name in _check_feature_names_in(model)]


def positions(model: Any, argument: str, chosen: Iterable[Any], or_else: str = "") -> list[int]:
    """Return the numbers of columns of X that are given by name, if they have names, or by number."""
    d, known = model.n_features_in_, {name: j for j, name in enumerate(getattr(model, "feature_names_in_", ()))}
    found = []
    for item in chosen:
        if isinstance(item, str) and item in known:
            found.append(known[item])
        elif isinstance(item, int | np.integer) and not isinstance(item, bool) and 0 <= item < d:
            found.append(int(item))
        else:
            raise ValueError(f"{argument}={item!r}: give names of columns of X, numbers below {d}{or_else}.")
    return found


def _types(model: Any) -> dict[int, str]:
    """Return the types that the user has given, by the number of the column."""
    given = model.types
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValueError(f"types={given!r}: give a dict from columns to types, as in {{'site': 'category'}}.")
    for column, kind in given.items():
        check_choice(f"types[{column!r}]", kind, [str(kind) for kind in TYPES])
    return dict(zip(positions(model, "types", given), given.values(), strict=True))


def _target(y: Any) -> tuple[Any, np.ndarray | None]:
    """Return y with missing values replaced by an arbitrary one, and the rows where it is present; None for all."""
    values = np.asarray(y)
    missing = missing_values(values)
    if values.ndim not in (1, 2) or not missing.any():
        return y, None
    present = np.asarray(~missing.reshape(len(values), -1).any(axis=1))
    if not present.any():
        raise ValueError(f"y is missing in all {len(values)} rows (Input y contains NaN): give values of the target.")
    warnings.warn(_unknown_targets(present), stacklevel=5)
    values = values.copy()
    values[~present] = values[present][0]
    return values, present


def _unknown_targets(present: np.ndarray) -> str:
    return f"The target is missing in {(~present).sum()} of {len(present)} rows, which are left out."


def _rows_to_learn_from(table: Sequence[Raw], present: np.ndarray | None, missing: str) -> np.ndarray | None:
    """Return the rows (n,) that will not be left out, or None for all rows, also if none would remain."""
    if missing == DROP:
        whole = ~np.any([column.missing for column in table], axis=0)
        present = whole if present is None else present & whole
    return present if present is not None and present.any() else None


def _check_complete(values: FloatArray, names: Sequence[str]) -> None:
    is_missing = np.isnan(values)
    if is_missing.any():
        column = int(np.argmax(is_missing.any(axis=0)))
        raise ValueError(missing_message(names[column], is_missing[:, column]))


def _check_enough(values: FloatArray, counted: np.ndarray, present: np.ndarray, names: Sequence[str]) -> None:
    """Raise an error if too few rows are left without missing values."""
    if counted.sum() >= FEWEST_ROWS:
        return
    share_missing = np.isnan(values).mean(axis=0)
    worst = int(np.argmax(share_missing))
    if not share_missing[worst]:
        raise ValueError(f"y is missing in all but {present.sum()} rows: give at least {FEWEST_ROWS} with a value.")
    raise ValueError(
        f"missing='drop' leaves {counted.sum()} of {len(counted)} rows: choose missing='indicate', or leave out "
        f"columns such as {names[worst]!r}, in which {share_missing[worst]:.0%} of the values are missing."
    )


def _bridged(
    table: Sequence[Raw],
    encoding: Encoding,
    names: Sequence[str],
    t: Any,
    trajectory: ArrayLike | None,
    *,
    loudly: bool = False,
) -> list[Raw]:
    """Return the table with gaps in its numbers bridged in time."""
    levels = encoding.levels()
    chosen = [j for j, column in enumerate(table) if j not in levels and column.missing.any()]
    if not chosen:
        return list(table)
    values, gaps = bridge_gaps(np.column_stack([table[j].numbers() for j in chosen]), t, trajectory)
    if loudly and gaps:
        warnings.warn(gaps_in_words(gaps, [names[j] for j in chosen]), stacklevel=5)
    found = list(table)
    for j, column in zip(chosen, values.T, strict=True):
        found[j] = Raw(column)
    return found
