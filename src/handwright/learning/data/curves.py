"""How people move things: smooth phases that overlap, and small slow variation.

A coordinate is a sum of phases, each from rest to rest with continuous acceleration, and of slow
variation that fades in and out. So nothing moves at a constant rate, and whatever is at rest is
exactly at rest. Times are in any unit, as long as it is one.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

_SLOWEST, _FASTEST = 0.3, 2.4
_NUM_SINES = 3


def minimum_jerk(
    times: Float[np.ndarray, " T"], start: float, end: float, skew: float = 0.0
) -> Float[np.ndarray, " T"]:
    """From 0 to 1 between two times: velocity and acceleration are zero at both ends.

    Args:
        times: When to ask.
        start: When it begins.
        end: When it is over.
        skew: Above 0 the fastest moment comes early, below 0 late; between -0.6 and 0.6.
    """
    share = np.clip((times - start) / (end - start), 0.0, 1.0)
    share = share + skew * share * (1.0 - share)
    return share**3 * (10.0 + share * (-15.0 + 6.0 * share))


def window(
    times: Float[np.ndarray, " T"], start: float, end: float, fade: float
) -> Float[np.ndarray, " T"]:
    """One inside a span of time, zero outside, with smooth edges of ``fade`` inside it."""
    rise = minimum_jerk(times, start, start + fade)
    return rise - minimum_jerk(times, end - fade, end)


def variation(
    rng: np.random.Generator, times: Float[np.ndarray, " T"], size: float
) -> Float[np.ndarray, " T"]:
    """Slow variation of about ``size``: a few sines below 2.4 Hz with random phases.

    Args:
        rng: For frequencies and phases.
        times: s.
        size: In the unit of the result.
    """
    hertz = rng.uniform(_SLOWEST, _FASTEST, _NUM_SINES)
    # Slow parts are larger, as in recorded hands; so accelerations stay small.
    share = 1.0 / (1.0 + hertz**2)
    angle = 2.0 * np.pi * (hertz[:, None] * times + rng.uniform(0.0, 1.0, (_NUM_SINES, 1)))
    return size * (share[:, None] * np.sin(angle)).sum(axis=0) / share.sum()


def variations(
    rng: np.random.Generator, times: Float[np.ndarray, " T"], size: float
) -> Float[np.ndarray, "T 3"]:
    """Slow variation of three coordinates."""
    return np.stack([variation(rng, times, size) for _ in range(3)], axis=1)
