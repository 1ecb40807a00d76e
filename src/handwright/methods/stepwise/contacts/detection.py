"""Where skin is near a body or the surroundings: the deepest point of every part of a hand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.geometry.distance.environment import EnvironmentArrays, environment_value_gradient
from handwright.geometry.distance.sdf import Field, field_value, field_value_gradient
from handwright.kernels.decorators import inlined, kernel
from handwright.kinematics.skin.patches import SkinPatches, patch_ball
from handwright.kinematics.skin.samples import SkinSamples, sample_position
from handwright.kinematics.tree import Links, placed

# Fields between their nodes may rise a little faster than distances do.
_STEEPEST = 1.1


class HandSkin(NamedTuple):
    """Points of a hand's skin."""

    samples: SkinSamples
    patches: SkinPatches


class Target(NamedTuple):
    """What skin is held against: a body, or the surroundings."""

    field: Field
    """Of the body."""
    surfaces: EnvironmentArrays
    is_body: bool


class TargetPose(NamedTuple):
    """Where a target is now."""

    rotation: np.ndarray
    """(3, 3) from the frame of the body to the world."""
    origin: np.ndarray
    """(3,) of the body's frame in the world, m."""


class Nearest(NamedTuple):
    """For each capsule of a hand the nearest point of its skin; memory that kernels fill."""

    gap: np.ndarray
    """(C,) m; negative inside, infinite where nothing is near."""
    row: np.ndarray
    """(C,) of the skin samples."""
    point: np.ndarray
    """(C, 3) of the skin, in the world, m."""
    normal: np.ndarray
    """(C, 3) out of what is near, in the world."""


def no_nearest(num_capsules: int) -> Nearest:
    """Memory for the nearest points of a hand with so many capsules."""
    return Nearest(
        np.full(num_capsules, np.inf),
        np.full(num_capsules, -1),
        np.zeros((num_capsules, 3)),
        np.zeros((num_capsules, 3)),
    )


@inlined
def _gap(target: Target, pose: TargetPose, x: float, y: float, z: float) -> float:
    """Distance of a world point, m."""
    if not target.is_body:
        return environment_value_gradient(target.surfaces, x, y, z)[0]
    turn, place = pose.rotation, pose.origin
    x, y, z = x - place[0], y - place[1], z - place[2]
    return field_value(
        target.field,
        turn[0, 0] * x + turn[1, 0] * y + turn[2, 0] * z,
        turn[0, 1] * x + turn[1, 1] * y + turn[2, 1] * z,
        turn[0, 2] * x + turn[1, 2] * y + turn[2, 2] * z,
    )


@inlined
def _normal(
    target: Target, pose: TargetPose, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Unit direction in the world in which the distance of a point grows."""
    if not target.is_body:
        _, gx, gy, gz, _ = environment_value_gradient(target.surfaces, x, y, z)
        return gx, gy, gz
    turn, place = pose.rotation, pose.origin
    x, y, z = x - place[0], y - place[1], z - place[2]
    _, gx, gy, gz = field_value_gradient(
        target.field,
        turn[0, 0] * x + turn[1, 0] * y + turn[2, 0] * z,
        turn[0, 1] * x + turn[1, 1] * y + turn[2, 1] * z,
        turn[0, 2] * x + turn[1, 2] * y + turn[2, 2] * z,
    )
    size = max(np.sqrt(gx * gx + gy * gy + gz * gz), 1e-12)
    return (
        (turn[0, 0] * gx + turn[0, 1] * gy + turn[0, 2] * gz) / size,
        (turn[1, 0] * gx + turn[1, 1] * gy + turn[1, 2] * gz) / size,
        (turn[2, 0] * gx + turn[2, 1] * gy + turn[2, 2] * gz) / size,
    )


@kernel
def nearest_skin(
    skin: HandSkin,
    links: Links,
    target: Target,
    pose: TargetPose,
    margin: float,
    scratch: np.ndarray,
    out: Nearest,
) -> None:
    """Skin points within a margin of a body or of the surroundings.

    Args:
        skin: Skin of the hand.
        links: Placed links of the hand.
        target: The body or the surroundings.
        pose: Where it is.
        margin: Distance within which points count, m.
        scratch: (P,) memory for one number for each patch of the skin.
        out: Filled.
    """
    for c in range(skin.samples.first.shape[0] - 1):
        out.gap[c] = np.inf
        out.row[c] = -1
        if not _may_be_near(skin.samples, links, target, pose, margin, c):
            continue
        best, row = _nearest_row(skin, links, target, pose, margin, c, scratch)
        if row < 0:
            continue
        x, y, z = sample_position(skin.samples, row, links)
        out.gap[c], out.row[c] = best, row
        out.point[c, 0], out.point[c, 1], out.point[c, 2] = x, y, z
        nx, ny, nz = _normal(target, pose, x, y, z)
        out.normal[c, 0], out.normal[c, 1], out.normal[c, 2] = nx, ny, nz


@kernel
def _may_be_near(
    samples: SkinSamples, links: Links, target: Target, pose: TargetPose, margin: float, c: int
) -> bool:
    """Whether a ball around points of a capsule comes within the margin."""
    for k in range(samples.carrier.shape[1]):
        link = samples.carrier[c, k]
        if link < 0:
            break
        ball = samples.ball
        x, y, z = placed(links, link, ball[c, k, 0], ball[c, k, 1], ball[c, k, 2])
        if _gap(target, pose, x, y, z) - ball[c, k, 3] < margin:
            return True
    return False


@kernel
def _nearest_row(
    skin: HandSkin,
    links: Links,
    target: Target,
    pose: TargetPose,
    margin: float,
    c: int,
    scratch: np.ndarray,
) -> tuple[float, int]:
    """The least distance of a capsule's points below the margin, m, and the row of its point.

    Patches are gone through from the one that may be nearest on, until none can be nearer than what
    was found.
    """
    patches = skin.patches
    first, last = patches.first[c], patches.first[c + 1]
    for p in range(first, last):
        x, y, z, radius = patch_ball(patches, p, links)
        scratch[p] = _gap(target, pose, x, y, z) - _STEEPEST * radius
    best, best_row = margin, -1
    for _ in range(first, last):
        p = first
        for other in range(first + 1, last):
            if scratch[other] < scratch[p]:
                p = other
        if not scratch[p] < best:
            break
        scratch[p] = np.inf
        for n in range(patches.begin[p], patches.begin[p + 1]):
            row = patches.row[n]
            x, y, z = sample_position(skin.samples, row, links)
            gap = _gap(target, pose, x, y, z)
            if gap < best:
                best, best_row = gap, row
    return best, best_row
