"""The growing model: classical F-tests where their assumptions hold, and honest ones where they do not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from fewvars.search.variables import unexplained
from fewvars.search.variables.growing_model import GrowingModel
from fewvars.search.variables.products import suspicious_products
from fewvars.search.variables.terms import Term, Terms
from planted import autoregressive, growing, standardised

LINES = [Term("line", (j,)) for j in range(6)]


def uniform(n=120, d=6, outputs=1, seed=0):
    """Return inputs and outputs in which no value is far from the others, so that nothing is clipped."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, [0]] - 0.3 * X[:, [1]] + rng.uniform(-1, 1, (n, outputs))


def sums_of_squares(Y, *columns, weights=None):
    """Return the residual sums of squares (outputs,) of least squares with a constant, and its number of columns."""
    F = np.column_stack([np.ones(len(Y)), *columns])
    roots = np.ones(len(Y)) if weights is None else np.sqrt(weights)
    F, Y = F * roots[:, None], Y * roots[:, None]
    rest = Y - F @ np.linalg.lstsq(F, Y, rcond=None)[0]
    return (rest**2).sum(axis=0), F.shape[1]


def f_test(Y, small, large, weights=None):
    """Return the p-value of the F-test of two nested linear models: the smallest over outputs, times their number."""
    (rss0, p0), (rss1, p1) = (sums_of_squares(Y, *columns, weights=weights) for columns in (small, large))
    ratio = (rss0 - rss1) / (p1 - p0) / (rss1 / (len(Y) - p1))
    return min(float(stats.f.sf(ratio, p1 - p0, len(Y) - p1).min()) * Y.shape[1], 1.0)


def p_of(model, term):
    return model.p_values([term])[0]


@pytest.fixture
def no_inflation(monkeypatch):
    monkeypatch.setattr(unexplained, "FEWEST_EFFECTIVE", np.inf)


@pytest.mark.usefixtures("no_inflation")
class TestClassicalTest:
    TERMS = (
        *LINES[1:3],
        Term("curve", (3,)),
        Term("wave", (2,)),
        Term("product", (1, 4)),
        Term("bent product", (2, 5)),
    )

    @pytest.mark.parametrize("outputs", [1, 3])
    @pytest.mark.parametrize("term", TERMS, ids=lambda term: term.name)
    def test_of_adding_a_term(self, term, outputs):
        X, Y = uniform(outputs=outputs)
        model = growing(X, Y, ordered=False)
        columns = model.terms.columns
        for inside in ([], [LINES[0]], [LINES[0], Term("curve", (1,))]):
            for new in inside[-1:]:
                model.add(new)
            before = [columns(t) for t in inside]
            assert_allclose(p_of(model, term), f_test(Y, before, [*before, columns(term)]), rtol=1e-6)

    def test_of_leaving_a_group_out(self):
        X, Y = uniform()
        model = growing(X, Y, ordered=False)
        chosen = [LINES[0], Term("curve", (1,)), Term("product", (1, 2))]
        for term in chosen:
            model.add(term)
        everything = [model.terms.columns(term) for term in chosen]
        for group, stay in ((0, everything[1:]), (1, everything[:1]), (2, everything[:2])):
            # The columns that leave are counted once more, which is a little conservative.
            assert_allclose(np.log(model.dropped_p_value(group)), np.log(f_test(Y, stay, everything)), rtol=0.05)

    def test_screen_agrees_with_single_tests(self):
        X, Y = uniform(outputs=2)
        X[:, 5] = X[:, 5] > 0  # two values: its curve is a line
        model = growing(X, Y, ordered=False)
        for new in (None, LINES[0]):
            if new is not None:
                model.add(new)
            for kind in ("line", "curve"):
                single = [p_of(model, Term(kind, (g,))) for g in range(1, 6)]
                # Curves are screened with a little ridge.
                assert_allclose(np.log(model.screen(kind)[1:]), np.log(single), rtol=1e-3, atol=1e-3)

    def test_weights(self):
        X, Y = uniform()
        weights = np.random.default_rng(1).uniform(0.5, 1.5, len(X))
        model = growing(X, Y, weights=weights, ordered=False)
        columns = model.terms.columns(LINES[1])
        assert_allclose(p_of(model, LINES[1]), f_test(Y, [], [columns], weights=weights), rtol=1e-6)

    def test_known_dependence_is_filtered_out(self):
        n = 300
        X = autoregressive(0.9, n, 4, seed=1)
        Y = 0.3 * X[:, [0]] + autoregressive(0.9, n, seed=2)
        model = growing(X, Y)
        assert model.dependent
        assert 0.8 < model.filter.coefficient < 0.98
        filtered = model.filter.apply(np.column_stack([np.ones(n), model.terms.Z[:, 1], Y]))
        rss = [
            ((filtered[:, 2] - F @ np.linalg.lstsq(F, filtered[:, 2], rcond=None)[0]) ** 2).sum()
            for F in (filtered[:, :1], filtered[:, :2])
        ]
        expected = stats.f.sf((rss[0] - rss[1]) / (rss[1] / (n - 2)), 1, n - 2)
        # A few filtered errors lie beyond three standard deviations and are clipped.
        assert_allclose(p_of(model, LINES[1]), expected, atol=0.05)


def null_p_values(noise, n_sets=60, n=80, d=6, inputs=None, **options):
    found = []
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d)) if inputs is None else inputs(rng)
        model = growing(X, noise(rng, X), **options)
        found += [p_of(model, term) for term in LINES]
    return np.array(found)


class TestNullColumns:
    def test_p_values_are_uniform(self):
        found = null_p_values(lambda rng, X: rng.standard_normal(len(X)))
        assert stats.kstest(found, "uniform").pvalue > 0.01
        assert 0.02 < (found < 0.05).mean() < 0.08

    @pytest.mark.parametrize(
        ("name", "noise"),
        [
            ("heavy tails", lambda rng, X: rng.standard_t(1.5, len(X))),
            ("skewed", lambda rng, X: rng.exponential(size=len(X)) ** 2),
            ("discrete", lambda rng, X: rng.poisson(1.0, len(X)).astype(float)),
        ],
    )
    def test_p_values_are_not_too_small_with_other_noise(self, name, noise):
        assert (null_p_values(noise) < 0.05).mean() < 0.08

    @pytest.mark.parametrize("coefficient", [0.5, 0.9])
    def test_p_values_are_not_too_small_with_dependent_rows(self, coefficient):
        def series(columns):
            return lambda rng, *_: autoregressive(coefficient, 200, columns, seed=rng.integers(2**32))

        found = null_p_values(series(1), inputs=series(6))
        assert (found < 0.05).mean() < 0.09  # the filter is estimated
        assert (found < 0.001).mean() < 0.01

    def test_unequal_variance_inflates(self, monkeypatch):
        def rate():
            found = []
            for seed in range(100):
                rng = np.random.default_rng(seed)
                X = rng.standard_normal((300, 2))
                found.append(p_of(growing(X, X[:, 0] * rng.standard_normal(300)), LINES[0]))
            return (np.array(found) < 0.05).mean()

        assert rate() < 0.1
        monkeypatch.setattr(unexplained, "FEWEST_EFFECTIVE", np.inf)  # plain F-tests
        assert rate() > 0.15


class TestOutliers:
    @pytest.mark.parametrize("size", [30.0, -1e3, 1e9])
    def test_one_wild_output_changes_little(self, size):
        X, Y = uniform(n=200)
        wild = Y.copy()
        wild[7] = size
        plain, robust = growing(X, Y), growing(X, wild)
        for model in (plain, robust):
            model.add(LINES[0])
        before, after = (np.array([p_of(model, term) for term in LINES[1:]]) for model in (plain, robust))
        assert_allclose(np.log10(after), np.log10(before), rtol=0.3, atol=0.3)
        assert_allclose(robust.residual.std(), plain.residual.std(), rtol=0.05)

    def test_wild_outputs_are_brought_back_and_others_left_alone(self):
        X, Y = uniform(n=200)
        wild = Y.copy()
        wild[[3, 50], 0] = 1e6, -1e6
        data = standardised(X, wild)
        model = GrowingModel(data)
        model.add(LINES[0])
        found = model.without_outliers(data.terms, data.Y)
        others = np.delete(np.arange(200), [3, 50])
        assert_allclose(found[others], Y[others], atol=1e-9)
        assert np.abs(found[[3, 50]]).max() < 10

    def test_half_of_the_outputs_equal_are_not_clipped(self):
        rng = np.random.default_rng(2)
        X = rng.standard_normal((200, 6))
        rare = np.where(X[:, 0] > 1.0, X[:, 0], 0.0)
        assert p_of(growing(X, rare), LINES[0]) < 1e-10

    def test_labels_are_not_outliers(self):
        rng = np.random.default_rng(3)
        X, label = rng.standard_normal((200, 6)), np.asarray(rng.random((200, 1)) < 0.3, float)
        X[:, 0] = label[:, 0] + 0.01 * rng.standard_normal(200)
        label[:5] = 1.0 - label[:5]  # few rows contradict the first input
        data = standardised(X, label)
        model = GrowingModel(data)
        model.add(LINES[0])
        assert_allclose(model.without_outliers(data.terms, data.Y), data.Y, atol=1e-12)


class TestGrowing:
    def test_residual_is_orthogonal_to_what_is_in(self):
        X, Y = uniform(outputs=2)
        model = growing(X, Y)
        for term in (LINES[0], Term("curve", (1,)), Term("product", (0, 1))):
            model.add(term)
            assert model.orthogonal(term).shape[1] == 0
            assert p_of(model, term) == 1.0
        design = model.design(model.chosen)
        assert_allclose(design.T @ model.residual, 0.0, atol=1e-9)
        assert model.degrees_of_freedom == len(X) - design.shape[1]
        assert_array_equal(np.flatnonzero(model.mask), [0, 1])

    def test_keeping_some_terms_equals_adding_only_those(self):
        X, Y = uniform()
        grown, kept = growing(X, Y), growing(X, Y)
        for term in LINES[:3]:
            kept.add(term)
        kept.keep([LINES[1]])
        grown.add(LINES[1])
        assert list(kept.chosen) == list(grown.chosen) == [LINES[1]]
        assert_allclose(kept.residual, grown.residual, atol=1e-9)
        for kind in ("line", "curve"):
            assert_allclose(kept.screen(kind), grown.screen(kind), rtol=1e-6)

    def test_weight_two_equals_a_repeated_row_in_the_fit_but_is_no_more_evidence(self):
        X, Y = uniform(n=100)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        weights = np.ones(100)
        weights[:50] = 2.0
        rows = np.r_[np.arange(100), np.arange(50)]
        terms = Terms.of(X, np.arange(6))
        weighted = GrowingModel(standardised(X, Y, weights=weights, ordered=False)._replace(terms=terms))
        repeated = GrowingModel(standardised(X[rows], Y[rows], ordered=False)._replace(terms=terms.rows(rows)))
        slopes = []
        for model in (weighted, repeated):
            model.add(LINES[0])
            model.add(LINES[1])
            slopes.append(np.linalg.lstsq(model.design(model.chosen), model.robust_outputs, rcond=None)[0])
        assert_allclose(*slopes, atol=1e-9)
        assert repeated.degrees_of_freedom == weighted.degrees_of_freedom + 50
        assert repeated.dropped_p_value(1) < weighted.dropped_p_value(1)

    def test_values_of_rows_of_weight_zero_do_not_matter(self):
        X, Y = uniform(n=150)
        weights = (np.arange(150) < 120).astype(float)
        wild = Y.copy()
        wild[120:] = 5.0 * X[120:, [3]]
        one, other = (growing(X, values, weights=weights, ordered=False) for values in (Y, wild))
        assert one.degrees_of_freedom == 119
        assert_allclose([p_of(one, t) for t in LINES], [p_of(other, t) for t in LINES], rtol=1e-9)

    def test_rows_after_a_gap_begin_a_run(self):
        data = standardised(*uniform(n=20))
        chosen = np.array([2, 3, 4, 8, 9])
        assert_array_equal(data.rows(chosen).starts, [True, False, False, True, False])
        assert_array_equal(data._replace(ordered=False).rows(chosen).starts, np.zeros(5, bool))


class TestSuspiciousProducts:
    @pytest.mark.parametrize("dependent", [False, True])
    def test_planted_product_comes_first(self, dependent):
        n, d = 400, 40
        X = autoregressive(0.9 if dependent else 0.0, n, d, seed=1)
        model = growing(X, X[:, 11] * X[:, 30] + autoregressive(0.9 if dependent else 0.0, n, seed=2)[:, 0])
        assert model.dependent == dependent
        assert suspicious_products(model, np.arange(d))[0] == (11, 30)
        assert suspicious_products(model, np.array([30]))[0] == (11, 30)
        among = suspicious_products(model, np.arange(5), among=np.arange(5, 10))
        assert all(i < 5 <= j < 10 for i, j in among)

    def test_what_is_in_already_is_not_suspected_again(self):
        X, _ = uniform(n=200)
        model = growing(X, X[:, 0] * X[:, 1] + 0.5 * X[:, 2] * X[:, 3] + 0.1 * np.sin(np.arange(200.0)))
        assert suspicious_products(model, np.arange(6))[0] == (0, 1)
        model.add(Term("product", (0, 1)))
        found = suspicious_products(model, np.arange(6))
        assert found[0] == (2, 3)
        assert (0, 1) not in found
        assert len(set(found)) == len(found) == 8
        assert all(i < j for i, j in found)

    def test_pairs_of_a_brute_force_search(self):
        X, Y = uniform(n=150)
        model = growing(X, Y, ordered=False)
        Z, residual = model.terms.Z, model.residual[:, 0]
        pairs = [(i, j) for i in range(6) for j in range(i + 1, 6)]
        shares = [abs(np.corrcoef(Z[:, i] * Z[:, j], residual)[0, 1]) for i, j in pairs]
        best = [pairs[k] for k in np.argsort(shares)[::-1][:5]]
        assert suspicious_products(model, np.arange(6), most=5) == best


class TestTerms:
    def test_powers_follow_the_number_of_values(self):
        rng = np.random.default_rng(0)
        X = np.column_stack([rng.integers(0, 2, 50), rng.integers(0, 3, 50), rng.standard_normal(50)]).astype(float)
        terms = standardised(X, X[:, 0]).terms
        assert terms.levels.tolist() == [2, 3, 4]
        assert [terms.curve(g).shape[1] for g in range(3)] == [1, 2, 3]
        assert [terms.bends(g) for g in range(3)] == [False, True, True]

    def test_groups_have_products_within_and_between(self):
        X = np.random.default_rng(0).standard_normal((50, 4))
        terms = standardised(X, X[:, 0], labels=[0, 1, 0, 1]).terms
        Z = terms.Z
        curve = terms.curve(0)
        assert_allclose(curve[:, [0, 3]], Z[:, [0, 2]])
        assert_allclose(curve[:, -1], Z[:, 0] * Z[:, 2])
        products = terms.columns(Term("product", (0, 1)))
        assert_allclose(products, np.column_stack([Z[:, i] * Z[:, j] for i in (0, 2) for j in (1, 3)]))

    def test_wild_inputs_do_not_rule_powers(self):
        X = np.random.default_rng(0).standard_normal((500, 1))
        X[3] = 1e4
        terms = standardised(X, X[:, 0]).terms
        assert np.abs(terms.curve(0)[:, 1:]).max() <= 27
        assert np.abs(terms.wave(0)).max() <= 243
