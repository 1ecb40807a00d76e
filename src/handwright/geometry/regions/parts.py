"""Parts of a body by which hands hold it: its handle, its inside, its outside.

*Inside* is what looks into a hollow (see ``hollows``): the walls and the floor of a mug, up to its
rim. A *handle* is what stands around an eye. An eye is a place from which a straight line leaves
the body on both sides, while across that line the body is met all around; a handle is where what
is met there is thin: no ball of 24 mm fits into it, hollows counted as solid. *Outside* is all the
rest.

So the ear of a mug is a handle, and so are the bows of scissors and a whole ring. A spout, a knob
and the bar of a pan are none, for there is nothing to put a finger through.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from jaxtyping import Bool, Float
from scipy.spatial import cKDTree

from handwright.core.body import RigidBody
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.geometry.cache import load_or_build
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.geometry.mesh.rays import RayCaster
from handwright.geometry.regions.hollows import (
    directions_across,
    even_directions,
    faces_that_look_in,
    filled_field,
)

BodyPart = Literal["handle", "inside", "outside"]
BODY_PARTS: tuple[BodyPart, ...] = ("handle", "inside", "outside")

# Points at which eyes are looked for lie so far apart, m; on large bodies by this share of them.
_STEP, _STEP_SHARE = 0.004, 1.0 / 48.0
# An eye is wider than twice this, m: a finger has to go in.
_HALF_FINGER = 0.004
# Lines along which an eye may lead, and ways across them that must be barred.
_AXES, _ACROSS = 160, 24
# What a ball of this radius fits into, m, is no handle; nor what is met over a longer way.
_THICKEST, _LONGEST = 0.012, 0.03
# What is so near to a face that looks into a hollow, m, is its wall.
_WALL = 0.006
# Faces within this of what bars an eye, m, belong to the handle: its flanks, too.
_FLANK = 0.007
_SAMPLES = np.linspace(0.0, 1.0, 9)[:, None]
_INTO = 1e-5
_FORMAT = 2


def faces_of_part(body: RigidBody, part: BodyPart) -> Bool[np.ndarray, " F"]:
    """Which faces of a body belong to a part of it.

    Args:
        body: The body.
        part: ``handle``, ``inside`` or ``outside``.

    Raises:
        InvalidValueError: It has no such part.
    """
    if part not in BODY_PARTS:
        raise UnknownNameError(f"part of body '{body.name}'", part, BODY_PARTS)
    kept = load_or_build(
        f"parts-{_FORMAT}-{body.content_hash[:40]}", lambda: {"part": _parts(body)}
    )
    faces = kept["part"] == BODY_PARTS.index(part)
    if not faces.any():
        raise InvalidValueError(f"Body '{body.name}' {_LACKS[part]}")
    return faces


_LACKS: dict[str, str] = {
    "handle": "has no handle: no straight line leads through an eye with a bar around it "
    f"that is thinner than {2e3 * _THICKEST:.0f} mm. Hold it at a ball around the place that is "
    "meant, or from outside.",
    "inside": "has no inside: every place of its surface lies on a straight line that meets the "
    "body nowhere else. Hold it from outside, or give a mesh that is hollow where it should be.",
    "outside": "is all handle or hollow and has no other outside. Hold it by those.",
}


def _parts(body: RigidBody) -> np.ndarray:
    """(F,) part of each face, as a place in ``BODY_PARTS``."""
    caster = RayCaster(body)
    looks_in = faces_that_look_in(body, caster)
    part = np.where(looks_in, BODY_PARTS.index("inside"), BODY_PARTS.index("outside"))
    bars = _bars(body, caster, looks_in)
    if len(bars):
        middle = body.vertices[body.faces].mean(axis=1)
        near = cKDTree(bars).query(middle, distance_upper_bound=_FLANK)[0] <= _FLANK
        part[near & ~looks_in] = BODY_PARTS.index("handle")
    return part.astype(np.int8)


def _bars(
    body: RigidBody, caster: RayCaster, looks_in: Bool[np.ndarray, " F"]
) -> Float[np.ndarray, "N 3"]:
    """Points in and on what stands around eyes and is thin, m."""
    point, axis = _eyes(body, caster)
    if len(point) == 0:
        return point
    found = []
    for way in _around(axis):
        near, face = caster.cast(point, way)
        entry = point + near[:, None] * way
        through, behind = caster.cast(entry + _INTO * way, way)
        thick = through + _INTO
        is_bar = (thick <= _LONGEST) & ~looks_in[face] & ~looks_in[behind]
        along = _SAMPLES * thick[is_bar, None, None] * way[is_bar, None]
        found.append(entry[is_bar, None] + along)
    bars = np.concatenate(found)
    # A way down into the root of a handle comes out at the far side of what that stands on.
    points = bars.reshape(-1, 3)
    is_root = _is_thick(body, points)
    if looks_in.any():
        walls = cKDTree(body.vertices[body.faces[looks_in]].mean(axis=1))
        is_root |= np.isfinite(walls.query(points, distance_upper_bound=_WALL)[0])
    return bars[~is_root.reshape(bars.shape[:2]).any(axis=1)].reshape(-1, 3)


def _is_thick(body: RigidBody, points: Float[np.ndarray, "N 3"]) -> Bool[np.ndarray, " N"]:
    """Which points lie in balls that fit into the body with its hollows filled."""
    field = filled_field(body, signed_distance_field(body))
    deep = np.argwhere(field.values < -_THICKEST)
    if len(deep) == 0:
        return np.zeros(len(points), dtype=bool)
    middles = cKDTree(field.origin + field.spacing * deep)
    # Nodes lie beside the middles of such balls.
    reach = _THICKEST + 2.0 * field.spacing
    return np.isfinite(middles.query(points, distance_upper_bound=reach)[0])


def _eyes(body: RigidBody, caster: RayCaster) -> tuple[np.ndarray, np.ndarray]:
    """Places in eyes, and the directions in which these lead: across the narrowest way round."""
    low, high = body.bounds
    step = max(_STEP, _STEP_SHARE * float((high - low).max()))
    axes = [np.arange(low[i] + 0.5 * step, high[i], step) for i in range(3)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    grid = grid[ExactDistance.from_body(body).signed_distance(grid)[0] > _HALF_FINGER]
    girth, axis = np.full(len(grid), np.inf), np.zeros((len(grid), 3))
    for direction in even_directions(_AXES):
        rows = np.arange(len(grid))
        for sign in (1.0, -1.0):
            way = np.broadcast_to(sign * direction, (len(rows), 3))
            rows = rows[np.isinf(caster.cast(grid[rows], way)[0])]
        length = np.zeros(len(grid))
        for way in _around(direction[None]):
            if rows.size == 0:
                break
            length[rows] += caster.cast(grid[rows], np.broadcast_to(way, (len(rows), 3)))[0]
            rows = rows[np.isfinite(length[rows])]
        rows = rows[length[rows] < girth[rows]]
        girth[rows], axis[rows] = length[rows], direction
    is_eye = np.isfinite(girth)
    return grid[is_eye], axis[is_eye]


def _around(axis: Float[np.ndarray, "N 3"]) -> list[Float[np.ndarray, "N 3"]]:
    """Ways all around axes, across them, in an order in which the first ones are far apart."""
    first, second = directions_across(axis)
    turns = 2.0 * np.pi * ((np.arange(_ACROSS) * 7) % _ACROSS) / _ACROSS
    return [np.cos(turn) * first + np.sin(turn) * second for turn in turns]
