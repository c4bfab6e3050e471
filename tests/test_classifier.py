"""Class labels: the variables that a class depends on, probabilities, scikit-learn's contract, and bad labels."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

from fewvars import FewVariablesClassifier, load, save
from fewvars.estimators.labels import mixed_order
from fewvars.heads import PolynomialHead, Trial, follow
from fewvars.polynomials.polynomial import Polynomial
from problems import QUICK, failures_by_held_out_rows

TRUTH = [1, 3, 4]


# Tiny networks decide, which is the quickest: three classes far apart need many reweighted fits in closed form.
CHEAPEST = {**QUICK, "judge": "network", "hidden_layer_sizes": (4,), "head": "dictionary", "max_degree": 1}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the checks fit noise, constants and ten rows, and some say so
@parametrize_with_checks([FewVariablesClassifier(**CHEAPEST)], expected_failed_checks=failures_by_held_out_rows)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def log_odds(X):
    return 2.5 * X[:, 1] * X[:, 3] + 2.0 * X[:, 4] - 0.5


def two_classes(n=500, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(rng.random(n) < expit(log_odds(X)), "yes", "no")


def three_classes(n=500, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    logits = np.column_stack([3.0 * X[:, 0], 3.0 * X[:, 1], np.zeros(n)]) + rng.gumbel(size=(n, 3))
    return X, logits.argmax(axis=1) * 10


@pytest.fixture(scope="module")
def fitted():
    X, y = two_classes()
    return FewVariablesClassifier(head="dictionary", max_degree=2, random_state=0).fit(X, y), X, y


class TestTwoClasses:
    def test_variables_and_evidence(self, fitted):
        model, X, _ = fitted
        assert model.get_support(indices=True).tolist() == TRUTH
        assert (model.feature_importances_[TRUTH] > 2 * model.feature_importances_se_[TRUTH]).all()
        assert (model.q_values_[TRUTH] < 0.01).all()
        assert ("x1", "x3") in model.interactions_
        assert model.transform(X).shape == (len(X), 3)

    def test_log_odds_are_the_true_ones(self, fitted):
        model, _, _ = fitted
        X, _ = two_classes(seed=1)
        found = model.decision_function(X)
        assert np.corrcoef(found, log_odds(X))[0, 1] > 0.97
        assert "x1*x3" in model.equation_
        assert_allclose(eval_equation(model.equation_, X), found, atol=0.02)

    def test_probabilities(self, fitted):
        model, X, _ = fitted
        probabilities = model.predict_proba(X)
        assert_allclose(probabilities.sum(axis=1), 1.0)
        assert_allclose(probabilities[:, 1], expit(model.decision_function(X)))
        assert (model.predict(X) == model.classes_[probabilities.argmax(axis=1)]).all()

    def test_new_rows(self, fitted):
        model, _, _ = fitted
        X, y = two_classes(n=2000, seed=2)
        best = log_loss(y, expit(log_odds(X)))
        assert log_loss(y, model.predict_proba(X)) < best + 0.03
        assert model.held_out_error_ == pytest.approx(best, abs=0.08)

    @pytest.mark.slow
    def test_order_of_the_rows_and_names_of_the_classes_do_not_matter(self, fitted):
        model, X, y = fitted
        order = np.argsort(y, kind="stable")
        by_class = clone(model).fit(X[order], y[order] == "yes")
        assert by_class.get_support(indices=True).tolist() == TRUTH
        assert by_class.classes_.tolist() == [False, True]

    def test_it_is_a_classifier(self, fitted):
        assert is_classifier(fitted[0])
        assert not is_regressor(fitted[0])


def eval_equation(text, X):
    """Evaluate a printed polynomial."""
    names = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    code = re.sub(r"(\d) (x)", r"\1*\2", text).replace("^", "**")
    return eval(code, {}, names)


@pytest.mark.slow
def test_three_classes():
    X, y = three_classes()
    model = FewVariablesClassifier(random_state=0).fit(X, y)
    assert model.get_support(indices=True).tolist() == [0, 1]
    assert model.classes_.tolist() == [0, 10, 20]
    new, labels = three_classes(n=2000, seed=1)
    assert model.decision_function(new).shape == (2000, 3)
    assert_allclose(model.predict_proba(new).sum(axis=1), 1.0)
    assert model.score(new, labels) > 0.7


@pytest.mark.slow
def test_class_weights_move_the_probabilities(fitted):
    model, X, y = fitted
    balanced = clone(model).set_params(class_weight="balanced", n_variables=3).fit(X, y)
    assert (y == "yes").mean() < 0.5
    weights = np.where(y == "yes", 1.0 / (y == "yes").mean(), 1.0 / (y == "no").mean())
    assert np.average(balanced.predict_proba(X)[:, 1], weights=weights) == pytest.approx(0.5, abs=0.02)
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx((y == "yes").mean(), abs=0.02)
    weighted = clone(model).set_params(n_variables=3).fit(X, y, weights)
    assert_allclose(weighted.predict_proba(X), balanced.predict_proba(X), atol=1e-6)


@pytest.mark.filterwarnings("ignore:No input")
def test_nothing_to_find():
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.3
    model = FewVariablesClassifier(random_state=0).fit(rng.standard_normal((200, 10)), y)
    assert not model.support_.any()
    assert_allclose(model.predict_proba(np.zeros((2, 10)))[:, 1], y.mean())


@pytest.mark.slow
def test_blocks_of_time_that_lack_a_class():
    # The third class occurs in one stretch only: the split that holds it out has nothing to learn it from.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 4))
    y = (X[:, 0] > 0).astype(int)
    y[300:310] = 2
    X[300:310, 1] += 6.0
    model = FewVariablesClassifier(head="dictionary", max_degree=2, random_state=0, n_blocks=2).fit(X, y, t=1.0)
    assert model.get_support(indices=True).tolist() == [0, 1]
    assert model.predict_proba(X).shape == (400, 3)


@pytest.mark.slow
@pytest.mark.parametrize("missing", [None, np.nan])
def test_rows_without_a_label_are_left_out(missing):
    X, y = two_classes(n=200)
    partial = [missing if row % 10 == 0 else label for row, label in enumerate(y.tolist())]
    kept = np.arange(len(y)) % 10 != 0
    model = FewVariablesClassifier(**CHEAPEST, class_weight="balanced", random_state=0)
    with pytest.warns(UserWarning, match="missing in 20 of 200 rows"):
        again = clone(model).fit(X, partial)
    assert any("missing in 20 of 200 rows" in note for note in again.notes_)
    same = clone(model).fit(X[kept], y[kept])
    assert same.support_.any()
    assert again.classes_.tolist() == ["no", "yes"]
    assert_allclose(again.predict_proba(X), same.predict_proba(X), atol=1e-9)


def test_an_input_that_the_log_odds_lack_is_not_selected(fitted):
    model, _, _ = fitted
    form = PolynomialHead(Polynomial(np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1]]), np.ones((3, 1))))
    trial = Trial(np.zeros((4, 3)), np.zeros((4, 1)), np.ones(4), None, model._loss)
    found, used = follow(form, trial, np.arange(3), np.zeros(3, bool))
    assert used.tolist() == [True, False, True]
    assert found.n_inputs == 2
    assert follow(form, trial, np.arange(3), np.array([False, True, False]))[1].all()


def test_mixed_order_keeps_the_shares_of_the_classes():
    numbers = np.repeat([0, 1, 2], [60, 30, 10])
    order = mixed_order(numbers[:, None], np.random.default_rng(0))
    assert sorted(order) == list(range(100))
    for part in np.split(numbers[order], 5):
        assert np.abs(np.bincount(part, minlength=3) - [12, 6, 2]).max() <= 1


ROWS = np.random.default_rng(0).standard_normal((12, 3))


@pytest.mark.parametrize(
    ("y", "complaint"),
    [
        (["a"] * 12, "only one class in y, 'a'"),
        (["a"] * 11 + ["b"], "class 'b' in y has 1 row"),
        (["a", 1] * 6, "mixes labels of types int and str"),
        ([np.str_("a"), 1] * 6, "mixes labels of types int and str"),
        ([np.nan] * 12, "no label in any of its 12 rows"),
        ([None] * 12, "no label in any"),
        (["a"] * 6 + [None] * 6, "only one class in y, 'a'"),
        (np.linspace(0, 1, 12), "use FewVariablesRegressor"),
        (["a", "b"] * 5, "12 and 10"),
        (None, "y is None"),
    ],
)
def test_bad_labels(y, complaint):
    with pytest.raises(ValueError, match="(?i)" + complaint):
        FewVariablesClassifier().fit(ROWS, y)


def test_too_many_classes():
    with pytest.raises(ValueError, match="101 classes in y, more than 100"):
        FewVariablesClassifier().fit(np.zeros((202, 3)), np.arange(202) % 101)


@pytest.mark.parametrize(
    ("weights", "complaint"),
    [
        ("equal", "class_weight='equal'"),
        ([1.0, 2.0], r"class_weight=\[1.0, 2.0\]"),
        ({"a": 1.0, "c": 2.0}, "the class 'c', which y does not hold: name some of 'a', 'b'"),
        ({"a": -1.0}, r"class_weight\['a'\]=-1.0"),
        ({"b": 0.0}, r"class_weight\['b'\]=0.0"),
    ],
)
def test_bad_class_weights(weights, complaint):
    with pytest.raises(ValueError, match=complaint):
        FewVariablesClassifier(class_weight=weights).fit(ROWS, ["a", "b"] * 6)


@pytest.mark.parametrize("labels", [np.array(["no", "yes"]), np.array([3, 7], np.int32), np.array([False, True])])
def test_saved_and_loaded(labels, tmp_path):
    X, y = two_classes(n=100)
    model = FewVariablesClassifier(head="dictionary", n_variables=1, max_degree=1, random_state=0)
    model.set_params(class_weight="balanced").fit(X, labels[(y == "yes").astype(int)])
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.get_params() == model.get_params()
    assert (again.classes_ == labels).all()
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    assert again.predict(X).dtype == labels.dtype
