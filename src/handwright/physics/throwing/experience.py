"""What a hand has learned of its own throws: how far they go beside what was asked for."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

# Weight of knowing nothing: a few throws count as much.
_RIDGE = 0.3
# Heights about 0.7 m and seats about the middle of the palm are near zero then, and near one apart.
_MIDDLE, _SPREAD, _SEAT_SPREAD = 0.7, 0.3, 0.01


class Experience:
    """Errors of heights, by height and by where the thing sits in the palm: ridge regression.

    It is updated with every throw, so that it needs no training beforehand and follows a thing that
    is heavier or rougher than the last one.
    """

    def __init__(self) -> None:
        size = len(_features(_MIDDLE, np.zeros(3)))
        self._square, self._right = _RIDGE * np.eye(size), np.zeros(size)
        self._weights: Float[np.ndarray, " F"] = np.zeros(size)

    def of_another_thing(self) -> Experience:
        """What is expected of a thing that was never thrown: the same, with less confidence."""
        found = Experience()
        found._right = found._square @ self._weights
        found._weights = self._weights.copy()
        return found

    def asked(self, height: float, seat: Float[np.ndarray, "3"]) -> float:
        """Height to ask for so that a thing goes as high as wanted, m.

        Args:
            height: That is wanted, m.
            seat: Where the thing is in the palm, from where it should be, m.
        """
        return height - float(self._weights @ _features(height, seat))

    def learn(self, height: float, seat: Float[np.ndarray, "3"], error: float) -> None:
        """Takes in a throw.

        Args:
            height: That was asked for, m.
            seat: Where the thing was in the palm, from where it should have been, m.
            error: How much higher it went, m.
        """
        row = _features(height, seat)
        self._square += np.outer(row, row)
        self._right += error * row
        self._weights = np.linalg.solve(self._square, self._right)


def _features(height: float, seat: Float[np.ndarray, "3"]) -> Float[np.ndarray, " F"]:
    h = (height - _MIDDLE) / _SPREAD
    x, y, z = np.clip(seat / _SEAT_SPREAD, -2.0, 2.0)
    return np.array([1.0, h, h * h, x, y, z, x * x, y * y, x * y, h * x, h * y])
