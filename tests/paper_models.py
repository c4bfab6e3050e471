"""Estimators of the paper that take their parameters from a `Configuration`."""

from dataclasses import asdict


def literal(kind, configuration, **options):
    """Return an estimator with those choices of a configuration that it has."""
    names = kind().get_params()
    return kind(**{name: value for name, value in asdict(configuration).items() if name in names}, **options)
