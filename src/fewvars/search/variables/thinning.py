"""How many of the inputs that are related to labels does a prediction need? Ever fewer of them are tried.

Where a few terms tell nearly all classes apart, tests have few rows left to learn from. Inputs that say the same again
still improve the prediction, as an average is better than a single measurement. So all inputs that are related to the
outputs on their own enter a linear model, and leave it a fifth at a time, those with the smallest coefficients first
(Guyon, Weston, Barnhill and Vapnik, 2002). This is repeated without each part of the rows, which then tells how many
inputs to keep: rows that have helped to choose the inputs would keep too few.
"""

from collections.abc import Iterator

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.samples import Samples
from fewvars.search.held_out import HeldOut
from fewvars.search.variables.normal_equations import Design, RidgeEquations
from fewvars.search.variables.reweighted_equations import ReweightedEquations
from fewvars.search.variables.terms import Terms

STRENGTHS = (1e-3, 1e-2, 1e-1)  # of the ridge, for columns of mean square one
RANKING = 1  # the strength by which inputs leave
PART = 5


def thinned(
    samples: Samples, terms: Terms, held_out: HeldOut, related: np.ndarray, always: np.ndarray
) -> tuple[np.ndarray, FloatArray]:
    """Return a support of related groups, and the held-out errors (pieces,) of supports that were found like it.

    Parameters
    ----------
    samples, terms, held_out
        The data, lines of their inputs, and the rows to hold out.
    related, always : (groups,) bool
        The groups to begin with, and those that never leave.
    """
    design = Design.of(terms, related | always, ("line",), ())
    Y, weights = samples.Y.astype(np.float64), samples.weights.astype(np.float64)
    rows = np.arange(len(Y))

    def fits(train: np.ndarray, test: np.ndarray) -> Iterator[tuple[np.ndarray, FloatArray]]:
        """Yield ever smaller supports, and the losses (strengths, test) of their fits."""
        equations = ReweightedEquations(design, Y, weights, ((train, test),), samples.loss)
        for mask, fit in _leaving(equations, always):
            [predicted] = equations.predictions(fit)
            yield mask, np.array([samples.loss.values(own, Y[test]) for own in predicted])

    held = [[losses for _, losses in fits(*split)] for split in held_out.splits]
    errors = []
    for size in zip(*held, strict=True):
        of_strengths = [held_out.piece_errors(split, weights) for split in zip(*size, strict=True)]
        errors.append(min(of_strengths, key=held_out.typical))
    best = int(np.argmin([held_out.typical(error) for error in errors]))
    while best + 1 < len(errors) and held_out.not_worse(errors[best + 1], errors[best]):
        best += 1
    masks = [mask for mask, _ in fits(rows, rows[:1])]
    return masks[best], errors[best]


def _leaving(equations: RidgeEquations, always: np.ndarray) -> Iterator[tuple[np.ndarray, FloatArray]]:
    """Yield ever smaller supports and their coefficients (1, strengths, columns, outputs)."""
    design = equations.design
    mask = design.mask
    groups = np.repeat([group for (group,) in (term.groups for term in design.terms)], design.widths)
    while True:
        fit = equations.coefficients(mask, STRENGTHS)
        yield mask, fit
        free = np.flatnonzero(mask & ~always)
        if not free.size:
            return
        sizes = np.bincount(groups, (fit[0, RANKING, 1:] ** 2).sum(axis=1), minlength=mask.size)
        mask = mask.copy()
        mask[free[np.argsort(sizes[free], kind="stable")[: max(1, free.size // PART)]]] = False
