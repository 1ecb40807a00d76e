"""Single vectors, for what is asked many times a second; numpy sorts out axes for much longer."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

# Directions closer to opposite than this have no shortest turn between them, rad.
_OPPOSITE = 1e-6


def length(vector: Float[np.ndarray, " N"]) -> float:
    """Euclidean length of one vector."""
    return math.sqrt(vector.dot(vector))


def cross(a: Float[np.ndarray, "3"], b: Float[np.ndarray, "*B 3"]) -> Float[np.ndarray, "*B 3"]:
    """Products of one vector with another, or with each of many."""
    x, y, z = a.tolist()
    found = np.zeros(b.shape)
    found[..., 0] = y * b[..., 2] - z * b[..., 1]
    found[..., 1] = z * b[..., 0] - x * b[..., 2]
    found[..., 2] = x * b[..., 1] - y * b[..., 0]
    return found


def turn_between(one: Float[np.ndarray, "3"], two: Float[np.ndarray, "3"]) -> np.ndarray:
    """Shortest rotation vector that takes one direction to another, both units, rad."""
    across = np.cross(one, two)
    sine, cosine = length(across), float(one @ two)
    if sine > _OPPOSITE:
        return np.asarray(across * (np.arctan2(sine, cosine) / sine))
    if cosine > 0.0:
        return across
    return np.pi * square_to(one)[0]


def square_to(direction: Float[np.ndarray, "3"]) -> Float[np.ndarray, "2 3"]:
    """Two units square to a unit and to each other."""
    least = np.zeros(3)
    least[int(np.abs(direction).argmin())] = 1.0
    first = np.cross(direction, least)
    first = first / length(first)
    return np.stack([first, np.cross(direction, first)])
