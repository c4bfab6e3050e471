"""Check what a user gives in addition to trajectories: controls, derivatives, angles and edges."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fewvars._common.validation import FloatArray


def checked_controls(
    u: Any, n: int, variables: Sequence[str], expected: int | None = None
) -> tuple[FloatArray, tuple[str, ...]]:
    """Return controls (n, controls) and their names; raise an error unless there are `expected` columns."""
    if u is None:
        if expected:
            raise ValueError(f"u is missing: the model was fitted with {expected} controls; give them too.")
        return np.empty((n, 0)), ()
    values = _columns_of_numbers("u", u)
    if values.ndim != 2 or len(values) != n:
        raise ValueError(f"u has shape {np.shape(u)}: give one row for each of the {n} rows of X.")
    if expected is not None and values.shape[1] != expected:
        raise ValueError(f"u has {values.shape[1]} columns: the model was fitted with {expected} controls.")
    names = [str(name) for name in getattr(u, "columns", [f"u{k}" for k in range(values.shape[1])])]
    clash = sorted(set(names) & set(variables))
    if clash:
        raise ValueError(f"u and X both have a column {clash[0]!r}: rename one of them.")
    return values, tuple(names)


def check_reserved_names(variables: Sequence[str], controls: Sequence[str], order: int, time: bool) -> None:
    """Raise an error if a column of X or u is called like an input that is added to them: time or a velocity."""
    names = {*variables, *controls}
    if time and "t" in names:
        raise ValueError(
            "X or u has a column 't', which is the name of time itself with time=True: rename the column, or use "
            "time=False."
        )
    velocities = {f"d{name}/dt" for name in variables} if order == 2 else set()
    clash = sorted(velocities & names)
    if clash:
        raise ValueError(f"X or u has a column {clash[0]!r}, which is the name of a velocity with order=2: rename it.")


def checked_derivatives(y: Any, shape: tuple[int, ...], target: str) -> FloatArray:
    """Return measured derivatives, one for every entry of X."""
    if target == "step":
        raise ValueError(
            'y was given, but with target="step" the equations give the change over one step instead of derivatives: '
            'leave y out, or use target="derivative".'
        )
    values = _columns_of_numbers("y", y)
    if values.shape != shape:
        raise ValueError(f"y has shape {np.shape(y)}: give the derivative of every entry of X, shape {shape}.")
    return values


def complete_rows(*tables: FloatArray | None) -> np.ndarray:
    """Return the rows (n,) bool in which all numbers of all tables (n, columns) are finite; None is no table."""
    return np.all([np.isfinite(table).all(axis=1) for table in tables if table is not None], axis=0)


def _columns_of_numbers(argument: str, given: Any) -> FloatArray:
    """Return numbers with at least two axes."""
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{argument} holds something other than numbers ({error}): give numbers.") from error
    if np.isinf(values).any():
        row = int(np.argwhere(np.isinf(values))[0, 0]) if values.ndim else 0
        raise ValueError(
            f"{argument} contains infinity in row {row}: give finite numbers, or NaN where nothing was measured."
        )
    return values[:, None] if values.ndim == 1 else values


def angle_numbers(given: Any, names: Sequence[str]) -> tuple[int, ...]:
    """Return which variables are angles."""
    if given is None:
        return ()
    if isinstance(given, str) and given == "all" and "all" not in names:
        return tuple(range(len(names)))
    chosen = [given] if np.ndim(given) == 0 else list(given)
    return tuple(sorted({_position("angles", item, names) for item in chosen}))


def edge_masks(include: Any, exclude: Any, effects: Sequence[str], causes: Sequence[str]) -> tuple[np.ndarray, ...]:
    """Return masks (effects, causes) of the edges that must and that must not be in the graph."""
    masks = _edges("include", include, effects, causes), _edges("exclude", exclude, effects, causes)
    if (masks[0] & masks[1]).any():
        i, j = np.argwhere(masks[0] & masks[1])[0]
        pair = f"({effects[i]}, {causes[j]})"
        raise ValueError(f"include and exclude both name the edge {pair}: leave it out of one of them.")
    return masks


def _edges(argument: str, given: Any, effects: Sequence[str], causes: Sequence[str]) -> np.ndarray:
    mask = np.zeros((len(effects), len(causes)), bool)
    if given is None:
        return mask
    array = np.asarray(given, dtype=object) if isinstance(given, list | tuple) else np.asarray(given)
    if array.dtype == bool:
        if array.shape != mask.shape:
            raise ValueError(f"{argument} has shape {array.shape}: give a mask of shape {mask.shape}, or pairs.")
        return array.copy()
    for pair in given:
        if np.shape(pair) != (2,):
            raise ValueError(f"{argument} holds {pair!r}: give pairs (effect, cause).")
        mask[_position(argument, pair[0], effects), _position(argument, pair[1], causes)] = True
    return mask


def _position(argument: str, item: Any, names: Sequence[str]) -> int:
    """Return the index of an item, given as a name or a number, among names."""
    if isinstance(item, str) and item in names:
        return list(names).index(item)
    if isinstance(item, int | np.integer) and not isinstance(item, bool) and 0 <= item < len(names):
        return int(item)
    listed = ", ".join(names[:8]) + ("..." if len(names) > 8 else "")
    raise ValueError(f"{argument}={item!r}: give one of {listed}, or a number below {len(names)}.")
