"""Whole grasps: places for several digits at once, judged by how long they carry the body."""

from __future__ import annotations

import numpy as np

from handwright.math.packed import Packed
from handwright.methods.sampling.candidates import Candidates
from handwright.methods.sampling.step import carried_frames

FINGER_WIDTH = 0.013
"""Pads of two digits are no nearer than this, m."""
SPARE_FRICTION = 0.6
"""Share of the friction with which a good grasp still holds."""


def first_digits(hand_of_digit: np.ndarray) -> np.ndarray:
    """(D,) which digits are the first of their hands: the thumbs."""
    return np.append(True, hand_of_digit[1:] != hand_of_digit[:-1])


def draw_grasps(
    appeal: np.ndarray,
    takes_part: np.ndarray,
    is_sure: np.ndarray,
    tries: int,
    leave_free: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """(tries, D) places of digits, or -1 for those that stay off the body.

    Args:
        appeal: (D, M) how much digits like places, added up over places.
        takes_part: (D,) digits that may touch.
        is_sure: (D,) digits that are never left out.
        tries: How many grasps.
        leave_free: Probability that another digit is left out.
        rng: For the draws.
    """
    chosen = np.full((tries, len(appeal)), -1)
    for d in np.flatnonzero(takes_part & (appeal[:, -1] > 0.0)).tolist():
        mark = rng.random(tries) * appeal[d, -1]
        touches = rng.random(tries) >= (0.0 if is_sure[d] else leave_free)
        chosen[touches, d] = np.searchsorted(appeal[d], mark, side="right")[touches]
    return chosen


def grasp_worth(
    bench: Packed, places: Candidates, chosen: np.ndarray, first: int, taken: np.ndarray
) -> float:
    """Key frames that a grasp carries, and again with less friction: it will need to spare.

    Args:
        bench: The search.
        places: Candidates.
        chosen: (D,) place of each digit, or -1.
        first: Key frame.
        taken: (N, 3) points that other digits hold, m.
    """
    point = places.point[chosen[chosen >= 0]]
    apart = np.linalg.norm(point[:, None] - np.concatenate([point, taken]), axis=2)
    apart[np.arange(len(point)), np.arange(len(point))] = np.inf
    if np.any(apart < FINGER_WIDTH):
        return 0.0
    lasts = carried_frames(bench, chosen, first, 1.0)
    if lasts == 0:
        return 0.0
    return float(lasts + carried_frames(bench, chosen, first, SPARE_FRICTION))
