"""Points that an artist pins, among the candidates that the search may choose from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.errors import InvalidValueError
from handwright.geometry.distance.exact import ExactDistance
from handwright.kernels.decorators import compiled
from handwright.kernels.packed import Packed
from handwright.kinematics.ik.problem import IkWeights
from handwright.methods.sampling.constraints.preferences import Pin
from handwright.methods.sampling.constraints.schedule import DigitSchedule
from handwright.methods.sampling.search.posing import (
    digit_depth,
    place_hands,
    pose_alone,
    set_touching_point,
)
from handwright.methods.sampling.search.workspace import Workspace
from handwright.methods.sampling.setup.candidates import Candidates, lifetimes
from handwright.methods.sampling.setup.hold_data import HoldData
from handwright.methods.sampling.setup.limits import CANDIDATE_DEPTH, CANDIDATE_MISS

# A pin that is farther away from the surface than this, m, is a mistake.
_MOST_OFF_SURFACE = 0.01
# Number of postures from which inverse kinematics tries to reach a pin that is not reached at once.
_STARTS = 12
_SAME_TIME = 1e-6


class Pinned(NamedTuple):
    """A pin of one hold."""

    number: int
    """Number among all pins of the method."""
    text: str
    """How messages call the pin."""
    digit: int
    """Row among the digits of the hold."""
    point: Float[np.ndarray, " 3"]
    """On the surface, m."""
    normal: Float[np.ndarray, " 3"]
    """Outward normal of the body there."""
    first: int
    """First frame of the search that it is for."""
    last: int | None
    """Last frame of the search that it is for; None for as long as the digit reaches it."""


class _PinnedReach(NamedTuple):
    """What digits reach, to which pins add what they find."""

    data: HoldData
    work: Workspace
    candidates: Candidates
    """Cost and joint values are written."""
    first_frame: int
    """First frame of the search in the problem, for messages."""


def pin_frames(pin: Pin, times: Float[np.ndarray, " T"]) -> tuple[int, int | None] | None:
    """First and last frame of a pin within the frames of a search, or None if there is none."""
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
    """Brings the point of a pin to the surface.

    Raises:
        InvalidValueError: The point is far away from the surface.
    """
    distance, closest, _, outward = exact.signed_distance(np.array([pin.point], dtype=np.float64))
    text = f"Pin {number} ({pin.digit} at {tuple(round(float(x), 4) for x in pin.point)} m)"
    if abs(float(distance[0])) > _MOST_OFF_SURFACE:
        raise InvalidValueError(
            f"{text}: the point is {1e3 * abs(float(distance[0])):.0f} mm away from the surface of "
            f"the body; expected {1e3 * _MOST_OFF_SURFACE:.0f} mm at most. The nearest point of "
            f"it is {tuple(round(float(x), 4) for x in closest[0])} m, in the body's frame."
        )
    return Pinned(number, text, digit, closest[0], outward[0], *frames)


def bind_pins(
    data: HoldData,
    work: Workspace,
    candidates: Candidates,
    rows: list[Int[np.ndarray, " V"]],
    pins: list[Pinned],
    schedule: DigitSchedule,
    first_frame: int,
) -> tuple[Candidates, DigitSchedule, str]:
    """Leaves pinned digits no other candidates, and says which pin is out of reach, if one is.

    Each pin has ``rows`` among the candidates, one for each point of the pad. Returned with
    candidates and schedule is a message, which is empty if all pins can be kept and calls frames
    by their numbers from ``first_frame`` on.
    """
    cost, q = candidates.cost.copy(), candidates.q.copy()
    reach = _PinnedReach(data, work, candidates._replace(cost=cost, q=q), first_frame)
    pinned, spans = schedule.pin.copy(), []
    for index, pin in enumerate(pins):
        span = _find_span(reach, pin, rows[index], len(pinned))
        if isinstance(span, str):
            return candidates, schedule, span
        keys, last = span
        taken = pinned[pin.first : last + 1, pin.digit]
        if (taken >= 0).any():
            other = pins[int(taken.max())].text
            clash = first_frame + pin.first + int((taken >= 0).argmax())
            text = f"{pin.text} and {other} want the same digit at frame {clash}."
            return candidates, schedule, f"{text} Let one end earlier."
        pinned[pin.first : last + 1, pin.digit] = index
        spans.append(keys)
    for pin, own, held in zip(pins, rows, spans, strict=True):
        kept = cost[pin.digit][np.ix_(own, held)]
        cost[pin.digit][:, held] = np.inf
        cost[pin.digit][np.ix_(own, held)] = kept
    schedule = schedule._replace(
        pin=pinned,
        point=np.array([pin.point for pin in pins]).reshape(-1, 3),
        first=np.array([pin.first for pin in pins], dtype=np.int64),
        is_lasting=np.array([pin.last is not None for pin in pins], dtype=bool),
    )
    return candidates._replace(cost=cost, q=q, life=lifetimes(cost)), schedule, ""


def _find_span(
    reach: _PinnedReach, pin: Pinned, rows: Int[np.ndarray, " V"], num_frames: int
) -> tuple[Int[np.ndarray, " K"], int] | str:
    """Numbers of the key frames for which a pin binds its digit, and the last frame of all.

    Returns a message if it cannot be kept. Candidates that one point of the pad does not reach over
    the whole span are closed.
    """
    frame, cost = reach.candidates.frame, reach.candidates.cost[pin.digit]
    keys = np.flatnonzero(frame >= pin.first)
    if pin.last is not None:
        keys = keys[frame[keys] <= pin.last]
    for k in keys.tolist():
        miss = _reach_pin(reach, pin, rows, k)
        if miss is None:
            continue
        if pin.last is not None or k == keys[0]:
            return _describe_miss(reach, pin, k, miss)
        break
    # A digit that holds keeps the point of its pad, so that one must do for the whole span.
    lasts = np.isfinite(cost[np.ix_(rows, keys)])
    bound = keys[: int(np.cumprod(lasts, axis=1).sum(axis=1).max())]
    last = pin.last
    if last is None:
        is_all = bound[-1] == len(frame) - 1
        last = num_frames - 1 if is_all else int(frame[bound[-1]])
    elif len(bound) < len(keys):
        lost = reach.first_frame + int(frame[keys[len(bound)]])
        return (
            f"{pin.text} cannot be kept without lifting the digit: from frame {lost} on only "
            "another part of its pad reaches the point. Let the pin end earlier, or make two of it "
            "with a gap."
        )
    cost[np.ix_(rows[~lasts[:, : len(bound)].all(axis=1)], bound)] = np.inf
    return bound, last


def _describe_miss(reach: _PinnedReach, pin: Pinned, k: int, miss: float) -> str:
    """A message on a pin that its digit misses at a key frame."""
    t = int(reach.candidates.frame[k])
    if not reach.data.may_touch[t, pin.digit]:
        return (
            f"{pin.text} cannot be kept at frame {reach.first_frame + t}: no_contact sends the "
            "digit away then. Shorten one of the two."
        )
    return (
        f"{pin.text} is out of reach at frame {reach.first_frame + t}: the digit misses it by "
        f"{1e3 * miss:.1f} mm. Move the point, bring the wrist nearer, or let the pin "
        + ("start at another time." if t == pin.first else "end earlier.")
    )


def _reach_pin(
    reach: _PinnedReach, pin: Pinned, rows: Int[np.ndarray, " V"], k: int
) -> float | None:
    """By how much a digit misses its pin at a key frame, m; None if it does not.

    What was not reached from the table of postures is tried from others, and written if it is.
    """
    data, work, candidates = reach.data, reach.work, reach.candidates
    d, t = pin.digit, int(candidates.frame[k])
    if np.isfinite(candidates.cost[d, rows, k]).any():
        return None
    if not data.may_touch[t, d]:
        return np.inf
    free = data.hands.table.free[d]
    own = free[free >= 0]
    rng = np.random.default_rng(0)
    weights = data.hold_weights._replace(digits=0.0, max_iterations=40, polish=1e-9)
    packed = [Packed(each) for each in (data, work, weights)]
    least = np.inf
    for number in range(_STARTS):
        for variant, row in enumerate(rows):
            if data.pad_links[d, variant] < 0:
                continue
            values = work.spare
            values[:] = data.hands.rest
            share = rng.random(len(own))
            if number > 0:
                values[own] = data.low[t, own] + share * (data.high[t, own] - data.low[t, own])
            miss, depth = _bring_to_point(*packed, t, d, variant, pin.point, pin.normal)
            if miss < CANDIDATE_MISS and depth < CANDIDATE_DEPTH:
                span = np.maximum(data.hands.table.upper[own] - data.hands.table.lower[own], 0.2)
                bend = ((values[own] - data.comfortable[t, own]) / span) ** 2
                candidates.cost[d, row, k] = float(bend.sum())
                candidates.q[d, row, k, : len(own)] = values[own]
                return None
            least = min(least, miss + depth)
    return least


@compiled
def _bring_to_point(
    data: HoldData,
    work: Workspace,
    weights: IkWeights,
    t: int,
    d: int,
    variant: int,
    point: Float[np.ndarray, " 3"],
    normal: Float[np.ndarray, " 3"],
) -> tuple[float, float]:
    """Brings a point of a pad near a point of the body; how far it misses and sinks in, m.

    ``work.spare`` holds the joint values, and is changed.
    """
    place_hands(data, t, work.spare, work.now)
    set_touching_point(data, d, data.pad_link[d], data.pads[d, variant])
    miss = pose_alone(data, t, d, point, normal, data.hands.rest, weights, work)
    return miss, digit_depth(data, t, d, work)
