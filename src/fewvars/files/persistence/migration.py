"""Files of earlier formats in today's form: names that have changed, and state that is no longer kept."""

from typing import Any

import numpy as np

# Records, parameters and fitted attributes that had another name in format 1.
_RECORDS = {"DictionaryHead": "PolynomialHead"}
_PARAMETERS = {
    "FewVariablesRegressor": {"hidden_layers": "hidden_layer_sizes", "always_keep": "include"},
    "FewDirectionsRegressor": {"hidden_layers": "hidden_layer_sizes"},
    "SparseDictionaryRegressor": {"degree": "max_degree"},
}
# Kinds of paths: fields that had another name, and those that were not stored.
_SAME = {name: name for name in ("strengths", "losses", "labels", "distances", "steps", "constants")}
_PATHS: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "Path": ({**_SAME, "norms": "magnitudes"}, {}),
    "DirectionsPath": ({**_SAME, "singular_values": "magnitudes"}, {"tolerance": 1e-4}),
    "BICPath": (
        {
            "lambdas": "strengths",
            "losses": "losses",
            "supports": "magnitudes",
            "degrees_of_freedom": "degrees_of_freedom",
            "bic": "bic",
        },
        {"outcome": {"enum": "Outcome", "member": "FINISHED"}},
    ),
}
_NEW_FIELDS = {
    "labels": None,
    "tolerance": 0.0,
    "distances": None,
    "steps": None,
    "constants": None,
    "degrees_of_freedom": None,
    "bic": None,
}
# The plain network shared a record with estimators that have a second stage.
_SECOND_STAGE = (
    *("n_second", "second_batch_size", "n_strengths", "first_strength", "last_strength"),
    *("start", "likelihood", "degrees_of_freedom"),
)
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
    fitted = description.get("fitted")
    if isinstance(fitted, dict):
        _unite_paths(fitted, tensors)
    _rename_records(description)
    _flatten_configuration(estimator, description)
    for old, new in _PARAMETERS.get(estimator, {}).items():
        _rename_parameter(old, new, description, tensors)


def _rename_parameter(old: str, new: str, description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    for section in ("parameters", "not_stored"):
        entries = description.get(section)
        if isinstance(entries, dict) and old in entries:
            entries[new] = entries.pop(old)
    place = f"parameters/{old}"
    for key in [key for key in tensors if f"{key}/".startswith(f"{place}/")]:
        tensors[f"parameters/{new}{key[len(place) :]}"] = tensors.pop(key)


def _flatten_configuration(estimator: str, description: dict[str, Any]) -> None:
    """Make parameters of the choices that were one parameter, a record or None."""
    match description.get("parameters"):
        case {"configuration": {"fields": {"width": width, "n_hidden_layers": int(n), **choices}}, **rest}:
            unknown = _SECOND_STAGE if estimator == "NeuralRegressor" else ()
            chosen = {name: value for name, value in choices.items() if name not in unknown}
            description["parameters"] = {**rest, "hidden_layer_sizes": {"tuple": [width] * min(n, 1000)}, **chosen}
        case {"configuration": None, **rest}:
            description["parameters"] = rest


def _unite_paths(fitted: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    """Turn each of the three kinds of paths of format 1 into the one of today."""
    for place in ("path_", "bic_path_"):
        match fitted.get(place):
            case {"record": "Path" | "DirectionsPath" | "BICPath" as kind, "fields": dict(old)}:
                renamed, added = _PATHS[kind]
            case _:
                continue
        new = {field: old.pop(name) for name, field in renamed.items() if name in old}
        for name, field in renamed.items():
            tensor = tensors.pop(f"fitted/{place}/{name}", None)
            if tensor is not None:
                tensors[f"fitted/path_/{field}"] = tensor
        magnitudes = tensors.get("fitted/path_/magnitudes")
        if magnitudes is not None and magnitudes.dtype == bool and isinstance(new.get("magnitudes"), dict):
            # The norms were not kept, only what was alive.
            tensors["fitted/path_/magnitudes"] = magnitudes.astype(np.float64)
            new["magnitudes"] = {**new["magnitudes"], "array": "float64"}
        old.pop("sizes", None)
        tensors.pop(f"fitted/{place}/sizes", None)
        fitted[place] = {"record": "Path", "fields": {**_NEW_FIELDS, **added, **old, **new}}
        entries = {"path_" if name == place else name: entry for name, entry in fitted.items()}
        fitted.clear()
        fitted.update(entries)  # in the same order


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
