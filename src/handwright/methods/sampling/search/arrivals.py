"""Hands that come to a body that another hand holds: whole grasps of all their digits at once."""

from __future__ import annotations

from handwright.kernels.decorators import inlined, kernel
from handwright.kernels.rng import drawn_from, roll
from handwright.methods.sampling.search.carrying import score_grasps
from handwright.methods.sampling.search.flights import (
    SCHEDULE_AHEAD,
    flight_frames,
    next_key_frame,
    write_flight,
)
from handwright.methods.sampling.search.policy import PlanData
from handwright.methods.sampling.search.step import SearchState, pad_position
from handwright.methods.sampling.search.workspace import FLY, HOLD, SLIDE


@kernel
def plan_whole_grasp(state: SearchState, plan: PlanData, t: int) -> None:
    """Sends hands that are off the body to a whole grasp, if there is one that can carry it.

    Digits that come one by one hardly ever make a grasp in the short time in which both hands
    are at the body.
    """
    path, data, candidates = state.path, state.data, state.candidates
    hand, last = data.hand_of_digit, path.mode.shape[0] - 1
    for h in range(data.offset.shape[0]):
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
    state: SearchState, t: int, d: int, point: tuple[float, float, float], later: int
) -> tuple[float, float, float]:
    """Where a point of a digit is in a later frame if it moves with its wrist, m."""
    x, y, z = point
    rotation, position = state.data.root_rotation, state.data.root_position
    h = state.data.hand_of_digit[d]
    rx, ry, rz = x - position[t, h, 0], y - position[t, h, 1], z - position[t, h, 2]
    lx = rotation[t, h, 0, 0] * rx + rotation[t, h, 1, 0] * ry + rotation[t, h, 2, 0] * rz
    ly = rotation[t, h, 0, 1] * rx + rotation[t, h, 1, 1] * ry + rotation[t, h, 2, 1] * rz
    lz = rotation[t, h, 0, 2] * rx + rotation[t, h, 1, 2] * ry + rotation[t, h, 2, 2] * rz
    new = rotation[later, h]
    return (
        new[0, 0] * lx + new[0, 1] * ly + new[0, 2] * lz + position[later, h, 0],
        new[1, 0] * lx + new[1, 1] * ly + new[1, 2] * lz + position[later, h, 1],
        new[2, 0] * lx + new[2, 1] * ly + new[2, 2] * lz + position[later, h, 2],
    )


@kernel
def _best_grasp(state: SearchState, plan: PlanData, t: int, h: int, landing: int, k: int) -> int:
    """Draws some grasps of a hand and finds the one that carries the body for longest.

    Returns its row of ``plan.scratch.grasps``, or -1 if none carries the body at the key frame.
    """
    path, data, chosen = state.path, state.data, plan.scratch.grasps
    has_thumb, num_taken = False, 0
    for d in range(path.mode.shape[1]):
        if path.mode[t, d] == HOLD or path.mode[t, d] == SLIDE:
            for i in range(3):
                plan.scratch.taken[num_taken, i] = path.target[t, d, i]
            num_taken += 1
        for row in range(chosen.shape[0]):
            chosen[row, d] = -1
        is_due = plan.policy.schedule.start[t, d] - t <= SCHEDULE_AHEAD * plan.policy.flight
        if data.hand_of_digit[d] != h or not data.may_touch[landing, d] or is_due:
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
            if plan.is_thumb[d] or roll(plan.dice) >= plan.policy.leave_free:
                chosen[row, d] = m
    if not has_thumb:
        return -1
    score_grasps(state, chosen, k, plan.scratch.taken[:num_taken], plan.scratch.score)
    best = 0
    for row in range(chosen.shape[0]):
        if plan.scratch.score[row] > plan.scratch.score[best]:
            best = row
    return best if plan.scratch.score[best] > 0.0 else -1
