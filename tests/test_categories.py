"""Estimators on tables with categories and missing values: one column of the table is one variable."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fewvars import FewDirectionsRegressor, FewVariablesRegressor, ModelFileError, export_onnx, load, save
from fewvars.displays.partial import partial_dependence, some_rows
from fewvars.files.persistence.container import pack, unpack
from fewvars.report import report_html
from problems import QUICK

TRUTH = ["site", "temperature", "flow"]


def factory(n=300, seed=0, gaps=0):
    """Return a table and y, which depends on the temperature at one of three sites, and on the flow everywhere."""
    rng = np.random.default_rng(seed)
    site = rng.choice(["north", "south", "east"], n)
    temperature, flow = rng.normal(60, 5, n), rng.normal(3, 0.5, n)
    y = np.where(site == "south", 0.4 * (temperature - 60), 0) + 2 * flow + 0.4 * rng.standard_normal(n)
    flow[rng.choice(n, gaps, replace=False)] = np.nan
    columns = {"site": site, "operator": rng.choice(["ann", "bob", "cid"], n), "temperature": temperature}
    return pd.DataFrame({**columns, "flow": flow, "pressure": rng.standard_normal(n)}), y


def fit(X, y, **options):
    return FewVariablesRegressor(**{"head": "dictionary", "max_degree": 2, "random_state": 0, **options}).fit(X, y)


def names(model):
    return model.get_feature_names_out().tolist()


@pytest.fixture(scope="module")
def fitted():
    X, y = factory(gaps=10)
    return fit(X, y, missing="indicate"), X, y


class TestCategories:
    def test_one_column_is_one_variable(self, fitted):
        model, X, y = fitted
        assert names(model) == TRUTH
        assert model.n_features_in_ == X.shape[1]
        for of_columns in (model.support_, model.q_values_, model.feature_importances_, model.path_.labels):
            assert of_columns.shape == (5,)
        assert (model.q_values_[model.support_] < 1e-3).all()
        assert (model.q_values_[~model.support_] > 0.05).all()
        assert ("site", "temperature") in model.interactions_
        assert model.transform(X).shape == (300, 3)
        assert model.score(X, y) > 0.85

    def test_the_equation_names_levels(self, fitted):
        model = fitted[0]
        assert "[site = south]*(temperature - 60)" in model.equation_
        assert model.equation(list("abcde")) == model.equation_.replace("site", "a").replace(
            "temperature", "c"
        ).replace("flow", "d")
        assert set(model.levels_["site"]) == {"north", "south", "east"}

    def test_predictions_do_not_depend_on_the_kind_of_table(self, fitted):
        model, X, _ = fitted
        expected = model.predict(X)
        assert_array_equal(model.predict(pl.DataFrame(X.to_dict(orient="list"))), expected)
        assert_array_equal(model.predict(X.astype({"site": "category"})), expected)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            assert_array_equal(model.predict(X.to_numpy()), expected)

    def test_columns_that_are_not_selected_may_hold_anything(self, fitted):
        model, X, _ = fitted
        assert_array_equal(model.predict(X.assign(operator="zoe", pressure=np.nan)), model.predict(X))

    def test_unseen_levels(self, fitted):
        model, X, _ = fitted
        new = X.head(3).assign(site="west")
        with pytest.raises(ValueError, match="column 'site': row 0 holds 'west'"):
            model.predict(new)
        base = X.head(3).assign(site=model.levels_["site"][0])
        again = fit(*factory(), unseen="base")
        assert_array_equal(again.predict(new.fillna(3.0)), again.predict(base.fillna(3.0)))

    def test_gradient_by_numbers(self, fitted):
        model, X, _ = fitted
        some = X.fillna({"flow": 3.0}).head(4)
        gradient = model.gradient(some)
        assert gradient.shape == (4, 5)
        assert np.isnan(gradient[:, 0]).all()
        assert_array_equal(gradient[:, [1, 4]], 0.0)
        moved = model.predict(some.assign(temperature=some["temperature"] + 1e-4)) - model.predict(some)
        assert_allclose(gradient[:, 2], moved / 1e-4, atol=1e-6)

    def test_integers_that_the_user_names(self):
        rng = np.random.default_rng(0)
        X = np.column_stack([rng.integers(4, size=200), rng.standard_normal((200, 3))])
        y = np.array([0.0, 2.0, -1.0, 0.5])[X[:, 0].astype(int)] + X[:, 2] + 0.1 * rng.standard_normal(200)
        model = fit(X, y, types={0: "category"})
        assert names(model) == ["x0", "x2"]
        assert model.equation_.count("[x0 = ") == 3

    def test_included_and_excluded_columns(self):
        X, y = factory()
        model = fit(X, y, include=["operator"], exclude=["site"])
        assert model.support_[1]
        assert not model.support_[0]

    def test_groups_of_columns(self):
        X, y = factory()
        model = fit(X, y, feature_groups=[[0, 1], [2], [3], [4]])
        assert names(model) == ["site", "operator", "temperature", "flow"]
        assert model.q_values_[0] == model.q_values_[1]

    @pytest.mark.slow
    def test_resamples_vote_for_columns(self):
        X, y = factory()
        model = fit(X, y, n_resamples=2)
        assert_array_equal(model.selection_frequencies_[[0, 2, 3]], 1.0)

    def test_directions_refuse_categories(self):
        with pytest.raises(ValueError, match="'site' is a category"):
            FewDirectionsRegressor().fit(*factory(n=20))

    @pytest.mark.parametrize(
        ("column", "said"),
        [
            (np.arange(20), "column 'new': it only counts the rows"),
            ([f"id {k}" for k in range(20)], "column 'new': its text is different"),
            (pd.date_range("2024-01-01", periods=20), "column 'new': it holds times"),
        ],
    )
    def test_what_is_refused(self, column, said):
        X, y = factory(n=20)
        with pytest.raises(ValueError, match=said):
            fit(X.assign(new=column), y)
        with pytest.raises(ValueError, match=said):
            fit(X.drop(columns=["site", "operator"]).assign(new=column), y)

    def test_a_year_is_a_number_with_a_note(self):
        X, y = factory(n=20)
        model = fit(X.assign(year=np.arange(1990, 2010)), y)
        assert any("year changes in one direction" in note for note in model.notes_)

    def test_counters_are_welcome_if_the_user_says_so(self):
        X, y = factory(n=20)
        assert fit(X.assign(k=np.arange(20)), y, types={"k": "number"}, include=["k"]).support_[5]

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"types": ["site"]}, "types=.*: give a dict"),
            ({"types": {"nowhere": "number"}}, "types='nowhere': give names of columns"),
            ({"types": {"flow": "text"}}, r"types\['flow'\]='text': choose one of 'number', 'category'"),
            ({"missing": "impute"}, "missing='impute': choose one of"),
            ({"unseen": "skip"}, "unseen='skip': choose one of"),
        ],
    )
    def test_bad_options(self, options, said):
        with pytest.raises(ValueError, match=said):
            fit(*factory(n=20), **options)


class TestMissingValues:
    def test_an_error_names_the_column_and_the_remedy(self):
        X, y = factory(gaps=3)
        for table in (X, X.drop(columns=["site", "operator"])):
            with pytest.raises(ValueError, match=r"column 'flow' has 3 missing values .* missing='indicate'"):
                fit(table, y)

    @pytest.mark.slow
    @pytest.mark.parametrize("columns", [TRUTH, TRUTH[1:]], ids=["table", "numbers"])
    def test_dropped_rows_do_not_count(self, columns):
        X, y = factory(gaps=20)
        whole = X["flow"].notna().to_numpy()
        dropped, chosen = fit(X[columns], y, missing="drop"), fit(X[columns][whole], y[whole])
        assert dropped.equation_ == chosen.equation_
        predicted = dropped.predict(X[columns])
        assert_array_equal(np.isnan(predicted), ~whole)
        assert_array_equal(predicted[whole], chosen.predict(X[columns][whole]))

    def test_nothing_left(self):
        X, y = factory(n=20)
        X.loc[3:, "pressure"] = np.nan
        with pytest.raises(
            ValueError, match=r"missing='drop' leaves 3 of 20 rows.*'pressure', in which 85% of the values are missing"
        ):
            fit(X, y, missing="drop")

    def test_being_missing_can_be_the_answer(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((300, 5))
        X[rng.random(300) < 0.3, 2] = np.nan
        y = np.where(np.isnan(X[:, 2]), 2.0, X[:, 2]) + X[:, 4] + 0.1 * rng.standard_normal(300)
        model = fit(X, y, missing="indicate")
        assert names(model) == ["x2", "x4"]
        assert "[x2 is missing]" in model.equation_
        assert model.score(X, y) > 0.98

    @pytest.mark.slow
    def test_plain_numbers_take_the_same_path_whatever_the_rule(self):
        X = factory(n=100)[0][["temperature", "flow", "pressure"]].to_numpy()
        y = X[:, 0] * X[:, 1]
        plain = fit(X, y)
        for missing in ("drop", "indicate"):
            model = fit(X, y, missing=missing)
            assert model.equation_ == plain.equation_
            assert_array_equal(model.q_values_, plain.q_values_)
            assert_array_equal(model.predict(X), plain.predict(X))

    @pytest.mark.parametrize("gap", [np.nan, None])
    def test_a_missing_target_is_dropped_with_a_count(self, gap):
        X, y = factory(n=100)
        known = fit(X[5:], y[5:])
        partly = y.astype(object) if gap is None else y.copy()
        partly[:5] = gap
        with pytest.warns(UserWarning, match="The target is missing in 5 of 100 rows"):
            model = fit(X, partly)
        assert model.equation_ == known.equation_

    def test_gaps_along_a_trajectory_are_bridged(self):
        t = np.linspace(0, 20, 400)
        whole = np.column_stack([np.sin(t), np.cos(1.7 * t), np.sin(0.6 * t + 1)])
        y = whole[:, 0] * whole[:, 1]
        X = whole + 0.02 * np.random.default_rng(1).standard_normal(whole.shape)
        X[100:108, 0] = X[50, 1] = X[200:203, 1] = np.nan
        options = {"smoothing": "on", "head": "dictionary", "judge": "ridge", **QUICK}
        model = FewVariablesRegressor(missing="indicate", random_state=0, **options)
        with pytest.warns(UserWarning, match=r"'x0' 8 values \(the longest gap has 8 rows\), 'x1' 4 values .* 3 rows"):
            model.fit(X, y, t=t)
        assert names(model) == ["x0", "x1"]
        assert_allclose(model.predict(X, t=t)[100:108], y[100:108], atol=0.02)
        assert not np.isnan(model.predict(X)).any()  # without times, the mean stands in for what is missing

    def test_directions_drop_rows_too(self):
        X, y = factory(n=40, gaps=4)
        X = X[["temperature", "flow"]]
        options = {"n_directions": 1, "head": "dictionary", "first_updates": 10, "path_updates": 5, "refit_updates": 10}
        model = FewDirectionsRegressor(missing="drop", random_state=0, **options).fit(X, y)
        assert_array_equal(np.isnan(model.predict(X)), X["flow"].isna())
        assert "Values of X are missing in 4 of 40 rows, which are left out." in model.notes_

    def test_a_target_that_is_missing_everywhere(self):
        X, y = factory(n=20)
        with pytest.raises(ValueError, match="y is missing in all 20 rows"):
            fit(X, np.full(len(y), np.nan))


class TestFiles:
    @pytest.mark.parametrize("missing", ["indicate", "drop"])
    def test_onnx_knows_about_missing_numbers(self, tmp_path, missing):
        runtime = pytest.importorskip("onnxruntime")
        rng = np.random.default_rng(0)
        X = rng.standard_normal((200, 5)) + 1.0
        X[rng.random(200) < 0.3, 2] = np.nan
        y = np.where(np.isnan(X[:, 2]), 2.0, X[:, 2]) + X[:, 4] * X[:, 0] + 0.1 * rng.standard_normal(200)
        model = fit(X, y, missing=missing)
        export_onnx(model, tmp_path / "m.onnx")
        (found,) = runtime.InferenceSession(tmp_path / "m.onnx").run(None, {"X": X})
        assert_allclose(found, model.predict(X), rtol=1e-10)

    def test_onnx_refuses_categories_by_name(self, fitted, tmp_path):
        pytest.importorskip("onnx")
        with pytest.raises(ValueError, match="'site' is a category"):
            export_onnx(fitted[0], tmp_path / "m.onnx")
        assert not (tmp_path / "m.onnx").exists()

    def test_levels_and_rules_are_kept(self, fitted, tmp_path):
        model, X, _ = fitted
        save(model, tmp_path / "m")
        again = load(tmp_path / "m")
        assert_array_equal(again.predict(X), model.predict(X))
        assert again.levels_ == model.levels_
        assert again.missing == "indicate"

    @pytest.mark.parametrize(
        ("place", "value", "said"),
        [
            ((0, "fields", "levels"), {"tuple": ["a", "a", "b"]}, "names a level twice"),
            ((0, "fields", "levels"), {"tuple": []}, "at least 1"),
            ((0, "fields", "levels"), {"tuple": ["a", 1]}, "not text"),
            ((0, "fields", "levels"), {"tuple": [str(k) for k in range(101)]}, "more than 100"),
            ((0, "fields", "levels"), {"tuple": ["a", "b", "c", "d"]}, "the head has 5 variables for the 6 selected"),
            ((3, "fields", "mean"), {"float": "nan"}, "not finite"),
            ((3, "fields", "indicated"), 1, "not true or false"),
            ((3, "record"), "Popen", "unknown kind of record"),
            ((3,), None, "is not a Number or Category"),
        ],
    )
    def test_forged_encodings_are_refused(self, fitted, tmp_path, place, value, said):
        save(fitted[0], tmp_path / "m")
        description, tensors = unpack((tmp_path / "m").read_bytes())
        entry = description["fitted"]["_encoding"]["fields"]["columns"]["tuple"]
        *above, last = place
        for key in above:
            entry = entry[key]
        entry[last] = value
        (tmp_path / "m").write_bytes(pack(description, tensors))
        with pytest.raises(ModelFileError, match=said):
            load(tmp_path / "m")

    def test_an_encoding_of_fewer_columns_is_refused(self, fitted, tmp_path):
        save(fitted[0], tmp_path / "m")
        description, tensors = unpack((tmp_path / "m").read_bytes())
        description["fitted"]["_encoding"]["fields"]["columns"]["tuple"].pop()
        (tmp_path / "m").write_bytes(pack(description, tensors))
        with pytest.raises(ModelFileError, match="the encoding has another number of columns"):
            load(tmp_path / "m")

    def test_hostile_levels(self, tmp_path):
        X, y = factory()
        hostile = {"south": "<script>alert(1)</script>", "north": "{0.__class__}", "east": "\x1b[2J\u202e"}
        model = fit(X.assign(site=X["site"].map(hostile)), y)
        save(model, tmp_path / "m")
        assert load(tmp_path / "m").levels_ == model.levels_


class TestPictures:
    def test_dependence_on_levels_and_numbers(self, fitted):
        model, X, _ = fitted
        site, temperature = partial_dependence(model, X, [0, 2], max_rows=30)
        assert site.levels == model.levels_["site"]
        assert site.curves.shape == (30, 3)
        at_south = model.predict(X.iloc[some_rows(len(X), 30)].assign(site="south"))
        # Products of matrices of different shapes may differ in the last digit.
        assert_allclose(site.curves[:, site.levels.index("south")], at_south, rtol=1e-14)
        assert temperature.levels == ()
        assert temperature.deciles.size == 9

    def test_dependence_leaves_out_rows_that_cannot_be_predicted(self):
        X, y = factory(n=60, gaps=10)
        model = fit(X, y, missing="drop", include=["temperature", "flow"])
        (found,) = partial_dependence(model, X, [2], max_rows=60)
        assert len(found.curves) == 50
        (found,) = partial_dependence(model, X, [3], max_rows=60)
        assert len(found.curves) == 60  # where the flow is given, it isn't missing

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    def test_report(self, fitted, frame):
        model, X, y = fitted
        page = report_html(model, frame(X.to_dict(orient="list")), y)
        assert "[site = south]" in page
        for level in model.levels_["site"]:
            assert level in page

    def test_report_without_the_rows_that_were_dropped(self):
        X, y = factory(n=60, gaps=10)
        page = report_html(fit(X, y, missing="drop"), X, y)
        assert "nan" not in page.lower().replace("nano", "")

    @pytest.mark.slow
    def test_hostile_levels_in_a_report(self):
        X, y = factory()
        X["site"] = X["site"].map({"south": "<script>alert(1)</script>", "north": "$x$ \x1b\u202e", "east": "{0}"})
        page = report_html(fit(X, y), X, y)
        assert "<script>alert" not in page
        assert "\u202e" not in page
