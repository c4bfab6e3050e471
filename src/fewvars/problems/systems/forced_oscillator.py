"""The forced Duffing oscillator: a nonlinear spring driven by a cosine of time."""

import dataclasses
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from fewvars._common.validation import FloatArray
from fewvars.problems.systems._base import System


@final
@dataclass(frozen=True)
class ForcedOscillator(System):
    """Forced Duffing oscillator, d^2x/dt^2 = -c dx/dt - a x - b x^3 + F cos(φ) with dφ/dt = ω.

    The state is (x, v, φ): position, velocity and the phase of the force, which grows without bound. To study the
    oscillator as a system of two variables with a known input, leave φ out and use ``drive`` of it as the input.

    Parameters
    ----------
    damping, stiffness, cubic, force, frequency : float
        c, a, b, F and ω, all nonzero. Chaotic at the default values, with two wells.

    References
    ----------
    G. Duffing, Erzwungene Schwingungen bei veraenderlicher Eigenfrequenz, Vieweg, 1918.
    P. Holmes, A nonlinear oscillator with a strange attractor, Phil. Trans. R. Soc. A 292, 1979.
    """

    damping: float = 0.3
    stiffness: float = -1.0
    cubic: float = 1.0
    force: float = 0.5
    frequency: float = 1.2
    d: int = dataclasses.field(default=3, init=False)

    def __post_init__(self) -> None:
        for name in ("damping", "stiffness", "cubic", "force", "frequency"):
            if not getattr(self, name):
                raise ValueError(f"{name} must be nonzero: the graph assumes it.")

    def field(self, x: FloatArray) -> FloatArray:
        """Time derivative, shape (..., 3)."""
        position, velocity, phase = np.moveaxis(x, -1, 0)
        spring = self.stiffness * position + self.cubic * position**3
        acceleration = -self.damping * velocity - spring + self.drive(phase)
        return np.stack((velocity, acceleration, np.full_like(phase, self.frequency)), axis=-1)

    def drive(self, phase: FloatArray) -> FloatArray:
        """Force F cos(φ) at these phases."""
        return self.force * np.cos(phase)

    @property
    def graph(self) -> NDArray[np.bool_]:
        """Dependency graph (3, 3): the phase depends on nothing, not even on itself."""
        return np.array([[False, True, False], [True, True, True], [False, False, False]])

    @property
    def names(self) -> tuple[str, ...]:
        """x, v, phase."""
        return ("x", "v", "phase")

    def default_initial_state(self) -> FloatArray:
        """At rest in the right well of the default spring."""
        return np.array([1.0, 0.0, 0.0])
