"""The answer agrees with itself, with new data, and with the next shuffle of the rows."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fewvars as fv
from fewvars import FewVariablesRegressor, LagTransformer, heads
from fewvars.estimators import variables
from fewvars.estimators.assessment import Assessment
from fewvars.estimators.autoregression import autoregression, better_autoregression
from fewvars.estimators.preparation import Plan, Prepared
from fewvars.estimators.row_order import RowOrder
from fewvars.estimators.rows import Rows
from fewvars.estimators.standardised import Inputs
from fewvars.heads import Trial
from fewvars.series.outliers import absurd_values, clip_outliers
from fewvars.series.row_order import counts_up, is_sorted, neighbours_depend, repeats_itself
from fewvars.series.shifts import Shift, shifts


def table(n=200, d=8, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, 1] - X[:, 3] + noise * rng.standard_normal(n)


def cycles(n=200, n_lags=4, seed=20):
    """Lags (n, n_lags) and values (n,) of a series with sharp peaks between long quiet times."""
    rng, x = np.random.default_rng(seed), np.zeros(n + 60)
    for k in range(2, n + 60):
        x[k] = 1.6 * x[k - 1] - 0.9 * x[k - 2] + rng.standard_normal()
    series = np.exp(0.25 * x[60:])
    X = LagTransformer(range(1, n_lags + 1)).fit_transform(series[:, None])
    return X[n_lags:], series[n_lags:]


def fit(X, y, **options):
    return FewVariablesRegressor(random_state=0, head="dictionary", **options).fit(X, y)


class TestOrderOfRows:
    def test_sorted_columns(self):
        rng = np.random.default_rng(0)
        values = rng.standard_normal(100)
        assert is_sorted(np.sort(values))
        assert is_sorted(-np.sort(values))
        assert not is_sorted(values)
        assert is_sorted(np.r_[np.abs(values), np.zeros(100)])  # all events, then all without
        assert not is_sorted(rng.permutation(np.r_[np.abs(values), np.zeros(100)]))
        assert counts_up(np.arange(5.0))
        assert not counts_up(np.array([1.0, 1.0, 2.0]))

    def test_dependence(self):
        rng = np.random.default_rng(1)
        noise = rng.standard_normal((50, 300))
        assert not any(neighbours_depend(row) for row in noise)
        walk = np.cumsum(noise[0])
        assert neighbours_depend(walk)
        assert not neighbours_depend(np.ones(30))

    @pytest.mark.slow
    def test_rows_without_order_are_shuffled(self):
        X, y = table()
        model = fit(X, y)
        assert model.notes_ == ()
        order = np.argsort(y)
        by_target = fit(X[order], y[order])
        assert_array_equal(by_target.support_, model.support_)
        assert "sorted by the target" in by_target.notes_[0]

    @pytest.mark.slow
    def test_the_order_changes_nothing(self):
        X, y = table()
        expected = fit(X, y)
        for order in (np.argsort(y), np.argsort(X[:, 0]), np.random.default_rng(5).permutation(len(y))):
            found = fit(X[order], y[order])
            assert_array_equal(found.q_values_, expected.q_values_)
            assert found.equation_ == expected.equation_
            assert found.expected_error_ == expected.expected_error_

    def test_rows_that_depend_are_held_out_in_blocks(self):
        rng = np.random.default_rng(3)
        X, y = table()
        noise = np.zeros(len(y))
        for k in range(1, len(y)):
            noise[k] = 0.95 * noise[k - 1] + rng.standard_normal()
        notes = fit(X, 3.0 * y + noise).notes_
        assert any("blocks of rows" in note for note in notes)

    def test_an_input_that_counts_is_named(self):
        X, y = table()
        X[:, 5] = np.arange(len(y))
        assert any(note.startswith("x5 ") for note in fit(X, y).notes_)

    def test_what_the_user_says_holds(self):
        X, y = table()
        order = np.argsort(y)
        assert not any("sorted" in note for note in fit(X[order], y[order], shuffle=True).notes_)
        with pytest.raises(ValueError, match="shuffle='yes'"):
            fit(X, y, shuffle="yes")


class TestLags:
    def test_shifted_columns_are_found(self):
        rng = np.random.default_rng(0)
        a, b = rng.standard_normal((2, 100))
        runs = [np.arange(100)]
        columns = np.column_stack([a, np.roll(a, 3), b, np.r_[b[:1], b[:-1]]])
        assert shifts(columns, runs) == [Shift(3, 2, 1), Shift(1, 0, 3)]
        assert shifts(columns[:, [0, 2]], runs) == []

    def test_gaps_hide_no_shift(self):
        walk = np.random.default_rng(0).standard_normal(400).cumsum()
        columns = np.column_stack([walk[12 - k : 400 - k] for k in range(13)])
        whole = np.ones(len(columns), bool)
        for start in range(20, 380, 60):
            whole[start : start + 8] = False
        found = shifts(columns[whole], [np.arange(whole.sum())])
        assert Shift(1, 0, 1) in found

    @pytest.mark.slow
    def test_a_forecast_is_never_smoothed_and_judged_on_later_rows(self):
        rng = np.random.default_rng(1)
        series = np.zeros(300)
        for k in range(2, 300):
            series[k] = 1.2 * series[k - 1] - 0.5 * series[k - 2] + rng.standard_normal()
        X = LagTransformer([1, 2, 3, 4]).fit_transform(series[:, None])
        model = FewVariablesRegressor(random_state=0).fit(X[4:], series[4:], t=1.0)
        assert not model.smoothed_
        assert model.support_[:2].all()
        assert any("smoothed" in note for note in model.notes_)
        assert any("forecast" in note for note in model.notes_)
        assert 0.8 < model.expected_rmse_[0] < 1.25

    def test_lags_of_lags_are_lags_of_the_target(self):
        X, y = cycles()
        X = np.column_stack([np.random.default_rng(0).standard_normal(len(y)), X])
        rows = Rows.of(X, y[:, None], np.ones(len(y)), t=1.0)
        assert RowOrder.of(rows, X, y[:, None], "auto", "abcde").own_past == (1, 2, 3, 4)

    def test_an_autoregression_replaces_only_what_forecasts_worse(self):
        X, y = cycles()
        rows = Rows.of(X, y[:, None], np.ones(len(y)), t=1.0)
        data = Prepared.of(Inputs.of(rows, X), y[:, None], Plan(own_past=(0, 1, 2, 3)))
        lags = np.ones(4, bool)

        def assessed(fit, X):
            trial = Trial(X, y[:, None], np.ones(len(y)), data.for_whole_search())
            return Assessment.of(trial.score(fit).models, trial)

        linear = assessed(autoregression, X)
        found = better_autoregression(data, lags, assessed(autoregression, X[:, :1]))
        assert found is not None
        assert_allclose(found.rmse, linear.rmse)
        assert better_autoregression(data, lags, linear) is None
        assert better_autoregression(data, ~lags, linear) is None

    @pytest.mark.slow
    def test_an_autoregression_is_an_answer_like_others(self, tmp_path):
        X, y = cycles()
        model = FewVariablesRegressor(random_state=0, head="dictionary").fit(X, y, t=1.0)
        assert any("linear function of the earlier values" in note for note in model.notes_)
        assert [j for j in range(4) if f"x{j}" in model.equation_] == model.get_support(indices=True).tolist()
        assert (model.feature_importances_[model.support_] > 0).all()
        assert_allclose(model.gradient(X), np.broadcast_to(model.gradient(X[:1]), X.shape))
        fv.save(model, tmp_path / "model")
        again = fv.load(tmp_path / "model")
        assert_allclose(again.predict(X), model.predict(X))
        assert again.summary() == model.summary()

    @pytest.mark.slow
    def test_an_autoregression_is_compared_once_with_what_remains(self, monkeypatch):
        """A function that fails on new rows gives way to a simpler one before the forecasts are compared."""
        X, y = cycles()
        compared = []

        class Complicated(heads.Polynomials):
            head = type("ComplicatedHead", (heads.PolynomialHead,), {"name": "complicated"})

        class Regressor(FewVariablesRegressor):
            def _assessment(self, data, found, choice, settings):
                own = super()._assessment(data, found, choice, settings)
                return own if choice.name == "dictionary" else replace(own, beats_null=False)

        def compare(data, inputs, own):
            compared.append(own)
            return better_autoregression(data, inputs, own)

        monkeypatch.setattr(heads, "KINDS", [heads.Polynomials, Complicated])
        monkeypatch.setattr(heads.choice, "_improves", lambda *_: True)  # the last kind is always chosen
        monkeypatch.setattr(variables, "better_autoregression", compare)
        model = Regressor(random_state=0).fit(X, y, t=1.0)
        assert model.head_ == "dictionary"
        assert [own.beats_null for own in compared] == [True]
        assert sum("earlier values of the target forecasts" in note for note in model.notes_) == 1


class TestOneSetOfFacts:
    @pytest.mark.parametrize("n", [30, 60])
    def test_what_is_selected_is_in_the_function(self, n):
        X, y = table(n=n, noise=1.0)
        model = fit(X, y)
        used = [name for name in (f"x{j}" for j in range(8)) if name in model.equation_]
        assert used == [f"x{j}" for j in model.get_support(indices=True)]
        assert (model.feature_importances_[model.support_] > 0).all()
        assert (model.feature_importances_[~model.support_] == 0).all()

    def test_what_the_user_includes_is_in_the_function(self):
        X, y = table()
        assert "x6" in fit(X, y, include=[6]).equation_

    @pytest.mark.slow
    def test_a_network_that_fails_gives_way_to_a_polynomial(self):
        rng = np.random.default_rng(101)  # overdispersed counts, which a network overfits
        X = rng.standard_normal((3000, 25))
        rate = np.exp(0.5 * X[:, 0] - 0.4 * X[:, 1] + 0.25 * X[:, 2] + 1) * rng.gamma(0.7, 1.4, 3000)
        y = rng.poisson(rate).astype(float)
        model = FewVariablesRegressor(random_state=0).fit(X[:1000], y[:1000])
        assert model.get_support(indices=True).tolist() == [0, 1, 2]
        assert model.head_ == "dictionary"
        assert model.score(X[1000:], y[1000:]) > 0.1

    def test_nothing_is_better_than_a_bad_model(self):
        rng = np.random.default_rng(4)
        X, y = rng.standard_normal((40, 5)), rng.standard_normal(40)
        with pytest.warns(UserWarning, match="nothing was selected"):
            model = fit(X, y)
        assert model.head_ == "mean"
        assert "Nothing found" in model.summary()

    @pytest.mark.parametrize("seed", range(3))
    def test_evidence_in_few_rows_is_not_lost_to_a_poor_function(self, seed):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((150, 3))
        y = X[:, 0] * X[:, 1] + X[:, 2] ** 2 + rng.standard_normal(150)
        assert fit(X, y).support_.all()

    def test_errors_of_labels_and_counts_are_compared_by_differences(self):
        rng = np.random.default_rng(0)
        X, counts = rng.standard_normal((100, 3)), rng.poisson(0.5, 100).astype(float)
        assert repeats_itself(counts)
        assert not repeats_itself(X[:, 0])
        for y, by_ratio in ((counts, False), (X[:, 0], True)):
            rows = Rows.of(X, y[:, None], np.ones(100))
            assert Prepared.of(Inputs.of(rows, X), y[:, None], Plan()).held_out.by_ratio is by_ratio

    def test_a_rare_label_has_a_useful_polynomial(self):
        rng = np.random.default_rng(3)
        X = rng.exponential(size=(500, 6))
        label = np.asarray(rng.random(500) < 1 / (1 + np.exp(4.0 - 1.5 * X[:, 2])), float)
        model = fit(X, label)
        assert_array_equal(np.flatnonzero(model.support_), [2])
        assert model.head_errors_["dictionary"] < 0.8  # of the variance; the commonest label alone has more than one

    def test_outliers_do_not_spoil_the_function(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((400, 10))
        clean = X[:, 0] + X[:, 1] ** 2
        model = fit(X, clean + 0.5 * rng.standard_t(1.5, 400))
        assert_array_equal(np.flatnonzero(model.support_), [0, 1])
        assert_allclose(model.predict(X), clean, atol=0.5)


class TestWhatToExpect:
    @pytest.mark.slow
    def test_the_error_is_that_on_new_rows(self):
        claimed, real = [], []
        for seed in range(4):
            X, y = table(n=120, d=20, seed=seed, noise=1.5)
            new, truth = table(n=2000, d=20, seed=seed + 100, noise=1.5)
            model = fit(X, y)
            claimed.append(model.expected_rmse_[0])
            real.append(np.sqrt(np.mean((model.predict(new) - truth) ** 2)))
        assert 0.9 < np.mean(claimed) / np.mean(real) < 1.1

    def test_intervals_cover(self):
        X, y = table(n=300)
        model = fit(X, y)
        new, truth = table(n=3000, seed=9)
        lower, upper = model.predict_interval(new, coverage=0.8)
        assert lower.shape == truth.shape
        assert np.mean((lower <= truth) & (truth <= upper)) == pytest.approx(0.8, abs=0.05)
        with pytest.raises(ValueError, match="coverage=1"):
            model.predict_interval(new, coverage=1.0)

    @pytest.mark.slow
    def test_several_outputs(self):
        X, y = table()
        model = fit(X, np.column_stack([y, 100.0 * X[:, 2]]))
        lower, upper = model.predict_interval(X[:3])
        assert lower.shape == upper.shape == (3, 2)
        assert model.expected_rmse_.shape == (2,)

    def test_is_saved(self, tmp_path):
        X, y = table()
        model = fit(X, y)
        fv.save(model, tmp_path / "model")
        again = fv.load(tmp_path / "model")
        assert_allclose(again.predict_interval(X), model.predict_interval(X))
        assert again.summary() == model.summary()

    @pytest.mark.parametrize("seed", [0, 5])
    def test_variables_selected_by_their_q_values(self, seed):
        rng = np.random.default_rng(seed)
        X, new = rng.standard_normal((150, 20)), rng.standard_normal((2000, 20))

        def f(X):
            return X[:, :6].sum(axis=1) + X[:, 0] * X[:, 19]

        model = fit(X, f(X) + 0.4 * rng.standard_normal(150), fdr=0.1)
        assert model.get_support(indices=True).tolist() == [0, 1, 2, 3, 4, 5, 19]
        error = model.predict(new) - f(new) - 0.4 * rng.standard_normal(2000)
        assert_allclose(model.expected_rmse_[0], np.sqrt(np.mean(error**2)), rtol=0.25)


class TestDoubts:
    def test_a_proxy_is_named(self):
        X, y = table()
        X[:, 6] = 2.0 * X[:, 1] + 1.0
        model = fit(X, y)
        assert model.stand_ins_ == (("x1", "x6"),)
        assert "x6 for x1" in model.summary()

    def test_near_misses_have_q_values(self):
        X, y = table()
        model = fit(X, y, exclude=[3])
        found = model.findings()
        assert all(not model.support_[j] and q_value <= 0.2 for j, q_value in found.near_misses)


class TestOutliers:
    def test_only_heavy_and_even_tails_are_clipped(self):
        rng = np.random.default_rng(0)
        predicted = np.zeros((2000, 1))
        assert clip_outliers(rng.standard_normal((2000, 1)), predicted) is None
        heavy = rng.standard_t(2, (2000, 1))
        clipped = clip_outliers(heavy, predicted)
        assert np.abs(clipped).max() < 0.5 * np.abs(heavy).max()
        assert clip_outliers(np.abs(heavy), predicted) is None  # they are what the mean is made of


class TestAbsurdValues:
    def test_they_are_few_and_apart(self):
        rng = np.random.default_rng(5)
        values = rng.standard_normal(300)
        assert not absurd_values(values).any()
        values[[7, 80]] = 1e6, -2e7
        assert_array_equal(np.flatnonzero(absurd_values(values)), [7, 80])

    @pytest.mark.parametrize("tail", ["t", "lognormal", "rare"])
    def test_heavy_tails_stay(self, tail):
        rng = np.random.default_rng(6)
        values = {
            "t": rng.standard_t(2, 2000),
            "lognormal": np.exp(2.0 * rng.standard_normal(2000)),
            "rare": (np.arange(1000) == 500).astype(float),
        }[tail]
        assert not absurd_values(values).any()

    def test_the_row_is_named(self):
        X, y = table()
        y[12] = -9999999.0
        model = fit(X, y)
        assert any("Row 12" in note for note in model.notes_)
        assert model.get_support(indices=True).tolist() == [1, 3]
