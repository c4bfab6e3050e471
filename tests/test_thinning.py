"""Inputs that are related to labels on their own: which are, how many a prediction needs, and tests near certainty."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import log_loss
from sklearn.model_selection import RepeatedKFold

from fewvars import FewVariablesClassifier
from fewvars.engine.losses import CrossEntropy
from fewvars.engine.samples import Samples
from fewvars.search.held_out import HeldOut
from fewvars.search.variables.forward import forward_search, related_groups
from fewvars.search.variables.growing_model import GrowingModel
from fewvars.search.variables.terms import Term
from fewvars.search.variables.thinning import thinned
from planted import mask, standardised

EVERYTHING, NOTHING = np.ones(30, bool), np.zeros(30, bool)


def measured_twelve_times(n=200, seed=0):
    """Return twelve noisy measurements of one quantity, 18 columns of noise, and classes that the quantity decides."""
    rng = np.random.default_rng(seed)
    X, quantity = rng.standard_normal((n, 30)), rng.standard_normal(n)
    X[:, :12] += quantity[:, None]
    return X, (rng.random(n) < expit(4.0 * quantity)).astype(float)


def neighbours(n=300, seed=0):
    """Return a chain of correlated columns, and classes that depend on two of them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 30))
    for j in range(1, 30):
        X[:, j] = 0.7 * X[:, j - 1] + np.sqrt(0.51) * X[:, j]
    return X, (rng.random(n) < expit(2.0 * X[:, 5] - 2.0 * X[:, 20])).astype(float)


def model_of(X, y):
    return GrowingModel(standardised(X, y, ordered=False, loss=CrossEntropy()))


def support_of(X, y, always=NOTHING):
    data = standardised(X, y, ordered=False, loss=CrossEntropy())
    samples = Samples.of(data.terms.Z, data.Y, data.weights, loss=data.loss)
    splits = RepeatedKFold(n_splits=4, n_repeats=2, random_state=0).split(X)
    held_out = HeldOut.of(splits, data.weights, by_ratio=False)
    return thinned(samples, data.terms, held_out, related_groups(model_of(X, y), EVERYTHING), always)


def test_related_inputs_are_those_with_an_effect_of_their_own():
    assert np.flatnonzero(related_groups(model_of(*measured_twelve_times()), EVERYTHING)).tolist() == list(range(12))


def test_noise_is_hardly_ever_related():
    rng = np.random.default_rng(0)
    found = [
        related_groups(model_of(rng.standard_normal((100, 30)), rng.random(100) < 0.3), EVERYTHING).any()
        for _ in range(100)
    ]
    assert sum(found) <= 5


def test_measurements_of_one_quantity_are_averaged():
    support, errors = support_of(*measured_twelve_times())
    assert support.sum() >= 8
    assert not support[12:].any()
    assert errors.mean() < 0.45


def test_inputs_that_add_nothing_leave():
    support, _ = support_of(*neighbours())
    assert support[[5, 20]].all()
    assert support.sum() <= 3


def test_some_never_leave():
    support, _ = support_of(*neighbours(), always=mask(29, d=30))
    assert support[29]


def test_the_last_errors_of_a_sure_model_are_not_explained_by_noise():
    # A line tells all but a few rows apart: curves and waves of noise could explain these.
    selected = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((150, 30))
        y = (rng.random(150) < expit(12.0 * X[:, 0])).astype(float)
        model = model_of(X, y)
        model.add(Term("line", (0,)))
        selected += forward_search(model, EVERYTHING, NOTHING).mask[1:].sum()
    assert selected <= 1


@pytest.mark.slow
def test_more_measurements_predict_better():
    X, y = measured_twelve_times(300)
    model = FewVariablesClassifier(random_state=0).fit(X, y)
    assert not model.support_[12:].any()
    new, labels = measured_twelve_times(1000, seed=1)
    best_three = FewVariablesClassifier(n_variables=3, random_state=0).fit(X, y)
    assert log_loss(labels, model.predict_proba(new)) < 0.85 * log_loss(labels, best_three.predict_proba(new))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 7])
def test_one_measurement_is_not_as_good_as_many_because_rows_are_few(seed):
    # The loss of one measurement is larger by a fifth, which is within the standard error.
    model = FewVariablesClassifier(random_state=seed).fit(*measured_twelve_times(60, seed))
    assert model.support_[:12].sum() >= 4
    assert not model.support_[12:].any()
