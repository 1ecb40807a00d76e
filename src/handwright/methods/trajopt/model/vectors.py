"""Vectors of three components as tuples, for compiled functions; arrays serve as arguments too."""

from __future__ import annotations

import math

import numpy as np

from handwright.kernels.decorators import inlined

ZERO = (0.0, 0.0, 0.0)


@inlined
def unit(axis: int) -> tuple:
    """Unit vector along an axis; zero for any other number than 0, 1 and 2."""
    return 1.0 if axis == 0 else 0.0, 1.0 if axis == 1 else 0.0, 1.0 if axis == 2 else 0.0


@inlined
def triple(values: np.ndarray, first: int) -> tuple:
    """The vector whose three components begin at an index of an array."""
    return values[first], values[first + 1], values[first + 2]


@inlined
def row(values: np.ndarray, n: int) -> tuple:
    """Row ``n`` of an array."""
    return values[n, 0], values[n, 1], values[n, 2]


@inlined
def column(t: np.ndarray, n: int) -> tuple:
    """Column ``n`` of a matrix."""
    return t[0, n], t[1, n], t[2, n]


@inlined
def write_row(values: np.ndarray, n: int, v: tuple) -> None:
    """Writes row ``n`` of an array."""
    values[n, 0], values[n, 1], values[n, 2] = v


@inlined
def cross(a: tuple, b: tuple) -> tuple:
    """Cross product a x b."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@inlined
def dot(a: tuple, b: tuple) -> float:
    """Dot product a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def norm(v: tuple) -> float:
    """Length of a vector."""
    return math.sqrt(dot(v, v))


@inlined
def plus(a: tuple, b: tuple) -> tuple:
    """Sum a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inlined
def minus(a: tuple, b: tuple) -> tuple:
    """Difference a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inlined
def times(v: tuple, factor: float) -> tuple:
    """A vector times a number."""
    return v[0] * factor, v[1] * factor, v[2] * factor


@inlined
def over(v: tuple, divisor: float) -> tuple:
    """A vector divided by a number."""
    return v[0] / divisor, v[1] / divisor, v[2] / divisor


@inlined
def plus_times(a: tuple, b: tuple, factor: float) -> tuple:
    """Sum of a and a multiple of b."""
    return a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]


@inlined
def tangential(n: tuple, v: tuple) -> tuple:
    """The part of ``v`` perpendicular to the unit normal ``n``."""
    return plus_times(v, n, -dot(n, v))


@inlined
def rotated(t: np.ndarray, v: tuple) -> tuple:
    """A vector multiplied by a matrix."""
    return dot(row(t, 0), v), dot(row(t, 1), v), dot(row(t, 2), v)


@inlined
def rotated_back(t: np.ndarray, v: tuple) -> tuple:
    """A vector multiplied by the transpose of a matrix."""
    return dot(column(t, 0), v), dot(column(t, 1), v), dot(column(t, 2), v)


@inlined
def placed(t: np.ndarray, o: tuple, v: tuple) -> tuple:
    """The point ``v`` of a frame with rotation ``t`` and origin ``o``."""
    return (
        o[0] + t[0, 0] * v[0] + t[0, 1] * v[1] + t[0, 2] * v[2],
        o[1] + t[1, 0] * v[0] + t[1, 1] * v[1] + t[1, 2] * v[2],
        o[2] + t[2, 0] * v[0] + t[2, 1] * v[1] + t[2, 2] * v[2],
    )
