"""The few-directions estimator: directions found, test errors, fit times, next to the paper's method and to peers.

    .venv/bin/python -m benchmarks.few_directions four
    .venv/bin/python -m benchmarks.few_directions paper --figure
    .venv-bench/bin/python -m benchmarks.few_directions iid
    .venv/bin/python -m benchmarks.few_directions special
    .venv/bin/python -m benchmarks.few_directions readings --seeds 100 101 102

`four` is a balanced function of four directions on the paper's trajectory, `paper` the paper's Sec. 4.5. `iid`
compares with sliced inverse regression, principal Hessian directions, active subspaces (ATHENA) and partial least
squares on independent Gaussian inputs. `special` is a function of the mean of all inputs, and pure noise. `readings`
compares readings of the paper's Algorithm 2 on development data, one choice changed at a time.

Angles are the largest principal angle in degrees between two spaces, in coordinates divided by the standard
deviations of the training inputs; if one space is smaller, it is how far that one is from lying in the other, and
if no direction was found, 90. Noise on the trajectory is the paper's: no noise on the inputs, on the outputs 0.02
times M_y, their maximum over times up to 8. Errors are on noiseless data after (or apart from) the training data.

Seeds 0 to 9 are reported. From 100 on they are for development and start the trajectory elsewhere. Every fit is a
line in a JSON Lines file; when started again, only what is missing is run.
"""

import argparse
import importlib
import importlib.util
import os
import sys
import time
import warnings
from functools import partial
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV

import fewvars as fv
from fewvars.paper import AdaptiveDirectionsRegressor
from fewvars.problems import datasets, metrics, targets

from .literal import initial_state
from .rows import collect

SEEDS = range(10)
DEVELOPMENT = 100


def angle(true, found, scale):
    return float(metrics.principal_angles(true, found, scale)[0]) if len(found) else 90.0


def timed_fit(model, *data, **options):
    start = time.perf_counter()
    model.fit(*data, **options)
    return time.perf_counter() - start


def errors(y_true, predicted):
    return {
        "error": metrics.relative_error(y_true, predicted),
        "centred": metrics.centred_error(y_true, predicted),
    }


def start_of(seed):
    return initial_state(seed - DEVELOPMENT) if seed >= DEVELOPMENT else None


# --- the paper's trajectory -------------------------------------------------------------------------------------


def four_directions(seed):
    """g(z) = tanh(z1) + z2 z3 + sin(1.5 z4); z = A x, centred, with unit variance on the training trajectory."""
    matrix = np.random.default_rng(seed).standard_normal((4, 40))
    x0 = start_of(seed)
    X = datasets.lorenz96_trajectory(10_000, x0=None if x0 is None else tuple(x0))[1][:8000]
    z = X @ matrix.T
    directions = matrix / z.std(axis=0)[:, None]
    function = partial(balanced, directions, (z / z.std(axis=0)).mean(axis=0))
    return targets.Target(f"four, seed {seed}", np.ones(40, bool), function, directions)


def balanced(directions, centre, X):
    z1, z2, z3, z4 = (X @ directions.T - centre).T
    return np.tanh(z1) + z2 * z3 + np.sin(1.5 * z4)


def trajectory_fit(case, method, seed):
    """Fit one data set on the trajectory; all methods see the same."""
    target = four_directions(seed) if case == "four" else targets.few_directions(seed)
    data = datasets.lorenz96_dataset(target, noise_y=0.02, seed=seed, x0=start_of(seed))
    model, seconds = fitted(method, seed, data)
    row = {"case": case, "method": method, "seed": seed, "seconds": seconds, "version": fv.__version__}
    row |= errors(data.y_test, model.predict(data.X_test))
    if method in ("ours", "literal"):
        scale = data.X_train.std(axis=0)
        row["k"] = model.n_directions_
        row["angle"] = angle(target.directions, model.directions_, scale)
        row["strong"] = angle(target.directions[:2], model.directions_, scale)
    if method == "literal":
        row["rank"] = model.rank_
    if method == "ours":
        row["head"] = model.head_
    return row


# By default few terms are kept, and this function needs them all (861): the l1 penalty and BIC keep more.
DICTIONARIES = {"dictionary": {}, "l1": {"method": "l1", "criterion": "bic"}}


def fitted(method, seed, data):
    if method in DICTIONARIES:
        model = fv.SparseDictionaryRegressor(**DICTIONARIES[method])
        return model, timed_fit(model, data.X_train, data.y_train)
    if method == "literal":
        model = AdaptiveDirectionsRegressor(random_state=seed)
        return model, timed_fit(model, data.X_train, data.y_train)
    model = fv.FewDirectionsRegressor(random_state=seed)
    return model, timed_fit(model, data.X_train, data.y_train, t=data.t_train)


def four_table(rows):
    lines = [
        "| seed | k | angle | relative error | centred error | head | s |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in sorted(rows, key=lambda row: row["seed"]):
        lines.append(
            f"| {row['seed']} | {row['k']} | {row['angle']:.1f} | {row['error']:.3f} | {row['centred']:.3f} | "
            f"{row['head']} | {row['seconds']:.0f} |"
        )
    lines.append(
        f"| median | {median(rows, 'k'):g} | {median(rows, 'angle'):.1f} | {median(rows, 'error'):.3f} | "
        f"{median(rows, 'centred'):.3f} | | {median(rows, 'seconds'):.0f} |"
    )
    right = sum(row["k"] == 4 for row in rows)
    lines.append(f"\nk = 4 in {right} of {len(rows)}. Goal: 9 of 10, median angle below 8, median error below 0.12.")
    return "\n".join(lines)


NAMES = {
    "ours": "few directions",
    "literal": "Algorithm 2 (literal)",
    "dictionary": "sparse dictionary",
    "l1": "sparse dictionary (l1, BIC)",
}


def paper_table(rows):
    lines = [
        "| method | k | angle to the true space | angle of the two strong directions | relative error "
        "| centred error | s |",
        "|---|---|---|---|---|---|---|",
    ]
    for method, name in NAMES.items():
        some = [row for row in rows if row["method"] == method]
        if not some:
            continue
        known = "k" in some[0]
        found = ", ".join(str(row["k"]) for row in sorted(some, key=lambda row: row["seed"])) if known else ""
        angles = [f"{median(some, key):.1f}" if known else "" for key in ("angle", "strong")]
        lines.append(
            f"| {name} | {found} | {angles[0]} | {angles[1]} | {median(some, 'error'):.3f} | "
            f"{median(some, 'centred'):.3f} | {median(some, 'seconds'):.0f} |"
        )
    lines.append(
        "\nMedians; k for each matrix. Goal for the first row: k = 3 in most, strong directions within 2, error below "
        "0.03."
    )
    return "\n".join(lines)


def draw_curves(seed, path):
    """Draw test outputs and what each method makes of them, as the paper does, for one matrix A."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    data = datasets.lorenz96_dataset(targets.few_directions(seed), noise_y=0.02, seed=seed, x0=start_of(seed))
    figure = Figure(figsize=(8, 6), layout="constrained")
    methods = ("ours", "literal", "l1")
    axes = figure.subplots(len(methods), 1, sharex=True, sharey=True)
    for axis, method in zip(axes, methods, strict=True):
        model, _ = fitted(method, seed, data)
        predicted = model.predict(data.X_test)
        axis.plot(data.t_test, data.y_test, color="tab:blue", linewidth=1.2, label="truth")
        axis.plot(data.t_test, predicted, color="tab:red", linewidth=0.8, label="learned")
        axis.set_title(
            f"{NAMES[method]}: relative error {metrics.relative_error(data.y_test, predicted):.3f}", fontsize=10
        )
        axis.set_ylabel("y")
    axes[-1].set_xlabel("t")
    axes[0].legend(loc="upper right", fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Text stays text, and neither the date nor random names make the file differ from run to run.
    with mpl.rc_context({"svg.hashsalt": "fewvars", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None})
    print(path)


READINGS = {
    "frozen: as for Algorithm 1": {},
    "first two layers begin at Glorot's size": {"first_layer_scale": 1.0},
    "first two layers begin at 0.3 of it": {"first_layer_scale": 0.3},
    "first two layers begin at 0.1 of it": {"first_layer_scale": 0.1},
    "first two layers begin at 0.01 of it": {"first_layer_scale": 0.01},
    "uniform by fan-in, biases too": {"initialisation": "fan_in", "first_layer_scale": 1.0},
    "first stage: 10 epochs": {"n_first": 800},
    "first stage: 100 epochs": {"n_first": 8000},
    "grid from 0.1": {"first_strength": 0.1},
    "cold start at every lambda": {"start": "cold"},
    "second stage: batches of 100": {"second_batch_size": 100},
    "BIC: n log L, columns": {"degrees_of_freedom": "inputs"},
    "three tanh layers after the identity": {"hidden_layer_sizes": (20, 20, 20, 20)},
}


def reading_fit(case, method, seed):
    """Fit the literal Algorithm 2 to the paper's function with one choice changed."""
    target = targets.few_directions(seed)
    data = datasets.lorenz96_dataset(target, noise_y=0.02, seed=seed, x0=start_of(seed))
    model = AdaptiveDirectionsRegressor(**READINGS[case], random_state=seed)
    seconds = timed_fit(model, data.X_train, data.y_train)
    row = {"case": case, "method": method, "seed": seed, "seconds": seconds, "version": fv.__version__}
    row |= {"k": model.n_directions_, "rank": model.rank_}
    row["strong"] = angle(target.directions[:2], model.directions_, data.X_train.std(axis=0))
    return row | errors(data.y_test, model.predict(data.X_test))


def readings_table(rows):
    lines = ["| reading | k | rank | angle of the two strong directions | relative error |", "|---|---|---|---|---|"]
    for case in READINGS:
        some = sorted((row for row in rows if row["case"] == case), key=lambda row: row["seed"])
        if some:
            k, rank = (", ".join(str(row[key]) for row in some) for key in ("k", "rank"))
            strong, error = (np.mean([row[key] for row in some]) for key in ("strong", "error"))
            lines.append(f"| {case} | {k} | {rank} | {strong:.1f} | {error:.3f} |")
    lines.append("\nk and rank for each data set; means of the others.")
    return "\n".join(lines)


# --- independent Gaussian inputs --------------------------------------------------------------------------------

# Number of directions and function of z (n, k); the rows of A are orthonormal, the noise is a tenth of the
# deviation of y. Fixed before any of them was run.
IID = {
    "sine": (1, lambda z: np.sin(1.5 * z[:, 0])),
    "cubic": (1, lambda z: z[:, 0] ** 3 / 3),
    "product": (2, lambda z: z[:, 0] * z[:, 1]),
    "ratio": (2, lambda z: z[:, 0] / (0.5 + (z[:, 1] + 1.5) ** 2)),
    "five ridges": (
        5,
        lambda z: (
            np.sin(1.5 * z[:, 0])
            + np.tanh(2 * z[:, 1])
            + 0.5 * z[:, 2] ** 2
            + np.exp(0.5 * z[:, 3])
            + np.cos(1.5 * z[:, 4])
        ),
    ),
}
D, N_TRAIN, N_TEST = 100, 2000, 5000


def iid_data(case, seed):
    k, g = IID[case]
    rng = np.random.default_rng([seed, list(IID).index(case)])
    A = np.linalg.qr(rng.standard_normal((D, k)))[0].T
    X, X_test = rng.standard_normal((N_TRAIN, D)), rng.standard_normal((N_TEST, D))
    y, y_test = g(X @ A.T), g(X_test @ A.T)
    return A, X, y + 0.1 * y.std() * rng.standard_normal(N_TRAIN), X_test, y_test


def whitening(X):
    """Return the matrix Q, symmetric, for which (X - mean) Q has the identity for its covariance."""
    values, vectors = np.linalg.eigh(np.cov(X, rowvar=False))
    return (vectors / np.sqrt(values)) @ vectors.T


def sliced_inverse_regression(X, y, k, seed, n_slices=10):
    """Leading directions of the means of whitened X over slices of y (Li, 1991)."""
    Q = whitening(X)
    Z = (X - X.mean(axis=0)) @ Q
    slices = np.array_split(np.argsort(y), n_slices)
    means = np.array([Z[rows].mean(axis=0) for rows in slices])
    weights = np.array([len(rows) for rows in slices]) / len(y)
    between = (means.T * weights) @ means
    return np.linalg.eigh(between)[1][:, -k:].T @ Q


def principal_hessian_directions(X, y, k, seed):
    """Leading directions of the covariance of whitened X weighted by what a linear fit leaves of y (Li, 1992)."""
    Q = whitening(X)
    Z = (X - X.mean(axis=0)) @ Q
    residual = y - y.mean() - Z @ (Z.T @ (y - y.mean())) / len(y)
    values, vectors = np.linalg.eigh((Z.T * residual) @ Z / len(y))
    return vectors[:, np.argsort(-np.abs(values))[:k]].T @ Q


def active_subspace(X, y, k, seed, n_neighbours=None):
    """ATHENA's active subspace, gradients estimated by its local linear models (by default of 1.7 d neighbours)."""
    np.random.seed(seed)  # noqa: NPY002 - ATHENA draws from NumPy's global generator
    return of_gradients(athena_module("utils").local_linear_gradients(X, y[:, None], n_neighbors=n_neighbours)[0], k)


def active_subspace_of_network(X, y, k, seed):
    """ATHENA's active subspace, with the gradients of a plain network."""
    model = fv.NeuralRegressor(random_state=seed).fit(X, y)
    gradients = model.network_.input_jacobian(model.parameters_, X / model.x_scale_)[:, 0] / model.x_scale_
    return of_gradients(gradients, k)


def of_gradients(gradients, k):
    model = athena_module("active").ActiveSubspaces(dim=k, method="exact", n_boot=1)
    # As gradients of one output out of several, (n, 1, d): for (n, d), ATHENA 0.1.2 mistakes rows of eigenvectors
    # for columns when it normalises their signs, and spoils them.
    model.fit(gradients=gradients[:, None, :])
    return model.W1.T


def athena_module(name):
    """Import a module of ATHENA alone: its package imports others whose builds do not go with NumPy 2."""
    if "athena" not in sys.modules:
        sys.modules["athena"] = importlib.util.module_from_spec(importlib.util.find_spec("athena"))
    return importlib.import_module(f"athena.{name}")


def partial_least_squares(X, y, k, seed):
    return PLSRegression(n_components=k).fit(X, y).x_rotations_.T


PEERS = {
    "sliced inverse regression": sliced_inverse_regression,
    "principal Hessian directions": principal_hessian_directions,
    "active subspace (ATHENA)": active_subspace,
    "active subspace (ATHENA, 5 d neighbours)": partial(active_subspace, n_neighbours=5 * D),
    "active subspace (ATHENA, gradients of a plain network)": active_subspace_of_network,
    "partial least squares": partial_least_squares,
}


def regression_error(directions, X, y, X_test, y_test):
    """Centred test error of kernel ridge regression on the found coordinates: the same for all methods."""
    if not len(directions):
        return metrics.centred_error(y_test, np.full(len(y_test), y.mean()))
    z, z_test = X @ directions.T, X_test @ directions.T
    centre, scale = z.mean(axis=0), z.std(axis=0)
    grid = {"gamma": np.array([0.1, 0.3, 1.0]) / len(directions), "alpha": [1e-2, 1e-1, 1.0]}
    model = GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=3).fit((z - centre) / scale, y - y.mean())
    return metrics.centred_error(y_test, model.predict((z_test - centre) / scale) + y.mean())


def iid_fit(case, method, seed):
    """Find the directions by one method; the peers are told how many there are."""
    A, X, y, X_test, y_test = iid_data(case, seed)
    row = {"case": case, "method": method, "seed": seed, "version": fv.__version__}
    if method == "ours":
        model = fv.FewDirectionsRegressor(random_state=seed)
        row["seconds"] = timed_fit(model, X, y)
        found = model.directions_
        row["own"] = metrics.centred_error(y_test, model.predict(X_test))
    else:
        start = time.perf_counter()
        found = PEERS[method](X, y, len(A), seed)
        row["seconds"] = time.perf_counter() - start
    row["k"], row["angle"] = len(found), angle(A, found, np.ones(D))
    row["regression"] = regression_error(found, X, y, X_test, y_test)
    return row


def iid_table(rows):
    lines = [
        "| function | method | k | angle | error of a regression on the coordinates | its own error | s |",
        "|---|---|---|---|---|---|---|",
    ]
    for case, (k, _) in IID.items():
        for method in ("ours", *PEERS):
            some = [row for row in rows if row["case"] == case and row["method"] == method]
            if not some:
                continue
            ours = method == "ours"
            right = sum(row["k"] == k for row in some)
            own = f"{median(some, 'own'):.3f}" if ours else ""
            found = f"found {k} in {right} of {len(some)}" if ours else f"told {k}"
            lines.append(
                f"| {case} | {NAMES['ours'] if ours else method} | {found} | {median(some, 'angle'):.1f} | "
                f"{median(some, 'regression'):.3f} | {own} | {median(some, 'seconds'):.1f} |"
            )
    lines.append(
        f"\nMedians. {N_TRAIN} rows of {D} independent standard normal inputs, noise a tenth of the deviation of y. "
        "Errors are centred: 1 is what the mean scores. The regression is kernel ridge, chosen by cross-validation, "
        "and the same for all."
    )
    return "\n".join(lines)


# --- special cases ----------------------------------------------------------------------------------------------

SPECIAL = {
    "mean of all inputs, iid": 1,
    "mean of all inputs, trajectory": 1,
    "pure noise, iid": 0,
    "pure noise, trajectory": 0,
}


def special_data(case, seed):
    """Return directions (or None), training inputs, outputs and times, test inputs and outputs; 40 inputs."""
    rng = np.random.default_rng([seed, list(SPECIAL).index(case)])
    t = None
    if case.endswith("trajectory"):
        x0 = start_of(seed)
        t, X = datasets.lorenz96_trajectory(10_000, x0=None if x0 is None else tuple(x0))
        X, X_test, t = X[:8000], X[8000:], t[:8000]
    else:
        X, X_test = rng.standard_normal((2000, 40)), rng.standard_normal((2000, 40))
    if case.startswith("pure"):
        return None, X, rng.standard_normal(len(X)), t, X_test, np.zeros(len(X_test))
    centre, scale = X.mean(), X.mean(axis=1).std()
    y, y_test = (np.sin(1.5 * (x.mean(axis=1) - centre) / scale) for x in (X, X_test))
    return np.ones((1, 40)), X, y + 0.1 * y.std() * rng.standard_normal(len(y)), t, X_test, y_test


def special_fit(case, method, seed):
    A, X, y, t, X_test, y_test = special_data(case, seed)
    model = fv.FewDirectionsRegressor(random_state=seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        seconds = timed_fit(model, X, y, t=t)
    predicted = model.predict(X_test)
    row = {"case": case, "method": method, "seed": seed, "seconds": seconds, "version": fv.__version__}
    row |= {"k": model.n_directions_, "warnings": [str(one.message) for one in caught]}
    # Of pure noise there is nothing to learn: the root mean square of the prediction, y having deviation one.
    row["centred"] = float(np.sqrt(np.mean(predicted**2))) if A is None else metrics.centred_error(y_test, predicted)
    row["angle"] = None if A is None else angle(A, model.directions_, X.std(axis=0))
    return row


def special_table(rows):
    lines = [
        "| case | k found | warned | angle | centred error | s |",
        "|---|---|---|---|---|---|",
    ]
    for case, k in SPECIAL.items():
        some = [row for row in rows if row["case"] == case]
        if not some:
            continue
        right, warned = sum(row["k"] == k for row in some), sum(bool(row["warnings"]) for row in some)
        degrees = f"{median(some, 'angle'):.1f}" if k else ""
        lines.append(
            f"| {case} | {k} in {right} of {len(some)} | {warned} of {len(some)} | {degrees} | "
            f"{median(some, 'centred'):.3f} | {median(some, 'seconds'):.0f} |"
        )
    messages = sorted({message for row in rows for message in row["warnings"]})
    lines += ["\nMedians; of pure noise, the error is the root mean square of the prediction. Warnings:"]
    lines += [f"- {message}" for message in messages] or ["- none"]
    return "\n".join(lines)


# --- running ----------------------------------------------------------------------------------------------------


def median(rows, key):
    return float(np.median([row[key] for row in rows]))


# function, cases, methods, table
TABLES = {
    "four": (trajectory_fit, ["four"], ["ours"], four_table),
    "paper": (trajectory_fit, ["paper"], list(NAMES), paper_table),
    "iid": (iid_fit, list(IID), ["ours", *PEERS], iid_table),
    "special": (special_fit, list(SPECIAL), ["ours"], special_table),
    "readings": (reading_fit, list(READINGS), ["literal"], readings_table),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=list(TABLES))
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS), metavar="SEED")
    parser.add_argument("--methods", nargs="+", metavar="METHOD", help="only these, such as ours or literal")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--results", type=Path, default=Path("benchmarks/results"))
    parser.add_argument("--fresh", action="store_true", help="make rows of other code again")
    parser.add_argument("--figure", action="store_true", help="with paper: draw the curves learned for the first seed")
    parser.add_argument("--figure-file", type=Path, default=Path("docs/_static/few_directions.svg"))
    options = parser.parse_args()
    function, cases, methods, table = TABLES[options.what]
    unknown = set(options.methods or []) - set(methods)
    if unknown:
        parser.error(f"--methods {', '.join(sorted(unknown))}: choose from {', '.join(methods)}")
    methods = [method for method in methods if options.methods is None or method in options.methods]
    if importlib.util.find_spec("athena") is None and any("ATHENA" in method for method in methods):
        print("ATHENA is not installed here and left out: run this in .venv-bench.", file=sys.stderr)
        methods = [method for method in methods if "ATHENA" not in method]
    keys = [
        {"case": case, "method": method, "seed": seed} for seed in options.seeds for case in cases for method in methods
    ]
    file = options.results / f"few_directions_{options.what}.jsonl"
    print(table(collect(file, function, keys, n_jobs=options.jobs, fresh=options.fresh)))
    if options.figure and options.what == "paper":
        draw_curves(options.seeds[0], options.figure_file)


if __name__ == "__main__":
    sys.exit(main())
