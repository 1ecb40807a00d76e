"""Capsules that hug points, boxes and other solids."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import least_squares
from scipy.spatial import ConvexHull, QhullError

from handwright.errors import InvalidValueError

_OUTSIDE_WEIGHT = 2.0
"""A point left outside counts this many times as much as an equal gap inside."""
_FLAT = 1.6
"""Width over thickness from which a solid is covered by several parallel capsules."""
_MOST_STRIPS = 6
_NUM_SAMPLES = 1200


class FittedCapsule(NamedTuple):
    """A sphere swept along a segment."""

    start: Float[np.ndarray, " 3"]
    """m."""
    end: Float[np.ndarray, " 3"]
    """m."""
    radius: float
    """m."""


def fit_capsule(points: Float[np.ndarray, "N 3"]) -> FittedCapsule:
    """The capsule whose surface is nearest to points of a solid's surface.

    Gaps are weighed so that the capsule encloses nearly all points yet stays tight. Starts from
    the principal axis of the points.

    Args:
        points: Evenly spread over the surface, m.
    """
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1:] != (3,) or len(points) < 4:
        raise InvalidValueError(
            f"fit_capsule: points have shape {points.shape}; expected (N, 3) with N >= 4."
        )
    if not np.isfinite(points).all():
        raise InvalidValueError("fit_capsule: points hold NaN or infinity; leave those out.")
    axes, low, high = _principal_box(points)
    half = 0.5 * (high - low)
    middle = axes.T @ (0.5 * (low + high))
    scale = float(half.max())
    if scale == 0.0:
        raise InvalidValueError("fit_capsule: all points coincide; expected a solid's surface.")
    radius = max(0.5 * (half[1] + half[2]), 1e-3 * scale)
    reach = max(half[0] - radius, 0.05 * scale) * axes[0]
    unit = (points - middle) / scale

    def residual(x: np.ndarray) -> np.ndarray:
        start, end = x[:3], x[3:6]
        along = end - start
        t = np.clip((unit - start) @ along / max(along @ along, 1e-12), 0.0, 1.0)
        gap = np.linalg.norm(unit - start - t[:, None] * along, axis=1) - x[6]
        return np.asarray(np.where(gap > 0.0, _OUTSIDE_WEIGHT * gap, gap))

    guess = np.concatenate([-reach, reach, [radius]]) / scale
    best = least_squares(residual, guess, method="lm", max_nfev=2000).x * scale
    return FittedCapsule(middle + best[:3], middle + best[3:6], abs(float(best[6])))


def fit_hull(points: Float[np.ndarray, "N 3"]) -> list[FittedCapsule]:
    """Covers the hull of points, m, with one capsule, or with parallel ones if it is flat."""
    surface = _hull_surface(points)
    axes, low, high = _principal_box(surface)
    size = high - low
    num_strips = 1
    if size[2] > 0.0 and size[1] / size[2] > _FLAT:
        num_strips = min(int(np.ceil(size[1] / size[2] - 1e-9)), _MOST_STRIPS)
    across = surface @ axes[1]
    edges = np.linspace(low[1], high[1], num_strips + 1)
    # A strip's rims are its neighbours' to cover; fitting them too would make every strip fat.
    rim = 0.25 * (edges[1] - edges[0])
    fits = []
    for k in range(num_strips):
        left = edges[k] + (rim if k > 0 else 0.0)
        right = edges[k + 1] - (rim if k < num_strips - 1 else 0.0)
        fits.append(fit_capsule(surface[(across >= left) & (across <= right)]))
    return fits


def fit_box(half: Float[np.ndarray, " 3"]) -> list[FittedCapsule]:
    """Covers a box about the origin with capsules flush with its large faces.

    ``half`` is half its edge lengths, m.
    """
    order = np.argsort(-np.asarray(half), kind="stable")
    long, wide, thin = np.asarray(half, dtype=np.float64)[order]
    is_flat = wide / thin > _FLAT
    count = min(int(np.ceil(wide / thin - 1e-9)), _MOST_STRIPS) if is_flat else 1
    # A box that needs more strips than allowed gets thicker ones rather than gaps.
    radius = max(thin, wide / count) if is_flat else 0.5 * (wide + thin)
    positions = np.linspace(radius - wide, wide - radius, count) if is_flat else np.zeros(1)
    reach = max(long - radius, 0.0)
    fits = []
    for place in positions:
        start, end = np.zeros(3), np.zeros(3)
        start[order[0]], end[order[0]] = -reach, reach
        start[order[1]] = end[order[1]] = place
        fits.append(FittedCapsule(start, end, float(radius)))
    return fits


def _principal_box(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of principal axes, and the extent along each, longest extent first."""
    _, _, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    along = points @ axes.T
    order = np.argsort(-np.ptp(along, axis=0), kind="stable")
    axes, along = axes[order], along[:, order]
    return axes, along.min(axis=0), along.max(axis=0)


def _hull_surface(points: np.ndarray) -> np.ndarray:
    """Points spread evenly over the hull of a solid, corners included."""
    points = np.asarray(points, dtype=np.float64)
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError) as error:
        raise InvalidValueError(
            f"No capsule fits {len(points)} points that span no volume; expected the vertices "
            "of a solid."
        ) from error
    triangles = points[hull.simplices]
    edge1, edge2 = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    area = 0.5 * np.linalg.norm(np.cross(edge1, edge2), axis=1)
    quota: Int[np.ndarray, " F"] = np.ceil(_NUM_SAMPLES * area / area.sum()).astype(np.int64)
    # A fixed seed: the same mesh always gets the same capsule.
    u, v = np.random.default_rng(0).random((2, int(quota.sum())))
    u, v = np.where(u + v > 1.0, (1.0 - u, 1.0 - v), (u, v))
    owner = np.repeat(np.arange(len(triangles)), quota)
    inside = triangles[owner, 0] + u[:, None] * edge1[owner] + v[:, None] * edge2[owner]
    return np.concatenate([points[hull.vertices], inside])
