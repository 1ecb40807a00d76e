"""How high the table of a recording is, from an object that is put down on it."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from handwright.core.body import RigidBody
from handwright.math import rotation
from handwright.math.pose import Pose

_STILL_SPEED = 0.01
"""m/s."""
_STILL_TURN = 0.1
"""rad/s."""
_LEVEL = 0.01
"""Spread of the heights at which a resting object is seen, m: markers and meshes are not exact."""
_LEAST_REST = 0.25
"""s."""


def table_height(body: RigidBody, pose: Pose, fps: float) -> float | None:
    """Height of the table, m; None if the object does not rest on one for a quarter of a second.

    It is the height that the object's lowest point is under in one frame of a hundred, provided
    that the object is seen at rest no more than a centimetre above it.

    Args:
        body: The object.
        pose: (T,) poses in a Z-up world.
        fps: Frames for each second.
    """
    try:
        corners = body.vertices[ConvexHull(body.vertices).vertices]
    except QhullError:
        corners = body.vertices
    # Heights alone: the third row of each turn.
    up = rotation.to_matrix(pose.wxyz)[:, 2]
    lowest = pose.position[:, 2] + (up @ corners.T).min(axis=1)
    height = float(np.percentile(lowest, 1.0))
    speed = fps * np.linalg.norm(np.diff(pose.position, axis=0), axis=1)
    between = rotation.multiply(pose.wxyz[1:], rotation.conjugate(pose.wxyz[:-1]))
    turning = fps * np.linalg.norm(rotation.log(between), axis=1)
    is_still = (speed < _STILL_SPEED) & (turning < _STILL_TURN)
    rests = is_still & (lowest[1:] < height + _LEVEL)
    return height if rests.sum() >= _LEAST_REST * fps else None
