"""Displays: they show the numbers of the model, in the user's names, whatever these are, and stay legible."""

import io
import subprocess
import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import colors, pyplot
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression

from fewvars import FewVariablesRegressor
from fewvars.displays import (
    CurveDisplay,
    DependenceDisplay,
    FrequencyDisplay,
    GraphDisplay,
    ImportanceDisplay,
    LoadingsDisplay,
    NetworkDisplay,
    PathDisplay,
    PredictionDisplay,
    ShadowDisplay,
    SingularValuesDisplay,
    SupportSizeDisplay,
    partial_dependence,
)
from fewvars.displays.directions import ordinal
from fewvars.displays.figure import BLUE, PALE, spread
from fewvars.displays.names import distinct_names, group_names, label, plain, short
from fewvars.displays.partial import some_rows
from fewvars.paper import AdaptiveDirectionsRegressor, AdaptiveGroupLassoRegressor
from problems import EASY, PLAIN, product_and_line

HOSTILE = [
    "$x^2$ and $",
    "a\\$b_{%&#}",
    "line\nbreak\ttab\x00\x07",
    "very long name " * 40,
    "\u202eright to left \u05e9\u05dc\u05d5\u05dd",
    "lone \ud800 surrogate \uffff",
    "</text><script>alert(1)</script>",
    "",
]

LITERAL = {**PLAIN, "n_second": 60, "n_strengths": 8}


@pytest.fixture(scope="session")
def fitted(three_variables):
    return three_variables


@pytest.fixture(autouse=True)
def close_figures():
    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")


def drawn(display):
    """Draw, check that every text is inside the figure, and return the texts."""
    figure = display.figure_
    figure.canvas.draw()
    unseen = []
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in [*axis.majorTicks, *axis.minorTicks]:
                if not axes.axison or not low <= tick.get_loc() <= high:
                    unseen += [tick.label1, tick.label2]
            if not axes.axison:
                unseen.append(axis.label)
    found = []
    for text in figure.findobj(matplotlib.text.Text):
        if text in unseen or not text.get_visible() or not text.get_text().strip():
            continue
        box = text.get_window_extent()
        inside = min(box.x0, box.y0) > -2 and (box.max < figure.bbox.size + 2).all()
        assert inside, text.get_text()
        found.append(text.get_text())
    return found


class TestNames:
    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("x7", "x7"),
            ("a\n b\t\x00c", "a b c"),
            ("\u202eabc\u2069", "abc"),
            ("x\ud800y", "x\ufffdy"),
            ("\x00", "(no name)"),
            (3, "3"),
        ],
    )
    def test_plain(self, name, expected):
        assert plain(name) == expected

    def test_short_keeps_both_ends(self):
        assert short("temperature at station 0017", 16) == "temperat…on 0017"
        assert short("温" * 20, 9) == "温温…温温"
        assert short("x" * 22) == "x" * 22

    def test_no_formula(self):
        assert label("$x^2$") == r"\$x^2\$"

    def test_names_are_told_apart(self):
        assert distinct_names(["a", "b", "a"], 3) == ["a [0]", "b", "a [2]"]
        assert len(set(distinct_names(["a", "a", "a [0]"], 3))) == 3
        with pytest.raises(ValueError, match="feature_names has 2 names: give one for each of the 3"):
            distinct_names(["a", "b"], 3)

    def test_groups(self):
        assert group_names(["a", "b", "c"], np.array([0, 1, 0])) == ["a +1", "b"]

    def test_spread_keeps_order_and_distance(self):
        places = spread([0.5, 0.51, 0.1, 0.52], 0.1, 0.0, 1.0)
        assert_array_equal(np.argsort(places), [2, 0, 1, 3])
        assert np.diff(np.sort(places)).min() >= 0.1 - 1e-12
        assert_allclose(places[2], 0.1)
        crowded = spread(np.zeros(30), 0.1, 0.0, 1.0)
        assert_allclose(np.sort(crowded), np.linspace(0, 1, 30))


class TestPath:
    def test_selected_lines_have_colours_and_names_and_end_where_they_die(self, fitted):
        model, _, _ = fitted
        display = PathDisplay.from_estimator(model, feature_names=list("abcdefgh"))
        texts = drawn(display)
        assert {"b", "e", "g"} <= set(texts)
        assert not set("acdfh") & set(texts)
        lines = [line for line in display.ax_.get_lines() if line.get_linewidth() == 1.8]
        assert len(lines) == 3
        ends = sorted(np.isfinite(line.get_ydata()).sum() for line in lines)
        assert ends == sorted((model.path_.magnitudes[:, [1, 4, 6]] > 0).sum(axis=0))
        chosen = [line for line in display.ax_.get_lines() if line.get_label() == "chosen λ"]
        assert chosen[0].get_xdata()[0] == model.lambda_

    @pytest.mark.slow
    def test_groups_share_a_line(self, fitted):
        _, X, y = fitted
        groups = [[0, 1], [2, 3], [4, 5], [6, 7]]
        model = FewVariablesRegressor(**EASY, feature_groups=groups, judge="network", random_state=0)
        display = PathDisplay.from_estimator(model.fit(X, y))
        assert display.norms.shape[1] == 4
        assert {"x0 +1", "x4 +1", "x6 +1"} <= set(drawn(display))

    def test_no_path(self):
        display = PathDisplay(np.zeros(0), np.zeros((0, 3)), np.zeros(3, bool)).plot()
        assert any("no path" in text for text in drawn(display))

    def test_nothing_selected(self):
        display = PathDisplay([1.0, 2.0, 4.0], [[3, 2], [2, 1], [0, 0]], [False, False]).plot()
        assert "variables, none of them selected" in drawn(display)

    @pytest.mark.parametrize("d", [1, 2, 200])
    def test_few_and_many(self, d):
        strengths = np.geomspace(1e-3, 1, 30)
        norms = np.maximum(0, np.linspace(1, 2, d) - strengths[:, None] * np.linspace(1, 50, d))
        names = [f"quantity {j}" for j in range(d)]
        display = PathDisplay(strengths, norms, np.arange(d) < 40, names=names, lambda_=0.1)
        texts = drawn(display.plot(max_labels=12))
        assert sum("quantity" in text for text in texts) == min(d, 12)


class TestSizes:
    def test_errors_of_the_model(self, fitted):
        model, _, _ = fitted
        display = SupportSizeDisplay.from_estimator(model)
        assert_array_equal(display.sizes, model.support_sizes_)
        assert_array_equal(display.errors, model.support_errors_)
        assert display.chosen == 3
        assert "chosen: 3" in drawn(display)
        assert display.ax_.get_yscale() == "log"
        assert display.ax_.get_ylabel().endswith("variance of the output)")

    def test_paper_has_bic_only(self):
        X, y = product_and_line(200, seed=100)
        model = AdaptiveGroupLassoRegressor(**LITERAL).fit(X, y)
        display = SupportSizeDisplay.from_estimator(model)
        assert display.errors is None
        assert display.chosen == model.support_.sum()
        assert display.bic.min() == model.path_.bic.min()
        assert "number of variables" in drawn(display)

    def test_paper_directions_have_bic_but_no_path_of_singular_values(self):
        X, y = product_and_line(200, seed=100)
        model = AdaptiveDirectionsRegressor(**LITERAL).fit(X, y)
        display = SupportSizeDisplay.from_estimator(model)
        assert display.chosen == model.path_.sizes[model.path_.best]
        assert "number of directions" in drawn(display)
        with pytest.raises(ValueError, match="SingularValuesDisplay needs a fitted model that has ranks_"):
            SingularValuesDisplay.from_estimator(model)

    def test_error_of_zero_is_drawn_on_a_plain_axis(self):
        assert SupportSizeDisplay([0, 1], [1.0, 0.0]).plot().ax_.get_yscale() == "linear"

    def test_bad_input(self):
        with pytest.raises(ValueError, match="Give either errors or bic"):
            SupportSizeDisplay([0, 1])
        with pytest.raises(ValueError, match=r"errors has shape \(3,\): give one value for each of 2"):
            SupportSizeDisplay([0, 1], [1, 2, 3])


class TestBars:
    def test_order_and_errors(self, fitted):
        model, _, _ = fitted
        display = ImportanceDisplay.from_estimator(model)
        widths = [bar.get_width() for bar in display.ax_.patches]
        assert widths == sorted(model.feature_importances_[model.support_], reverse=True)
        segments = display.ax_.collections[0].get_segments()
        order = np.flatnonzero(model.support_)[np.argsort(-model.feature_importances_[model.support_])]
        half = [(s[1, 0] - s[0, 0]) / 2 for s in segments]
        assert_allclose(half, model.feature_importances_se_[order])
        assert "variance of the output" in display.ax_.get_xlabel()

    def test_many(self):
        display = ImportanceDisplay(np.arange(1, 201), names=[f"name {j}" for j in range(200)]).plot(max_shown=15)
        texts = drawn(display)
        assert "the first 15 of 200" in texts
        assert "name 199" in texts

    def test_nothing(self):
        assert "no variable selected" in drawn(ImportanceDisplay(np.zeros(4)).plot())

    def test_frequencies(self):
        display = FrequencyDisplay([0.2, 1.0, 0.0, 1.0], [False, True, False, True]).plot()
        shades = [colors.to_hex(bar.get_facecolor()) for bar in display.ax_.patches]
        assert shades == [BLUE, BLUE, PALE]
        with pytest.raises(ValueError, match="FrequencyDisplay needs a fitted model that has selection_frequencies_"):
            FrequencyDisplay.from_estimator(FewVariablesRegressor())


class TestCurves:
    def test_error_is_the_difference(self, fitted):
        model, X, y = fitted
        display = CurveDisplay.from_estimator(model, X, y, t=0.5)
        measured, learned = display.ax_.get_lines()
        assert_array_equal(measured.get_ydata(), y)
        assert_array_equal(learned.get_ydata(), model.predict(X))
        assert_array_equal(display.error_ax_.get_lines()[0].get_ydata(), model.predict(X) - y)
        assert_array_equal(measured.get_xdata(), 0.5 * np.arange(len(y)))
        assert {"measured", "predicted", "time", "error"} <= set(drawn(display))

    def test_lines_break_between_runs(self):
        display = CurveDisplay.from_predictions(np.arange(6), np.ones(6), trajectory=list("aabbba"))
        assert [len(line.get_xdata()) for line in display.ax_.get_lines()[::2]] == [2, 3, 1]

    def test_dates(self):
        t = np.datetime64("2024-01-01") + np.arange(30).astype("timedelta64[D]")
        drawn(CurveDisplay.from_predictions(np.arange(30.0), np.zeros(30), t=t))

    def test_smoothed_model_smooths(self):
        class Smoothed(LinearRegression):
            smoothed_ = True

            def predict(self, X, t=None, trajectory=None):
                return np.full(len(X), float(t is not None))

        model = Smoothed()
        assert_array_equal(CurveDisplay.from_estimator(model, np.zeros((5, 1)), np.zeros(5), t=1.0).y_pred, 1)
        assert_array_equal(CurveDisplay.from_estimator(model, np.zeros((5, 1)), np.zeros(5)).y_pred, 0)

    def test_scatter_is_thinned(self):
        display = PredictionDisplay.from_predictions(np.arange(1000.0), np.arange(1000.0), max_points=100)
        assert len(display.ax_.get_lines()[0].get_xdata()) == 100
        drawn(display)

    def test_bad_input(self):
        with pytest.raises(ValueError, match=r"y_true has shape \(3, 2\)"):
            CurveDisplay(np.zeros((3, 2)), np.zeros((3, 2)))
        with pytest.raises(ValueError, match=r"t has shape \(2,\): give one value for each of the 3"):
            CurveDisplay(np.zeros(3), np.zeros(3), t=[1, 2])
        _, ax = pyplot.subplots()
        alone = ax.figure.add_axes((0.1, 0.1, 0.2, 0.2))
        with pytest.raises(ValueError, match="not part of a grid"):
            CurveDisplay(np.zeros(3), np.zeros(3)).plot(alone)


class TestDependence:
    def test_linear_model_gives_lines(self):
        rng = np.random.default_rng(101)
        X = rng.standard_normal((50, 3))
        model = LinearRegression().fit(X, X @ [1.0, -2.0, 0.0] + 5)
        first, second = partial_dependence(model, X, [0, 1])
        assert_allclose(np.diff(first.mean) / np.diff(first.grid), 1.0)
        assert_allclose(np.diff(second.curves, axis=1) / np.diff(second.grid), -2.0)
        varied = X.copy()
        varied[:, 0] = first.grid[7]
        assert_allclose(first.mean[7], model.predict(varied).mean())
        assert_allclose(first.grid[[0, -1]], np.percentile(X[:, 0], [1, 99]))

    def test_discrete_variable_keeps_its_values_and_rows_are_thinned(self):
        X = np.column_stack([np.arange(90) % 3, np.arange(90.0)])
        model = LinearRegression().fit(X, X[:, 0])
        (found,) = partial_dependence(model, X, [0], max_rows=20)
        assert_array_equal(found.grid, [0, 1, 2])
        assert found.curves.shape == (20, 3)

    def test_rows_of_a_periodic_signal_show_all_phases(self):
        rows = some_rows(1000, 100)
        assert len(set(rows)) == 100
        assert set(rows % 10) == set(range(10))
        assert_array_equal(rows, some_rows(1000, 100))
        assert_array_equal(some_rows(7, 100), np.arange(7))

    def test_frames_give_no_warning_and_outputs_are_told_apart(self, fitted):
        _, X, y = fitted
        frame = pd.DataFrame(X, columns=list("abcdefgh"))
        model = LinearRegression().fit(frame, np.column_stack([y, X[:, 0]]))
        (found,) = partial_dependence(model, frame, [0], output=1)
        assert_allclose(found.mean, found.grid, atol=1e-12)

    def test_panels_of_the_selected(self, fitted):
        model, X, _ = fitted
        display = DependenceDisplay.from_estimator(model, X)
        order = np.argsort(-model.feature_importances_)[:3]
        assert [ax.get_xlabel() for ax in display.axes_] == [f"x{j}" for j in order]
        drawn(display)
        assert len(DependenceDisplay.from_estimator(model, X, variables=[0, 1], max_panels=1).axes_) == 1
        assert "no variable selected" in drawn(DependenceDisplay([]).plot())


class TestDirections:
    strengths = np.geomspace(1e-3, 1, 20)
    values = np.maximum(0, np.array([3.0, 2.0, 1.0, 0.5]) - strengths[:, None] * np.array([1, 5, 20, 40]))

    @pytest.mark.slow
    def test_real_estimator(self, two_directions):
        model, X, y = two_directions
        assert model.n_directions_ == 2
        display = SingularValuesDisplay.from_estimator(model)
        assert_array_equal(np.isfinite(display.alive).sum(axis=1), model.path_.sizes)
        assert {"1st", "2nd", "chosen: 2 directions"} <= set(drawn(display))
        display = SupportSizeDisplay.from_estimator(model)
        assert_array_equal(display.errors, model.rank_errors_)
        assert {"chosen: 2", "number of directions"} <= set(drawn(display))
        display = ShadowDisplay.from_estimator(model, X, y)
        assert_array_equal(display.Z, model.transform(X))
        drawn(display)
        display = LoadingsDisplay.from_estimator(model, X)
        bars = [bar.get_width() for bar in display.axes_[0].patches]
        assert_allclose(bars, model.directions_[0] * X.std(axis=0))
        drawn(display)
        assert "2 directions" in drawn(FrequencyDisplay.from_estimator(model))
        with pytest.raises(ValueError, match="the path of FewDirectionsRegressor has none"):
            PathDisplay.from_estimator(model)

    def test_singular_values(self):
        display = SingularValuesDisplay(self.strengths, self.values, 2, lambda_=0.1).plot()
        texts = drawn(display)
        assert {"1st", "2nd", "chosen: 2 directions"} <= set(texts)
        assert "3rd" not in texts
        drawn(SingularValuesDisplay(self.strengths, self.values, 0).plot())
        assert any("no path" in text for text in drawn(SingularValuesDisplay([1.0], [[0.0]], 0).plot()))

    @pytest.mark.parametrize("k", [0, 1, 2, 3])
    def test_shadow(self, k):
        rng = np.random.default_rng(102)
        Z, y = rng.standard_normal((50, k)), rng.standard_normal(50)
        display = ShadowDisplay(Z, y, learned=y, name="$p$").plot(max_points=25)
        texts = drawn(display)
        assert ("no direction found" in texts) == (k == 0)
        if k == 1:
            assert len(display.ax_.get_lines()[0].get_xdata()) == 25
        if k > 1:
            assert_array_equal(display.ax_.collections[0].get_offsets(), Z[some_rows(50, 25), :2])

    def test_colours_of_a_shadow_are_vectors(self):
        # A raster image inside an SVG would be refused by the report's policy.
        Z = np.random.default_rng(104).standard_normal((40, 2))
        buffer = io.BytesIO()
        ShadowDisplay(Z, Z[:, 0]).plot().figure_.savefig(buffer, format="svg")
        assert b"<image" not in buffer.getvalue()

    @pytest.mark.parametrize(
        ("k", "text"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (21, "21st")]
    )
    def test_ordinals(self, k, text):
        assert ordinal(k) == text

    def test_loadings_are_per_standard_deviation(self):
        display = LoadingsDisplay([[1.0, -2.0, 3.0]], scale=[3.0, 2.0, 0.1], names=["a", "b", "c"]).plot(max_shown=2)
        assert [bar.get_width() for bar in display.axes_[0].patches] == [3.0, -4.0]
        assert "1 with smaller loadings left out" in drawn(display)
        assert "no direction found" in drawn(LoadingsDisplay(np.zeros((0, 3))).plot())
        with pytest.raises(ValueError, match=r"scale has shape \(2,\)"):
            LoadingsDisplay(np.ones((1, 3)), scale=[1, 2])

    def test_needs_directions(self, fitted):
        model, X, y = fitted
        with pytest.raises(ValueError, match="SingularValuesDisplay needs a fitted model that has ranks_"):
            SingularValuesDisplay.from_estimator(model)
        with pytest.raises(ValueError, match="ShadowDisplay needs"):
            ShadowDisplay.from_estimator(model, X, y)


class TestNetworkAndGraph:
    def test_living_and_dead(self, fitted):
        model, _, _ = fitted
        texts = drawn(NetworkDisplay.from_estimator(model, targets=["pressure"]))
        assert {"x1", "x4", "x6", "pressure", "3 of 8 inputs", "2 more, not selected"} <= set(texts)

    @pytest.mark.parametrize(("d", "live"), [(2, 2), (2, 0), (200, 30), (1, 1)])
    def test_few_and_many(self, d, live):
        texts = drawn(NetworkDisplay(np.arange(d) < live, (3, 50), targets=["u", "v"]).plot())
        assert {"3 units", "50 units", "u", "v", f"{live} of {d} inputs"} <= set(texts)
        assert ("17 more, selected" in texts) == (live == 30)

    def test_graph_against_the_truth(self):
        truth = np.eye(3, dtype=bool)
        graph = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 0]], bool)
        texts = drawn(GraphDisplay.from_predictions(truth, graph))
        assert {"right: 2", "wrong: 1", "missed: 1"} <= set(texts)
        drawn(GraphDisplay(np.eye(60)).plot())
        with pytest.raises(ValueError, match=r"graph has shape \(2, 3\): give a square matrix"):
            GraphDisplay(np.zeros((2, 3)))


@pytest.mark.filterwarnings("ignore:Glyph .* missing from")
@pytest.mark.filterwarnings("ignore:Matplotlib currently does not support")
class TestHostileNames:
    def displays(self):
        d = len(HOSTILE)
        strengths = np.geomspace(0.01, 1, 9)
        yield PathDisplay(strengths, np.outer(1 / strengths, np.arange(1, d + 1)), np.ones(d), names=HOSTILE)
        yield ImportanceDisplay(np.arange(1, d + 1), names=HOSTILE)
        yield FrequencyDisplay(np.full(d, 0.5), np.ones(d), names=HOSTILE)
        yield LoadingsDisplay(np.ones((2, d)), names=HOSTILE)
        yield NetworkDisplay(np.ones(d), (4,), names=HOSTILE, targets=HOSTILE[:2])
        yield GraphDisplay(np.eye(d), names=HOSTILE)

    @pytest.mark.slow
    def test_they_stand_for_themselves(self):
        for display in self.displays():
            texts = drawn(display.plot())
            assert not any("very long name very long" in text or "line\n" in text for text in texts)
            with matplotlib.rc_context({"svg.fonttype": "none"}):
                buffer = io.BytesIO()
                display.figure_.savefig(buffer, format="svg")
            svg = buffer.getvalue().decode()
            assert ">$x^2$ and $<" in svg, type(display).__name__
            assert "<script" not in svg

    @pytest.mark.slow
    def test_targets(self):
        for name in HOSTILE[:4]:
            drawn(PredictionDisplay([1.0, 2.0], [1.0, 2.0], name=name).plot())
            drawn(CurveDisplay([1.0, 2.0], [1.0, 2.0], name=name).plot())
            pyplot.close("all")


class TestForm:
    def test_given_axes_are_used(self, fitted):
        model, X, y = fitted
        figure, axes = pyplot.subplots(2, 3)
        displays = [
            PathDisplay.from_estimator(model, ax=axes[0, 0]),
            SupportSizeDisplay.from_estimator(model, ax=axes[0, 1]),
            ImportanceDisplay.from_estimator(model, ax=axes[0, 2]),
            CurveDisplay.from_estimator(model, X, y, ax=axes[1, 0]),
            DependenceDisplay.from_estimator(model, X, ax=axes[1, 1]),
            NetworkDisplay.from_estimator(model, ax=axes[1, 2]),
        ]
        assert pyplot.get_fignums() == [figure.number]
        assert all(display.figure_ is figure for display in displays)
        assert all(display.ax_.figure is figure for display in displays)

    @pytest.mark.parametrize("display", [PathDisplay, SupportSizeDisplay, ImportanceDisplay, NetworkDisplay])
    def test_unfitted(self, display):
        with pytest.raises(ValueError, match=f"{display.__name__} needs a fitted model"):
            display.from_estimator(FewVariablesRegressor())

    @pytest.mark.slow
    def test_matplotlib_is_imported_on_demand_and_missed_clearly(self):
        script = (
            "import sys, fewvars.displays as d\n"
            "assert 'matplotlib' not in sys.modules\n"
            "sys.modules['matplotlib'] = None\n"
            "try:\n    d.ImportanceDisplay([1.0]).plot()\n"
            "except ImportError as error:\n    print(error)"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
        assert done.stdout.strip() == "Plots need matplotlib: pip install 'fewvars[plot]'.", done.stderr
