"""The results of a fitted model in one record, which the command line, the report and the plots read."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars._common.wording import counted
from fewvars.columns.encoding import Encoding
from fewvars.engine.losses import SQUARED, Loss
from fewvars.heads import Head
from fewvars.search.variables.evidence import WEAK

SHARE = "share of the variance of the output"


@dataclass(frozen=True, eq=False)
class Findings:
    """Variables or directions that an output depends on, and the evidence for them.

    Attributes
    ----------
    kind : {"variables", "directions"}
        What the model looks for.
    inputs : tuple of str
        Names of all inputs.
    names : tuple of str
        Names of what was found: of the selected inputs, or z0, z1, ... for directions; the most important first.
    selected : (n_inputs,) bool
        Inputs that were selected; with directions, those with a loading other than zero.
    order : (count,) int
        Position of each entry of `names` among the inputs, or among the directions.
    importances : (count,)
        Rise of the held-out error without each variable, or the singular value of each direction.
    importances_se : (count,)
        Standard errors; nan where they are not known.
    q_values : (n_inputs,) or None
        The smallest false discovery rate at which each input would be selected; None for directions.
    interactions : tuple of pairs of str
        Pairs of variables whose effects depend on each other.
    stand_ins : tuple of pairs of str
        A selected variable and another that would predict as well in its place.
    expected_error, expected_error_se : float
        The error to expect on new rows, and its standard error; nan if unknown.
    expected_rmse : (outputs,)
        Root mean squared error to expect on new rows, in units of y.
    notes : tuple of str
        What a user should know.
    frequencies : array or None
        Share of the resamples in which each input was selected, (n_inputs,), or in which 0, 1, 2, ... directions were
        found; None without resamples.
    sizes, errors, errors_se : (candidates,)
        Numbers of variables (or groups of them) or directions that were tried, their held-out errors and the standard
        errors of these.
    chosen_size : int
        The number chosen, counted like `sizes`.
    held_out_error : float
        Of what was chosen, in units of the variance of y.
    head : Head
        The fitted function of the selected inputs, or of the directions.
    head_errors : dict
        Held-out error of each kind of function that was tried.
    smoothed : bool
        Whether the inputs were smoothed in time.
    lambda_ : float
        Strength of the penalty on the path.
    loss : Loss
        Of which errors are means.
    classes : tuple of str
        Labels of the classes; none of a regressor.
    encoding : Encoding or None
        How the columns of a table became numbers.
    """

    kind: Literal["variables", "directions"]
    inputs: tuple[str, ...]
    names: tuple[str, ...]
    selected: np.ndarray
    order: np.ndarray
    importances: FloatArray
    importances_se: FloatArray
    frequencies: FloatArray | None
    sizes: np.ndarray
    errors: FloatArray
    errors_se: FloatArray
    chosen_size: int
    held_out_error: float
    head: Head
    head_errors: dict[str, float]
    smoothed: bool
    lambda_: float
    q_values: FloatArray | None = None
    loss: Loss = SQUARED
    classes: tuple[str, ...] = ()
    interactions: tuple[tuple[str, str], ...] = ()
    stand_ins: tuple[tuple[str, str], ...] = ()
    expected_error: float = float("nan")
    expected_error_se: float = float("nan")
    expected_rmse: FloatArray = field(default_factory=lambda: np.zeros(0))
    notes: tuple[str, ...] = ()
    encoding: Encoding | None = None

    def head_names(self, inputs: Sequence[str] | None = None) -> list[str]:
        """Return the names of what the head is a function of, given those of all inputs."""
        if self.kind == "directions":
            return list(self.names)
        names, chosen = self.inputs if inputs is None else inputs, self.selected
        if self.encoding is not None:
            names, chosen = self.encoding.names(names), chosen[self.encoding.sources]
        return [name for name, kept in zip(names, chosen, strict=True) if kept]

    @property
    def equations(self) -> tuple[str, ...] | None:
        """The function as text, one for each output, where there is one."""
        texts = self.head.text(self.head_names())
        return None if texts is None else tuple(texts)

    @property
    def near_misses(self) -> list[tuple[int, float]]:
        """Numbers and q-values, smallest first, of inputs that were not selected though it is at most 0.2."""
        if self.q_values is None:
            return []
        near = np.flatnonzero(~self.selected & (self.q_values <= WEAK))
        order = near[np.argsort(self.q_values[near], kind="stable")]
        return [(int(j), float(self.q_values[j])) for j in order]

    @property
    def weak(self) -> np.ndarray:
        """Which entries of `names` were selected with a q-value above 0.2, (count,)."""
        if self.q_values is None:
            return np.zeros(self.count, bool)
        return self.q_values[self.order] > WEAK

    @property
    def additive(self) -> bool:
        """Whether no two variables interact, so that the function is a sum of functions of one variable each."""
        tested = self.q_values is not None  # models from older files have no interactions
        return tested and self.kind == "variables" and self.count > 1 and not self.interactions

    @property
    def error_unit(self) -> str:
        """The unit of the errors, in words."""
        return SHARE if self.loss == SQUARED else self.loss.error_name.rstrip(",")

    @property
    def null_error(self) -> float | None:
        """Log loss on held-out rows if no variable is used; None without variables, or if errors are shares of it."""
        empty = self.errors[np.asarray(self.sizes) == 0]
        return float(empty[0]) if self.loss.labels and len(empty) and self.count else None

    def equation_names(self, targets: Sequence[str]) -> list[str]:
        """Return what the equations are equal to, one for each output, given the names of the targets."""
        if len(self.classes) == 2:
            return [f"log-odds of [{targets[0]} = {self.classes[1]}]"]
        if self.classes:
            return [f"logit of [{targets[0]} = {label}]" for label in self.classes]
        return [self.loss.predicted_name(target) for target in targets]

    @property
    def count(self) -> int:
        """Number of variables or directions found."""
        return len(self.names)

    @property
    def noun(self) -> str:
        """The count with its noun: "1 variable", "3 directions"."""
        return counted(self.count, self.kind.removesuffix("s"))
