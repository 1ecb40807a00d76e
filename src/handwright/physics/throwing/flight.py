"""Where things fly: free flight, rebounds from a box, and throws that lead somewhere."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

GRAVITY = 9.81
"""m/s^2."""
FALL = np.array([0.0, 0.0, -GRAVITY])
FALL.flags.writeable = False


class Flight(NamedTuple):
    """Free flight of a thing's centre of mass."""

    start: float
    """When the figures below hold, s."""
    position: Float[np.ndarray, "3"]
    """m."""
    velocity: Float[np.ndarray, "3"]
    """m/s."""

    def at(self, time: float) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
        """Place and velocity at a time."""
        t = time - self.start
        return (
            self.position + t * self.velocity + 0.5 * t * t * FALL,
            self.velocity + t * FALL,
        )

    def along(
        self, times: Float[np.ndarray, " N"]
    ) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3"]]:
        """Places and velocities at several times."""
        t = (times - self.start)[:, None]
        return self.position + t * self.velocity + 0.5 * t * t * FALL, self.velocity + t * FALL

    def falls_through(self, height: float) -> float | None:
        """When it comes down through a height, s; None if it never does from now on."""
        up, above = float(self.velocity[2]), float(self.position[2]) - height
        inside = up * up + 2.0 * GRAVITY * above
        if inside < 0.0:
            return None
        wait = (up + float(np.sqrt(inside))) / GRAVITY
        return self.start + wait if wait >= 0.0 else None

    @property
    def top(self) -> float:
        """Height that it reaches, m."""
        up = max(float(self.velocity[2]), 0.0)
        return float(self.position[2]) + up * up / (2.0 * GRAVITY)


class Rebound(NamedTuple):
    """How a thing springs back from the box."""

    normal: float = 0.79
    """Speed away from the face over the speed with which it came."""
    along: float = 0.90
    """Speed along the face that is kept."""

    def after(
        self, velocity: Float[np.ndarray, "*N 3"], normal: Float[np.ndarray, "3"]
    ) -> Float[np.ndarray, "*N 3"]:
        """Velocity after the impact, m/s.

        Args:
            velocity: Before, m/s.
            normal: Out of the face.
        """
        into = (velocity @ normal)[..., None] * normal
        return np.asarray(self.along * (velocity - into) - self.normal * into)
