"""The choice between the kinds of heads: the simplest that is not worse than a more complicated one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fewvars._common.validation import FloatArray
from fewvars.engine.losses import SQUARED, Loss, robust_spread
from fewvars.heads.head import Head
from fewvars.heads.kind import Chosen, Fit, HeadKind, Trial
from fewvars.heads.mean import MeanHead
from fewvars.search.held_out import HeldOut
from fewvars.series.outliers import clip_outliers

# Fits whose residuals set the threshold of Huber's loss; one that falls by less than a fifth is not worth another fit.
MOST_MATCHES, CLOSE = 3, 0.8
CLIPPINGS = 2  # outliers distort the first function, which then does not reveal all of them


@dataclass(frozen=True, eq=False)
class HeadChoice:
    """The chosen kind of head and the errors behind the choice.

    Attributes
    ----------
    kind : HeadKind or None
        None for the best constant.
    chosen : Chosen
        Its candidate.
    errors : dict
        Held-out errors (pieces,) of the best of each kind tried, by name.
    trial : Trial
        The data on which they were compared.
    """

    kind: HeadKind | None
    chosen: Chosen
    errors: dict[str, FloatArray]
    trial: Trial

    @property
    def fit(self) -> Fit:
        """How the chosen candidate is fitted."""
        return self.chosen.fit

    @property
    def name(self) -> str:
        """The name of the chosen kind of head."""
        return MeanHead.name if self.kind is None else self.kind.head.name

    @property
    def simpler(self) -> list[str]:
        """The names of the kinds that were tried before the chosen one."""
        names = list(self.errors)
        return names[: names.index(self.name)] if self.name in names else []


def choose_head(kinds: Sequence[HeadKind], trial: Trial) -> HeadChoice:
    """Choose among kinds, ordered from simple to complicated, on the held-out blocks; a constant without inputs."""
    if not trial.X.shape[1]:
        return HeadChoice(None, Chosen(trial.null_model, trial.score(trial.null_model)), {}, trial)
    errors: dict[str, FloatArray] = {}
    best: HeadChoice | None = None
    for kind in kinds:
        if len(kinds) > 1 and not kind.suits(trial.X, trial.y):
            continue
        chosen = kind.choose(trial, None if best is None else best.chosen.scored)
        if chosen is None:
            continue
        if best is not None and _deserves_a_second_look(chosen, best.chosen, trial.held_out):
            chosen = replace(chosen, scored=trial.score(chosen.rough or chosen.fit))
        errors[kind.head.name] = chosen.errors
        if best is None or _improves(chosen.errors, best.chosen.errors, trial.held_out):
            best = HeadChoice(kind, chosen, errors, trial)
    if best is None:
        raise ValueError("No kind of head is suitable for these data.")
    return best


def fit_chosen_head(kinds: Callable[[Loss], Sequence[HeadKind]], trial: Trial) -> tuple[Head, HeadChoice]:
    """Choose a head and fit it to all rows, under the loss of the trial, with a scale that matches the residuals.

    Under squared error, outliers on both sides are clipped if a function that is fitted without them predicts held-out
    rows, outliers included, better; the trial of the choice then holds what is left of them. Labels, and counts that
    are mostly zero, have none.

    Parameters
    ----------
    kinds : callable
        Returns the kinds to choose from, given the loss that is matched to residuals.
    """
    loss = trial.loss.matched(robust_spread(trial.y))
    for _ in range(MOST_MATCHES):
        choice = choose_head(kinds(loss), replace(trial, loss=loss))
        head = choice.fit(trial.X, trial.y, trial.weight)
        matched = trial.loss.matched(robust_spread(trial.y - head.predict(trial.X)))
        if matched.threshold >= CLOSE * loss.threshold:
            break
        loss = matched
    for _ in range(CLIPPINGS if trial.loss == SQUARED and trial.held_out.by_ratio else 0):
        clipped = _usefully_clipped(trial, choice, head)
        if clipped is None:
            break
        choice = choose_head(kinds(loss), replace(trial, y=clipped))
        head = choice.fit(trial.X, clipped, trial.weight)
    return head, choice


def _usefully_clipped(trial: Trial, choice: HeadChoice, head: Head) -> FloatArray | None:
    """Return outputs (n, outputs) without outliers if a function fitted to them predicts the given ones better."""
    predicted = head.predict(trial.X)
    for (_, test), model in zip(trial.held_out.splits, choice.chosen.scored.models, strict=True):
        predicted[test] = model.predict(trial.X[test])  # a function that has seen a row may follow its error
    clipped = clip_outliers(trial.y, predicted)
    if clipped is None:
        return None
    fit, own = choice.fit, choice.trial.y
    with_outliers = trial.score_splits(lambda _, train: fit(trial.X[train], own[train], trial.weight[train])).errors
    without = trial.score_splits(lambda _, train: fit(trial.X[train], clipped[train], trial.weight[train])).errors
    return clipped if _improves(without, with_outliers, trial.held_out) else None


def _deserves_a_second_look(chosen: Chosen, simpler: Chosen, held_out: HeldOut) -> bool:
    """Return whether a head that was fitted quickly is better in most pieces, and is badly wrong in a few."""
    worse_on_average = held_out.mean(chosen.errors) >= held_out.mean(simpler.errors)
    return chosen.quick and worse_on_average and held_out.better(chosen.errors, simpler.errors)


def _improves(errors: FloatArray, simpler: FloatArray, held_out: HeldOut) -> bool:
    """Return whether a head is better than a simpler one on most pieces, and not much worse on a few."""
    return not held_out.not_worse(simpler, errors) and held_out.mean(errors) < held_out.mean(simpler)
