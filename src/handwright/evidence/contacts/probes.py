"""Gaps between a hand and a body or the surroundings, by exact distances."""

from __future__ import annotations

import atexit
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.geometry.distance.exact import ExactDistance

# Samples of an axis; then the bracket around the nearest is halved so many times: a 4 cm axis is
# searched to less than 0.1 mm of distance.
_SAMPLES = 8
_ROUNDS = 3


@lru_cache(maxsize=8)
def exact_distance(body: RigidBody) -> ExactDistance:
    """Exact distances of a body; the trees of the last few are kept, for judging many clips."""
    return ExactDistance.from_body(body)


# The trees must go before the library that made them, or it complains when Python ends.
atexit.register(exact_distance.cache_clear)


class CapsuleGaps(NamedTuple):
    """Nearest points of many capsules, in the frame of the body."""

    gap: Float[np.ndarray, " N"]
    """m, negative in penetration; infinity where the capsule is farther away than asked for."""
    point: Float[np.ndarray, "N 3"]
    """On the body's surface."""
    outward: Float[np.ndarray, "N 3"]
    """Unit normal out of the body."""


def capsule_gaps(
    exact: ExactDistance,
    start: Float[np.ndarray, "N 3"],
    end: Float[np.ndarray, "N 3"],
    radius: Float[np.ndarray, " N"],
    *,
    reach: float | Float[np.ndarray, " N"],
) -> CapsuleGaps:
    """The least distance of each capsule's axis from the body, less the radius.

    Args:
        exact: Distances of the body.
        start: First ends of the axes in the body's frame, m.
        end: Second ends.
        radius: m.
        reach: Capsules with a larger gap than this are left out, m.
    """
    count = len(start)
    reach = np.broadcast_to(np.asarray(reach, dtype=np.float64), (count,))
    gap = np.full(count, np.inf)
    point, outward = np.zeros((count, 3)), np.zeros((count, 3))
    # The distance changes by no more than one walks: the middle of the axis rules most out.
    middle = exact.signed_distance(0.5 * (start + end))[0]
    half = 0.5 * np.linalg.norm(end - start, axis=1)
    near = np.flatnonzero(middle - half - radius <= reach)
    if near.size == 0:
        return CapsuleGaps(gap, point, outward)
    share = np.broadcast_to(np.linspace(0.0, 1.0, _SAMPLES), (near.size, _SAMPLES))
    step = 1.0 / (_SAMPLES - 1)
    found = _AxisSamples.of(exact, start[near], end[near], share)
    # No point between two samples is nearer than the nearer sample less half the step.
    keep = found.distance - step * half[near] - radius[near] <= reach[near]
    near, found = near[keep], found.rows(keep)
    for _ in range(_ROUNDS):
        step *= 0.5
        share = np.clip(found.share[:, None] + np.array([-step, step]), 0.0, 1.0)
        found = found.better(_AxisSamples.of(exact, start[near], end[near], share))
    gap[near] = found.distance - radius[near]
    point[near], outward[near] = found.point, found.outward
    gap[gap > reach] = np.inf
    return CapsuleGaps(gap, point, outward)


class _AxisSamples(NamedTuple):
    """The nearest of some points of each axis."""

    share: Float[np.ndarray, " N"]
    distance: Float[np.ndarray, " N"]
    point: Float[np.ndarray, "N 3"]
    outward: Float[np.ndarray, "N 3"]

    @staticmethod
    def of(
        exact: ExactDistance, start: np.ndarray, end: np.ndarray, share: np.ndarray
    ) -> _AxisSamples:
        axis = start[:, None] + share[..., None] * (end - start)[:, None]
        distance, point, _, outward = exact.signed_distance(axis.reshape(-1, 3))
        distance = distance.reshape(share.shape)
        best = distance.argmin(axis=1)
        rows = np.arange(len(start))
        flat = rows * share.shape[1] + best
        return _AxisSamples(share[rows, best], distance[rows, best], point[flat], outward[flat])

    def rows(self, keep: np.ndarray) -> _AxisSamples:
        return _AxisSamples(*(column[keep] for column in self))

    def better(self, other: _AxisSamples) -> _AxisSamples:
        wins = other.distance < self.distance
        return _AxisSamples(
            *(
                np.where(wins if mine.ndim == 1 else wins[:, None], theirs, mine)
                for mine, theirs in zip(self, other, strict=True)
            )
        )
