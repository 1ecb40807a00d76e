"""Where skin is near a body or the surroundings: the deepest point of every part of a hand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.geometry.environment import EnvironmentArrays, environment_value_gradient
from handwright.geometry.sdf import Field, field_value, field_value_gradient
from handwright.kinematics.skin_samples import SkinSamples, sample_position
from handwright.kinematics.tree import Links, placed
from handwright.math.compiled import kernel


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


@kernel
def nearest_to_body(
    samples: SkinSamples,
    links: Links,
    field: Field,
    turn: np.ndarray,
    place: np.ndarray,
    margin: float,
    out: Nearest,
) -> None:
    """Skin points within a margin of a body.

    Args:
        samples: Skin of the hand.
        links: Of the hand, placed.
        field: Distances of the body.
        turn: (3, 3) body to world.
        place: (3,) origin of the body's frame, m.
        margin: m.
        out: Filled.
    """
    for c in range(samples.first.shape[0] - 1):
        out.gap[c] = np.inf
        out.row[c] = -1
        if not _may_be_near(samples, links, field, turn, place, margin, c):
            continue
        best, best_row = margin, -1
        for row in range(samples.first[c], samples.first[c + 1]):
            x, y, z = sample_position(samples, row, links)
            x, y, z = x - place[0], y - place[1], z - place[2]
            gap = field_value(
                field,
                turn[0, 0] * x + turn[1, 0] * y + turn[2, 0] * z,
                turn[0, 1] * x + turn[1, 1] * y + turn[2, 1] * z,
                turn[0, 2] * x + turn[1, 2] * y + turn[2, 2] * z,
            )
            if gap < best:
                best, best_row = gap, row
        if best_row < 0:
            continue
        px, py, pz = sample_position(samples, best_row, links)
        x, y, z = px - place[0], py - place[1], pz - place[2]
        _, gx, gy, gz = field_value_gradient(
            field,
            turn[0, 0] * x + turn[1, 0] * y + turn[2, 0] * z,
            turn[0, 1] * x + turn[1, 1] * y + turn[2, 1] * z,
            turn[0, 2] * x + turn[1, 2] * y + turn[2, 2] * z,
        )
        size = max(np.sqrt(gx * gx + gy * gy + gz * gz), 1e-12)
        out.gap[c], out.row[c] = best, best_row
        out.point[c, 0], out.point[c, 1], out.point[c, 2] = px, py, pz
        for i in range(3):
            out.normal[c, i] = (turn[i, 0] * gx + turn[i, 1] * gy + turn[i, 2] * gz) / size


@kernel
def _may_be_near(
    samples: SkinSamples,
    links: Links,
    field: Field,
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
        x, y, z = x - place[0], y - place[1], z - place[2]
        gap = field_value(
            field,
            turn[0, 0] * x + turn[1, 0] * y + turn[2, 0] * z,
            turn[0, 1] * x + turn[1, 1] * y + turn[2, 1] * z,
            turn[0, 2] * x + turn[1, 2] * y + turn[2, 2] * z,
        )
        if gap - ball[c, k, 3] < margin:
            return True
    return False


@kernel
def nearest_to_surroundings(
    samples: SkinSamples, links: Links, env: EnvironmentArrays, margin: float, out: Nearest
) -> None:
    """Skin points within a margin of the surroundings; see ``nearest_to_body``."""
    for c in range(samples.first.shape[0] - 1):
        out.gap[c] = np.inf
        out.row[c] = -1
        if not _may_meet_surroundings(samples, links, env, margin, c):
            continue
        best, best_row = margin, -1
        for row in range(samples.first[c], samples.first[c + 1]):
            x, y, z = sample_position(samples, row, links)
            gap = environment_value_gradient(env, x, y, z)[0]
            if gap < best:
                best, best_row = gap, row
        if best_row < 0:
            continue
        x, y, z = sample_position(samples, best_row, links)
        _, gx, gy, gz, _ = environment_value_gradient(env, x, y, z)
        out.gap[c], out.row[c] = best, best_row
        out.point[c, 0], out.point[c, 1], out.point[c, 2] = x, y, z
        out.normal[c, 0], out.normal[c, 1], out.normal[c, 2] = gx, gy, gz


@kernel
def _may_meet_surroundings(
    samples: SkinSamples, links: Links, env: EnvironmentArrays, margin: float, c: int
) -> bool:
    for k in range(samples.carrier.shape[1]):
        link = samples.carrier[c, k]
        if link < 0:
            break
        ball = samples.ball
        x, y, z = placed(links, link, ball[c, k, 0], ball[c, k, 1], ball[c, k, 2])
        if environment_value_gradient(env, x, y, z)[0] - ball[c, k, 3] < margin:
            return True
    return False
