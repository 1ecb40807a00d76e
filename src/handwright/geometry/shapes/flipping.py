"""Turning of edges so that triangles follow the curvature of the surface they stand for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from handwright.geometry.mesh.edges import unique_edges

# Smallest cosine between a new face and the normals at its corners, and smallest height of a new
# face over its longest side: below these a flip would fold the surface or make a sliver.
_MIN_COSINE = 0.6
_MIN_HEIGHT = 0.12
# A face with less cosine than this leans so far from the surface that it must go.
_FOLDED = 0.3
# Normals whose cosine is above this belong to a flat part.
_FLAT = 0.997
# Deviation that a flip must save, and that the removal of a sliver may cost, over the edge length.
_NEEDED = 2e-3
_TOLERATED = 2e-2


def flip_edges(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    normals: Float[np.ndarray, "V 3"],
    deviation: Callable[[Float[np.ndarray, "N 3"]], Float[np.ndarray, "N"]],
    *,
    num_rounds: int = 3,
) -> Int[np.ndarray, "F 3"]:
    """Replaces an edge by the other diagonal of its two triangles where that lies nearer.

    Args:
        vertices: On the surface, metres.
        faces: A closed manifold mesh, outward.
        normals: Unit normals of the surface at the vertices.
        deviation: Distance of a point to the surface, m.
        num_rounds: Sweeps over all edges; a triangle takes part in one flip a sweep.
    """
    faces = faces.copy()
    for _ in range(num_rounds):
        edges, rows, direction = unique_edges(faces)
        # The half-edge that runs from low to high vertex, and its partner.
        forth, back = (
            np.argsort(np.where(direction == sense, rows, len(edges)), kind="stable")[: len(edges)]
            for sense in (1, -1)
        )
        count = len(faces)
        first, second = forth % count, back % count
        a, b = edges.T
        c = faces[first, (forth // count + 2) % 3]
        d = faces[second, (back // count + 2) % 3]
        # On flat parts either diagonal is as good: spare the evaluations.
        facing = np.einsum("ij,ij->i", normals[a], normals[b])
        facing = np.minimum(facing, np.einsum("ij,ij->i", normals[c], normals[d]))
        is_curved = facing < _FLAT
        gain = np.zeros(len(edges))
        present = vertices[edges[is_curved]].mean(axis=1)
        other = 0.5 * (vertices[c[is_curved]] + vertices[d[is_curved]])
        gain[is_curved] = deviation(present) - deviation(other)
        length = np.linalg.norm(vertices[a] - vertices[b], axis=1)
        old_cosine, old_height = (
            np.minimum(measure[first], measure[second])
            for measure in _grades(vertices, normals, faces)
        )
        grades = [
            _grades(vertices, normals, np.stack(face, axis=1)) for face in ((a, d, c), (d, b, c))
        ]
        new_cosine, new_height = (np.minimum(*pair) for pair in zip(*grades, strict=True))
        is_good = (new_cosine > _MIN_COSINE) & (new_height > _MIN_HEIGHT)
        # Slivers go even where that costs a little deviation, and folds at any cost.
        is_poor = old_height < _MIN_HEIGHT
        worth = is_good & (gain > np.where(is_poor, -_TOLERATED, _NEEDED) * length)
        is_folded = (old_cosine < _FOLDED) | (old_height < 0.5 * _MIN_HEIGHT)
        better = (new_cosine > np.minimum(old_cosine, _FOLDED)) & (new_height > old_height)
        worth |= is_folded & better
        # The other diagonal must not be an edge already, lest two sheets be sewn together.
        key, new_key = (
            np.minimum(*ends) * len(vertices) + np.maximum(*ends) for ends in ((a, b), (c, d))
        )
        worth &= (c != d) & ~np.isin(new_key, key)
        order = np.flatnonzero(worth)
        order = order[np.argsort(-gain[order], kind="stable")]
        taken = np.zeros(count, dtype=bool)
        added = set()
        for e in order.tolist():
            f, g = first[e], second[e]
            if taken[f] or taken[g] or new_key[e] in added:
                continue
            faces[f], faces[g] = (a[e], d[e], c[e]), (d[e], b[e], c[e])
            taken[f] = taken[g] = True
            added.add(new_key[e])
        if not taken.any():
            break
    return faces


def _grades(
    vertices: Float[np.ndarray, "V 3"],
    normals: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
) -> tuple[Float[np.ndarray, "F"], Float[np.ndarray, "F"]]:
    """Least cosine of each face with the normals at its corners, and its slenderness."""
    p, q, r = np.moveaxis(vertices[faces], 1, 0)
    flat = np.cross(q - p, r - p)
    unit = flat / np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-18)
    cosine = np.einsum("fcx,fx->fc", normals[faces], unit).min(axis=1)
    return cosine, slenderness(vertices, faces)


def slenderness(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]
) -> Float[np.ndarray, "F"]:
    """Height of each triangle over its longest side: 0.87 for equal sides, near 0 for a sliver."""
    p, q, r = np.moveaxis(vertices[faces], 1, 0)
    double_area = np.linalg.norm(np.cross(q - p, r - p), axis=1)
    longest = np.max([np.linalg.norm(s, axis=1) for s in (q - p, r - q, p - r)], axis=0)
    return double_area / longest**2
