"""Flights of digits from one contact to the next: where they land, and when.

A hand that comes to a body which another one holds plans a whole grasp of all its digits at once.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from handwright.kernels.decorators import inlined, kernel, linked
from handwright.kernels.rng import drawn_from, roll
from handwright.methods.sampling.search import vec3
from handwright.methods.sampling.search.carrying import FINGER_WIDTH, score_grasps
from handwright.methods.sampling.search.policy import PlanData
from handwright.methods.sampling.search.step import SearchState, pad_position
from handwright.methods.sampling.search.workspace import FLY, FREE, HOLD, SLIDE

SCHEDULE_AHEAD = 4
"""Digits that are scheduled may set out as many flights ahead."""
# Number of candidates that are drawn until one is free.
_CANDIDATE_DRAWS = 6
# How far a digit relocates, m, as a standard deviation.
_NEIGHBOURHOOD = 0.04
# Probability that a digit which leaves lands nowhere, where that of a guide touches nothing.
_STAYS_AWAY = 0.95


@inlined
def next_key_frame(keys: Int[np.ndarray, " K"], frame: int) -> int:
    """Number of the first key frame that is not before a frame, or of the last one."""
    for k in range(keys.shape[0]):
        if keys[k] >= frame:
            return k
    return keys.shape[0] - 1


@inlined
def squared_distance(a: Float[np.ndarray, " 3"], b: Float[np.ndarray, " 3"]) -> float:
    """Squared distance of two points, m^2."""
    away = vec3.minus(vec3.read(a), vec3.read(b))
    return vec3.dot(away, away)


@inlined
def flight_frames(plan: PlanData, goal: Float[np.ndarray, " 3"], start: vec3.Vector) -> int:
    """Number of frames that a flight from a point to another takes."""
    return int(np.ceil(vec3.length(vec3.minus(vec3.read(goal), start)) / plan.policy.stride))


@linked
def plan_flight(state: SearchState, plan: PlanData, t: int, d: int, avoids_point: bool) -> bool:
    """Plans a flight of a digit to a new candidate, or away from the body if there is none.

    Candidates far from the digit's avoided point may be preferred. Returns whether there is time
    for a flight.
    """
    path, candidates, schedule = state.path, state.candidates, plan.policy.schedule
    last = path.mode.shape[0] - 1
    if t + 2 > last:
        return False
    position = pad_position(state, t, d, 0)
    start = schedule.start[t, d]
    is_due = start - t <= SCHEDULE_AHEAD * plan.policy.flight
    m, landing, k = -1, t, 0
    guide = plan.policy.guide
    if guide.weight > 0.0 and path.mode[t, d] != FREE and not is_due:
        then = min(t + plan.policy.flight, last)
        if not guide.touches[then, d] and roll(plan.dice) < _STAYS_AWAY:
            path.mode[t, d] = FREE
            return True
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
    state: SearchState, t: int, d: int, m: int, start: vec3.Vector, landing: int
) -> None:
    """Writes a flight of a digit from a point to candidate ``m``."""
    path, candidates, data = state.path, state.candidates, state.data
    if data.pad_links[d, candidates.pad[m]] != data.pad_link[d]:
        # Another phalanx than the one with the pad is to land.
        start = pad_position(state, t, d, candidates.pad[m])
    path.mode[t, d] = FLY
    path.fly_candidate[t, d] = m
    path.fly_pad[t, d] = candidates.pad[m]
    path.fly_begin[t, d] = t
    path.fly_end[t, d] = landing
    vec3.write(path.fly_from[t, d], start)
    vec3.copy(path.fly_goal[t, d], candidates.point[m])
    vec3.copy(path.fly_normal[t, d], candidates.normal[m])


@kernel
def _draw_candidate(
    state: SearchState,
    plan: PlanData,
    t: int,
    d: int,
    k: int,
    position: vec3.Vector,
    avoids_point: bool,
    lasting: int,
) -> int:
    """Draws a candidate for digit d, near its position, m, at key frame k; -1 if there is none.

    No other digit has taken it in row t of the path. With ``lasting`` 1, candidates that are soon
    out of reach are left out: a hand that is about to leave the body lets go of it, and does not
    look for another contact.
    """
    path, point, sums = state.path, state.candidates.point, plan.scratch.sums
    total = 0.0
    for m in range(point.shape[0]):
        weight = plan.appeal[lasting, d, k, m]
        if weight > 0.0:
            away = vec3.minus(vec3.read(point[m]), position)
            weight *= np.exp(-0.5 * vec3.dot(away, away) / _NEIGHBOURHOOD**2)
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


@kernel
def plan_whole_grasp(state: SearchState, plan: PlanData, t: int) -> None:
    """Sends hands that are off the body to a whole grasp, if there is one that can carry it.

    Digits that come one by one hardly ever make a grasp in the short time in which both hands
    are at the body.
    """
    path, data, candidates = state.path, state.data, state.candidates
    hand, last = data.hands.hand_of_digit, path.mode.shape[0] - 1
    for h in range(data.hands.offset.shape[0]):
        is_there = False
        for d in range(hand.shape[0]):
            mode = path.mode[t, d]
            # A hand whose thumb is on a flight is about to grasp already.
            comes_already = plan.is_thumb[d] and mode == FLY
            is_there = is_there or (hand[d] == h and (mode in (HOLD, SLIDE) or comes_already))
        if is_there:
            continue
        for patience in range(1, 3):
            k = next_key_frame(candidates.frame, min(t + patience * plan.policy.flight, last))
            landing = candidates.frame[k]
            if not t + 2 < landing <= t + 2 * plan.policy.flight:
                continue
            row = _best_grasp(state, plan, t, h, landing, k)
            if row < 0:
                continue
            for d in range(hand.shape[0]):
                m = plan.scratch.grasps[row, d]
                if m < 0:
                    continue
                position = pad_position(state, t, d, 0)
                later = _moved_with_wrist(state, t, d, position, landing)
                lasts = flight_frames(plan, candidates.point[m], later)
                write_flight(state, t, d, m, position, max(landing, t + lasts))
            break


@inlined
def _moved_with_wrist(
    state: SearchState, t: int, d: int, point: vec3.Vector, later: int
) -> vec3.Vector:
    """Where a point of a digit is in a later frame if it moves with its wrist, m."""
    h = state.data.hands.hand_of_digit[d]
    rotation, position = state.data.root_rotation[:, h], state.data.root_position[:, h]
    local = vec3.localized(rotation[t], vec3.minus(point, vec3.read(position[t])))
    return vec3.shifted(vec3.rotated(rotation[later], local), 1.0, vec3.read(position[later]))


@kernel
def _best_grasp(state: SearchState, plan: PlanData, t: int, h: int, landing: int, k: int) -> int:
    """Draws some grasps of a hand and finds the one that carries the body for longest.

    Returns its row of ``plan.scratch.grasps``, or -1 if none carries the body at the key frame.
    """
    path, data, chosen = state.path, state.data, plan.scratch.grasps
    has_thumb, num_taken = False, 0
    for d in range(path.mode.shape[1]):
        if path.mode[t, d] == HOLD or path.mode[t, d] == SLIDE:
            vec3.copy(plan.scratch.taken[num_taken], path.target[t, d])
            num_taken += 1
        for row in range(chosen.shape[0]):
            chosen[row, d] = -1
        is_due = plan.policy.schedule.start[t, d] - t <= SCHEDULE_AHEAD * plan.policy.flight
        if data.hands.hand_of_digit[d] != h or not data.may_touch[landing, d] or is_due:
            continue
        total = 0.0
        for m in range(plan.scratch.sums.shape[0]):
            total += plan.appeal[0, d, k, m]
            plan.scratch.sums[m] = total
        if not total > 0.0:
            continue
        has_thumb = has_thumb or plan.is_thumb[d]
        for row in range(chosen.shape[0]):
            m = drawn_from(plan.dice, plan.scratch.sums)
            if plan.is_thumb[d] or roll(plan.dice) >= plan.policy.leave_free[landing, d]:
                chosen[row, d] = m
    if not has_thumb:
        return -1
    score_grasps(state, chosen, k, plan.scratch.taken[:num_taken], plan.scratch.score)
    best = 0
    for row in range(chosen.shape[0]):
        if plan.scratch.score[row] > plan.scratch.score[best]:
            best = row
    return best if plan.scratch.score[best] > 0.0 else -1
