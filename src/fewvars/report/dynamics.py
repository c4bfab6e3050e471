"""The report about a whole system: its graph, each equation with its evidence, and a simulation beside the data."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date as calendar
from functools import cached_property
from typing import Any

import numpy as np

from fewvars._common.atomic import write_atomically
from fewvars._common.optional import require_matplotlib
from fewvars._common.wording import counted
from fewvars.displays import DiagramDisplay, GraphDisplay, SimulationDisplay
from fewvars.displays.names import names_of, plain, short
from fewvars.heads import head_types
from fewvars.report._equation import equations
from fewvars.report._figures import full, half
from fewvars.report._markup import Markup, column, join, table, tag
from fewvars.report._page import page
from fewvars.report._reproduction import footer
from fewvars.report._svg import drawing

_MOST_CELLS, _MOST_EQUATIONS = 16, 60


def write_dynamics_report(path: str | os.PathLike[str], model: Any, X: Any, **about: Any) -> None:
    """Write a report about a fitted `DynamicsRegressor` to an HTML file, whole or not at all.

    Parameters
    ----------
    path : path of the file
    model : fitted DynamicsRegressor
    X : (n, d)
        The trajectories to show it on, usually those that it was fitted to.
    **about
        As for `dynamics_report_html`.
    """
    write_atomically(path, dynamics_report_html(model, X, date=calendar.today().isoformat(), **about))


def dynamics_report_html(
    model: Any,
    X: Any,
    *,
    t: Any = None,
    trajectory: Any = None,
    u: Any = None,
    title: str | None = None,
    feature_names: Sequence[str] | None = None,
    command: str | None = None,
    date: str | None = None,
) -> str:
    """Return the report as text; the same arguments give the same text.

    Parameters
    ----------
    model : fitted DynamicsRegressor
    X : (n, d)
    t, trajectory, u : as given to `fit`
    title : str, optional
    feature_names : sequence of d str, optional
    command : str, optional
        Command that made the report.
    date : str, optional
        When it was written, as in 2025-12-31.
    """
    require_matplotlib("A report needs")
    system = _System(model, names_of(model, feature_names))
    title = title or "Which variables depend on which"
    with drawing():
        parts = [
            tag("header", tag("p", tag("bdi", short(title, 160)), class_="kicker"), tag("h1", system.answer)),
            _graph(system),
            _equations(system),
            _simulation(system, np.asarray(X, float), t, trajectory, u),
            _caveats(),
            _reproduction(model, {"t": t, "trajectory": trajectory, "u": u}, command),
            footer(date),
        ]
    return page(title, tag("main", *parts))


@dataclass(frozen=True, eq=False)
class _System:
    """A fitted model and the names of its variables."""

    model: Any
    names: list[str]

    @cached_property
    def inputs(self) -> list[str]:
        """Names of the inputs of the equations: those of the model, or with the given names of the variables."""
        own = dict(zip(self.model._columns.variables, self.names, strict=True))
        return [own.get(name, plain(name)) for name in self.model.inputs_]

    @property
    def left(self) -> str:
        """The left side of an equation, with braces in place of its variable."""
        if self.model.form == "step":
            return "{}(next) − {}"
        return "d{}/dt" if self.model.order == 1 else "d²{}/dt²"

    def left_side(self, i: int) -> str:
        """Return the left side of an equation as text."""
        return self.left.replace("{}", short(self.names[i], 40))

    @property
    def answer(self) -> str:
        """The answer in one sentence."""
        edges, d = int(self.model.input_graph_.sum()), len(self.names)
        verb = "depends" if d == 1 else "depend"
        return f"{counted(d, 'equation')} {verb} on {edges} of {self.model.input_graph_.size} possible inputs."


def _graph(system: _System) -> Markup:
    model = system.model
    meaning = "An arrow from one variable to another says that the change of the second depends on the first"
    parts = [
        tag("h2", "The graph"),
        tag(
            "div",
            half(
                "diagram",
                DiagramDisplay(model.graph_, names=system.names).plot,
                f"{meaning}; a ring, that it depends on the variable itself.",
                "The variables on a circle with an arrow for each dependence, as in the matrix.",
                height=4.6,
            ),
            half(
                "matrix",
                GraphDisplay(model.graph_, names=system.names).plot,
                "The same as a matrix: a square in a row says what the change of that variable depends on.",
                "A matrix with a square for each dependence.",
                height=4.6,
            ),
            class_="pair",
        ),
    ]
    if model.input_graph_.size <= _MOST_CELLS**2:
        parts.append(_q_values(system))
    return tag("section", *parts)


def _q_values(system: _System) -> Markup:
    """Return the matrix of q-values; those of the graph are bold."""
    model = system.model
    head = [tag("td"), *(column(tag("bdi", short(name, 14))) for name in system.inputs)]
    rows = []
    for i, (chosen, values) in enumerate(zip(model.input_graph_, model.input_q_values_, strict=True)):
        cells = [
            tag("td", tag("strong", f"{value:.2g}") if edge else f"{value:.2g}", class_=None if edge else "soft")
            for edge, value in zip(chosen, values, strict=True)
        ]
        rows.append(tag("tr", tag("th", tag("bdi", system.left_side(i)), scope="row"), *cells))
    caption = (
        "q-values: the smallest false discovery rate, among all edges, at which each would be selected. Bold: in the "
        "graph. They are uncalibrated: if simple terms cannot describe a function, more edges may be wrong than they "
        "suggest."
    )
    return table(caption, head, rows)


def _equations(system: _System) -> Markup:
    shown = range(min(len(system.names), _MOST_EQUATIONS))
    parts = [tag("h2", "The equations"), *(part for i in shown for part in _equation(system, i))]
    if len(shown) < len(system.names):
        parts.append(tag("p", f"And {len(system.names) - len(shown)} more, in the saved model.", class_="soft"))
    return tag("section", *parts)


def _equation(system: _System, i: int) -> list[Markup]:
    """Return one equation, the inputs it depends on with their q-values, and its held-out error."""
    model = system.model
    head, chosen = model.heads_[i], np.flatnonzero(model.input_graph_[i])
    labels = model._columns.labels
    named = dict(zip(model.inputs_, system.inputs, strict=True))
    columns = [
        named.get(model._columns.names[k], model._columns.names[k])
        for k in np.flatnonzero(model.input_graph_[i][labels])
    ]
    polynomial = head.as_polynomial()
    if polynomial is None:
        text = head.text(columns)
        right = text[0] if text else head.describe()
        found = [tag("p", tag("var", tag("bdi", system.left_side(i))), " = ", right, class_="equation")]
    else:
        names = [tag("var", tag("bdi", short(name, 40))) for name in columns]
        found = equations(polynomial, names, [system.left_side(i)])
    if not chosen.size:
        evidence = "It depends on none of the inputs."
    else:
        inputs = [f"{short(system.inputs[j], 40)} (q = {model.input_q_values_[i, j]:.2g})" for j in chosen]
        evidence = f"It depends on {', '.join(inputs)}."
    errors = ", ".join(f"{error:.3g} with a {head_types()[name].noun}" for name, error in model.head_errors_[i].items())
    error = f" Held-out error, as a share of the variance: {model.held_out_errors_[i]:.3g} when the inputs were chosen"
    return [*found, tag("p", evidence, error + (f"; {errors}." if errors else "."), class_="soft")]


def _simulation(system: _System, X: np.ndarray, t: Any, trajectory: Any, u: Any) -> Markup:
    heading = tag("h2", "A simulation beside the data")
    try:
        display = SimulationDisplay.of(system.model, X, t=t, trajectory=trajectory, u=u, feature_names=system.names)
    except ValueError as error:  # such as uneven steps for a map
        return tag("section", heading, tag("p", f"There is none: {error}"))
    count = min(X.shape[1], 6)
    caption = (
        f"A simulation from the first state of the data stays close to them for {display.valid_time:.4g} units of time "
        f"(dashed line), until the distance exceeds 0.4 of their spread. {display.ending}"
    )
    height = 1.0 + 1.1 * count
    figure = full(
        "simulation",
        display.plot,
        display.plot,
        (height, height),
        caption,
        "Measured and simulated variables over time.",
    )
    return tag("section", heading, figure)


def _caveats() -> Markup:
    return tag(
        "section",
        tag("h2", "What this does not say"),
        tag(
            "p",
            "That a change depends on a variable means that the variable helps to predict it, given the other inputs "
            "of the equation. Variables that were not measured, or that move together, can make a dependence appear or "
            "hide it.",
        ),
        tag("p", "The held-out errors were used to choose the equations; measure the accuracy on new trajectories."),
    )


def _reproduction(model: Any, given: dict[str, Any], command: str | None) -> Markup:
    """Return code that repeats the fit, with those arguments that were given, and the command."""
    more = "".join(f", {name}={name}" for name, value in given.items() if value is not None)
    code = f"import fewvars as fv\n\nmodel = fv.{model!r}\nmodel.fit(X{more})"
    parts = [tag("h2", "How to reproduce this"), tag("pre", tag("code", code))]
    if command is not None:
        parts += [tag("p", "Or from the command line:"), tag("pre", tag("code", plain(command)))]
    return tag("section", join(*parts))
