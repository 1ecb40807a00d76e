"""Splitting triangles: to refine a mesh, and to cut it along a curve drawn on it."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

Vertices = Float[np.ndarray, "V 3"]
Faces = Int[np.ndarray, "F 3"]


def edges_of(faces: Faces) -> tuple[Int[np.ndarray, "E 2"], Int[np.ndarray, "F 3"]]:
    """Undirected edges, and for each face those from corner k to corner k + 1."""
    start, end = faces, np.roll(faces, -1, axis=1)
    base = int(faces.max()) + 1
    keys, number = np.unique(
        np.minimum(start, end) * base + np.maximum(start, end), return_inverse=True
    )
    return np.stack([keys // base, keys % base], axis=1), number.reshape(-1, 3)


def split_edges(
    vertices: Vertices,
    faces: Faces,
    numbers: Int[np.ndarray, "F 3"],
    marked: Bool[np.ndarray, " E"],
    points: Float[np.ndarray, "M 3"],
) -> tuple[Vertices, Faces]:
    """Puts a new vertex on every marked edge and re-triangulates; a closed mesh stays closed.

    Args:
        vertices: Vertices, m.
        faces: Triangles.
        numbers: Edge numbers of the triangles, as ``edges_of`` gives them.
        marked: Which edges to split.
        points: The new vertices, in the order of the marked edges.
    """
    inserted = np.full(len(marked), -1)
    inserted[marked] = len(vertices) + np.arange(len(points))
    vertices = np.concatenate([vertices, points])
    middle = inserted[numbers]
    count = (middle >= 0).sum(axis=1)
    parts = [faces[count == 0]]
    for wanted in (1, 2, 3):
        rows = np.flatnonzero(count == wanted)
        if not len(rows):
            continue
        # Turn every triangle so that its split edges come first (one, two) in the same order.
        has = middle[rows] >= 0
        if wanted == 1:
            turn = np.argmax(has, axis=1)
        elif wanted == 2:
            turn = (np.argmin(has, axis=1) + 1) % 3
        else:
            turn = np.zeros(len(rows), dtype=np.int64)
        order = (turn[:, None] + np.arange(3)) % 3
        a, b, c = np.take_along_axis(faces[rows], order, axis=1).T
        ab, bc, ca = np.take_along_axis(middle[rows], order, axis=1).T
        if wanted == 1:
            parts += [np.stack([a, ab, c], 1), np.stack([ab, b, c], 1)]
        elif wanted == 2:
            parts.append(np.stack([ab, b, bc], 1))
            # The rest has four corners: cut it along its shorter diagonal.
            short = np.linalg.norm(vertices[a] - vertices[bc], axis=1) < np.linalg.norm(
                vertices[ab] - vertices[c], axis=1
            )
            for first, second in (((a, ab, bc), (a, bc, c)), ((a, ab, c), (ab, bc, c))):
                parts += [np.stack(first, 1)[short], np.stack(second, 1)[short]]
                short = ~short
        else:
            parts += [
                np.stack(corners, 1)
                for corners in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
            ]
    return vertices, np.concatenate(parts)


def collapse_short_edges(
    vertices: Vertices, faces: Faces, shortest: float, curve: Int[np.ndarray, " V"]
) -> Faces:
    """Merges the ends of edges shorter than ``shortest``, m; vertices may become unused.

    Args:
        vertices: Vertices, m.
        faces: Triangles of an open or closed mesh; meant for a few hundred of them.
        shortest: Length, m.
        curve: Number of the curve that each vertex lies on, or -1. A vertex of a curve stays where
            it is unless the edge lies on the curve too; -2 keeps a vertex in any case.
    """
    refused: set[tuple[int, int]] = set()
    while True:
        edges, _ = edges_of(faces)
        length = np.linalg.norm(vertices[edges[:, 0]] - vertices[edges[:, 1]], axis=1)
        for e in np.argsort(length):
            if length[e] >= shortest:
                return faces
            keep, drop = (int(i) for i in edges[e])
            if (keep, drop) in refused:
                continue
            if curve[drop] == -2 or (curve[keep] == -1 and curve[drop] >= 0):
                keep, drop = drop, keep
            merged = _collapse(vertices, faces, keep, drop)
            if (curve[drop] not in (-1, curve[keep])) or curve[drop] == -2 or merged is None:
                refused.add((int(edges[e, 0]), int(edges[e, 1])))
                continue
            faces = merged
            break
        else:
            return faces


def _collapse(vertices: Vertices, faces: Faces, keep: int, drop: int) -> Faces | None:
    """The mesh with one vertex merged into another, or None if that would fold or pinch it."""
    around_keep = faces[(faces == keep).any(axis=1)]
    has_drop = (faces == drop).any(axis=1)
    common = np.intersect1d(around_keep, faces[has_drop])
    dying = has_drop & (faces == keep).any(axis=1)
    if len(common) - 2 != int(dying.sum()):
        return None
    moved = np.where(faces == drop, keep, faces)
    changed = has_drop & ~dying

    def normals(corners: Faces) -> np.ndarray:
        a, b, c = np.moveaxis(vertices[corners], 1, 0)
        return np.cross(b - a, c - a)

    before, after = normals(faces[changed]), normals(moved[changed])
    if np.any(np.einsum("ij,ij->i", before, after) < 0.0):
        return None
    return moved[~dying]
