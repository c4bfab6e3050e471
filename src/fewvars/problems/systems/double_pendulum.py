"""A double pendulum: two rods in a plane, chaotic at large angles, with an acceleration that is not a polynomial."""

import dataclasses
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from fewvars._common.validation import FloatArray, check_real
from fewvars.problems.systems._base import System


@final
@dataclass(frozen=True)
class DoublePendulum(System):
    """Two point masses on massless rods, without friction.

    Angles θ1, θ2 from the vertical and their velocities ω1, ω2 obey dθ/dt = ω and, with δ = θ1 - θ2, the equations

    (m1 + m2) l1 dω1/dt + m2 l2 cos δ dω2/dt = -m2 l2 ω2^2 sin δ - (m1 + m2) g sin θ1,
    l1 cos δ dω1/dt + l2 dω2/dt = l1 ω1^2 sin δ - g sin θ2,

    which `field` solves for the accelerations. The state is (θ1, θ2, ω1, ω2).

    Parameters
    ----------
    masses, lengths : tuple of two floats
        m1, m2 and l1, l2, all positive.
    gravity : float
        g, positive.

    References
    ----------
    T. Shinbrot, C. Grebogi, J. Wisdom, J. A. Yorke, Chaos in a double pendulum, Am. J. Phys. 60, 1992.
    """

    masses: tuple[float, float] = (1.0, 1.0)
    lengths: tuple[float, float] = (1.0, 1.0)
    gravity: float = 9.81
    d: int = dataclasses.field(default=4, init=False)

    def __post_init__(self) -> None:
        for name in ("masses", "lengths"):
            if len(getattr(self, name)) != 2:
                raise ValueError(f"{name}={getattr(self, name)!r}: give two positive numbers.")
            for value in getattr(self, name):
                check_real(name, value, strict=True)
        check_real("gravity", self.gravity, strict=True)

    def field(self, x: FloatArray) -> FloatArray:
        """Time derivative, shape (..., 4)."""
        (m1, m2), (l1, l2), g = self.masses, self.lengths, self.gravity
        theta1, theta2, omega1, omega2 = np.moveaxis(x, -1, 0)
        sine, cosine = np.sin(theta1 - theta2), np.cos(theta1 - theta2)
        first = -m2 * l2 * omega2**2 * sine - (m1 + m2) * g * np.sin(theta1)
        second = l1 * omega1**2 * sine - g * np.sin(theta2)
        inertia = m1 + m2 * sine**2
        acceleration1 = (first - m2 * cosine * second) / (l1 * inertia)
        acceleration2 = ((m1 + m2) * second - cosine * first) / (l2 * inertia)
        return np.stack((omega1, omega2, acceleration1, acceleration2), axis=-1)

    def energy(self, x: FloatArray) -> FloatArray:
        """Kinetic plus potential energy, shape (...), which every trajectory conserves."""
        (m1, m2), (l1, l2), g = self.masses, self.lengths, self.gravity
        theta1, theta2, omega1, omega2 = np.moveaxis(x, -1, 0)
        speed1, speed2 = l1 * omega1, l2 * omega2
        kinetic = (m1 + m2) * speed1**2 / 2 + m2 * (speed2**2 / 2 + speed1 * speed2 * np.cos(theta1 - theta2))
        return kinetic - g * ((m1 + m2) * l1 * np.cos(theta1) + m2 * l2 * np.cos(theta2))

    @property
    def graph(self) -> NDArray[np.bool_]:
        """Dependency graph (4, 4): each angle on its velocity, each velocity on everything."""
        return np.array([[False, False, True, False], [False, False, False, True], [True] * 4, [True] * 4])

    @property
    def names(self) -> tuple[str, ...]:
        """theta1, theta2, omega1, omega2."""
        return ("theta1", "theta2", "omega1", "omega2")

    def default_initial_state(self) -> FloatArray:
        """At rest with both rods raised: chaotic, and too low to turn over."""
        return np.array([1.4, 1.0, 0.0, 0.0])
