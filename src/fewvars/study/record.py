"""How rows know a method: by names that stay as they are when the code renames or moves things.

A row is found by a digest of the data and of all parameters of its method. Thousands of rows were made before some of
the parameters had their present names. What enters the digest is therefore a record in the names of that time; this
module is the only place that knows them. To rename a parameter of an estimator of the study, add a line here.
"""

from collections.abc import Mapping
from typing import Any

# For each estimator, the names that parameters had in the first rows, by the names that they have today.
_FIRST_NAMES: Mapping[str, Mapping[str, str]] = {
    "fewvars:FewVariablesRegressor": {"hidden_layer_sizes": "hidden_layers", "include": "always_keep"},
    "fewvars:FewDirectionsRegressor": {"hidden_layer_sizes": "hidden_layers"},
    "fewvars:SparseDictionaryRegressor": {"max_degree": "degree"},
}
# Parameters of that time that no longer exist, and the one value that they could have.
_REMOVED: Mapping[str, Mapping[str, Any]] = {"fewvars:FewDirectionsRegressor": {"solver": "momentum"}}
# What a fit does not depend on, or what its row states anyway.
_IDLE = ("random_state", "n_jobs", "verbose")


def recorded(estimator: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of an estimator of the study, "module:class", under the names of the first rows."""
    names = _FIRST_NAMES.get(estimator, {})
    record = {names.get(name, name): value for name, value in parameters.items() if name not in _IDLE}
    return {**record, **_REMOVED.get(estimator, {})}
