"""Files of earlier formats in today's form: names that have changed, and state that is no longer kept."""

from typing import Any

import numpy as np

# Records, parameters and fitted attributes that had another name in format 1.
_RECORDS = {"DictionaryHead": "PolynomialHead"}
_PARAMETERS = {"SparseDictionaryRegressor": {"degree": "max_degree"}}
# Places that are no longer stored.
_DROPPED = {
    "FewVariablesRegressor": (
        "fitted/support_bic_",
        "fitted/_labels",
        "fitted/_candidates",
        "fitted/_refit",
        "fitted/_search_scaling",
    ),
    "FewDirectionsRegressor": ("parameters/solver",),
    "SparseDictionaryRegressor": (
        "fitted/polynomial_",
        "fitted/exponents_",
        "fitted/coef_",
        "fitted/n_terms_",
        "fitted/support_",
        "fitted/strength_",
        "fitted/equation_",
    ),
}


def migrate(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    """Change a description of format 1, and the names of its tensors, in place."""
    estimator = str(description.get("estimator"))
    for place in _DROPPED.get(estimator, ()):
        _drop(place, description, tensors)
    _rename_records(description)
    for section in ("parameters", "not_stored"):
        entries = description.get(section)
        if isinstance(entries, dict):
            for old, new in _PARAMETERS.get(estimator, {}).items():
                if old in entries:
                    entries[new] = entries.pop(old)


def _drop(place: str, description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    section, name = place.split("/")
    entries = description.get(section)
    if isinstance(entries, dict) and name in entries:
        del entries[name]
        for tensor in [key for key in tensors if f"{key}/".startswith(f"{place}/")]:
            del tensors[tensor]


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
