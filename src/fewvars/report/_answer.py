"""The top of a report: the answer in one sentence, and the numbers to know first."""

from typing import Any

import numpy as np

from fewvars._common.wording import counted
from fewvars.displays.names import short
from fewvars.engine.losses import SQUARED
from fewvars.report._equation import number
from fewvars.report._facts import Facts, listed
from fewvars.report._markup import Markup, join, name_of, tag

_MOST_NAMED = 12


def heading(facts: Facts) -> Markup:
    """Return the title and the answer in one sentence."""
    kicker = facts.title or "Functions of few variables"
    return tag("header", tag("p", tag("bdi", short(kicker, 160)), class_="kicker"), tag("h1", answer(facts)))


def answer(facts: Facts) -> Markup:
    """Return the answer in one sentence."""
    if facts.constant:
        return _constant_answer(facts)
    d = len(facts.names)
    output = Markup(listed([name_of(target) for target in facts.answers], 4))
    verb = "depends" if len(facts.answers) == 1 else "depend"
    if not facts.count:
        nothing = (
            f"No direction in the space of {counted(d, 'variable')}"
            if facts.by_directions
            else f"None of {counted(d, 'variable')}"
        )
        return join(
            nothing,
            " predicts ",
            output,
            " better than a constant." if facts.found.classes else " better than its mean.",
        )
    if facts.by_directions:
        found = "one direction" if facts.count == 1 else f"{facts.count} directions"
        return join(output, f" {verb} on {found} in the space of {counted(d, 'variable')}.")
    chosen = listed([name_of(facts.names[j], class_="variable") for j in facts.found.order], _MOST_NAMED)
    return join(output, f" {verb} on {facts.count} of {counted(d, 'variable')}: ", Markup(chosen), ".")


def _constant_answer(facts: Facts) -> Markup:
    verb = "is" if len(facts.targets) == 1 else "are"
    output = Markup(listed([name_of(target) for target in facts.targets], 4))
    values = Markup(listed([number(value, 6) for value in facts.y[0]], 4))
    return join(output, f" {verb} ", values, f" in all {facts.n_samples} rows, so there is nothing to explain.")


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
    null_error = facts.found.null_error
    without = "" if null_error is None else f"; it is {null_error:.3g} if no variable is used"
    expected = (
        "Error on new rows",
        number(facts.found.expected_error, 3) if np.isfinite(facts.found.expected_error) else "–",
        f"± {facts.found.expected_error_se:.2g}: the {facts.found.loss.error_name.rstrip(',')} to expect{without}.",
    )
    if facts.found.loss != SQUARED:
        return [expected]
    return [
        expected,
        (
            "Error on the data shown",
            number(facts.unexplained, 3) if np.isfinite(facts.unexplained) else "–",
            f"of the variance, including the noise of the output. It isn't a test error.{shown}",
        ),
    ]


def _thousands(count: int) -> str:
    return f"{count:,}".replace(",", "\u202f")


def _samples(facts: Facts) -> str:
    if facts.trajectory is not None:
        return f"in {counted(len(np.unique(facts.trajectory)), 'run')}, in time order."
    return "in time order." if facts.times is not None else "without times."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
