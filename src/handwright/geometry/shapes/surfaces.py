"""Triangle surfaces made by turning, sliding or inflating simple outlines."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float, Int

from handwright.errors import InvalidValueError
from handwright.math import rotation

Mesh = tuple[Float[np.ndarray, "V 3"], Int[np.ndarray, "F 3"]]
"""Vertices (m) and outward-oriented triangles of a closed surface."""

NUM_SEGMENTS = 72
"""Around a full turn: enough to look round."""


def revolve(
    profile: Float[np.ndarray, "P 2"], *, num_segments: int = NUM_SEGMENTS, is_loop: bool = False
) -> Mesh:
    """Turns an outline about Z.

    Args:
        profile: Radius and height, metres. From the bottom of the axis to its top with the
            material on the left of the way; or, for a ring, an anticlockwise loop off the axis.
        num_segments: Around the full turn.
        is_loop: Whether the last point joins the first.
    """
    angles = np.linspace(0.0, 2.0 * math.pi, num_segments, endpoint=False)
    on_axis = profile[:, 0] == 0.0
    sizes = np.where(on_axis, 1, num_segments)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    vertices = np.zeros((starts[-1], 3))
    for (radius, height), start, size in zip(profile, starts, sizes, strict=False):
        ring = slice(start, start + size)
        vertices[ring, 0] = radius * np.cos(angles[:size])
        vertices[ring, 1] = radius * np.sin(angles[:size])
        vertices[ring, 2] = height
    around = np.arange(num_segments)
    onward = np.roll(around, -1)
    faces = []
    count = len(profile)
    for i in range(count if is_loop else count - 1):
        k = (i + 1) % count
        low, low_next = (starts[i] + (a if sizes[i] > 1 else 0 * a) for a in (around, onward))
        top, top_next = (starts[k] + (a if sizes[k] > 1 else 0 * a) for a in (around, onward))
        if sizes[i] > 1:
            faces.append(np.stack([low, low_next, top_next], axis=1))
        if sizes[k] > 1:
            faces.append(np.stack([low, top_next, top], axis=1))
    return vertices, np.concatenate(faces).astype(np.int64)


def extrude(outline: Float[np.ndarray, "N 2"], *, height: float) -> Mesh:
    """Slides an outline along Z, from ``-height / 2`` to ``height / 2``.

    Args:
        outline: Anticlockwise and star-shaped about its mean point, metres.
        height: Metres.
    """
    count = len(outline)
    rings = [np.column_stack([outline, np.full(count, z)]) for z in (-height / 2, height / 2)]
    i, k = np.arange(count), np.roll(np.arange(count), -1)
    sides = [np.stack([i, k, k + count], axis=1), np.stack([i, k + count, i + count], axis=1)]
    if count <= 4:
        fan = np.stack([np.zeros(count - 2, int), i[1:-1], i[2:]], axis=1)
        return np.concatenate(rings), np.concatenate([*sides, fan[:, ::-1], fan + count])
    middle = outline.mean(axis=0)
    vertices = np.concatenate([*rings, [[*middle, -height / 2], [*middle, height / 2]]])
    bottom = np.stack([k, i, np.full(count, 2 * count)], axis=1)
    top = np.stack([i + count, k + count, np.full(count, 2 * count + 1)], axis=1)
    return vertices, np.concatenate([*sides, bottom, top])


def hull(points: Float[np.ndarray, "V 3"], faces: list[tuple[int, ...]]) -> Mesh:
    """Triangulates planar convex polygons, given anticlockwise seen from outside."""
    triangles = [(f[0], f[i], f[i + 1]) for f in faces for i in range(1, len(f) - 1)]
    return np.asarray(points, dtype=np.float64), np.array(triangles, dtype=np.int64)


def icosphere(num_subdivisions: int) -> Mesh:
    """A unit sphere of nearly equal triangles, 20 x 4^n of them."""
    golden = (1.0 + math.sqrt(5.0)) / 2.0
    corners = np.array(
        [
            *([s, t * golden, 0.0] for s in (-1, 1) for t in (-1, 1)),
            *([0.0, s, t * golden] for s in (-1, 1) for t in (-1, 1)),
            *([t * golden, 0.0, s] for s in (-1, 1) for t in (-1, 1)),
        ]
    )
    # The faces of the icosahedron are the triples of corners that are all 2 apart.
    near = np.isclose(np.linalg.norm(corners[:, None] - corners[None], axis=2), 2.0)
    triples = [
        (a, b, c)
        for a in range(12)
        for b in range(a + 1, 12)
        for c in range(b + 1, 12)
        if near[a, b] and near[b, c] and near[a, c]
    ]
    faces = np.array(
        [t if np.linalg.det(corners[list(t)]) > 0.0 else t[::-1] for t in triples], dtype=np.int64
    )
    vertices = corners
    for _ in range(num_subdivisions):
        vertices, faces = _split_in_four(vertices, faces)
    return vertices / np.linalg.norm(vertices, axis=1, keepdims=True), faces


def cube_grid(num_cells: int) -> Mesh:
    """The cube from -1 to 1, each side cut into ``num_cells`` squared squares of two triangles."""
    line = np.linspace(-1.0, 1.0, num_cells + 1)
    u, v = (grid.ravel() for grid in np.meshgrid(line, line, indexing="ij"))
    cell = np.arange(num_cells)
    corner = (cell[:, None] * (num_cells + 1) + cell).ravel()
    right, up = corner + num_cells + 1, corner + 1
    side_faces = np.concatenate(
        [np.stack([corner, right, right + 1], axis=1), np.stack([corner, right + 1, up], axis=1)]
    )
    vertices: list[Float[np.ndarray, "S 3"]] = []
    faces: list[Int[np.ndarray, "T 3"]] = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            side = np.zeros((len(u), 3))
            side[:, axis] = sign
            # A cyclic order of axes keeps the anticlockwise sense; the far side is mirrored.
            side[:, (axis + 1) % 3], side[:, (axis + 2) % 3] = u, v
            vertices.append(side)
            faces.append((side_faces if sign > 0 else side_faces[:, ::-1]) + len(faces) * len(u))
    stacked = np.concatenate(vertices)
    # Rounded keys: the same corner reached from two sides must compare equal.
    keys = np.round(stacked * num_cells).astype(np.int64)
    _, first, index = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return stacked[first], index.reshape(-1)[np.concatenate(faces)].astype(np.int64)


def _split_in_four(vertices: Float[np.ndarray, "A 3"], faces: Int[np.ndarray, "B 3"]) -> Mesh:
    half_edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    edges, rows = np.unique(np.sort(half_edges, axis=1), axis=0, return_inverse=True)
    ab, bc, ca = (rows.reshape(3, -1) + len(vertices)).astype(np.int64)
    a, b, c = faces.T
    quarters = [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
    return (
        np.concatenate([vertices, vertices[edges].mean(axis=1)]),
        np.concatenate([np.stack(q, axis=1) for q in quarters]),
    )


def capsule_mesh(
    start: Float[np.ndarray, "3"],
    end: Float[np.ndarray, "3"],
    radius: float,
    *,
    num_around: int = 32,
    num_rings: int = 8,
) -> Mesh:
    """A sphere swept from ``start`` to ``end``; a ball if the two are one point.

    Args:
        start: m.
        end: m.
        radius: m.
        num_around: Segments of a full turn.
        num_rings: Rings from the rim of a cap to its top.
    """
    if not radius > 0.0:
        raise InvalidValueError(f"capsule_mesh: radius is {radius} m; expected a positive number.")
    along = np.asarray(end, dtype=np.float64) - start
    length = float(np.linalg.norm(along))
    angles = np.linspace(0.0, np.pi / 2.0, num_rings + 1)
    top = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    top[-1, 0] = 0.0
    # A capsule of no length is a ball: its two equators are one ring.
    below = top[::-1] * [1.0, -1.0]
    above = top + np.array([0.0, length])
    profile = np.concatenate([below if length > 0.0 else below[:-1], above])
    vertices, faces = revolve(profile, num_segments=num_around)
    up = along / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    turn = rotation.between(np.array([0.0, 0.0, 1.0]), up)
    return rotation.rotate(turn, vertices) + start, faces
