"""The few-variables estimator: the contract, the answer, and what happens with bad input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from fewvars import FewVariablesRegressor
from fewvars.estimators import variables
from fewvars.estimators.preparation import Plan, Prepared
from fewvars.estimators.rows import Rows
from fewvars.estimators.standardised import prepare_inputs
from fewvars.series.lags import LagTransformer
from fewvars.series.splits import BlockedSplit
from problems import EASY, QUADRATIC, QUICK, TRUTH, failures_by_held_out_rows, product_and_line


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the checks fit noise, constants and ten rows, and some say so
@parametrize_with_checks([FewVariablesRegressor(**QUADRATIC)], expected_failed_checks=failures_by_held_out_rows)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def fitted():
    X, y = product_and_line()
    return FewVariablesRegressor(**EASY, random_state=0).fit(X, y), X, y


def selected(X, y, *fit_args, options=None, **fit_options):
    model = FewVariablesRegressor(**{**EASY, "head": "dictionary", "random_state": 0, **(options or {})})
    return model.fit(X, y, *fit_args, **fit_options).get_support(indices=True).tolist()


def panel(lengths):
    rng = np.random.default_rng(0)
    run = np.repeat(np.arange(len(lengths)), lengths)
    X = rng.standard_normal((len(run), 6))
    return X, X[:, 1] + 2 * rng.standard_normal(len(lengths))[run] + 0.5 * rng.standard_normal(len(run)), run


class TestAnswer:
    def test_support_and_evidence(self, fitted):
        model, X, _ = fitted
        assert model.get_support(indices=True).tolist() == TRUTH
        assert (model.feature_importances_[TRUTH] > 2 * model.feature_importances_se_[TRUTH]).all()
        assert not model.feature_importances_[~model.support_].any()
        assert model.support_sizes_.tolist() == sorted(model.support_sizes_)
        assert model.support_sizes_[0] == 0
        assert_allclose(model.support_errors_[0], 1.0, atol=0.35)  # the mean predicts nothing: variance one
        assert model.held_out_error_ < 0.05
        assert_array_equal(model.transform(X), X[:, TRUTH])

    def test_findings_say_it_all_in_one_record(self, fitted):
        found = fitted[0].findings()
        assert (found.kind, found.count, found.noun) == ("variables", 3, "3 variables")
        assert sorted(found.order.tolist()) == TRUTH
        assert found.names == tuple(f"x{j}" for j in found.order)
        assert (np.diff(found.importances) <= 0).all()
        assert found.chosen_size in found.sizes
        assert found.sizes.shape == found.errors.shape == found.errors_se.shape
        assert found.equations == (fitted[0].equation_,)
        assert found.frequencies is None

    def test_dictionary_head_reads_as_an_equation(self, fitted):
        model, X, _y = fitted
        assert model.head_ == "dictionary"
        x1, x4, x6 = X[:, TRUTH].T
        assert_allclose(model.predict(X), x1 * x4 + 0.5 * x6, atol=0.05)
        assert "x1*x4" in model.equation_

    @pytest.mark.parametrize("head", [pytest.param("network", marks=pytest.mark.slow), "dictionary"])
    def test_gradient_equals_finite_differences(self, head):
        X, y = product_and_line(n=200)
        model = FewVariablesRegressor(**EASY, head=head, random_state=0).fit(X, y)
        step = 1e-5
        for j in range(X.shape[1]):
            ahead, behind = X[:20].copy(), X[:20].copy()
            ahead[:, j] += step
            behind[:, j] -= step
            slope = (model.predict(ahead) - model.predict(behind)) / (2 * step)
            assert_allclose(model.gradient(X[:20])[:, j], slope, atol=1e-6)

    @pytest.mark.slow
    def test_network_head_has_no_equation(self):
        rng = np.random.default_rng(1)
        X = rng.uniform(-2, 2, (400, 4))
        model = FewVariablesRegressor(**EASY, head="network", random_state=0).fit(X, np.abs(np.sin(3 * X[:, 2])))
        assert model.head_ == "network"
        with pytest.raises(AttributeError, match="head='dictionary'"):
            _ = model.equation_
        assert not hasattr(model, "equation_")

    def test_noise_selects_nothing_warns_and_predicts_the_mean(self):
        rng = np.random.default_rng(3)
        X, y = rng.standard_normal((300, 6)), rng.standard_normal(300) + 5
        with pytest.warns(UserWarning, match="nothing was selected"):
            model = FewVariablesRegressor(**EASY, random_state=0).fit(X, y)
        assert not model.support_.any()
        assert model.head_ == "mean"
        assert_allclose(model.predict(X), y.mean())
        assert not model.gradient(X).any()

    @pytest.mark.slow
    def test_even_function_that_the_path_may_lose(self):
        rng = np.random.default_rng(4)
        X = rng.standard_normal((500, 8))
        assert selected(X, X[:, 0] + np.cos(2 * X[:, 5])) == [0, 5]

    def test_outputs_share_a_support(self):
        X, y = product_and_line(n=150)
        model = FewVariablesRegressor(**QUADRATIC).fit(X, np.column_stack([y, X[:, 0] ** 2]))
        assert model.get_support(indices=True).tolist() == [0, *TRUTH]
        assert model.predict(X).shape == (150, 2)
        assert model.gradient(X).shape == (150, 2, 8)
        assert len(model.equation_) == 2

    def test_trajectory_is_smoothed_and_iid_rows_are_not(self):
        rng = np.random.default_rng(5)
        t = np.arange(800) * 0.05
        clean = np.column_stack([np.sin((1 + 0.37 * j) * t + j) for j in range(6)])
        X = clean + 0.15 * rng.standard_normal(clean.shape)
        y = clean[:, 1] * clean[:, 3] + 0.02 * rng.standard_normal(800)
        model = FewVariablesRegressor(**EASY, random_state=0).fit(X, y, t=t)
        assert model.smoothed_
        assert model.get_support(indices=True).tolist() == [1, 3]
        assert_allclose(model.predict(X, t=t), clean[:, 1] * clean[:, 3], atol=0.25)

    @pytest.mark.slow
    @pytest.mark.parametrize(("seed", "n"), [(0, 400), (1, 300), (2, 300), (3, 600)])
    def test_rows_in_no_order_of_time_are_not_smoothed(self, seed, n):
        X, y = product_and_line(n=n, seed=seed)
        model = FewVariablesRegressor(**EASY, head="dictionary", random_state=0).fit(X, y, t=np.arange(n))
        assert not model.smoothed_
        assert model.get_support(indices=True).tolist() == TRUTH
        assert_array_equal(model.predict(X, t=np.arange(n)), model.predict(X))
        with pytest.raises(ValueError, match="t does not increase"):
            model.predict(X, t=np.zeros(n))

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", range(3))
    def test_noise_with_times_selects_nothing(self, seed):
        rng = np.random.default_rng(seed)
        with pytest.warns(UserWarning, match="No input predicts"):
            assert selected(rng.standard_normal((300, 8)), rng.standard_normal(300), t=np.arange(300)) == []


class TestOptions:
    @pytest.mark.parametrize("groups", [[[0, 1], [2, 3], [4, 5], [6, 7]], list("aabbccdd")])
    def test_groups_enter_and_leave_together(self, groups):
        X, y = product_and_line(n=200)
        assert selected(X, y, options=QUADRATIC | {"feature_groups": groups}) == [0, 1, 4, 5, 6, 7]

    def test_lags_fit_the_groups(self):
        rng = np.random.default_rng(6)
        X = rng.standard_normal((400, 4))
        lags = LagTransformer(2).fit(X)
        Z = lags.transform(X)
        rows = lags.complete_rows(400)
        y = np.roll(X[:, 2], 2) + X[:, 2]
        chosen = selected(Z[rows], y[rows], options={"feature_groups": lags.feature_groups_})
        assert set(lags.feature_groups_[chosen]) == {2}

    @pytest.mark.parametrize("number", [0, 1, 2, 5])
    def test_number_of_variables(self, number):
        X, y = product_and_line(n=200)
        chosen = selected(X, y, options=QUADRATIC | {"n_variables": number})
        assert len(chosen) == number
        if number >= 3:
            assert set(TRUTH) <= set(chosen)

    def test_a_variable_that_varies_in_one_row_only(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((120, 3))
        X[:, 2] = np.arange(120) == 7  # constant without the fold of this row
        y = X[:, 0] + X[:, 1] + 5 * X[:, 2] + 0.1 * rng.standard_normal(120)
        assert selected(X, y, options={"n_variables": 3}) == [0, 1, 2]

    @pytest.mark.slow
    def test_names_that_are_always_kept(self):
        X, y = product_and_line(n=150)
        frame = pd.DataFrame(X, columns=[f"v{j}" for j in range(8)])
        assert selected(frame, y, options=QUADRATIC | {"include": ["v7"]}) == [*TRUTH, 7]

        mask = np.arange(8) == 7
        for chosen in (7, [7], mask, mask.tolist()):
            assert selected(X, y, options=QUADRATIC | {"include": chosen}) == [*TRUTH, 7]

    def test_the_copy_of_an_excluded_input_may_be_selected(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((150, 5))
        y = X[:, 0] + 0.3 * rng.standard_normal(150)
        X = np.column_stack([X, X[:, 0], -2 * X[:, 0]])
        assert selected(X, y, options={"exclude": [0]}) == [5]
        assert selected(X, y, options={"exclude": [0, 5]}) == [6]
        assert selected(X, y, options={"exclude": [5]}) == [0]

    def test_selection_frequencies(self):
        X, y = product_and_line(n=150)
        model = FewVariablesRegressor(**QUADRATIC, n_resamples=2).fit(X, y)
        assert_array_equal(model.selection_frequencies_[TRUTH], 1.0)
        model.set_params(n_resamples=0).fit(X, y)
        assert not hasattr(model, "selection_frequencies_")

    @pytest.mark.slow
    def test_resamples_of_many_splits_do_without_those_that_are_empty(self):
        X, y = product_and_line(n=80)
        model = FewVariablesRegressor(**QUADRATIC, cv=20, n_resamples=1).fit(X, y)
        assert set(model.selection_frequencies_) <= {0.0, 1.0}

    def test_resampled_blocks_and_pieces_respect_runs(self):
        X, y = product_and_line(n=90)
        label = np.repeat([0, 1, 2], [20, 60, 10])
        rows = Rows.of(X, y[:, None], np.ones(90), 1.0, label)
        data = Prepared.of(prepare_inputs(rows, X, "off")[0], y[:, None], Plan(n_blocks=6))
        blocks = rows.blocks(6)
        assert all(np.unique(label[blocks == block]).size == 1 for block in np.unique(blocks))
        assert np.unique(blocks).size == 6
        for seed in range(5):
            problem = data.resampled(np.random.default_rng(seed), 6)
            weight = problem.samples.weights
            assert all(np.unique(weight[blocks == block]).size == 1 for block in np.unique(blocks))
            for (_, test), piece in zip(problem.held_out.splits, problem.held_out.labels, strict=True):
                assert all(np.unique(label[test[piece == k]]).size == 1 for k in np.unique(piece))

    @pytest.mark.parametrize("cv", [KFold(3, shuffle=True, random_state=0), BlockedSplit(3), 3], ids=str)
    def test_other_splits(self, cv):
        assert selected(*product_and_line(), options={"cv": cv}) == TRUTH

    @pytest.mark.slow
    def test_given_splits_keep_their_meaning_when_rows_have_no_weight(self):
        X, y = product_and_line(n=200)
        counted = np.arange(200) % 4 > 0
        given = [(np.arange(150), np.arange(150, 200)), (np.arange(50, 200), np.arange(50))]
        masks = [tuple(np.isin(np.arange(200), side)[counted] for side in pair) for pair in given]
        one = FewVariablesRegressor(**QUICK, cv=given, random_state=0).fit(X, y, sample_weight=counted.astype(float))
        two = FewVariablesRegressor(**QUICK, cv=masks, random_state=0).fit(X[counted], y[counted])
        assert_array_equal(one.predict(X), two.predict(X))
        assert one.held_out_error_ == two.held_out_error_

    @pytest.mark.parametrize(
        ("cv", "message"),
        [
            ([(np.arange(30), [])], "cv: split 0 has 0 held-out rows"),
            ([(np.arange(30), [40])], "cv: split 0 has 1 held-out rows of positive weight; give every split at least"),
            ([(np.arange(30), [40, 41, 40])], "cv: split 0 holds out a row twice"),
        ],
    )
    def test_bad_splits(self, cv, message):
        with pytest.raises(ValueError, match=message):
            FewVariablesRegressor(**QUICK, cv=cv).fit(*product_and_line(n=60))

    @pytest.mark.slow
    def test_shuffle_for_sorted_rows(self):
        X, y = product_and_line()
        order = np.argsort(y)
        assert selected(X[order], y[order], options={"shuffle": True}) == TRUTH

    @pytest.mark.slow
    def test_screening_of_many_inputs(self):
        rng = np.random.default_rng(7)
        X = rng.standard_normal((300, 60))
        assert selected(X, X[:, 3] + X[:, 50] ** 2, options={"max_inputs": 10}) == [3, 50]
        assert len(selected(X, X[:, 3] + X[:, 50] ** 2, options={"max_inputs": 2, "n_variables": 4})) == 4

    @pytest.mark.slow
    def test_runs_too_short_to_be_cut_are_held_out_whole(self):
        X, y = product_and_line()
        assert selected(X, y, trajectory=np.arange(400) // 3) == TRUTH

    @pytest.mark.parametrize("timed", [False, True])
    @pytest.mark.parametrize(("n_runs", "length"), [(10, 20), (8, 40), (12, 30), (20, 15), (30, 10)])
    def test_short_runs_with_different_levels(self, n_runs, length, timed):
        X, y, run = panel(np.full(n_runs, length))
        t = np.tile(np.arange(length), n_runs) if timed else None
        assert selected(X, y, trajectory=run, t=t) == [1]

    @pytest.mark.parametrize("options", [{"judge": "ridge"}, {"cv": GroupKFold(4)}], ids=str)
    def test_short_runs_with_different_levels_and_options(self, options):
        X, y, run = panel(np.full(10, 20))
        assert 1 in selected(X, y, trajectory=run, options=options)

    @pytest.mark.parametrize("lengths", [[150, *[10] * 15], [60, 3, 40, 7, 90], [100, 100], [4] * 20])
    def test_runs_of_unequal_lengths_keep_training_rows(self, lengths):
        X, y, run = panel(np.array(lengths))
        for version in prepare_inputs(Rows.of(X, y[:, None], np.ones(len(X)), trajectory=run), X):
            for train, test in Prepared.of(version, y[:, None], Plan()).problem.reserve.splits:
                assert len(train) >= len(X) // 2
                assert np.intersect1d(train, test).size == 0

    def test_interleaved_runs_are_put_together(self):
        rng = np.random.default_rng(5)
        t = np.arange(150) * 0.05
        runs = [np.column_stack([np.sin((1 + 0.4 * j) * t + j + phase) for j in range(4)]) for phase in (0, 1)]
        X = np.vstack(runs) + 0.1 * rng.standard_normal((300, 4))
        label, weight = np.repeat([0, 1], 150), (rng.random(300) < 0.8).astype(float)
        order = np.argsort(np.tile(t, 2), kind="stable")  # a row of the one, a row of the other
        one = FewVariablesRegressor(**QUICK, random_state=0)
        one.fit(X, X[:, 1] ** 2, weight, t=np.tile(t, 2), trajectory=label)
        two = FewVariablesRegressor(**QUICK, random_state=0)
        two.fit(X[order], X[order, 1] ** 2, weight[order], t=0.05, trajectory=label[order])
        assert_allclose(two.predict(X), one.predict(X))

    def test_one_row_may_outweigh_all_others(self):
        X, y = product_and_line(n=200)
        weight = np.ones(200)
        weight[150] = 1e6
        model = FewVariablesRegressor(**EASY, random_state=0, head="dictionary").fit(X, y, sample_weight=weight)
        assert abs(model.predict(X)[150] - y[150]) < 1e-3

    @pytest.mark.slow
    def test_outputs_of_any_size(self):
        X, y = product_and_line(n=200)
        model = FewVariablesRegressor(**EASY, random_state=0).fit(X, 1e200 * y)
        assert model.get_support(indices=True).tolist() == TRUTH
        assert_allclose(model.predict(X) / 1e200, y, atol=0.5)

    @pytest.mark.slow
    def test_zero_weight_is_no_row(self):
        X, y = product_and_line(n=200)
        spoiled = np.vstack([X, X]), np.concatenate([y, 100 * np.ones(200)])
        weight = np.concatenate([np.ones(200), np.zeros(200)])
        one = FewVariablesRegressor(**QUADRATIC).fit(X, y)
        two = FewVariablesRegressor(**QUADRATIC).fit(*spoiled, sample_weight=weight)
        assert_array_equal(one.predict(X), two.predict(X))

    @pytest.mark.slow
    @pytest.mark.parametrize("unit", [1 / 200, 1e-50, 1e30])
    def test_the_unit_of_weights_does_not_matter(self, unit):
        X, y = product_and_line(n=200)
        one = FewVariablesRegressor(**QUADRATIC).fit(X, y)
        two = FewVariablesRegressor(**QUADRATIC).fit(X, y, sample_weight=np.full(200, unit))
        assert_array_equal(one.support_, two.support_)
        assert_allclose(two.held_out_error_, one.held_out_error_, rtol=1e-6)
        assert_allclose(two.feature_importances_, one.feature_importances_, rtol=1e-5, atol=1e-7)

    @pytest.mark.slow
    def test_rows_without_weight_leave_a_gap_in_time(self):
        rng = np.random.default_rng(5)
        weight = (rng.random(300) < 0.8).astype(float)
        t = np.arange(300) * 0.05
        X = np.column_stack([np.sin((1 + 0.4 * j) * t + j) for j in range(4)]) + 0.1 * rng.standard_normal((300, 4))
        one = FewVariablesRegressor(**QUICK, random_state=0).fit(X, X[:, 1] ** 2, weight, t=t)
        two = FewVariablesRegressor(**QUICK, random_state=0).fit(X, X[:, 1] ** 2, weight, t=0.05)
        assert_allclose(two.predict(X), one.predict(X))


class TestContract:
    @pytest.mark.slow
    def test_same_result_whatever_the_number_of_threads(self, fitted):
        model, X, y = fitted
        again = clone(model).set_params(n_jobs=2).fit(X, y)
        assert_array_equal(again.predict(X), model.predict(X))
        assert_array_equal(again.feature_importances_, model.feature_importances_)
        assert_array_equal(again.path_.magnitudes, model.path_.magnitudes)

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    def test_frames_and_output_names(self, frame):
        X, y = product_and_line(n=120)
        data = frame({f"col {j}": X[:, j] for j in range(8)})
        model = FewVariablesRegressor(**QUADRATIC).set_output(transform="pandas").fit(data, y)
        assert list(model.transform(data).columns) == [f"col {j}" for j in TRUTH]
        assert "`col 1`*`col 4`" in model.equation_

    def test_metadata_routing_of_t(self):
        X, y = product_and_line(n=200)
        with sklearn.config_context(enable_metadata_routing=True):
            model = FewVariablesRegressor(**QUICK, random_state=0).set_fit_request(t=True)
            pipe = make_pipeline(StandardScaler(), model).fit(X, y, t=np.arange(200.0))
            with pytest.raises(ValueError, match="t has shape"):
                pipe.fit(X, y, t=np.arange(3.0))

    @pytest.mark.slow
    def test_grid_search(self):
        X, y = product_and_line(n=200)
        search = GridSearchCV(FewVariablesRegressor(**QUADRATIC), {"n_variables": [1, 3]}, cv=BlockedSplit(2))
        assert search.fit(X, y).best_params_ == {"n_variables": 3}

    def test_progress_on_stderr(self, capfd):
        X, y = product_and_line(n=150)
        FewVariablesRegressor(**QUICK, judge="network", shuffle=False, random_state=0, verbose=1).fit(X, y)
        out, err = capfd.readouterr()
        assert not out
        assert "path, inputs left out" in err
        assert "choosing" in err
        assert "head" in err
        assert err.count("\n") == 1

    @pytest.mark.slow
    @pytest.mark.parametrize("stage", ["find_variables", "_fit_head", "_votes"])
    @pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
    def test_a_fit_that_fails_or_is_interrupted_leaves_the_model_as_it_was(self, monkeypatch, stage, error):
        X, y = product_and_line(n=120)
        model = FewVariablesRegressor(**QUADRATIC, n_resamples=1).fit(pd.DataFrame(X).add_prefix("a"), y)
        before = dict(vars(model))

        def stop(*_, **__):
            raise error

        where = variables if stage == "find_variables" else FewVariablesRegressor
        monkeypatch.setattr(where, stage, stop)
        with pytest.raises(error):
            model.fit(X[:, :7], y)
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[name] is value for name, value in before.items())
        unfitted = clone(model)
        with pytest.raises(error):
            unfitted.fit(X, y)
        assert vars(unfitted) == vars(clone(model))


class TestBadInput:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"head": "tree"}, "head='tree': choose one of 'auto'"),
            ({"smoothing": True}, "smoothing=True: choose one of"),
            ({"activation": "step"}, "activation='step'"),
            ({"n_variables": 9}, "n_variables=9: there are only 8"),
            ({"n_variables": -1}, "n_variables=-1"),
            ({"n_variables": 1, "include": [0, 5]}, "n_variables=1: include names 2"),
            ({"include": ["z"]}, "include='z'"),
            ({"include": [8]}, "include=8"),
            ({"include": [5.7]}, "include=5.7"),
            ({"include": [True]}, "include=True"),
            ({"feature_groups": [[0, 1], [1, 2]]}, "feature_groups overlap: input 1"),
            ({"feature_groups": [0, 1]}, "feature_groups has 2 labels"),
            ({"feature_groups": 5}, "feature_groups=5"),
            ({"path_factor": 1.0}, "path_factor=1.0"),
            ({"hidden_layer_sizes": ()}, r"hidden_layer_sizes=\(\)"),
            ({"hidden_layer_sizes": 20}, "hidden_layer_sizes=20: give the width of each layer"),
            ({"learning_rate": 0}, "learning_rate=0"),
            ({"batch_size": 0}, "batch_size=0"),
        ],
    )
    def test_parameters(self, options, message):
        X, y = product_and_line(n=60)
        with pytest.raises(ValueError, match=message):
            FewVariablesRegressor(**{**QUICK, **options}).fit(X, y)

    @pytest.mark.parametrize(
        ("times", "message"),
        [
            (np.r_[0, 2, 1, np.arange(3, 60)], "t does not increase at row 2"),
            (np.arange(10.0), "t has shape"),
            (np.r_[np.nan, np.arange(59)], "t is not finite in row 0"),
            (-1.0, "t=-1.0 is not a positive step"),
        ],
    )
    @pytest.mark.parametrize("smoothing", ["auto", "off"])
    def test_times(self, times, message, smoothing):
        X, y = product_and_line(n=60)
        with pytest.raises(ValueError, match=message):
            FewVariablesRegressor(**QUICK, smoothing=smoothing).fit(X, y, t=times)

    def test_what_a_fitted_model_is_asked(self, fitted):
        model, X, _ = fitted
        with pytest.raises(ValueError, match="names has 2 entries: give one for each of the 8 inputs"):
            model.equation(["a", "b"])
        with pytest.raises(ValueError, match="trajectory has no effect without t"):
            model.predict(X, trajectory=np.zeros(len(X)))

    @pytest.mark.slow
    def test_constant_duplicated_and_huge_columns(self):
        X, y = product_and_line(n=200, noise=0.0)
        X[:, 0] = 7.0
        X[:, 7] = 3 - 2 * X[:, 4]
        assert selected(X, y, options=QUADRATIC) == TRUTH
        X[:, 2] = X[:, 4]
        assert selected(X, y, options=QUADRATIC) == [1, 2, 6]  # of equal columns, the first
        with pytest.raises(ValueError, match="n_variables=6: there are only 5 to choose from"):
            selected(X, y, options={"n_variables": 6})
        X, y = product_and_line(n=120)
        X[:, 4] *= 1e150
        X[:, 1] *= 1e-150
        assert selected(X, y, options={"head": "auto"}) == TRUTH
        assert 6 in selected(X, y)  # without overflow, though polynomials are limited to lines here

    @pytest.mark.filterwarnings("ignore:No input predicts")
    @pytest.mark.parametrize(("n", "d"), [(10, 8), (30, 40), (200, 1)])
    def test_small_shapes(self, n, d):
        rng = np.random.default_rng(8)
        X = rng.standard_normal((n, d))
        model = FewVariablesRegressor(**EASY, random_state=0).fit(X, 3 * X[:, 0])
        assert model.support_.sum() <= 2
        assert np.isfinite(model.predict(X)).all()
        if n >= 30:
            assert model.support_[0]

    @pytest.mark.filterwarnings("ignore:No input predicts")
    def test_constant_output(self):
        X, _ = product_and_line(n=60)
        model = FewVariablesRegressor(**QUICK).fit(X, np.full(60, 3.5))
        assert not model.support_.any()
        assert_allclose(model.predict(X), 3.5)
        assert model.equation_ == "3.5"

    def test_too_few_rows(self):
        X, y = product_and_line(n=5)
        with pytest.raises(ValueError, match="minimum of 8"):
            FewVariablesRegressor(**QUICK).fit(X, y)


@pytest.mark.slow
def test_monotone_solver_certifies_its_path():
    X = np.random.default_rng(0).standard_normal((200, 8))
    y = X[:, 2] * X[:, 5] + X[:, 6]
    budget = EASY | {"path_factor": 2.0, "path_updates": 30, "head": "dictionary", "max_degree": 2}
    model = FewVariablesRegressor(solver="monotone", random_state=0, **budget).fit(X, y)
    assert model.get_support(indices=True).tolist() == [2, 5, 6]
    path = model.path_
    assert path.distances.shape == path.steps.shape == path.constants.shape == path.strengths.shape
    assert np.isfinite(path.distances).all()
    assert (path.steps > 0).all()


def test_outside_range_names_rows_and_inputs(three_variables):
    model, X, _ = three_variables
    assert not model.outside_range(X).any()
    idle = np.flatnonzero(~model.support_)[0]
    new = X[:3].copy()
    new[1, TRUTH[0]] = X[:, TRUTH[0]].max() + 1e-9
    new[2, [TRUTH[1], idle]] = -100.0  # an input that does not matter is never outside
    np.testing.assert_array_equal(np.argwhere(model.outside_range(new)), [[1, TRUTH[0]], [2, TRUTH[1]]])
