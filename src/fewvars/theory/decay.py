"""Theorem 1, loss decay: both sides of its inequality along proximal gradient runs in double precision."""

from dataclasses import dataclass, replace

import numpy as np

from fewvars._common.validation import FloatArray, check_real, check_whole
from fewvars.engine.solvers import Objective
from fewvars.theory.constants import lipschitz_constant


@dataclass(frozen=True, eq=False)
class LossDecay:
    """Both sides of Theorem 1 along a run of K iterations, or along several runs with mini-batches.

    A margin is the right side of an inequality minus its left side.

    Attributes
    ----------
    theta : (n_parameters,) where the (first) run ended
    objectives : (K + 1,) F(theta_k), mean over the runs
    squared_steps : (K,) |theta_{k+1} - theta_k|^2, mean over the runs
    bregman : (K,) Bregman distance of the penalty from theta_k to theta_{k+1}, mean over the runs
    squared_distances : (K,) dist(0, subdifferential of F at theta_{k+1})^2, mean over the runs
    variances : (K,) |g_k - gradient|^2, mean over the runs; zero without mini-batches
    printed_margins : (K,)
        Margins of F_{k+1} + (1/tau - C) |step|^2 <= F_k + mu / (2C), averaged over the runs.
    sharp_margins : (K,)
        Margins of F_{k+1} + D + (1/tau - C/2) |step|^2 <= F_k + <gradient - g_k, step>. This inequality holds in
        every single run, so the smallest margin of all runs is given. It is the descent lemma: the margin is
        C/2 |step|^2 minus the second-order change of L along the step.
    rounding : (K,) error of the margins from rounding: 256 units in the last place of F + |theta| |step| / tau
    outer_entries : (K + 1,) largest absolute value in the outer layer
    step : float
        tau.
    constant : float
        C.
    outer_bound : float
        C is valid while no entry of the outer layer exceeds this bound; infinite if C was given.
    """

    theta: FloatArray
    objectives: FloatArray
    squared_steps: FloatArray
    bregman: FloatArray
    squared_distances: FloatArray
    variances: FloatArray
    printed_margins: FloatArray
    sharp_margins: FloatArray
    rounding: FloatArray
    outer_entries: FloatArray
    step: float
    constant: float
    outer_bound: float

    @property
    def variance(self) -> float:
        """The largest variance along the run, an estimate of mu."""
        return float(self.variances.max(initial=0.0))

    @property
    def inside(self) -> bool:
        """Whether the runs stayed in the box on which the constant is valid."""
        return bool((self.outer_entries <= self.outer_bound).all())

    @property
    def holds(self) -> bool:
        """Whether both inequalities hold at every iteration, up to `rounding`."""
        return bool((np.minimum(self.printed_margins, self.sharp_margins) >= -self.rounding).all())

    @property
    def worst_margin(self) -> float:
        """The smallest margin of both inequalities."""
        return float(np.minimum(self.printed_margins, self.sharp_margins).min(initial=np.inf))


def check_loss_decay(
    objective: Objective,
    theta: FloatArray,
    *,
    n_iterations: int = 2000,
    fraction: float = 0.5,
    outer_bound: float | None = None,
    constant: float | None = None,
    batch_size: int | None = None,
    n_runs: int = 8,
    seed: int = 0,
) -> LossDecay:
    """Run proximal gradient with steps tau = fraction / C from theta and evaluate Theorem 1 at every iteration.

    Parameters
    ----------
    objective : Objective
        Its penalty must be convex; no penalty is allowed, too.
    fraction : float
        At most 1, as the theorem requires.
    outer_bound : float, optional
        Bound of the box for `lipschitz_constant`: by default twice the largest entry of the outer layer of `theta`.
    constant : float, optional
        C itself, for networks of any depth. The caller is then responsible for its validity.
    batch_size : int, optional
        Size of mini-batches, drawn without replacement at every iteration. By default all samples are used.
    n_runs : int
        Number of runs to average over, with mini-batches.
    seed : int
        Seed of the mini-batches.
    """
    theta = np.asarray(theta, np.float64).copy()
    check_whole("n_iterations", n_iterations)
    if not 0 < check_real("fraction", fraction, strict=True) <= 1:
        raise ValueError(f"fraction={fraction!r}: Theorem 1 holds for steps of at most 1 / C. Give at most 1.")
    _check_covered(objective, theta)
    if constant is None:
        if outer_bound is None:
            outer_bound = 2.0 * _largest_outer(objective, theta)
        constant = lipschitz_constant(objective, check_real("outer_bound", outer_bound, strict=True))
    elif outer_bound is not None:
        raise ValueError(f"outer_bound={outer_bound!r} and constant={constant!r}: give only one of them.")
    C = check_real("constant", constant, strict=True)
    rngs: list[np.random.Generator | None] = [None]
    if batch_size is not None:
        if check_whole("batch_size", batch_size) > len(objective.samples):
            raise ValueError(
                f"batch_size={batch_size!r}: there are only {len(objective.samples)} samples. Give at most that many."
            )
        rngs = [np.random.default_rng([seed, run]) for run in range(check_whole("n_runs", n_runs))]
    tau = fraction / C
    runs = [_run(objective, theta, tau, C, n_iterations, batch_size or 0, rng) for rng in rngs]
    table = np.array([rows for _, rows in runs])  # (runs, K + 1, columns)
    values, steps, bregman, distances, errors, sharp, rounding, outer = np.moveaxis(table, 2, 0)
    mean, mean_steps, variances = values.mean(axis=0), steps.mean(axis=0)[1:], errors.mean(axis=0)[1:]
    return LossDecay(
        theta=runs[0][0],
        objectives=mean,
        squared_steps=mean_steps,
        bregman=bregman.mean(axis=0)[1:],
        squared_distances=distances.mean(axis=0)[1:],
        variances=variances,
        printed_margins=mean[:-1] + variances.max() / (2 * C) - mean[1:] - (1 / tau - C) * mean_steps,
        sharp_margins=sharp.min(axis=0)[1:],
        rounding=rounding.max(axis=0)[1:],
        outer_entries=outer.max(axis=0),
        step=tau,
        constant=C,
        outer_bound=np.inf if outer_bound is None else float(outer_bound),
    )


def _run(
    objective: Objective,
    theta: FloatArray,
    tau: float,
    C: float,
    n_iterations: int,
    batch_size: int,
    rng: np.random.Generator | None,
) -> tuple[FloatArray, FloatArray]:
    """Return the last theta, and one row for each theta with the columns that `check_loss_decay` unpacks."""
    smooth, gradient = objective.smooth(theta)
    rough = objective.rough(theta)
    rows = np.zeros((n_iterations + 1, 8))
    rows[0] = smooth + rough, 0, 0, 0, 0, 0, 0, _largest_outer(objective, theta)
    for row in rows[1:]:
        value = smooth + rough
        used = gradient if rng is None else _batch_gradient(objective, theta, batch_size, rng)
        new = objective.step(theta, used, tau)
        step, error = new - theta, gradient - used
        # The prox gives -p = g + step / tau with a subgradient p at the new point, which is 0 outside of one layer.
        product = np.vdot(objective.penalised(used + step / tau), objective.penalised(step))
        before, (smooth, gradient), rough = rough, objective.smooth(new), objective.rough(new)
        bregman = before - rough - product
        squared = float(step @ step)
        row[:] = (
            smooth + rough,
            squared,
            bregman,
            objective.distance(new, gradient, tau) ** 2,
            error @ error,
            value + error @ step - (smooth + rough) - bregman - (1 / tau - C / 2) * squared,
            2**8 * np.finfo(float).eps * (abs(value) + np.linalg.norm(new) * np.sqrt(squared) / tau),
            _largest_outer(objective, new),
        )
        theta = new
    return theta, rows


def _batch_gradient(objective: Objective, theta: FloatArray, batch_size: int, rng: np.random.Generator) -> FloatArray:
    samples, chosen = objective.samples, rng.choice(len(objective.samples), batch_size, replace=False)
    # Not `samples.rows`: weights scaled to mean one within the batch would bias its gradient.
    batch = replace(samples, X=samples.X[chosen], Y=samples.Y[chosen], weights=samples.weights[chosen])
    return objective.network.loss_gradient(theta, batch, objective.ridge)[1]


def _largest_outer(objective: Objective, theta: FloatArray) -> float:
    layer = objective.network.layers(theta)[-1]
    return float(max(np.abs(layer.weights).max(), np.abs(layer.biases).max()))


def _check_covered(objective: Objective, theta: FloatArray) -> None:
    penalty = objective.penalty
    if penalty is not None and not penalty.convex:
        raise ValueError(
            f"penalty={penalty!r} is not convex: with larger weights on smaller singular values the Bregman distance "
            "can be negative, but the proof of Theorem 1 drops it. Give equal weights (`SingularValues.of`), or use "
            "`solvers.monotone`, which does not need convexity."
        )
    if penalty is not None:
        W = objective.penalised(theta)
        # At strength zero the prox only removes frozen groups, where the penalty is infinite unless they are zero.
        if (penalty.support(penalty.prox(W, 0.0)) != penalty.support(W)).any():
            raise ValueError("theta is not zero where the penalty is frozen: set these inputs to zero first.")
