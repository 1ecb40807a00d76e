"""Straight lines through bodies, for the judge."""

from __future__ import annotations

import atexit
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.body import RigidBody
from handwright.geometry.mesh.rays import RayCaster

_SIDES = 8


@lru_cache(maxsize=8)
def ray_caster(body: RigidBody) -> RayCaster:
    """Rays against a body; the trees of the last few are kept, for judging many clips."""
    return RayCaster(body)


# The trees must go before the library that made them, or it complains when Python ends.
atexit.register(ray_caster.cache_clear)


def is_crossed(
    body: RigidBody, start: Float[np.ndarray, "N 3"], end: Float[np.ndarray, "N 3"]
) -> Bool[np.ndarray, " N"]:
    """Whether straight lines, in the frame of a body, meet its surface."""
    way = end - start
    length = np.linalg.norm(way, axis=1)
    some = np.flatnonzero(length > 0.0)
    crossed = np.zeros(len(start), dtype=bool)
    crossed[some] = ray_caster(body).cast(start[some], way[some])[0] <= length[some]
    return crossed


def lines_beside(way: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "S N 3"]:
    """Unit vectors to all sides of lines, straight across them."""
    along = way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-30)
    one = np.cross(along, np.eye(3)[np.abs(along).argmin(axis=1)])
    one /= np.maximum(np.linalg.norm(one, axis=1, keepdims=True), 1e-30)
    two = np.cross(along, one)
    angle = 2.0 * np.pi * np.arange(_SIDES)[:, None, None] / _SIDES
    return np.cos(angle) * one + np.sin(angle) * two
