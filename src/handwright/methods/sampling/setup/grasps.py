"""Whole grasps: places for several digits at once."""

from __future__ import annotations

import numpy as np


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
