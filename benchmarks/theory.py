"""The paper's theorems on Lorenz-96 data: constants, margins and steps, and the figures of `docs/theory.md`.

Run with `python -m benchmarks.theory` (about two minutes on one core); it prints tables in Markdown and writes SVG
files to `docs/_static`. The data are not the paper's: another initial condition, equation and noise seed.
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np

from fewvars import theory
from fewvars.engine.network import Network
from fewvars.engine.penalties import InputGroups
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import MonotoneFit, Objective, adam, monotone
from fewvars.problems.datasets import lorenz96_dataset
from fewvars.problems.targets import lorenz_equation

OUTER_BOUND = 2.0  # a box that contains both runs
BLUE, ORANGE, GREY = "#2166ac", "#d6604d", "#777777"


def lorenz() -> tuple[Objective, np.ndarray]:
    """Return the problem after the first stage: 8000 rows, 40 inputs, one hidden layer of 20, and its parameters."""
    start = 8.0 + np.random.default_rng(100).standard_normal(40)
    data = lorenz96_dataset(lorenz_equation(7), x0=start, noise_x=0.02, noise_y=0.02, seed=100)
    X, y = data.X_train, data.y_train
    samples, network = Samples.of(X / X.std(axis=0), y / y.std()), Network(40, (20,))
    first = adam(network, samples, n_updates=1600, batch_size=100, ridge=1e-3)
    W = network.layers(first.theta)[0].weights
    penalty = InputGroups.of(40).adaptive(W)
    return Objective(network, samples, penalty, 0.3 / penalty.value(W), ridge=1e-3), first.theta


def table(title: str, rows: list[tuple[str, str]]) -> None:
    print(f"\n| {title} | |\n|---|---|")
    for name, value in rows:
        print(f"| {name} | {value} |", flush=True)


def constants(objective: Objective, theta: np.ndarray) -> None:
    printed, rigorous = (theory.lipschitz_constant(objective, OUTER_BOUND, form=f) for f in ("printed", "rigorous"))
    table(
        f"constants, entries of the outer layer up to {OUTER_BOUND:g}",
        [
            ("as printed", f"{printed:.4g}"),
            ("rigorous", f"{rigorous:.4g}"),
            ("measured after the first stage", f"{theory.local_lipschitz(objective, theta):.3g}"),
        ],
    )


def failure() -> None:
    """Show data on which the printed constant is exceeded."""
    network = Network(1, (1,))
    objective = Objective(network, Samples.of([[0.0], [1.0]], [20.0, 20.0]))
    measured = theory.local_lipschitz(objective, np.zeros(network.n_parameters))
    printed, rigorous = (theory.lipschitz_constant(objective, 0.5, form=f) for f in ("printed", "rigorous"))
    table(
        "x = 0 and 1, y = 20, one unit, entries up to 0.5",
        [
            ("as printed", f"{printed:.3g}"),
            ("measured at theta = 0", f"{measured:.3g}"),
            ("rigorous", f"{rigorous:.3g}"),
        ],
    )


def decay(run: theory.LossDecay, bound: theory.StationarityBound) -> None:
    table(
        f"tau = 0.5 / C, {len(run.squared_steps)} iterations, all samples",
        [
            ("F at the start, at the end", f"{run.objectives[0]:.4f}, {run.objectives[-1]:.4f}"),
            ("stayed in the box", f"{run.inside}: entries up to {run.outer_entries.max():.2f}"),
            ("smallest margin, Theorem 1 as printed", f"{run.printed_margins.min():.2g}"),
            ("smallest margin, sharper form", f"{run.sharp_margins.min():.2g}"),
            ("rounding allowed for", f"{run.rounding.max():.1g}"),
            ("both hold at every iteration", str(run.holds)),
            ("mean squared distance to stationarity", f"{bound.means[-1]:.2g}"),
            ("Theorem 2's bound, as printed", f"{bound.printed_bounds[-1]:.2g}"),
            ("Theorem 2's bound, sharper form", f"{bound.sharp_bounds[-1]:.2g}"),
            ("Theorem 2 holds after every iteration", str(bound.holds)),
        ],
    )


def backtracking(fit: MonotoneFit, run: theory.LossDecay, objective: Objective, start: np.ndarray) -> None:
    ratios, outer = fit.steps / run.step, objective.network.layers(fit.theta)[-1].weights
    distances = [theory.stationarity(objective, theta) for theta in (start, run.theta, fit.theta)]
    table(
        f"backtracking, {fit.n_updates} iterations",
        [
            ("F at the end", f"{fit.losses[-1]:.4f}"),
            ("iterations at which F rose", str((np.diff([run.objectives[0], *fit.losses]) > 0).sum())),
            ("median step over 0.5 / C", f"{np.median(ratios):.0f}"),
            ("mean step over 0.5 / C", f"{ratios.mean():.0f}"),
            ("smallest step over 0.5 / C", f"{ratios.min():.0f}"),
            ("largest constant met", f"{fit.constant:.0f}"),
            ("entries of the outer layer at the end", f"up to {np.abs(outer).max():.2f}"),
            ("distance to stationarity at the start", f"{distances[0]:.2g}"),
            ("after the run with 0.5 / C", f"{distances[1]:.2g}"),
            ("after the run with backtracking", f"{distances[2]:.2g}"),
        ],
    )


def batches(objective: Objective, theta: np.ndarray) -> None:
    run = theory.check_loss_decay(objective, theta, outer_bound=OUTER_BOUND, batch_size=100, n_iterations=200, n_runs=4)
    bound = theory.check_stationarity(run)
    table(
        "mini-batches of 100, 200 iterations, 4 runs",
        [
            ("estimate of mu", f"{run.variance:.3g}"),
            ("mu / (2C), the rise that Theorem 1 allows in one iteration", f"{run.variance / (2 * run.constant):.2g}"),
            ("F fell by, in 200 iterations", f"{run.objectives[0] - run.objectives[-1]:.2g}"),
            ("smallest margin in the mean", f"{run.printed_margins.min():.2g}"),
            ("smallest margin of the sharper form, over all runs", f"{run.sharp_margins.min():.2g}"),
            ("mean squared distance, Theorem 2's bound", f"{bound.means[-1]:.2g}, {bound.printed_bounds[-1]:.3g}"),
            ("all hold", str(run.holds and bound.holds)),
        ],
    )


def save(figure: plt.Figure, path: Path) -> None:
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
    plt.close(figure)
    print(f"wrote {path}", flush=True)


def draw_margins(run: theory.LossDecay, path: Path) -> None:
    figure, axes = plt.subplots(figsize=(6.4, 3.2))
    iterations = np.arange(1, len(run.rounding) + 1)
    axes.semilogy(iterations, -np.diff(run.objectives), color=GREY, label="fall of F")
    axes.semilogy(iterations, run.printed_margins, color=BLUE, label="margin, Theorem 1 as printed")
    axes.semilogy(iterations, run.sharp_margins, color=ORANGE, label="margin, sharper form")
    axes.semilogy(iterations, run.rounding, color=GREY, linestyle=":", label="rounding")
    axes.set(xlabel="iteration", ylabel="right side less left side")
    axes.legend(frameon=False, fontsize="small", loc="center right", bbox_to_anchor=(1.0, 0.4))
    save(figure, path)


def draw_steps(fit: MonotoneFit, run: theory.LossDecay, path: Path) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.0, 3.0), layout="constrained")
    iterations = np.arange(1, fit.n_updates + 1)
    # Every third: the sizes alternate between long and short, and both shall show.
    left.semilogy(iterations[::3], fit.steps[::3], ".", markersize=2, color=BLUE)
    left.axhline(run.step, color=ORANGE)
    left.set(xlabel="iteration", ylabel="step size")
    right.semilogx(iterations, run.objectives[1:], color=ORANGE, label="step 0.5 / C")
    right.semilogx(iterations, fit.losses, color=BLUE, label="backtracking")
    right.set(xlabel="iteration", ylabel="F", ylim=(0.0, None))
    right.legend(frameon=False, fontsize="small", loc="lower left")
    save(figure, path)


def draw_stationarity(run: theory.LossDecay, bound: theory.StationarityBound, path: Path) -> None:
    figure, axes = plt.subplots(figsize=(6.4, 3.2))
    iterations = np.arange(1, len(bound.means) + 1)
    axes.loglog(iterations, bound.printed_bounds, color=BLUE, label="Theorem 2's bound, as printed")
    axes.loglog(iterations, bound.sharp_bounds, color=ORANGE, label="sharper form")
    axes.loglog(iterations, bound.means, color="black", label="mean of the squared distances so far")
    axes.set(xlabel="iteration", ylabel="squared distance to stationarity")
    axes.legend(frameon=False, fontsize="small")
    save(figure, path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figures", type=Path, default=Path("docs/_static"))
    figures = parser.parse_args().figures
    figures.mkdir(parents=True, exist_ok=True)
    plt.rcParams["svg.hashsalt"] = "fewvars"  # the same bytes in every run

    OBJECTIVE, START = lorenz()
    failure()
    constants(OBJECTIVE, START)
    RUN = theory.check_loss_decay(OBJECTIVE, START, outer_bound=OUTER_BOUND)
    BOUND = theory.check_stationarity(RUN)
    decay(RUN, BOUND)
    FIT = monotone(OBJECTIVE, START, max_iterations=2000)
    backtracking(FIT, RUN, OBJECTIVE, START)
    batches(OBJECTIVE, START)
    draw_margins(RUN, figures / "theory-margins.svg")
    draw_steps(FIT, RUN, figures / "theory-steps.svg")
    draw_stationarity(RUN, BOUND, figures / "theory-stationarity.svg")
