"""Packages that are needed only for some features."""


def require_matplotlib(what: str) -> None:
    """Raise an ImportError that names the remedy if matplotlib is missing; `what` begins it, as in "Plots need"."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{what} matplotlib: pip install 'fewvars[plot]'.") from error
