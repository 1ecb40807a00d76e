"""Where a box is that is thrown at: in one place, or going to and fro."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float


class BoxPath(NamedTuple):
    """A box that goes to and fro between two places at an even speed."""

    start: Float[np.ndarray, "3"]
    """Where its centre is at time 0, m."""
    way: Float[np.ndarray, "3"]
    """From there to where it turns, m; zero for a box that stays."""
    speed: float = 0.0
    """m/s."""

    @staticmethod
    def still(place: Float[np.ndarray, "3"]) -> BoxPath:
        """A box that stays in a place."""
        return BoxPath(place, np.zeros(3))

    @property
    def is_still(self) -> bool:
        """Whether it stays where it is."""
        return self.speed == 0.0

    def at(
        self, times: Float[np.ndarray, " N"]
    ) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3"]]:
        """Places of its centre, m, and velocities, m/s, at times, s."""
        if self.is_still:
            still = np.zeros((len(times), 3))
            return self.start + still, still
        length = float(np.linalg.norm(self.way))
        gone = np.mod(self.speed * times, 2.0 * length)
        share = (length - np.abs(gone - length)) / length
        sign = np.where(gone < length, 1.0, -1.0)
        velocity = sign[:, None] * (self.speed / length * self.way)
        return self.start + share[:, None] * self.way, velocity
