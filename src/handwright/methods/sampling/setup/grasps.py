"""Whole grasps: candidates for several digits at once."""

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
    """Draws (tries, D) candidates of digits, or -1 for those that stay off the body.

    Args:
        appeal: (D, M) how much digits prefer candidates, added up over candidates.
        takes_part: (D,) which digits may touch.
        is_sure: (D,) which digits are never left out.
        tries: Number of grasps.
        leave_free: Probability that another digit is left out.
        rng: Draws the grasps.
    """
    chosen = np.full((tries, len(appeal)), -1)
    for d in np.flatnonzero(takes_part & (appeal[:, -1] > 0.0)).tolist():
        mark = rng.random(tries) * appeal[d, -1]
        touches = rng.random(tries) >= (0.0 if is_sure[d] else leave_free)
        chosen[touches, d] = np.searchsorted(appeal[d], mark, side="right")[touches]
    return chosen
