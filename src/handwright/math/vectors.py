"""Single vectors, for what is asked many times a second; numpy sorts out axes for much longer."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float


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
