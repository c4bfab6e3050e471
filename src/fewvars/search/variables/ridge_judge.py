"""The judge that fits sums of simple terms by ridge regression, under squared error in closed form."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from fewvars._common.threads import in_threads, threads_for
from fewvars._common.validation import FloatArray
from fewvars.engine.losses import SQUARED
from fewvars.engine.samples import Samples
from fewvars.search.held_out import HeldOut
from fewvars.search.judge import Verdict
from fewvars.search.problem import Problem, Settings
from fewvars.search.variables.normal_equations import Design, NormalEquations, RidgeEquations
from fewvars.search.variables.reweighted_equations import ReweightedEquations
from fewvars.search.variables.terms import STEPS, Terms

# From simple to complicated: the terms of single groups, and those of pairs of groups.
FAMILIES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "linear": (("line",), ()),
    "additive": (("curve",), ()),
    "wavy": (("curve", "wave"), ()),
    "steps": (("steps",), ()),
    "pairs": (("curve",), ("product",)),
    "bent pairs": (("curve", "wave"), ("product", "bent product")),
    "surfaces": (("curve", "wave"), ("product", "surface")),
}
# Of an input or a pair.
COLUMNS = {"line": 1, "curve": 3, "wave": 7, "steps": STEPS, "product": 1, "bent product": 2, "surface": 9}
STRENGTHS = (1e-6, 1e-4, 1e-2, 1e-1)  # of the ridge, for columns of mean square one
LIKELIHOOD_STRENGTHS = (1e-4, 1e-3, 1e-2, 1e-1)  # of labels and counts, for which fits with a weaker ridge diverge
MOST_COLUMNS = 400
ROWS_PER_COLUMN = 4


@dataclass(frozen=True, eq=False)
class RidgeFit:
    """The state of a verdict: the family, the strength, and the fit to the first split."""

    family: str
    strength: float
    design: Design
    coefficients: FloatArray


@dataclass(frozen=True, eq=False)
class RidgeJudge:
    """Fits families of terms of the groups of a support, and uses the best family and strength.

    Attributes
    ----------
    samples : Samples
        Standardised: all rows, all inputs.
    labels : (inputs,) group of each input
    held_out : HeldOut
    n_jobs : int, optional
        Threads; the results do not depend on it.
    given_terms : Terms, optional
        The functions of the inputs, if they are not those of the samples.
    """

    samples: Samples
    labels: np.ndarray
    held_out: HeldOut
    n_jobs: int | None = None
    given_terms: Terms | None = None
    _designs: dict[str, Design] = field(default_factory=dict, repr=False)
    _equations: dict[str, RidgeEquations] = field(default_factory=dict, init=False, repr=False)
    _verdicts: dict[bytes, Verdict] = field(default_factory=dict, init=False, repr=False)

    name: ClassVar[str] = "ridge"
    fewest_rows: ClassVar[int] = 8

    @classmethod
    def of(
        cls, problem: Problem, labels: np.ndarray, settings: Settings, on_refit: Callable[[], None] = lambda: None
    ) -> "RidgeJudge":
        """Return the judge of a problem; being cheap, it holds out every row."""
        return cls(
            problem.samples, labels, problem.reserve, threads_for(len(problem.samples), settings.n_jobs), problem.terms
        )

    @cached_property
    def terms(self) -> Terms:
        """The functions of the inputs that can be fitted."""
        if self.given_terms is not None:
            return self.given_terms
        return Terms.of(self.samples.X.astype(np.float64), self.labels)

    def on(self, held_out: HeldOut) -> "RidgeJudge":
        """Return the same judge with other rows held out."""
        return replace(self, held_out=held_out)

    def judge(self, masks: Sequence[np.ndarray], like: Verdict | None = None, effort: int = 1) -> list[Verdict]:
        """Fit each support in closed form."""
        new = {mask.tobytes(): mask for mask in masks if mask.tobytes() not in self._verdicts}
        self._prepare(list(new.values()))
        self._verdicts.update(zip(new, in_threads(self._verdict, list(new.values()), self.n_jobs), strict=True))
        return [self._verdicts[mask.tobytes()] for mask in masks]

    def tuned(self, mask: np.ndarray, effort: int = 1) -> tuple["RidgeJudge", Verdict]:
        """Return this judge: every verdict already uses the best family."""
        return self, self.judge([mask])[0]

    def residuals(self, verdict: Verdict, rows: np.ndarray) -> FloatArray:
        """Return what the fit to the first split leaves unexplained in some rows, (rows, outputs)."""
        fit: RidgeFit = verdict.state
        return self.samples.Y[rows] - self.samples.loss.mean(fit.design.columns[rows] @ fit.coefficients)

    def families(self, mask: np.ndarray) -> list[str]:
        """Return the families with few enough columns for the rows, from simple to complicated."""
        most = min(MOST_COLUMNS, len(self.samples) / ROWS_PER_COLUMN)
        known = [family for family in FAMILIES if family != "steps" or self.terms.places is not None]
        found = [family for family in known if self._n_columns(family, mask) <= most]
        return found if found and mask.any() else ["linear"]

    def _n_columns(self, family: str, mask: np.ndarray) -> float:
        """Return the approximate number of columns of a family."""
        single, paired = (sum(COLUMNS[kind] for kind in kinds) for kinds in FAMILIES[family])
        sizes = np.bincount(self.labels, minlength=mask.size)[mask]
        n_inputs, n_pairs = sizes.sum(), (sizes.sum() ** 2 - (sizes**2).sum()) / 2
        return 1 + n_inputs * single + n_pairs * paired

    def _verdict(self, mask: np.ndarray) -> Verdict:
        found = [self._fitted(family, mask) for family in self.families(mask)]
        return min(found, key=lambda verdict: self.held_out.typical(verdict.errors))

    def _prepare(self, masks: Sequence[np.ndarray]) -> None:
        """Compute the Gram matrices for all of these supports and earlier ones."""
        wanted: dict[str, np.ndarray] = {}
        for mask in masks:
            for family in self.families(mask):
                wanted[family] = wanted.get(family, False) | mask
        shared = [(family, mask) for family, mask in wanted.items() if self._n_columns(family, mask) <= MOST_COLUMNS]
        in_threads(lambda item: self._equations_of(*item), shared, self.n_jobs)

    def _equations_of(self, family: str, mask: np.ndarray) -> RidgeEquations:
        """Return equations of a family that contain the groups of a mask."""
        design = self._designs.get(family)
        if design is None or (mask & ~design.mask).any():
            whole = mask if design is None else mask | design.mask
            chosen = whole if self._n_columns(family, whole) <= MOST_COLUMNS else mask
            design = self._designs[family] = Design.of(self.terms, chosen, *FAMILIES[family])
        found = self._equations.get(family)
        if found is None or found.design is not design:
            Y, weights = self.samples.Y.astype(np.float64), self.samples.weights.astype(np.float64)
            data = design, Y, weights, self.held_out.splits
            loss = self.samples.loss
            found = NormalEquations(*data) if loss == SQUARED else ReweightedEquations(*data, loss)
            self._equations[family] = found
        return found

    def _fitted(self, family: str, mask: np.ndarray) -> Verdict:
        equations = self._equations_of(family, mask)
        strengths = STRENGTHS if self.samples.loss.measured else LIKELIHOOD_STRENGTHS
        fits = equations.coefficients(mask, strengths)
        best, losses, errors = equations.best(fits, self.held_out, self.samples.loss)
        state = RidgeFit(family, strengths[best], equations.design, fits[0][best])
        return Verdict(mask, losses, errors, state)
