"""The inputs of the equations of a system: variables (angles as sine and cosine), velocities, controls and time."""

from dataclasses import dataclass

import numpy as np

from fewvars._common.validation import FloatArray


@dataclass(frozen=True)
class InputColumns:
    """The inputs of the equations: variables (angles as sine and cosine), velocities, controls and time.

    Attributes
    ----------
    variables : tuple of str
    order : {1, 2}
        With 2, the state has the velocity of each variable too.
    angles : tuple of int
        Variables on a circle.
    controls : tuple of str
    time : bool
        Whether time itself is an input.
    """

    variables: tuple[str, ...]
    order: int = 1
    angles: tuple[int, ...] = ()
    controls: tuple[str, ...] = ()
    time: bool = False

    @property
    def states(self) -> tuple[str, ...]:
        """Names of the components of the state: the variables, and with order 2 their velocities."""
        velocities = tuple(f"d{name}/dt" for name in self.variables) if self.order == 2 else ()
        return self.variables + velocities

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of what an equation may depend on: states, controls and time."""
        return self.states + self.controls + (("t",) if self.time else ())

    @property
    def labels(self) -> np.ndarray:
        """The group of each column."""
        return np.repeat(np.arange(len(self.groups)), [2 if g in self.angles else 1 for g in range(len(self.groups))])

    @property
    def names(self) -> list[str]:
        """The name of each column."""
        named = []
        for g, name in enumerate(self.groups):
            named += [f"sin({name})", f"cos({name})"] if g in self.angles else [name]
        return named

    def columns(self, states: FloatArray, u: FloatArray, t: FloatArray) -> FloatArray:
        """Return the inputs (n, columns) at states (n, states), controls (n, controls) and times (n,)."""
        parts = [
            part for g, x in enumerate(states.T) for part in ((np.sin(x), np.cos(x)) if g in self.angles else (x,))
        ]
        return np.column_stack([*parts, *u.T, *([t] if self.time else [])])
