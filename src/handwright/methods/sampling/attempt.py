"""One attempt: a tree is searched for each holding; its paths are smoothed and judged."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from handwright.contact.leaps import jumping_steps
from handwright.core.tolerances import JOINT_LEAP_SPEED
from handwright.methods.sampling.constraints.schedule import unpinned_frame
from handwright.methods.sampling.finish.check import Judged, judge_motion, make_judged
from handwright.methods.sampling.finish.exact_contacts import (
    Creeping,
    ExactContacts,
    Refused,
    exact_contacts,
)
from handwright.methods.sampling.finish.smooth import (
    Motion,
    lift_off,
    reconstruct,
    roll_on,
    stay_near,
)
from handwright.methods.sampling.search.frame import CROSSED, MISSED, SUNK, UNMOVED
from handwright.methods.sampling.search.path import Path
from handwright.methods.sampling.search.search import Search
from handwright.methods.sampling.setup.prepare import Prepared

if TYPE_CHECKING:
    from handwright.methods.sampling.method import ContactSampling

PATHS = 3
"""Motions that an attempt takes from a tree, at most."""
# Paths of a tree whose smooth motion does not hold, after which it is given up.
_MOST_DROPPED = 4
# How often a motion that does not hold is smoothed again: farther off the body where skin is too
# deep, else nearer to the search's own.
_REPAIRS = 1
# The same where fingers wrap the body, for several phalanges may have to leave it.
_WRAP_REPAIRS = 5
# Motions whose joints never differ by more, rad, are the same.
_SAME = 0.1
# Force from which a contact counts as one that holds, in weights of the body.
_BEARS = 1e-3
# Frames between two looks at the clock.
_SLICE = 200
_CAUSES = {
    MISSED: "a finger could not keep its contact. Let the wrist follow the body more closely.",
    SUNK: "a finger or the palm would sink into the body or the surroundings. Move the wrist away.",
    CROSSED: "fingers would cross. Leave more of them free.",
    UNMOVED: "the contacts could not move the body as its track shows. Raise friction, lower the "
    "mass, or slow the track down.",
}


class Part(NamedTuple):
    """The motion of one holding."""

    q: np.ndarray
    contacts: ExactContacts
    path: Path
    strain: float
    """Mean square of joint values away from rest, and of their accelerations; smaller is calmer."""


class Effort(NamedTuple):
    """What the search of a holding had done when a motion was found, or when it ended."""

    frames: int
    """Tried by the search."""
    dead_ends: int
    dropped: int
    """Paths whose smooth motion did not hold."""


@dataclass(slots=True)
class Attempt:
    """What one attempt came to."""

    parts: list[list[Part]] = field(default_factory=list)
    """Motions of each holding."""
    efforts: list[list[Effort]] = field(default_factory=list)
    """For each holding, up to each of its motions, and at last in all."""
    causes: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(
        default_factory=lambda: {"search": 0.0, "reconstruction": 0.0, "judging": 0.0}
    )

    @property
    def solutions(self) -> list[tuple[Part, ...]]:
        """Each with one part for each holding."""
        return list(zip(*self.parts, strict=False))

    @property
    def effort(self) -> Effort:
        """Of all holdings."""
        return Effort(*np.sum([row[-1] for row in self.efforts], axis=0).tolist())

    @property
    def success_frames(self) -> int:
        """Different ones on the paths of all solutions."""
        total, count = 0, len(self.solutions)
        for found in self.parts if count else ():
            paths = np.stack([part.path.q for part in found[:count]])
            is_known = (paths[:, None] == paths[None]).all(axis=3)
            total += int((~np.tril(np.moveaxis(is_known, 2, 0), -1).any(axis=2)).sum())
        return total

    def first(self, count: int) -> Attempt:
        """The same, ended as soon as there were so many solutions."""
        ends = [len(found) >= count for found in self.parts]
        return replace(
            self,
            parts=[found[:count] for found in self.parts],
            efforts=[
                row[:count] if is_cut else row
                for row, is_cut in zip(self.efforts, ends, strict=True)
            ],
        )


def run_attempt(
    prepared: list[Prepared],
    method: ContactSampling,
    seed: int,
    number: int,
    deadline: float,
    most: int = PATHS,
) -> Attempt:
    """Searches all holdings, smooths the motions and judges them.

    Args:
        prepared: All holdings.
        method: Settings.
        seed: Of the run.
        number: Of the attempt; each has its own random numbers.
        deadline: On the monotonic clock, s.
        most: Solutions that are wanted.
    """
    attempt = Attempt()
    for index, one in enumerate(prepared):
        rng = np.random.default_rng([seed, number, index])
        if not _search_holding(one, method, rng, deadline, attempt, most):
            break
    return attempt


def _search_holding(
    one: Prepared,
    method: ContactSampling,
    rng: np.random.Generator,
    deadline: float,
    attempt: Attempt,
    most: int,
) -> bool:
    """Adds motions of one holding from one tree; whether there are any."""
    search = Search(one, rng)
    tally = search.tally
    parts: list[Part] = []
    efforts: list[Effort] = []
    dropped = 0
    for _ in range(PATHS + _MOST_DROPPED):
        path = _next_path(search, method.max_frames, deadline, attempt)
        if path is None:
            break
        part = _finished(one, path, attempt)
        if not isinstance(part, Part):
            dropped += 1
            if dropped == _MOST_DROPPED:
                break
            search.reject(part - one.start)
        elif all(np.abs(part.q - other.q).max() > _SAME for other in parts):
            parts.append(part)
            efforts.append(Effort(tally.frames, tally.dead_ends, dropped))
            if len(parts) == min(most, PATHS):
                break
    if len(parts) < most:
        efforts.append(Effort(tally.frames, tally.dead_ends, dropped))
    attempt.parts.append(parts)
    attempt.efforts.append(efforts)
    if not parts:
        cause = tally.main_cause()
        attempt.causes[
            f"around frame {one.start + tally.furthest}, {_CAUSES[cause]}"
            if cause is not None
            else f"no first grasp of '{one.holding.body}' at frame {one.start} can carry it. "
            "Raise friction, lower the mass, or bring the wrist nearer."
        ] += 1
    return bool(parts)


def _next_path(search: Search, max_frames: int, deadline: float, attempt: Attempt) -> Path | None:
    begin = time.perf_counter()
    path = None
    while (
        path is None
        and not search.is_hopeless
        and search.tally.frames < max_frames
        and time.monotonic() < deadline
    ):
        path = search.next_path(min(search.tally.frames + _SLICE, max_frames))
    attempt.seconds["search"] += time.perf_counter() - begin
    return path


def _finished(one: Prepared, path: Path, attempt: Attempt) -> Part | int:
    """The smooth motion of a path with its exact contacts, or the frame where it does not hold."""
    begin = time.perf_counter()
    motion = reconstruct(one, path)
    attempt.seconds["reconstruction"] += time.perf_counter() - begin
    repairs, failed = _WRAP_REPAIRS if one.policy.wraps else _REPAIRS, -1
    for number in range(1 + repairs):
        begin = time.perf_counter()
        verdict = _verdict(one, motion.q)
        attempt.seconds["judging"] += time.perf_counter() - begin
        if verdict.contacts is not None:
            bend = (motion.q - one.stage.rest) ** 2
            jolt = np.diff(motion.q, n=2, axis=0) ** 2
            strain = float(bend.mean() + 100.0 * jolt.mean())
            return Part(motion.q, verdict.contacts, path, strain)
        # What the last mending left as it was, another one will not change.
        if number == repairs or verdict.frame == failed:
            break
        failed = verdict.frame
        begin = time.perf_counter()
        motion = _mended(one, path, motion, verdict)
        attempt.seconds["reconstruction"] += time.perf_counter() - begin
    attempt.causes[verdict.cause] += 1
    return verdict.frame


def _mended(one: Prepared, path: Path, motion: Motion, verdict: _Verdict) -> Motion:
    """A motion that did not hold, smoothed again."""
    if verdict.is_sunk:
        return roll_on(one, path, motion, verdict.judged)
    lifted = None
    if one.policy.wraps and verdict.creeping is not None:
        lifted = lift_off(one, path, motion, verdict.judged, verdict.creeping)
    return lifted or stay_near(one, path, motion, verdict.failing)


class _Verdict(NamedTuple):
    """What a smooth motion came to."""

    contacts: ExactContacts | None
    """None if it does not hold."""
    judged: Judged
    is_sunk: bool
    """Whether skin is too deep somewhere."""
    cause: str
    frame: int
    """Of the problem, at which it fails first."""
    failing: np.ndarray
    """(N,) all such frames that are known, of the stage."""
    creeping: Creeping | None = None
    """The contact that creeps, if one does."""


def _refused(one: Prepared, judged: Judged, is_sunk: bool, frame: int, text: str) -> _Verdict:
    """One that fails at a frame of the problem."""
    return _Verdict(
        None, judged, is_sunk, f"after smoothing, at frame {frame}, {text}", frame,
        np.array([frame - one.first]),
    )  # fmt: skip


def _verdict(one: Prepared, q: np.ndarray) -> _Verdict:
    judged = make_judged(len(q), len(one.room.found.capsule))
    if judge_motion(one.strict, q, one.room, judged):
        failing = np.flatnonzero(judged.verdict)
        cause = _CAUSES[int(judged.verdict[failing[0]])]
        is_sunk = bool((judged.verdict == SUNK).any())
        refused = _refused(one, judged, is_sunk, one.first + int(failing[0]), cause)
        return refused._replace(failing=failing)
    found = exact_contacts(one, q, judged)
    if isinstance(found, Refused):
        refused = _refused(one, judged, found.is_sunk, found.frame, found.reason)
        return refused._replace(creeping=found.creeping)
    leap = _leaping_frame(one, q)
    if leap is not None:
        text = "a finger leaps. Let the wrist move more slowly."
        return _refused(one, judged, False, leap, text)
    digit = np.where(
        found.capsule >= 0, one.stage.digit_of_capsule[np.maximum(found.capsule, 0)], -1
    )
    left = unpinned_frame(one.policy.orders, one.start - one.first, found.frame, digit, found.point)
    if left is not None:
        text = "a digit has rolled off its pin. Shorten the pin."
        return _refused(one, judged, False, one.first + left, text)
    left = _strayed_frame(one, found, digit)
    if left is not None:
        text = (
            "a digit holds the body beside the part that it was told to. Loosen grasp_region or "
            "grasp_regions."
        )
        return _refused(one, judged, False, one.first + left, text)
    return _Verdict(found, judged, False, "", -1, np.zeros(0, dtype=np.int64))


def _strayed_frame(one: Prepared, found: ExactContacts, digit: np.ndarray) -> int | None:
    """First frame of the stage in which a digit bears force only beside the part it is told."""
    bears = np.linalg.norm(found.force, axis=1) > _BEARS * one.stage.weight
    for t in np.unique(found.frame) if one.parts.all_regions() else ():
        for d, row in enumerate(one.parts.regions):
            own = (found.frame == t) & (digit == d)
            if (
                row
                and (own & bears).any()
                and one.parts.strays(d, found.point[own], -found.normal[own])
            ):
                return int(t)
    return None


def _leaping_frame(one: Prepared, q: np.ndarray) -> int | None:
    """First frame of the problem into which a joint leaps, as when a finger comes unstuck."""
    speed = np.abs(np.diff(q, axis=0)) / np.diff(one.times)[:, None]
    leaps = jumping_steps(speed, one.times, JOINT_LEAP_SPEED)
    frames = np.flatnonzero(np.any(leaps, axis=1))
    return one.first + int(frames[0]) + 1 if frames.size else None
