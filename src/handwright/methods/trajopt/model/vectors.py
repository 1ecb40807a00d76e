"""Vectors as tuples, for compiled residuals."""

from __future__ import annotations

import math

import numpy as np

from handwright.kernels.decorators import kernel


@kernel
def cross(a: tuple, b: tuple) -> tuple:
    """Cross product."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@kernel
def dot(a: tuple, b: tuple) -> float:
    """Dot product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def minus(a: tuple, b: tuple) -> tuple:
    """Difference."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def across(n: tuple, v: tuple) -> tuple:
    """The part of a vector across a normal."""
    along = dot(n, v)
    return v[0] - along * n[0], v[1] - along * n[1], v[2] - along * n[2]


@kernel
def rotated(t: np.ndarray, v: tuple) -> tuple:
    """A vector after a turn."""
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
