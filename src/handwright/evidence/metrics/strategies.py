"""What the digits do in a clip, counted from its stored contacts: hold, slide, relocate.

Only digits that carry something count: a finger that rests beside the body does nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.clip import Clip
from handwright.core.contact import ContactMode
from handwright.evidence.certificate.balance import weight_of

LEAST_TIME = 0.1
"""A digit holds or slides if it does so for this long, s; shorter ones are flicker."""
MOVED = 0.01
"""A digit that comes back to the body farther away than this has relocated, m."""
SLID = 0.003
"""A digit that slides less far, m, has crept."""
LEAST_LOAD = 0.02
"""A contact carries something from this share of the body's weight on."""


class DigitTouch(NamedTuple):
    """One digit on one body, over the frames of a clip."""

    touches: Bool[np.ndarray, " T"]
    carries: Bool[np.ndarray, " T"]
    """Whether any of its contacts carries something."""
    slides: Bool[np.ndarray, " T"]
    """Whether any of those that do slides."""
    place: Float[np.ndarray, "T 3"]
    """Mean of its contact points in the body's frame, m; NaN where it does not touch."""


def digit_touches(clip: Clip) -> dict[tuple[str, str, str], DigitTouch]:
    """Every digit that touches a body, by hand, digit and body."""
    contacts, frames = clip.contacts, clip.num_frames
    found: dict[tuple[str, str, str], DigitTouch] = {}
    for row, hand in enumerate(contacts.touchers):
        if hand not in clip.problem.hands:
            continue
        model = clip.problem.hands[hand]
        for which, body in enumerate(contacts.bodies):
            weight = weight_of(clip.problem.bodies[body], clip.problem.gravity)
            # Contacts without forces, as in other people's clips, count all.
            is_idle = np.linalg.norm(contacts.force, axis=1) < LEAST_LOAD * weight
            own = np.flatnonzero((contacts.toucher == row) & (contacts.body == which))
            digit = model.capsules.digit[contacts.part[own]]
            local = clip.bodies[body].inverse()[contacts.frame[own]].apply(contacts.point[own])
            for number in np.unique(digit[digit >= 0]):
                mine = digit == number
                frame = contacts.frame[own[mine]]
                count = np.bincount(frame, minlength=frames)
                total = np.zeros((frames, 3))
                np.add.at(total, frame, local[mine])
                is_sliding = contacts.mode[own[mine]] == int(ContactMode.SLIDING)
                is_loaded = ~is_idle[own[mine]]
                slides, carries = np.zeros(frames, dtype=bool), np.zeros(frames, dtype=bool)
                carries[frame[is_loaded]] = True
                slides[frame[is_loaded & is_sliding]] = True
                place = np.full((frames, 3), np.nan)
                place[count > 0] = total[count > 0] / count[count > 0, None]
                key = (hand, model.digits[number].name, body)
                found[key] = DigitTouch(count > 0, carries, slides, place)
    return found


class StrategyEvent(NamedTuple):
    """A digit that does one thing for a while."""

    strategy: str
    """``hold``, ``slide`` or ``relocate``."""
    hand: str
    digit: str
    body: str
    first: int
    """Frame."""
    last: int
    """Frame; of a relocation, that of the landing."""
    way: float
    """How far the digit gets over the body, m."""


def strategy_events(clip: Clip) -> list[StrategyEvent]:
    """What the digits do in a clip: hold their places, slide, and go to other places."""
    events = []
    times, least = clip.times, LEAST_TIME - 1e-9
    for key, touch in digit_touches(clip).items():
        for name, flags in (("hold", touch.carries & ~touch.slides), ("slide", touch.slides)):
            for first, end in _runs(flags):
                way = float(np.linalg.norm(touch.place[end - 1] - touch.place[first]))
                lasts = times[end - 1] - times[first] >= least
                if lasts and (name == "hold" or way >= SLID):
                    events.append(StrategyEvent(name, *key, first, end - 1, way))
        stays = [run for run in _runs(touch.touches) if touch.carries[slice(*run)].any()]
        for (_, left), (landed, _) in itertools.pairwise(stays):
            way = float(np.linalg.norm(touch.place[landed] - touch.place[left - 1]))
            if way > MOVED:
                events.append(StrategyEvent("relocate", *key, left - 1, landed, way))
    return events


def count_strategies(clip: Clip) -> dict[str, int]:
    """How often a digit holds its place, slides, and goes to another place."""
    counts = {"hold": 0, "slide": 0, "relocate": 0}
    for event in strategy_events(clip):
        counts[event.strategy] += 1
    return counts


def total_strategies(clips: Sequence[Clip]) -> dict[str, int]:
    """The counts of all clips together."""
    total: Mapping[str, int] = {"hold": 0, "slide": 0, "relocate": 0}
    for clip in clips:
        counts = count_strategies(clip)
        total = {name: total[name] + counts[name] for name in total}
    return dict(total)


def digits_touching(clip: Clip) -> Float[np.ndarray, " T"]:
    """Number of digits of all hands with a contact, by frame."""
    touches: dict[tuple[str, str], np.ndarray] = {}
    for (hand, digit, _), touch in digit_touches(clip).items():
        before = touches.get((hand, digit), np.zeros(clip.num_frames, dtype=bool))
        touches[hand, digit] = before | touch.touches
    return np.sum([*touches.values(), np.zeros(clip.num_frames)], axis=0)


def _runs(flags: np.ndarray) -> list[tuple[int, int]]:
    """First and one past the last index of every stretch of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]
