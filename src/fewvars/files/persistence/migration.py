"""Convert files of format 1 to today's format: names that have changed, and state that is no longer kept.

A place such as "fitted/path_/norms" stands for an entry of the description and for the tensors below it.
"""

from typing import Any

import numpy as np

Tensors = dict[str, np.ndarray]

_DROPPED = {
    "FewVariablesRegressor": [
        *("fitted/support_bic_", "fitted/_labels", "fitted/_candidates", "fitted/_refit", "fitted/_search_scaling")
    ],
    "FewDirectionsRegressor": ["parameters/solver", "not_stored/solver"],
    "SparseDictionaryRegressor": [
        *("fitted/polynomial_", "fitted/exponents_", "fitted/coef_", "fitted/n_terms_"),
        *("fitted/support_", "fitted/strength_", "fitted/equation_"),
    ],
}
_RENAMED = {
    "parameters/hidden_layers": "parameters/hidden_layer_sizes",
    "not_stored/hidden_layers": "not_stored/hidden_layer_sizes",
    "parameters/always_keep": "parameters/include",
    "not_stored/always_keep": "not_stored/include",
    "parameters/degree": "parameters/max_degree",
    "not_stored/degree": "not_stored/max_degree",
    "fitted/bic_path_": "fitted/path_",
    "fitted/path_/lambdas": "fitted/path_/strengths",
    "fitted/path_/norms": "fitted/path_/magnitudes",
    "fitted/path_/singular_values": "fitted/path_/magnitudes",
    "fitted/path_/supports": "fitted/path_/magnitudes",
}
_PATHS: dict[str, dict[str, Any]] = {  # and the fields that they did not store
    "Path": {},
    "DirectionsPath": {"tolerance": 1e-4},
    "BICPath": {"outcome": {"enum": "Outcome", "member": "FINISHED"}},
}
_PATH = {"tolerance": 0.0, "labels": None, "distances": None, "steps": None, "constants": None}
_PATH |= {"degrees_of_freedom": None, "bic": None}
# The plain network shared a record with estimators that have a second stage.
_SECOND_STAGE = (
    *("n_second", "second_batch_size", "n_strengths", "first_strength", "last_strength"),
    *("start", "likelihood", "degrees_of_freedom"),
)


def migrate(description: dict[str, Any], tensors: Tensors) -> None:
    """Change a description of format 1, and the names of its tensors, in place."""
    estimator = str(description.get("estimator"))
    for place in _DROPPED.get(estimator, ["fitted/bic_path_/sizes"]):
        _move(place, None, description, tensors)
    for old, new in _RENAMED.items():
        _move(old, new, description, tensors)
    _complete_path(description, tensors)
    _flatten_configuration(estimator, description)
    match description.get("fitted"):
        case {"_head": {"record": "DictionaryHead"} as head}:
            head["record"] = "PolynomialHead"


def _move(old: str, new: str | None, description: dict[str, Any], tensors: Tensors) -> None:
    """Move an entry and its tensors to another place in the same table, or drop them."""
    *above, name = old.split("/")
    table: Any = description
    for key in above:
        table = table.get(key) if isinstance(table, dict) else None
        table = table.get("fields", table) if isinstance(table, dict) else None
    if not isinstance(table, dict) or name not in table:
        return
    code = table.pop(name)
    arrays = {key: tensors.pop(key) for key in list(tensors) if f"{key}/".startswith(f"{old}/")}
    if new is not None:
        table[new.rpartition("/")[2]] = code
        tensors.update({new + key[len(old) :]: array for key, array in arrays.items()})


def _complete_path(description: dict[str, Any], tensors: Tensors) -> None:
    """Turn each of the three old kinds of paths into today's."""
    match description.get("fitted"):
        case {"path_": {"record": "Path" | "DirectionsPath" | "BICPath" as kind, "fields": dict(fields)} as path}:
            path["record"], path["fields"] = "Path", {**_PATH, **_PATHS[kind], **fields}
        case _:
            return
    magnitudes = tensors.get("fitted/path_/magnitudes")
    if kind == "BICPath" and magnitudes is not None and isinstance(fields.get("magnitudes"), dict):
        # The norms were not kept, only what was alive.
        tensors["fitted/path_/magnitudes"] = magnitudes.astype(np.float64)
        path["fields"]["magnitudes"] = {**fields["magnitudes"], "array": "float64"}


def _flatten_configuration(estimator: str, description: dict[str, Any]) -> None:
    """Turn the choices, which used to be one parameter (a record or None), into parameters."""
    match description.get("parameters"):
        case {"configuration": {"fields": {"width": width, "n_hidden_layers": int(n), **choices}}, **rest}:
            unknown = _SECOND_STAGE if estimator == "NeuralRegressor" else ()
            chosen = {name: value for name, value in choices.items() if name not in unknown}
            description["parameters"] = {**rest, "hidden_layer_sizes": {"tuple": [width] * min(n, 1000)}, **chosen}
        case {"configuration": None, **rest}:
            description["parameters"] = rest
