"""The judge that fits sums of simple terms by ridge regression, all splits in closed form from Gram matrices."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import ClassVar

import numpy as np

from fewvars._common.threads import in_threads
from fewvars._common.validation import FloatArray
from fewvars.engine.samples import Samples
from fewvars.search.held_out import HeldOut
from fewvars.search.judge import Verdict
from fewvars.search.problem import Problem, Settings
from fewvars.search.variables.terms import Term, Terms

# From simple to complicated: the terms of single groups, and those of pairs of groups.
FAMILIES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "linear": (("line",), ()),
    "additive": (("curve",), ()),
    "wavy": (("curve", "wave"), ()),
    "pairs": (("curve",), ("product",)),
    "bent pairs": (("curve", "wave"), ("product", "bent product")),
}
STRENGTHS = (1e-6, 1e-4, 1e-2, 1e-1)  # of the ridge, for columns of mean square one
MOST_COLUMNS = 400
ROWS_PER_COLUMN = 4


@dataclass(frozen=True, eq=False)
class RidgeFit:
    """What the judge remembers of a verdict: the family, the strength, and the coefficients on the first split."""

    family: str
    strength: float
    coefficients: FloatArray


@dataclass(frozen=True, eq=False)
class RidgeJudge:
    """Fits families of terms of the groups of a support; the best family and strength count.

    With F the columns of the terms, G = F'F and r = F'y over all rows, leaving out rows B needs only
    (G - F_B'F_B + strength n I)^-1 (r - F_B'y_B).

    Attributes
    ----------
    samples : Samples
        Standardised: all rows, all inputs.
    labels : (inputs,) group of each input
    held_out : HeldOut
    n_jobs : int, optional
        Threads; the results do not depend on it.
    """

    samples: Samples
    labels: np.ndarray
    held_out: HeldOut
    n_jobs: int | None = None

    name: ClassVar[str] = "ridge"
    fewest_rows: ClassVar[int] = 8

    @classmethod
    def of(
        cls, problem: Problem, labels: np.ndarray, settings: Settings, on_refit: Callable[[], None] = lambda: None
    ) -> "RidgeJudge":
        """Return the judge of a problem; it is cheap, so that it holds every row out."""
        return cls(problem.samples, labels, problem.reserve, settings.n_jobs)

    @cached_property
    def terms(self) -> Terms:
        """The functions of the inputs that can be fitted."""
        return Terms.of(self.samples.X.astype(np.float64), self.labels)

    def on(self, held_out: HeldOut) -> "RidgeJudge":
        """Return the same judge with other rows held out."""
        return replace(self, held_out=held_out)

    def judge(self, masks: Sequence[np.ndarray], like: Verdict | None = None, effort: int = 1) -> list[Verdict]:
        """Fit each support in closed form."""
        return in_threads(self._verdict, masks, self.n_jobs)

    def tuned(self, mask: np.ndarray, effort: int = 1) -> tuple["RidgeJudge", Verdict]:
        """Return this judge: every verdict is that of the best family already."""
        return self, self._verdict(mask)

    def residuals(self, verdict: Verdict, rows: np.ndarray) -> FloatArray:
        """Return what the fit to the first split leaves unexplained in some rows, (rows, outputs)."""
        columns = self._columns(verdict.state.family, verdict.mask)
        return self.samples.Y[rows] - columns[rows] @ verdict.state.coefficients

    def affordable(self, family: str, mask: np.ndarray) -> bool:
        """Return whether a family has few columns enough for the rows."""
        single, paired = FAMILIES[family]
        sizes = np.bincount(self.labels, minlength=mask.size)[mask]
        total = sizes.sum()
        count = 1 + total * (len(single) + 2 * ("curve" in single) + 6 * ("wave" in single))
        count += (total**2 - (sizes**2).sum()) / 2 * (len(paired) + ("bent product" in paired))
        return count <= min(MOST_COLUMNS, len(self.samples) / ROWS_PER_COLUMN)

    def _verdict(self, mask: np.ndarray) -> Verdict:
        families = [family for family in FAMILIES if self.affordable(family, mask)] or ["linear"]
        found = [self._fitted(family, mask) for family in (families if mask.any() else ["linear"])]
        return min(found, key=lambda verdict: self.held_out.typical(verdict.errors))

    def _columns(self, family: str, mask: np.ndarray) -> FloatArray:
        """Return a constant and the columns of all terms of a family, with mean square one, (n, m)."""
        single, paired = FAMILIES[family]
        groups = np.flatnonzero(mask).tolist()
        chosen = [Term(kind, (group,)) for group in groups for kind in single]
        chosen += [Term(kind, pair) for pair in combinations(groups, 2) for kind in paired]
        columns = np.column_stack([np.ones(len(self.samples)), *(self.terms.columns(term) for term in chosen)])
        sizes = np.sqrt(np.einsum("ij,ij->j", columns, columns) / len(columns))
        return columns / np.where(sizes > 0, sizes, 1.0)

    def _fitted(self, family: str, mask: np.ndarray) -> Verdict:
        F, Y = self._columns(family, mask), self.samples.Y.astype(np.float64)
        weights = self.samples.weights.astype(np.float64)[:, None]
        gram, cross = F.T @ (weights * F), F.T @ (weights * Y)
        n = len(F)
        losses, coefficients = [], []
        for train, test in self.held_out.splits:
            out = np.ones(n, bool)
            out[train] = False
            without = F[out] * weights[out]
            values, vectors = np.linalg.eigh(gram - F[out].T @ without)
            target = vectors.T @ (cross - without.T @ Y[out])
            ridges = np.maximum(values, 0.0)[:, None] + np.array(STRENGTHS) * len(train)  # (m, strengths)
            fits = np.einsum("ij,js,jo->sio", vectors, 1.0 / ridges, target)
            coefficients.append(fits)
            losses.append([self.samples.loss.values(F[test] @ fit, Y[test]) for fit in fits])
        errors = [
            self.held_out.piece_errors(per_strength, self.samples.weights) for per_strength in zip(*losses, strict=True)
        ]
        best = int(np.argmin([self.held_out.typical(e) for e in errors]))
        state = RidgeFit(family, STRENGTHS[best], coefficients[0][best])
        return Verdict(mask, tuple(split[best] for split in losses), errors[best], state)
