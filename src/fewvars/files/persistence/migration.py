"""Files of earlier formats in today's form: names that have changed, and state that is no longer kept."""

from typing import Any

import numpy as np

# Records, parameters and fitted attributes that had another name in format 1.
_RECORDS = {"DictionaryHead": "PolynomialHead"}


def migrate(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    """Change a description of format 1, and the names of its tensors, in place."""
    _rename_records(description)


def _rename_records(code: Any) -> None:
    """Rename records wherever they are nested."""
    if isinstance(code, dict):
        if isinstance(code.get("record"), str):
            code["record"] = _RECORDS.get(code["record"], code["record"])
        for entry in code.values():
            _rename_records(entry)
    elif isinstance(code, list):
        for entry in code:
            _rename_records(entry)
