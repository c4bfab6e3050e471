"""Arguments that nobody means: each is refused by its name, at once, and nothing hangs or is accepted in silence."""

import numpy as np
import pytest

from fewvars import FewDirectionsRegressor, FewVariablesRegressor
from fewvars.estimators import SparseDictionaryRegressor
from fewvars.paper import AdaptiveGroupLassoRegressor
from problems import QUICK

X = np.random.default_rng(0).standard_normal((60, 4))
Y = X[:, 0] * X[:, 1] + X[:, 2]

BLOCKED = [FewVariablesRegressor, FewDirectionsRegressor]
HELD_OUT = [*BLOCKED, SparseDictionaryRegressor]
ALL = [*HELD_OUT, AdaptiveGroupLassoRegressor]


def refusal(estimator, *, X=X, y=Y, sample_weight=None, **parameters):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the tests look at the message
        estimator(**parameters).fit(X, y, sample_weight)
    return str(caught.value)


@pytest.mark.parametrize(
    "parameter",
    [
        *[{"n_jobs": value} for value in (np.nan, 1.5, "a", 0, True)],
        *[{"random_state": value} for value in (-1, "a")],
        *[{"shuffle": value} for value in ("abc", None)],
    ],
    ids=str,
)
@pytest.mark.parametrize("estimator", BLOCKED)
def test_is_refused_by_name_and_value(estimator, parameter):
    ((name, value),) = parameter.items()
    assert refusal(estimator, **parameter).startswith(f"{name}={value!r}: give ")


def test_flags_are_true_or_false():
    assert "fit_intercept=None" in refusal(SparseDictionaryRegressor, fit_intercept=None)
    assert "bias_at_mean='no'" in refusal(AdaptiveGroupLassoRegressor, bias_at_mean="no")


@pytest.mark.parametrize("dtype", ["U", "S", object])
@pytest.mark.parametrize("estimator", ALL)
def test_targets_that_are_text(estimator, dtype):
    labels = np.where(Y > 0, "high", "low").astype(dtype)
    message = refusal(estimator, y=labels)
    assert message.startswith("y is not numeric")
    assert "high" in message or "low" in message
    assert "use FewVariablesClassifier if it holds class labels" in message


def test_numbers_that_are_written_as_text():
    model = FewVariablesRegressor(**QUICK, random_state=0)
    expected = model.fit(X, Y).predict(X)
    assert np.array_equal(model.fit(X, Y.astype(str)).predict(X), expected)


@pytest.mark.parametrize("estimator", BLOCKED)
def test_smoothing_without_times(estimator):
    assert refusal(estimator, smoothing="on").startswith("smoothing='on' needs t: give the times")


ROWS = np.arange(60)


@pytest.mark.parametrize(
    ("cv", "complaint"),
    [
        ([(ROWS[:40], ROWS[-20:] - 60)], "include -20; row numbers go from 0 to 59"),
        ([(ROWS[:40], ROWS[40:] + 1)], "include 60; row numbers go from 0 to 59"),
        ([(ROWS[:40], ROWS[40:] + 0.5)], "not a list of whole numbers"),
        ([(ROWS[:40], ROWS[40:]), 3], "pairs of training rows and held-out rows"),
        ("a", "pairs of training rows and held-out rows"),
        (1, "n_splits=2 or more"),
        ([], "no splits"),
        ([(ROWS[:40], ROWS[40:]), (ROWS[:40], ROWS[35:])], "split 1 trains on 5 of the rows that it holds out"),
    ],
)
@pytest.mark.parametrize("estimator", HELD_OUT)
def test_splits_that_are_not_splits(estimator, cv, complaint):
    message = refusal(estimator, cv=cv)
    assert message.startswith("cv")
    assert complaint in message


@pytest.mark.parametrize("weight", [1e20, 1e60, 1e300])
@pytest.mark.parametrize("estimator", HELD_OUT)
def test_one_row_that_outweighs_all_others(estimator, weight):
    assert "sample_weight leaves 1 of 60 rows" in refusal(estimator, sample_weight=np.where(ROWS == 3, weight, 1.0))


@pytest.mark.parametrize("estimator", ALL)
def test_numbers_near_the_largest_possible(estimator):
    huge = 1.79e308 / np.abs(X).max() * X
    assert "X holds numbers up to 1.79e+308" in refusal(estimator, X=huge)
    assert "y holds numbers up to 1.79e+308" in refusal(estimator, y=huge[:, np.abs(X).max(axis=0).argmax()])


@pytest.mark.parametrize("groups", [{}, {0: "a"}, [0, 1, np.nan, 2], [[0, 1], [2]], [[0, "a"], [1, 2, 3]], [0, 1]])
def test_malformed_groups(groups):
    assert refusal(FewVariablesRegressor, feature_groups=groups).startswith("feature_groups")


@pytest.mark.parametrize("parameter", ["max_degree", "n_blocks"])
def test_no_number_is_too_large_for_a_limit(parameter):
    options = {**QUICK, "head": "dictionary", "random_state": 0}
    models = [FewVariablesRegressor(**options, **{parameter: value}).fit(X, Y) for value in (60, 10**30)]
    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))


def test_directions_of_a_network_that_has_learned_a_constant():
    """Of a rare event, few updates may learn nothing but its mean: there is no direction then."""
    rng = np.random.default_rng(4)
    inputs, events = rng.standard_normal((200, 6)), np.zeros(200)
    events[rng.integers(200, size=1)] = 1.0
    model = FewDirectionsRegressor(first_updates=5, path_updates=2, refit_updates=2, random_state=0)
    with pytest.warns(UserWarning, match="no directions were found"):
        model.fit(inputs, events)
    assert model.n_directions_ == 0
