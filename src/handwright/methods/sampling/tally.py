"""Counts of the search, and on request the postures that it explored."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.math.compiled import merged


class Tally(NamedTuple):
    """Counts of the search, each an array of one element."""

    frames: np.ndarray
    dead_ends: np.ndarray
    missed: np.ndarray
    sunk: np.ndarray
    crossed: np.ndarray
    unmoved: np.ndarray
    furthest: np.ndarray
    """Latest frame that failed, and by what."""
    grasps: np.ndarray
    seen: np.ndarray
    """(N, 1 + J) frame and posture of each of the first N explored frames, the frame being -1 where
    it failed; N is 0 unless somebody wants to know."""


def make_tally(seen: int = 0, joints: int = 0) -> Tally:
    """All counts at zero.

    Args:
        seen: How many explored frames are to be kept.
        joints: Of all hands.
    """
    return Tally(
        frames=np.zeros(1, dtype=np.int64),
        dead_ends=np.zeros(1, dtype=np.int64),
        missed=np.zeros(1, dtype=np.int64),
        sunk=np.zeros(1, dtype=np.int64),
        crossed=np.zeros(1, dtype=np.int64),
        unmoved=np.zeros(1, dtype=np.int64),
        furthest=np.full(2, -1, dtype=np.int64),
        grasps=np.zeros(1, dtype=np.int64),
        seen=np.full((seen, 1 + joints), -1.0),
    )


@merged
def note_frame(seen: np.ndarray, number: int, t: int, q: np.ndarray) -> None:
    """Keeps the posture of the explored frame with this number, if it is wanted."""
    if number < seen.shape[0]:
        seen[number, 0] = t
        seen[number, 1:] = q
