"""The lines and curves of all groups, kept orthogonal to a growing model: a quick screen of what could enter."""

from collections.abc import Iterator

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.search.variables.terms import Term, Terms
from fewvars.series.dependence import RowFilter

_CHUNK = 200  # groups whose columns are gathered at a time


class MainEffects:
    """The columns of all lines and curves, made orthogonal to a model."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        widths = [terms.columns(Term("curve", (g,))).shape[1] for g in range(terms.n_groups)]
        ends = np.cumsum(widths)
        curves = [np.arange(end - width, end) for end, width in zip(ends, widths, strict=True)]
        self._places = {"curve": curves, "line": [curve[self._first_powers(g)] for g, curve in enumerate(curves)]}
        self._rows: FloatArray  # (columns, n): the columns, filtered and orthogonal to the model
        self._sizes: FloatArray  # sums of their squares before the projection

    def _first_powers(self, group: int) -> np.ndarray:
        powers = np.maximum(self._terms.levels[self._terms.members[group]] - 1, 1)
        return np.cumsum(powers) - powers

    def rebuild(self, row_filter: RowFilter, basis: FloatArray) -> None:
        """Filter all columns again, and project out an orthonormal basis (n, m)."""
        curves = self._places["curve"]
        self._rows = np.empty((curves[-1][-1] + 1, len(self._terms)))
        for group, place in enumerate(curves):
            columns = self._terms.columns(Term("curve", (group,)))
            self._rows[place] = row_filter.apply(columns - columns.mean(axis=0)).T
        self._sizes = np.einsum("ij,ij->i", self._rows, self._rows)
        self.project_out(basis)

    def project_out(self, basis: FloatArray) -> None:
        """Make the columns orthogonal to an orthonormal basis (n, m)."""
        self._rows -= (self._rows @ basis) @ basis.T

    def explained(self, kind: str, residual: FloatArray) -> Iterator[tuple[np.ndarray, int, FloatArray]]:
        """Yield groups, their number of columns, and the squares of a residual that each explains, (groups, outputs).

        `kind` is "line" or "curve".
        """
        own = self._places[kind]
        scores = self._rows @ residual  # (columns, outputs)
        squares = np.einsum("ij,ij->i", self._rows, self._rows)
        widths = np.array([len(place) for place in own])
        for width in np.unique(widths).tolist():
            groups = np.flatnonzero(widths == width)
            for part in np.split(groups, range(_CHUNK, groups.size, _CHUNK)):
                yield part, width, self._explained(np.array([own[g] for g in part]), scores, squares)

    def _explained(self, index: np.ndarray, scores: FloatArray, squares: FloatArray) -> FloatArray:
        """Return the sums of squares (groups, outputs) that columns `index` (groups, width) explain together."""
        if index.shape[1] == 1:
            own = index[:, 0]
            usable = squares[own] > 1e-4 * self._sizes[own]
            return np.where(usable[:, None], scores[own] ** 2 / np.where(usable, squares[own], 1.0)[:, None], 0.0)
        block = self._rows[index]
        gram = block @ block.transpose(0, 2, 1)
        sizes = self._sizes[index].mean(axis=1)
        # Columns may be constant, and so zero, in some rows.
        gram += np.where(sizes > 0, 1e-6 * sizes, 1.0)[:, None, None] * np.eye(index.shape[1])
        return np.einsum("gwo,gwo->go", scores[index], np.linalg.solve(gram, scores[index]))
