"""How often exactly the true terms of small polynomial systems are found, by DynamicsRegressor and by PySINDy.

`.venv-bench/bin/python -m benchmarks.terms` prints for each system and noise the share of seeds in which all equations
have exactly their true terms. PySINDy chooses from all monomials up to degree 3 of all variables, in the forms and with
the optimisers of `SINDY`, at every threshold; the best in hindsight, for each system and noise, is reported. The
settings of fewvars were chosen on the systems of `--development`, which have other equations, parameters and seeds.
Without PySINDy, only fewvars is run.
"""

import argparse
import importlib.util
import warnings
from dataclasses import dataclass
from itertools import product

import numpy as np

import fewvars as fv
from benchmarks import rows
from fewvars.problems.systems import Lorenz63, LotkaVolterra, System, VanDerPol

DEGREE = 3
NOISES = (0.01, 0.02, 0.05)
Terms = list[set[tuple[int, ...]]]


@dataclass(frozen=True, eq=False)
class Roessler(System):
    """A single oscillator, for development: dx/dt = -y - z, dy/dt = x + a y, dz/dt = b + z (x - c)."""

    d: int = 3

    def field(self, x: np.ndarray) -> np.ndarray:
        """Time derivative, shape (..., 3)."""
        u, v, w = np.moveaxis(x, -1, 0)
        return np.stack((-v - w, u + 0.2 * v, 0.2 + w * (u - 5.7)), axis=-1)

    @property
    def graph(self) -> np.ndarray:
        """Dependency graph (3, 3)."""
        return np.array([[False, True, True], [True, True, False], [True, False, True]])

    def default_initial_state(self) -> np.ndarray:
        """A state near the attractor."""
        return np.array([1.0, -5.0, 0.02])


@dataclass(frozen=True, eq=False)
class Case:
    """A system, its terms, and how it is sampled after a transient of ten units of time."""

    system: System
    terms: Terms
    dt: float
    duration: float

    def data(self, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return times (n,) and noisy states (n, d); noise is a share of each variable's standard deviation."""
        t = np.arange(0, self.duration, self.dt)
        start = fv.systems.simulate(self.system, [0.0, 10.0])[-1]
        X = fv.systems.simulate(self.system, t, start)
        return t, X + noise * X.std(axis=0) * np.random.default_rng(seed).standard_normal(X.shape)


LORENZ = [{(1, 0, 0), (0, 1, 0)}, {(1, 0, 0), (1, 0, 1), (0, 1, 0)}, {(1, 1, 0), (0, 0, 1)}]
ROESSLER = [{(0, 1, 0), (0, 0, 1)}, {(1, 0, 0), (0, 1, 0)}, {(0, 0, 0), (1, 0, 1), (0, 0, 1)}]
PREDATOR = [{(1, 0), (1, 1)}, {(0, 1), (1, 1)}]
VAN_DER_POL = [{(0, 1)}, {(0, 1), (2, 1), (1, 0)}]
REPORTED = {
    "Lorenz-63": Case(Lorenz63(), LORENZ, 0.01, 20.0),
    "Lotka-Volterra": Case(LotkaVolterra([[0.0, -1.0], [1.0, 0.0]], [1.0, -1.0]), PREDATOR, 0.02, 40.0),
    "van der Pol": Case(VanDerPol([[0.0]], [1.0]), VAN_DER_POL, 0.02, 40.0),
}
DEVELOPMENT = {
    "Roessler": Case(Roessler(), ROESSLER, 0.05, 50.0),
    "Lorenz-63, 8, 35, 3": Case(Lorenz63(8.0, 35.0, 3.0), LORENZ, 0.01, 20.0),
    "Lotka-Volterra, 2/3": Case(LotkaVolterra([[0.0, -4 / 3], [1.0, 0.0]], [2 / 3, -1.0]), PREDATOR, 0.02, 30.0),
    "van der Pol, 2": Case(VanDerPol([[0.0]], [1.0], 2.0), VAN_DER_POL, 0.02, 40.0),
}
CASES = REPORTED | DEVELOPMENT
THRESHOLDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
SINDY = [" ".join(setting) for setting in product(("differences", "smoothed", "weak"), ("STLSQ", "SR3"))]


def by_fewvars(t: np.ndarray, X: np.ndarray, seed: int) -> Terms:
    """Return the terms of each equation; an equation that is not a polynomial has none."""
    model = fv.DynamicsRegressor(random_state=seed, n_jobs=1).fit(X, t=t)
    found: Terms = []
    for head, support in zip(model.heads_, model.graph_, strict=True):
        polynomial = head.as_polynomial()
        if polynomial is None or polynomial.origin.any():
            found.append(set())
            continue
        exponents = np.zeros((len(polynomial.exponents), X.shape[1]), int)
        exponents[:, support] = polynomial.exponents
        found.append({tuple(row) for row in exponents.tolist()})
    return found


def by_sindy(t: np.ndarray, X: np.ndarray, method: str) -> dict[str, Terms]:
    """Return the terms that one of PySINDy's optimisers keeps, for each threshold."""
    import pysindy as ps

    form, optimiser = method.split()
    monomials = ps.PolynomialLibrary(degree=DEGREE)
    powers = ps.PolynomialLibrary(degree=DEGREE).fit(X).powers_
    differentiation = ps.SmoothedFiniteDifference() if form == "smoothed" else ps.FiniteDifference()
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # thresholds that leave nothing
        library = ps.WeakPDELibrary(monomials, spatiotemporal_grid=t, K=200) if form == "weak" else monomials
        for threshold in THRESHOLDS:
            # The l0 penalty of SR3 removes coefficients below sqrt(2 lambda).
            kind = ps.STLSQ(threshold) if optimiser == "STLSQ" else ps.SR3(reg_weight_lam=threshold**2 / 2)
            model = ps.SINDy(kind, library, differentiation).fit(X, t=t)
            found[str(threshold)] = [{tuple(row) for row in powers[c != 0].tolist()} for c in model.coefficients()]
    return found


def fit(system: str, noise: float, method: str, seed: int) -> rows.Row:
    """Return whether all terms are exact, for each threshold where there is one."""
    case = CASES[system]
    t, X = case.data(noise, seed)
    found = {"": by_fewvars(t, X, seed)} if method == "fewvars" else by_sindy(t, X, method)
    return {"exact": {threshold: terms == case.terms for threshold, terms in found.items()}}


def share(values: list[bool]) -> tuple[float, float]:
    """Return the share of true values and its standard error."""
    mean = float(np.mean(values))
    return mean, float(np.sqrt(mean * (1 - mean) / len(values)))


def main() -> None:
    """Fit what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    rows.add_options(parser, seeds=20)
    parser.add_argument("--development", action="store_true", help="the systems that settings were chosen on")
    options = parser.parse_args()
    cases = DEVELOPMENT if options.development else REPORTED
    rivals = SINDY if importlib.util.find_spec("pysindy") else []
    keys = [
        {"system": system, "noise": noise, "method": method, "seed": seed}
        for method in ["fewvars", *rivals]
        for system, noise, seed in product(cases, NOISES, rows.seeds(options))
    ]
    file = options.results / "terms.jsonl"
    found = rows.collect(file, fit, keys, n_jobs=options.jobs, fresh=options.fresh)
    lines = []
    for system, noise in product(cases, NOISES):
        own = [row for row in found if (row["system"], row["noise"]) == (system, noise)]
        exact: dict[str, list[bool]] = {}
        for row in own:
            for threshold, success in row["exact"].items():
                exact.setdefault(f"{row['method']} {threshold}".strip(), []).append(success)
        ours = exact.pop("fewvars")
        best = max(exact, key=lambda setting: share(exact[setting])[0], default=None)
        theirs = "not installed" if best is None else "{:.2f} ± {:.2f}, {}".format(*share(exact[best]), best)
        lines.append((system, f"{noise:g}", "{:.2f} ± {:.2f}".format(*share(ours)), theirs))
    print(rows.table(("system", "noise", "fewvars", "PySINDy at its best setting"), lines))


if __name__ == "__main__":
    main()
