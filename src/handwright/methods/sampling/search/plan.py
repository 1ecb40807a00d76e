"""What digits do next: strategies for a window of frames, drawn among those that forces allow.

Ye & Liu 2012, sections 4.2 and 5. Past the paper, the plan looks ahead: a contact that is about to
leave the digit's reach is given up while others can carry the load, and candidates that stay within
reach are preferred. The draws are compiled, because there are several for every window.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from jaxtyping import Float

from handwright.kernels.decorators import compiled, inlined, kernel, linked
from handwright.kernels.packed import Packed
from handwright.kernels.rng import roll, shuffle
from handwright.methods.sampling.constraints.schedule import ROLLED, DigitSchedule
from handwright.methods.sampling.search.carrying import (
    UNKNOWN,
    YES,
    can_carry_without,
    can_keep_contact,
    count_carried_horizons,
)
from handwright.methods.sampling.search.flights import (
    SCHEDULE_AHEAD,
    flight_frames,
    next_key_frame,
    plan_flight,
    plan_whole_grasp,
    squared_distance,
)
from handwright.methods.sampling.search.policy import PlanData, Policy, make_plan_data
from handwright.methods.sampling.search.step import IDLE_LOAD, SearchState, pad_position
from handwright.methods.sampling.search.workspace import FLY, FREE, HOLD, SLIDE, Path, copy_motion
from handwright.methods.sampling.setup.candidates import Candidates

# Share of the friction from which a contact counts as on its cone.
_ON_CONE = 0.9
# Number of digits of a hand that may be in the air at the same time.
_MOST_FLYING = 2
# Number of plans that are drawn, at most, until one can carry the body at all horizons.
_DRAWS = 6
# The one of them in which a hand that is off the body comes with a whole grasp.
_WHOLE_GRASP_DRAW = 1
# The one of the horizons that digits must keep their contacts for.
_ONE_AHEAD = 1
# Frames until the next plan where this one does not carry the body for long.
_SHORT_WINDOW = 4
# Share of the friction with which plans are looked at ahead.
_SPARE = 0.8
# Number of loaded digits that stay still while one slides.
_LEAST_STILL = 2
# Probability that a digit sets out early for its next scheduled contact.
_EARLY = 0.2
# Distance of a contact from that of a guide of weight 1, m, from which a digit wants to follow, and
# with what probability it then does.
_STRAYED, _FOLLOWING = 0.010, 0.8
# Number of digits that hold the body without one that comes to help.
_ENOUGH = 3

Forced: TypeAlias = dict[int, "np.ndarray | None"]


class Planner:
    """Draws plans into the rows of a path."""

    def __init__(self, state: SearchState, policy: Policy, rng: np.random.Generator) -> None:
        self._path, self._state = state.path, Packed(state)
        appeal = candidate_appeal(state.candidates, policy.comfort, policy.lasting)
        self.appeal = appeal * policy.favour
        """(D, M, K) how much digits prefer candidates at key frames."""
        self._plan = make_plan_data(state.data, state.candidates, policy, self.appeal, rng)
        self._packed = Packed(self._plan)

    def draw(self, t: int, forced: Forced) -> bool:
        """Draws a strategy for every digit, for the window that starts at frame ``t``.

        Row t of the path then holds the plan. Digits that are forced must leave their contacts,
        each with a point to keep away from; returns whether all of them can.
        """
        moves = self._plan.forced
        moves.is_forced[:] = moves.avoids_point[:] = False
        for d, avoided_point in forced.items():
            moves.is_forced[d] = True
            if avoided_point is not None:
                moves.avoids_point[d] = True
                moves.avoided_point[d] = avoided_point
        return bool(draw_plan(self._state, self._packed, t))

    def copy_row(self, t: int) -> list[np.ndarray]:
        """Copies the plan of row t."""
        return [column[t].copy() for column in self._columns()]

    def write_row(self, t: int, plan: list[np.ndarray]) -> None:
        """Writes a copied plan to row t."""
        for column, values in zip(self._columns(), plan, strict=True):
            column[t] = values

    def _columns(self) -> tuple[np.ndarray, ...]:
        path = self._path
        flight = (path.fly_begin, path.fly_end, path.fly_candidate, path.fly_pad, path.fly_from)
        return (path.mode, path.window_end, path.slide, *flight, path.fly_goal, path.fly_normal)

    def aims(self, t: int) -> Float[np.ndarray, "D 3"]:
        """Where the digits will be by the plan of row t, m: what makes plans differ."""
        path = self._path
        aim = path.target[t].copy()
        length = path.window_end[t] - t
        sliding, flying = path.mode[t] == SLIDE, path.mode[t] == FLY
        aim[sliding] += length * path.slide[t][sliding]
        aim[flying] = path.fly_goal[t][flying]
        return aim


def candidate_appeal(
    candidates: Candidates, comfort: float, lasting: float
) -> Float[np.ndarray, "D M K"]:
    """How much digits prefer candidates: those that are comfortable and stay within reach."""
    most = np.maximum(candidates.life.max(axis=1, keepdims=True), 1)
    return np.where(
        np.isfinite(candidates.cost),
        np.exp(-comfort * np.where(np.isfinite(candidates.cost), candidates.cost, 0.0))
        * (candidates.life / most) ** lasting,
        0.0,
    )


@compiled
def draw_plan(state: SearchState, plan: PlanData, t: int) -> bool:
    """Draws a strategy for every digit, for the window that starts at frame ``t``.

    Several plans are drawn if need be, each with more digits that come to help, and the one is
    kept in row t of the path that can carry the body for longest. Returns whether all digits that
    must leave their contacts can.
    """
    path, scratch, keys = state.path, plan.scratch, state.candidates.frame
    count, last = plan.horizons.shape[0], path.mode.shape[0] - 1
    for h in range(count):
        scratch.frames[h] = min(t + plan.horizons[h], last)
        scratch.keys[h] = next_key_frame(keys, scratch.frames[h])
        for d in range(scratch.keeps.shape[0]):
            scratch.keeps[d, h] = UNKNOWN
    most = -1
    for eagerness in range(_DRAWS if plan.policy.look_ahead > 0 else 1):
        _draw_once(state, plan, t, eagerness)
        lasts = count_carried_horizons(
            state, t, scratch.frames, scratch.keys, scratch.keeps, _SPARE
        )
        if lasts > most:
            most = lasts
            _copy_plan(path, t, scratch.best, 0)
        if lasts == count:
            break
    _copy_plan(scratch.best, 0, path, t)
    if most < count and plan.policy.look_ahead > 0:
        # The body will not be carried for long: plan again soon.
        path.window_end[t] = min(path.window_end[t], t + _SHORT_WINDOW)
    for d in range(plan.forced.is_forced.shape[0]):
        if plan.forced.is_forced[d] and (path.mode[t, d] == HOLD or path.mode[t, d] == SLIDE):
            return False
    return True


@kernel
def _copy_plan(source: Path, row: int, goal: Path, to: int) -> None:
    """Copies what ``Planner.copy_row`` copies from a row of one path to a row of another."""
    goal.window_end[to] = source.window_end[row]
    for d in range(goal.mode.shape[1]):
        goal.mode[to, d] = source.mode[row, d]
        copy_motion(source, row, goal, to, d)


@linked
def _draw_once(state: SearchState, plan: PlanData, t: int, eagerness: int) -> None:
    """Draws one plan; the larger ``eagerness``, the more digits come to the body."""
    path, digits, last = state.path, state.path.mode.shape[1], state.path.mode.shape[0] - 1
    end = t + 1 + int(roll(plan.dice) * max(2 * plan.policy.window - 1, 1))
    for d in range(digits):
        path.mode[t, d] = path.reached[t, d]
        plan.scratch.is_away[d] = path.mode[t, d] == FREE or path.mode[t, d] == FLY
    for d in range(digits):
        plan.scratch.departures[d] = _departure_frame(state, plan, t, d)
        if plan.scratch.departures[d] > t:
            end = min(end, plan.scratch.departures[d])
    if plan.policy.guide.weight > 0.0:
        end = _next_change(plan, t, end)
    path.window_end[t] = min(end, last)
    if eagerness == _WHOLE_GRASP_DRAW:
        plan_whole_grasp(state, plan, t)
    shuffle(plan.dice, plan.scratch.planning_order, digits)
    for n in range(digits):
        d = plan.scratch.planning_order[n]
        mode = path.mode[t, d]
        if _follows_schedule(plan.policy.schedule, path, t, d):
            path.mode[t, d] = HOLD if mode == SLIDE else mode
        elif plan.scratch.departures[d] <= t:
            _depart_on_schedule(state, plan, t, d)
        elif mode == FREE:
            _plan_free_digit(state, plan, t, d, eagerness)
        elif mode != FLY:
            _plan_touching_digit(state, plan, t, d)


@inlined
def _follows_schedule(schedule: DigitSchedule, path: Path, t: int, d: int) -> bool:
    """Whether a digit is scheduled in the next frame and is where it should be then."""
    if path.mode[t, d] == FREE:
        return False
    following = min(t + 1, path.mode.shape[0] - 1)
    if schedule.is_pinned[following, d] or schedule.is_kept[following, d]:
        return True
    pin = schedule.pin[following, d]
    if pin < 0 or path.reached[t, d] != HOLD:
        return False
    return np.sqrt(squared_distance(path.target[t, d], schedule.point[pin])) <= ROLLED


@kernel
def _departure_frame(state: SearchState, plan: PlanData, t: int, d: int) -> int:
    """Latest frame at which a digit must leave for its next scheduled contact.

    It is after the last frame if none is scheduled.
    """
    path, schedule = state.path, plan.policy.schedule
    frames, start = path.mode.shape[0], schedule.start[t, d]
    if start >= frames:
        return frames
    if start - t > SCHEDULE_AHEAD * plan.policy.flight:
        return start - SCHEDULE_AHEAD * plan.policy.flight
    pin = schedule.pin[start, d]
    if pin < 0:
        return start - plan.policy.flight
    goal = schedule.point[pin]
    # A digit that is there already need not move.
    if path.mode[t, d] == HOLD and squared_distance(path.target[t, d], goal) == 0.0:
        return frames
    position = pad_position(state, t, d, 0)
    return start - max(plan.policy.flight, flight_frames(plan, goal, position))


@kernel
def _depart_on_schedule(state: SearchState, plan: PlanData, t: int, d: int) -> None:
    """Sends a digit to its next scheduled contact, if the others can carry the body meanwhile."""
    path = state.path
    if path.mode[t, d] == FLY:
        return
    if path.mode[t, d] == FREE:
        plan_flight(state, plan, t, d, False)
        return
    plan.scratch.is_away[d] = True
    if _can_spare(state, plan, t):
        plan_flight(state, plan, t, d, False)
        return
    plan.scratch.is_away[d] = False
    path.mode[t, d] = HOLD


@kernel
def _can_spare(state: SearchState, plan: PlanData, t: int) -> bool:
    """Whether digits that hold, without those that slide or are away, can carry for a flight."""
    for d in range(plan.scratch.is_away.shape[0]):
        plan.scratch.is_spared[d] = plan.scratch.is_away[d] or state.path.mode[t, d] == SLIDE
    return can_carry_without(state, t, t + plan.policy.flight, plan.scratch.is_spared)


@inlined
def _may_fly(state: SearchState, t: int, d: int, most: int) -> bool:
    """Whether fewer than ``most`` digits of a digit's hand are on a flight."""
    hand, flying = state.data.hands.hand_of_digit, 0
    for e in range(hand.shape[0]):
        if hand[e] == hand[d] and state.path.mode[t, e] == FLY:
            flying += 1
    return flying < most


@kernel
def _plan_free_digit(state: SearchState, plan: PlanData, t: int, d: int, eagerness: int) -> None:
    """Lets a free digit come to the body, if others of its hand, or its thumb, do so too."""
    path, data = state.path, state.data
    hand, is_led = data.hands.hand_of_digit, plan.policy.look_ahead == 0
    for e in range(hand.shape[0]):
        if hand[e] != hand[d]:
            continue
        mode = path.mode[t, e]
        # No digit has to lead where the thumb may not touch, nor in the plain search.
        leads = plan.is_thumb[e] and (mode == FLY or not data.may_touch[t, e])
        is_led = is_led or mode in (HOLD, SLIDE) or leads
    if not is_led:
        return
    land = plan.policy.land[t, d]
    chance = land + eagerness * (plan.policy.help[t, d] - land) / _DRAWS
    is_wanted = data.may_touch[t, d] and roll(plan.dice) < chance
    if (
        is_wanted
        and not plan.forced.is_forced[d]
        and _may_fly(state, t, d, _MOST_FLYING + eagerness)
    ):
        plan_flight(state, plan, t, d, False)


@inlined
def _next_change(plan: PlanData, t: int, end: int) -> int:
    """First frame before ``end`` at which a digit sets out if it does so with the guide's."""
    touches, flight = plan.policy.guide.touches, plan.policy.flight
    last = touches.shape[0] - 1
    for s in range(t + 1, end):
        for d in range(touches.shape[1]):
            if touches[min(s + flight, last), d] != touches[min(t + flight, last), d]:
                return s
    return end


@inlined
def _wants_to_follow(plan: PlanData, path: Path, t: int, d: int) -> bool:
    """Whether a digit wants to leave its contact because that of the guide has, or will have."""
    guide = plan.policy.guide
    then = min(t + plan.policy.flight, guide.touches.shape[0] - 1)
    chance = _FOLLOWING * min(guide.weight, 1.0)
    if guide.touches[then, d]:
        away = guide.weight * squared_distance(path.target[t, d], guide.point[then, d])
        return away > _STRAYED**2 and roll(plan.dice) < chance
    # A digit that helps those that the guide holds with stays while they are few.
    others = 0
    for e in range(path.mode.shape[1]):
        others += e != d and (path.mode[t, e] == HOLD or path.mode[t, e] == SLIDE)
    return others >= _ENOUGH and roll(plan.dice) < chance


@kernel
def _plan_touching_digit(state: SearchState, plan: PlanData, t: int, d: int) -> None:
    """Lets a digit that touches the body leave, slide or hold it."""
    path, last = state.path, state.path.mode.shape[0] - 1
    later = min(t + plan.policy.look_ahead, last)
    must_go = plan.forced.is_forced[d] or not state.data.may_touch[later, d]
    if not must_go and plan.policy.look_ahead > 0:
        if plan.scratch.keeps[d, _ONE_AHEAD] == UNKNOWN:
            plan.scratch.keeps[d, _ONE_AHEAD] = can_keep_contact(state, t, d, later)
        must_go = plan.scratch.keeps[d, _ONE_AHEAD] != YES
    chance = roll(plan.dice)
    is_idle = path.load[t, d] < IDLE_LOAD
    wants_away = is_idle and chance < plan.policy.relocate[t, d]
    if plan.policy.schedule.start[t, d] - t <= SCHEDULE_AHEAD * plan.policy.flight:
        wants_away = wants_away or roll(plan.dice) < _EARLY
    if plan.policy.guide.weight > 0.0:
        wants_away = wants_away or _wants_to_follow(plan, path, t, d)
    if (must_go or wants_away) and _may_fly(state, t, d, _MOST_FLYING):
        plan.scratch.is_away[d] = True
        if _can_spare(state, plan, t) and plan_flight(
            state, plan, t, d, plan.forced.avoids_point[d]
        ):
            return
        plan.scratch.is_away[d] = False
    path.mode[t, d] = HOLD
    # Kinetic friction leaves no choice of forces; others that do not slide must have one.
    still = 0
    for e in range(path.mode.shape[1]):
        still += e != d and path.mode[t, e] == HOLD and path.load[t, e] >= IDLE_LOAD
    is_on_cone = path.ratio[t, d] > _ON_CONE and not is_idle and still >= _LEAST_STILL
    if is_on_cone and chance < plan.policy.slide[t, d]:
        held = can_carry_without(state, t, t, plan.scratch.is_away)
        path.mode[t, d] = SLIDE
        speed = plan.policy.slide_step * (0.3 + 0.7 * roll(plan.dice))
        for i in range(3):
            path.slide[t, d, i] = speed * path.pull[t, d, i]
        # If the guiding points cannot carry the body anyway, the rest of the hand does.
        if held and not can_carry_without(state, t, t, plan.scratch.is_away):
            path.mode[t, d] = HOLD
