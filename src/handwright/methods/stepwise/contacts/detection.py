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


class Nearest(NamedTuple):
    """For each capsule of a hand the nearest point of its skin; room that kernels fill."""

    gap: np.ndarray
    """(C,) m; negative inside, infinite where nothing is near."""
    row: np.ndarray
    """(C,) of the skin samples."""
    point: np.ndarray
    """(C, 3) of the skin, in the world, m."""
    normal: np.ndarray
    """(C, 3) out of what is near, in the world."""


def no_nearest(num_capsules: int) -> Nearest:
    """Room for a hand."""
    return Nearest(
        np.full(num_capsules, np.inf),
        np.full(num_capsules, -1),
        np.zeros((num_capsules, 3)),
        np.zeros((num_capsules, 3)),
    )


@inlined
def _gap(
    target: Target, turn: np.ndarray, place: np.ndarray, x: float, y: float, z: float
) -> float:
    """Distance of a world point, m."""
    if not target.is_body:
        return environment_value_gradient(target.surfaces, x, y, z)[0]
    x, y, z = x - place[0], y - place[1], z - place[2]
    return field_value(
        target.field,
        turn[0, 0] * x + turn[1, 0] * y + turn[2, 0] * z,
        turn[0, 1] * x + turn[1, 1] * y + turn[2, 1] * z,
        turn[0, 2] * x + turn[1, 2] * y + turn[2, 2] * z,
    )


@inlined
def _normal(
    target: Target, turn: np.ndarray, place: np.ndarray, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Unit direction in the world in which the distance of a point grows."""
    if not target.is_body:
        _, gx, gy, gz, _ = environment_value_gradient(target.surfaces, x, y, z)
        return gx, gy, gz
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
    turn: np.ndarray,
    place: np.ndarray,
    margin: float,
    room: np.ndarray,
    out: Nearest,
) -> None:
    """Skin points within a margin of a body or of the surroundings.

    Args:
        skin: Of the hand.
        links: Of the hand, placed.
        target: What is looked at.
        turn: (3, 3) body to world.
        place: (3,) origin of the body's frame, m.
        margin: m.
        room: (P,) for a number for every patch.
        out: Filled.
    """
    for c in range(skin.samples.first.shape[0] - 1):
        out.gap[c] = np.inf
        out.row[c] = -1
        if not _may_be_near(skin.samples, links, target, turn, place, margin, c):
            continue
        best, row = _nearest_row(skin, links, target, turn, place, margin, c, room)
        if row < 0:
            continue
        x, y, z = sample_position(skin.samples, row, links)
        out.gap[c], out.row[c] = best, row
        out.point[c, 0], out.point[c, 1], out.point[c, 2] = x, y, z
        nx, ny, nz = _normal(target, turn, place, x, y, z)
        out.normal[c, 0], out.normal[c, 1], out.normal[c, 2] = nx, ny, nz


@kernel
def _may_be_near(
    samples: SkinSamples,
    links: Links,
    target: Target,
    turn: np.ndarray,
    place: np.ndarray,
    margin: float,
    c: int,
) -> bool:
    """Whether a ball around points of a capsule comes within the margin."""
    for k in range(samples.carrier.shape[1]):
        link = samples.carrier[c, k]
        if link < 0:
            break
        ball = samples.ball
        x, y, z = placed(links, link, ball[c, k, 0], ball[c, k, 1], ball[c, k, 2])
        if _gap(target, turn, place, x, y, z) - ball[c, k, 3] < margin:
            return True
    return False


@kernel
def _nearest_row(
    skin: HandSkin,
    links: Links,
    target: Target,
    turn: np.ndarray,
    place: np.ndarray,
    margin: float,
    c: int,
    room: np.ndarray,
) -> tuple[float, int]:
    """The least distance of a capsule's points below the margin, m, and the row of its point.

    Patches are gone through from the one that may be nearest on, until none can be nearer than what
    was found.
    """
    patches = skin.patches
    first, last = patches.first[c], patches.first[c + 1]
    for p in range(first, last):
        x, y, z, radius = patch_ball(patches, p, links)
        room[p] = _gap(target, turn, place, x, y, z) - _STEEPEST * radius
    best, best_row = margin, -1
    for _ in range(first, last):
        p = first
        for other in range(first + 1, last):
            if room[other] < room[p]:
                p = other
        if not room[p] < best:
            break
        room[p] = np.inf
        for n in range(patches.begin[p], patches.begin[p + 1]):
            row = patches.row[n]
            x, y, z = sample_position(skin.samples, row, links)
            gap = _gap(target, turn, place, x, y, z)
            if gap < best:
                best, best_row = gap, row
    return best, best_row
