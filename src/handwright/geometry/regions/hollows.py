"""Distance grids in which hollows count as solid: mugs, cups, bowls, shells.

In a thin wall the signed distance cannot fall below minus half the wall, and its slope turns round
in the middle: a finger that is pushed into a cup comes out inside. A hollow is what no straight
line reaches without meeting the body, the visual hull without the body itself. The inside of a mug
is one, up to its rim; the eye of its handle is none, for lines go through it.

Here hollows are filled, and distances are those of the filled body: exact near the outer surface,
and to a node's breadth near the lid, which is where a hollow ends in the air.
"""

from __future__ import annotations

import igl
import numpy as np
from jaxtyping import Bool, Float
from scipy.ndimage import binary_dilation, distance_transform_edt

from handwright.core.body import RigidBody
from handwright.geometry.cache import load_or_build
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.sdf import Field, make_field, sample_field
from handwright.geometry.mesh.normals import face_normals
from handwright.geometry.mesh.rays import RayCaster

# Lines through a point that are looked along: in all directions, and along the nearest face.
_LINES, _LINES_ALONG = 300, 16
# Metres between points at which hollows are looked for.
_STEP = 3e-3
# Hollows of fewer such points are dents.
_LEAST_POINTS = 30
# How far over a face one stands to see whether it looks into a hollow, m.
_ABOVE = 5e-4
# Depth down to which distances are exact, m; deeper they are good to a node's breadth.
_EXACT_DEPTH = 8e-3
_FORMAT = 1


def filled_field(body: RigidBody, field: Field) -> Field:
    """The distance grid of a body with its hollows filled; the same grid if it has none.

    Args:
        body: The body.
        field: Its grid.
    """
    key = f"filled-{_FORMAT}-{body.content_hash[:40]}-{field.spacing:.6g}-{field.margin:.6g}"
    kept = load_or_build(key, lambda: {"values": _filled_values(body, field)})
    values = kept["values"]
    return (
        field if values.size == 0 else make_field(values, field.origin, field.spacing, field.margin)
    )


def is_hollow(
    caster: RayCaster, points: Float[np.ndarray, "N 3"], away: Float[np.ndarray, "N 3"]
) -> Bool[np.ndarray, " N"]:
    """Which points, outside the body, no straight line reaches without meeting it.

    Args:
        caster: Of the body.
        points: m.
        away: From the nearest point of the surface. Over a flat face only lines along it are free,
            so these are looked along first.
    """
    waiting = np.arange(len(points))
    first, second = directions_across(away)
    turns = np.pi * np.arange(_LINES_ALONG) / _LINES_ALONG
    ways = [np.cos(turn) * first + np.sin(turn) * second for turn in turns]
    ways += [np.broadcast_to(way, points.shape) for way in even_directions(_LINES)]
    for way in ways:
        if waiting.size == 0:
            break
        is_free = np.ones(len(waiting), dtype=bool)
        for sign in (1.0, -1.0):
            asked = np.flatnonzero(is_free)
            rows = waiting[asked]
            is_free[asked] = np.isinf(caster.cast(points[rows], sign * way[rows])[0])
        waiting = waiting[~is_free]
    hollow = np.zeros(len(points), dtype=bool)
    hollow[waiting] = True
    return hollow


def directions_across(away: Float[np.ndarray, "N 3"]) -> tuple[np.ndarray, np.ndarray]:
    """Two unit directions across each given one, and across each other."""
    away = away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-12)
    least = np.eye(3)[np.abs(away).argmin(axis=1)]
    first = np.cross(away, least)
    first /= np.maximum(np.linalg.norm(first, axis=1, keepdims=True), 1e-12)
    return first, np.cross(away, first)


def even_directions(count: int) -> Float[np.ndarray, "N 3"]:
    """Even over half a sphere, in an order in which the first ones are far apart."""
    n = np.arange(count)
    height = (n * 0.754877666) % 1.0
    angle = 2.0 * np.pi * ((n * 0.569840291) % 1.0)
    across = np.sqrt(1.0 - height**2)
    return np.stack([across * np.cos(angle), across * np.sin(angle), height], axis=1)


def _filled_values(body: RigidBody, field: Field) -> np.ndarray:
    """Values of the grid of the filled body; none if it has no hollow."""
    nothing = np.zeros((0, 0, 0), dtype=np.float32)
    caster = RayCaster(body)
    low, high = body.vertices.min(axis=0), body.vertices.max(axis=0)
    counts = np.maximum(np.ceil((high - low) / _STEP).astype(int) + 1, 2)
    axes = [low[i] + _STEP * np.arange(counts[i]) for i in range(3)]
    coarse = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    # Where one touches the surface, no line is free.
    value, gradient = sample_field(field, coarse)
    is_out = np.flatnonzero(value > _ABOVE)
    hollow = np.zeros(len(coarse), dtype=bool)
    hollow[is_out] = is_hollow(caster, coarse[is_out], gradient[is_out])
    if hollow.sum() < _LEAST_POINTS:
        return nothing
    near = binary_dilation(hollow.reshape(counts), np.ones((3, 3, 3), dtype=bool))
    looks_in = faces_that_look_in(body, caster)
    shape = field.values.shape
    nodes = [field.origin[i] + field.spacing * np.arange(shape[i]) for i in range(3)]
    cell = [
        np.clip(np.round((nodes[i] - low[i]) / _STEP).astype(int), -1, counts[i]) for i in range(3)
    ]
    around = np.zeros(counts + 2, dtype=bool)
    around[1:-1, 1:-1, 1:-1] = near
    candidate = around[
        np.ix_(*(np.minimum(c + 1, n + 1) for c, n in zip(cell, counts, strict=True)))
    ]
    candidate &= field.values > 0.0
    rows = np.argwhere(candidate)
    place = field.origin + field.spacing * rows
    face = ExactDistance.from_body(body).signed_distance(place)[2]
    # Beside a thin wall only the face that is nearest says on which side of it a node lies.
    rows = rows[looks_in[face]]
    filled = np.zeros(shape, dtype=bool)
    filled[tuple(rows.T)] = True
    return _distances(body, field, filled, ~looks_in)


def faces_that_look_in(body: RigidBody, caster: RayCaster) -> Bool[np.ndarray, " F"]:
    """Which faces of a body look into a hollow of it."""
    corners = body.vertices[body.faces]
    normal = face_normals(corners)
    return is_hollow(caster, corners.mean(axis=1) + _ABOVE * normal, normal)


def _distances(
    body: RigidBody, field: Field, filled: Bool[np.ndarray, "nx ny nz"], outer: np.ndarray
) -> np.ndarray:
    """Distances of the body with some nodes filled; ``outer`` are the faces seen from outside."""
    solid = filled | (field.values <= 0.0)
    half = 0.5 * field.spacing
    to_air = field.spacing * distance_transform_edt(solid) - half
    to_filled = field.spacing * distance_transform_edt(~filled) - half
    values = np.where(solid, -to_air, np.minimum(field.values, to_filled)).astype(np.float32)
    rows = np.argwhere(solid & (to_air < _EXACT_DEPTH))
    faces = np.ascontiguousarray(body.faces[outer], dtype=np.int64)
    vertices = np.ascontiguousarray(body.vertices, dtype=np.float64)
    tree = igl.AABB()
    tree.init(vertices, faces)
    squared, _, _ = tree.squared_distance(vertices, faces, field.origin + field.spacing * rows)
    at = tuple(rows.T)
    outside = np.sqrt(np.atleast_1d(squared))
    # Near the lid air is nearer than any face.
    lidded = to_air[at] + 2.0 * field.spacing < outside
    values[at] = -np.where(lidded, to_air[at], outside)
    return values
