"""The data sets that are reported, those too small to be judged, and those on which settings are chosen."""

from fnmatch import fnmatch

from benchmarks.trust.methods import METHODS
from benchmarks.trust.problems import Forecast, Problem, RandomSplits, Rearranged, another_order, nine_tenths
from benchmarks.trust.sources import (
    Load,
    column,
    from_sklearn,
    from_statsmodels,
    growth,
    months_of_el_nino,
    petal_width,
    pupils_above,
    pure_noise,
    rare_label,
    simulated,
    skewed_prices,
    threes_and_eights,
    two_kinds_of_rows,
)

STATSMODELS = ("sklearn", "statsmodels")


def splits(name: str, target: str, without: tuple[str, ...] = ()) -> RandomSplits:
    return RandomSplits(f"{name}, {target}", from_statsmodels(name, target, without), STATSMODELS)


def forecast(name: str, load: Load) -> Forecast:
    return Forecast(f"{name}, lags", load, STATSMODELS)


REPORTED = [
    RandomSplits("diabetes", from_sklearn("diabetes")),
    RandomSplits("breast cancer", from_sklearn("breast_cancer")),
    RandomSplits("digits, 3 or 8", threes_and_eights),
    splits("anes96", "PID"),
    splits("cancer", "cancer"),
    splits("engel", "foodexp"),
    splits("fair", "affairs"),
    splits("grunfeld", "invest", ("firm",)),
    splits("modechoice", "choice", ("individual",)),
    splits("randhie", "mdvis"),
    RandomSplits("star98, share above", pupils_above, STATSMODELS),
    RandomSplits("Friedman 1, simulated", simulated("friedman1", 400, noise=1.0)),
    RandomSplits("Friedman 2, simulated", simulated("friedman2", 300, noise=125.0)),
    RandomSplits("Friedman 3, simulated", simulated("friedman3", 500, noise=0.1)),
    RandomSplits("lines, simulated", simulated("regression", 250, n_features=20, n_informative=5, noise=100.0)),
]
SMALL = [
    RandomSplits("wine, class 0", from_sklearn("wine", one=0)),
    splits("ccard", "AVGEXP"),
    splits("longley", "TOTEMP"),
    splits("statecrime", "murder"),
]
FORECASTS = [forecast("co2", column("co2", of="co2")), forecast("sunspots", column("SUNACTIVITY", of="sunspots"))]
REARRANGED = [
    Rearranged("diabetes, another order", from_sklearn("diabetes"), rows=another_order),
    Rearranged("diabetes, nine tenths", from_sklearn("diabetes"), rows=nine_tenths),
]
DEVELOPMENT = [
    RandomSplits("iris, petal width", petal_width),
    RandomSplits("macrodata, growth", growth, STATSMODELS),
    splits("heart", "survival"),
    splits("interest_inflation", "R", ("year", "quarter")),
    RandomSplits("prices", skewed_prices),
    RandomSplits("two kinds of rows", two_kinds_of_rows),
    RandomSplits("rare label", rare_label),
    RandomSplits("noise", pure_noise),
    RandomSplits("sparse and uncorrelated", simulated("sparse_uncorrelated", 220, n_features=9)),
    forecast("elnino", months_of_el_nino),
    forecast("macrodata, infl", column("infl", of="macrodata")),
    forecast("nile", column("volume", of="nile")),
    Rearranged("two kinds of rows, another order", two_kinds_of_rows, rows=another_order),
    Rearranged("two kinds of rows, nine tenths", two_kinds_of_rows, rows=nine_tenths),
]
COLLECTIONS: dict[str, list[Problem]] = {
    "reported": REPORTED,
    "small": SMALL,
    "forecasts": FORECASTS,
    "rearranged": REARRANGED,
    "development": DEVELOPMENT,
}
PROBLEMS = {problem.name: problem for some in COLLECTIONS.values() for problem in some}

__all__ = ["COLLECTIONS", "METHODS", "PROBLEMS", "chosen"]


def chosen(wanted: list[str]) -> list[Problem]:
    """Return the problems that are in a collection of that name, or whose own name matches a pattern."""
    found: list[Problem] = []
    for word in wanted:
        some = COLLECTIONS.get(word) or [problem for name, problem in PROBLEMS.items() if fnmatch(name, word)]
        if not some:
            raise SystemExit(f"no collection or problem is called {word!r}; `list` prints their names")
        found += [problem for problem in some if problem not in found]
    return found
