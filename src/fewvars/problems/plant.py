"""A table as a plant keeps it: dates, sites, operators and a few empty cells around one known answer."""

import numpy as np

from fewvars._common.validation import check_whole

START = np.datetime64("2024-01-01T06:00", "s")
SITES, OPERATORS = ("north", "south", "east"), ("Abel", "Berg", "Chen", "Diaz", "Eder")


def plant_table(n: int = 600, *, seed: int = 0, n_empty: int = 8) -> dict[str, np.ndarray]:
    """Return the columns of a table, one row for every four hours.

    The yield is 4 flow + 0.8 (temperature - 60) [site = south] plus noise of standard deviation one: it depends on the
    site, the temperature and the flow. The date, the operator, the pressure and the humidity have no effect.

    Parameters
    ----------
    n : int
        Number of rows.
    seed : int
    n_empty : int
        Number of empty cells in each of the columns flow and pressure.

    Returns
    -------
    dict from name to array of shape (n,)
        "date" holds datetimes, "site" and "operator" texts, and the others numbers; empty cells are NaN.
    """
    check_whole("n", n)
    check_whole("n_empty", n_empty, minimum=0)
    if n_empty > n:
        raise ValueError(f"n_empty={n_empty}: there are only {n} rows; ask for at most that many empty cells.")
    rng = np.random.default_rng(seed)
    site, operator = rng.choice(SITES, n), rng.choice(OPERATORS, n)
    temperature, flow = rng.normal(60.0, 4.0, n), rng.normal(5.0, 0.5, n)
    pressure, humidity = rng.normal(2.0, 0.1, n), rng.uniform(30.0, 70.0, n)
    produced = 4.0 * flow + np.where(site == "south", 0.8 * (temperature - 60.0), 0.0) + rng.standard_normal(n)
    for column in (flow, pressure):
        column[rng.choice(n, n_empty, replace=False)] = np.nan
    return {
        "date": START + 4 * 3600 * np.arange(n),
        "site": site,
        "operator": operator,
        "temperature": temperature.round(2),
        "pressure": pressure.round(3),
        "flow": flow.round(3),
        "humidity": humidity.round(1),
        "yield": produced.round(3),
    }
