"""Points that an artist pins, among the places that the search may choose from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.errors import InvalidValueError
from handwright.geometry.distance.exact import ExactDistance
from handwright.kernels.decorators import compiled
from handwright.kernels.packed import Packed
from handwright.kinematics.ik.digit import IkWeights
from handwright.kinematics.tree import placed
from handwright.methods.sampling.constraints.preferences import Pin
from handwright.methods.sampling.constraints.schedule import Orders
from handwright.methods.sampling.search.frame import digit_depth, place_hands, pose_alone
from handwright.methods.sampling.search.workspace import Room
from handwright.methods.sampling.setup.candidates import Candidates, lifetimes
from handwright.methods.sampling.setup.hold_data import Stage

# A pin farther away from the surface is a mistake, m.
_OFF = 0.01
_MISS, _DEPTH = 1e-3, 1.2e-3
# Postures from which inverse kinematics tries to reach a pin that was not reached at once.
_STARTS = 12
_SAME_TIME = 1e-6


class Pinned(NamedTuple):
    """A pin of one holding."""

    number: int
    """Among all pins of the method."""
    text: str
    """How messages call it."""
    digit: int
    """Row among the digits of the holding."""
    point: np.ndarray
    """(3,) on the surface, m."""
    normal: np.ndarray
    """(3,) out of the body."""
    first: int
    """Frame of the search."""
    last: int | None
    """Frame of the search; None for as long as it goes."""


def pin_frames(pin: Pin, times: np.ndarray) -> tuple[int, int | None] | None:
    """First and last frame of a pin within the frames of a search, or None if there is none.

    Args:
        pin: The pin.
        times: Of the search, s.
    """
    within = times >= pin.start - _SAME_TIME
    if pin.end is not None:
        within &= times <= pin.end + _SAME_TIME
    frames = np.flatnonzero(within)
    if frames.size == 0:
        return None
    return int(frames[0]), None if pin.end is None else int(frames[-1])


def on_surface(
    number: int, pin: Pin, digit: int, frames: tuple[int, int | None], exact: ExactDistance
) -> Pinned:
    """A pin with its point brought to the surface."""
    distance, closest, _, outward = exact.signed_distance(np.array([pin.point], dtype=np.float64))
    text = f"Pin {number} ({pin.digit} at {tuple(round(float(x), 4) for x in pin.point)} m)"
    if abs(float(distance[0])) > _OFF:
        raise InvalidValueError(
            f"{text}: the point is {1e3 * abs(float(distance[0])):.0f} mm away from the surface of "
            f"the body; expected {1e3 * _OFF:.0f} mm at most. The nearest point of it is "
            f"{tuple(round(float(x), 4) for x in closest[0])} m, in the body's frame."
        )
    return Pinned(number, text, digit, closest[0], outward[0], *frames)


def bind_pins(
    stage: Stage,
    room: Room,
    candidates: Candidates,
    rows: list[np.ndarray],
    pins: list[Pinned],
    orders: Orders,
    first_frame: int,
) -> tuple[Candidates, Orders, str]:
    """Leaves pinned digits no other place, and says which pin is out of reach, if one is.

    Args:
        stage: Of the search.
        room: Memory.
        candidates: With the pinned points among their places.
        rows: For each pin its rows among the places, one for each point of the pad.
        pins: The pins.
        orders: To be changed.
        first_frame: Of the search, in the problem, for messages.

    Returns:
        Candidates, orders, and a message that is empty if all pins can be kept.
    """
    cost, q = candidates.cost.copy(), candidates.q.copy()
    spans = []
    for index, pin in enumerate(pins):
        keys = np.flatnonzero(candidates.frame >= pin.first)
        if pin.last is not None:
            keys = keys[candidates.frame[keys] <= pin.last]
        for k in keys.tolist():
            miss = _reach_once(stage, room, candidates, cost, q, pin, rows[index], k)
            if miss is None:
                continue
            if pin.last is not None or k == keys[0]:
                trouble = _out_of_reach(pin, stage, candidates, k, first_frame, miss)
                return candidates, orders, trouble
            break
        # A digit that holds keeps the point of its pad, so that one must do for the whole span.
        lasts = np.isfinite(cost[pin.digit][np.ix_(rows[index], keys)])
        bound = keys[: int(np.cumprod(lasts, axis=1).sum(axis=1).max())]
        last = pin.last
        if last is None:
            is_all = bound[-1] == len(candidates.frame) - 1
            last = orders.pin.shape[0] - 1 if is_all else int(candidates.frame[bound[-1]])
        elif len(bound) < len(keys):
            k = int(keys[len(bound)])
            return candidates, orders, (
                f"{pin.text} cannot be kept without lifting the digit: from frame "
                f"{first_frame + int(candidates.frame[k])} on only another part of its pad "
                "reaches the point. Let the pin end earlier, or make two of it with a gap."
            )  # fmt: skip
        cost[pin.digit][np.ix_(rows[index][~lasts[:, : len(bound)].all(axis=1)], bound)] = np.inf
        taken = orders.pin[pin.first : last + 1, pin.digit]
        if (taken >= 0).any():
            other = pins[int(taken.max())].text
            return candidates, orders, (
                f"{pin.text} and {other} want the same digit at frame "
                f"{first_frame + pin.first + int((taken >= 0).argmax())}. Let one end earlier."
            )  # fmt: skip
        orders.pin[pin.first : last + 1, pin.digit] = index
        spans.append((pin, rows[index], bound))
    for pin, own, held in spans:
        kept = cost[pin.digit][np.ix_(own, held)]
        cost[pin.digit][:, held] = np.inf
        cost[pin.digit][np.ix_(own, held)] = kept
    life = lifetimes(cost)
    for pin, _, held in spans:
        # Until then the pinned place is no better than others that last as long.
        ahead = held[0] - np.arange(held[0])
        life[pin.digit, :, : held[0]] = np.minimum(life[pin.digit, :, : held[0]], ahead)
    points = np.array([pin.point for pin in pins]).reshape(-1, 3)
    orders = orders._replace(
        point=points,
        first=np.array([pin.first for pin in pins], dtype=np.int64),
        is_lasting=np.array([pin.last is not None for pin in pins], dtype=bool),
    )
    return candidates._replace(cost=cost, q=q, life=life), orders, ""


def _out_of_reach(
    pin: Pinned, stage: Stage, places: Candidates, k: int, first_frame: int, miss: float
) -> str:
    t = int(places.frame[k])
    if not stage.may_touch[t, pin.digit]:
        return (
            f"{pin.text} cannot be kept at frame {first_frame + t}: no_contact sends the digit "
            "away then. Shorten one of the two."
        )
    return (
        f"{pin.text} is out of reach at frame {first_frame + t}: the digit misses it by "
        f"{1e3 * miss:.1f} mm. Move the point, bring the wrist nearer, or let the pin "
        + ("start at another time." if t == pin.first else "end earlier.")
    )


def _reach_once(
    stage: Stage,
    room: Room,
    places: Candidates,
    cost: np.ndarray,
    q: np.ndarray,
    pin: Pinned,
    rows: np.ndarray,
    k: int,
) -> float | None:
    """By how much a digit misses its pin at a key frame, m; None if it does not.

    What was not reached from the table of postures is tried from others, and written if it is.
    """
    d, t = pin.digit, int(places.frame[k])
    if np.isfinite(cost[d, rows, k]).any():
        return None
    if not stage.may_touch[t, d]:
        return np.inf
    free = stage.table.free[d]
    own = free[free >= 0]
    rng = np.random.default_rng(0)
    weights = stage.hold._replace(digits=0.0, max_iterations=40, polish=1e-9)
    packed = [Packed(thing) for thing in (stage, room, weights)]
    least = np.inf
    for number in range(_STARTS):
        for variant, row in enumerate(rows):
            if stage.pad_links[d, variant] < 0:
                continue
            values = stage.rest.copy()
            share = rng.random(len(own))
            if number > 0:
                values[own] = stage.low[t, own] + share * (stage.high[t, own] - stage.low[t, own])
            miss, depth = _brought(*packed, t, d, variant, pin.point, pin.normal, values)
            if miss < _MISS and depth < _DEPTH:
                reach = np.maximum(stage.table.upper[own] - stage.table.lower[own], 0.2)
                cost[d, row, k] = float((((values[own] - stage.rest[own]) / reach) ** 2).sum())
                q[d, row, k, : len(own)] = values[own]
                return None
            least = min(least, miss + depth)
    return least


@compiled
def _brought(
    stage: Stage,
    room: Room,
    weights: IkWeights,
    t: int,
    d: int,
    variant: int,
    point: np.ndarray,
    normal: np.ndarray,
    q: np.ndarray,
) -> tuple[float, float]:
    """Brings a point of a pad near a place; returns by how much it misses and sinks in, m."""
    place_hands(stage, t, q, room.now)
    local = stage.pads[d, variant]
    pose_alone(stage, t, d, stage.pad_link[d], local, q, point, normal, stage.rest, weights, room)
    x, y, z = placed(room.now, stage.pad_link[d], local[0], local[1], local[2])
    miss = np.sqrt((x - point[0]) ** 2 + (y - point[1]) ** 2 + (z - point[2]) ** 2)
    return miss, digit_depth(stage, t, d, room)
