"""The record by which rows identify a method, which stays the same when the code renames or moves things.

A row is found by a digest of the data and of all parameters of its method. Thousands of rows were made before some of
the parameters had their present names. What enters the digest is therefore a record in the names of that time; this
module is the only place that knows them. To rename or add a parameter of an estimator of the study, add a line here.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from fewvars.paper.configuration import Configuration

# For each estimator, the names that parameters had in the first rows, by the names that they have today.
_FIRST_NAMES: Mapping[str, Mapping[str, str]] = {
    "fewvars:FewVariablesRegressor": {"hidden_layer_sizes": "hidden_layers", "include": "always_keep"},
    "fewvars:FewDirectionsRegressor": {"hidden_layer_sizes": "hidden_layers"},
    "fewvars:SparseDictionaryRegressor": {"max_degree": "degree"},
}
# Parameters of that time that no longer exist, and the one value that they could have.
_REMOVED: Mapping[str, Mapping[str, Any]] = {"fewvars:FewDirectionsRegressor": {"solver": "momentum"}}
# Parameters that did not exist then, and their defaults: only another value makes another method.
_COLUMNS = {"missing": "error", "types": None, "unseen": "error"}
_ADDED: Mapping[str, Mapping[str, Any]] = {
    "fewvars:FewVariablesRegressor": {"exclude": None, "fdr": None, "judge": "auto", "loss": "squared", **_COLUMNS},
    "fewvars:FewDirectionsRegressor": {"loss": "squared", **_COLUMNS},
}
# Values that stand for the value of that time, because along a trajectory they mean the same.
_SAME: Mapping[str, Any] = {"shuffle": {"auto": False}}
# Estimators whose choices used to be one parameter, a dataclass, and whose hidden layers had one width.
_PAPER = ("fewvars.paper:", "fewvars:NeuralRegressor", "fewvars:GroupLassoRegressor")
# Parameters that do not affect a fit, or that its row states anyway.
_IDLE = ("random_state", "n_jobs", "verbose")


def recorded(estimator: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of an estimator of the study, "module:class", under the names of the first rows."""
    names, added = _FIRST_NAMES.get(estimator, {}), _ADDED.get(estimator, {})
    record = {
        names.get(name, name): _SAME[name].get(value, value) if name in _SAME else value
        for name, value in parameters.items()
        if name not in _IDLE and not (name in added and value == added[name])
    }
    if estimator.startswith(_PAPER):
        return {"configuration": _configuration(record)}
    return {**record, **_REMOVED.get(estimator, {})}


def _configuration(choices: Mapping[str, Any]) -> dict[str, Any]:
    record = asdict(Configuration(**choices))
    sizes = list(record.pop("hidden_layer_sizes"))
    width = sizes[0] if len(set(sizes)) == 1 else sizes
    return {"type": "Configuration", "width": width, "n_hidden_layers": len(sizes), **record}
