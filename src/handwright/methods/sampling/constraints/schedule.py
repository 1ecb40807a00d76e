"""What digits are told to do frame by frame: touch pinned points, or repeat a kept motion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.methods.sampling.search.path import Path
from handwright.methods.sampling.search.workspace import FREE, HOLD, Workspace

ROLLED = 2.5e-3
"""How far a guiding point may roll away from its pin, m; a clip is allowed a little more."""
NEVER = 1_000_000_000
"""The start frame where nothing more is scheduled."""
PIN_TOLERANCE = 3e-3
"""A pinned digit has a contact within this distance of its point in every clip, m."""


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

    def start_kept(self, q: np.ndarray) -> None:
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
        count = path.mode.shape[1]
        path.load[t], path.ratio[t] = work.found.load[:count], work.found.ratio[:count]
        path.pull[t] = work.found.pull[:count]

    def missed(self, path: Path, t: int) -> int:
        """Finds a pinned digit that is not at its point in row t of a path, or -1."""
        for d in np.flatnonzero(self.is_pinned[t]):
            off = path.target[t, d] - self.point[self.pin[t, d]]
            if path.reached[t, d] != HOLD or float(np.linalg.norm(off)) > ROLLED:
                return int(d)
        return -1

    def untouched(self, work: Workspace, digit_of_capsule: np.ndarray, t: int) -> int:
        """Finds a pinned digit that touches elsewhere than at its point in frame t, or -1.

        A digit may have its guiding point there and touch with another part, where it is thicker.

        Args:
            work: Scratch memory with the contacts of the frame.
            digit_of_capsule: (C,) digit of each capsule, or -1.
            t: Frame.
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
    schedule: DigitSchedule, shift: int, frame: np.ndarray, digit: np.ndarray, point: np.ndarray
) -> int | None:
    """The first frame in which a pinned digit has no contact at its point, if there is one.

    Args:
        schedule: What digits must do in the search.
        shift: First frame of the search among those of the contacts.
        frame: (N,) frames of the contacts.
        digit: (N,) digit of each contact, or -1.
        point: (N, 3) point of each contact, in the body's frame, m.
    """
    for t, d in np.argwhere(schedule.is_pinned):
        own = (frame == t + shift) & (digit == d)
        away = np.linalg.norm(point[own] - schedule.point[schedule.pin[t, d]], axis=1)
        if not away.min(initial=np.inf) <= PIN_TOLERANCE:
            return int(t) + shift
    return None


def empty_schedule(frames: int, free: Int[np.ndarray, "D N"], joints: int) -> DigitSchedule:
    """A schedule in which no digit is told anything.

    Args:
        frames: Number of frames.
        free: Joints of each digit, or -1.
        joints: Number of joints.
    """
    shape = (frames, len(free))
    return DigitSchedule(
        pin=np.full(shape, -1),
        point=np.zeros((0, 3)),
        first=np.zeros(0, dtype=np.int64),
        is_lasting=np.zeros(0, dtype=bool),
        is_kept=np.zeros(shape, dtype=bool),
        mode=np.zeros(shape, dtype=np.int64),
        link=np.zeros(shape, dtype=np.int64),
        local=np.zeros((*shape, 3)),
        target=np.zeros((*shape, 3)),
        normal=np.zeros((*shape, 3)),
        q=np.zeros((frames, joints)),
        free=free,
        start=np.full(shape, NEVER),
        is_pinned=np.zeros(shape, dtype=bool),
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
