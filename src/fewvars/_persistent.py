"""The method that estimators inherit to be written to a file."""

import os


class Persistent:
    """An estimator that can be saved; `fewvars.load` reads it back."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file, as `fewvars.save` does; `fewvars.load` reads it back."""
        from fewvars.persistence import save  # here, since that module knows all estimators

        save(self, path)
