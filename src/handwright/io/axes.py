"""From our axes (Z up, quaternions wxyz) to those of glTF (Y up, xyzw) and back.

The only place that converts. A turn of -90 degrees about x takes (x, y, z) to (x, z, -y). It is
applied to every frame alike: points, directions, and both sides of every pose, so that a tree of
frames stays a tree of frames. Components are only swapped and negated: no digit is lost.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.math import rotation
from handwright.math.pose import Pose


def to_y_up(vectors: Float[np.ndarray, "*B 3"]) -> Float[np.ndarray, "*B 3"]:
    """Points or directions of a Z-up frame in the matching Y-up frame; units are kept."""
    x, y, z = np.moveaxis(np.asarray(vectors), -1, 0)
    return np.stack([x, z, -y], axis=-1)


def to_z_up(vectors: Float[np.ndarray, "*B 3"]) -> Float[np.ndarray, "*B 3"]:
    """Points or directions of a Y-up frame in the matching Z-up frame; units are kept."""
    x, y, z = np.moveaxis(np.asarray(vectors), -1, 0)
    return np.stack([x, -z, y], axis=-1)


def scale_to_y_up(scale: Float[np.ndarray, "*B 3"]) -> Float[np.ndarray, "*B 3"]:
    """Factors along the axes of a Z-up frame, along those of the matching Y-up frame."""
    return np.asarray(scale)[..., [0, 2, 1]]


def to_y_up_xyzw(wxyz: Float[np.ndarray, "*B 4"]) -> Float[np.ndarray, "*B 4"]:
    """Quaternions wxyz between Z-up frames as xyzw between the matching Y-up frames."""
    w, x, y, z = np.moveaxis(np.asarray(wxyz), -1, 0)
    return np.stack([x, z, -y, w], axis=-1)


def to_z_up_wxyz(xyzw: Float[np.ndarray, "*B 4"]) -> Float[np.ndarray, "*B 4"]:
    """Quaternions xyzw between Y-up frames as wxyz between the matching Z-up frames."""
    x, y, z, w = np.moveaxis(np.asarray(xyzw), -1, 0)
    return np.stack([w, x, -z, y], axis=-1)


_QUARTER = np.array([np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0])
"""A quarter turn about x: takes y to z."""


def world_to_z_up(poses: Pose) -> Pose:
    """Poses in a Y-up world as poses in the matching Z-up one; the frames that move keep theirs."""
    return Pose(to_z_up(poses.position), rotation.multiply(_QUARTER, poses.wxyz))


def world_to_y_up(poses: Pose) -> Pose:
    """Poses in a Z-up world as poses in the matching Y-up one; the frames that move keep theirs."""
    back = rotation.conjugate(_QUARTER)
    return Pose(to_y_up(poses.position), rotation.multiply(back, poses.wxyz))
