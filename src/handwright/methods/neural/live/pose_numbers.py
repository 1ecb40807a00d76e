"""Poses as senders give them: checked, and made seven numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from handwright.math.pose import Pose

GivenPose = Pose | tuple[Sequence[float], Sequence[float]]
"""A pose; or a place (m) and a quaternion wxyz as they came, which may be no pose at all."""
FARTHEST = 1e3
"""Largest coordinate of a place that is believed, m."""
# Trackers and texts round quaternions; a norm further from one is no rotation.
_LOOSE = 0.1


def pose_numbers(given: GivenPose) -> Float[np.ndarray, "7"] | None:
    """Place (m) and unit quaternion wxyz; None if they are no pose.

    Args:
        given: As it came.
    """
    place, wxyz = (given.position, given.wxyz) if isinstance(given, Pose) else given
    if len(place) != 3 or len(wxyz) != 4:
        return None
    norm = math.hypot(*wxyz)
    # Not "above", so that NaN is refused too.
    if not (all(abs(x) <= FARTHEST for x in place) and abs(norm - 1.0) <= _LOOSE):
        return None
    return np.array([*place, *(x / norm for x in wxyz)], dtype=np.float64)
