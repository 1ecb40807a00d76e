"""From a signed distance function to a closed mesh that lies on its zero surface."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import igl
import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import coo_array, csr_array, diags_array

from handwright.geometry.mesh.inertia import MassProperties, combine, grid_properties
from handwright.geometry.mesh.normals import face_normals
from handwright.geometry.shapes.flipping import flip_edges, slenderness
from handwright.geometry.shapes.surfaces import Mesh

Field = Callable[[Float[np.ndarray, "N 3"]], Float[np.ndarray, "N"]]
"""Signed distance (m), negative inside, that changes by at most about 1 m per metre."""

# Marching cubes runs only in blocks of this many cells a side that the surface can cross.
_BLOCK = 6
# Smooth unions and squeezed tubes can be a little steeper or flatter than a true distance.
_STEEPNESS = 1.3
# Where faces turn away from the true normal by more than this (rad), vertices stay in place.
_TIGHT = np.radians(20.0)
_FOLDED = np.radians(75.0)
_TURNED_OVER = np.radians(95.0)
# Height of a face over its longest side.
_SLIVER = 0.08


def mesh_field(
    field: Field,
    low: Sequence[float],
    high: Sequence[float],
    *,
    spacing: float,
    num_faces: int,
) -> Mesh:
    """Meshes the zero surface of a field.

    Marching cubes, then edge collapse by quadric error, then turning of edges and sliding along
    the surface for even triangles, with Newton steps back to the surface in between.

    Args:
        field: Signed distance, m.
        low: Lower corner of a box that holds the surface, m.
        high: Upper corner, m.
        spacing: Grid step, m; walls must be thicker than this.
        num_faces: Upper bound of the number of triangles.
    """
    vertices, faces = _march(field, np.asarray(low), np.asarray(high), spacing)
    vertices = project(field, vertices, step=spacing, num_steps=1)
    if len(faces) > num_faces:
        simple, kept, _, _ = igl.qslim(
            np.asfortranarray(vertices), np.asfortranarray(faces.astype(np.int32)), num_faces
        )
        vertices, faces = np.ascontiguousarray(simple), np.ascontiguousarray(kept)
    vertices = project(field, vertices, step=spacing)
    faces = faces.astype(np.int64)
    faces = _conform(field, vertices, faces)
    for _ in range(2):
        vertices = _relax(field, vertices, faces, step=spacing)
        faces = _conform(field, vertices, faces)
    vertices = project(field, vertices, step=spacing, num_steps=2)
    return _unfold(field, vertices, _conform(field, vertices, faces), step=spacing)


def project(
    field: Field, vertices: Float[np.ndarray, "V 3"], *, step: float, num_steps: int = 3
) -> Float[np.ndarray, "V 3"]:
    """Moves points to the zero surface along the gradient, at most ``step`` (m) at a time."""
    for _ in range(num_steps):
        value = field(vertices)
        slope = gradient(field, vertices)
        squared = np.maximum(np.einsum("ij,ij->i", slope, slope), 1e-2)
        move = -(value / squared)[:, None] * slope
        length = np.linalg.norm(move, axis=1, keepdims=True)
        vertices = vertices + move * np.minimum(1.0, step / np.maximum(length, 1e-12))
    return vertices


def gradient(field: Field, points: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "N 3"]:
    """Differences of a field over the corners of a little tetrahedron around each point."""
    h = 1e-6
    corners = np.array([[1.0, -1.0, -1.0], [-1.0, -1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, 1.0, 1.0]])
    values = field((points[None] + h * corners[:, None]).reshape(-1, 3)).reshape(4, -1)
    return values.T @ corners / (4.0 * h)


def _normals(field: Field, points: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "N 3"]:
    slope = gradient(field, points)
    return slope / np.maximum(np.linalg.norm(slope, axis=1, keepdims=True), 1e-9)


def part_properties(
    parts: Sequence[tuple[Field, float]],
    low: Sequence[float],
    high: Sequence[float],
    *,
    spacing: float,
) -> MassProperties:
    """Mass properties of parts of different materials, by the midpoint rule on a grid.

    Cells that the surface crosses count by the part of them that is inside, as far as the
    distance of their middle tells.

    Args:
        parts: Field and density (kg / m^3) of each; they should not overlap.
        low: Lower corner of a box that holds them, m.
        high: Upper corner, m.
        spacing: Grid step, m.
    """
    axes = [np.arange(a + spacing / 2.0, b, spacing) for a, b in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    found = []
    for field, density in parts:
        share = np.clip(0.5 - field(points) / spacing, 0.0, 1.0)
        inside = share > 0.0
        found.append(
            grid_properties(points[inside], density * share[inside], sizes=np.full(3, spacing))
        )
    return combine(*found)


def _march(
    field: Field, low: Float[np.ndarray, "3"], high: Float[np.ndarray, "3"], spacing: float
) -> Mesh:
    """Marching cubes on the cells of the blocks that the surface can cross."""
    blocks = np.ceil((high - low) / (spacing * _BLOCK)).astype(int) + 1
    size = spacing * _BLOCK
    index = np.stack(np.meshgrid(*(np.arange(n) for n in blocks), indexing="ij"), axis=-1)
    index = index.reshape(-1, 3)
    middle = low + (index + 0.5) * size
    reach = 0.5 * np.sqrt(3.0) * size * _STEEPNESS
    active = index[np.abs(field(middle)) < reach]
    inner = np.stack(np.meshgrid(*(np.arange(_BLOCK),) * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    cells = (active[:, None] * _BLOCK + inner[None]).reshape(-1, 3)
    counts = blocks * _BLOCK + 1
    strides = np.array([counts[1] * counts[2], counts[2], 1])
    # Corner order of the marching cubes table: round the bottom, then round the top.
    corners = np.array(
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]
    )
    keys = (cells @ strides)[:, None] + (corners @ strides)[None]
    used: Bool[np.ndarray, "C"] = np.zeros(int(np.prod(counts)), dtype=bool)
    used[keys] = True
    present = np.flatnonzero(used)
    number: Int[np.ndarray, "C"] = np.cumsum(used) - 1
    points = low + spacing * np.stack(np.unravel_index(present, counts), axis=1)
    values = field(points)
    # A value of exactly zero would put several vertices on one grid point.
    values = np.where(np.abs(values) < 1e-3 * spacing, 1e-3 * spacing, values)
    vertices, faces, _ = igl.marching_cubes(values, points, number[keys].astype(np.int64), 0.0)
    return _outward(vertices, faces.astype(np.int64))


def _outward(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> Mesh:
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    volume = float(np.einsum("ij,ij->", a - vertices.mean(axis=0), np.cross(b - a, c - a)))
    return vertices, faces if volume > 0.0 else faces[:, ::-1]


def _conform(
    field: Field, vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]
) -> Int[np.ndarray, "F 3"]:
    return flip_edges(vertices, faces, _normals(field, vertices), lambda p: np.abs(field(p)))


def _bend(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    normals: Float[np.ndarray, "V 3"],
) -> Float[np.ndarray, "V"]:
    """Largest angle (rad) between the surface normal at a vertex and the faces around it."""
    flat = face_normals(vertices[faces])
    cosine = np.clip(np.einsum("fcx,fx->fc", normals[faces], flat), -1.0, 1.0)
    result = np.zeros(len(vertices))
    np.maximum.at(result, faces.ravel(), np.arccos(cosine).ravel())
    return result


def _averaging(faces: Int[np.ndarray, "F 3"], num_vertices: int) -> csr_array:
    """The matrix that replaces each vertex by the mean of its neighbours."""
    half_edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    entries = (np.ones(len(half_edges)), (half_edges[:, 0], half_edges[:, 1]))
    graph = coo_array(entries, shape=(num_vertices, num_vertices)).tocsr()
    return diags_array(1.0 / graph.sum(axis=1)) @ graph


def _unfold(
    field: Field,
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    *,
    step: float,
    num_rounds: int = 8,
) -> Mesh:
    """Puts vertices whose faces are folded over between their neighbours, as long as it helps."""
    num_before = len(vertices)
    for _ in range(num_rounds):
        folded = np.flatnonzero(_bend(vertices, faces, _normals(field, vertices)) > _TURNED_OVER)
        if not 0 < len(folded) < num_before:
            break
        num_before = len(folded)
        between = (_averaging(faces, len(vertices)) @ vertices)[folded]
        vertices = vertices.copy()
        vertices[folded] = project(field, between, step=step)
        faces = _conform(field, vertices, faces)
    return vertices, faces


def _relax(
    field: Field,
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    *,
    step: float,
    num_rounds: int = 2,
) -> Float[np.ndarray, "V 3"]:
    """Slides vertices along the surface towards the middle of their neighbours."""
    averaging = _averaging(faces, len(vertices))
    for _ in range(num_rounds):
        normals = _normals(field, vertices)
        move = averaging @ vertices - vertices
        move -= np.einsum("ij,ij->i", move, normals)[:, None] * normals
        # On a tight rounding the collapse has put the vertices where they matter; but where it
        # has folded the surface over, they must move.
        bend = _bend(vertices, faces, normals)
        keep = np.where(bend > _FOLDED, 0.0, np.clip(bend / _TIGHT, 0.0, 1.0))
        move *= (0.5 * (1.0 - keep))[:, None]
        moved = project(field, vertices + move, step=step, num_steps=1)
        # A face that would turn over or become a sliver holds its corners where they were.
        spoilt = _bend(moved, faces, normals) > np.maximum(bend, _FOLDED)
        quality = slenderness(moved, faces)
        spoilt[faces[(quality < _SLIVER) & (quality < slenderness(vertices, faces))]] = True
        vertices = np.where(spoilt[:, None], vertices, moved)
    return vertices
