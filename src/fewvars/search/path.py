"""The loop over growing strengths of a penalty, and the record of what is nonzero ("alive") at each of them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, repeat
from operator import mul
from typing import Any, Literal, Protocol

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.network import Network
from fewvars.engine.penalties import Penalty
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import Outcome


@dataclass(frozen=True, eq=False)
class Path:
    """What is alive at each strength of the penalty: groups of inputs, directions, or columns of a layer.

    Attributes
    ----------
    strengths : (m,) increasing
    magnitudes : (m, groups)
        At the end of each strength: norms of the groups' weights, or singular values.
    losses : (m,)
        Training loss at the end of each strength; with mini-batches, the mean over the last quarter of the updates.
    outcome : Outcome
    labels : (inputs,) or None
        Group of each input; None for directions, and for columns of later layers.
    tolerance : float
        A magnitude counts as zero up to this share of the largest.
    distances : (m,) or None
        Of the monotone solver: the distance of zero from the subdifferential of L + ridge + strength * penalty
        on all inputs, those dropped included, at the end of each strength.
    steps, constants : (m,) or None
        Of the monotone solver: the smallest step taken at each strength, and the largest ratio of the change of the
        gradient to the step, an estimate from below of its Lipschitz constant.
    degrees_of_freedom, bic : (m,) or None
        Where BIC chooses the strength.
    """

    strengths: FloatArray
    magnitudes: FloatArray
    losses: FloatArray
    outcome: Outcome
    labels: np.ndarray | None = None
    tolerance: float = 0.0
    distances: FloatArray | None = None
    steps: FloatArray | None = None
    constants: FloatArray | None = None
    degrees_of_freedom: np.ndarray | None = None
    bic: FloatArray | None = None

    @classmethod
    def empty(cls, n_groups: int, **fields: Any) -> "Path":
        """Return an empty path, for a search without one."""
        return cls(np.zeros(0), np.zeros((0, n_groups)), np.zeros(0), Outcome.FINISHED, **fields)

    @classmethod
    def of(cls, stops: "Sequence[Stop]", magnitudes: Sequence[FloatArray], **fields: Any) -> "Path":
        """Gather the ends of all strengths and the magnitudes (groups,) there."""
        strengths, losses = zip(*((stop.strength, stop.settled_loss) for stop in stops), strict=True)
        return cls(np.array(strengths), np.array(magnitudes), np.array(losses), stops[-1].outcome, **fields)

    @property
    def alive(self) -> np.ndarray:
        """Which groups are alive at each strength, (m, groups)."""
        largest = self.magnitudes.max(axis=1, initial=0.0, keepdims=True)
        return self.magnitudes > self.tolerance * largest

    @property
    def sizes(self) -> np.ndarray:
        """The number of living groups at each strength, (m,)."""
        return self.alive.sum(axis=1)

    @property
    def kind(self) -> Literal["variables", "directions"]:
        """What the penalty selects."""
        return "directions" if self.labels is None else "variables"

    @property
    def supports(self) -> np.ndarray:
        """Which inputs are alive at each strength, (m, inputs); without labels, which groups."""
        return self.alive if self.labels is None else self.alive[:, self.labels]

    @property
    def best(self) -> int:
        """Index of the smallest BIC."""
        if self.bic is None:
            raise ValueError("This path has no BIC: its strength was chosen on held-out blocks.")
        return int(self.bic.argmin())

    def largest_strength(self, size: int) -> float:
        """Return the largest strength at which at least `size` groups were alive; zero if there is none."""
        enough = self.strengths[self.sizes >= size]
        return float(enough[-1]) if enough.size else 0.0

    def nested_supports(self, among: np.ndarray | None = None) -> list[np.ndarray]:
        """Return one set of groups (a mask) for each size, from all (or all of those given, a mask) down to none.

        Groups die in the order of the last strength at which they were alive; those that die together are sorted by
        their magnitudes there.
        """
        if not len(self.strengths):
            return []
        alive = self.alive
        last = np.where(alive.any(axis=0), len(alive) - 1 - alive[::-1].argmax(axis=0), -1)
        magnitudes = np.where(last >= 0, self.magnitudes[last, np.arange(alive.shape[1])], 0.0)
        order = np.lexsort((magnitudes, last))  # the first to die first
        masks = [np.ones(order.size, bool) if among is None else among]
        for group in order[masks[0][order]]:
            masks.append(masks[-1].copy())
            masks[-1][group] = False
        return masks


class Optimiser(Protocol):
    """A network in training, such as `fewvars.solvers.Trainer`."""

    network: Network
    theta: FloatArray
    outcome: Outcome

    def proximal(self, rates: FloatArray, penalty: Any, strength: float, *, momentum: float) -> FloatArray:
        """Make at most one proximal update for each rate; return the losses on the way."""

    def keep_inputs(self, alive: np.ndarray) -> None:
        """Continue with only the inputs of a mask."""


class Walk:
    """A network on its way along the path: its optimiser, the inputs that are left, and the penalty on them."""

    def __init__(self, optimiser: Optimiser, penalty: Any) -> None:
        self.optimiser, self.penalty = optimiser, penalty
        self._n_inputs = optimiser.network.n_inputs
        self._kept = np.arange(self._n_inputs)

    @property
    def alive(self) -> np.ndarray:
        """Which groups of the penalised layer are not zero."""
        return self.penalty.support(self.optimiser.network.layers(self.optimiser.theta)[self.penalty.layer].weights)

    @property
    def theta(self) -> FloatArray:
        """Parameters of the network on all inputs."""
        return self.optimiser.network.restore_inputs(self.optimiser.theta, self._kept, self._n_inputs)

    def drop_inputs(self, alive: np.ndarray) -> None:
        """Remove dead inputs from the network, which makes updates cheaper."""
        self.optimiser.keep_inputs(alive)
        self.penalty = self.penalty.restrict(alive)
        self._kept = self._kept[alive]

    def freeze_columns(self, alive: np.ndarray) -> None:
        """Keep dead columns at zero."""
        self.penalty = replace(self.penalty, frozen=~alive)

    def keep_all(self, alive: np.ndarray) -> None:
        """Let dead groups become nonzero again."""


@dataclass(frozen=True, eq=False)
class Stop:
    """The end of one strength.

    Attributes
    ----------
    strength : float
    theta : (n_parameters,) of the network on all inputs
    losses : (updates,) of the batches on the way
    outcome : Outcome
        FINISHED if nothing is alive, DIVERGED, or else EXHAUSTED.
    """

    strength: float
    theta: FloatArray
    losses: FloatArray
    outcome: Outcome

    @property
    def settled_loss(self) -> float:
        """The mean loss over the last quarter of the updates."""
        return float(self.losses[-max(1, len(self.losses) // 4) :].mean()) if len(self.losses) else np.inf


def follow(
    begin: Callable[[], Optimiser],
    penalty: Penalty,
    strengths: Iterable[float],
    *,
    rates: FloatArray,
    momentum: float = 0.0,
    leave_out: Callable[[Walk, np.ndarray], None] = Walk.drop_inputs,
    warm: bool = True,
) -> Iterator[Stop]:
    """Train at one strength after the other until nothing is left or training diverges.

    Parameters
    ----------
    begin : callable
        Returns the optimiser at the start of the path.
    strengths : iterable of float
        A grid, or `growing` strengths.
    rates : (updates,)
        Learning rates of the updates at each strength.
    leave_out : callable
        What to do about dead groups before the next strength: a method of `Walk`.
    warm : bool
        Whether each strength starts where the previous one ended; if not, the whole grid is tried.
    """
    walk = Walk(begin(), penalty)
    for strength in strengths:
        if not warm:
            walk = Walk(begin(), penalty)
        alive = walk.alive
        if alive.any() and not alive.all():
            leave_out(walk, alive)
        losses = walk.optimiser.proximal(rates, walk.penalty, strength, momentum=momentum)
        outcome = Outcome.EXHAUSTED
        if walk.optimiser.outcome is Outcome.DIVERGED:
            outcome = Outcome.DIVERGED
        elif warm and not walk.alive.any():
            outcome = Outcome.FINISHED
        yield Stop(float(strength), walk.theta, losses, outcome)
        if outcome is not Outcome.EXHAUSTED:
            return


def growing(first: float, factor: float, count: int) -> Iterator[float]:
    """Return strengths that grow by a factor."""
    return accumulate(repeat(factor, count - 1), mul, initial=first)


def starting_strength(samples: Samples, value: float) -> float:
    """Return the strength at which a penalty of this value is a hundredth of the null model's loss."""
    return 0.01 * samples.null_loss() / max(value, 1e-30)
