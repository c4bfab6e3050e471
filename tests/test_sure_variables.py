"""How sure a fit is: q-values and interactions from the estimator to files, plots, reports and the command line."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from matplotlib import pyplot
from numpy.testing import assert_array_equal

from fewvars import FewVariablesRegressor
from fewvars._common.progress import Progress
from fewvars.cli import main
from fewvars.displays import ImportanceDisplay
from fewvars.estimators.preparation import Plan, Prepared
from fewvars.estimators.rows import Rows
from fewvars.estimators.standardised import prepare_inputs
from fewvars.files.persistence import load, save
from fewvars.report import report_html
from fewvars.search.variables.evidence import WEAK
from fewvars.search.variables.judges import JUDGES
from fewvars.search.variables.search import find_variables
from fewvars.search.variables.settings import Groups, VariableSettings

# Enough for a path and a few refits, and no more.
QUICK = {"first_updates": 60, "path_updates": 10, "path_factor": 2.0, "refit_updates": 60, "max_candidates": 4}
TRUTH = [1, 4, 6]


def product_and_line(n=200, d=8, noise=0.3):
    """Return y = x1 x4 + x6 plus noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, X[:, 1] * X[:, 4] + X[:, 6] + noise * rng.standard_normal(n)


def fit(X, y, **options):
    return FewVariablesRegressor(head="dictionary", max_degree=2, random_state=0, **options).fit(X, y)


def chosen(model):
    return model.get_support(indices=True).tolist()


@pytest.fixture(scope="module")
def fitted():
    """A model in whose support x0 is only because it was included."""
    X, y = product_and_line()
    return fit(X, y, include=[0]), X, y


def test_a_product_beside_many_lines_is_found():
    """All products of seven inputs would need more columns than 120 rows determine."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 12))
    model = fit(X, X[:, :6].sum(axis=1) + X[:, 0] * X[:, 9] + 0.4 * rng.standard_normal(120))
    assert chosen(model) == [0, 1, 2, 3, 4, 5, 9]
    assert ("x0", "x9") in model.interactions_


class TestEvidence:
    def test_planted_variables_are_sure_and_the_included_one_is_weak(self, fitted):
        model = fitted[0]
        assert chosen(model) == [0, *TRUTH]
        assert model.q_values_.shape == (8,)
        assert (model.q_values_[TRUTH] < 0.001).all()
        assert (np.delete(model.q_values_, TRUTH) > WEAK).all()
        assert model.interactions_ == (("x1", "x4"),)
        assert model.judge_ == "ridge"

    def test_findings(self, fitted):
        model = fitted[0]
        found = model.findings()
        assert_array_equal(found.q_values, model.q_values_)
        assert found.interactions == model.interactions_
        assert [name for name, weak in zip(found.names, found.weak, strict=True) if weak] == ["x0"]

    @pytest.mark.slow
    def test_findings_say_whether_the_function_is_additive(self, fitted):
        X, _ = product_and_line()
        sum_of_two = fit(X, np.sin(2 * X[:, 1]) + X[:, 4])
        assert chosen(sum_of_two) == [1, 4]
        assert sum_of_two.findings().additive
        assert not fitted[0].findings().additive
        assert not fit(X, X[:, 1]).findings().additive  # a single variable
        assert "No two variables interact" in report_html(sum_of_two, X, sum_of_two.predict(X))

    def test_constant_and_repeated_columns_have_no_evidence(self):
        X, y = product_and_line()
        X[:, 0], X[:, 2] = 1.0, -X[:, 6]
        X[:, [2, 6]] = X[:, [6, 2]]
        model = fit(X, y)
        assert_array_equal(model.q_values_[[0, 6]], 1.0)
        assert chosen(model) == [1, 2, 4]

    def test_constant_output_has_no_evidence(self):
        X, _ = product_and_line(n=30)
        with pytest.warns(UserWarning, match="nothing was selected"):
            model = fit(X, np.ones(30))
        assert_array_equal(model.q_values_, 1.0)
        assert model.interactions_ == ()

    def test_groups_share_a_q_value_and_are_named_together(self):
        X, y = product_and_line()
        frame = pd.DataFrame(X, columns=list("abcdefgh"))
        model = fit(frame, y, feature_groups=[0, 0, 1, 2, 3, 3, 4, 5])
        assert chosen(model) == [0, 1, 4, 5, 6]
        assert model.q_values_[0] == model.q_values_[1]
        assert model.interactions_ == (("a + b", "e + f"),)

    @pytest.mark.parametrize("seed", [0, 1])
    def test_same_seed_same_evidence(self, seed):
        X, y = product_and_line(n=60)
        one, other = (FewVariablesRegressor(head="dictionary", random_state=seed).fit(X, y) for _ in range(2))
        assert_array_equal(one.q_values_, other.q_values_)


class TestFalseDiscoveryRate:
    @pytest.mark.parametrize("fdr", [0.001, 0.2, 0.9])
    def test_selects_exactly_the_q_values_up_to_it(self, fdr):
        rng = np.random.default_rng(1)
        X = rng.standard_normal((80, 10))
        y = X[:, 3] + 0.4 * X[:, 5] + 0.3 * X[:, 7] + rng.standard_normal(80)
        model = fit(X, y, fdr=fdr)
        assert_array_equal(model.support_, model.q_values_ <= fdr)
        assert model.support_[3]
        with_another = fit(X, y, fdr=fdr, include=[0])
        assert_array_equal(with_another.support_, (with_another.q_values_ <= fdr) | (np.arange(10) == 0))

    def test_importances_and_function_are_those_of_the_selection(self):
        X, y = product_and_line()
        model = fit(X, y, fdr=0.01)
        assert chosen(model) == TRUTH
        assert_array_equal(model.feature_importances_ != 0, model.support_)
        assert model.score(X, y) > 0.9
        assert model.interactions_ == (("x1", "x4"),)

    def test_interactions_are_among_what_was_selected(self, fitted):
        X, y = fitted[1:]
        less = fit(X, y, include=[0], fdr=0.99 * fitted[0].q_values_[[1, 4]].max())
        assert not less.support_[[1, 4]].all()
        assert less.interactions_ == ()


class TestWhatTheUserKnows:
    @pytest.mark.slow
    def test_excluded_inputs_are_never_selected(self):
        X, y = product_and_line()
        assert chosen(fit(X, y, exclude=[6, 0])) == [1, 4]
        frame = pd.DataFrame(X, columns=list("abcdefgh"))
        model = fit(frame, y, exclude="g", fdr=0.9)
        assert not model.support_[6]
        assert model.q_values_[6] == 1.0

    def test_a_group_with_an_excluded_input_is_left_out(self):
        X, y = product_and_line()
        assert chosen(fit(X, y, feature_groups=[0, 1, 2, 3, 4, 5, 6, 6], exclude=[7])) == [1, 4]

    def test_excluded_inputs_are_not_selected_along_the_path(self):
        X, y = product_and_line(n=100)
        model = fit(X, y + X[:, 2], exclude=[6], judge="ridge", **QUICK)
        assert model.support_[2]
        assert not model.support_[6]

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"include": [1], "exclude": [2, 1]}, "name the same input"),
            ({"include": [1], "exclude": [2], "feature_groups": [0, 1, 1, 2, 3, 4, 5, 6]}, "inputs of one group"),
            ({"exclude": [8]}, r"exclude=8: give names of columns of X, numbers below 8"),
            ({"exclude": "nobody"}, "exclude='nobody': give names"),
            ({"include": ["x1"]}, "include='x1': give names"),  # X has no names
            ({"exclude": list(range(7)), "n_variables": 2}, "only 1 to choose from"),
            ({"fdr": 0.0}, "fdr=0.0: give a finite number above 0 and below 1"),
            ({"fdr": 1.0}, "fdr=1.0: give"),
            ({"fdr": "low"}, "fdr='low': give"),
            ({"judge": "jury"}, "judge='jury': choose one of 'auto'"),
        ],
    )
    def test_errors(self, options, said):
        X, y = product_and_line(n=40)
        with pytest.raises(ValueError, match=said):
            fit(X, y, **options)

    @pytest.mark.parametrize("judge", sorted(JUDGES))
    def test_the_judge_asked_for_decides(self, judge):
        X, y = product_and_line(n=100, noise=0.05)
        assert fit(X, y, judge=judge, **QUICK).judge_ == judge


class TestShown:
    def test_saved_and_loaded(self, fitted, tmp_path):
        model = fitted[0]
        save(model, tmp_path / "model")
        again = load(tmp_path / "model")
        assert_array_equal(again.q_values_, model.q_values_)
        assert again.interactions_ == model.interactions_
        assert again.judge_ == model.judge_
        assert again.get_params() == model.get_params()
        assert_array_equal(again.findings().weak, model.findings().weak)

    def test_parameters_are_saved(self, tmp_path):
        X, y = product_and_line(n=60)
        save(fit(X, y, fdr=0.3, exclude=[0, 2], judge="auto"), tmp_path / "model")
        again = load(tmp_path / "model")
        assert (again.fdr, list(again.exclude), again.judge) == (0.3, [0, 2], "auto")

    def test_weak_bars_are_paler_and_say_so(self, fitted):
        shown = ImportanceDisplay.from_estimator(fitted[0])
        shown.figure_.canvas.draw()
        labels = [text.get_text() for text in shown.ax_.get_yticklabels()]
        assert [name for name in labels if "(weak)" in name] == ["x0 (weak)"]
        assert len(labels) == 4
        opacity = {round(bar.get_y() + bar.get_height() / 2): bar.get_alpha() for bar in shown.ax_.patches}
        weak = labels.index("x0 (weak)")
        assert all(opacity[weak] < opacity[row] for row in range(4) if row != weak)
        pyplot.close(shown.figure_)

    def test_report(self, fitted):
        html = report_html(*fitted)
        assert "q-value" in html
        assert html.count(" (weak)</td>") == 1
        assert "The effects of these variables depend on each other: x1 and x4." in html

    @pytest.mark.slow
    def test_command_line(self, tmp_path):
        X, y = product_and_line()
        path = tmp_path / "data.csv"
        pd.DataFrame(X, columns=list("abcdefgh")).assign(y=y).to_csv(path, index=False)
        arguments = ["fit", str(path), "--target", "y", "--head", "dictionary", "--include", "a", "--jobs", "1"]
        done = CliRunner().invoke(main, [*arguments, "--json"], prog_name="fewvars")
        answer = json.loads(done.stdout)
        q_values = {variable["name"]: variable["q_value"] for variable in answer["variables"]}
        assert sorted(q_values) == ["a", "b", "e", "g"]
        assert q_values["a"] > WEAK
        assert max(q_values[name] for name in "beg") < 0.001
        assert answer["interactions"] == [["b", "e"]]
        lines = CliRunner().invoke(main, arguments, prog_name="fewvars").stdout.splitlines()
        assert all(", q = " in line for line in lines[1:5])
        assert [line.split()[0] for line in lines if "(weak evidence)" in line] == ["a"]


class TestPower:
    @pytest.mark.parametrize("seed", range(3))
    def test_three_linear_ones_of_thirty_in_sixty_rows(self, seed):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((60, 30))
        y = X[:, 3] - X[:, 11] + X[:, 24] + rng.standard_normal(60)
        model = fit(X, y)
        assert {3, 11, 24} <= set(chosen(model))
        assert model.support_.sum() <= 4
        assert (model.q_values_[[3, 11, 24]] < WEAK).all()

    @pytest.mark.parametrize("row", [0, 77])
    def test_an_outlier_neither_selects_nor_hides(self, row):
        X, y = product_and_line()
        y[row] = 1e6
        model = fit(X, y)
        assert chosen(model) == TRUTH
        assert (model.q_values_[TRUTH] < 0.01).all()
        noise = np.random.default_rng(9).standard_normal(200)
        noise[row] = 1e6
        assert not found(X, noise).any()

    def test_noise_selects_rarely(self):
        wrong = 0
        for seed in range(20):
            rng = np.random.default_rng(seed)
            wrong += found(rng.standard_normal((100, 30)), rng.standard_normal(100)).any()
        assert wrong <= 3

    def test_noise_in_dependent_rows_selects_rarely(self):
        wrong = 0
        for seed in range(10):
            walks = np.random.default_rng(seed).standard_normal((200, 9)).cumsum(axis=0)
            wrong += found(walks[:, :8], walks[:, 8]).any()
        assert wrong <= 2


def found(X, y):
    """Return which inputs the search selects, without the evidence."""
    y = y[:, None]
    inputs = prepare_inputs(Rows.of(X, y, np.ones(len(X))), X, "off")[0]
    data = Prepared.of(inputs, y, Plan())
    nothing = np.zeros(0, int)
    groups = Groups.of(np.arange(X.shape[1]), nothing, nothing, inputs.Z, inputs.scaling.constant)
    with Progress(0) as progress:
        return find_variables(data.problem, groups, VariableSettings(), progress).inputs
