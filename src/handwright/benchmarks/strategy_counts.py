"""What the digits do in a clip, counted from its stored contacts: hold, slide, relocate."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.clip import Clip
from handwright.core.contact import ContactMode

LEAST_TIME = 0.1
"""A digit holds or slides if it does so for this long, s; shorter ones are flicker."""
MOVED = 0.01
"""A digit that comes back to the body farther away than this has relocated, m."""


class DigitTouch(NamedTuple):
    """One digit on one body, over the frames of a clip."""

    touches: Bool[np.ndarray, " T"]
    slides: Bool[np.ndarray, " T"]
    """Whether any of its contacts slides."""
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
                slides = np.zeros(frames, dtype=bool)
                slides[frame[is_sliding]] = True
                place = np.full((frames, 3), np.nan)
                place[count > 0] = total[count > 0] / count[count > 0, None]
                key = (hand, model.digits[number].name, body)
                found[key] = DigitTouch(count > 0, slides, place)
    return found


def count_strategies(clip: Clip) -> dict[str, int]:
    """How often a digit holds its place, slides, and goes to another place."""
    counts = {"hold": 0, "slide": 0, "relocate": 0}
    times = clip.times
    for touch in digit_touches(clip).values():
        for name, flags in (
            ("hold", touch.touches & ~touch.slides),
            ("slide", touch.touches & touch.slides),
        ):
            counts[name] += sum(
                times[last - 1] - times[first] >= LEAST_TIME - 1e-9 for first, last in _runs(flags)
            )
        for (_, left), (landed, _) in itertools.pairwise(_runs(touch.touches)):
            gone = np.linalg.norm(touch.place[landed] - touch.place[left - 1])
            counts["relocate"] += bool(gone > MOVED)
    return {name: int(count) for name, count in counts.items()}


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
