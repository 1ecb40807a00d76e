"""Flights of digits from one contact to the next: where they land, and when."""

from __future__ import annotations

import numpy as np

from handwright.kernels.decorators import inlined, kernel, linked
from handwright.kernels.rng import drawn_from
from handwright.methods.sampling.search.carrying import FINGER_WIDTH
from handwright.methods.sampling.search.policy import PlanData
from handwright.methods.sampling.search.step import SearchState, pad_position
from handwright.methods.sampling.search.workspace import FLY, FREE

SCHEDULE_AHEAD = 4
"""Digits that are scheduled may set out as many flights ahead."""
# Number of candidates that are drawn until one is free.
_CANDIDATE_DRAWS = 6
# How far a digit relocates, m, as a standard deviation.
_NEIGHBOURHOOD = 0.04


@inlined
def next_key_frame(keys: np.ndarray, frame: int) -> int:
    """Number of the first key frame that is not before a frame, or of the last one."""
    for k in range(keys.shape[0]):
        if keys[k] >= frame:
            return k
    return keys.shape[0] - 1


@inlined
def squared_distance(a: np.ndarray, b: np.ndarray) -> float:
    """Squared distance of two points, m^2."""
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2


@inlined
def flight_frames(plan: PlanData, goal: np.ndarray, start: tuple[float, float, float]) -> int:
    """Number of frames that a flight from a point to another takes."""
    x, y, z = start
    distance = np.sqrt((goal[0] - x) ** 2 + (goal[1] - y) ** 2 + (goal[2] - z) ** 2)
    return int(np.ceil(distance / plan.policy.stride))


@linked
def plan_flight(state: SearchState, plan: PlanData, t: int, d: int, avoids_point: bool) -> bool:
    """Plans a flight of a digit to a new candidate, or away from the body if there is none.

    Returns whether there is time for a flight.

    Args:
        state: The search.
        plan: What the flight is drawn from.
        t: Row of the path.
        d: Digit.
        avoids_point: Whether candidates far from the digit's avoided point are preferred.
    """
    path, candidates, schedule = state.path, state.candidates, plan.policy.schedule
    last = path.mode.shape[0] - 1
    if t + 2 > last:
        return False
    position = pad_position(state, t, d, 0)
    start = schedule.start[t, d]
    is_due = start - t <= SCHEDULE_AHEAD * plan.policy.flight
    m, landing, k = -1, t, 0
    # A candidate may come within reach only while the digit is on its way.
    for patience in range(1, 3):
        landing = start if is_due else min(t + patience * plan.policy.flight, last)
        k = next_key_frame(candidates.frame, landing)
        if state.data.may_touch[landing, d] and not schedule.is_kept[landing, d]:
            m = _draw_candidate(state, plan, t, d, k, position, avoids_point, 0 if is_due else 1)
        if m >= 0:
            break
    if m < 0:
        path.mode[t, d] = FREE
        return True
    lasts = flight_frames(plan, candidates.point[m], position)
    if is_due:
        lasts = max(lasts, plan.policy.flight)
        soon = min(next_key_frame(candidates.frame, t + lasts), k)
        # It may land before it must, but not where it cannot yet be.
        landing = t + lasts if candidates.cost[d, m, soon] < np.inf else start
    write_flight(state, t, d, m, position, max(landing, t + lasts))
    return True


@inlined
def write_flight(
    state: SearchState,
    t: int,
    d: int,
    m: int,
    start: tuple[float, float, float],
    landing: int,
) -> None:
    """Writes a flight of a digit from a point to candidate ``m``."""
    x, y, z = start
    path, candidates, data = state.path, state.candidates, state.data
    if data.pad_links[d, candidates.pad[m]] != data.pad_link[d]:
        # Another phalanx than the one with the pad is to land.
        x, y, z = pad_position(state, t, d, candidates.pad[m])
    path.mode[t, d] = FLY
    path.fly_candidate[t, d] = m
    path.fly_pad[t, d] = candidates.pad[m]
    path.fly_begin[t, d] = t
    path.fly_end[t, d] = landing
    path.fly_from[t, d, 0], path.fly_from[t, d, 1], path.fly_from[t, d, 2] = x, y, z
    for i in range(3):
        path.fly_goal[t, d, i] = candidates.point[m, i]
        path.fly_normal[t, d, i] = candidates.normal[m, i]


@kernel
def _draw_candidate(
    state: SearchState,
    plan: PlanData,
    t: int,
    d: int,
    k: int,
    position: tuple[float, float, float],
    avoids_point: bool,
    lasting: int,
) -> int:
    """Draws a candidate near by for a digit at a key frame, taken by no other digit; -1 if none.

    Args:
        state: The search.
        plan: What the candidate is drawn from.
        t: Row of the path.
        d: Digit.
        k: Key frame.
        position: Where the digit is, m.
        avoids_point: Whether candidates far from the digit's avoided point are preferred.
        lasting: 1 to leave out candidates that are soon out of reach: a hand that is about to leave
            the body lets go of it, and does not look for another contact. Else 0.
    """
    x, y, z = position
    path, point, sums = state.path, state.candidates.point, plan.scratch.sums
    total = 0.0
    for m in range(point.shape[0]):
        weight = plan.appeal[lasting, d, k, m]
        if weight > 0.0:
            square = (point[m, 0] - x) ** 2 + (point[m, 1] - y) ** 2 + (point[m, 2] - z) ** 2
            weight *= np.exp(-0.5 * square / _NEIGHBOURHOOD**2)
            if avoids_point:
                weight *= squared_distance(point[m], plan.forced.avoided_point[d])
            total += weight
        sums[m] = total
    if not total > 0.0:
        return -1
    for _ in range(_CANDIDATE_DRAWS):
        m = drawn_from(plan.dice, sums)
        is_taken = False
        for e in range(path.mode.shape[1]):
            if e == d or path.mode[t, e] == FREE:
                continue
            other = path.fly_goal[t, e] if path.mode[t, e] == FLY else path.target[t, e]
            is_taken = is_taken or squared_distance(other, point[m]) < FINGER_WIDTH**2
        if not is_taken:
            return m
    return -1
