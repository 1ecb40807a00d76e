"""How fast material points slide over a body, by differences of poses from frame to frame."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from handwright.math import rotation
from handwright.math.pose import Pose


def relative_velocity(
    times: Float[np.ndarray, " T"],
    rotations: Float[np.ndarray, "T L 3 3"],
    positions: Float[np.ndarray, "T L 3"],
    body: Pose,
    frame: Int[np.ndarray, " N"],
    link: Int[np.ndarray, " N"],
    point: Float[np.ndarray, "N 3"],
) -> Float[np.ndarray, "N 3"]:
    """Velocity in the world of a link's material point over the body's at the same place, m/s.

    The point that is fixed to the link is followed through the frames before and after in the
    body's frame; at the ends of the motion through one of them.
    """
    if len(frame) == 0 or len(times) < 2:
        return np.zeros((len(frame), 3))
    local = np.einsum("nji,nj->ni", rotations[frame, link], point - positions[frame, link])
    before, after = np.maximum(frame - 1, 0), np.minimum(frame + 1, len(times) - 1)
    turn = rotation.to_matrix(body.wxyz)
    ends = []
    for t in (before, after):
        world = np.einsum("nij,nj->ni", rotations[t, link], local) + positions[t, link]
        ends.append(np.einsum("nji,nj->ni", turn[t], world - body.position[t]))
    velocity = (ends[1] - ends[0]) / (times[after] - times[before])[:, None]
    return np.einsum("nij,nj->ni", turn[frame], velocity)


def standing_frames(count: int) -> tuple[Float[np.ndarray, "T 1 3 3"], Float[np.ndarray, "T 1 3"]]:
    """Rotations and positions of surroundings at rest, for ``relative_velocity``."""
    return np.broadcast_to(np.eye(3), (count, 1, 3, 3)), np.zeros((count, 1, 3))
