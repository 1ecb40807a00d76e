"""What digits are told to do frame by frame: touch pinned points, or repeat a kept motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.clip import Clip, KeptDigit
from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.kinematics.fk import link_poses
from handwright.methods.sampling.constraints.preferences import frames_within
from handwright.methods.sampling.search.workspace import FREE, HOLD, Path, Workspace
from handwright.methods.sampling.setup.hold_data import HoldData
from handwright.methods.sampling.structs import zeros

ROLLED = 2.5e-3
"""How far a guiding point may roll away from its pin, m; a clip is allowed a little more."""
NEVER = 1_000_000_000
"""The start frame where nothing more is scheduled."""
PIN_TOLERANCE = 3e-3
"""A pinned digit has a contact within this distance of its point in every clip, m."""

# Joints of a kept digit stay within this of their values, rad: more would look like slipping.
_SLACK = 5e-4
# Share of the fingers' speed with which a digit comes to a kept span and leaves it.
_HASTE = 0.5
_SAME_TIME = 1e-6
# A material point that has moved less than this over the body, m, is still the same contact.
_SAME_POINT = 3e-4


class DigitSchedule(NamedTuple):
    """What D digits with J joints must do over T frames of a search, with P pins."""

    pin: Int[np.ndarray, "T D"]
    """Number of the pin that binds a digit, or -1."""
    point: Float[np.ndarray, "P 3"]
    """Points of the pins, in the body's frame, m."""
    first: Int[np.ndarray, " P"]
    """First frame of each pin."""
    is_lasting: Bool[np.ndarray, " P"]
    """Whether a pin must be kept to its end, not just for as long as it goes."""
    is_kept: Bool[np.ndarray, "T D"]
    """Whether a digit repeats a kept motion."""
    mode: Int[np.ndarray, "T D"]
    """HOLD or FREE, where a digit repeats a motion."""
    link: Int[np.ndarray, "T D"]
    """The link that its guiding point is fixed to."""
    local: Float[np.ndarray, "T D 3"]
    """The guiding point in the frame of that link, m."""
    target: Float[np.ndarray, "T D 3"]
    """The guiding point on the body, m."""
    normal: Float[np.ndarray, "T D 3"]
    """The outward normal of the body at the guiding point."""
    q: Float[np.ndarray, "T J"]
    """Joint values of kept digits, rad."""
    free: Int[np.ndarray, "D N"]
    """Joints of each digit, or -1."""
    start: Int[np.ndarray, "T D"]
    """First later frame at which a pin or a kept motion begins, or ``NEVER``."""
    is_pinned: Bool[np.ndarray, "T D"]
    """Whether a digit must be at its pin; written by ``with_start_frames``."""

    def has_any(self) -> bool:
        """Whether anything is scheduled for any digit."""
        return bool((self.pin >= 0).any() or self.is_kept.any())

    def binds(self, t: int, d: int) -> bool:
        """Whether a digit is scheduled in frame t and must not fail."""
        return bool(self.is_pinned[t, d] or self.is_kept[t, d])

    def guide(self, work: Workspace, t: int) -> None:
        """Writes what is scheduled for frame t over the guiding points prepared for it."""
        for d in np.flatnonzero(self.is_pinned[t]):
            work.must_touch[d] = True
        for d in np.flatnonzero(self.is_kept[t]):
            guide = work.guide
            guide.mode[d] = self.mode[t, d]
            own = self.free[d][self.free[d] >= 0]
            work.reference[own] = self.q[t, own]
            if self.mode[t, d] == FREE:
                continue
            guide.link[d], guide.local[d] = self.link[t, d], self.local[t, d]
            guide.target[d], guide.normal[d] = self.target[t, d], self.normal[t, d]
            work.must_touch[d] = False

    def start_kept(self, q: Float[np.ndarray, " J"]) -> None:
        """Writes the joint values of kept digits in frame 0."""
        for d in np.flatnonzero(self.is_kept[0]):
            own = self.free[d][self.free[d] >= 0]
            q[own] = self.q[0, own]

    def write_row(self, path: Path, t: int, work: Workspace) -> None:
        """Writes frame t, in which all digits are kept, to a path, be it feasible or not."""
        for column in path:
            column[t] = column[t - 1]
        own = self.free[self.free >= 0]
        path.q[t, own] = self.q[t, own]
        path.mode[t] = path.reached[t] = self.mode[t]
        path.kept[t] = True
        path.link[t], path.local[t] = self.link[t], self.local[t]
        path.target[t], path.normal[t] = self.target[t], self.normal[t]
        found = work.found
        path.load[t], path.ratio[t], path.pull[t] = found.load, found.ratio, found.pull

    def missed(self, path: Path, t: int) -> int:
        """Finds a pinned digit that is not at its point in row t of a path, or -1."""
        for d in np.flatnonzero(self.is_pinned[t]):
            off = path.target[t, d] - self.point[self.pin[t, d]]
            if path.reached[t, d] != HOLD or float(np.linalg.norm(off)) > ROLLED:
                return int(d)
        return -1

    def untouched(self, work: Workspace, digit_of_capsule: Int[np.ndarray, " C"], t: int) -> int:
        """Finds a pinned digit that touches elsewhere than at its point in frame t, or -1.

        A digit may have its guiding point there and touch with another part, where it is thicker.
        The contacts of the frame are in ``work``.
        """
        rows = np.arange(int(work.found.num[1]), int(work.found.num[0]))
        owner = digit_of_capsule[work.found.capsule[rows]]
        for d in np.flatnonzero(self.is_pinned[t]):
            points = work.found.point[rows[owner == d]]
            away = np.linalg.norm(points - self.point[self.pin[t, d]], axis=1)
            if not away.min(initial=np.inf) <= PIN_TOLERANCE:
                return int(d)
        return -1


def find_unpinned_frame(
    schedule: DigitSchedule,
    shift: int,
    frame: Int[np.ndarray, " N"],
    digit: Int[np.ndarray, " N"],
    point: Float[np.ndarray, "N 3"],
) -> int | None:
    """The first frame in which a pinned digit has no contact at its point, if there is one.

    Contacts have frames, of which the search starts at ``shift``, digits, and points in m.
    """
    for t, d in np.argwhere(schedule.is_pinned):
        own = (frame == t + shift) & (digit == d)
        away = np.linalg.norm(point[own] - schedule.point[schedule.pin[t, d]], axis=1)
        if not away.min(initial=np.inf) <= PIN_TOLERANCE:
            return int(t) + shift
    return None


def empty_schedule(frames: int, free: Int[np.ndarray, "D N"], joints: int) -> DigitSchedule:
    """A schedule over some frames in which digits, with these joints, are told nothing."""
    sizes = {"T": frames, "D": len(free), "J": joints, "P": 0}
    shape = (frames, len(free))
    return zeros(
        DigitSchedule, sizes, pin=np.full(shape, -1), free=free, start=np.full(shape, NEVER)
    )


def with_start_frames(schedule: DigitSchedule) -> DigitSchedule:
    """Adds what follows once pins and kept motions have been written: ``start``, ``is_pinned``."""
    frames, digits = schedule.pin.shape
    start = np.full((frames, digits), NEVER)
    # The number of a pin from 1 on, -1 for a kept motion, and 0 for nothing.
    bond = np.where(schedule.is_kept, -1, schedule.pin + 1)
    for t in range(frames - 2, -1, -1):
        begins = (bond[t + 1] != 0) & (bond[t + 1] != bond[t])
        start[t] = np.where(begins, t + 1, start[t + 1])
    is_pinned = schedule.pin >= 0
    for t, d in np.argwhere(is_pinned):
        pin = schedule.pin[t, d]
        is_pinned[t, d] = schedule.is_lasting[pin] or schedule.first[pin] == t
    return schedule._replace(start=start, is_pinned=is_pinned)


def kept_parts(
    clip: Clip, digits: Sequence[str] = (), start: float | None = None, end: float | None = None
) -> tuple[KeptDigit, ...]:
    """The motion of some digits over some time, to be kept; see ``ContactSampling.keeping``.

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


def _kept(
    clip: Clip, hand: str, model: HandModel, row: int, frames: Int[np.ndarray, " F"]
) -> KeptDigit:
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
            if np.linalg.norm(back.apply(old) - point[n - 1]) < _SAME_POINT:
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


def kept_frames(
    kept: KeptDigit, times: Float[np.ndarray, " T"]
) -> tuple[Int[np.ndarray, " F"], Int[np.ndarray, " F"]]:
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
    data: HoldData, kept: KeptDigit, digit: int, times: Float[np.ndarray, " T"]
) -> HoldData:
    """Narrows the limits of a digit's joints around its kept motion, and towards it outside."""
    frames, rows = kept_frames(kept, times)
    if len(frames) == 0:
        return data
    free = data.hands.table.free[digit]
    own = free[free >= 0]
    q = kept.q[rows][:, own - int(data.hands.offset[data.hands.hand_of_digit[digit]])]
    every = np.arange(len(times))
    nearest = np.clip(np.searchsorted(frames, every), 0, len(frames) - 1)
    away = np.where(every < frames[0], frames[0] - every, np.maximum(every - frames[-1], 0))
    around = (_SLACK + _HASTE * data.limits.step * away)[:, None]
    low, high = data.low.copy(), data.high.copy()
    low[:, own] = np.clip(q[nearest] - around, data.low[:, own], data.high[:, own])
    high[:, own] = np.clip(q[nearest] + around, data.low[:, own], data.high[:, own])
    return data._replace(low=low, high=high)


def write_kept(
    schedule: DigitSchedule,
    kept: KeptDigit,
    body: str,
    d: int,
    shift: int,
    times: Float[np.ndarray, " T"],
) -> None:
    """Writes the motion of a kept digit, in row d, to a schedule.

    ``body`` is the one that is held, and ``shift`` the first joint and root link of the hand.
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
