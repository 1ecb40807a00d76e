"""Paths of the palm between states: Hermite curves of place and of turn, (3.1)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.math import rotation
from handwright.math.pose import Pose


class PalmState(NamedTuple):
    """Where the palm is and how it moves, in the world."""

    pose: Pose
    velocity: Float[np.ndarray, "3"]
    """m/s."""
    rate: Float[np.ndarray, "3"]
    """Angular velocity, rad/s."""

    @staticmethod
    def resting(pose: Pose) -> PalmState:
        """At rest."""
        return PalmState(pose, np.zeros(3), np.zeros(3))


class PalmPath(NamedTuple):
    """Samples of a path at the times of the simulation's steps."""

    position: Float[np.ndarray, "S 3"]
    wxyz: Float[np.ndarray, "S 4"]


def hermite(
    start: Float[np.ndarray, "3"],
    start_rate: Float[np.ndarray, "3"],
    end: Float[np.ndarray, "3"],
    end_rate: Float[np.ndarray, "3"],
    duration: float,
    share: Float[np.ndarray, " S"],
) -> Float[np.ndarray, "S 3"]:
    """The cubic of (3.1) at shares of its duration from 0 to 1.

    Args:
        start: Value at the start.
        start_rate: Its change a second there.
        end: Value at the end.
        end_rate: Its change a second there.
        duration: s.
        share: Of the duration that has passed.
    """
    t = share[:, None]
    return np.asarray(
        (2.0 * t**3 - 3.0 * t**2 + 1.0) * start
        + duration * (t**3 - 2.0 * t**2 + t) * start_rate
        + (-2.0 * t**3 + 3.0 * t**2) * end
        + duration * (t**3 - t**2) * end_rate
    )


def palm_path(
    start: PalmState, end: PalmState, duration: float, share: Float[np.ndarray, " S"]
) -> PalmPath:
    """A path between two states of the palm.

    The thesis turns the palm evenly (SLERP); a Hermite curve of the rotation vector has the same
    ends and can also start and stop softly, or end in a spin.

    Args:
        start: At the start.
        end: At the end.
        duration: s.
        share: Of the duration that has passed, from 0 to 1, where samples are wanted.
    """
    position = hermite(
        start.pose.position, start.velocity, end.pose.position, end.velocity, duration, share
    )
    turn = rotation.log(rotation.multiply(rotation.conjugate(start.pose.wxyz), end.pose.wxyz))
    # Rates of the rotation vector in the start's own axes.
    first = rotation.rotate(rotation.conjugate(start.pose.wxyz), start.rate)
    own_end = rotation.rotate(rotation.conjugate(start.pose.wxyz), end.rate)
    last = rotation.left_jacobian_inverse(turn) @ own_end
    vector = hermite(np.zeros(3), first, turn, last, duration, share)
    return PalmPath(position, rotation.multiply(start.pose.wxyz, rotation.exp(vector)))
