"""One HTML file that answers the question and shows the evidence; it needs no network and runs nothing foreign."""

import base64
import hashlib
import os
from collections.abc import Sequence
from datetime import date as calendar
from importlib.resources import files
from typing import Any

from fewvars._common.atomic import write_atomically
from fewvars.report import _sections as sections
from fewvars.report._facts import gather
from fewvars.report._markup import Markup, escape, tag
from fewvars.report._reproduction import footer, reproduction
from fewvars.report._svg import drawing

__all__ = ["report_html", "write_report"]


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
    model : fitted FewVariablesRegressor or FewDirectionsRegressor
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
        Command line that makes the report.
    seconds : float, optional
        That the fit took.
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
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError("A report needs matplotlib: pip install 'fewvars[plot]'.") from error
    facts = gather(model, X, y, **about)
    with drawing():
        found = (sections.evidence, sections.function, sections.agreement, sections.caveats)
        parts = [
            sections.heading(facts),
            sections.key_figures(facts),
            *(section(facts) for section in found if not facts.constant),
            reproduction(facts),
            footer(date),
        ]
    verb = "depends" if len(facts.targets) == 1 else "depend"
    return _page(facts.title or f"What {facts.output} {verb} on", tag("main", *parts))


def _page(title: str, body: Markup) -> str:
    """Return the document: its policy allows this style and this script, and nothing else from anywhere."""
    style, script = (files(__package__).joinpath(name).read_text("utf-8") for name in ("style.css", "script.js"))
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{body}\n<script>{script}</script>\n</body>\n</html>\n"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
