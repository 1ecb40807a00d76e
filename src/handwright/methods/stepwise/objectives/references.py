"""References of goals: how far a feature is off, and the velocity it should have (section 5.1).

A reference is abreast of what is done, so that nobody hurries after a push. All vectors are
positions or rotation vectors.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from jaxtyping import Float

from handwright.math.vectors import length

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


THERE, TURNED = 2e-3, 0.02
"""A goal this near is held, not reached for, m and rad."""
LAST_FRAMES = 3.5
"""A feature that passes a place at a velocity has it so many frames before."""
LEAST_TIME = 0.3
"""The shortest time that a way may be given, s."""
# A wanted velocity is come to within this time before it counts, s.
_SPEED_UP = 0.5

Reference = tuple[np.ndarray, np.ndarray]
"""Error now, and wanted velocity."""


def toward(
    done: Float[np.ndarray, "N"], way: Float[np.ndarray, "N"], time: float, near: float
) -> Reference:
    """A way that is covered with the bell of the profile, to rest at its end.

    Args:
        done: What has been covered since it began, m or rad.
        way: The whole way.
        time: Time for the whole of it, s.
        near: Distance at which the end is held.
    """
    whole = float(way @ way)
    if whole < near**2 or length(done - way) < near:
        return done - way, np.zeros(len(way))
    share = min(max(float(done @ way) / whole, 0.0), 1.0)
    if share >= 1.0:
        return done - way, np.zeros(len(way))
    return done - share * way, way * reaching_rate(share) / time


def aligned(left: Float[np.ndarray, "3"], whole: float, time: float, near: float) -> Reference:
    """A turn of one axis by the shortest way, whatever its place on the way is.

    Args:
        left: Turn that is left, rad.
        whole: Angle of the whole turn, rad.
        time: Time for the whole of it, s.
        near: Angle at which the end is held.
    """
    size = length(left)
    if whole < near or size < near:
        return -left, np.zeros(3)
    share = min(max(1.0 - size / whole, 0.0), 1.0)
    error = left * ((1.0 - share) * whole / size - 1.0)
    return error, left * (whole / size * reaching_rate(share) / time)


def passing(
    left: Float[np.ndarray, "N"],
    velocity: Float[np.ndarray, "N"],
    wanted: Float[np.ndarray, "N"],
    time: float,
    step: float,
) -> Reference:
    """A way that ends at a velocity: the one with the least squared acceleration from now on.

    Args:
        left: What is left of the way, m or rad.
        velocity: Velocity now.
        wanted: Velocity at the end.
        time: Time that is left, s; above zero.
        step: Length of the frame, s.
    """
    change = 6.0 * left / time**2 - (4.0 * velocity + 2.0 * wanted) / time
    return np.zeros(len(left)), velocity + step * change


def speeding(
    first: Float[np.ndarray, "N"], wanted: Float[np.ndarray, "N"], since: float, until: float
) -> np.ndarray | None:
    """A velocity that is come to smoothly, wherever that leads; None while it is too early.

    Args:
        first: Velocity when it began.
        wanted: The goal's.
        since: Time for which it has been pursued, s.
        until: Time until it counts, s; negative once it does.
    """
    if until > _SPEED_UP:
        return None
    whole = min(since + until, _SPEED_UP)
    share = 1.0 if until <= 0.0 or whole <= 0.0 else 1.0 - until / whole
    share = share * share * (3.0 - 2.0 * share)
    return np.asarray(first + share * (wanted - first))


def way_begun(
    point: Float[np.ndarray, "N"],
    goal: Float[np.ndarray, "N"],
    velocity: Float[np.ndarray, "N"],
    step: float,
) -> Float[np.ndarray, "N"]:
    """Where a way begins on which a feature that moves already is a frame on, m.

    For goals that are put in the place of others while those are pursued, as often as in every
    frame: a reach that began from rest each time would never get anywhere.

    Args:
        point: Position of the feature, m.
        goal: Where it is to go, m.
        velocity: Velocity of the feature, m/s.
        step: Length of the frame, s.
    """
    left = goal - point
    size = length(left)
    if size < THERE:
        return point
    share = share_at_rate(LEAST_TIME * float(velocity @ left) / size**2)
    share = min(share + reaching_rate(share) * step / LEAST_TIME, 0.5)
    return np.asarray(point - share / (1.0 - share) * left)
