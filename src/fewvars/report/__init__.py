"""One HTML file with the answer and its evidence; it needs no network and runs only its own script."""

import os
from collections.abc import Sequence
from datetime import date as calendar
from typing import Any

from fewvars._common.atomic import write_atomically
from fewvars._common.optional import require_matplotlib
from fewvars.report._answer import heading, key_figures
from fewvars.report._classes import classification
from fewvars.report._evidence import evidence
from fewvars.report._facts import gather
from fewvars.report._markup import tag
from fewvars.report._page import page
from fewvars.report._reproduction import footer, reproduction
from fewvars.report._sections import agreement, caveats, function
from fewvars.report._svg import drawing
from fewvars.report.dynamics import dynamics_report_html, write_dynamics_report

__all__ = ["dynamics_report_html", "report_html", "write_dynamics_report", "write_report"]


def write_report(
    path: str | os.PathLike[str],
    model: Any,
    X: Any,
    y: Any,
    *,
    t: Any = None,
    trajectory: Any = None,
    title: str | None = None,
    target_name: str | Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    command: str | None = None,
    seconds: float | None = None,
) -> None:
    """Write a report about a fitted model to an HTML file, whole or not at all.

    Parameters
    ----------
    path : path of the file
    model : fitted FewVariablesRegressor, FewVariablesClassifier or FewDirectionsRegressor
    X : (n, d)
    y : (n,) or (n, outputs)
        The data to show the model on, usually those that it was fitted to.
    t : (n,) or scalar step, optional
    trajectory : (n,), optional
        As given to `fit`.
    title : str, optional
    target_name : str or sequence of str, optional
        Names of the outputs. Default: those of y, if it has any, or y.
    feature_names : sequence of d str, optional
        Names of the variables. Default: those that the model was fitted with, or x0, x1, ...
    command : str, optional
        Command that made the report.
    seconds : float, optional
        Duration of the fit.
    """
    text = report_html(
        model,
        X,
        y,
        t=t,
        trajectory=trajectory,
        title=title,
        target_name=target_name,
        feature_names=feature_names,
        command=command,
        seconds=seconds,
        date=calendar.today().isoformat(),
    )
    write_atomically(path, text)


def report_html(model: Any, X: Any, y: Any, *, date: str | None = None, **about: Any) -> str:
    """Return the report as text; the same arguments give the same text.

    Parameters
    ----------
    date : str, optional
        When it was written, as in 2025-12-31.
    **about
        The other arguments of `write_report`.
    """
    require_matplotlib("A report needs")
    facts = gather(model, X, y, **about)
    with drawing():
        compared = classification if facts.found.classes else agreement
        found = (evidence, function, compared, caveats)
        parts = [
            heading(facts),
            key_figures(facts),
            *(section(facts) for section in found if not facts.constant),
            reproduction(facts),
            footer(date),
        ]
    verb = "depends" if len(facts.answers) == 1 else "depend"
    return page(facts.title or f"What {facts.output} {verb} on", tag("main", *parts))
