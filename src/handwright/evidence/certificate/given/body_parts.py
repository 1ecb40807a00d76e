"""The parts that a body's surface is made of: whether they are joined, and how thin they are."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import igl
import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse.csgraph import connected_components
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.distance import cdist

from handwright.core.body import RigidBody
from handwright.geometry.distance.capsules import capsule_pairs
from handwright.geometry.mesh.edges import unique_edges

_NEAR = 1e-3
"""Parts of a body that are nearer than this count as joined, m."""
_BATCH = 512
"""Edges that are looked at together."""


class Parts(NamedTuple):
    """What a body's surface is made of."""

    num_apart: int
    """Parts that are apart from each other. A cavity belongs to the part around it."""
    thinnest: float
    """Least side of the box around a part, along the part's own axes, m."""


class Size(NamedTuple):
    """How large a body is, however its axes lie."""

    length: float
    """Between its two points that are farthest apart, m."""
    thickness: float
    """Between the two planes that are nearest to each other and hold it between them, m."""


@lru_cache(maxsize=32)
def size_of(body: RigidBody) -> Size:
    """Length and thickness of a body; no thickness if it is flat."""
    points = body.vertices[np.unique(body.faces)]
    try:
        hull = ConvexHull(points)
    except QhullError:
        return Size(float(np.linalg.norm(np.ptp(points, axis=0))), 0.0)
    corners, normals = points[hull.vertices], hull.equations[:, :3]
    length, thickness = 0.0, np.inf
    for first in range(0, len(corners), _BATCH):
        length = max(length, float(cdist(corners[first : first + _BATCH], corners).max()))
    for first in range(0, len(normals), _BATCH):
        along = corners @ normals[first : first + _BATCH].T
        thickness = min(thickness, float(np.ptp(along, axis=0).min()))
    return Size(length, thickness)


@lru_cache(maxsize=32)
def parts_of(body: RigidBody) -> Parts:
    """Finds the parts of a body."""
    count, part_of_face = igl.facet_components(body.faces)
    faces = [np.ascontiguousarray(body.faces[part_of_face == part]) for part in range(count)]
    corners = [body.vertices[mine.ravel()] for mine in faces]
    low = np.array([points.min(axis=0) for points in corners])
    high = np.array([points.max(axis=0) for points in corners])
    overlap = np.asarray((low[:, None] <= high[None] + _NEAR).all(axis=2))
    meet = overlap & overlap.T
    for one, two in zip(*np.nonzero(np.triu(meet, 1)), strict=True):
        meet[one, two] = meet[two, one] = _are_joined(body.vertices, faces[one], faces[two])
    apart = connected_components(meet, directed=False)[0]
    # Along its own axes a thin part is thin however it lies.
    sides = [np.ptp(points @ np.linalg.svd(points - points.mean(axis=0),
             full_matrices=False)[2].T, axis=0).min() for points in corners]  # fmt: skip
    return Parts(int(apart), float(min(sides)))


def _are_joined(
    vertices: Float[np.ndarray, "V 3"], one: Int[np.ndarray, "F 3"], two: Int[np.ndarray, "G 3"]
) -> bool:
    """Whether two surfaces come near each other or cross, or one lies in what the other encloses.

    Triangles that do not cross are nearest at a corner of one of them or between two edges.
    """
    for faces, others in ((one, two), (two, one)):
        points = vertices[np.unique(faces)]
        squared = igl.point_mesh_squared_distance(points, vertices, others)[0]
        if float(np.min(squared)) <= _NEAR**2:
            return True
        inside = igl.fast_winding_number(vertices, others, points[:1])
        if abs(float(np.atleast_1d(inside)[0])) > 0.5:
            return True
    edges = [vertices[unique_edges(faces)[0]] for faces in (one, two)]
    return (
        _edges_are_near(*edges)
        or _any_crosses(edges[0], vertices[two])
        or _any_crosses(edges[1], vertices[one])
    )


def _boxes_meet(
    one: Float[np.ndarray, "N K 3"], two: Float[np.ndarray, "M L 3"]
) -> Iterator[tuple[Int[np.ndarray, " P"], Int[np.ndarray, " P"]]]:
    """Pairs whose boxes are near each other, a batch at a time."""
    low, high = two.min(axis=1) - _NEAR, two.max(axis=1) + _NEAR
    near = ((one.min(axis=1) <= high.max(axis=0)) & (one.max(axis=1) >= low.min(axis=0))).all(1)
    rows = np.flatnonzero(near)
    for first in range(0, len(rows), _BATCH):
        some = rows[first : first + _BATCH]
        mine = one[some]
        meets: Bool[np.ndarray, "N M"] = np.ones((len(some), len(two)), dtype=bool)
        for axis in range(3):
            meets &= mine[:, :, axis].min(axis=1)[:, None] <= high[:, axis]
            meets &= mine[:, :, axis].max(axis=1)[:, None] >= low[:, axis]
        here, there = np.nonzero(meets)
        if here.size:
            yield some[here], there


def _edges_are_near(one: Float[np.ndarray, "N 2 3"], two: Float[np.ndarray, "M 2 3"]) -> bool:
    both = np.concatenate([one, two])
    start, end = np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1])
    radii = np.zeros((len(both), 2))
    for here, there in _boxes_meet(one, two):
        pairs = np.stack([here, there + len(one)], axis=1)
        gaps = np.zeros(len(pairs))
        capsule_pairs(start, end, radii, pairs, gaps, np.zeros((len(pairs), 2)))
        if gaps.min() <= _NEAR:
            return True
    return False


def _any_crosses(edges: Float[np.ndarray, "N 2 3"], triangles: Float[np.ndarray, "M 3 3"]) -> bool:
    """Whether an edge goes through a triangle."""
    for here, there in _boxes_meet(edges, triangles):
        start, way = edges[here, 0], edges[here, 1] - edges[here, 0]
        corner = triangles[there, 0]
        u, v = triangles[there, 1] - corner, triangles[there, 2] - corner
        normal = np.cross(u, v)
        slope = np.einsum("pi,pi->p", normal, way)
        slope = np.where(np.abs(slope) < 1e-18, np.nan, slope)
        share = np.einsum("pi,pi->p", normal, corner - start) / slope
        turned = np.cross(corner - start, way)
        a = np.einsum("pi,pi->p", turned, v) / slope
        b = -np.einsum("pi,pi->p", turned, u) / slope
        with np.errstate(invalid="ignore"):
            if ((share >= 0) & (share <= 1) & (a >= 0) & (b >= 0) & (a + b <= 1)).any():
                return True
    return False
