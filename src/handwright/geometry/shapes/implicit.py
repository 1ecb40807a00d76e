"""From a signed distance function to a closed mesh that lies on its zero surface."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import igl
import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import coo_array, diags_array

from handwright.geometry.inertia import MassProperties, combine, grid_properties
from handwright.geometry.shapes.surfaces import Mesh

Field = Callable[[Float[np.ndarray, "N 3"]], Float[np.ndarray, "N"]]
"""Signed distance (m), negative inside, that changes by at most about 1 m per metre."""

# Marching cubes runs only in blocks of this many cells a side that the surface can cross.
_BLOCK = 6
# Smooth unions and squeezed tubes can be a little steeper or flatter than a true distance.
_STEEPNESS = 1.3


def mesh_field(
    field: Field,
    low: Sequence[float],
    high: Sequence[float],
    *,
    spacing: float,
    num_faces: int,
) -> Mesh:
    """Meshes the zero surface of a field.

    Marching cubes, then edge collapse by quadric error, then sliding along the surface for even
    triangles, each step followed by Newton steps back to the surface.

    Args:
        field: Signed distance, m.
        low: Lower corner of a box that holds the surface, m.
        high: Upper corner, m.
        spacing: Grid step, m; walls must be thicker than this.
        num_faces: Upper bound of the number of triangles.
    """
    vertices, faces = _march(field, np.asarray(low), np.asarray(high), spacing)
    vertices = project(field, vertices, step=spacing)
    if len(faces) > num_faces:
        simple, kept, _, _ = igl.qslim(
            np.asfortranarray(vertices), np.asfortranarray(faces.astype(np.int32)), num_faces
        )
        vertices, faces = np.ascontiguousarray(simple), np.ascontiguousarray(kept)
    vertices = _relax(field, vertices, faces, step=spacing)
    return vertices, faces.astype(np.int64)


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
    """Central differences of a field."""
    h = 1e-6
    shifts = np.concatenate([h * np.eye(3), -h * np.eye(3)])
    values = field((points[None] + shifts[:, None]).reshape(-1, 3)).reshape(6, -1)
    return ((values[:3] - values[3:]) / (2.0 * h)).T


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
    return _outward(vertices, faces)


def _outward(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> Mesh:
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    volume = float(np.einsum("ij,ij->", a - vertices.mean(axis=0), np.cross(b - a, c - a)))
    return vertices, faces if volume > 0.0 else faces[:, ::-1]


def _relax(
    field: Field,
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    *,
    step: float,
    num_rounds: int = 3,
) -> Float[np.ndarray, "V 3"]:
    """Slides vertices along the surface towards the middle of their neighbours."""
    count = len(vertices)
    half_edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    ones = np.ones(len(half_edges))
    graph = coo_array((ones, (half_edges[:, 0], half_edges[:, 1])), shape=(count, count)).tocsr()
    averaging = diags_array(1.0 / graph.sum(axis=1)) @ graph
    for _ in range(num_rounds):
        normals = gradient(field, vertices)
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-9)
        move = averaging @ vertices - vertices
        move -= np.einsum("ij,ij->i", move, normals)[:, None] * normals
        vertices = project(field, vertices + 0.5 * move, step=step, num_steps=2)
    return project(field, vertices, step=step)
