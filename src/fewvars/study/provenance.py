"""The provenance of a fit: versions, machine and commit."""

import os
import platform
import subprocess
from functools import cache
from importlib.metadata import version
from pathlib import Path

from fewvars._common.version import __version__


@cache
def versions() -> dict[str, str]:
    """Versions of the packages that the results depend on."""
    libraries = {name: version(name) for name in ("numpy", "scipy", "numba", "scikit-learn")}
    return {"fewvars": __version__, "python": platform.python_version(), **libraries}


@cache
def commit() -> str | None:
    """Return the commit of the checkout that the package is in, "-dirty" appended if it was changed; else None."""
    # Installed somewhere below another project's checkout, the package is not tracked there.
    if _git("ls-files", "--error-unmatch", "__init__.py") is None:
        return None
    return _git("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")


def _git(*arguments: str) -> str | None:
    command = ["git", "-C", str(Path(__file__).parent), *arguments]
    try:
        # Without optional locks git only reads, so many processes can ask at once.
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=30, env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
