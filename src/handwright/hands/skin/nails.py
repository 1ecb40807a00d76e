"""Nails: plates with a clean outline, cut into the skin of the fingertips."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from handwright.hands.human.anthropometry import DIGITS
from handwright.hands.skin.field import SkinField
from handwright.hands.skin.mesh import flip_to_delaunay, neighbour_mean, slide
from handwright.hands.skin.mesh_cuts import (
    Faces,
    Vertices,
    collapse_short_edges,
    edges_of,
    split_edges,
)

# Root and free edge as shares of the last segment; half breadth as a share of the digit's.
_ROOT = {"thumb": 0.42, "finger": 0.41}
_EDGE = {"thumb": 0.935, "finger": 0.918}
_HALF_BREADTH = {"thumb": 0.71, "finger": 0.69}
# Corner radii as shares of the nail's half breadth, at the root and at the free edge.
_ROOT_CORNER, _EDGE_CORNER = 0.80, 0.62
# Distances from the outline, m, at which the mesh is cut: inner rim, outline, top of the fold.
_LEVELS = (0.0, -0.45e-3, 0.5e-3)
_FINE_EDGE = 0.95e-3
_SHORT_EDGE = 0.16e-3
_LONGEST_SLIDE = 0.8e-3
_FAR = 1.0
# A vertex this close to a curve, m, lies on it.
_ON_CURVE = 2e-6


@dataclass(frozen=True, slots=True, eq=False)
class Nail:
    """Outline of one nail in the plane of its digit: along and across."""

    row: int
    root: float
    """Place of the root along the digit, m."""
    edge: float
    """Place of the free edge along the digit, m."""
    half_breadth: float
    """m."""

    def level(self, field: SkinField, points: Vertices) -> Float[np.ndarray, " V"]:
        """Distance (m) from the outline along the surface's shadow; negative on the nail."""
        along, across, up = field.digits[self.row].local(points).T
        half = 0.5 * (self.edge - self.root)
        middle = 0.5 * (self.edge + self.root)
        corner = self.half_breadth * np.where(along < middle, _ROOT_CORNER, _EDGE_CORNER)
        # The sides draw together a little towards the root.
        taper = 1.0 - 0.07 * np.clip((self.edge - along) / (2.0 * half), 0.0, 1.0)
        u = np.abs(along - middle) - half + corner
        v = np.abs(across) / taper - self.half_breadth + corner
        outside = np.hypot(np.maximum(u, 0.0), np.maximum(v, 0.0))
        level = outside + np.minimum(np.maximum(u, v), 0.0) - corner
        return np.where(up > 0.0, level, np.maximum(level, 0.0) + _FAR)

    def freedom(self, field: SkinField, points: Vertices) -> Float[np.ndarray, " V"]:
        """1 at the free edge, 0 where skin folds over the plate."""
        along = field.digits[self.row].local(points)[:, 0]
        length = self.edge - self.root
        t = np.clip((along - (self.edge - 0.30 * length)) / (0.24 * length), 0.0, 1.0)
        return t * t * (3.0 - 2.0 * t)


def nails_of(field: SkinField) -> list[Nail]:
    """Outlines of the five nails."""
    nails = []
    for row, digit in enumerate(DIGITS):
        kind = "thumb" if digit == "thumb" else "finger"
        profile = field.form.shape.digits[row]
        begin = float(field.form.phalanges[row].sum())
        segment = profile.length - begin
        root, edge = begin + _ROOT[kind] * segment, begin + _EDGE[kind] * segment
        # The plate is measured where the digit's sides are still straight.
        breadth = profile.at(min(0.5 * (root + edge), float(profile.along[-1])))[0]
        nails.append(Nail(row, root, edge, _HALF_BREADTH[kind] * breadth))
    return nails


def add_nails(
    field: SkinField, vertices: Vertices, faces: Faces
) -> tuple[Vertices, Faces, Bool[np.ndarray, " F"]]:
    """Cuts the nails into a skin mesh and gives their plates, grooves and folds some relief."""
    nails = nails_of(field)
    for nail in nails:
        vertices, faces = _with_nail(field, nail, vertices, faces)
    is_nail = np.zeros(len(faces), dtype=bool)
    relief = np.zeros(len(vertices))
    for nail in nails:
        level = nail.level(field, vertices)
        level[np.abs(level) < _ON_CURVE] = 0.0
        is_nail |= (level[faces].max(axis=1) <= 0.0) & (level[faces].min(axis=1) < 0.0)
        relief += _relief(level, nail.freedom(field, vertices))
    return vertices + relief[:, None] * field.normals(vertices), faces, is_nail


def _with_nail(
    field: SkinField, nail: Nail, vertices: Vertices, faces: Faces
) -> tuple[Vertices, Faces]:
    """Works on the last segment of the digit alone, which is quick, and sews it back."""
    tube = field.digits[nail.row]
    begin = float(field.form.phalanges[nail.row].sum())
    inside = (tube.local(vertices)[:, 0] > begin) & (tube.distance(vertices) < 2e-3)
    chosen = inside[faces].all(axis=1)
    used, patch = np.unique(faces[chosen], return_inverse=True)
    patch = patch.reshape(-1, 3)
    local = vertices[used]
    local, patch = _refine(field, nail, local, patch)
    for level in _LEVELS:
        local, patch = _cut(field, nail, level, local, patch)
    local, patch = _even_out(field, nail, local, patch)
    vertices = vertices.copy()
    vertices[used] = local[: len(used)]
    number = np.concatenate([used, len(vertices) + np.arange(len(local) - len(used))])
    vertices = np.concatenate([vertices, local[len(used) :]])
    faces = np.concatenate([faces[~chosen], number[patch]])
    # Merged vertices are no longer used.
    kept, faces = np.unique(faces, return_inverse=True)
    return vertices[kept], faces.reshape(-1, 3)


def _relief(
    level: Float[np.ndarray, " V"], freedom: Float[np.ndarray, " V"]
) -> Float[np.ndarray, " V"]:
    """Height over the smooth skin, m: at the sides a groove and a fold, at the end a step."""
    mm = np.array([-9.0, -2.0, -0.45, 0.0, 0.5, 1.0, 1.8, 3.0, 9.0])
    folded = np.array([0.05, 0.05, -0.02, -0.20, 0.16, 0.22, 0.10, 0.0, 0.0])
    free = np.array([0.05, 0.08, 0.20, 0.20, -0.06, -0.04, -0.02, 0.0, 0.0])
    level = np.clip(level * 1e3, -9.0, 9.0)
    heights = [np.interp(level, mm, table) for table in (folded, free)]
    return 1e-3 * ((1.0 - freedom) * heights[0] + freedom * heights[1])


def _refine(
    field: SkinField, nail: Nail, vertices: Vertices, faces: Faces
) -> tuple[Vertices, Faces]:
    """Makes triangles small around the outline."""
    for _ in range(3):
        edges, numbers = edges_of(faces)
        near = np.abs(nail.level(field, vertices)) < 2.4e-3
        length = np.linalg.norm(vertices[edges[:, 0]] - vertices[edges[:, 1]], axis=1)
        marked = near[edges].any(axis=1) & (length > 1.35 * _FINE_EDGE)
        if not marked.any():
            break
        middle = field.project(vertices[edges[marked]].mean(axis=1), 2)
        vertices, faces = split_edges(vertices, faces, numbers, marked, middle)
        faces = flip_to_delaunay(vertices, faces)
        around = np.flatnonzero(np.abs(nail.level(field, vertices)) < 5e-3)
        mean = neighbour_mean(faces, len(vertices))[around]
        for _ in range(3):
            move = 0.5 * (mean @ vertices - vertices[around])
            vertices = vertices.copy()
            vertices[around] = slide(field, vertices[around], move)
    return vertices, faces


def _cut(
    field: SkinField, nail: Nail, level: float, vertices: Vertices, faces: Faces
) -> tuple[Vertices, Faces]:
    """Makes the curve at this distance from the outline a chain of edges."""
    offset = nail.level(field, vertices) - level
    edges, numbers = edges_of(faces)
    length = np.linalg.norm(vertices[edges[:, 0]] - vertices[edges[:, 1]], axis=1)
    shortest = np.full(len(vertices), np.inf)
    for side in (0, 1):
        np.minimum.at(shortest, edges[:, side], length)
    # Vertices close to the curve are moved onto it, so that few slivers arise. Those that lie on a
    # curve cut before are further away than this.
    snap = np.abs(offset) < np.minimum(0.35 * shortest, 0.2e-3)
    vertices = vertices.copy()
    vertices[snap] = _onto_curve(field, nail, level, vertices[snap])
    offset[snap] = 0.0
    crossing = offset[edges[:, 0]] * offset[edges[:, 1]] < 0.0
    # The level jumps on the far side of the finger, where there is no curve.
    crossing &= np.abs(offset[edges]).max(axis=1) < 0.5 * _FAR
    start, end = edges[crossing].T
    share = (offset[start] / (offset[start] - offset[end]))[:, None]
    points = (1.0 - share) * vertices[start] + share * vertices[end]
    points = _onto_curve(field, nail, level, points)
    return split_edges(vertices, faces, numbers, crossing, points)


def _even_out(
    field: SkinField, nail: Nail, vertices: Vertices, faces: Faces
) -> tuple[Vertices, Faces]:
    """Mends the slivers that cutting leaves: turns edges, slides vertices, keeps the curves."""
    offset = nail.level(field, vertices)
    around = np.flatnonzero(np.abs(offset) < 4e-3)
    curve = np.full(len(vertices), -1)
    for number, level in enumerate(_LEVELS):
        curve[np.abs(offset - level) < _ON_CURVE] = number
    faces = collapse_short_edges(vertices, faces, _SHORT_EDGE, curve)
    free = around[curve[around] < 0]
    free = free[np.isin(free, faces)]
    for _ in range(4):
        faces = flip_to_delaunay(vertices, faces, curve)
        mean = neighbour_mean(faces, len(vertices))[free]
        edges, _ = edges_of(faces)
        vertices = vertices.copy()
        for _ in range(2):
            move = 0.5 * (mean @ vertices - vertices[free])
            vertices[free] = slide(field, vertices[free], move)
            for number, level in enumerate(_LEVELS):
                chain = edges[(curve[edges] == number).all(axis=1)]
                total, count = np.zeros_like(vertices), np.zeros(len(vertices))
                for one, other in (chain.T, chain.T[::-1]):
                    np.add.at(total, one, vertices[other])
                    np.add.at(count, one, 1.0)
                on = np.flatnonzero(count == 2.0)
                slid = 0.5 * vertices[on] + 0.5 * total[on] / count[on, None]
                vertices[on] = _onto_curve(field, nail, level, slid)
    return vertices, faces


def _onto_curve(field: SkinField, nail: Nail, level: float, points: Vertices) -> Vertices:
    """Slides points along the skin onto a level curve around the nail."""
    if not len(points):
        return points
    h = 1e-6
    for _ in range(7):
        points = field.project(points, 1)
        offset = nail.level(field, points) - level
        gradient = np.stack(
            [(nail.level(field, points + h * e) - level - offset) / h for e in np.eye(3)], axis=1
        )
        normal = field.normals(points)
        gradient -= np.einsum("ij,ij->i", gradient, normal)[:, None] * normal
        squared = np.maximum(np.einsum("ij,ij->i", gradient, gradient), 0.02)
        move = (offset / squared)[:, None] * gradient
        length = np.linalg.norm(move, axis=1, keepdims=True)
        points = points - move * np.minimum(1.0, _LONGEST_SLIDE / np.maximum(length, 1e-12))
    return points
