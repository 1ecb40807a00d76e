"""Constraints of an artist, turned into what the search reads: limits, candidates, schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.clip import KeptDigit
from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.geometry.distance.exact import ExactDistance
from handwright.methods.sampling.constraints.kept import (
    SLACK,
    narrow_limits,
    write_kept,
)
from handwright.methods.sampling.constraints.pins import Pinned, bind_pins, on_surface, pin_frames
from handwright.methods.sampling.constraints.preferences import frames_within
from handwright.methods.sampling.constraints.schedule import (
    PIN_TOLERANCE,
    DigitSchedule,
    empty_schedule,
    with_start_frames,
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


def digit_rows(
    interval: CarryInterval, models: tuple[HandModel, ...], names: tuple[str, ...]
) -> list[int]:
    """Rows of named digits among those of all hands of a hold; all if no name is given.

    Digits of hands that take no part in the hold have none.
    """
    known = [
        (f"{hand}.{digit.name}", digit.name)
        for hand, model in zip(interval.hands, models, strict=True)
        for digit in model.digits
    ]
    if not names:
        return list(range(len(known)))
    return [row for name in names for row, pair in enumerate(known) if name in pair]


def limit_digits(
    data: HoldData,
    interval: CarryInterval,
    models: tuple[HandModel, ...],
    times: Float[np.ndarray, " T"],
    method: ContactSampling,
) -> HoldData:
    """Narrows the limits of joints, and when digits may touch, as the method's settings ask.

    Args:
        data: The hold.
        interval: Which hands carry which body.
        models: Models of these hands.
        times: Times of the frames of the hold, s.
        method: Settings.

    Raises:
        InvalidValueError: A joint is fixed outside its limits.
    """
    low, high, may_touch = data.low.copy(), data.high.copy(), data.may_touch.copy()
    for rule in method.no_contact:
        when = frames_within(times, rule.start, rule.end)
        for row in digit_rows(interval, models, rule.digits):
            may_touch[when, row] = False
    for fixed in method.fixed_joints:
        if fixed.hand not in interval.hands:
            continue
        h = interval.hands.index(fixed.hand)
        joint = int(data.offset[h]) + models[h].joints.index(fixed.joint)
        when = frames_within(times, fixed.start, fixed.end)
        least, largest = float(data.table.lower[joint]), float(data.table.upper[joint])
        if not least <= fixed.angle <= largest:
            raise InvalidValueError(
                f"fixed_joints: {fixed.hand}.{fixed.joint} at {fixed.angle:g} rad; expected "
                f"{least:g} to {largest:g} rad, its limits."
            )
        low[when, joint] = high[when, joint] = fixed.angle
    data = data._replace(low=low, high=high, may_touch=may_touch)
    for kept in method.kept:
        digit = _kept_row(kept, interval, models)
        if digit is not None:
            data = narrow_limits(data, kept, digit, times, SLACK)
    return data


def _kept_row(
    kept: KeptDigit, interval: CarryInterval, models: tuple[HandModel, ...]
) -> int | None:
    if kept.hand not in interval.hands:
        return None
    return digit_rows(interval, models, (f"{kept.hand}.{kept.digit}",))[0]


def find_constraints(
    data: HoldData,
    interval: CarryInterval,
    models: tuple[HandModel, ...],
    times: np.ndarray,
    method: ContactSampling,
    exact: ExactDistance,
) -> Constraints:
    """Finds the pins and kept motions that concern the frames of a search.

    Args:
        data: The frames of the search.
        interval: Which hands carry which body.
        models: Models of these hands.
        times: Times of the search, s.
        method: Settings.
        exact: Surface of the body.

    Raises:
        InvalidValueError: A pin is away from the surface, or does not say which hand it is for.
    """
    pins = []
    for number, pin in enumerate(method.pins):
        hand = pin.digit.partition(".")[0] if "." in pin.digit else None
        frames = pin_frames(pin, times)
        if frames is None or (hand is not None and hand not in interval.hands):
            continue
        rows = digit_rows(interval, models, (pin.digit,))
        if not rows:
            continue
        if len(rows) > 1:
            raise InvalidValueError(
                f"Pin {number}: {len(rows)} hands have a digit {pin.digit!r}; expected one, such "
                f"as '{interval.hands[0]}.{pin.digit}'."
            )
        pins.append(on_surface(number, pin, rows[0], frames, exact))
    schedule = empty_schedule(len(times), data.table.free, len(data.rest))
    for kept in method.kept:
        d = _kept_row(kept, interval, models)
        if d is not None:
            shift = int(data.offset[data.hand_of_digit[d]])
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

    Args:
        data: The frames of the search.
        work: Scratch memory.
        candidates: The last of them, for each point of the pad, are those of ``constraints``.
        constraints: Pins and kept motions.
        first_frame: First frame of the search in the problem, for messages.

    Returns:
        Candidates, schedule, and a message that is empty if all constraints can be met.
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
    candidates: Candidates, schedule: DigitSchedule, rows: dict[int, np.ndarray]
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
