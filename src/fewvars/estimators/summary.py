"""The findings in sentences; all names and numbers come from one record, so they cannot disagree."""

from collections.abc import Iterable, Sequence

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars._common.wording import first_few
from fewvars.estimators.findings import Findings
from fewvars.search.variables.evidence import WEAK


def summary(found: Findings, target: str = "y") -> str:
    """Return a few lines about what a target depends on."""
    near = [(found.inputs[j], float(q)) for j, q in found.near_misses]
    expected = (found.expected_error, found.expected_error_se, found.expected_rmse)
    error = expectation(found.loss.error_name, *expected, found.null_error)
    lines = [*_headline(found, target), *_function(found, target), *error, *doubts(near, found.stand_ins)]
    return "\n".join([*lines, *found.notes])


def _headline(found: Findings, target: str) -> list[str]:
    if not found.count:
        return [f"Nothing found: no input predicts {target} better than a constant does."]
    lines = [f"{target} depends on at least {found.noun}, of {len(found.inputs)} inputs:"]
    width = max(map(len, found.names))
    for k, name in enumerate(found.names):
        if found.kind == "directions":
            lines.append(f"  {name}, singular value {found.importances[k]:.3g}")
            continue
        q_value = None if found.q_values is None else found.q_values[found.order[k]]
        lines.append(f"  {name:<{width}}  {evidence(found.importances[k], found.importances_se[k], q_value)}")
    return [*lines, *interactions(found.interactions)]


def _function(found: Findings, target: str) -> list[str]:
    equations = found.equations or ()
    targets = [target] if len(equations) == 1 or found.classes else [f"{target} [{k}]" for k in range(len(equations))]
    targets = found.equation_names(targets)
    texts = [f"  {name} = {equation}" for name, equation in zip(targets, equations, strict=True)]
    return [f"The function is {found.head.describe()}.", *texts]


def evidence(importance: float, se: float, q_value: float | None) -> str:
    """Return the evidence for a variable as a phrase; a q-value may be unknown."""
    rise = f"without it the held-out error rises by {importance:.3g} ± {se:.2g}"
    if q_value is None:
        return rise
    return f"{rise}, q = {q_value:.2g}" + (" (weak evidence)" if q_value > WEAK else "")


def interactions(pairs: Sequence[Sequence[str]]) -> list[str]:
    """Return a sentence about pairs of variables that act together; nothing if there are none."""
    return [f"Interactions: {first_few([f'{one} with {other}' for one, other in pairs])}."] if pairs else []


def expectation(
    name: str, error: float, se: float, rmse: Sequence[float] | FloatArray, null_error: float | None = None
) -> list[str]:
    """Return the error to expect on new rows as a sentence; nothing if it is not known."""
    if np.isnan(error):
        return []
    beside = "" if null_error is None else f" ({null_error:.3g} if no variable is used)"
    in_units = "" if not len(rmse) else f"; root mean squared error {first_few([f'{value:.4g}' for value in rmse])}"
    return [f"Expected on new rows: {name} {error:.3g} ± {se:.2g}{beside}{in_units}."]


def doubts(near: Sequence[tuple[str, float]], stand_ins: Iterable[Sequence[str]]) -> list[str]:
    """Return sentences about near misses (names and q-values), and about stand-ins (pairs of names)."""
    lines = []
    if near:
        lines.append(f"Near misses: {first_few([f'{name} (q = {q_value:.2g})' for name, q_value in near])}.")
    pairs = [f"{other} for {one}" for one, other in stand_ins]
    if pairs:
        lines.append(f"Inputs that would predict as well in place of others: {first_few(pairs)}.")
    return lines
