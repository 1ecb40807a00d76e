"""Points and directions as tuples of three numbers, for compiled functions.

The module is imported by its name: ``vec3.dot(a, b)``.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from jaxtyping import Float

from handwright.geometry.distance.sdf import Field, field_value_gradient
from handwright.kernels.decorators import inlined
from handwright.kinematics.tree import Links, placed

Vector: TypeAlias = tuple[float, float, float]


@inlined
def read(values: Float[np.ndarray, " 3"]) -> Vector:
    """The numbers of an array."""
    return values[0], values[1], values[2]


@inlined
def write(values: Float[np.ndarray, " 3"], v: Vector) -> None:
    """Writes a vector to an array."""
    values[0], values[1], values[2] = v[0], v[1], v[2]


@inlined
def copy(to: Float[np.ndarray, " 3"], source: Float[np.ndarray, " 3"]) -> None:
    """Copies one array to another."""
    write(to, read(source))


@inlined
def minus(a: Vector, b: Vector) -> Vector:
    """Difference a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inlined
def shifted(p: Vector, share: float, v: Vector) -> Vector:
    """The point p + share v."""
    return p[0] + share * v[0], p[1] + share * v[1], p[2] + share * v[2]


@inlined
def scaled(factor: float, v: Vector) -> Vector:
    """The vector times a factor."""
    return factor * v[0], factor * v[1], factor * v[2]


@inlined
def divided(v: Vector, divisor: float) -> Vector:
    """The vector over a divisor."""
    return v[0] / divisor, v[1] / divisor, v[2] / divisor


@inlined
def dot(a: Vector, b: Vector) -> float:
    """Dot product a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def cross(a: Vector, b: Vector) -> Vector:
    """Cross product a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inlined
def length(v: Vector) -> float:
    """Length of a vector."""
    return np.sqrt(dot(v, v))


@inlined
def tangential(v: Vector, normal: Vector) -> Vector:
    """The part of ``v`` perpendicular to a unit normal."""
    return shifted(v, -dot(v, normal), normal)


@inlined
def point_of(links: Links, link: int, local: Float[np.ndarray, " 3"]) -> Vector:
    """Where a point of a link is, m."""
    return placed(links, link, local[0], local[1], local[2])


@inlined
def rotated(rotation: Float[np.ndarray, "3 3"], v: Vector) -> Vector:
    """A vector multiplied by a rotation matrix."""
    return dot(read(rotation[0]), v), dot(read(rotation[1]), v), dot(read(rotation[2]), v)


@inlined
def localized(rotation: Float[np.ndarray, "3 3"], away: Vector) -> Vector:
    """A vector multiplied by the transpose of a rotation matrix."""
    return (
        rotation[0, 0] * away[0] + rotation[1, 0] * away[1] + rotation[2, 0] * away[2],
        rotation[0, 1] * away[0] + rotation[1, 1] * away[1] + rotation[2, 1] * away[2],
        rotation[0, 2] * away[0] + rotation[1, 2] * away[1] + rotation[2, 2] * away[2],
    )


@inlined
def local_of(links: Links, link: int, point: Vector) -> Vector:
    """A point in the frame of a link, m."""
    return localized(links.rotation[link], minus(point, read(links.position[link])))


@inlined
def distance_at(field: Field, p: Vector) -> tuple[float, Vector]:
    """Signed distance of a point from the body, m, and its gradient."""
    value, x, y, z = field_value_gradient(field, p[0], p[1], p[2])
    return value, (x, y, z)
