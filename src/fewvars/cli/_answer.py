"""The answer of `fewvars fit`: one object for machines, and lines of text for people."""

from typing import TYPE_CHECKING, Any

from fewvars._common.wording import counted
from fewvars.cli._terminal import printable

if TYPE_CHECKING:
    from fewvars.cli._roles import Roles
    from fewvars.cli._rows import Rows
    from fewvars.estimators.findings import Findings

MOST_LOADINGS = 8  # of a direction, in text


def describe(model: Any, rows: "Rows", roles: "Roles", seconds: float) -> dict[str, Any]:
    """Return what was found, as one object."""
    from fewvars._common.version import __version__

    answer: dict[str, Any] = {
        "fewvars": __version__,
        "rows": len(rows.X),
        "rows_left_out": rows.n_dropped,
        "inputs": len(roles.inputs),
        "targets": roles.targets,
        "time": roles.time,
        "trajectory": roles.trajectory,
        "constant": [] if roles.classify else _constant(rows, roles.targets),
    }
    found = model.findings()
    if found.classes:
        answer["classes"] = list(found.classes)
    if found.kind == "variables":
        answer["variables"] = _variables(found, roles.inputs)
        own = dict(zip(found.inputs, roles.inputs, strict=True))  # a model may not know the names of its inputs
        answer["additive"] = found.additive
        answer["interactions"] = [[own.get(name, name) for name in pair] for pair in found.interactions]
        answer["stand_ins"] = [[own.get(name, name) for name in pair] for pair in found.stand_ins]
    else:
        answer["directions"] = _directions(model, rows, roles.inputs)
        answer["numbers_tried"] = _numbers_tried(found)
    return answer | {
        "head": found.head.name,
        "function": found.head.describe(),
        "equations": found.head.text(found.head_names(roles.inputs)),
        "equation_names": found.equation_names(roles.targets),
        "error_name": found.loss.error_name,
        "expected_error": found.expected_error,
        "expected_error_se": found.expected_error_se,
        "expected_rmse": list(found.expected_rmse),
        "null_error": found.null_error,
        "near_misses": [{"name": roles.inputs[j], "q_value": q_value} for j, q_value in found.near_misses],
        "notes": list(found.notes),
        "held_out_error": found.held_out_error,
        "head_errors": found.head_errors,
        "smoothed": found.smoothed,
        "lambda": found.lambda_,
        "seconds": seconds,
    }


def _constant(rows: "Rows", targets: list[str]) -> list[dict[str, Any]]:
    """Return the targets that are the same in all rows, and their values."""
    from fewvars.series.scaling import Scaling

    y = rows.y.reshape(len(rows.X), -1)
    constant = zip(targets, y[0], Scaling.of(y).constant, strict=True)
    return [{"name": name, "value": value} for name, value, same in constant if same]


def _variables(found: "Findings", names: list[str]) -> list[dict[str, Any]]:
    """Return the selected variables, the most important first."""
    variables = []
    for j, importance, se in zip(found.order, found.importances, found.importances_se, strict=True):
        q_value = None if found.q_values is None else found.q_values[j]
        variable = {"name": names[j], "importance": importance, "importance_se": se, "q_value": q_value}
        resampled = {} if found.frequencies is None else {"selection_frequency": found.frequencies[j]}
        variables.append(variable | resampled)
    return variables


def _directions(model: Any, rows: "Rows", names: list[str]) -> list[dict[str, Any]]:
    """Return the linear combinations, the strongest first, each with its inputs sorted by their contribution."""
    spread = rows.X.std(axis=0)
    found = []
    for strength, weights in zip(model.singular_values_, model.directions_, strict=True):
        order = sorted(range(len(names)), key=lambda j: -abs(weights[j] * spread[j]))
        terms = [{"name": names[j], "weight": weights[j], "mean": model.mean_[j]} for j in order]
        found.append({"strength": strength, "terms": terms})
    return found


def _numbers_tried(found: "Findings") -> list[dict[str, Any]]:
    """Return the held-out error with 0, 1, 2, ... combinations."""
    tried = []
    for k, error, se in zip(found.sizes, found.errors, found.errors_se, strict=True):
        number = {"directions": int(k), "held_out_error": error, "held_out_error_se": se}
        tried.append(number if found.frequencies is None else number | {"selection_frequency": found.frequencies[k]})
    return tried


def sentences(answer: dict[str, Any]) -> list[str]:
    """Return the answer as lines of text."""
    constant = _constant_lines(answer)
    varying = [name for name in answer["targets"] if name not in {target["name"] for target in answer["constant"]}]
    if not varying:
        return constant
    target = " and ".join(varying)
    depend = "depends" if len(varying) == 1 else "depend"
    size = f"{answer['rows']} rows, {answer['seconds']:.1f} s"
    found = answer.get("variables", answer.get("directions"))
    if not found:
        lines = [f"Nothing found: no input predicts {target} on held-out rows better than a constant ({size})."]
    elif "variables" in answer:
        lines = [
            f"{target} {depend} on at least {len(found)} of {answer['inputs']} variables ({size}):",
            *_variable_lines(found),
            *_interaction_lines(answer["interactions"], answer["additive"]),
        ]
    else:
        combinations = f"{counted(len(found), 'linear combination')} of {answer['inputs']} centred variables"
        lines = [f"{target} {depend} on {combinations} ({size}):"]
        lines += [_direction_line(k, direction) for k, direction in enumerate(found)]
        lines += ["Held-out error by number of combinations:", *_number_lines(answer["numbers_tried"])]
    return [*constant, *lines, *_function_lines(answer)]


def _constant_lines(answer: dict[str, Any]) -> list[str]:
    where = f"in all {answer['rows']} rows, so there is nothing to explain"
    return [f"{target['name']} is {target['value']:.6g} {where}." for target in answer["constant"]]


def _variable_lines(variables: list[dict[str, Any]]) -> list[str]:
    from fewvars.estimators.summary import evidence

    width = max(len(printable(variable["name"])) for variable in variables)
    return [
        f"  {printable(variable['name']):<{width}}  "
        f"{evidence(variable['importance'], variable['importance_se'], variable['q_value'])}{_frequency(variable)}"
        for variable in variables
    ]


def _interaction_lines(pairs: list[list[str]], additive: bool) -> list[str]:
    from fewvars.estimators.summary import interactions

    if additive:
        return ["No two variables interact: the function is additive."]
    return interactions([[printable(name) for name in pair] for pair in pairs])


def _direction_line(k: int, direction: dict[str, Any]) -> str:
    terms = direction["terms"]
    text = " ".join(f"{term['weight']:+.3g} {term['name']}" for term in terms[:MOST_LOADINGS])
    more = f" and {len(terms) - MOST_LOADINGS} smaller terms" if len(terms) > MOST_LOADINGS else ""
    return f"  z{k} = {text}{more}   (strength {direction['strength']:.3g})"


def _number_lines(tried: list[dict[str, Any]]) -> list[str]:
    errors = [f"{number['held_out_error']:.3g} ± {number['held_out_error_se']:.2g}" for number in tried]
    return [f"  {n['directions']}  {error}{_frequency(n)}" for n, error in zip(tried, errors, strict=True)]


def _frequency(found: dict[str, Any]) -> str:
    share = found.get("selection_frequency")
    return "" if share is None else f"; found in {share:.0%} of the resamples"


def _function_lines(answer: dict[str, Any]) -> list[str]:
    from fewvars.estimators.summary import doubts, expectation

    lines = [f"The function is {answer['function']}."]
    for name, equation in zip(answer["equation_names"], answer["equations"] or [], strict=False):
        lines.append(f"  {printable(name)} = {equation}")
    expected = (answer["expected_error"], answer["expected_error_se"], answer["expected_rmse"], answer["null_error"])
    near = [(printable(miss["name"]), miss["q_value"]) for miss in answer["near_misses"]]
    pairs = [[printable(name) for name in pair] for pair in answer.get("stand_ins", [])]
    smoothed = "were smoothed in time" if answer["smoothed"] else "were used as measured"
    lines += [*expectation(answer["error_name"], *expected), *doubts(near, pairs), f"The inputs {smoothed}."]
    return [*lines, *map(printable, answer["notes"])]
