"""Constraints of an artist, turned into what the search reads: limits, candidates, schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.problem import Problem
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.geometry.distance.exact import ExactDistance
from handwright.methods.sampling.constraints.pins import Pinned, bind_pins, on_surface, pin_frames
from handwright.methods.sampling.constraints.preferences import frames_within
from handwright.methods.sampling.constraints.schedule import (
    PIN_TOLERANCE,
    DigitSchedule,
    empty_schedule,
    narrow_limits,
    with_start_frames,
    write_kept,
)
from handwright.methods.sampling.search.workspace import HOLD, Workspace
from handwright.methods.sampling.setup.candidates import Candidates, lifetimes
from handwright.methods.sampling.setup.hold_data import HoldData
from handwright.methods.sampling.setup.intervals import CarryInterval

if TYPE_CHECKING:
    from handwright.methods.sampling.method import ContactSampling


class Constraints(NamedTuple):
    """Pins and kept motions of one hold."""

    pins: list[Pinned]
    schedule: DigitSchedule
    """What digits must do by the kept motions."""
    kept: list[int]
    """Rows of the kept digits that touch the body when they are first kept."""
    point: Float[np.ndarray, "E 3"]
    """Points of the body that are asked for, those of pins first, m."""
    normal: Float[np.ndarray, "E 3"]
    """Outward normals of the body there."""
    frames: Int[np.ndarray, " F"]
    """Frames at which pins and kept motions begin and end."""


def check_names(problem: Problem, method: ContactSampling) -> None:
    """Refuses constraints on digits, hands or bodies that the problem does not have."""
    digits = [(hand, digit.name) for hand, model in problem.hands.items() for digit in model.digits]
    asked = [name for preference in method.preferences for name in preference.digits]
    asked += [name for rule in method.no_contact for name in rule.digits]
    asked += [name for region in method.grasp_regions for name in region.digits]
    for name in (*asked, *(pin.digit for pin in method.pins)):
        # Names are compared with those of their own kind, or no near one would be found.
        known = {f"{hand}.{digit}" if "." in name else digit for hand, digit in digits}
        if name not in known:
            raise UnknownNameError("digit", name, known)
    for region in method.grasp_regions:
        if region.body is not None and region.body not in problem.bodies:
            raise UnknownNameError("body in grasp_regions", region.body, problem.bodies)
    for fixed in method.fixed_joints:
        if fixed.hand not in problem.hands:
            raise UnknownNameError("hand in fixed_joints", fixed.hand, problem.hands)
    strange = {name for kept in method.kept for name in kept.body if name} - set(problem.bodies)
    strange |= {kept.hand for kept in method.kept} - set(problem.hands)
    if strange:
        raise InvalidValueError(
            f"What is kept concerns '{min(strange)}', which the problem '{problem.name}' does not "
            f"have; it has {', '.join([*problem.hands, *problem.bodies])}. Keep parts of a clip "
            "of the same problem."
        )


def limiting_settings(method: ContactSampling) -> str:
    """Names of the settings that keep digits from candidates, for messages; empty if none does."""
    names = ["no_contact", "forbidden", "grasp_regions", "fixed_joints"]
    names = [name for name in names if getattr(method, name)]
    return ", ".join([*names, "grasp_region"] if method.grasp_region != "anywhere" else names)


def digit_rows(interval: CarryInterval, names: tuple[str, ...]) -> list[int]:
    """Rows of named digits among those of all hands of a hold; all if no name is given.

    Digits of hands that take no part in the hold have none.
    """
    known = [
        (f"{hand}.{digit.name}", digit.name)
        for hand, model in interval.hands.items()
        for digit in model.digits
    ]
    if not names:
        return list(range(len(known)))
    return [row for name in names for row, pair in enumerate(known) if name in pair]


def limit_digits(
    data: HoldData, interval: CarryInterval, times: Float[np.ndarray, " T"], method: ContactSampling
) -> HoldData:
    """Narrows the limits of joints, and when digits may touch, as the method's settings ask.

    Raises:
        InvalidValueError: A joint is fixed outside its limits.
    """
    low, high, may_touch = data.low.copy(), data.high.copy(), data.may_touch.copy()
    for rule in method.no_contact:
        when = frames_within(times, rule.start, rule.end)
        for row in digit_rows(interval, rule.digits):
            may_touch[when, row] = False
    for fixed in method.fixed_joints:
        if fixed.hand not in interval.hands:
            continue
        shift = int(data.hands.offset[list(interval.hands).index(fixed.hand)])
        joint = shift + interval.hands[fixed.hand].joints.index(fixed.joint)
        when = frames_within(times, fixed.start, fixed.end)
        least, largest = float(data.hands.table.lower[joint]), float(data.hands.table.upper[joint])
        if not least <= fixed.angle <= largest:
            raise InvalidValueError(
                f"fixed_joints: {fixed.hand}.{fixed.joint} at {fixed.angle:g} rad; expected "
                f"{least:g} to {largest:g} rad, its limits."
            )
        low[when, joint] = high[when, joint] = fixed.angle
    data = data._replace(low=low, high=high, may_touch=may_touch)
    for kept in method.kept:
        for digit in digit_rows(interval, (f"{kept.hand}.{kept.digit}",)):
            data = narrow_limits(data, kept, digit, times)
    return data


def find_constraints(
    data: HoldData,
    interval: CarryInterval,
    times: Float[np.ndarray, " T"],
    method: ContactSampling,
    exact: ExactDistance,
) -> Constraints:
    """Finds the pins and kept motions that concern the frames of a search.

    Raises:
        InvalidValueError: A pin is away from the surface, or does not say which hand it is for.
    """
    pins = []
    for number, pin in enumerate(method.pins):
        frames, rows = pin_frames(pin, times), digit_rows(interval, (pin.digit,))
        if frames is None or not rows:
            continue
        if len(rows) > 1:
            raise InvalidValueError(
                f"Pin {number}: {len(rows)} hands have a digit {pin.digit!r}; expected one, such "
                f"as '{next(iter(interval.hands))}.{pin.digit}'."
            )
        pins.append(on_surface(number, pin, rows[0], frames, exact))
    schedule = empty_schedule(len(times), data.hands.table.free, len(data.hands.rest))
    for kept in method.kept:
        for d in digit_rows(interval, (f"{kept.hand}.{kept.digit}",)):
            shift = int(data.hands.offset[data.hands.hand_of_digit[d]])
            write_kept(schedule, kept, interval.body, d, shift, times)
    first = [int(schedule.is_kept[:, d].argmax()) for d in range(schedule.pin.shape[1])]
    rows = [
        d for d, t in enumerate(first) if schedule.is_kept[t, d] and schedule.mode[t, d] == HOLD
    ]
    point = [pin.point for pin in pins] + [schedule.target[first[d], d] for d in rows]
    normal = [pin.normal for pin in pins] + [schedule.normal[first[d], d] for d in rows]
    marks = {frame for pin in pins for frame in (pin.first, pin.last) if frame is not None}
    edges = np.flatnonzero(np.diff(schedule.is_kept.astype(np.int8), axis=0).any(axis=1))
    return Constraints(
        pins,
        schedule,
        rows,
        np.array(point).reshape(-1, 3),
        np.array(normal).reshape(-1, 3),
        np.unique([*marks, *edges, *(edges + 1)]).astype(np.int64),
    )


def apply_constraints(
    data: HoldData,
    work: Workspace,
    candidates: Candidates,
    constraints: Constraints,
    first_frame: int,
) -> tuple[Candidates, DigitSchedule, str]:
    """Leaves constrained digits no other candidates, and says which constraint cannot be met.

    The last candidates, for each point of the pad, are those of ``constraints``. Returned with
    candidates and schedule is a message, which is empty if all constraints can be met and calls
    frames by their numbers from ``first_frame`` on.
    """
    if not constraints.pins and not constraints.schedule.is_kept.any():
        return candidates, constraints.schedule, ""
    variants = data.pads.shape[1]
    count, extra = len(candidates.point) // variants, len(constraints.point)
    rows = [np.arange(variants) * count + count - extra + number for number in range(extra)]
    schedule, num_pins = constraints.schedule, len(constraints.pins)
    candidates, schedule, infeasibility = bind_pins(
        data, work, candidates, rows[:num_pins], constraints.pins, schedule, first_frame
    )
    if not infeasibility:
        candidates = _bind_kept(
            candidates, schedule, dict(zip(constraints.kept, rows[num_pins:], strict=True))
        )
    return candidates, schedule if infeasibility else with_start_frames(schedule), infeasibility


def _bind_kept(
    candidates: Candidates, schedule: DigitSchedule, rows: dict[int, Int[np.ndarray, " V"]]
) -> Candidates:
    """Leaves kept digits the one candidate at which they are first, while they are there."""
    cost, q = candidates.cost.copy(), candidates.q.copy()
    for d in np.flatnonzero(schedule.is_kept.any(axis=0)).tolist():
        own = schedule.free[d][schedule.free[d] >= 0]
        for k, t in enumerate(candidates.frame):
            if not schedule.is_kept[t, d]:
                continue
            cost[d, :, k] = np.inf
            if d not in rows or schedule.mode[t, d] != HOLD:
                continue
            row = rows[d][0]
            if np.linalg.norm(schedule.target[t, d] - candidates.point[row]) <= PIN_TOLERANCE:
                cost[d, row, k] = 0.0
                q[d, row, k, : len(own)] = schedule.q[t, own]
    return candidates._replace(cost=cost, q=q, life=lifetimes(cost))
