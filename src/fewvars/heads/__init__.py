"""The function on the selected variables or directions: one file per head, and the choice between them.

A new head is one file, with a `Head` and the `HeadKind` that lists its candidates, and one entry of `KINDS` below.
"""

from fewvars._common.validation import check_choice
from fewvars.engine.losses import SQUARED
from fewvars.heads.agreement import agree, follow
from fewvars.heads.choice import HeadChoice, choose_head, fit_chosen_head
from fewvars.heads.curves import Curves, CurvesHead
from fewvars.heads.head import Graph, Head, SumHead
from fewvars.heads.kind import Chosen, Fit, HeadKind, HeadSettings, Trial
from fewvars.heads.mean import MeanHead
from fewvars.heads.network import NetworkHead, Networks
from fewvars.heads.polynomial import PolynomialHead, Polynomials
from fewvars.heads.steps import StepsHead

__all__ = [
    "KINDS",
    "Chosen",
    "Curves",
    "CurvesHead",
    "Fit",
    "Graph",
    "Head",
    "HeadChoice",
    "HeadKind",
    "HeadSettings",
    "MeanHead",
    "NetworkHead",
    "Networks",
    "PolynomialHead",
    "Polynomials",
    "StepsHead",
    "SumHead",
    "Trial",
    "agree",
    "choose_head",
    "fit_chosen_head",
    "follow",
    "head_types",
    "kinds_of",
]

# From simple to complicated. A list, so that programs can add heads of their own.
KINDS: list[type[HeadKind]] = [Polynomials, Curves, Networks]


def kinds_of(head: str, settings: HeadSettings) -> list[HeadKind]:
    """Return the kinds of heads for ``head="auto"`` or for the name of one head."""
    check_choice("head", head, ("auto", *(kind.head.name for kind in KINDS)))
    possible = [kind for kind in KINDS if settings.loss == SQUARED or not kind.squared_only]
    names = [kind.head.name for kind in possible]
    if head not in ("auto", *names):
        raise ValueError(f"head={head!r} can only be fitted under squared error: use one of {['auto', *names]}.")
    return [kind.of(settings) for kind in possible if head in ("auto", kind.head.name)]


def head_types() -> dict[str, type[Head]]:
    """Return all heads by name."""
    heads: list[type[Head]] = [MeanHead, *(kind.head for kind in KINDS), StepsHead]
    return {head.name: head for head in heads}
