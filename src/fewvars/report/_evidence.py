"""The evidence in a report: the importance of each variable or direction, the sizes that were tried, and the path."""

from typing import cast

import numpy as np

from fewvars.displays.names import plain, short
from fewvars.estimators import FewDirectionsRegressor
from fewvars.report import _figures as figures
from fewvars.report._equation import number
from fewvars.report._explorer import explorer
from fewvars.report._facts import Facts, listed
from fewvars.report._markup import Markup, column, join, name_of, table, tag
from fewvars.search.variables.evidence import WEAK

_MOST_ROWS = 60


def evidence(facts: Facts) -> Markup:
    """Return importances, sizes and the path."""
    found = explorer(facts)
    weights = loadings_table(facts) if facts.by_directions else importance_table(facts)
    bars = figures.importances(facts) if facts.count and not facts.by_directions else None
    side = figures.sizes(facts) if len(facts.found.sizes) > 1 else None
    parts = [
        tag("h2", "Why these" if facts.count else "What was tried"),
        tag(
            "div",
            tag("div", weights, bars if side is not None else None),
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


def importance_table(facts: Facts) -> Markup:
    """Return the table of importances of the selected variables."""
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
            None if q_values is None else tag("td", _q_value_text(q_values[j]), class_="number"),
            None if resampled is None else tag("td", f"{resampled[j]:.0%}", class_="number"),
        )
        for j, importance, se in evidence[:_MOST_ROWS]
    ]
    more = "" if facts.count <= _MOST_ROWS else f" Only the first {_MOST_ROWS} of {facts.count} are listed."
    head = [
        column("Variable"),
        column("Importance", "number"),
        column("Standard error", "number"),
        None if q_values is None else column("q-value", "number"),
        None if resampled is None else column("Selected in resamples", "number"),
    ]
    caption = (
        "Importance is the rise of the held-out error when the variable is left out and the function is fitted "
        f"again ({facts.found.error_unit}). The q-value is the smallest false discovery rate at which "
        f"the variable would be selected.{more}{_interactions(facts)}"
    )
    return table(caption, head, rows)


def _levels(facts: Facts, j: int) -> Markup | None:
    """Return the levels of a category."""
    levels = {} if facts.found.encoding is None else facts.found.encoding.levels()
    if j not in levels:
        return None
    return tag("p", listed([short(level, 24) for level in levels[j]], 8), class_="soft")


def _q_value_text(q_value: float) -> str:
    return f"{q_value:.2g}" + (" (weak)" if q_value > WEAK else "")


def _interactions(facts: Facts) -> str:
    """Say which pairs of variables interact, or that none does."""
    if facts.found.additive:
        return " No two variables interact: the function is additive."
    shown = dict(zip(facts.found.inputs, facts.names, strict=True))
    pairs = [" and ".join(plain(shown.get(name, name)) for name in pair) for pair in facts.found.interactions]
    return f" The effects of these variables depend on each other: {listed(pairs, 8)}." if pairs else ""


def loadings_table(facts: Facts) -> Markup:
    """Return the singular values, and the variables with the largest loadings in each direction."""
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
    head = [column("Direction"), column("Strength", "number"), column("Largest loadings")]
    caption = (
        "Strength is the root mean square of the derivative of the output along the direction, in standard "
        "deviations. Loadings are per standard deviation of the variable, so that units do not matter."
    )
    return table(caption, head, rows)
