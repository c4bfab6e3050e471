"""The estimators that a file may hold, with their fitted attributes."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from fewvars._common.kinds import (
    Kind,
    array,
    one_of,
    real,
    require,
    row,
    rows,
    table,
    text,
    truth,
    whole,
)
from fewvars.columns.encoding import Encoding
from fewvars.engine.network import Network
from fewvars.engine.solvers import Outcome
from fewvars.estimators import (
    DynamicsRegressor,
    FewVariablesClassifier,
    FewVariablesRegressor,
    SparseDictionaryRegressor,
)
from fewvars.estimators.few_directions import FewDirectionsRegressor
from fewvars.estimators.input_columns import InputColumns
from fewvars.files.persistence.consistency import (
    check_adaptive_directions,
    check_classifier,
    check_dictionary,
    check_dynamics,
    check_few_directions,
    check_few_variables,
    check_lags,
    check_network,
    check_two_stages,
)
from fewvars.files.persistence.records import Description
from fewvars.heads import head_types
from fewvars.paper import (
    AdaptiveDirectionsRegressor,
    AdaptiveGroupLassoRegressor,
    GroupLassoRegressor,
    NeuralRegressor,
)
from fewvars.polynomials.dictionary import DictionaryFit
from fewvars.search.path import Path
from fewvars.series.lags import LagTransformer


def _is_head(name: str, value: Any, sizes: dict[str, int]) -> None:
    """Any head that is known."""
    one_of(*head_types().values())(name, value, sizes)


_inputs: dict[str, Kind] = {
    "n_features_in_": whole(least=1, size="inputs"),
    "feature_names_in_": array("text", "inputs"),
    "_sklearn_output_config": table(text("default", "pandas", "polars")),  # what set_output asked for
}
_OPTIONAL = frozenset({"feature_names_in_", "_sklearn_output_config"})
_head: dict[str, Kind] = {
    "head_": text(),
    "_head": _is_head,
    "head_errors_": table(real(finite=False)),
    "held_out_error_": real(finite=False),
    "lambda_": real(least=0.0, finite=False),
    "n_iter_": whole(),
    "smoothed_": truth,
    "input_range_": array("float", "ends", "encoded inputs"),
    "expected_error_": real(finite=False),
    "expected_error_se_": real(finite=False),
    "expected_rmse_": array("float", "outputs", least=0.0, finite=False),
    "residual_quantiles_": array("float", "levels", "outputs", finite=False),
    "notes_": rows(text()),
    "_single_output": truth,
}
_ASSESSED = frozenset(
    {"expected_error_", "expected_error_se_", "expected_rmse_", "residual_quantiles_", "notes_", "input_range_"}
)
_network: dict[str, Kind] = {
    "network_": one_of(Network),
    "parameters_": array("float", "parameters"),
    "x_scale_": array("float", "inputs", above=0.0, finite=False),  # infinite for constant inputs
    "y_scale_": array("float", "outputs", above=0.0),
    "n_iter_": whole(),
    "outcome_": one_of(Outcome),
    "_one_output": truth,
}
_support: dict[str, Kind] = {"support_": array("bool", "inputs")}
_two_stages: dict[str, Kind] = {
    "path_": one_of(Path),
    "lambda_": real(least=0.0, finite=False),
    "initial_norms_": array("float", "columns", least=0.0, finite=False),
}


def _class_labels(name: str, value: Any, sizes: dict[str, int]) -> None:
    """At least two different labels: texts, numbers or truth values."""
    require(isinstance(value, np.ndarray) and value.ndim == 1, f"{name} is not a list of labels")
    require(len(value) >= 2 and len(set(value.tolist())) == len(value), f"{name} is not a list of distinct labels")
    require(value.dtype.kind != "f" or np.isfinite(value).all(), f"{name} is not finite")


_variables: dict[str, Kind] = {
    **_inputs,
    **_head,
    "support_": array("bool", "inputs"),
    "feature_importances_": array("float", "inputs", finite=False),
    "feature_importances_se_": array("float", "inputs", finite=False),
    "q_values_": array("float", "inputs", least=0.0),
    "interactions_": rows(row(text(), text())),
    "stand_ins_": rows(row(text(), text())),
    "judge_": text(),
    "selection_frequencies_": array("float", "inputs", least=0.0),
    "support_sizes_": array("int", "candidates", least=0),
    "support_errors_": array("float", "candidates", finite=False),
    "support_errors_se_": array("float", "candidates", finite=False),
    "path_": one_of(Path),
    "_encoding": one_of(Encoding),
}
_OPTIONAL_OF_VARIABLES = (
    _OPTIONAL
    | _ASSESSED
    | {"selection_frequencies_", "q_values_", "interactions_", "stand_ins_", "judge_", "_encoding"}
)
_PENALISED = Description({**_inputs, **_network, **_support, **_two_stages}, check_two_stages, _OPTIONAL)

ESTIMATORS: dict[type[BaseEstimator], Description] = {
    FewVariablesRegressor: Description(_variables, check_few_variables, _OPTIONAL_OF_VARIABLES),
    FewVariablesClassifier: Description(
        {
            **_variables,
            "classes_": _class_labels,
            "held_out_probabilities_": array("float", "held out", "classes", least=0.0),
            "held_out_classes_": array("int", "held out", least=0),
        },
        check_classifier,
        _OPTIONAL_OF_VARIABLES,
    ),
    FewDirectionsRegressor: Description(
        {
            **_inputs,
            **_head,
            "n_directions_": whole(size="directions"),
            "directions_": array("float", "directions", "inputs"),
            "mean_": array("float", "inputs"),
            "singular_values_": array("float", "directions", least=0.0),
            "selection_frequencies_": array("float", "ranks", least=0.0),
            "ranks_": array("int", "candidates", least=0),
            "rank_errors_": array("float", "candidates", finite=False),
            "rank_errors_se_": array("float", "candidates", finite=False),
            "path_": one_of(Path),
        },
        check_few_directions,
        _OPTIONAL | _ASSESSED | {"selection_frequencies_"},
    ),
    DynamicsRegressor: Description(
        {
            **_inputs,
            "_columns": one_of(InputColumns),
            "target_": text(),
            "inputs_": rows(text()),
            "input_graph_": array("bool", "inputs", "groups"),
            "input_scores_": array("float", "inputs", "groups", finite=False),
            "input_q_values_": array("float", "inputs", "groups", finite=False),
            "input_frequencies_": array("float", "inputs", "groups", finite=False),
            "heads_": rows(_is_head, least=1),
            "held_out_errors_": array("float", "inputs", finite=False),
            "head_errors_": rows(table(real(finite=False))),
            "lower_": array("float", "states"),
            "upper_": array("float", "states"),
            "step_": real(above=0.0),
            "start_": text(),
        },
        check_dynamics,
        _OPTIONAL | {"input_frequencies_", "target_", "start_"},
    ),
    SparseDictionaryRegressor: Description(
        {
            **_inputs,
            "path_": one_of(DictionaryFit),
        },
        check_dictionary,
        _OPTIONAL,
    ),
    NeuralRegressor: Description({**_inputs, **_network, **_support}, check_network, _OPTIONAL),
    GroupLassoRegressor: _PENALISED,
    AdaptiveGroupLassoRegressor: _PENALISED,
    AdaptiveDirectionsRegressor: Description(
        {
            **_inputs,
            **_network,
            **_two_stages,
            "n_directions_": whole(size="directions"),
            "directions_": array("float", "directions", "inputs"),
            "singular_values_": array("float", "singular values", least=0.0),
            "rank_": whole(),
        },
        check_adaptive_directions,
        _OPTIONAL,
    ),
    LagTransformer: Description(
        {
            **_inputs,
            "lags_": rows(whole(), least=1),
            "feature_groups_": array("int", "columns", least=0),
        },
        check_lags,
        _OPTIONAL,
    ),
}
