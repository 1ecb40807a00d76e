"""From the skin's implicit surface to an even, closed triangle mesh that lies on it."""

from __future__ import annotations

from typing import Protocol

import igl
import numpy as np
from jaxtyping import Float, Int
from scipy.ndimage import binary_dilation, binary_erosion
from scipy.sparse import coo_array, diags_array
from scipy.sparse.csgraph import connected_components

from handwright.errors import InvalidValueError
from handwright.geometry.mesh.inertia import signed_volume
from handwright.geometry.mesh.normals import face_normals
from handwright.hands.skin.field import SkinField
from handwright.hands.skin.parts import Points, Values

Vertices = Float[np.ndarray, "V 3"]
Faces = Int[np.ndarray, "F 3"]

# A hand takes about 9,000 blocks.
_MOST_BLOCKS = 60_000
# Marching cubes runs only in blocks of this many cells a side that the surface can cross.
_BLOCK = 5


class Solid(Protocol):
    """Something with an outside."""

    def distance(self, points: Points) -> Values:
        """Signed distance, m, negative inside."""

    def bounds(self) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
        """Corners of a box that holds it, m."""


def mesh_of(field: SkinField, spacing: float, num_faces: int) -> tuple[Vertices, Faces]:
    """Meshes the skin.

    Args:
        field: Signed distance to the skin.
        spacing: Step of the grid, m.
        num_faces: How many triangles to keep; short edges go first, which evens the mesh.
    """
    vertices, faces = march(field, spacing)
    _check_ball(vertices, faces)
    vertices = field.project(vertices, 2)
    if len(faces) > num_faces:
        few, kept, _, _ = igl.decimate(
            np.asfortranarray(vertices), np.asfortranarray(faces.astype(np.int32)), num_faces
        )
        vertices, faces = np.ascontiguousarray(few), np.ascontiguousarray(kept, dtype=np.int64)
    for _ in range(4):
        faces = flip_to_delaunay(vertices, faces)
        vertices = relax(field, vertices, faces, num_rounds=3)
    return field.project(vertices, 2), faces


def march(field: Solid, spacing: float) -> tuple[Vertices, Faces]:
    """Marching cubes on a grid, only where the surface can be.

    Args:
        field: What to mesh.
        spacing: Step of the grid, m.
    """
    low, high = field.bounds()
    blocks = np.ceil((high - low) / (spacing * _BLOCK)).astype(int) + 1
    if not blocks.prod(dtype=float) <= _MOST_BLOCKS:
        raise InvalidValueError(
            f"The skin of this hand fills a box of {', '.join(f'{s:.3g}' for s in high - low)} m "
            f"in steps of {spacing:.3g} m: too much for a hand. Check its bones and girths."
        )
    size = spacing * _BLOCK
    index = np.stack(np.meshgrid(*(np.arange(n) for n in blocks), indexing="ij"), axis=-1)
    index = index.reshape(-1, 3)
    value = field.distance(low + (index + 0.5) * size)
    # Outside, the field is about a distance. Inside flat parts it is measured across, and may be
    # larger: there, look for a neighbour on the other side of the skin.
    inside = (value < 0.0).reshape(blocks)
    around = np.ones((3, 3, 3), dtype=bool)
    border = binary_dilation(inside, around) & ~binary_erosion(inside, around)
    near = (np.abs(value) < 1.3 * size) | border.ravel()
    inner = np.stack(np.meshgrid(*(np.arange(_BLOCK),) * 3, indexing="ij"), axis=-1)
    cells = (index[near][:, None] * _BLOCK + inner.reshape(-1, 3)[None]).reshape(-1, 3)
    counts = blocks * _BLOCK + 1
    strides = np.array([counts[1] * counts[2], counts[2], 1])
    # Corner order of the marching cubes table: round the bottom, then round the top.
    corners = np.array(
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]
    )
    keys = (cells @ strides)[:, None] + (corners @ strides)[None]
    present, number = np.unique(keys, return_inverse=True)
    points = low + spacing * np.stack(np.unravel_index(present, counts), axis=1)
    values = field.distance(points)
    # A value of exactly zero would put several vertices on one grid point.
    values = np.where(np.abs(values) < 1e-3 * spacing, 1e-3 * spacing, values)
    vertices, faces, _ = igl.marching_cubes(values, points, number.reshape(-1, 8), 0.0)
    faces = faces.astype(np.int64)
    return vertices, faces if signed_volume(vertices, faces) > 0 else faces[:, ::-1]


def _check_ball(vertices: Vertices, faces: Faces) -> None:
    """Digits that touch at the bind pose, or lie apart from the palm, make no hand."""
    _, pairs = _edge_table(faces)
    edges = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    graph = coo_array((np.ones(faces.size), edges), shape=(len(vertices),) * 2)
    num_parts = connected_components(graph, directed=False)[0]
    euler = len(vertices) - faces.size // 2 + len(faces)
    if num_parts == 1 and euler == 2 and 2 * len(pairs) == faces.size:
        return
    raise InvalidValueError(
        f"The skin of this hand has {num_parts} parts and Euler number {euler}; expected one part "
        "and 2, as a ball has. Its bones are too close together or too far apart for their girth: "
        "check their lengths and the breadth of the hand."
    )


def neighbour_mean(faces: Faces, count: int) -> coo_array:
    """Matrix that takes the mean over the neighbours of each vertex."""
    i = np.concatenate([faces[:, 0], faces[:, 1], faces[:, 2]])
    j = np.concatenate([faces[:, 1], faces[:, 2], faces[:, 0]])
    both = (np.concatenate([i, j]), np.concatenate([j, i]))
    graph = coo_array((np.ones(2 * len(i)), both), shape=(count, count)).tocsr()
    graph.data[:] = 1.0
    return diags_array(1.0 / np.maximum(np.asarray(graph.sum(axis=1)).ravel(), 1.0)) @ graph


def relax(
    field: SkinField, vertices: Vertices, faces: Faces, num_rounds: int, strength: float = 0.6
) -> Vertices:
    """Slides vertices along the skin towards the middle of their neighbours."""
    mean = neighbour_mean(faces, len(vertices))
    for _ in range(num_rounds):
        vertices = slide(field, vertices, strength * (mean @ vertices - vertices))
    return vertices


def slide(field: SkinField, points: Vertices, move: Vertices, longest: float = 0.002) -> Vertices:
    """Moves points along the skin, and back to it, by at most ``longest``, m."""
    # One look at the field tells both the tangent plane and the way back to the surface.
    value, gradient = field.value_and_gradient(points)
    squared = np.maximum(np.einsum("ij,ij->i", gradient, gradient), 0.05)
    outward = value + np.einsum("ij,ij->i", move, gradient)
    move = move - (outward / squared)[:, None] * gradient
    length = np.linalg.norm(move, axis=1, keepdims=True)
    return points + move * np.minimum(1.0, longest / np.maximum(length, 1e-12))


def _edge_table(faces: Faces) -> tuple[np.ndarray, np.ndarray]:
    """Keys of all edges (sorted), and the two half edges (face * 3 + corner) of inner ones."""
    start, end = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    keys = np.minimum(start, end) * (int(faces.max()) + 1) + np.maximum(start, end)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(keys[1:] == keys[:-1])
    return keys, np.stack([order[first], order[first + 1]], axis=1)


def flip_to_delaunay(
    vertices: Vertices,
    faces: Faces,
    curve: Int[np.ndarray, " V"] | None = None,
    num_rounds: int = 8,
) -> Faces:
    """Turns edges whose opposite angles add up to more than half a turn (Delaunay).

    Args:
        vertices: Vertices, m.
        faces: Triangles.
        curve: Number of the curve that each vertex lies on, or -1; edges between two vertices of
            one curve are neither turned nor made.
        num_rounds: How often to go over the mesh at most.
    """
    faces = faces.copy()
    curve = np.full(len(vertices), -1) if curve is None else curve
    for _ in range(num_rounds):
        keys, pairs = _edge_table(faces)
        base = int(faces.max()) + 1
        first, second = pairs[:, 0] // 3, pairs[:, 1] // 3
        a = faces[first, pairs[:, 0] % 3]
        b = faces[first, (pairs[:, 0] % 3 + 1) % 3]
        c = faces[first, (pairs[:, 0] % 3 + 2) % 3]
        d = faces[second, (pairs[:, 1] % 3 + 2) % 3]
        gain = (
            _angle(vertices[c], vertices[a], vertices[b])
            + _angle(vertices[d], vertices[a], vertices[b])
            - np.pi
        )
        across = np.minimum(c, d) * base + np.maximum(c, d)
        known = keys[np.minimum(np.searchsorted(keys, across), len(keys) - 1)] == across
        kept = (curve[a] == curve[b]) & (curve[a] >= 0)
        # A chord that cuts off one vertex of its own curve may go.
        kept &= (curve[c] != curve[a]) & (curve[d] != curve[a])
        kept |= (curve[c] == curve[d]) & (curve[c] >= 0)
        bad = np.flatnonzero((gain > 0.02) & ~kept & ~known & (c != d))
        bad = bad[np.argsort(-gain[bad])]
        used = np.zeros(len(faces), dtype=bool)
        made: set[int] = set()
        changed = 0
        for e in bad:
            f, g = first[e], second[e]
            if used[f] or used[g] or int(across[e]) in made:
                continue
            new = np.array([[c[e], a[e], d[e]], [d[e], b[e], c[e]]])
            before = face_normals(vertices[faces[[f, g]]])
            after = face_normals(vertices[new])
            # A flip across a sharp bend would fold the surface.
            if (after @ before.sum(axis=0)).min() <= 0.0:
                continue
            faces[f], faces[g] = new
            used[f] = used[g] = True
            made.add(int(across[e]))
            changed += 1
        if not changed:
            break
    return faces


def _angle(apex: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    u, v = a - apex, b - apex
    cross = np.linalg.norm(np.cross(u, v), axis=-1)
    return np.arctan2(cross, np.einsum("...i,...i->...", u, v))
