"""The interface of judges, which turn supports into held-out losses; the search depends on nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.search.held_out import HeldOut


@dataclass(frozen=True, eq=False)
class Verdict:
    """The result of judging one support.

    Attributes
    ----------
    mask : (groups,) bool
        The support.
    losses : tuple of (test,)
        Loss of each held-out row, one array for each split.
    errors : (pieces,)
        Mean loss of each piece of held-out rows.
    state : anything
        Private to the judge: for instance fitted parameters to start from.
    """

    mask: np.ndarray
    losses: tuple[FloatArray, ...]
    errors: FloatArray
    state: Any = None


class Judge(Protocol):
    """Fits functions of the inputs of a support to the training rows, and scores them on the held-out rows."""

    @property
    def name(self) -> str:
        """The name of the judge."""

    @property
    def fewest_rows(self) -> int:
        """How many rows it needs."""

    @property
    def held_out(self) -> HeldOut:
        """The rows that it scores on."""

    def judge(self, masks: Sequence[np.ndarray], like: Verdict | None = None, effort: int = 1) -> list[Verdict]:
        """Return a verdict for each support.

        Parameters
        ----------
        masks : sequence of (groups,) bool
        like : Verdict, optional
            Of a similar support: fits may start from its state.
        effort : int
            How hard to try, for instance the number of random starts; a closed form ignores it.
        """

    def on(self, held_out: HeldOut) -> Self:
        """Return the same judge with other rows held out."""

    def tuned(self, mask: np.ndarray, effort: int = 1) -> tuple[Self, Verdict]:
        """Return the judge with the options that suit this support best, and its verdict."""

    def residuals(self, verdict: Verdict, rows: np.ndarray) -> FloatArray:
        """Return the residuals of the fit to the first split in some rows, (rows, outputs)."""
