"""Vectors of three components as tuples, for compiled functions."""

from __future__ import annotations

import math

import numpy as np

from handwright.kernels.decorators import kernel


@kernel
def cross(a: tuple, b: tuple) -> tuple:
    """Cross product a x b."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@kernel
def dot(a: tuple, b: tuple) -> float:
    """Dot product a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def minus(a: tuple, b: tuple) -> tuple:
    """Difference a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def tangential(n: tuple, v: tuple) -> tuple:
    """The part of ``v`` perpendicular to the unit normal ``n``."""
    along = dot(n, v)
    return v[0] - along * n[0], v[1] - along * n[1], v[2] - along * n[2]


@kernel
def rotated(t: np.ndarray, v: tuple) -> tuple:
    """A vector multiplied by a rotation matrix."""
    return (
        t[0, 0] * v[0] + t[0, 1] * v[1] + t[0, 2] * v[2],
        t[1, 0] * v[0] + t[1, 1] * v[1] + t[1, 2] * v[2],
        t[2, 0] * v[0] + t[2, 1] * v[1] + t[2, 2] * v[2],
    )


@kernel
def length_at(values: np.ndarray, first: int) -> float:
    """Length of the vector whose three components begin at an index of an array."""
    x, y, z = values[first], values[first + 1], values[first + 2]
    return math.sqrt(x * x + y * y + z * z)
