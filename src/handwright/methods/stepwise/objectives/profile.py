"""How fast a goal is approached: a bell over the share of the way that is done (section 5.1)."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

# Variance of the normal distribution over the share of the way; as in the paper.
_VARIANCE = 0.4
# Shares of the way over which a reach speeds up and slows down, and the least speed in the middle
# one: without it a reach would never begin and never end.
_RISE, _FALL, _LEAST = 0.15, 0.3, 0.04
# Halvings in the search for a share.
_NUM_HALVINGS = 20


def _bell(share: float) -> float:
    middle = math.exp(-0.5 * (share - 0.5) ** 2 / _VARIANCE)
    ramp = min(share / _RISE, (1.0 - share) / _FALL, 1.0)
    return middle * max(ramp, _LEAST)


@lru_cache(maxsize=1)
def _whole_time() -> float:
    """Time that the way takes at the speed of ``_bell``."""
    shares = np.linspace(0.0, 1.0, 2001)
    return float(np.trapezoid([1.0 / _bell(share) for share in shares], shares))


def reaching_rate(share: float) -> float:
    """Share of the way per share of the time that a reach takes in all.

    Shares below 0 and above 1 count as 0 and 1.
    """
    return _bell(min(max(share, 0.0), 1.0)) * _whole_time()


def share_at_rate(rate: float) -> float:
    """Share of the way, in the first part of a reach, at which it has a rate; see above."""
    low, high = 0.0, _RISE
    for _ in range(_NUM_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if reaching_rate(middle) < rate else (low, middle)
    return low
