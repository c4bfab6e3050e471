"""Rows of a benchmark: every finished fit is a line of JSON, so that a stopped run continues where it ended.

A row holds what names a fit (such as target and seed), what was measured, the version, and a digest of the code that it
depends on: the package and the benchmark, unless the benchmark says otherwise. Rows are found by their names alone;
those made by other code are used, with a message, unless fresh ones are asked for.
"""

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from tqdm import tqdm

import fewvars as fv

Row = dict[str, Any]
RESULTS = Path("benchmarks/results")


def code_digest(fit: Callable[..., Row]) -> str:
    """Return twelve hexadecimal digits that change with any module of the package, and with that of the benchmark."""
    benchmark = sys.modules[getattr(fit, "func", fit).__module__]
    digest = hashlib.sha256(Path(str(benchmark.__file__)).read_bytes())
    _add_package(digest, Path(fv.__file__).parent)
    return digest.hexdigest()[:12]


def source_digest(texts: Iterable[str], package: Path | None = None) -> str:
    """Return twelve hexadecimal digits that change with any of the texts, and with any module in a package's folder."""
    digest = hashlib.sha256("\0".join(texts).encode())
    if package is not None:
        _add_package(digest, package)
    return digest.hexdigest()[:12]


def _add_package(digest: Any, package: Path) -> None:
    for module in sorted(package.rglob("*.py")):
        digest.update(module.relative_to(package).as_posix().encode() + b"\0" + module.read_bytes())


def read(file: Path) -> list[Row]:
    """Return the rows of a file, none if there is no such file; a line that was cut off is left out."""
    rows = []
    for line in file.read_text().splitlines() if file.exists() else []:
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


def append(file: Path, row: Row) -> None:
    """Add a row and have it on the disk before returning."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a+b") as out:
        cut_off = out.tell() > 0 and file.read_bytes()[-1:] != b"\n"
        out.write(b"\n" * cut_off + json.dumps(row).encode() + b"\n")
        out.flush()
        os.fsync(out.fileno())


def collect(
    file: Path,
    fit: Callable[..., Row],
    keys: Sequence[Row],
    *,
    n_jobs: int = 1,
    fresh: bool = False,
    code: Callable[[Row], str] | None = None,
    valid: Callable[[Row], bool] | None = None,
    threads: bool = False,
) -> list[Row]:
    """Return a row for every key: those in the file, and `fit(**key)` for those that are missing.

    `keys` are small dicts such as {"target": "setting 1", "seed": 0}; a row is a key, what `fit` returned for it,
    `version` (of the package, unless `fit` returned one) and `code`. New rows are appended as they come, made by
    `n_jobs` processes or threads; the last row of a key counts. `code` returns the digest of the code that the row of
    a key depends on, `code_digest(fit)` if it is None. With `fresh`, rows of other code are made again; so are those
    that are not `valid`.
    """
    common = code_digest(fit) if code is None else ""
    wanted = {_name(key): code(key) if code else common for key in keys}
    names = tuple(keys[0]) if keys else ()
    known = {}
    for row in read(file):
        name = _name({name: row.get(name) for name in names})
        if (not fresh or row.get("code") == wanted.get(name)) and (valid is None or valid(row)):
            known[name] = row
    stale = sum(known[name].get("code") != digest for name, digest in wanted.items() if name in known)
    if stale:
        print(f"{stale} of {len(keys)} rows were made by other code; --fresh makes them again.", file=sys.stderr)
    missing = [key for key in keys if _name(key) not in known]
    jobs = (delayed(_made)(fit, key) for key in missing)
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", prefer="threads" if threads else None)
    for row in tqdm(parallel(jobs), total=len(missing), unit="fit", disable=not missing):
        name = _name({name: row[name] for name in names})
        known[name] = row | {"version": row.get("version", fv.__version__), "code": wanted[name]}
        append(file, known[name])
    return [known[name] for name in wanted]


def _name(key: Row) -> str:
    return json.dumps(key, sort_keys=True)


def _made(fit: Callable[..., Row], key: Row) -> Row:
    return key | fit(**key)


def judged(support: np.ndarray, selected: np.ndarray, y_test: np.ndarray, predicted: np.ndarray) -> Row:
    """Return what an answer is worth; figures that do not exist (such as the sensitivity to nothing) are None."""
    figures = {
        "sensitivity": fv.metrics.sensitivity(support, selected),
        "specificity": fv.metrics.specificity(support, selected),
        "error": fv.metrics.relative_error(y_test, predicted),
        "centred": fv.metrics.centred_error(y_test, predicted),
    }
    finite = {name: value if np.isfinite(value) else None for name, value in figures.items()}
    return {
        "exact": fv.metrics.exact_support(support, selected),
        **finite,
        "selected": np.flatnonzero(selected).tolist(),
    }


def mean_and_error(values: Iterable[float]) -> str:
    """Return "mean ± standard error"; the mean alone of a single value."""
    values = np.array(list(values), float)
    if len(values) < 2:
        return f"{values.mean():.4g}"
    return f"{values.mean():.4g} ± {values.std(ddof=1) / np.sqrt(len(values)):.1g}"


def table(columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    """Return a table in Markdown."""
    cells = [columns, ["---"] * len(columns), *lines]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in cells)


def add_options(parser: argparse.ArgumentParser, seeds: int, jobs: int = 1) -> None:
    """Add the options that every benchmark with rows has; seeds below 100 are reported, the others for development."""
    parser.add_argument("--first-seed", type=int, default=0, help="100 and up for development")
    parser.add_argument("--seeds", type=int, default=seeds, help="how many")
    parser.add_argument("--jobs", type=int, default=jobs, help="processes")
    parser.add_argument("--fresh", action="store_true", help="make rows of other code again")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the rows")


def seeds(options: argparse.Namespace) -> range:
    """Return the seeds asked for."""
    return range(options.first_seed, options.first_seed + options.seeds)
