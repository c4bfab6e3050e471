"""The command line: `fewvars demo`."""

import time

import click
import numpy as np

from . import __version__, datasets, metrics, targets
from .estimators import FewVariablesRegressor


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="fewvars")
def main() -> None:
    """Learn functions of few variables."""


@main.command()
@click.option("--noise", default=0.02, show_default=True, help="Noise, as a share of the largest value.")
@click.option("--equation", default=25, show_default=True, help="Which of the 40 equations to learn.")
@click.option("--seed", default=0, show_default=True, help="Of the noise and of the fit.")
def demo(noise: float, equation: int, seed: int) -> None:
    """Find which of 40 noisy variables of a chaotic system drive one of its equations."""
    data = datasets.lorenz96_dataset(targets.lorenz_equation(equation), noise_x=noise, noise_y=noise, seed=seed)
    click.echo(f"Lorenz-96, {data.X_train.shape[1]} variables, {len(data.X_train)} noisy samples (noise {noise:g}).")
    start = time.perf_counter()
    model = FewVariablesRegressor(random_state=seed, n_jobs=-1, verbose=1)
    model.fit(data.X_train, data.y_train, t=data.t_train)
    seconds = time.perf_counter() - start
    names = np.array(data.names)
    click.echo(f"Equation {equation} depends on (found in {seconds:.1f} s):")
    for j in np.flatnonzero(model.support_)[np.argsort(-model.feature_importances_[model.support_])]:
        rise, spread = model.feature_importances_[j], model.feature_importances_se_[j]
        click.echo(f"  {names[j]:>4}   without it the held-out error rises by {rise:.3f} ± {spread:.3f}")
    click.echo(f"Truth: {', '.join(names[data.support])}.")
    if model.head_ == "dictionary":
        click.echo(f"f = {model.equation(names)}")
    error = metrics.relative_error(data.y_test, model.predict(data.X_test))
    click.echo(f"Relative error on 2000 noiseless test samples: {error:.4f}.")
