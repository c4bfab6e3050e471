"""`fewvars demo`: the variables that one equation of Lorenz-96 depends on, from noisy samples, with a report."""

import sys
import time
from pathlib import Path

import click

from fewvars._common.optional import require_matplotlib
from fewvars.cli import _files as files
from fewvars.cli import _options as options
from fewvars.cli._answer import describe, sentences
from fewvars.cli._roles import Roles
from fewvars.cli._rows import Rows
from fewvars.cli._terminal import debug_option, quiet_option, say, warnings_as_notes


@click.command()
@click.option("--noise", default=0.02, show_default=True, help="Size of the noise, as a share of the largest value.")
@click.option("--equation", default=25, show_default=True, help="Which of the 40 equations to learn.")
@options.seed_option
@click.option(
    "--out",
    type=files.FILE,
    default=Path("fewvars-demo.html"),
    show_default=True,
    metavar="HTML",
    help="The report to write.",
)
@quiet_option
@debug_option
def demo(noise: float, equation: int, random_state: int, out: Path, quiet: bool) -> None:
    """Find which of 40 noisy variables one equation of a chaotic system depends on."""
    files.check_outputs([], {"--out": out})
    require_matplotlib("A report needs")
    from fewvars.estimators import FewVariablesRegressor
    from fewvars.problems import datasets, metrics, targets
    from fewvars.report import write_report

    data = datasets.lorenz96_dataset(targets.lorenz_equation(equation), noise_x=noise, noise_y=noise, seed=random_state)
    names = list(data.names)
    say(f"Lorenz-96, {len(names)} variables, {len(data.X_train)} noisy samples (noise {noise:g}).")
    start = time.perf_counter()
    verbose = int(not quiet and sys.stderr.isatty())
    target = f"dx{equation}/dt"
    with warnings_as_notes():
        model = FewVariablesRegressor(random_state=random_state, n_jobs=-1, verbose=verbose)
        model.fit(data.X_train, data.y_train, t=data.t_train)
        seconds = time.perf_counter() - start
        write_report(
            out,
            model,
            data.X_train,
            data.y_train,
            t=data.t_train,
            title=f"What {target} of Lorenz-96 depends on",
            target_name=target,
            feature_names=names,
            command=f"fewvars demo --noise {noise:g} --equation {equation} --seed {random_state}",
            seconds=seconds,
        )
    rows = Rows(data.X_train, data.y_train, data.t_train, None, 0)
    for line in sentences(describe(model, rows, Roles(names, [target], "t"), seconds)):
        say(line)
    say(f"Truth: {', '.join(name for name, true in zip(names, data.support, strict=True) if true)}.")
    error = metrics.relative_error(data.y_test, model.predict(data.X_test))
    say(f"Relative error on {len(data.y_test)} noiseless test samples: {error:.4f}.")
    say(f"Report: {out.resolve()}")
