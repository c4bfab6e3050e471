"""One finished fit: what was asked, what came out, where and when."""

import json
from dataclasses import asdict, dataclass, field, fields
from typing import final

Key = tuple[str, str, str, int]
FITTED, FAILED = "fitted", "failed"


@final
@dataclass(frozen=True)
class Row:
    """One fit: what was asked, what came out, where and when.

    Results that do not apply (supports of directions, angles of variables) are None.

    Attributes
    ----------
    specification, experiment, setting, method, replicate, seed
        The task; see `Task`.
    outcome : {"fitted", "failed"}
    reason : str
        Exception type and message of a failure.
    sensitivity, specificity, relative_error, centred_error, exact
        As in `fewvars.metrics`; for directions, exact means the right number of them.
    selected : tuple of int
        Selected inputs, counted from zero.
    n_directions, rank : int
        Number of directions as the method counts them, and of those that are linearly independent.
    angle, angle_strong : float
        Largest principal angle in degrees to all true directions and to the strong two.
    head : str
        What predicts, if the method can choose.
    seconds : float
        Processor time of the fit.
    warnings : tuple of str
        Warnings of the fit.
    trajectory : str
        Digits of the noiseless data: the system is chaotic, and another processor may follow another trajectory.
    versions, commit, host, finished
        Where it came from.
    """

    specification: str
    experiment: str
    setting: str
    method: str
    replicate: int
    seed: int
    outcome: str
    reason: str = ""
    sensitivity: float | None = None
    specificity: float | None = None
    exact: bool | None = None
    relative_error: float | None = None
    centred_error: float | None = None
    selected: tuple[int, ...] | None = None
    n_directions: int | None = None
    rank: int | None = None
    angle: float | None = None
    angle_strong: float | None = None
    head: str | None = None
    seconds: float | None = None
    warnings: tuple[str, ...] = ()
    trajectory: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    commit: str | None = None
    host: str = ""
    finished: str = ""

    @property
    def key(self) -> Key:
        """Names of the fit."""
        return self.experiment, self.setting, self.method, self.replicate

    @property
    def fitted(self) -> bool:
        """Whether the fit succeeded."""
        return self.outcome == FITTED

    def line(self) -> str:
        """Return the row as one line of strict JSON."""
        return json.dumps(asdict(self), allow_nan=False)

    @staticmethod
    def of(line: str) -> "Row":
        """Read a row; names that this version does not know are ignored."""
        values = json.loads(line)
        if not isinstance(values, dict):
            raise ValueError("A row is a JSON object.")
        known = {item.name: values[item.name] for item in fields(Row) if item.name in values}
        for name in ("selected", "warnings"):
            if known.get(name) is not None:
                known[name] = tuple(known[name])
        return Row(**known)
