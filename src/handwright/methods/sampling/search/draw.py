"""Draws plans: what each digit does in the coming window, among what the forces allow.

Ye & Liu 2012, sections 4.2 and 5; see ``plan.py``. Everything here is compiled, for several plans
are drawn and looked at ahead for every window.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.kernels.decorators import compiled, inlined, kernel, linked
from handwright.kernels.rng import drawn_from, roll, shuffle
from handwright.methods.sampling.constraints.schedule import ROLLED, DigitSchedule
from handwright.methods.sampling.search.carrying import (
    FINGER_WIDTH,
    UNKNOWN,
    YES,
    can_carry_without,
    can_keep_contact,
    count_carried_horizons,
    score_grasps,
)
from handwright.methods.sampling.search.path import Path
from handwright.methods.sampling.search.step import IDLE_LOAD, SearchState, pad_position
from handwright.methods.sampling.search.workspace import FLY, FREE, HOLD, SLIDE

# Share of the friction from which a contact counts as on its cone.
_ON_CONE = 0.9
# Digits that may be in the air at the same time, for each hand.
_MOST_FLYING = 2
# Plans that are drawn, at most, until one can carry the body at all horizons.
_DRAWS = 6
# That of them in which a hand that is off the body comes with a whole grasp.
_WHOLE_GRASP_DRAW = 1
# Of the horizons, the one that digits must keep their places for.
_ONE_AHEAD = 1
# Frames until the next plan where this one does not carry the body for long.
_SHORT_WINDOW = 4
# Places that are drawn until one is free.
_PLACE_DRAWS = 6
# Share of the friction with which plans are looked at ahead.
_SPARE = 0.8
# Loaded digits that stay still while one slides.
_LEAST_STILL = 2
# How far a digit relocates, m, as a standard deviation.
_NEIGHBOURHOOD = 0.04
# Digits that have an order may set out so many flights ahead, and do with this chance.
_AHEAD, _EARLY = 4, 0.2


class Plans(NamedTuple):
    """What plans are drawn from, and room to draw in; see ``Policy`` for what is not told here."""

    window: int
    slide: np.ndarray
    relocate: np.ndarray
    land: np.ndarray
    leave_free: float
    slide_step: float
    flight: int
    stride: float
    look_ahead: int
    schedule: DigitSchedule
    appeal: np.ndarray
    """(2, D, K, M) how much digits like places: all of them, and those that are not soon lost."""
    is_thumb: np.ndarray
    """(D,)"""
    horizons: np.ndarray
    """(H,) frames from the window's start."""
    dice: np.ndarray
    is_forced: np.ndarray
    """(D,) digits that must leave their places."""
    avoids_point: np.ndarray
    """(D,) those of them that have a point to keep away from,"""
    avoided_point: np.ndarray
    """(D, 3) which is this, m."""
    best: Path
    """One row: the best plan so far."""
    frames: np.ndarray
    """(H,) of the horizons."""
    keys: np.ndarray
    """(H,) key frames for them."""
    keeps: np.ndarray
    """(D, H) whether digits keep their places so long, or ``UNKNOWN``."""
    departures: np.ndarray
    """(D,) latest frames at which digits must set out for their next orders."""
    is_away: np.ndarray
    """(D,) digits that are off the body, or will be."""
    is_spared: np.ndarray
    """(D,) the same with those that slide."""
    planning_order: np.ndarray
    """(D,) the order in which digits are planned."""
    sums: np.ndarray
    """(M,) appeal of places, added up."""
    taken: np.ndarray
    """(D, 3) points that other digits hold, m."""
    grasps: np.ndarray
    """(N, D) places of digits."""
    score: np.ndarray
    """(N,)"""


@compiled
def draw_plan(state: SearchState, plans: Plans, t: int) -> bool:
    """Draws a strategy for every digit, for the window that starts at frame ``t``.

    Several plans are drawn if need be, each with more digits that come to help, and the one is
    kept that can carry the body for longest. Returns whether all digits that must leave their
    places can.

    Args:
        state: The search; row t of its path holds the plan.
        plans: What is drawn from.
        t: Frame.
    """
    path, keys = state.path, state.candidates.frame
    count, last = plans.horizons.shape[0], path.mode.shape[0] - 1
    for h in range(count):
        plans.frames[h] = min(t + plans.horizons[h], last)
        plans.keys[h] = _next_key_frame(keys, plans.frames[h])
        for d in range(plans.keeps.shape[0]):
            plans.keeps[d, h] = UNKNOWN
    most = -1
    for eagerness in range(_DRAWS if plans.look_ahead > 0 else 1):
        _draw_once(state, plans, t, eagerness)
        lasts = count_carried_horizons(state, t, plans.frames, plans.keys, plans.keeps, _SPARE)
        if lasts > most:
            most = lasts
            _copy_plan(path, t, plans.best, 0)
        if lasts == count:
            break
    _copy_plan(plans.best, 0, path, t)
    if most < count and plans.look_ahead > 0:
        # Trouble ahead: look again soon.
        path.window_end[t] = min(path.window_end[t], t + _SHORT_WINDOW)
    for d in range(plans.is_forced.shape[0]):
        if plans.is_forced[d] and (path.mode[t, d] == HOLD or path.mode[t, d] == SLIDE):
            return False
    return True


@kernel
def _copy_plan(source: Path, row: int, goal: Path, to: int) -> None:
    """As ``Planner.copy_row`` does."""
    goal.window_end[to] = source.window_end[row]
    for d in range(goal.mode.shape[1]):
        goal.mode[to, d] = source.mode[row, d]
        goal.fly_begin[to, d] = source.fly_begin[row, d]
        goal.fly_end[to, d] = source.fly_end[row, d]
        goal.fly_candidate[to, d] = source.fly_candidate[row, d]
        goal.fly_pad[to, d] = source.fly_pad[row, d]
        for i in range(3):
            goal.slide[to, d, i] = source.slide[row, d, i]
            goal.fly_from[to, d, i] = source.fly_from[row, d, i]
            goal.fly_goal[to, d, i] = source.fly_goal[row, d, i]
            goal.fly_normal[to, d, i] = source.fly_normal[row, d, i]


@linked
def _draw_once(state: SearchState, plans: Plans, t: int, eagerness: int) -> None:
    path, digits, last = state.path, state.path.mode.shape[1], state.path.mode.shape[0] - 1
    end = t + 1 + int(roll(plans.dice) * max(2 * plans.window - 1, 1))
    for d in range(digits):
        path.mode[t, d] = path.reached[t, d]
        plans.is_away[d] = path.mode[t, d] == FREE or path.mode[t, d] == FLY
    for d in range(digits):
        plans.departures[d] = _departure_frame(state, plans, t, d)
        if plans.departures[d] > t:
            end = min(end, plans.departures[d])
    path.window_end[t] = min(end, last)
    if eagerness == _WHOLE_GRASP_DRAW:
        _plan_whole_grasp(state, plans, t)
    shuffle(plans.dice, plans.planning_order, digits)
    for n in range(digits):
        d = plans.planning_order[n]
        mode = path.mode[t, d]
        if _follows_schedule(plans.schedule, path, t, d):
            path.mode[t, d] = HOLD if mode == SLIDE else mode
        elif plans.departures[d] <= t:
            _depart_on_schedule(state, plans, t, d)
        elif mode == FREE:
            _plan_free_digit(state, plans, t, d, eagerness)
        elif mode != FLY:
            _plan_touching_digit(state, plans, t, d)


@inlined
def _next_key_frame(keys: np.ndarray, frame: int) -> int:
    """The first key frame that is not before a frame, or the last of all."""
    for k in range(keys.shape[0]):
        if keys[k] >= frame:
            return k
    return keys.shape[0] - 1


@inlined
def _squared_distance(a: np.ndarray, b: np.ndarray) -> float:
    """Distance squared, m^2."""
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2


@inlined
def _follows_schedule(schedule: DigitSchedule, path: Path, t: int, d: int) -> bool:
    """Whether a digit has an order for the next frame, and is where that wants it."""
    if path.mode[t, d] == FREE:
        return False
    following = min(t + 1, path.mode.shape[0] - 1)
    if schedule.is_pinned[following, d] or schedule.is_kept[following, d]:
        return True
    pin = schedule.pin[following, d]
    if pin < 0 or path.reached[t, d] != HOLD:
        return False
    return np.sqrt(_squared_distance(path.target[t, d], schedule.point[pin])) <= ROLLED


@inlined
def _flight_to(plans: Plans, goal: np.ndarray, x: float, y: float, z: float) -> int:
    """Frames that a flight from a point takes."""
    distance = np.sqrt((goal[0] - x) ** 2 + (goal[1] - y) ** 2 + (goal[2] - z) ** 2)
    return int(np.ceil(distance / plans.stride))


@kernel
def _departure_frame(state: SearchState, plans: Plans, t: int, d: int) -> int:
    """Latest frame at which a digit must set out for its next order; after the last if none."""
    path, schedule = state.path, plans.schedule
    frames, start = path.mode.shape[0], schedule.start[t, d]
    if start >= frames:
        return frames
    if start - t > _AHEAD * plans.flight:
        return start - _AHEAD * plans.flight
    pin = schedule.pin[start, d]
    if pin < 0:
        return start - plans.flight
    goal = schedule.point[pin]
    # Whoever is there already need not move.
    if path.mode[t, d] == HOLD and _squared_distance(path.target[t, d], goal) == 0.0:
        return frames
    x, y, z = pad_position(state, t, d, 0)
    return start - max(plans.flight, _flight_to(plans, goal, x, y, z))


@kernel
def _depart_on_schedule(state: SearchState, plans: Plans, t: int, d: int) -> None:
    """A digit sets out for its next order, if the others can carry the body meanwhile."""
    path = state.path
    if path.mode[t, d] == FLY:
        return
    if path.mode[t, d] == FREE:
        _plan_flight(state, plans, t, d, False)
        return
    plans.is_away[d] = True
    if _can_spare(state, plans, t):
        _plan_flight(state, plans, t, d, False)
        return
    plans.is_away[d] = False
    path.mode[t, d] = HOLD


@kernel
def _can_spare(state: SearchState, plans: Plans, t: int) -> bool:
    """Whether digits that hold, not those that slide, can do without some for a flight."""
    for d in range(plans.is_away.shape[0]):
        plans.is_spared[d] = plans.is_away[d] or state.path.mode[t, d] == SLIDE
    return can_carry_without(state, t, t + plans.flight, plans.is_spared)


@inlined
def _may_fly(state: SearchState, t: int, d: int, most: int) -> bool:
    hand, flying = state.data.hand_of_digit, 0
    for e in range(hand.shape[0]):
        if hand[e] == hand[d] and state.path.mode[t, e] == FLY:
            flying += 1
    return flying < most


@kernel
def _plan_free_digit(state: SearchState, plans: Plans, t: int, d: int, eagerness: int) -> None:
    """A free digit may come to the body if others of its hand, or its thumb, do so too."""
    path, data = state.path, state.data
    hand, is_led = data.hand_of_digit, plans.look_ahead == 0
    for e in range(hand.shape[0]):
        if hand[e] != hand[d]:
            continue
        mode = path.mode[t, e]
        # Nobody leads where the thumb may not touch, nor in the plain search.
        leads = plans.is_thumb[e] and (mode == FLY or not data.may_touch[t, e])
        is_led = is_led or mode in (HOLD, SLIDE) or leads
    if not is_led:
        return
    land = plans.land[t, d]
    chance = land + eagerness * (1.0 - land) / _DRAWS
    is_wanted = data.may_touch[t, d] and roll(plans.dice) < chance
    if is_wanted and not plans.is_forced[d] and _may_fly(state, t, d, _MOST_FLYING + eagerness):
        _plan_flight(state, plans, t, d, False)


@kernel
def _plan_touching_digit(state: SearchState, plans: Plans, t: int, d: int) -> None:
    path, last = state.path, state.path.mode.shape[0] - 1
    later = min(t + plans.look_ahead, last)
    must_go = plans.is_forced[d] or not state.data.may_touch[later, d]
    if not must_go and plans.look_ahead > 0:
        if plans.keeps[d, _ONE_AHEAD] == UNKNOWN:
            plans.keeps[d, _ONE_AHEAD] = can_keep_contact(state, t, d, later)
        must_go = plans.keeps[d, _ONE_AHEAD] != YES
    chance = roll(plans.dice)
    is_idle = path.load[t, d] < IDLE_LOAD
    wants_away = is_idle and chance < plans.relocate[t, d]
    if plans.schedule.start[t, d] - t <= _AHEAD * plans.flight:
        wants_away = wants_away or roll(plans.dice) < _EARLY
    if (must_go or wants_away) and _may_fly(state, t, d, _MOST_FLYING):
        plans.is_away[d] = True
        if _can_spare(state, plans, t) and _plan_flight(state, plans, t, d, plans.avoids_point[d]):
            return
        plans.is_away[d] = False
    path.mode[t, d] = HOLD
    # Kinetic friction leaves no choice of forces; others that do not slide must have one.
    still = 0
    for e in range(path.mode.shape[1]):
        still += e != d and path.mode[t, e] == HOLD and path.load[t, e] >= IDLE_LOAD
    is_on_cone = path.ratio[t, d] > _ON_CONE and not is_idle and still >= _LEAST_STILL
    if is_on_cone and chance < plans.slide[t, d]:
        held = can_carry_without(state, t, t, plans.is_away)
        path.mode[t, d] = SLIDE
        speed = plans.slide_step * (0.3 + 0.7 * roll(plans.dice))
        for i in range(3):
            path.slide[t, d, i] = speed * path.pull[t, d, i]
        # What guiding points cannot carry in any case, the rest of the hand does.
        if held and not can_carry_without(state, t, t, plans.is_away):
            path.mode[t, d] = HOLD


@linked
def _plan_flight(state: SearchState, plans: Plans, t: int, d: int, avoids_point: bool) -> bool:
    """Plans a flight of a digit to a new place, or away from the body if there is none.

    Args:
        state: The search.
        plans: What is drawn from.
        t: Row of the path.
        d: Digit.
        avoids_point: Whether the farther from its shunned point, the better.
    """
    path, candidates, schedule = state.path, state.candidates, plans.schedule
    last = path.mode.shape[0] - 1
    if t + 2 > last:
        return False
    x, y, z = pad_position(state, t, d, 0)
    start = schedule.start[t, d]
    is_due = start - t <= _AHEAD * plans.flight
    m, landing, k = -1, t, 0
    # A place may come within reach only while the digit is on its way.
    for patience in range(1, 3):
        landing = start if is_due else min(t + patience * plans.flight, last)
        k = _next_key_frame(candidates.frame, landing)
        if state.data.may_touch[landing, d] and not schedule.is_kept[landing, d]:
            m = _draw_candidate(state, plans, t, d, k, x, y, z, avoids_point, 0 if is_due else 1)
        if m >= 0:
            break
    if m < 0:
        path.mode[t, d] = FREE
        return True
    lasts = _flight_to(plans, candidates.point[m], x, y, z)
    if is_due:
        lasts = max(lasts, plans.flight)
        soon = min(_next_key_frame(candidates.frame, t + lasts), k)
        # It may land before it must, but not where it cannot yet be.
        landing = t + lasts if candidates.cost[d, m, soon] < np.inf else start
    _write_flight(state, t, d, m, x, y, z, max(landing, t + lasts))
    return True


@inlined
def _write_flight(
    state: SearchState, t: int, d: int, m: int, x: float, y: float, z: float, landing: int
) -> None:
    """Writes a flight of a digit from a point to place ``m``."""
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
    plans: Plans,
    t: int,
    d: int,
    k: int,
    x: float,
    y: float,
    z: float,
    avoids_point: bool,
    lasting: int,
) -> int:
    """A place near by for a digit at a key frame, taken by no other digit; -1 if none seems.

    Args:
        state: The search.
        plans: What is drawn from.
        t: Row of the path.
        d: Digit.
        k: Key frame.
        x: Where the digit is, m.
        y: The same.
        z: The same.
        avoids_point: Whether the farther from its shunned point, the better.
        lasting: 1 to leave out places that are soon out of reach: a hand that is about to leave
            the body lets go of it, and does not look for another hold. Else 0.
    """
    path, point, sums = state.path, state.candidates.point, plans.sums
    total = 0.0
    for m in range(point.shape[0]):
        weight = plans.appeal[lasting, d, k, m]
        if weight > 0.0:
            square = (point[m, 0] - x) ** 2 + (point[m, 1] - y) ** 2 + (point[m, 2] - z) ** 2
            weight *= np.exp(-0.5 * square / _NEIGHBOURHOOD**2)
            if avoids_point:
                weight *= _squared_distance(point[m], plans.avoided_point[d])
            total += weight
        sums[m] = total
    if not total > 0.0:
        return -1
    for _ in range(_PLACE_DRAWS):
        m = drawn_from(plans.dice, sums)
        is_taken = False
        for e in range(path.mode.shape[1]):
            if e == d or path.mode[t, e] == FREE:
                continue
            other = path.fly_goal[t, e] if path.mode[t, e] == FLY else path.target[t, e]
            is_taken = is_taken or _squared_distance(other, point[m]) < FINGER_WIDTH**2
        if not is_taken:
            return m
    return -1


@kernel
def _plan_whole_grasp(state: SearchState, plans: Plans, t: int) -> None:
    """Hands that are off the body come with a whole grasp, if there is one that can carry.

    Digits that come one by one hardly ever make a grasp in the short time in which both hands
    are at the body.
    """
    path, data, candidates = state.path, state.data, state.candidates
    hand, last = data.hand_of_digit, path.mode.shape[0] - 1
    for h in range(data.offset.shape[0]):
        is_there = False
        for d in range(hand.shape[0]):
            mode = path.mode[t, d]
            # With its thumb in the air a hand is about to grasp already.
            comes_already = plans.is_thumb[d] and mode == FLY
            is_there = is_there or (hand[d] == h and (mode in (HOLD, SLIDE) or comes_already))
        if is_there:
            continue
        for patience in range(1, 3):
            k = _next_key_frame(candidates.frame, min(t + patience * plans.flight, last))
            landing = candidates.frame[k]
            if not t + 2 < landing <= t + 2 * plans.flight:
                continue
            row = _best_grasp(state, plans, t, h, landing, k)
            if row < 0:
                continue
            for d in range(hand.shape[0]):
                m = plans.grasps[row, d]
                if m < 0:
                    continue
                x, y, z = pad_position(state, t, d, 0)
                ax, ay, az = _moved_with_wrist(state, t, d, x, y, z, landing)
                lasts = _flight_to(plans, candidates.point[m], ax, ay, az)
                _write_flight(state, t, d, m, x, y, z, max(landing, t + lasts))
            break


@inlined
def _moved_with_wrist(
    state: SearchState, t: int, d: int, x: float, y: float, z: float, later: int
) -> tuple[float, float, float]:
    """Where its wrist takes a point of a digit until a later frame, m."""
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
def _best_grasp(state: SearchState, plans: Plans, t: int, h: int, landing: int, k: int) -> int:
    """Of some grasps of a hand, the one that carries the body for longest from a key frame.

    Returns its row of ``plans.grasps``, or -1 if none carries it.
    """
    path, data, chosen = state.path, state.data, plans.grasps
    has_thumb, num_taken = False, 0
    for d in range(path.mode.shape[1]):
        if path.mode[t, d] == HOLD or path.mode[t, d] == SLIDE:
            for i in range(3):
                plans.taken[num_taken, i] = path.target[t, d, i]
            num_taken += 1
        for row in range(chosen.shape[0]):
            chosen[row, d] = -1
        is_due = plans.schedule.start[t, d] - t <= _AHEAD * plans.flight
        if data.hand_of_digit[d] != h or not data.may_touch[landing, d] or is_due:
            continue
        total = 0.0
        for m in range(plans.sums.shape[0]):
            total += plans.appeal[0, d, k, m]
            plans.sums[m] = total
        if not total > 0.0:
            continue
        has_thumb = has_thumb or plans.is_thumb[d]
        for row in range(chosen.shape[0]):
            m = drawn_from(plans.dice, plans.sums)
            if plans.is_thumb[d] or roll(plans.dice) >= plans.leave_free:
                chosen[row, d] = m
    if not has_thumb:
        return -1
    score_grasps(state, chosen, k, plans.taken[:num_taken], plans.score)
    best = 0
    for row in range(chosen.shape[0]):
        if plans.score[row] > plans.score[best]:
            best = row
    return best if plans.score[best] > 0.0 else -1
