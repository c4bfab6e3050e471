"""The records that a file may hold: their fields, and checks of their consistency."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from fewvars._common.kinds import (
    Kind,
    array,
    check_fields,
    maybe,
    one_of,
    real,
    require,
    rows,
    text,
    truth,
    whole,
)
from fewvars.columns.encoders import Category, Number
from fewvars.columns.encoding import Encoding
from fewvars.columns.kinds import MOST_LEVELS
from fewvars.engine.network import ACTIVATIONS, Network
from fewvars.engine.solvers import Outcome
from fewvars.estimators.input_columns import InputColumns
from fewvars.heads import head_types
from fewvars.polynomials.dictionary import DictionaryFit
from fewvars.polynomials.polynomial import Polynomial
from fewvars.search.path import Path
from fewvars.series.scaling import Scaling

# `predict` multiplies powers out one by one, so a forged exponent could keep it busy forever.
LARGEST_DEGREE = 1000


@dataclass(frozen=True)
class Description:
    """A class that may be stored: its fields, which of them may be absent, and a check of the whole."""

    kinds: dict[str, Kind]
    check: Callable[[Any], None] = lambda record: None
    optional: frozenset[str] = frozenset()

    def check_fields(self, name: str, values: dict[str, Any]) -> None:
        """Raise ValueError unless the values are complete, of the right kind and of sizes that agree."""
        check_fields(name, self.kinds, values, self.optional)


def _check_polynomial(polynomial: Polynomial) -> None:
    degrees = polynomial.exponents.sum(axis=1)
    # Each exponent is also checked by itself: a sum of huge ones may overflow to a small number.
    largest = max(polynomial.exponents.max(initial=0), degrees.max(initial=0))
    require(largest <= LARGEST_DEGREE, f"Polynomial.exponents has degree {largest}, above {LARGEST_DEGREE}")


def _check_path(path: Path) -> None:
    count = path.magnitudes.shape[1]
    if path.labels is not None:
        n_groups = int(path.labels.max(initial=-1)) + 1
        require(count == n_groups, f"Path.magnitudes has {count} columns for {n_groups} groups")


def _check_category(category: Category) -> None:
    count = len(category.levels)
    require(count <= MOST_LEVELS, f"Category.levels has {count} entries, more than {MOST_LEVELS}")
    require(len(set(category.levels)) == count, "Category.levels names a level twice")


def _check_columns(columns: InputColumns) -> None:
    require(columns.order in (1, 2), f"InputColumns.order is {columns.order}, neither 1 nor 2")
    largest = max(columns.angles, default=-1)
    require(largest < len(columns.variables), f"InputColumns.angles names variable {largest}, which does not exist")


def _coefficients(name: str, value: Any, sizes: dict[str, int]) -> None:
    """Coefficients (terms,) or (terms, outputs)."""
    shape = ("terms",) if getattr(value, "ndim", 1) == 1 else ("terms", "outputs")
    array("float", *shape)(name, value, sizes)


_score = {"finite": False}  # evidence, not parameters: a failed refit may have left nan or inf

RECORDS: dict[type, Description] = {
    Network: Description(
        {
            "n_inputs": whole(least=1),
            "widths": rows(whole(least=1)),
            "n_outputs": whole(least=1),
            "activation": rows(text(*ACTIVATIONS)),
        }
    ),
    Scaling: Description(
        {
            "mean": array("float", "columns"),
            "scale": array("float", "columns", above=0.0),
            "constant": array("bool", "columns"),
        }
    ),
    Polynomial: Description(
        {
            "exponents": array("int", "terms", "variables", least=0),
            "coefficients": _coefficients,
            "digits": whole(least=1),
            "origin": array("float", "variables"),
        },
        _check_polynomial,
        frozenset({"origin"}),
    ),
    Number: Description({"mean": real(), "indicated": truth}),
    Category: Description({"levels": rows(text(), least=1), "indicated": truth}, _check_category),
    Encoding: Description({"columns": rows(one_of(Number, Category), least=1)}),
    Path: Description(
        {
            "strengths": array("float", "strengths", **_score),
            "magnitudes": array("float", "strengths", "groups", **_score),
            "losses": array("float", "strengths", **_score),
            "outcome": one_of(Outcome),
            "labels": maybe(array("int", "inputs", least=0)),
            "tolerance": real(least=0.0),
            "distances": maybe(array("float", "strengths", **_score)),
            "steps": maybe(array("float", "strengths", **_score)),
            "constants": maybe(array("float", "strengths", **_score)),
            "degrees_of_freedom": maybe(array("int", "strengths", least=0)),
            "bic": maybe(array("float", "strengths", **_score)),
        },
        _check_path,
    ),
    InputColumns: Description(
        {
            "variables": rows(text(), least=1),
            "order": whole(least=1),
            "angles": rows(whole()),
            "controls": rows(text()),
            "time": truth,
        },
        _check_columns,
    ),
    DictionaryFit: Description(
        {
            "polynomial": one_of(Polynomial),
            "strength": real(least=0.0, finite=False),
            "criterion": text("bic", "held_out", "fixed"),
            "strengths": array("float", "candidates", **_score),
            "n_terms": array("int", "candidates", least=0),
            "scores": array("float", "candidates", **_score),
            "converged": truth,
        }
    ),
}
ENUMS: tuple[type[Enum], ...] = (Outcome,)


def descriptions() -> dict[type, Description]:
    """Return all records that a file may hold; each head describes itself."""
    heads = {head: Description(dict(head.stored), head.check) for head in head_types().values()}
    return {**RECORDS, **heads}
