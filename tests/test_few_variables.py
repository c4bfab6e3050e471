"""The few-variables estimator: the contract, the answer, and what happens with bad input."""

import warnings

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from fewvars import FewVariablesRegressor

QUICK = {"first_updates": 60, "path_updates": 10, "path_factor": 2.0, "refit_updates": 60, "max_candidates": 4}


def allowed_failures(estimator):
    return {
        "check_sample_weight_equivalence_on_dense_data": "holds out rows by itself, as early stopping does; the "
        "kernels show that weight 2 equals a repeated row"
    }


@pytest.mark.filterwarnings("ignore")  # the checks fit noise, constants and ten rows, and some say so
@parametrize_with_checks(
    [FewVariablesRegressor(**QUICK, head=head) for head in ("auto", "network")],
    expected_failed_checks=allowed_failures,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
