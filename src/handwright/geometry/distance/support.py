"""Where a body touches a fixed surface, and how far it is from it: points, normals and gaps.

A plane is touched by corners of the body. A box is also touched where an edge of the body crosses
one of its edges, and where one of its corners lies under a face of the body: a bar across two
blocks has no corner on either of them. What touches each side of a box is found on its own. Of all
points on the level of the lowest one, the outermost stand for the rest.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import ConvexHull

from handwright.core.body import RigidBody
from handwright.core.surface import HalfSpace, Surface
from handwright.geometry.distance.surface_distance import surface_distance
from handwright.math import rotation
from handwright.math.pose import Pose

# Points this much higher than the lowest one still belong to the side that a body lies on, m.
FLAT = 2e-4
# A normal between those of two sides belongs to the side that it leans to.
_LEAST_COSINE = 0.7
_DIRECTIONS = 8
# Lengths below this come from rounding, m.
_ROUNDING = 1e-9


class SurfaceContacts(NamedTuple):
    """Places in the world at which one body touches one surface, or comes nearest to it."""

    point: Float[np.ndarray, "N 3"]
    """On the body, m."""
    normal: Float[np.ndarray, "N 3"]
    """Unit length, out of the surface."""
    gap: Float[np.ndarray, " N"]
    """m; negative in penetration."""
    distance: float
    """Of the nearest point of the body, m; minus the depth if the body is in the surface."""


class _Shape(NamedTuple):
    """What is asked of a body's mesh again and again."""

    hull: Float[np.ndarray, "H 3"]
    vertices: Float[np.ndarray, "V 3"]
    faces: Int[np.ndarray, "F 3"]


class _Candidates(NamedTuple):
    """Places where one side of a box may be touched, in the box's frame."""

    point: np.ndarray
    normal: np.ndarray
    gap: np.ndarray


@lru_cache(maxsize=16)
def _shape(body: RigidBody) -> _Shape:
    hull = body.vertices[ConvexHull(body.vertices).vertices]
    return _Shape(hull, body.vertices, body.faces)


def surface_contacts(surface: Surface, body: RigidBody, pose: Pose) -> SurfaceContacts:
    """The lowest points of a body over a surface, by which it would lie on it.

    There is always at least one, however far away; the caller decides which gaps are a touch.

    Args:
        surface: Plane or box.
        body: Its mesh.
        pose: Of the body in the world.
    """
    shape = _shape(body)
    if isinstance(surface, HalfSpace):
        return _nearest_vertices(surface, pose.apply(shape.hull))
    seen = surface.pose.inverse() @ pose
    local = shape.vertices @ rotation.to_matrix(seen.wxyz).T + seen.position
    half = surface.half_extents
    over = np.abs(local) - half
    low, high = local.min(axis=0), local.max(axis=0)
    beside = (low > half) | (high < -half)
    sides = [
        _lowest(found)
        for axis in range(3)
        for sign in (-1.0, 1.0)
        # What lies in the other half of the box comes out on the other side.
        if (high[axis] > 0.0 if sign > 0.0 else low[axis] < 0.0)
        and not np.delete(beside, axis).any()
        and len((found := _over_side(half, shape, local, over, axis, sign)).gap)
    ]
    if not sides:
        return _nearest_vertices(surface, surface.pose.apply(local))
    point, normal, gap = (np.concatenate(column) for column in zip(*sides, strict=True))
    outside = np.linalg.norm(np.maximum(over, 0.0), axis=1)
    nearest = float(np.where(outside > 0.0, outside, over.max(axis=1)).min())
    point = surface.pose.apply(point)
    # Gaps across two edges are those of straight lines: far away the points themselves count.
    away = np.where(gap < 0.0, gap, surface_distance(surface, point)[0])
    return SurfaceContacts(point, surface.pose.rotate(normal), gap, min(nearest, float(away.min())))


def contacts_along(
    surface: Surface, body: RigidBody, pose: Pose, *, within: float = np.inf
) -> list[SurfaceContacts]:
    """``surface_contacts`` for every frame of a motion; one that stands still is asked once.

    Args:
        surface: Plane or box.
        body: Its mesh.
        pose: (T,) of the body in the world.
        within: Frames in which the body is surely farther away than this have no contacts, m.
    """
    found: list[SurfaceContacts] = []
    apart = _least_apart(surface, body, pose) if within < np.inf else np.zeros(len(pose.position))
    for t in range(len(pose.position)):
        stands = t > 0 and bool(
            (pose.position[t] == pose.position[t - 1]).all()
            and (pose.wxyz[t] == pose.wxyz[t - 1]).all()
        )
        if stands:
            found.append(found[-1])
        elif apart[t] > within:
            none = np.zeros((0, 3))
            found.append(SurfaceContacts(none, none, np.zeros(0), float(apart[t])))
        else:
            found.append(surface_contacts(surface, body, pose[t]))
    return found


def _least_apart(surface: Surface, body: RigidBody, pose: Pose) -> np.ndarray:
    """(T,) distances, m, that a body is at least away from a surface, by its bounds."""
    low, high = body.bounds
    side = np.array(np.meshgrid([0.0, 1.0], [0.0, 1.0], [0.0, 1.0])).reshape(3, -1).T
    corners = pose[:, None].apply(low + side * (high - low))
    if isinstance(surface, HalfSpace):
        return np.asarray((corners @ surface.normal).min(axis=1) - surface.offset)
    local = surface.pose.inverse().apply(corners)
    beyond = np.maximum(local.min(axis=1), -local.max(axis=1)) - surface.half_extents
    return np.asarray(beyond.max(axis=1))


def _nearest_vertices(surface: Surface, world: np.ndarray) -> SurfaceContacts:
    """The nearest vertex, and of those on its level the outermost."""
    distance, normal = surface_distance(surface, world)
    level = np.flatnonzero(distance <= distance.min() + FLAT)
    kept = _lowest(_Candidates(world[level], normal[level], distance[level]))
    return SurfaceContacts(*kept, float(distance.min()))


def _lowest(found: _Candidates) -> _Candidates:
    """The lowest point and, of those on its level, the outermost in eight directions."""
    lowest = int(found.gap.argmin())
    level = np.flatnonzero(found.gap <= found.gap[lowest] + FLAT)
    up = found.normal[lowest]
    first = np.cross(np.eye(3)[np.abs(up).argmin()], up)
    first /= np.linalg.norm(first)
    angle = np.linspace(0.0, 2.0 * np.pi, _DIRECTIONS, endpoint=False)[:, None]
    directions = np.cos(angle) * first + np.sin(angle) * np.cross(up, first)
    outermost = (found.point[level] @ directions.T).argmax(axis=0)
    chosen = np.unique(np.append(level[outermost], lowest))
    return _Candidates(*(column[chosen] for column in found))


def _over_side(
    half: np.ndarray, shape: _Shape, local: np.ndarray, over: np.ndarray, axis: int, sign: float
) -> _Candidates:
    """Places of a body over one side of a box.

    Args:
        half: Half extents of the box, m.
        shape: Mesh of the body.
        local: (V, 3) vertices in the frame of the box, m.
        over: (V, 3) how far they are beyond the box along each axis, m.
        axis: Of the box, that the side stands across.
        sign: Which of the two sides.
    """
    across = [i for i in range(3) if i != axis]
    up = np.zeros(3)
    up[axis] = sign
    height = sign * local[:, axis] - half[axis]
    inside = np.maximum(over[:, across[0]], over[:, across[1]])
    # A vertex in the box belongs to the side that it is nearest to, or nearly so.
    corners = np.flatnonzero((inside <= _ROUNDING) & ((height >= 0.0) | (height + FLAT >= inside)))
    # Nothing much higher than the lowest vertex can be on its level.
    low = height <= (max(height[corners].min(initial=np.inf), 0.0) + FLAT) / _LEAST_COSINE
    beside = _beside(local[:, across], half[across])
    if np.bitwise_and.reduce(beside):
        return _Candidates(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0))
    one, two, three = (shape.faces[:, k] for k in range(3))
    over = (beside[one] & beside[two] & beside[three]) == 0
    # Only triangles over an edge of the side have more than vertices to give.
    over &= (beside[one] | beside[two] | beside[three]) != 0
    over &= low[one] | low[two] | low[three]
    some = local[shape.faces[over]]
    vertices = _Candidates(local[corners], np.tile(up, (len(corners), 1)), height[corners])
    if len(some) == 0:
        return vertices
    crossing, owner = _crossings(half, some, axis, up)
    parts = (vertices, crossing, _under_corners(half, some, axis, up))
    found = _Candidates(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    deepest = max(float(-np.maximum(inside, height).min()), _depth_within(half, crossing, owner))
    # What is farther below the side than the body is in the box passes beside it.
    kept = np.flatnonzero(found.gap >= -max(deepest, 0.0) - FLAT)
    return _Candidates(*(column[kept] for column in found))


def _beside(flat: np.ndarray, half: np.ndarray) -> np.ndarray:
    """A bit for each of the four borders of a side that a vertex is beyond."""
    is_out = np.concatenate([flat > half, flat < -half], axis=1)
    return np.asarray(is_out @ np.array([1, 2, 4, 8], dtype=np.uint8))


def _crossings(
    half: np.ndarray, triangles: np.ndarray, axis: int, up: np.ndarray
) -> tuple[_Candidates, np.ndarray]:
    """Where edges of the body cross the edges of a side of the box, seen from above.

    Returns:
        The places, and the triangle that each is on; an edge comes once for each of its triangles.
    """
    start, end = triangles.reshape(-1, 3), np.roll(triangles, -1, axis=1).reshape(-1, 3)
    parts, owners = [], []
    for i in (k for k in range(3) if k != axis):
        other = 3 - axis - i
        along = np.eye(3)[other]
        for face in (-1.0, 1.0):
            a, b = start[:, i] - face * half[i], end[:, i] - face * half[i]
            rows = np.flatnonzero((a * b < 0.0) & (np.abs(a - b) > _ROUNDING))
            share = (a[rows] / (a[rows] - b[rows]))[:, None]
            point = start[rows] + share * (end[rows] - start[rows])
            normal = np.cross(end[rows] - start[rows], along)
            normal *= np.where(normal @ up < 0.0, -1.0, 1.0)[:, None]
            # Between the directions of the two sides that meet in this edge.
            normal[:, i] = np.where(normal[:, i] * face > 0.0, normal[:, i], 0.0)
            is_on = np.abs(point[:, other]) <= half[other] + _ROUNDING
            found, kept = _leaning(half, point[is_on], normal[is_on], axis, up)
            parts.append(found)
            owners.append(rows[is_on][kept] // 3)
    joined = _Candidates(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    return joined, np.concatenate(owners)


def _under_corners(half: np.ndarray, some: np.ndarray, axis: int, up: np.ndarray) -> _Candidates:
    """Where triangles of the body lie over the corners of a side of the box."""
    across = [i for i in range(3) if i != axis]
    points, normals = [np.zeros((0, 3))], [np.zeros((0, 3))]
    normal = np.cross(some[:, 1] - some[:, 0], some[:, 2] - some[:, 0])
    for signs in ((-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)):
        corner = np.array(signs) * half[across]
        flat = some[:, :, across] - corner
        turn = np.roll(flat, -1, axis=1)
        area = flat[..., 0] * turn[..., 1] - flat[..., 1] * turn[..., 0]
        rows = np.flatnonzero(
            ((area > 0.0).all(axis=1) | (area < 0.0).all(axis=1)) & (normal @ up < 0.0)
        )
        weight = np.roll(area[rows], -1, axis=1)
        weight = weight / weight.sum(axis=1, keepdims=True)
        points.append(np.einsum("nk,nki->ni", weight, some[rows]))
        into = -normal[rows]
        outward = into[:, across] * np.array(signs)
        into[:, across] = np.where(outward > 0.0, into[:, across], 0.0)
        normals.append(into)
    return _leaning(half, np.concatenate(points), np.concatenate(normals), axis, up)[0]


def _leaning(
    half: np.ndarray, point: np.ndarray, normal: np.ndarray, axis: int, up: np.ndarray
) -> tuple[_Candidates, np.ndarray]:
    """Those of the places at an edge or a corner of a box that push on the side at hand.

    Args:
        half: Half extents of the box, m.
        point: On the body, in the frame of the box, m.
        normal: Of any length.
        axis: That the side stands across.
        up: Out of the side.

    Returns:
        The places, and their rows.
    """
    normal = normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
    cosine = normal @ up
    height = point @ up - half[axis]
    # Below the middle of the box the opposite side is nearer.
    kept = np.flatnonzero((cosine >= _LEAST_COSINE) & (height >= -half[axis]))
    # The gap is across both edges, not straight up.
    return _Candidates(point[kept], normal[kept], (height * cosine)[kept]), kept


def _depth_within(half: np.ndarray, crossing: _Candidates, owner: np.ndarray) -> float:
    """Depth in the box of the middles of triangles whose corners all lie beside it, m."""
    if len(owner) == 0:
        return 0.0
    _, index, count = np.unique(owner, return_inverse=True, return_counts=True)
    middle = np.zeros((len(count), 3))
    np.add.at(middle, index, crossing.point)
    return float(-(np.abs(middle / count[:, None]) - half).max(axis=1).min())
