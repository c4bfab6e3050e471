"""The interface of kinds of heads: a kind lists candidates from simple to complicated, and chooses between them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.losses import SQUARED, Loss
from fewvars.heads.head import Head
from fewvars.heads.mean import MeanHead
from fewvars.search.held_out import EVIDENCE, TIE, HeldOut, Predictor, RowLoss, Scored
from fewvars.series.scaling import Scaling

# Fits a head to X (n, inputs), y (n, outputs) and weights (n,).
Fit = Callable[[FloatArray, FloatArray, FloatArray], Head]


@dataclass(frozen=True)
class HeadSettings:
    """The parameters of an estimator that concern heads; each kind uses some of them.

    Attributes
    ----------
    activation : str
        Of networks.
    max_degree : int
        Of polynomials.
    gap : int
        Rows to leave between training and held-out blocks.
    seed : int
    n_jobs : int, optional
    on_fit : callable
        Called after each fit.
    loss : Loss
        Of targets in the user's units. The head then predicts log-odds, or logarithms of rates.
    """

    activation: str = "tanh"
    max_degree: int = 4
    gap: int = 0
    seed: int = 0
    n_jobs: int | None = None
    on_fit: Callable[[], None] = lambda: None
    loss: Loss = SQUARED


@dataclass(frozen=True, eq=False)
class Chosen:
    """The chosen candidate of one kind: how to fit it, and its scores on the held-out rows.

    `quick` says that it was scored after a shorter fit than the one that it will get. `rough` is a quicker fit that is
    nearly as good, for repetitions.
    """

    fit: Fit
    scored: Scored
    quick: bool = False
    rough: Fit | None = None

    @property
    def errors(self) -> FloatArray:
        """The held-out errors (pieces,)."""
        return self.scored.errors


@dataclass(frozen=True, eq=False)
class StandardisedError:
    """The squared error over the variance of y, averaged over the outputs that vary."""

    scaling: Scaling

    def values(self, predicted: FloatArray, Y: FloatArray) -> FloatArray:
        """Return the error of each row, (n,)."""
        n_varying = max(int((~self.scaling.constant).sum()), 1)
        return (((predicted - Y) / self.scaling.scale) ** 2).sum(axis=1) / n_varying


@dataclass(frozen=True, eq=False)
class Trial:
    """The data on which heads are compared.

    Attributes
    ----------
    X : (n, inputs) the selected variables or combinations
    y : (n, outputs)
    weight : (n,)
    held_out : HeldOut
    loss : Loss
    """

    X: FloatArray
    y: FloatArray
    weight: FloatArray
    held_out: HeldOut
    loss: Loss = SQUARED

    @property
    def row_loss(self) -> RowLoss:
        """The loss; squared error is divided by the variance of y."""
        return StandardisedError(Scaling.of(self.y, self.weight)) if self.loss == SQUARED else self.loss

    @property
    def null_model(self) -> Fit:
        """How the best constant is fitted."""
        return partial(MeanHead.fit, loss=self.loss)

    def score(self, fit: Fit) -> Scored:
        """Fit a head to the training rows of each split, and score it on the held-out rows."""
        return self.score_splits(lambda _, train: fit(self.X[train], self.y[train], self.weight[train]))

    def score_splits(self, fit: Callable[[int, np.ndarray], Predictor]) -> Scored:
        """Do the same with a callable that fits a function, given the number of a split and its training rows."""
        return self.held_out.score(fit, self.X, self.y, self.weight, self.row_loss)

    def simplest_not_worse(self, candidates: Sequence[Fit]) -> Chosen:
        """Return the first of candidates, ordered from simple to complicated, that is not worse than the best."""
        tried = [self.score(fit) for fit in candidates]
        # What a product adds to the logarithm of a rate shows in few rows, so two standard errors are rarely reached.
        counts = not (self.loss.measured or self.loss.labels)
        k = self.held_out.smallest_not_worse([scored.errors for scored in tried], TIE if counts else EVIDENCE)
        return Chosen(candidates[k], tried[k])


class HeadKind(ABC):
    """All heads of one kind. Subclasses are frozen dataclasses whose fields have defaults.

    Attributes
    ----------
    head : type
        The class of its heads.
    squared_only : bool
        Whether it can only be fitted under squared error.
    """

    head: ClassVar[type[Head]]
    squared_only: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def of(cls, settings: HeadSettings) -> Self:
        """Return the kind with the parameters of an estimator."""

    @abstractmethod
    def suits(self, X: FloatArray, y: FloatArray) -> bool:
        """Return whether these data allow such a head; a head that the user names is fitted anyway."""

    @abstractmethod
    def choose(self, trial: Trial, rival: Scored | None) -> Chosen | None:
        """Return the best candidate, or None if none will beat the `rival`, a simpler kind of head."""
