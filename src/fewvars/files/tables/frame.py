"""Columns with names as a frame of whichever library is installed."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np


def frame_of(columns: Mapping[str, np.ndarray]) -> Any:
    """Return columns of any types as a frame of polars or pandas; as an array of objects if neither is installed."""
    import narwhals

    backend = _installed()
    if backend is None:
        return np.column_stack([column.astype(object) for column in columns.values()])
    values = {name: column.tolist() if column.dtype.kind == "O" else column for name, column in columns.items()}
    return narwhals.from_dict(values, backend=backend).to_native()


def named_columns(X: np.ndarray, names: Sequence[str]) -> Any:
    """Return X (n, d) as a frame of polars or pandas; X itself, without names, if neither is installed."""
    import narwhals

    backend = _installed()
    return X if backend is None else narwhals.from_numpy(X, list(names), backend=backend).to_native()


def _installed() -> Any:
    """Return the name of a library of frames that is installed, or None."""
    return next((name for name in ("polars", "pandas") if find_spec(name) is not None), None)
