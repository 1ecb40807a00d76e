"""Splitting triangles: to refine a mesh, and to cut it along a curve drawn on it."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

Vertices = Float[np.ndarray, "V 3"]
Faces = Int[np.ndarray, "F 3"]


def edges_of(faces: Faces) -> tuple[Int[np.ndarray, "E 2"], Int[np.ndarray, "F 3"]]:
    """Undirected edges, and for each face those from corner k to corner k + 1."""
    half = np.sort(np.stack([faces, np.roll(faces, -1, axis=1)], axis=-1).reshape(-1, 2), axis=1)
    edges, number = np.unique(half, axis=0, return_inverse=True)
    return edges, number.reshape(-1, 3)


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
            for first, second in (
                ((a, ab, bc), (a, bc, c)),
                ((a, ab, c), (ab, bc, c)),
            ):
                parts += [np.stack(first, 1)[short], np.stack(second, 1)[short]]
                short = ~short
        else:
            parts += [
                np.stack(corners, 1)
                for corners in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
            ]
    return vertices, np.concatenate(parts)
