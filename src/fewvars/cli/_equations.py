"""The answer of `fewvars dynamics`: one object for machines, and lines of text for people."""

from typing import TYPE_CHECKING, Any

from fewvars.cli._terminal import printable

if TYPE_CHECKING:
    from fewvars.cli._roles import Roles
    from fewvars.cli._rows import Rows


def describe(model: Any, rows: "Rows", roles: "Roles") -> dict[str, Any]:
    """Return what was found, as one object."""
    from fewvars._common.version import __version__

    equations = []
    for i, name in enumerate(roles.inputs):
        depends = [
            {"on": model.inputs_[j], "q_value": float(model.input_q_values_[i, j]), **_frequency(model, i, j)}
            for j in range(len(model.inputs_))
            if model.input_graph_[i, j]
        ]
        equations.append(
            {
                "variable": name,
                "depends": depends,
                "equation": model.equations_[i],
                "head": model.heads_[i].name,
                "held_out_error": float(model.held_out_errors_[i]),
                "head_errors": model.head_errors_[i],
            }
        )
    return {
        "fewvars": __version__,
        "rows": len(rows.X),
        "rows_left_out": rows.n_dropped,
        "variables": roles.inputs,
        "controls": roles.targets,
        "time": roles.time,
        "trajectory": roles.trajectory,
        "form": model.form,
        "order": model.order,
        "inputs": list(model.inputs_),
        "equations": equations,
    }


def _frequency(model: Any, i: int, j: int) -> dict[str, float]:
    return {"selection_frequency": float(model.input_frequencies_[i, j])} if model.n_resamples else {}


def sentences(answer: dict[str, Any]) -> list[str]:
    """Return the answer as lines of text."""
    count = sum(len(equation["depends"]) for equation in answer["equations"])
    possible = len(answer["variables"]) * len(answer["inputs"])
    lines = [
        f"{len(answer['variables'])} equations depend on {count} of {possible} possible inputs ({answer['rows']} rows, "
        f"{answer['seconds']:.1f} s):"
    ]
    left = {"step": "{0}(next) - {0}"}.get(answer["form"], "d{0}/dt" if answer["order"] == 1 else "d2{0}/dt2")
    for equation in answer["equations"]:
        lines.append(f"  {left.format(printable(equation['variable']))} = {equation['equation']}")
        inputs = [f"{printable(edge['on'])} (q = {edge['q_value']:.2g}{_share(edge)})" for edge in equation["depends"]]
        depends = f"depends on {', '.join(inputs)}" if inputs else "depends on nothing that was measured"
        lines.append(f"    {depends}; held-out error {equation['held_out_error']:.3g}")
    return [
        *lines,
        "Errors are shares of the variance. They were used to choose the equations.",
        "q-values are uncalibrated: if simple terms cannot describe a function, more edges may be wrong than they "
        "suggest.",
    ]


def _share(edge: dict[str, Any]) -> str:
    share = edge.get("selection_frequency")
    return "" if share is None else f", {share:.0%} of the resamples"
