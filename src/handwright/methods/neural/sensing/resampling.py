"""Tracks of other frame rates at the one rate that features are taken at.

Poses between frames lie on a cubic Hermite curve through them, with slopes of the parabola through
each frame and its neighbours: of third order in the time between frames, and local, so that a
window gives what the whole track gives. Straight lines and shortest turns would err by an eighth of
the acceleration times the squared time, and would make angular velocities a staircase.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from handwright.errors import InvalidValueError
from handwright.math.pose import Pose
from handwright.math.spline import PoseSpline
from handwright.methods.neural.sensing.motion import RATE

LONGEST_STEP = 0.1
"""Time between frames beyond which nothing is known of what lies between them, s."""
_SAME = 1e-4
"""How far a frame may be from its place at 60 frames a second and still count as that one, s."""


def even_times(times: Float[np.ndarray, " T"]) -> Float[np.ndarray, " N"]:
    """Times at 60 frames a second from the first frame until nothing is left out, s.

    Frames that are at that rate already are kept as they are, one to one.

    Args:
        times: s, increasing.
    """
    times = np.asarray(times, dtype=np.float64)
    if times.ndim != 1 or len(times) < 2:
        raise InvalidValueError(
            f"A track to sense has times of shape {times.shape}; expected (T,) with at least two "
            "frames, for a hand that senses has to know where wrist and object go."
        )
    steps = np.diff(times)
    # Not "above", so that NaN is refused too.
    if not (np.all(steps > 0.0) and np.all(steps <= LONGEST_STEP * (1.0 + 1e-6))):
        bad = int(np.argmax(~((steps > 0.0) & (steps <= LONGEST_STEP * (1.0 + 1e-6)))))
        raise InvalidValueError(
            f"A track to sense goes from {times[bad]:g} to {times[bad + 1]:g} s between frames "
            f"{bad} and {bad + 1}; expected increasing times at most {LONGEST_STEP:g} s apart. "
            "Give 24 to 120 frames a second."
        )
    if np.abs(times - times[0] - np.arange(len(times)) / RATE).max() <= _SAME:
        return times
    count = math.ceil((times[-1] - times[0]) * RATE - RATE * _SAME) + 1
    return times[0] + np.arange(count) / RATE


def resampled(times: Float[np.ndarray, " T"], pose: Pose, wanted: Float[np.ndarray, " N"]) -> Pose:
    """Poses of a track at other times; it stands still before its start and after its end.

    Args:
        times: Of the track, s.
        pose: (T,) poses.
        wanted: Times, s.
    """
    if wanted is times:
        return pose
    return PoseSpline(times, pose, extrapolate="hold").pose(wanted)
