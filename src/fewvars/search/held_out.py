"""Rows held out of the fits, cut into pieces, and the paired comparison of errors over these pieces."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from fewvars._common.paired import log_ratio, mean_and_error
from fewvars._common.validation import FloatArray
from fewvars.engine.losses import SQUARED
from fewvars.series.splits import SMALLEST_PIECE, pieces

# Standard errors of the paired comparison: two models are as good within ONE; one is better beyond TWO.
TIE, EVIDENCE = 1.0, 2.0
NEGLIGIBLE = 1e-12  # squared error, in units of the variance of y


class RowLoss(Protocol):
    """The part of a `Loss` that comparisons need."""

    def values(self, predicted: FloatArray, Y: FloatArray) -> FloatArray:
        """Return the loss of each row, (n,), for predictions and targets (n, outputs)."""


class Predictor(Protocol):
    """A fitted function."""

    def predict(self, X: FloatArray) -> FloatArray:
        """Return predictions (n, outputs)."""


@dataclass(frozen=True, eq=False)
class Constant:
    """The null model: a function of no inputs that returns the same (outputs,) for every row."""

    value: FloatArray

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the value for every row, (n, outputs)."""
        return np.broadcast_to(self.value, (len(X), self.value.size))


@dataclass(frozen=True, eq=False)
class Scored:
    """Models fitted to the training rows of each split, and their losses on the held-out rows.

    Attributes
    ----------
    models : one for each split
    losses : tuple of (test,), one for each split
    errors : (pieces,) mean loss of each piece
    """

    models: tuple[Any, ...]
    losses: tuple[FloatArray, ...]
    errors: FloatArray


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Held-out rows and the pieces whose errors are compared pair by pair.

    Attributes
    ----------
    splits : tuple of (train, test) row numbers
    labels : tuple of (test,) piece of each held-out row, counted on through the splits
    weights : (pieces,) total sample weight of each piece
    by_ratio : bool
        Whether errors are compared by their ratios, piece by piece. Log losses are compared by their differences: a
        ratio would favour a model that is confident in most pieces and badly wrong in a few.
    """

    splits: tuple[tuple[np.ndarray, np.ndarray], ...]
    labels: tuple[np.ndarray, ...]
    weights: FloatArray
    by_ratio: bool = True

    @classmethod
    def of(
        cls,
        splits: Iterable[tuple[np.ndarray, np.ndarray]],
        sample_weight: FloatArray,
        trajectory: np.ndarray | None = None,
        max_pieces: int = 100,
        *,
        by_ratio: bool = True,
    ) -> "HeldOut":
        """Cut the held-out rows of each split into contiguous pieces; merge neighbours if they are many or small."""
        splits = tuple((np.asarray(train), np.asarray(test)) for train, test in splits)
        labels, count = [], 0
        for _, test in splits:
            found = pieces(test, trajectory)
            n_found = int(found.max()) + 1
            most = max_pieces // len(splits)
            allowed = max(2, min(most, len(test) // SMALLEST_PIECE) if trajectory is None else most)
            if n_found == 1:  # a single piece has no spread, so it is cut
                found, n_found = np.argsort(np.argsort(test)), len(test)
            if n_found > allowed:
                found = found * allowed // n_found
            labels.append(found + count)
            count += int(found.max()) + 1
        weights = np.zeros(count)
        for (_, test), label in zip(splits, labels, strict=True):
            weights += np.bincount(label, sample_weight[test], minlength=count)
        return cls(splits, tuple(labels), weights, by_ratio)

    @cached_property
    def tested(self) -> np.ndarray:
        """The held-out rows of all splits, one split after the other."""
        return np.concatenate([test for _, test in self.splits])

    @cached_property
    def _pieces(self) -> np.ndarray:
        """The piece of each of them."""
        return np.concatenate(self.labels)

    def first(self, n: int = 1) -> "HeldOut":
        """Keep only the first n splits, by default one."""
        labels = self.labels[:n]
        return HeldOut(self.splits[:n], labels, self.weights[: int(labels[-1].max()) + 1], self.by_ratio)

    def thinned(self, every: int, sample_weight: FloatArray) -> "HeldOut":
        """Return the same pieces of the data that consist of rows 0, every, 2 every, ..., given the weights of all."""
        kept = [test % every == 0 for _, test in self.splits]
        labels = tuple(label[own] for label, own in zip(self.labels, kept, strict=True))
        weights = np.zeros_like(self.weights)
        for (_, test), label, own in zip(self.splits, labels, kept, strict=True):
            weights += np.bincount(label, sample_weight[test[own]], minlength=weights.size)
        splits = tuple(
            (train[train % every == 0] // every, test[test % every == 0] // every) for train, test in self.splits
        )
        return HeldOut(splits, labels, weights, self.by_ratio)

    def score(
        self,
        fit: Callable[[int, np.ndarray], Predictor],
        X: FloatArray,
        Y: FloatArray,
        sample_weight: FloatArray,
        loss: RowLoss = SQUARED,
    ) -> Scored:
        """Fit each split, predict its held-out rows and score the pieces.

        Parameters
        ----------
        fit : callable
            Takes the number of a split and its training rows, and returns a model.
        X, Y : (n, inputs) and (n, outputs)
        sample_weight : (n,)
        loss : RowLoss
        """
        models = tuple(fit(k, train) for k, (train, _) in enumerate(self.splits))
        losses = tuple(
            loss.values(model.predict(X[test]), Y[test]) for model, (_, test) in zip(models, self.splits, strict=True)
        )
        return Scored(models, losses, self.piece_errors(losses, sample_weight))

    def piece_errors(self, losses: Sequence[FloatArray], sample_weight: FloatArray) -> FloatArray:
        """Return the mean loss of each piece, given those of the held-out rows of each split."""
        lost = sample_weight[self.tested] * np.concatenate(losses)
        total = np.bincount(self._pieces, lost, minlength=self.weights.size)
        return total / np.where(self.weights > 0, self.weights, 1.0)

    def mean(self, errors: FloatArray) -> float:
        """Return the mean over all held-out rows of what `piece_errors` returned."""
        return float(self.weights @ errors / self.weights.sum())

    def typical(self, errors: FloatArray) -> float:
        """Return the geometric mean over the pieces, which hard pieces do not dominate, or the plain mean."""
        if not self.by_ratio:
            return self.mean(errors)
        return float(np.exp(self.mean(np.log(errors + NEGLIGIBLE))))

    def measured(self, errors: FloatArray) -> tuple[float, float]:
        """Return the mean of what `piece_errors` returned, and its standard error over the pieces."""
        return mean_and_error(errors, self.weights)

    def excess(self, errors: FloatArray, reference: FloatArray) -> tuple[float, float]:
        """Return the mean difference to the reference and its standard error over the pieces."""
        return mean_and_error(errors - reference, self.weights)

    def log_ratio(self, errors: FloatArray, reference: FloatArray) -> tuple[float, float]:
        """Return the mean logarithm of the ratio to the reference and its standard error over the pieces.

        Without ratios, the mean difference as a share of the reference.
        """
        if not self.by_ratio:
            return mean_and_error((errors - reference) / max(self.mean(reference), NEGLIGIBLE), self.weights)
        return log_ratio(errors, reference, self.weights, NEGLIGIBLE)

    def not_worse(self, errors: FloatArray, reference: FloatArray, tolerance: float = TIE) -> bool:
        """Return whether the errors exceed the reference by no more than some standard errors, by default one.

        Without any tolerance, errors that are not larger on average are not worse either.
        """
        mean, spread = self.log_ratio(errors, reference)
        return mean <= tolerance * spread or (not tolerance and self.mean(errors) <= self.mean(reference))

    def better(self, errors: FloatArray, reference: FloatArray, evidence: float = EVIDENCE) -> bool:
        """Return whether the errors are significantly below the reference."""
        mean, spread = self.log_ratio(errors, reference)
        return mean < -evidence * spread

    def worse(self, errors: FloatArray, reference: FloatArray) -> bool:
        """Return whether the errors are significantly above the reference."""
        mean, spread = self.log_ratio(errors, reference)
        return mean > EVIDENCE * spread

    def smallest_not_worse(self, errors: Sequence[FloatArray], evidence: float = EVIDENCE) -> int:
        """Return the index of the first model, ordered by size, that is not worse than the best.

        The very first is chosen unless the best is better by some standard errors, by default two.
        """
        best = min(errors, key=self.typical)
        if not self.better(best, errors[0], evidence):
            return 0
        return next(k for k, error in enumerate(errors) if self.not_worse(error, best))
