"""Where skin is near a body or the environment: the deepest point of every part of a hand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.geometry.distance.environment import (
    EnvironmentArrays,
    environment_value_gradient,
    surface_value_gradient,
)
from handwright.geometry.distance.sdf import Field, field_value, field_value_gradient
from handwright.kernels.decorators import compiled, inlined, kernel
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
    """What skin is held against: a body, or the environment."""

    field: Field
    """Distance grid of the body."""
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
    point, normal = np.zeros((2, num_capsules, 3))
    return Nearest(np.zeros(num_capsules), np.zeros(num_capsules, dtype=np.int64), point, normal)


@inlined
def _in_body(pose: TargetPose, x: float, y: float, z: float) -> tuple[float, float, float]:
    """A world point in the frame of the body."""
    turn, origin = pose.rotation, pose.origin
    x, y, z = x - origin[0], y - origin[1], z - origin[2]
    return (
        turn[0, 0] * x + turn[1, 0] * y + turn[2, 0] * z,
        turn[0, 1] * x + turn[1, 1] * y + turn[2, 1] * z,
        turn[0, 2] * x + turn[1, 2] * y + turn[2, 2] * z,
    )


@inlined
def _unit_in_world(pose: TargetPose, gx: float, gy: float, gz: float) -> tuple[float, float, float]:
    """A gradient of the body's distances as a unit direction in the world."""
    turn = pose.rotation
    size = max(np.sqrt(gx * gx + gy * gy + gz * gz), 1e-12)
    return (
        (turn[0, 0] * gx + turn[0, 1] * gy + turn[0, 2] * gz) / size,
        (turn[1, 0] * gx + turn[1, 1] * gy + turn[1, 2] * gz) / size,
        (turn[2, 0] * gx + turn[2, 1] * gy + turn[2, 2] * gz) / size,
    )


@inlined
def _gap(target: Target, pose: TargetPose, x: float, y: float, z: float) -> float:
    """Distance of a world point, m."""
    if not target.is_body:
        return environment_value_gradient(target.surfaces, x, y, z)[0]
    x, y, z = _in_body(pose, x, y, z)
    return field_value(target.field, x, y, z)


@inlined
def _normal(
    target: Target, pose: TargetPose, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Unit direction in the world in which the distance of a point grows."""
    if not target.is_body:
        _, gx, gy, gz, _ = environment_value_gradient(target.surfaces, x, y, z)
        return gx, gy, gz
    x, y, z = _in_body(pose, x, y, z)
    _, gx, gy, gz = field_value_gradient(target.field, x, y, z)
    return _unit_in_world(pose, gx, gy, gz)


@compiled
def near_points(
    target: Target,
    pose: TargetPose,
    surface: int,
    points: Float[np.ndarray, "V 3"],
    margin: float,
) -> tuple:
    """Distances of world points from a body or from one surface, m, and unit normals there.

    Points that are not nearer than the margin have an infinite distance and no normal.

    Args:
        target: A body, or the environment.
        pose: Where the body is.
        surface: Which surface of the environment; not used for a body.
        points: In the world, m.
        margin: Distance within which points count, m.
    """
    gap, normal = np.full(len(points), np.inf), np.zeros((len(points), 3))
    for n in range(len(points)):
        x, y, z = points[n, 0], points[n, 1], points[n, 2]
        if target.is_body:
            x, y, z = _in_body(pose, x, y, z)
            d, gx, gy, gz = field_value_gradient(target.field, x, y, z)
        else:
            d, gx, gy, gz = surface_value_gradient(target.surfaces, surface, x, y, z)
        if not d < margin:
            continue
        if target.is_body:
            gx, gy, gz = _unit_in_world(pose, gx, gy, gz)
        gap[n] = d
        normal[n, 0], normal[n, 1], normal[n, 2] = gx, gy, gz
    return gap, normal


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
    """Skin points within a margin of a body or of the environment.

    Args:
        skin: Skin of the hand.
        links: Placed links of the hand.
        target: The body or the environment.
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
