"""The choice between the kinds of heads: the simplest that is not worse than a more complicated one."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from fewvars._common.validation import FloatArray
from fewvars.heads.kind import Fit, HeadKind, Trial
from fewvars.heads.mean import MeanHead


@dataclass(frozen=True, eq=False)
class HeadChoice:
    """The name of the chosen kind, how to fit it, and the errors (pieces,) of the best of each kind tried, by name."""

    name: str
    fit: Fit
    errors: dict[str, FloatArray]


def choose_head(kinds: Sequence[HeadKind], trial: Trial) -> HeadChoice:
    """Choose among kinds, ordered from simple to complicated, on the held-out blocks; the mean without inputs."""
    if not trial.X.shape[1]:
        return HeadChoice(MeanHead.name, partial(MeanHead.fit, loss=trial.loss), {})
    errors: dict[str, FloatArray] = {}
    name, fit = "", None
    for kind in kinds:
        if len(kinds) > 1 and not kind.suits(trial.X, trial.y):
            continue
        chosen = kind.choose(trial, errors.get(name))
        if fit is None or not trial.held_out.not_worse(errors[name], chosen.errors):
            name, fit = kind.head.name, chosen.fit
        errors[kind.head.name] = chosen.errors
    if fit is None:
        raise ValueError("None of the kinds of heads suits these data.")
    return HeadChoice(name, fit, errors)
