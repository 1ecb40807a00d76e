"""Gaps between a hand and a body or the surroundings, by exact distances."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.surface import HalfSpace, Surface
from handwright.geometry.exact import ExactDistance

# Samples of an axis, then of ever smaller brackets around the nearest: a 4 cm axis is searched
# to less than 0.1 mm.
_SAMPLES = 8
_ROUNDS = 3


class CapsuleGaps(NamedTuple):
    """Nearest points of many capsules, in the frame of the body."""

    gap: Float[np.ndarray, " N"]
    """m, negative in penetration; infinity where the capsule is farther away than asked for."""
    point: Float[np.ndarray, "N 3"]
    """On the body's surface."""
    outward: Float[np.ndarray, "N 3"]
    """Unit normal out of the body."""


def capsule_gaps(
    exact: ExactDistance,
    start: Float[np.ndarray, "N 3"],
    end: Float[np.ndarray, "N 3"],
    radius: Float[np.ndarray, " N"],
    *,
    reach: float,
) -> CapsuleGaps:
    """The least distance of each capsule's axis from the body, less the radius.

    Args:
        exact: Distances of the body.
        start: First ends of the axes in the body's frame, m.
        end: Second ends.
        radius: m.
        reach: Capsules with a larger gap than this are left out, m.
    """
    count = len(start)
    gap = np.full(count, np.inf)
    point, outward = np.zeros((count, 3)), np.zeros((count, 3))
    # The distance changes by no more than one walks: the middle of the axis rules most out.
    middle = exact.signed_distance(0.5 * (start + end))[0]
    half = 0.5 * np.linalg.norm(end - start, axis=1)
    near = np.flatnonzero(middle - half - radius <= reach)
    if near.size == 0:
        return CapsuleGaps(gap, point, outward)
    low, high = np.zeros(near.size), np.ones(near.size)
    best = np.full(near.size, 0.5)
    samples = _SAMPLES
    for _ in range(_ROUNDS + 1):
        share = low[:, None] + np.linspace(0.0, 1.0, samples) * (high - low)[:, None]
        axis = start[near][:, None] + share[..., None] * (end - start)[near][:, None]
        distance = exact.signed_distance(axis.reshape(-1, 3))[0].reshape(share.shape)
        best = np.take_along_axis(share, distance.argmin(axis=1)[:, None], axis=1)[:, 0]
        width = (high - low) / (samples - 1)
        low, high = np.maximum(best - width, 0.0), np.minimum(best + width, 1.0)
        if samples == _SAMPLES:
            # No point between two samples is nearer than the nearer sample less half the step.
            keep = distance.min(axis=1) - width * half[near] - radius[near] <= reach
            near, low, high, best = near[keep], low[keep], high[keep], best[keep]
            samples = 5
    axis = start[near] + best[:, None] * (end - start)[near]
    distance, closest, _, normal = exact.signed_distance(axis)
    gap[near] = distance - radius[near]
    point[near], outward[near] = closest, normal
    gap[gap > reach] = np.inf
    return CapsuleGaps(gap, point, outward)


def surface_distance(
    surface: Surface, points: Float[np.ndarray, "N 3"]
) -> tuple[Float[np.ndarray, " N"], Float[np.ndarray, "N 3"]]:
    """Signed distances of points from a surface, m, and unit normals out of it."""
    if isinstance(surface, HalfSpace):
        return points @ surface.normal - surface.offset, np.tile(surface.normal, (len(points), 1))
    local = surface.pose.inverse().apply(points)
    over = np.abs(local) - surface.half_extents
    beyond = np.maximum(over, 0.0)
    outside = np.linalg.norm(beyond, axis=1)
    nearest = over.argmax(axis=1)
    inner = np.zeros_like(over)
    inner[np.arange(len(points)), nearest] = 1.0
    is_out = (outside > 0.0)[:, None]
    normal = np.where(is_out, beyond / np.where(is_out, outside[:, None], 1.0), inner)
    normal = surface.pose.rotate(normal * np.where(local < 0.0, -1.0, 1.0))
    return np.where(outside > 0.0, outside, over.max(axis=1)), normal
