"""How deep the parts of a hand are in bodies that follow its wrist whatever its fingers do.

Palm and near phalanges stand for the hand, in a posture between open and closed: fingers may close
on the body or open farther, but their first bones are always about there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.geometry.distance.sdf import Field, sample_field
from handwright.kinematics import posed_capsules
from handwright.math import rotation
from handwright.math.pose import Pose

# How far open the digits are, from closed to open.
_OPEN = 0.7
# Distance of points along the axis of a capsule, m.
_SPACING = 8e-3


class WristParts(NamedTuple):
    """Balls along the bones of palm and near phalanges, in the frame of the wrist."""

    center: Float[np.ndarray, "N 3"]
    """m."""
    radius: Float[np.ndarray, " N"]
    """m."""


class Sight(NamedTuple):
    """A body as a wrist sees it over time."""

    field: Field
    turn: Float[np.ndarray, "T 3 3"]
    """From the frame of the wrist to that of the body."""
    place: Float[np.ndarray, "T 3"]
    """Of the wrist in the frame of the body, m."""


class Slopes(NamedTuple):
    """Squared excess of depth in each frame, and its derivatives by the six parts of an offset."""

    value: Float[np.ndarray, " T"]
    """Half the sum of squares, m^2."""
    gradient: Float[np.ndarray, "T 6"]
    curvature: Float[np.ndarray, "T 6 6"]
    """Of Gauss and Newton."""


def wrist_parts(model: HandModel) -> WristParts:
    """The parts of a hand whose root is its wrist."""
    capsules, joints = model.capsules, model.joints
    chosen = []
    for c, digit in enumerate(capsules.digit.tolist()):
        own = capsules.link[capsules.digit == digit]
        if digit < 0 or capsules.link[c] == own.min():
            chosen.append(c)
    posed = posed_capsules(model, joints.clamp(half_open(model))[None], Pose.identity(1))
    centers, radii = [], []
    for c in chosen:
        start, end = posed.start[0, c], posed.end[0, c]
        share = np.linspace(0.0, 1.0, 1 + int(np.ceil(np.linalg.norm(end - start) / _SPACING)))
        centers.append(start + share[:, None] * (end - start))
        radii.append(np.full(len(share), capsules.radius[c]))
    return WristParts(np.concatenate(centers), np.concatenate(radii))


def half_open(model: HandModel) -> Float[np.ndarray, " J"]:
    """Joint values of digits that are nearer to open than to closed, rad; mid-range if unknown."""
    if "open" not in model.poses or "closed" not in model.poses:
        return 0.5 * (model.joints.lower + model.joints.upper)
    open_, closed = model.pose("open"), model.pose("closed")
    return closed + _OPEN * (open_ - closed)


def sight_of(field: Field, body: Pose, wrist: Pose) -> Sight:
    """A body's distance field as a wrist sees it, both posed in the world."""
    local = body.inverse() @ wrist
    return Sight(field, rotation.to_matrix(local.wxyz), local.position)


def deepest(parts: WristParts, sight: Sight, offset: Float[np.ndarray, "T 6"]) -> np.ndarray:
    """(T,) depths of the deepest part under an offset of the wrist, m; negative outside."""
    depth, _, _ = _depths(parts, sight, offset)
    return np.asarray(depth.max(axis=1))


def depth_slopes(
    parts: WristParts, sight: Sight, offset: Float[np.ndarray, "T 6"], allowed: float
) -> Slopes:
    """What it costs to be deeper than allowed, and how that changes with the offset.

    Args:
        parts: Of the hand.
        sight: Of the body.
        offset: Move, m, and turn, rotation vector, of the wrist in its own frame.
        allowed: Depth that costs nothing, m.
    """
    depth, slope, lever = _depths(parts, sight, offset)
    excess = np.maximum(depth - allowed, 0.0)
    # A part at x under a turn r moves by (J r') x x, with J the left Jacobian.
    around = np.cross(lever, slope) @ rotation.left_jacobian(offset[:, 3:])
    rows = np.concatenate([slope, around], axis=2)
    active = np.where((excess > 0.0)[..., None], rows, 0.0)
    return Slopes(
        0.5 * (excess**2).sum(axis=1),
        np.einsum("tn,tni->ti", excess, active),
        np.einsum("tni,tnj->tij", active, active),
    )


def _depths(
    parts: WristParts, sight: Sight, offset: Float[np.ndarray, "T 6"]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Depths (T, N), their slopes (T, N, 3) by a move, and where parts are from the wrist."""
    turn = rotation.to_matrix(rotation.exp(offset[:, 3:]))
    lever = np.einsum("tij,nj->tni", turn, parts.center)
    local = np.einsum("tij,tnj->tni", sight.turn, lever + offset[:, None, :3])
    local += sight.place[:, None]
    shape = local.shape[:2]
    value, gradient = sample_field(sight.field, np.ascontiguousarray(local.reshape(-1, 3)))
    slope = -np.einsum("tij,tni->tnj", sight.turn, gradient.reshape(*shape, 3))
    return parts.radius - value.reshape(shape), slope, lever
