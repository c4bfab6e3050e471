"""`fewvars predict`: predict the rows of a file with a saved model; columns are matched by name."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fewvars._common.atomic import write_atomically
from fewvars.cli import _files as files
from fewvars.cli import _options as options
from fewvars.cli._checks import check_levels
from fewvars.cli._names import check_names, naming, some_of
from fewvars.cli._roles import Roles
from fewvars.cli._rows import Rows
from fewvars.cli._terminal import debug_option, note, printable, quiet_option, warnings_as_notes, write

if TYPE_CHECKING:
    import numpy as np

    from fewvars.files.tables import Table


@click.command()
@click.argument("model", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@files.data_argument
@click.option("--out", type=files.FILE, metavar="FILE", help="Write a .csv, .parquet or .npz file instead of stdout.")
@options.column_option("--time", "time_column", help="Times, which are copied to the predictions.")
@options.trajectory_option
@click.option("--smooth", is_flag=True, help="Smooth the inputs in time first. Needs --time.")
@click.option("--outside", is_flag=True, help="Add a column with the number of inputs outside their training range.")
@click.option(
    "--unseen",
    type=click.Choice(["error", "base"]),
    help="Levels of categories that were not in the fit: stop, or treat them like the most frequent level.",
)
@files.delimiter_option
@quiet_option
@debug_option
def predict(
    model: Path,
    data: str,
    out: Path | None,
    time_column: str | None,
    trajectory: str | None,
    smooth: bool,
    outside: bool,
    unseen: str | None,
    delimiter: str | None,
    quiet: bool,
) -> None:
    """Predict the rows of DATA with MODEL, saved by `fewvars fit --save`.

    Columns are matched by name, in any order, and other columns are ignored. A model of few variables needs only
    the selected columns, unless all are smoothed. Predictions go to stdout as CSV. A note counts the rows in which
    an input is smaller or larger than in all training data.

    \b
      fewvars predict flow.model new.csv > predicted.csv
      fewvars predict flow.model new.csv --time t --smooth --out predicted.parquet
    """
    from fewvars.files.tables import SUFFIXES, table_bytes

    suffix = ".csv" if out is None else out.suffix.lower()
    if smooth and time_column is None:
        raise click.UsageError("--smooth needs --time COLUMN.")
    if suffix not in SUFFIXES:
        raise ValueError(f"--out {out}: name it .csv, .parquet or .npz.")
    files.check_outputs([model, data], {"--out": out})
    answer: dict[str, Any] = {}
    with warnings_as_notes():
        estimator, smoothed = _loaded(model, smooth)
        table = files.read(data, delimiter)
        used = _used(estimator, smooth)
        inputs = _matched(estimator, table, used, {time_column, trajectory}, quiet)
        for option, name in {"--time": time_column, "--trajectory": trajectory}.items():
            check_names(table, [name] if name is not None else [], option)
        if unseen is not None:
            estimator.unseen = unseen
        X, times = _inputs(estimator, table, inputs, used, (time_column, trajectory) if smooth else (None, None))
        if smoothed and not smooth and not quiet:
            note("The model was fitted to smoothed inputs: --time COLUMN --smooth would smooth these too.")
        if time_column is not None:
            on_screen = out is None and sys.stdout.isatty()
            answer[printable(time_column) if on_screen else time_column] = table.columns[time_column]
        answer |= _predictions(estimator, X, times, answer)
        beyond = estimator.outside_range(X) if outside or hasattr(estimator, "input_range_") else None
        if beyond is not None and beyond.any() and not quiet:
            note(_extrapolations(beyond[:, used], inputs))
    if beyond is not None and outside:
        answer["outside_range" if "outside_range" not in answer else "outside_range_"] = beyond.sum(axis=1)
    content = table_bytes(answer, suffix)
    if out is None:
        write(content.decode())
    else:
        write_atomically(out, content)


def _loaded(path: Path, smooth: bool) -> tuple[Any, bool]:
    """Return the model, which must be able to predict, and whether it was fitted to smoothed inputs."""
    from fewvars.estimators.base import BlockedEstimator
    from fewvars.files.persistence import load

    estimator = load(path)
    if not hasattr(estimator, "predict"):
        raise ValueError(f"{path} holds a {type(estimator).__name__}, which cannot predict.")
    smoothed = isinstance(estimator, BlockedEstimator) and estimator.findings().smoothed
    if smooth and not smoothed:
        raise ValueError(f"--smooth: {path} was fitted to inputs as measured; leave --smooth out.")
    return estimator, smoothed


def _inputs(
    estimator: Any, table: "Table", inputs: list[str], used: "np.ndarray", in_time: tuple[str | None, str | None]
) -> tuple["np.ndarray", dict[str, Any]]:
    """Return the rows of all inputs of the model, and their times and runs if these are used."""
    import numpy as np

    levels = {name: known for name, known in getattr(estimator, "levels_", {}).items() if name in inputs}
    for name, known in levels.items():
        if estimator.unseen == "error":
            check_levels(table, name, known)
    roles = Roles(inputs, [], *in_time, droppable=False, categories=frozenset(levels))
    rows = Rows.of(table, roles, missing=getattr(estimator, "missing", "error"))
    X = np.zeros((len(rows.X), used.size), np.asarray(rows.X).dtype)  # inputs that are not used may be anything
    X[:, used] = rows.X
    return X, {} if in_time[0] is None else {"t": rows.t, "trajectory": rows.trajectory}


def _predictions(estimator: Any, X: "np.ndarray", times: dict[str, Any], taken: Iterable[str]) -> dict[str, Any]:
    """Return the columns of predictions, and for a classifier those of the probabilities, by names not yet taken."""
    probabilities = {}
    if hasattr(estimator, "classes_"):
        shares = estimator.predict_proba(X, **times)
        values = _most_probable(estimator.classes_, shares)
        headings = (f"probability_{label}" for label in estimator.classes_.tolist())
        probabilities = dict(zip(headings, shares.T, strict=True))
    else:
        values = estimator.predict(X, **times)
    values = values.reshape(len(X), -1)
    names = ["prediction"] if values.shape[1] == 1 else [f"prediction_{k}" for k in range(values.shape[1])]
    free = [name if name not in taken else f"{name}_" for name in names]
    return dict(zip(free, values.T, strict=True)) | probabilities


def _most_probable(classes: "np.ndarray", probabilities: "np.ndarray") -> "np.ndarray":
    """Return the most probable class of each row, (n,); an empty text where a value is missing that it depends on."""
    import numpy as np

    unknown = np.isnan(probabilities).any(axis=1)
    found = classes[probabilities.argmax(axis=1)]
    return np.where(unknown, "", found.astype(str)) if unknown.any() else found


def _used(estimator: Any, smooth: bool) -> "np.ndarray":
    """Return which inputs the predictions depend on, (d,) bool; with smoothing, on all."""
    import numpy as np

    selected = getattr(estimator, "support_", None)
    return np.ones(estimator.n_features_in_, bool) if smooth or selected is None else selected


def _matched(estimator: Any, table: "Table", used: "np.ndarray", others: set[str | None], quiet: bool) -> list[str]:
    """Return the inputs that are used, all of which must be columns; print a note about unknown columns."""
    if not hasattr(estimator, "feature_names_in_"):
        if len(table.names) != estimator.n_features_in_:
            raise ValueError(
                f"The model was fitted without column names, and DATA has {len(table.names)} columns instead of "
                f"{estimator.n_features_in_}."
            )
        return [name for name, wanted in zip(table.names, used, strict=True) if wanted]
    known = [str(name) for name in estimator.feature_names_in_]
    wanted = [name for name, needed in zip(known, used, strict=True) if needed]
    absent = [name for name in wanted if name not in table.columns]
    if absent:
        lacks = f"DATA lacks {len(absent)} of the {len(wanted)} columns that the model needs: {some_of(absent)}."
        raise ValueError(f"{lacks} {naming(table)}".strip())
    extra = [name for name in table.names if name not in {*known, *others}]
    if extra and not quiet:
        note(f"Ignored columns that the model does not know: {some_of(extra)}.")
    return wanted


def _extrapolations(beyond: "np.ndarray", names: list[str]) -> str:
    """Print a note about inputs outside the range of the training data, given a table (rows, inputs) of booleans."""
    counts = beyond.sum(axis=0)
    worst = [names[j] for j in counts.argsort(kind="stable")[::-1] if counts[j]]
    return (
        f"{beyond.any(axis=1).sum()} of {len(beyond)} predictions are extrapolations: there {some_of(worst)} "
        f"{'is' if len(worst) == 1 else 'are'} outside the range of the training data."
    )
