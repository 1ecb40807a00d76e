"""Signed distances, negative inside, from which the shapes with handles are put together."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.kernels.decorators import compiled

Points = Float[np.ndarray, "N 3"]
Distances = Float[np.ndarray, "N"]


@compiled
def polygon_distance(
    points: Float[np.ndarray, "N 2"], polygon: Float[np.ndarray, "M 2"], is_closed: bool = True
) -> Float[np.ndarray, "N"]:
    """Exact signed distance (m) to a simple polygon, whatever its sense of rotation.

    An open one is the half of a figure symmetric about x = 0, for points on its side.
    """
    result = np.zeros(points.shape[0])
    count = polygon.shape[0]
    for i in range(points.shape[0]):
        x, y = points[i, 0], points[i, 1]
        best = np.inf
        inside = False
        k = count - 1 if is_closed else 0
        for j in range(0 if is_closed else 1, count):
            ax, ay, bx, by = polygon[k, 0], polygon[k, 1], polygon[j, 0], polygon[j, 1]
            ex, ey = bx - ax, by - ay
            t = ((x - ax) * ex + (y - ay) * ey) / (ex * ex + ey * ey)
            t = min(max(t, 0.0), 1.0)
            dx, dy = x - ax - t * ex, y - ay - t * ey
            best = min(best, dx * dx + dy * dy)
            # Crossing parity of a ray towards +x.
            if (ay > y) != (by > y) and x < ax + (y - ay) / ey * ex:
                inside = not inside
            k = j
        result[i] = -np.sqrt(best) if inside else np.sqrt(best)
    return result


@compiled
def tube_distance(
    points: Float[np.ndarray, "N 3"],
    curve: Float[np.ndarray, "K 3"],
    radii: Float[np.ndarray, "K"],
) -> Float[np.ndarray, "N"]:
    """Distance (m) to a chain of round cones along a curve, its radius blended between points."""
    result = np.zeros(points.shape[0])
    for i in range(points.shape[0]):
        best = np.inf
        for k in range(curve.shape[0] - 1):
            ex = curve[k + 1, 0] - curve[k, 0]
            ey = curve[k + 1, 1] - curve[k, 1]
            ez = curve[k + 1, 2] - curve[k, 2]
            px = points[i, 0] - curve[k, 0]
            py = points[i, 1] - curve[k, 1]
            pz = points[i, 2] - curve[k, 2]
            t = (px * ex + py * ey + pz * ez) / (ex * ex + ey * ey + ez * ez)
            t = min(max(t, 0.0), 1.0)
            dx, dy, dz = px - t * ex, py - t * ey, pz - t * ez
            gap = np.sqrt(dx * dx + dy * dy + dz * dz) - radii[k] - t * (radii[k + 1] - radii[k])
            best = min(best, gap)
        result[i] = best
    return result


def flat_tube(
    points: Points, curve: Float[np.ndarray, "K 3"], radii: Float[np.ndarray, "K"], *, width: float
) -> Distances:
    """A tube along a curve in the plane y = 0 that is ``width`` times as broad along Y as thick.

    A lower bound of the distance for ``width`` of 1 or more.
    """
    squeezed = points * [1.0, 1.0 / width, 1.0]
    return tube_distance(squeezed, curve, radii)


def revolved(points: Points, profile: Float[np.ndarray, "M 2"]) -> Distances:
    """A profile in (radius, height), from one point of the axis to another, turned about Z."""
    plane = np.stack([np.hypot(points[:, 0], points[:, 1]), points[:, 2]], axis=1)
    return polygon_distance(plane, profile, False)


def extruded(
    across: Distances, along: Distances, *, half: float, rounding: float = 0.0
) -> Distances:
    """A plane shape slid along an axis.

    Args:
        across: Signed distance in the plane, m.
        along: Coordinate along the axis, from the middle, m.
        half: Half the length, m.
        rounding: Radius of the rims, m.
    """
    return smooth_corner(across, np.abs(along) - half, rounding)


def smooth_corner(first: Distances, second: Distances, radius: float) -> Distances:
    """The intersection of two fields, the edge between them rounded by ``radius`` (m)."""
    u, v = first + radius, second + radius
    return np.minimum(np.maximum(u, v), 0.0) + np.hypot(np.maximum(u, 0), np.maximum(v, 0)) - radius


def smooth_union(first: Distances, second: Distances, blend: float) -> Distances:
    """The union of two fields, with a fillet about ``blend`` (m) wide where they meet."""
    near = np.maximum(blend - np.abs(first - second), 0.0) / blend
    return np.minimum(first, second) - near * near * (0.25 * blend)


def rounded_cut(body: Distances, cutter: Distances, radius: float) -> Distances:
    """The body without the cutter, the rim rounded by ``radius`` (m)."""
    return smooth_corner(body, -cutter, radius)


def rounded_box(
    points: Points,
    center: tuple[float, float, float],
    half: tuple[float, float, float],
    radius: float,
) -> Distances:
    """A box with edges rounded by ``radius`` (m); ``half`` are its half extents (m)."""
    q = np.abs(points - np.asarray(center)) - (np.asarray(half) - radius)
    outside = np.linalg.norm(np.maximum(q, 0.0), axis=1)
    return outside + np.minimum(q.max(axis=1), 0.0) - radius


def ellipsoid(
    points: Points, center: tuple[float, float, float], radii: tuple[float, float, float]
) -> Distances:
    """A first-order estimate of the distance to an ellipsoid, exact on its surface."""
    offset = points - np.asarray(center)
    scaled = np.linalg.norm(offset / radii, axis=1)
    slope = np.linalg.norm(offset / np.square(radii), axis=1)
    return scaled * (scaled - 1.0) / np.maximum(slope, 1e-9)
