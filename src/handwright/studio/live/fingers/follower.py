"""A pose that follows a wish, smoothly and no faster than people move things in their hands."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from handwright.math import rotation
from handwright.math.pose import Pose

# How soon a wish is followed: stiffness of a critically damped spring, and the lag before it,
# which keeps accelerations from leaping.
_STIFFNESS, _LAG = 8.0, 0.06
"""1/s and s."""
_FASTEST, _STRONGEST = 0.8, 5.0
"""m/s and m/s^2: those of an unhurried carry."""
_FASTEST_TURN, _STRONGEST_TURN = 2.8, 22.0
"""rad/s and rad/s^2."""
# Where a pose counts as reached: m, rad, m/s.
_NEAR, _NEAR_TURN, _SLOW = 5e-4, 0.01, 0.006


class Follower:
    """Moves a pose towards wished ones, frame by frame."""

    def __init__(self, pose: Pose) -> None:
        """At rest.

        Args:
            pose: Where it is.
        """
        self.pose = pose
        self._aim = pose
        """The wish, a little later."""
        self._velocity, self._spin = np.zeros(3), np.zeros(3)

    def step(self, wish: Pose, seconds: float) -> Pose:
        """Goes on for a moment, and says where it is then.

        Args:
            wish: Where it should be.
            seconds: Length of the moment, s.
        """
        share = 1.0 - math.exp(-seconds / _LAG)
        self._aim = Pose.normalized(
            self._aim.position + share * (wish.position - self._aim.position),
            rotation.slerp(self._aim.wxyz, wish.wxyz, share),
        )
        way = self._aim.position - self.pose.position
        turn = rotation.log(rotation.multiply(self._aim.wxyz, rotation.conjugate(self.pose.wxyz)))
        self._velocity = _driven(self._velocity, way, seconds, (_FASTEST, _STRONGEST))
        self._spin = _driven(self._spin, turn, seconds, (_FASTEST_TURN, _STRONGEST_TURN))
        self.pose = Pose.normalized(
            self.pose.position + seconds * self._velocity,
            rotation.multiply(rotation.exp(seconds * self._spin), self.pose.wxyz),
        )
        return self.pose

    def is_at(self, pose: Pose) -> bool:
        """Whether it has come to rest at a pose."""
        return bool(
            np.linalg.norm(pose.position - self.pose.position) < _NEAR
            and rotation.angle(pose.wxyz, self.pose.wxyz) < _NEAR_TURN
            and np.linalg.norm(self._velocity) < _SLOW
        )


def _driven(
    rate: Float[np.ndarray, "3"],
    error: Float[np.ndarray, "3"],
    seconds: float,
    limits: tuple[float, float],
) -> Float[np.ndarray, "3"]:
    """The next velocity of a damped spring, with limits of velocity and acceleration."""
    fastest, strongest = limits
    push = _STIFFNESS * (_STIFFNESS * error - 2.0 * rate)
    return _limited(rate + seconds * _limited(push, strongest), fastest)


def _limited(vector: Float[np.ndarray, "3"], most: float) -> Float[np.ndarray, "3"]:
    size = math.sqrt(float(vector @ vector))
    return vector if size <= most else vector * (most / size)
