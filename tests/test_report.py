"""The report: it says what was found, nothing in it can be made to run, and a real browser shows it whole."""

import base64
import hashlib
import re
import shutil
import warnings
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from fewvars import DynamicsRegressor, FewDirectionsRegressor, FewVariablesRegressor
from fewvars.paper import AdaptiveDirectionsRegressor
from fewvars.polynomials.polynomial import Polynomial
from fewvars.report import dynamics_report_html, report_html, write_report
from fewvars.report._equation import equations
from fewvars.report._explorer import Line
from fewvars.report._markup import data_block, escape, tag
from fewvars.systems import LotkaVolterra, simulate
from problems import EASY, product_and_line

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "a&b \"q\" 'p' `c`",
    "$x^2$ $",
    "\u6e29\u5ea6" * 30,
    "line\nbreak\x00\x07\x9f\ud800\uffff",
    "\u202e\u05e9\u05dc\u05d5\u05dd ]]>",
    "long_" * 200,
]


@pytest.fixture(scope="session")
def fitted(three_variables):
    return three_variables


@pytest.fixture(scope="module")
def timed_html(fitted):
    model, X, y = fitted
    return report_html(
        model, X, y, t=0.1, title="A title", target_name="flux", feature_names=list("abcdefgh"), seconds=12.3
    )


@pytest.fixture(scope="module")
def hostile_html(fitted):
    model, X, y = fitted
    return report_html(
        model, X, y, t=0.1, title=HOSTILE[0], target_name=HOSTILE[1], feature_names=HOSTILE, command=HOSTILE[0]
    )


@pytest.fixture(scope="module")
def directions_html(two_directions):
    model, X, y = two_directions
    return report_html(model, X, y, feature_names=["a", *HOSTILE[:4]], t=1.0)


class Elements(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.text = [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))
        self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.elements.append((name, dict(attributes)))

    def handle_endtag(self, name):
        while self.open and self.open.pop() != name:
            pass

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.text += data


def text_of(html):
    return " ".join(Elements(html).text.split())


def test_equations_as_mathematics():
    exponents, coefficients = [[0, 0], [1, 0], [2, 1]], [[3.0, 0.0], [1.5e-7, -1.0], [-2.0, 0.25]]
    polynomial = Polynomial(np.array(exponents), np.array(coefficients))
    one, two = equations(polynomial, [tag("var", "a"), tag("var", "b")], ["y", "z"])
    thin = "\u2009"
    assert text_of(one) == f"y = −2{thin}a2 b + 1.5{thin}×{thin}10−7{thin}a + 3".replace(thin, " ")
    assert text_of(two) == f"z = 0.25{thin}a2 b − 1{thin}a".replace(thin, " ")


class TestMarkup:
    def test_text_is_escaped_once_and_markup_stays(self):
        inner = tag("b", "<&\"'")
        assert inner == "<b>&lt;&amp;&quot;&#x27;</b>"
        assert tag("p", inner, class_="a", title='"', hidden=None) == f'<p class="a" title="&quot;">{inner}</p>'

    def test_characters_that_html_cannot_hold(self):
        assert escape("a\x00b\ud800c\nd\te") == "a\ufffdb\ufffdc\nd\te"

    def test_no_text_leaves_a_data_block(self):
        block = data_block({"name": "</script><!--&"}, "data")
        assert block.count("<") == 2
        assert "&" not in block


class TestContent:
    def test_the_answer_comes_first(self, fitted, timed_html):
        text = text_of(timed_html)
        assert f"Error on new rows{fitted[0].expected_error_:.3g}± {fitted[0].expected_error_se_:.2g}" in text
        assert re.search(r"A title ?flux depends on 3 of 8 variables: [beg], [beg] and [beg]\.", text)
        assert "12.3 s" in text

    def test_importances_with_standard_errors(self, fitted, timed_html):
        model, _, _ = fitted
        text = text_of(timed_html)
        for j, name in ((1, "b"), (4, "e"), (6, "g")):
            rise, spread = model.feature_importances_[j], model.feature_importances_se_[j]
            assert f"{name}{rise:.3g}± {spread:.2g}" in text

    def test_equation_and_reproduction(self, timed_html):
        text = text_of(timed_html)
        assert re.search(r"flux = (1\.0\d*|0\.99\d*)\s?b e \+ 0\.(49|50)\d*\s?g ", text)
        assert "model = fv.FewVariablesRegressor(" in text
        assert "head='dictionary'" in text
        assert "random_state=0" in text
        assert "model.fit(X, y, t=t)" in text
        assert "numpy" in text

    @pytest.mark.slow
    def test_same_arguments_same_text(self, fitted, hostile_html):
        model, X, y = fitted
        again = report_html(
            model, X, y, t=0.1, title=HOSTILE[0], target_name=HOSTILE[1], feature_names=HOSTILE, command=HOSTILE[0]
        )
        assert again == hostile_html

    def test_nothing_selected(self):
        rng = np.random.default_rng(3)
        X, y = rng.standard_normal((200, 6)), rng.standard_normal(200)
        with pytest.warns(UserWarning, match="nothing was selected"):
            model = FewVariablesRegressor(**EASY, random_state=0).fit(X, y)
        text = text_of(report_html(model, X, y))
        assert "None of 6 variables predicts y better than its mean." in text
        assert "mean of the output" in text

    @pytest.mark.parametrize("estimator", [FewVariablesRegressor, FewDirectionsRegressor])
    def test_constant_output_leaves_nothing_to_explain(self, estimator):
        X, _ = product_and_line(60)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model = estimator().fit(X, np.full(60, 3.0))
        html = report_html(model, X, np.full(60, 3.0))
        assert not {"path-data", "network"} & {attributes.get("id") for _, attributes in Elements(html).elements}
        text = text_of(html)
        assert "y is 3 in all 60 rows, so there is nothing to explain." in text
        assert "Held-out error" not in text
        assert "0 updates" not in text
        assert "random_state was not set" in text

    @pytest.mark.slow
    def test_outputs_and_runs(self):
        X, y = product_and_line(240, seed=100)
        Y = pd.DataFrame({"mass": y, "heat": X[:, 0]})
        model = FewVariablesRegressor(**EASY, head="dictionary", n_resamples=1, random_state=0).fit(X, Y)
        runs = np.repeat(["first", "second"], 120)
        html = report_html(model, X, Y, t=np.tile(np.arange(120.0), 2), trajectory=runs)
        text = text_of(html)
        assert "mass and heat depend on 4 of 8 variables" in text
        assert "in 2 runs" in text
        assert "Selected in resamples" in text
        assert "120 consecutive rows of one run from the middle of 240" in text
        assert {"curve-0", "curve-1"} <= {attributes.get("id") for _, attributes in Elements(html).elements}

    @pytest.mark.slow
    def test_network_head(self):
        X, y = product_and_line(120, seed=100)
        model = FewVariablesRegressor(**EASY, head="network", n_variables=2, random_state=0).fit(X[:, :5], y)
        text = text_of(report_html(model, X[:, :5], y))
        assert "there is no equation" in text
        assert "The number of variables, 2, was given" in text

    def test_directions(self, directions_html):
        text = text_of(directions_html)
        assert "y depends on 2 directions in the space of 5 variables." in text
        assert re.search(r"y = .*z0", text)
        ids = {attributes.get("id") for _, attributes in Elements(directions_html).elements}
        assert {"sizes", "path", "shadow-0", "loadings", "curve-0", "path-slider"} <= ids

    def test_no_direction(self):
        rng = np.random.default_rng(3)
        X, y = rng.standard_normal((100, 4)), rng.standard_normal(100)
        model = FewDirectionsRegressor(n_directions=0, random_state=0).fit(X, y)
        text = text_of(report_html(model, X, y))
        assert "No direction in the space of 4 variables predicts y better than its mean." in text

    @pytest.mark.slow
    def test_names_of_frames(self, fitted):
        model, X, y = fitted
        frame = pd.DataFrame(X, columns=[f"col {j}" for j in range(8)])
        text = text_of(report_html(model, frame, pd.Series(y, name="flow"), feature_names=list(frame)))
        assert "flow depends on 3 of 8" in text
        assert "col 1" in text

    @pytest.mark.slow
    def test_many_rows_are_thinned_and_it_says_so(self, fitted):
        model, X, y = fitted
        many = 200
        html = report_html(model, np.tile(X, (many, 1)), np.tile(y, many), t=np.arange(300.0 * many))
        text = text_of(html)
        assert "1000 consecutive rows from the middle of 60000" in text
        assert "1000 of 60000 rows, chosen at random" in text
        assert "on 20 000 rows from the middle" in text
        assert len(html) < 800_000

    @pytest.mark.slow
    def test_file_is_written_whole_or_not_at_all(self, fitted, tmp_path):
        model, X, y = fitted
        path = tmp_path / "report.html"
        path.write_text("before")
        with pytest.raises(ValueError, match="X has 300 rows and y has 4"):
            write_report(path, model, X, y[:4])
        assert path.read_text() == "before"
        write_report(path, model, X, y)
        assert path.read_bytes().startswith(b"<!DOCTYPE html>")
        assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
        assert "Written 20" in text_of(path.read_text("utf-8"))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"feature_names": ["a"]}, "feature_names has 1 names: give one for each of the 8"),
            ({"target_name": ["a", "b"]}, "target_name has 2 names: give one for each of the 1"),
            ({"t": np.arange(3.0)}, "t has 3 rows and y has 300"),
            ({"y": np.full(300, np.nan)}, "y holds values that are not finite"),
            ({"y": np.zeros((300, 2))}, "the model predicts 1 outputs"),
        ],
    )
    def test_bad_input(self, fitted, change, message):
        model, X, y = fitted
        with pytest.raises(ValueError, match=message):
            report_html(model, X, **{"y": y, **change})

    def test_other_models(self, fitted):
        _, X, y = fitted
        with pytest.raises(NotFittedError):
            report_html(FewVariablesRegressor(), X, y)
        with pytest.raises(ValueError, match="model is a LinearRegression: a report needs"):
            report_html(LinearRegression().fit(X, y), X, y)
        quick = {"hidden_layer_sizes": (4, 4, 4), "n_first": 20, "n_second": 10, "n_strengths": 2}
        with pytest.raises(ValueError, match="model is a AdaptiveDirectionsRegressor: a report needs"):
            report_html(AdaptiveDirectionsRegressor(**quick, random_state=0).fit(X, y), X, y)


class TestExplorer:
    def test_a_line_that_comes_back_is_alive_again(self):
        line = Line("x", [0, 3, 5, 6], True)
        assert [line.alive(step) for step in range(8)] == [True, True, True, False, False, True, False, False]


class TestSafety:
    def test_hostile_names_are_text(self, hostile_html):
        page = Elements(hostile_html)
        scripts = [attributes for name, attributes in page.elements if name == "script"]
        assert scripts == [{"type": "application/json", "id": "path-data"}, {}]
        assert not [name for name, _ in page.elements if name in ("img", "iframe", "object", "embed", "link", "base")]
        for _, attributes in page.elements:
            assert not [key for key in attributes if key.startswith("on") or key in ("style", "src", "srcdoc")]
            assert attributes.get("href", "#").startswith("#")
        assert HOSTILE[1] in page.text
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202e]", hostile_html)
        hostile_html.encode()

    def test_policy_allows_these_two_hashes_only(self, timed_html):
        page = Elements(timed_html)
        (policy,) = [a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"]
        assert re.fullmatch(
            r"default-src 'none'; style-src 'sha256-[\w+/=]+'; script-src 'sha256-[\w+/=]+'; base-uri 'none'; "
            r"form-action 'none'",
            policy,
        )
        for kind in ("style", "script"):
            content = re.findall(rf"<{kind}>(.*?)</{kind}>", timed_html, re.DOTALL)[-1]
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            assert f"{kind}-src 'sha256-{digest}'" in policy

    def test_figures_and_tables_are_described(self, timed_html):
        elements = Elements(timed_html).elements
        figures = [attributes for name, attributes in elements if name == "svg"]
        assert figures
        assert all(attributes["role"] == "img" and attributes["aria-label"] for attributes in figures)
        assert all(attributes.get("scope") in ("row", "col") for name, attributes in elements if name == "th")
        assert ("html", {"lang": "en"}) in elements
        ids = [attributes["id"] for _, attributes in elements if "id" in attributes]
        assert len(ids) == len(set(ids))


# ---- in a real browser ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None:
        pytest.skip("no Chromium on this machine")
    with api.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def visit(browser, tmp_path):
    """Return a function that opens a page from a file; in the end nothing must have gone wrong in any."""
    contexts, troubles = [], []

    def open_page(html, width=1280, scheme="light", forgive=False):
        path = tmp_path / "report.html"
        path.write_bytes(html.encode())
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.troubles = found = [] if forgive else troubles
        page.on("console", lambda message: found.append(message.text))
        page.on("pageerror", lambda error: found.append(str(error)))
        page.on("dialog", lambda dialog: (found.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: None if request.url == path.as_uri() else found.append(request.url))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


def alive(page):
    return page.locator("#path-alive li").all_inner_texts()


@pytest.fixture(scope="module")
def system_html():
    t = np.arange(0, 20, 0.05)
    X = simulate(LotkaVolterra([[0.0, -1.0], [1.0, 0.0]], [1.0, -1.0]), t)
    model = DynamicsRegressor(random_state=0).fit(X, t=t)
    return dynamics_report_html(model, X, t=t, feature_names=HOSTILE[:1] + HOSTILE[-1:])


@pytest.mark.slow  # a browser has to start
class TestBrowser:
    @pytest.mark.parametrize("width", [1280, 400])
    def test_layout_of_a_system(self, visit, system_html, width):
        page = visit(system_html, width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        widths = page.locator("figure svg").evaluate_all("list => list.map(s => s.getBoundingClientRect().width)")
        assert sum(shown > 300 for shown in widths) == 3

    def test_what_the_policy_forbids_would_be_noticed(self, visit, timed_html):
        spoiled = timed_html.replace("<main>", '<main style="color: red"><img src="https://example.org/x.png">')
        page = visit(spoiled, forgive=True)
        assert sum("Content Security Policy" in trouble for trouble in page.troubles) >= 2

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("width", [1280, 400])
    def test_layout(self, visit, timed_html, hostile_html, directions_html, width, scheme):
        for html in (timed_html, hostile_html, directions_html):
            page = visit(html, width, scheme)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            boxes = page.locator("figure").evaluate_all(
                "list => list.map(f => [...f.querySelectorAll('svg')].map(s => s.getBoundingClientRect())"
                ".filter(b => b.width > 0).map(b => [b.left, b.right, b.height]))"
            )
            assert len(boxes) >= 6
            for shown in boxes:
                assert len(shown) == 1  # of the two drawings of a wide figure, one
                left, right, height = shown[0]
                assert left >= 0
                assert right <= width
                assert right - left > 300
                assert height > 80
            background = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 27)"}[scheme]

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_contrast_of_texts(self, visit, timed_html, scheme):
        page = visit(timed_html, scheme=scheme)
        pairs = page.evaluate(
            """() => ["h1", "h1 bdi.variable", ".kicker", ".facts dt", ".facts dd.note", "figcaption", "caption",
                      "tbody th", ".alive li.selected", "summary", "pre", "footer", "svg text"].map((selector) => {
                const node = document.querySelector(selector);
                let under = node;
                const clear = (n) => getComputedStyle(n).backgroundColor === "rgba(0, 0, 0, 0)";
                while (clear(under)) under = under.parentElement;
                const style = getComputedStyle(node);
                const colour = node.closest("svg") ? style.fill : style.color;
                return [selector, colour, getComputedStyle(under).backgroundColor];
            })"""
        )
        for selector, text, under in pairs:
            assert contrast(text, under) >= 4.5, selector

    def test_slider_by_keyboard(self, visit, timed_html):
        page = visit(timed_html)
        slider = page.locator("#path-slider")
        assert sorted(alive(page)) == ["b", "e", "g"]
        slider.focus()
        page.keyboard.press("Home")
        assert sorted(alive(page)) == list("abcdefgh")
        assert "8 of 8 variables are left" in page.locator("#path-reading").inner_text()
        assert "8 of 8" in slider.get_attribute("aria-valuetext")
        page.keyboard.press("End")
        assert alive(page) == []
        assert "none of 8" in page.locator("#path-reading").inner_text()

    def test_pointer_over_the_path(self, visit, timed_html):
        page = visit(timed_html)
        page.locator("#path svg").scroll_into_view_if_needed()
        box = page.locator("#path svg").bounding_box()
        before = page.locator("#path .cursor").get_attribute("x1")
        page.mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 0.5 * box["height"])
        assert len(alive(page)) == 8
        x = float(page.locator("#path .cursor").get_attribute("x1"))
        assert x < float(before)
        assert abs(x / 360 - 0.2) < 0.05

    def test_slider_is_under_the_axis(self, visit, timed_html):
        page = visit(timed_html)
        page.locator("#path-slider").focus()
        page.keyboard.press("Home")
        cursor = page.locator("#path .cursor").bounding_box()
        slider = page.locator("#path-slider").bounding_box()
        assert abs(slider["x"] + 8 - cursor["x"]) < 3

    def test_hostile_names_do_nothing(self, visit, hostile_html):
        page = visit(hostile_html)
        page.locator("#path-slider").focus()
        for key in ("Home", "End", "Home"):
            page.keyboard.press(key)
        names = alive(page)
        assert len(names) == 8
        assert HOSTILE[0] in names
        assert "$x^2$ $" in names
        assert page.locator("img").count() == 0
        assert "$x^2$ $" in page.locator("#network svg text").all_text_contents()

    def test_without_script(self, browser, timed_html, tmp_path):
        path = tmp_path / "report.html"
        path.write_text(timed_html, "utf-8")
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(path.as_uri())
        assert sorted(alive(page)) == ["b", "e", "g"]
        assert not page.locator("#path-slider").is_visible()
        context.close()

    def test_print(self, visit, timed_html):
        page = visit(timed_html, scheme="dark")
        page.emulate_media(media="print", color_scheme="dark")
        assert not page.locator("#path-slider").is_visible()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert len(page.pdf()) > 10_000


def contrast(first, second):
    """Return the ratio of luminances of two CSS colours, as WCAG defines it."""

    def luminance(colour):
        channels = np.array([float(value) for value in re.findall(r"[\d.]+", colour)[:3]]) / 255
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722] + 0.05

    high, low = sorted([luminance(first), luminance(second)], reverse=True)
    return high / low
