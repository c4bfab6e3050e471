"""The lines and curves of all groups, and what a growing model leaves of them: a quick screen of what could enter."""

from collections.abc import Iterator

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.search.variables.terms import Term, Terms
from fewvars.series.dependence import RowFilter

_CHUNK = 200  # groups whose columns are gathered at a time


class MainEffects:
    """The columns of all lines and curves, their inner products, and those with an orthonormal basis of a model."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        widths = [terms.columns(Term("curve", (g,))).shape[1] for g in range(terms.n_groups)]
        ends = np.cumsum(widths)
        curves = [np.arange(end - width, end) for end, width in zip(ends, widths, strict=True)]
        self._places = {"curve": curves, "line": [curve[self._first_powers(g)] for g, curve in enumerate(curves)]}
        self._rows: FloatArray  # (columns, n): the columns, filtered
        self._inside: FloatArray  # (columns, m): their inner products with the basis
        self._grams: dict[str, list[tuple[np.ndarray, np.ndarray, FloatArray]]]  # groups, places, inner products

    def _first_powers(self, group: int) -> np.ndarray:
        powers = np.maximum(self._terms.levels[self._terms.members[group]] - 1, 1)
        return np.cumsum(powers) - powers

    def rebuild(self, row_filter: RowFilter, basis: FloatArray) -> None:
        """Filter all columns again, given an orthonormal basis (n, m) of the model."""
        curves = self._places["curve"]
        self._rows = np.empty((curves[-1][-1] + 1, len(self._terms)))
        for group, place in enumerate(curves):
            columns = self._terms.columns(Term("curve", (group,)))
            self._rows[place] = row_filter.apply(columns - columns.mean(axis=0)).T
        self._grams = {kind: list(self._inner_products(places)) for kind, places in self._places.items()}
        self._inside = self._rows @ basis

    def _inner_products(self, places: list[np.ndarray]) -> Iterator[tuple[np.ndarray, np.ndarray, FloatArray]]:
        """Yield groups with equally many columns, the places (groups, width) of these, and their inner products."""
        widths = np.array([place.size for place in places])
        for width in np.unique(widths).tolist():
            groups = np.flatnonzero(widths == width)
            for part in np.split(groups, range(_CHUNK, groups.size, _CHUNK)):
                index = np.array([places[group] for group in part])
                block = self._rows[index]
                yield part, index, block @ block.transpose(0, 2, 1)

    def project_out(self, basis: FloatArray) -> None:
        """Add orthonormal columns (n, m) to the basis."""
        self._inside = np.column_stack([self._inside, self._rows @ basis])

    def explained(self, kind: str, residual: FloatArray) -> Iterator[tuple[np.ndarray, int, FloatArray]]:
        """Yield groups, their number of columns, and the squares of a residual that each explains, (groups, outputs).

        `kind` is "line" or "curve"; the residual (n, outputs) is orthogonal to the model.
        """
        scores = self._rows @ residual  # (columns, outputs)
        for groups, index, gram in self._grams[kind]:
            inside = self._inside[index]
            left = gram - inside @ inside.transpose(0, 2, 1)
            yield groups, index.shape[1], _explained(left, gram, scores[index])


def _explained(left: FloatArray, gram: FloatArray, scores: FloatArray) -> FloatArray:
    """Return the squares (groups, outputs) that columns explain together.

    Parameters
    ----------
    left, gram : (groups, width, width)
        Inner products of the columns outside the model, and of the whole columns.
    scores : (groups, width, outputs)
        Inner products of the columns with the residual.
    """
    width = gram.shape[1]
    if width == 1:
        usable = left[:, :, 0] > 1e-4 * gram[:, :, 0]
        return np.where(usable, scores[:, 0] ** 2 / np.where(usable, left[:, :, 0], 1.0), 0.0)
    sizes = np.einsum("gww->g", gram) / width
    # Columns may be constant, and so zero, in some rows.
    ridge = np.where(sizes > 0, 1e-6 * sizes, 1.0)[:, None, None] * np.eye(width)
    return np.einsum("gwo,gwo->go", scores, np.linalg.solve(left + ridge, scores))
