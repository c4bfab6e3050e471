"""Numbers with names as a frame of whichever library is installed."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np


def named_columns(X: np.ndarray, names: Sequence[str]) -> Any:
    """Return X (n, d) as a frame of polars or pandas; X itself, without names, if neither is installed."""
    import narwhals

    if find_spec("polars") is not None:
        return narwhals.from_numpy(X, list(names), backend="polars").to_native()
    if find_spec("pandas") is not None:
        return narwhals.from_numpy(X, list(names), backend="pandas").to_native()
    return X
