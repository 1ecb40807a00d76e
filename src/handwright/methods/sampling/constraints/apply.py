"""The wishes of an artist, put into what the search reads: limits, places and orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from handwright.core.hand import HandModel
from handwright.core.kept import KeptDigit
from handwright.errors import InvalidValueError
from handwright.geometry.distance.exact import ExactDistance
from handwright.methods.sampling.constraints.kept import narrow_limits, write_kept
from handwright.methods.sampling.constraints.pins import Pinned, bind_pins, on_surface, pin_frames
from handwright.methods.sampling.constraints.preferences import frames_within
from handwright.methods.sampling.constraints.schedule import (
    PIN_TOLERANCE,
    Orders,
    no_orders,
    with_starts,
)
from handwright.methods.sampling.search.workspace import HOLD, Room
from handwright.methods.sampling.setup.candidates import Candidates, lifetimes
from handwright.methods.sampling.setup.hands_as_one import HandsAsOne
from handwright.methods.sampling.setup.hold_data import Stage
from handwright.methods.sampling.setup.intervals import Holding

if TYPE_CHECKING:
    from handwright.methods.sampling.method import ContactSampling


class Wishes(NamedTuple):
    """Pins and kept motions of one holding."""

    pins: list[Pinned]
    orders: Orders
    """With the kept motions."""
    kept: list[int]
    """Rows of the kept digits that touch the body when they are first kept."""
    point: np.ndarray
    """(E, 3) places that are asked for, of pins first, m."""
    normal: np.ndarray
    """(E, 3) out of the body."""
    frames: np.ndarray
    """At which orders begin and end."""


def digit_rows(
    holding: Holding, models: tuple[HandModel, ...], names: tuple[str, ...]
) -> list[int]:
    """Rows of named digits among those of all hands of a holding; all if no name is given.

    Digits of hands that take no part in the holding have none.
    """
    known = [
        (f"{hand}.{digit.name}", digit.name)
        for hand, model in zip(holding.hands, models, strict=True)
        for digit in model.digits
    ]
    if not names:
        return list(range(len(known)))
    return [row for name in names for row, pair in enumerate(known) if name in pair]


def apply_limits(
    stage: Stage,
    hands: HandsAsOne,
    holding: Holding,
    models: tuple[HandModel, ...],
    times: np.ndarray,
    method: ContactSampling,
) -> None:
    """Changes the limits of joints, and where digits may touch, as the method's settings ask."""
    for rule in method.no_contact:
        when = frames_within(times, rule.start, rule.end)
        for row in digit_rows(holding, models, rule.digits):
            stage.may_touch[when, row] = False
    for fixed in method.fixed_joints:
        if fixed.hand not in holding.hands:
            continue
        h = holding.hands.index(fixed.hand)
        joint = int(stage.offset[h]) + models[h].joints.index(fixed.joint)
        when = frames_within(times, fixed.start, fixed.end)
        low, high = float(hands.table.lower[joint]), float(hands.table.upper[joint])
        if not low <= fixed.angle <= high:
            raise InvalidValueError(
                f"fixed_joints: {fixed.hand}.{fixed.joint} at {fixed.angle:g} rad; expected "
                f"{low:g} to {high:g} rad, its limits."
            )
        stage.low[when, joint] = fixed.angle
        stage.high[when, joint] = fixed.angle


def narrow_kept(
    stage: Stage,
    holding: Holding,
    models: tuple[HandModel, ...],
    times: np.ndarray,
    method: ContactSampling,
    slack: float,
) -> Stage:
    """The stage with narrower limits for joints of kept digits.

    Args:
        stage: Of the holding.
        holding: Who holds what.
        models: Its hands.
        times: Of the stage, s.
        method: Settings.
        slack: That is left around the kept values, rad.
    """
    stage = stage._replace(low=stage.low.copy(), high=stage.high.copy())
    for kept in method.kept:
        d = _kept_row(kept, holding, models)
        if d is not None:
            free = stage.table.free[d]
            shift = int(stage.offset[stage.hand_of_digit[d]])
            narrow_limits(stage, kept, shift, free[free >= 0], times, slack)
    return stage


def _kept_row(kept: KeptDigit, holding: Holding, models: tuple[HandModel, ...]) -> int | None:
    if kept.hand not in holding.hands:
        return None
    return digit_rows(holding, models, (f"{kept.hand}.{kept.digit}",))[0]


def find_wishes(
    stage: Stage,
    holding: Holding,
    models: tuple[HandModel, ...],
    times: np.ndarray,
    method: ContactSampling,
    exact: ExactDistance,
) -> Wishes:
    """Pins and kept motions that concern the frames of a search.

    Args:
        stage: Of the search.
        holding: Who holds what.
        models: Its hands.
        times: Of the search, s.
        method: Settings.
        exact: Surface of the body.
    """
    pins = []
    for number, pin in enumerate(method.pins):
        hand = pin.digit.partition(".")[0] if "." in pin.digit else None
        frames = pin_frames(pin, times)
        if frames is None or (hand is not None and hand not in holding.hands):
            continue
        rows = digit_rows(holding, models, (pin.digit,))
        if not rows:
            continue
        if len(rows) > 1:
            raise InvalidValueError(
                f"Pin {number}: {len(rows)} hands have a digit {pin.digit!r}; expected one, such "
                f"as '{holding.hands[0]}.{pin.digit}'."
            )
        pins.append(on_surface(number, pin, rows[0], frames, exact))
    orders = no_orders(len(times), stage.table.free, len(stage.rest))
    rows = []
    for kept in method.kept:
        d = _kept_row(kept, holding, models)
        if d is not None:
            shift = int(stage.offset[stage.hand_of_digit[d]])
            write_kept(orders, kept, holding.body, d, shift, times)
    first = [int(orders.is_kept[:, d].argmax()) for d in range(orders.pin.shape[1])]
    rows = [d for d, t in enumerate(first) if orders.is_kept[t, d] and orders.mode[t, d] == HOLD]
    point = [pin.point for pin in pins] + [orders.target[first[d], d] for d in rows]
    normal = [pin.normal for pin in pins] + [orders.normal[first[d], d] for d in rows]
    marks = {frame for pin in pins for frame in (pin.first, pin.last) if frame is not None}
    edges = np.flatnonzero(np.diff(orders.is_kept.astype(np.int8), axis=0).any(axis=1))
    return Wishes(
        pins,
        orders,
        rows,
        np.array(point).reshape(-1, 3),
        np.array(normal).reshape(-1, 3),
        np.unique([*marks, *edges, *(edges + 1)]).astype(np.int64),
    )


def obey(
    stage: Stage, room: Room, places: Candidates, wishes: Wishes, first_frame: int
) -> tuple[Candidates, Orders, str]:
    """Leaves digits with orders no other places, and says which order cannot be kept.

    Args:
        stage: Of the search.
        room: Memory.
        places: Candidates, the last of which, for each point of the pad, are those of ``wishes``.
        wishes: Of the holding.
        first_frame: Of the search, in the problem, for messages.

    Returns:
        Candidates, orders, and a message that is empty if all is well.
    """
    if not wishes.pins and not wishes.orders.is_kept.any():
        return places, wishes.orders, ""
    variants = stage.pads.shape[1]
    count, extra = len(places.point) // variants, len(wishes.point)
    rows = [np.arange(variants) * count + count - extra + number for number in range(extra)]
    orders, num_pins = wishes.orders, len(wishes.pins)
    places, orders, trouble = bind_pins(
        stage, room, places, rows[:num_pins], wishes.pins, orders, first_frame
    )
    if not trouble:
        places = _bind_kept(places, orders, dict(zip(wishes.kept, rows[num_pins:], strict=True)))
    return places, orders if trouble else with_starts(orders), trouble


def _bind_kept(places: Candidates, orders: Orders, rows: dict[int, np.ndarray]) -> Candidates:
    """Kept digits know the one place at which they are first, for as long as they are there."""
    cost, q = places.cost.copy(), places.q.copy()
    for d in np.flatnonzero(orders.is_kept.any(axis=0)).tolist():
        own = orders.free[d][orders.free[d] >= 0]
        for k, t in enumerate(places.frame):
            if not orders.is_kept[t, d]:
                continue
            cost[d, :, k] = np.inf
            if d not in rows or orders.mode[t, d] != HOLD:
                continue
            row = rows[d][0]
            if np.linalg.norm(orders.target[t, d] - places.point[row]) <= PIN_TOLERANCE:
                cost[d, row, k] = 0.0
                q[d, row, k, : len(own)] = orders.q[t, own]
    return places._replace(cost=cost, q=q, life=lifetimes(cost))
