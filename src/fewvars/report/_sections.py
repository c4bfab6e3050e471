"""The sections of a report that say what was found: the answer, the evidence, the function, the data."""

from typing import Any, cast

import numpy as np

from fewvars.displays.names import plain, short
from fewvars.engine.losses import SQUARED
from fewvars.estimators import FewDirectionsRegressor
from fewvars.estimators.summary import doubts
from fewvars.heads import head_types
from fewvars.report import _figures as figures
from fewvars.report._equation import equations, number
from fewvars.report._explorer import explorer
from fewvars.report._facts import Facts, listed
from fewvars.report._markup import Markup, join, tag
from fewvars.search.variables.evidence import WEAK

_MOST_NAMED, _MOST_ROWS, _MOST_TERMS = 12, 60, 60


def name_of(text: str, limit: int = 48, class_: str | None = None) -> Markup:
    """Return a name on its own, whatever its direction; long ones are cut and shown whole on hover."""
    shown = short(text, limit)
    return tag("bdi", shown, class_=class_, title=text[:1000] if shown != text else None)


def heading(facts: Facts) -> Markup:
    """Return the title and the answer in one sentence."""
    kicker = facts.title or "Functions of few variables"
    return tag("header", tag("p", tag("bdi", short(kicker, 160)), class_="kicker"), tag("h1", answer(facts)))


def answer(facts: Facts) -> Markup:
    """Return the answer in one sentence."""
    if facts.constant:
        return _constant_answer(facts)
    d = len(facts.names)
    output = _names_in_words([name_of(target) for target in facts.answers], 4)
    verb = "depends" if len(facts.answers) == 1 else "depend"
    if not facts.count:
        nothing = (
            f"No direction in the space of {_many(d, 'variable')}"
            if facts.by_directions
            else f"None of {_many(d, 'variable')}"
        )
        return join(
            nothing,
            " predicts ",
            output,
            " better than a constant." if facts.found.classes else " better than its mean.",
        )
    if facts.by_directions:
        found = "one direction" if facts.count == 1 else f"{facts.count} directions"
        return join(output, f" {verb} on {found} in the space of {_many(d, 'variable')}.")
    chosen = [name_of(facts.names[j], class_="variable") for j in facts.found.order]
    return join(output, f" {verb} on {facts.count} of {_many(d, 'variable')}: ", _names_in_words(chosen), ".")


def _constant_answer(facts: Facts) -> Markup:
    verb = "is" if len(facts.targets) == 1 else "are"
    output = _names_in_words([name_of(target) for target in facts.targets], 4)
    values = _names_in_words([number(value, 6) for value in facts.y[0]], 4)
    return join(output, f" {verb} ", values, f" in all {facts.n_samples} rows, so there is nothing to explain.")


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _names_in_words(names: list[Markup], most: int = _MOST_NAMED) -> Markup:
    """Return "a, b and c", or the first names "and 7 more"."""
    shown = names if len(names) <= most else [*names[:most], tag("span", f"{len(names) - most} more")]
    if len(shown) == 1:
        return shown[0]
    return join(*[join(name, ", ") for name in shown[:-2]], shown[-2], " and ", shown[-1])


def key_figures(facts: Facts) -> Markup:
    """Return the numbers to know first."""
    n_iter, found, seconds = facts.model.n_iter_, facts.found, facts.seconds
    path = f"λ = {found.lambda_:.3g} on the path, {_thousands(n_iter)} updates." if n_iter else ""
    rows: list[tuple[str, Any, str]] = [
        *([] if facts.constant else _errors(facts)),
        ("Samples", _thousands(facts.n_samples), _samples(facts)),
        ("Function", found.head.noun, f"{_capital(found.head.describe())}, fitted to all rows."),
        (
            "Smoothing in time",
            "yes" if found.smoothed else "no",
            f"The inputs were {'smoothed' if found.smoothed else 'used as measured'}.",
        ),
        ("Time of the fit", "–" if seconds is None else f"{seconds:.{1 if seconds < 100 else 0}f} s", path),
    ]
    cells = [
        tag("div", tag("dt", term), tag("dd", value, class_="value"), tag("dd", note, class_="note") if note else None)
        for term, value, note in rows
    ]
    return tag("dl", *cells, class_="facts")


def _errors(facts: Facts) -> list[tuple[str, Any, str]]:
    shown = "" if len(facts.y) == facts.n_samples else f" Computed on {_thousands(len(facts.y))} rows from the middle."
    expected = (
        "Error on new rows",
        number(facts.found.expected_error, 3) if np.isfinite(facts.found.expected_error) else "–",
        f"± {facts.found.expected_error_se:.2g}: the {facts.found.error_name.rstrip(',')} to expect.",
    )
    if facts.found.loss != SQUARED:
        return [expected]
    return [
        expected,
        (
            "Error on the data shown",
            number(facts.unexplained, 3) if np.isfinite(facts.unexplained) else "–",
            f"of the variance, including the noise of the output. It isn't a test error either.{shown}",
        ),
    ]


def _thousands(count: int) -> str:
    return f"{count:,}".replace(",", "\u202f")


def _samples(facts: Facts) -> str:
    if facts.trajectory is not None:
        return f"in {_many(len(np.unique(facts.trajectory)), 'run')}, in time order."
    return "in time order." if facts.times is not None else "without times."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def evidence(facts: Facts) -> Markup:
    """Return importances, sizes and the path."""
    found = explorer(facts)
    table = loadings_table(facts) if facts.by_directions else importance_table(facts)
    bars = figures.importances(facts) if facts.count and not facts.by_directions else None
    side = figures.sizes(facts) if _sizes_are_many(facts) else None
    parts = [
        tag("h2", "Why these" if facts.count else "What was tried"),
        tag(
            "div",
            tag("div", table, bars if side is not None else None),
            side if side is not None else bars,
            class_="pair",
        ),
    ]
    if found is not None:
        parts += [
            tag("h3", "Along the path"),
            tag(
                "p",
                f"The penalty λ grows from left to right until no {facts.found.kind} are left. Move the slider, or "
                "point at the figure.",
            ),
            tag("div", found[0], tag("div", found[1]), class_="pair explorer"),
        ]
    frequency = figures.frequencies(facts)
    if frequency is not None:
        parts += [tag("h3", "On resampled data"), tag("div", frequency, class_="pair")]
    return tag("section", *parts)


def _sizes_are_many(facts: Facts) -> bool:
    return len(facts.found.sizes) > 1


def importance_table(facts: Facts) -> Markup:
    """Return what each selected variable is worth."""
    if not facts.count:
        return tag("p", "No variable was selected, so there are no importances.")
    found, resampled, q_values = facts.found, facts.found.frequencies, facts.found.q_values
    evidence = list(zip(found.order, found.importances, found.importances_se, strict=True))
    rows = [
        tag(
            "tr",
            tag("th", name_of(facts.names[j]), _levels(facts, j), scope="row"),
            tag("td", number(importance, 3), class_="number"),
            tag("td", "± ", number(se, 2), class_="number"),
            None if q_values is None else tag("td", _sureness(q_values[j]), class_="number"),
            None if resampled is None else tag("td", f"{resampled[j]:.0%}", class_="number"),
        )
        for j, importance, se in evidence[:_MOST_ROWS]
    ]
    more = "" if facts.count <= _MOST_ROWS else f" Only the first {_MOST_ROWS} of {facts.count} are listed."
    head = tag(
        "tr",
        tag("th", "Variable", scope="col"),
        tag("th", "Importance", scope="col", class_="number"),
        tag("th", "Standard error", scope="col", class_="number"),
        None if q_values is None else tag("th", "q-value", scope="col", class_="number"),
        None if resampled is None else tag("th", "Selected in resamples", scope="col", class_="number"),
    )
    caption = (
        "Importance is the rise of the held-out error when the variable is left out and the function is fitted "
        f"again ({facts.found.error_unit}). The q-value is the smallest false discovery rate at which "
        f"the variable would be selected.{more}{_interactions(facts)}"
    )
    return tag("div", tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *rows)), class_="scroll")


def _levels(facts: Facts, j: int) -> Markup | None:
    """Return the levels of a category."""
    levels = {} if facts.found.encoding is None else facts.found.encoding.levels()
    if j not in levels:
        return None
    return tag("p", listed([short(level, 24) for level in levels[j]], 8), class_="soft")


def _sureness(q_value: float) -> str:
    return f"{q_value:.2g}" + (" (weak)" if q_value > WEAK else "")


def _interactions(facts: Facts) -> str:
    """Say which pairs of variables interact, or that none does."""
    if facts.found.additive:
        return " No two variables interact: the function is additive."
    shown = dict(zip(facts.found.inputs, facts.names, strict=True))
    pairs = [" and ".join(plain(shown.get(name, name)) for name in pair) for pair in facts.found.interactions]
    return f" The effects of these variables depend on each other: {listed(pairs, 8)}." if pairs else ""


def loadings_table(facts: Facts) -> Markup:
    """Return the singular values and the variables that weigh most in each direction."""
    if not facts.count:
        return tag("p", "No direction was found, so there are no loadings.")
    weights = cast(FewDirectionsRegressor, facts.model).directions_ * np.asarray(facts.X, float).std(axis=0)
    rows = []
    for k, direction in enumerate(weights):
        first = np.argsort(-np.abs(direction), kind="stable")[:4]
        names = [join(name_of(facts.names[j], 28), f" ({direction[j]:+.2g})".replace("-", "−")) for j in first]
        rows.append(
            tag(
                "tr",
                tag("th", tag("var", "z"), tag("sub", str(k)), scope="row"),
                tag("td", number(facts.found.importances[k], 3), class_="number"),
                tag("td", *[join(name, "" if name is names[-1] else ", ") for name in names]),
            )
        )
    head = tag(
        "tr",
        tag("th", "Direction", scope="col"),
        tag("th", "Strength", scope="col", class_="number"),
        tag("th", "Largest loadings", scope="col"),
    )
    caption = (
        "Strength is the root mean square of the derivative of the output along the direction, in standard "
        "deviations. Loadings are per standard deviation of the variable, so that units do not matter."
    )
    return tag("div", tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *rows)), class_="scroll")


def function(facts: Facts) -> Markup | None:
    """Return the equation if there is one, the heads that were compared, and what the function looks like."""
    if not facts.count:
        return None
    parts = [tag("h2", "The function"), *_equation(facts), _heads(facts)]
    if facts.by_directions:
        parts.append(tag("div", *figures.shadows(facts), figures.loadings(facts), class_="pair"))
    else:
        parts += figures.dependence(facts)
    return tag("section", *parts)


def _equation(facts: Facts) -> list[Markup]:
    head = facts.found.head
    if facts.by_directions:
        texts = [f"z{k}" for k in range(facts.count)]
        names = [join(tag("var", "z"), tag("sub", str(k))) for k in range(facts.count)]
    else:
        texts = facts.head_names
        names = [tag("var", name_of(text, 32)) for text in texts]
    lines, polynomial = head.text(texts, digits=6), head.as_polynomial()
    if lines is None:
        return [
            tag("p", f"The function is {head.describe()}: there is no equation to print. Use predict and gradient.")
        ]
    copy = tag("details", tag("summary", "As plain text"), tag("pre", tag("code", "\n".join(lines))))
    if polynomial is None:
        return [copy]
    shown = equations(polynomial, names, facts.found.equation_names(facts.answers))
    n_terms = len(polynomial.exponents)
    if n_terms > _MOST_TERMS:
        summary = f"The polynomial has {n_terms} terms: show them"
        return [tag("details", tag("summary", summary), *shown), copy]
    return [*shown, copy]


def _heads(facts: Facts) -> Markup | None:
    errors, chosen = facts.found.head_errors, facts.found.head.name
    if len(errors) < 2:
        return None
    rows = [
        tag(
            "tr",
            tag("th", head_types()[kind].noun, " (chosen)" if kind == chosen else "", scope="row"),
            tag("td", number(error, 3), class_="number"),
            class_=None if kind == chosen else "quiet",
        )
        for kind, error in sorted(errors.items(), key=lambda item: item[1])
    ]
    head = tag(
        "tr", tag("th", "Kind of function", scope="col"), tag("th", "Held-out error", scope="col", class_="number")
    )
    caption = "Functions of these variables, compared on held-out blocks. In a tie we choose the simpler one."
    return tag("div", tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *rows)), class_="pair")


def agreement(facts: Facts) -> Markup:
    """Return how well the learned function follows the data."""
    parts = [tag("h2", "Against the data"), *figures.curves(facts)]
    small = figures.agreement(facts)
    if not facts.by_directions:
        small.append(figures.network(facts))
    left_out = len(facts.targets) - len(small) + (not facts.by_directions)
    note = tag("p", f"{left_out} more outputs are not drawn.", class_="soft") if left_out > 0 else None
    return tag("section", *parts, tag("div", *small, class_="pair"), note)


def caveats(facts: Facts) -> Markup:
    """Return what the numbers do not say."""
    notes = [
        *facts.found.notes,
        *doubts([(facts.names[j], q_value) for j, q_value in facts.found.near_misses], facts.found.stand_ins),
        "Other held-out errors on this page were used to choose the model, and are smaller than those on new rows.",
        "If two variables are equal, the first is selected. If they are strongly correlated, either may be.",
        "The report says what the output depends on in these data. A variable that hardly varies in them cannot be "
        "found, and a variable that predicts the output need not be its cause.",
    ]
    if facts.by_directions:
        notes[-2] = "The space that the directions span is what is found. Other axes would describe it equally well."
    asked = facts.model.get_params()[f"n_{facts.found.kind}"]
    if asked is not None:
        notes.insert(0, f"The number of {facts.found.kind}, {asked}, was given and not found from the data.")
    return tag("section", tag("h2", "How to read this"), tag("ul", *[tag("li", n) for n in notes], class_="notes"))
