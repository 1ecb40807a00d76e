"""A part of a motion that is kept while the rest is solved anew."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip, KeptDigit
from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.kinematics.fk import link_poses
from handwright.methods.sampling.constraints.preferences import frames_within
from handwright.methods.sampling.constraints.schedule import DigitSchedule
from handwright.methods.sampling.search.workspace import FREE, HOLD
from handwright.methods.sampling.setup.hold_data import HoldData

SLACK = 5e-4
"""Joints of a kept digit stay within this of their values, rad: more would look like slipping."""
# Share of the fingers' speed with which a digit comes to a kept span and leaves it.
_HASTE = 0.5
_SAME_TIME = 1e-6
# A material point that has moved less than this over the body, m, is still the same contact.
_SAME_PLACE = 3e-4


def kept_parts(
    clip: Clip, digits: Sequence[str] = (), start: float | None = None, end: float | None = None
) -> tuple[KeptDigit, ...]:
    """The motion of some digits over some time, to be kept.

    Args:
        clip: A solution.
        digits: Names such as ``index`` or ``left.index``; all if empty.
        start: First time, s; from the first frame on if None.
        end: Last time, s; to the last frame if None.

    Raises:
        UnknownNameError: There is no such digit.
        InvalidValueError: No frame lies in that time.
    """
    names = {
        (hand, digit.name) for hand, model in clip.problem.hands.items() for digit in model.digits
    }
    for name in digits:
        if not any(name in (digit, f"{hand}.{digit}") for hand, digit in names):
            raise UnknownNameError("digit", name, sorted(f"{h}.{d}" for h, d in names))
    frames = np.flatnonzero(frames_within(clip.times, start, end))
    if len(frames) == 0:
        raise InvalidValueError(
            f"Nothing to keep: no frame lies between {start} and {end} s; the motion runs from "
            f"{clip.times[0]:g} to {clip.times[-1]:g} s."
        )
    return tuple(
        _kept(clip, hand, model, row, frames)
        for hand, model in clip.problem.hands.items()
        for row, digit in enumerate(model.digits)
        if not digits or {digit.name, f"{hand}.{digit.name}"} & set(digits)
    )


def _kept(clip: Clip, hand: str, model: HandModel, row: int, frames: np.ndarray) -> KeptDigit:
    contacts, motion = clip.contacts, clip.hands[hand]
    rotations, positions = link_poses(model, motion.q, motion.root)
    mine = contacts.toucher == contacts.touchers.index(hand)
    mine &= np.where(mine, model.capsules.digit[np.where(mine, contacts.part, 0)] == row, False)
    count = len(frames)
    body, link = [""] * count, np.zeros(count, dtype=np.int64)
    local, point, normal = np.zeros((3, count, 3))
    for n, t in enumerate(frames):
        here = np.flatnonzero(mine & (contacts.frame == t))
        if here.size == 0:
            continue
        links = model.capsules.link[contacts.part[here]]
        # Links are numbered outwards.
        foremost = int(here[links.argmax()])
        body[n] = contacts.bodies[contacts.body[foremost]]
        link[n] = links.max()
        back = clip.bodies[body[n]][t].inverse()
        if n > 0 and body[n] == body[n - 1] and link[n - 1] in links:
            # One point for as long as it holds: smoothing takes a new one for a contact that rolls.
            old = positions[t, link[n - 1]] + rotations[t, link[n - 1]] @ local[n - 1]
            if np.linalg.norm(back.apply(old) - point[n - 1]) < _SAME_PLACE:
                link[n], local[n] = link[n - 1], local[n - 1]
                point[n], normal[n] = point[n - 1], normal[n - 1]
                continue
        point[n] = back.apply(contacts.point[foremost])
        normal[n] = -back.rotate(contacts.normal[foremost])
        local[n] = rotations[t, link[n]].T @ (contacts.point[foremost] - positions[t, link[n]])
    return KeptDigit(
        hand, model.digits[row].name, clip.times[frames], motion.q[frames], tuple(body), link,
        local, point, normal,
    )  # fmt: skip


def kept_frames(kept: KeptDigit, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Frames of ``times`` that are kept, and their rows of ``kept``."""
    row = np.clip(np.searchsorted(kept.times, times - _SAME_TIME), 0, len(kept.times) - 1)
    is_same = np.abs(kept.times[row] - times) <= _SAME_TIME
    within = (times >= kept.times[0] - _SAME_TIME) & (times <= kept.times[-1] + _SAME_TIME)
    if (within & ~is_same).any():
        first = float(times[np.flatnonzero(within & ~is_same)[0]])
        raise InvalidValueError(
            f"The kept motion of {kept.hand}.{kept.digit} has no frame at {first:g} s, which the "
            "problem has. Keep parts of clips of the same problem only."
        )
    frames = np.flatnonzero(is_same)
    return frames, row[frames]


def narrow_limits(
    data: HoldData, kept: KeptDigit, digit: int, times: Float[np.ndarray, " T"], slack: float
) -> HoldData:
    """Narrows the limits of a digit's joints around its kept motion, and towards it outside.

    Args:
        data: The hold.
        kept: The motion.
        digit: Row of the digit.
        times: Times of the frames of the hold, s.
        slack: Distance from the kept values that joints may have, rad.
    """
    frames, rows = kept_frames(kept, times)
    if len(frames) == 0:
        return data
    free = data.table.free[digit]
    own = free[free >= 0]
    q = kept.q[rows][:, own - int(data.offset[data.hand_of_digit[digit]])]
    every = np.arange(len(times))
    nearest = np.clip(np.searchsorted(frames, every), 0, len(frames) - 1)
    away = np.where(every < frames[0], frames[0] - every, np.maximum(every - frames[-1], 0))
    around = (slack + _HASTE * data.limits.step * away)[:, None]
    low, high = data.low.copy(), data.high.copy()
    low[:, own] = np.clip(q[nearest] - around, data.low[:, own], data.high[:, own])
    high[:, own] = np.clip(q[nearest] + around, data.low[:, own], data.high[:, own])
    return data._replace(low=low, high=high)


def write_kept(
    schedule: DigitSchedule, kept: KeptDigit, body: str, d: int, shift: int, times: np.ndarray
) -> None:
    """Writes the motion of a kept digit to a schedule.

    Args:
        schedule: The schedule, which is changed.
        kept: The motion.
        body: The body that is held.
        d: Row of the digit.
        shift: First joint, and root link, of its hand.
        times: Times of the search, s.
    """
    own = schedule.free[d][schedule.free[d] >= 0]
    for t, row in zip(*kept_frames(kept, times), strict=True):
        touches = kept.body[row] == body
        schedule.is_kept[t, d] = True
        schedule.mode[t, d] = HOLD if touches else FREE
        schedule.q[t, own] = kept.q[row][own - shift]
        if touches:
            schedule.link[t, d] = shift + kept.link[row]
            schedule.local[t, d], schedule.target[t, d] = kept.local[row], kept.point[row]
            schedule.normal[t, d] = kept.normal[row]
