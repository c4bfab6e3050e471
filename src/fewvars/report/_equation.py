"""A sparse polynomial as mathematics on a page."""

from collections.abc import Sequence

import numpy as np

from fewvars.displays.names import short
from fewvars.polynomials.polynomial import Polynomial, shortest_number
from fewvars.report._markup import Markup, join, tag


def equations(polynomial: Polynomial, names: Sequence[Markup], targets: Sequence[str]) -> list[Markup]:
    """Return one paragraph for each output: its name, and terms from the highest degree down."""
    order = np.argsort(-polynomial.exponents.sum(axis=1), kind="stable")
    exponents = polynomial.exponents[order]
    table = polynomial.coefficients.reshape(len(order), -1)[order]
    names = [_shifted(name, shift) for name, shift in zip(names, polynomial.origin.tolist(), strict=True)]
    long = any(len(name) > 60 for name in names)
    found = []
    for target, coefficients in zip(targets, table.T, strict=True):
        terms = [
            tag("span", _sign(c, first), number(abs(c), polynomial.digits), _monomial(powers, names), class_="term")
            for first, (c, powers) in _numbered(coefficients, exponents)
        ]
        left = join(tag("var", tag("bdi", short(target, 40))), " = ")
        right = join(*[join(term, " ") for term in terms]) if terms else "0"
        found.append(tag("p", left, right, class_="equation long" if long else "equation"))
    return found


def _shifted(name: Markup, shift: float) -> Markup:
    return join("(", name, f" {'−' if shift > 0 else '+'} {shortest_number(abs(shift))})") if shift else name


def _numbered(coefficients: np.ndarray, exponents: np.ndarray) -> list[tuple[bool, tuple[float, np.ndarray]]]:
    """Return the terms that are there, and whether each is the first."""
    kept = [(float(c), powers) for c, powers in zip(coefficients, exponents, strict=True) if c != 0]
    return [(k == 0, term) for k, term in enumerate(kept)]


def _sign(coefficient: float, first: bool) -> str:
    if first:
        return "−" if coefficient < 0 else ""
    return "− " if coefficient < 0 else "+ "


def _monomial(powers: np.ndarray, names: Sequence[Markup]) -> Markup:
    factors = [
        join(names[j], tag("sup", powers[j]) if powers[j] > 1 else None, " ") for j in np.flatnonzero(powers).tolist()
    ]
    return join("\u2009" if factors else None, *factors)


def number(value: float, digits: int = 4) -> Markup:
    """Return a number with a few significant digits; powers of ten as such."""
    text = f"{value:.{digits}g}"
    mantissa, _, power = text.partition("e")
    mantissa = mantissa.replace("-", "−")
    return join(mantissa, *(["\u2009×\u200910", tag("sup", str(int(power)).replace("-", "−"))] if power else []))
