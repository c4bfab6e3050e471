import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from fewvars.estimators import SparseDictionaryRegressor

SPLITS_ROWS = {
    "check_sample_weight_equivalence_on_dense_data": "held-out blocks depend on the rows, not on weights"
}


def _expected_failures(estimator):
    return SPLITS_ROWS if estimator.criterion == "held_out" else {}


@parametrize_with_checks(
    [
        SparseDictionaryRegressor(),
        SparseDictionaryRegressor(criterion="bic"),
        SparseDictionaryRegressor(criterion="bic", method="l1"),
    ],
    expected_failed_checks=_expected_failures,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
