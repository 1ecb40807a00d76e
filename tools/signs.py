"""Signs of distances on meshes that are hard to tell the inside of, against counted crossings.

``python -m tools.signs`` asks exact distances, grids and rays at many points of each mesh and says
how many are on the wrong side. A point is inside where the winding number is above 0.5. The oracle
counts the faces above a point, up and down, in a frame that is turned; it shares no code
with what it judges.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import NamedTuple

import igl
import numpy as np
import trimesh
from scipy.spatial.transform import Rotation

from handwright.geometry import ExactDistance, RayCaster
from handwright.geometry.distance.sdf_build import build_field
from handwright.kernels.decorators import compiled

# Share of a mesh's size around the surface in which signs mean nothing: single precision.
ON_SURFACE = 1e-7


class Wrong(NamedTuple):
    """Points on the wrong side, of those that were asked."""

    exact: int
    grid: int
    rays: int
    asked: int


def _box(size: tuple[float, float, float] = (0.06, 0.05, 0.04), at: float = 0.0) -> trimesh.Trimesh:
    box = trimesh.creation.box(size)
    box.apply_translation([at, 0.4 * at, 0.2 * at])
    return box


def _ball(radius: float = 0.03) -> trimesh.Trimesh:
    return trimesh.creation.icosphere(subdivisions=2, radius=radius)


def _together(*meshes: trimesh.Trimesh) -> trimesh.Trimesh:
    return trimesh.util.concatenate(meshes)


def _inverted(mesh: trimesh.Trimesh) -> trimesh.Trimesh:
    return trimesh.Trimesh(mesh.vertices, mesh.faces[:, ::-1], process=False)


def _turned(mesh: trimesh.Trimesh) -> trimesh.Trimesh:
    turn = trimesh.transformations.rotation_matrix(0.7, [1.0, 2.0, 3.0])
    return mesh.copy().apply_transform(turn)


def _moved(mesh: trimesh.Trimesh, vertex: int, by: np.ndarray) -> trimesh.Trimesh:
    vertices = np.array(mesh.vertices)
    vertices[vertex] += by
    return trimesh.Trimesh(vertices, mesh.faces, process=False)


def _folded_ball() -> trimesh.Trimesh:
    """A corner is pulled sideways over the facets next to it."""
    ball = _ball()
    return _moved(ball, 40, 0.012 * np.cross(ball.vertices[40] / 0.03, [0.0, 0.6, 0.8]))


def _flat_fold() -> trimesh.Trimesh:
    """A corner in a flat side is pulled over its neighbours, within the plane."""
    box = _box().subdivide().subdivide()
    inner = np.flatnonzero((np.abs(box.vertices[:, :2]) < 0.01).all(axis=1))[0]
    return _moved(box, inner, np.array([0.022, 0.003, 0.0]))


def _prism(outline: list[list[float]], height: float = 0.03) -> trimesh.Trimesh:
    """A fan of triangles over an outline, whatever it looks like, and walls between two of them."""
    count = len(outline)
    low = np.column_stack([outline, np.zeros(count)])
    vertices = np.concatenate([low, np.add(low, [0.0, 0.0, height])])
    fan = np.array([[0, k + 1, k] for k in range(1, count - 1)])
    ring = np.arange(count)
    after = (ring + 1) % count
    walls = [
        np.stack([ring, after, after + count], axis=1),
        np.stack([ring, after + count, ring + count], axis=1),
    ]
    return trimesh.Trimesh(
        vertices, np.concatenate([fan, fan[:, ::-1] + count, *walls]), process=False
    )


def _bow_tie() -> trimesh.Trimesh:
    """Two lobes; the outline goes round one of them the wrong way."""
    return _prism([[-0.03, -0.02], [0.03, 0.02], [0.03, -0.02], [-0.03, 0.02]])


def _star() -> trimesh.Trimesh:
    """A star of five points drawn in one line: the middle is gone round twice."""
    angle = 4.0 * np.pi * np.arange(5) / 5.0
    return _prism((0.03 * np.stack([np.cos(angle), np.sin(angle)], axis=1)).tolist())


def _crumpled(amount: float, seed: int) -> trimesh.Trimesh:
    ball = _ball()
    shift = np.random.default_rng(seed).normal(scale=amount, size=ball.vertices.shape)
    return trimesh.Trimesh(ball.vertices + shift, ball.faces, process=False)


def _spike() -> trimesh.Trimesh:
    """A corner is pushed through the ball and out on the other side."""
    ball = _ball()
    return _moved(ball, 7, -2.6 * np.asarray(ball.vertices[7]))


def _fin() -> trimesh.Trimesh:
    """A leaf without thickness stands on the box: two faces, back to back, on an edge of it."""
    box = _box()
    edge = box.vertices[box.faces[0]][:2]
    tip = edge.mean(axis=0) * 1.8
    vertices = np.concatenate([box.vertices, edge, [tip]])
    first = len(box.vertices)
    leaf = np.array([[first, first + 1, first + 2], [first + 1, first, first + 2]])
    return trimesh.Trimesh(vertices, np.concatenate([box.faces, leaf]), process=False)


def _corner_to_corner() -> trimesh.Trimesh:
    """Two solids that share one vertex, and two that share an edge."""
    both = _together(_box((0.02, 0.02, 0.02)), _box((0.02, 0.02, 0.02)))
    both.vertices[8:] += [0.02, 0.02, 0.02]
    edge = _box((0.02, 0.02, 0.02))
    edge.apply_translation([-0.02, 0.02, 0.0])
    mesh = _together(both, edge)
    mesh.merge_vertices()
    return mesh


def _wedge(angle: float) -> trimesh.Trimesh:
    return _turned(_prism([[0.0, 0.0], [0.08, 0.0], [0.08, 0.08 * np.tan(angle)]]))


def _needle() -> trimesh.Trimesh:
    cone = trimesh.creation.cone(0.02, 0.1, sections=12)
    return _turned(trimesh.Trimesh(cone.vertices * [0.01, 0.01, 1.0], cone.faces, process=False))


MESHES: dict[str, Callable[[], trimesh.Trimesh]] = {
    "folded ball": _folded_ball,
    "flat fold": _flat_fold,
    "crumpled a little": lambda: _crumpled(0.002, 0),
    "crumpled": lambda: _crumpled(0.006, 1),
    "crumpled to a heap": lambda: _crumpled(0.02, 2),
    "spike through itself": _spike,
    "spindle torus": lambda: trimesh.creation.torus(0.01, 0.02, 24, 12),
    "bow tie": _bow_tie,
    "star": _star,
    "leaf of paper": lambda: _turned(_box((0.08, 0.06, 1e-5))),
    "wedge of one degree": lambda: _wedge(np.radians(1.0)),
    "needle": _needle,
    "slivers": lambda: _turned(trimesh.creation.cylinder(0.02, 0.06, sections=90)),
    "ball in a ball": lambda: _together(_ball(), _ball(0.02)),
    "cavity": lambda: _together(_ball(), _inverted(_ball(0.02))),
    "ball in a cavity": lambda: _together(_ball(), _inverted(_ball(0.02)), _ball(0.01)),
    "inverted": lambda: _inverted(_ball()),
    "twice the same": lambda: _together(_box(), _box()),
    "twice, once finer": lambda: _together(_box(), _box().subdivide()),
    "overlapping": lambda: _together(_box(), _turned(_box()), _ball(0.024)),
    "flush": lambda: _together(_box(), _box((0.06, 0.05, 0.04), 0.03)),
    "one face twice": lambda: trimesh.Trimesh(
        _box().vertices, np.concatenate([_box().faces, _box().faces[[0]], _box().faces[[0], ::-1]]),
        process=False,
    ),
    "corner to corner": _corner_to_corner,
    "leaf on an edge": _fin,
}  # fmt: skip


def crossings_above(mesh: trimesh.Trimesh, points: np.ndarray) -> np.ndarray:
    """Winding numbers of a closed mesh: faces above a point, counted up or down."""
    turn = Rotation.from_rotvec([0.31, -0.74, 1.13]).as_matrix()
    corners = np.asarray(mesh.vertices)[np.asarray(mesh.faces)] @ turn.T
    return np.asarray(_count_above(np.ascontiguousarray(corners), points @ turn.T))


@compiled
def _count_above(corners: np.ndarray, points: np.ndarray) -> np.ndarray:
    number = np.zeros(len(points), dtype=np.int64)
    for n in range(len(points)):
        x, y, z = points[n]
        for f in range(len(corners)):
            ax, ay = corners[f, 0, 0] - x, corners[f, 0, 1] - y
            bx, by = corners[f, 1, 0] - x, corners[f, 1, 1] - y
            cx, cy = corners[f, 2, 0] - x, corners[f, 2, 1] - y
            # An edge gives the same number with the other sign to the face on its other side.
            u, v, w = bx * cy - cx * by, cx * ay - ax * cy, ax * by - bx * ay
            up = u > 0.0 and v > 0.0 and w > 0.0
            if not up and not (u < 0.0 and v < 0.0 and w < 0.0):
                continue
            height = (u * corners[f, 0, 2] + v * corners[f, 1, 2] + w * corners[f, 2, 2]) / (
                u + v + w
            )
            if height > z:
                number[n] += 1 if up else -1
    return number


def points_around(mesh: trimesh.Trimesh, count: int, seed: int) -> np.ndarray:
    """Half of them anywhere in and around the mesh, half near its surface, at all scales."""
    rng = np.random.default_rng(seed)
    low, high = mesh.bounds
    size = float(np.max(high - low))
    anywhere = rng.uniform(low - 0.1 * size, high + 0.1 * size, (count // 2, 3))
    near = trimesh.sample.sample_surface(mesh, count - len(anywhere), seed=seed)[0]
    scale = size * 10.0 ** rng.uniform(-6.0, -1.0, (len(near), 1))
    return np.concatenate([anywhere, near + scale * rng.normal(size=near.shape)])


def wrong_signs(mesh: trimesh.Trimesh, count: int, seed: int = 0) -> Wrong:
    """How many points each means of telling the side gets wrong.

    Args:
        mesh: Closed parts.
        count: Points asked; as many nodes of a grid, about, and as many rays.
        seed: Of the points.
    """
    size = float(np.ptp(mesh.bounds, axis=0).max())
    points = points_around(mesh, count, seed)
    distance, closest, _, normal = ExactDistance(mesh.vertices, mesh.faces).signed_distance(points)
    inside = crossings_above(mesh, points) > 0.5
    # Also of faces that the surface does without, since they lie within the solid or enclose none.
    squared = igl.point_mesh_squared_distance(points, mesh.vertices, np.asarray(mesh.faces))[0]
    off = np.sqrt(squared) > ON_SURFACE * size
    wrong = ((distance < 0.0) != inside) & off
    # The normal leads from the nearest point to a point outside, and back from one inside.
    ahead = np.einsum("ni,ni->n", points - closest, normal) * np.where(inside, -1.0, 1.0)
    wrong |= (ahead <= 0.0) & off
    return Wrong(
        int(wrong.sum()), _wrong_nodes(mesh, count), _wrong_rays(mesh, points), int(off.sum())
    )


def _wrong_nodes(mesh: trimesh.Trimesh, count: int) -> int:
    """Nodes of a grid whose value has the wrong sign."""
    extents = np.ptp(mesh.bounds, axis=0)
    size = float(extents.max())
    padding = 0.1 * size
    spacing = (float(np.prod(extents + 2.0 * padding)) / (count)) ** (1.0 / 3.0)
    field = build_field(mesh.vertices, mesh.faces, spacing=spacing, padding=padding)
    index = np.indices(field.values.shape).reshape(3, -1).T
    inside = crossings_above(mesh, field.origin + field.spacing * index) > 0.5
    values = np.asarray(field.values, dtype=np.float64).reshape(-1)
    # Values are kept in single precision.
    off = np.abs(values) > 1e-6 * size
    return int((((values < 0.0) != inside) & off).sum())


def _wrong_rays(mesh: trimesh.Trimesh, points: np.ndarray) -> int:
    """Rays that pass into the solid, or out of it, without a hit on the way."""
    rng = np.random.default_rng(1)
    size = float(np.ptp(mesh.bounds, axis=0).max())
    directions = rng.normal(size=points.shape)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    distance = RayCaster(mesh).cast(points, directions)[0]
    # A point just before the hit is on the same side; so is any between.
    reach = np.minimum(distance, 2.0 * size) * rng.uniform(0.0, 1.0, len(points))
    ends = points + reach[:, None] * directions
    exact = ExactDistance(mesh.vertices, mesh.faces)
    off = np.ones(len(points), dtype=bool)
    for place in (points, ends):
        off &= np.abs(exact.signed_distance(place)[0]) > 1e-6 * size
    before, after = (crossings_above(mesh, place) > 0.5 for place in (points, ends))
    return int(((before != after) & off).sum())


def main() -> int:
    """Prints a line for each mesh; the exit code is 1 if any point is on the wrong side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100_000, help="points for each mesh")
    parser.add_argument("--seed", type=int, default=0, help="of the points")
    arguments = parser.parse_args()
    worst = 0
    print(f"{'mesh':24}{'faces':>8}{'points':>9}{'exact':>7}{'grid':>7}{'rays':>7}")
    for name, make in MESHES.items():
        mesh = make()
        wrong = wrong_signs(mesh, arguments.count, arguments.seed)
        worst = max(worst, *wrong[:3])
        figures = f"{wrong.asked:>9}{wrong.exact:>7}{wrong.grid:>7}{wrong.rays:>7}"
        print(f"{name:24}{len(mesh.faces):>8}{figures}")
    return 1 if worst else 0


if __name__ == "__main__":
    sys.exit(main())
