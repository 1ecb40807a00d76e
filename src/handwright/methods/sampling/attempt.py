"""One attempt: a tree is searched for each holding; its paths are smoothed and judged."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from handwright.mechanics.leaps import JOINT_LEAP_SPEED, jumping_steps
from handwright.methods.sampling.exact_contacts import ExactContacts, Refused, exact_contacts
from handwright.methods.sampling.frame import CROSSED, MISSED, SUNK, UNMOVED
from handwright.methods.sampling.judge import Judged, judge_motion, make_judged
from handwright.methods.sampling.orders import unpinned_frame
from handwright.methods.sampling.path import Path
from handwright.methods.sampling.prepare import Prepared
from handwright.methods.sampling.reconstruct import reconstruct, roll_on, stay_near
from handwright.methods.sampling.search import Search

if TYPE_CHECKING:
    from handwright.methods.sampling.contact_sampling import ContactSampling

PATHS = 3
"""Paths that an attempt asks of a tree, at most."""
# How often a motion that does not hold is smoothed again: farther off the body where skin is too
# deep, else nearer to the search's own.
_REPAIRS = 1
# Motions whose joints never differ by more, rad, are the same.
_SAME = 0.1
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


@dataclass(slots=True)
class Attempt:
    """What one attempt came to."""

    solutions: list[tuple[Part, ...]] = field(default_factory=list)
    """Each with one part for each holding."""
    frames: int = 0
    """Tried by the search."""
    success_frames: int = 0
    """Different ones on the paths of all solutions."""
    dead_ends: int = 0
    dropped: int = 0
    """Paths whose smooth motion did not hold."""
    furthest: int = -1
    """Latest frame of the problem that failed."""
    causes: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(
        default_factory=lambda: {"search": 0.0, "reconstruction": 0.0, "judging": 0.0}
    )


def run_attempt(
    prepared: list[Prepared], method: ContactSampling, seed: int, number: int, deadline: float
) -> Attempt:
    """Searches all holdings, smooths the motions and judges them.

    Args:
        prepared: All holdings.
        method: Settings.
        seed: Of the run.
        number: Of the attempt; each has its own random numbers.
        deadline: On the monotonic clock, s.
    """
    attempt = Attempt()
    parts: list[list[Part]] = []
    for index, one in enumerate(prepared):
        rng = np.random.default_rng([seed, number, index])
        found = _holding_parts(one, method, rng, deadline, attempt)
        if not found:
            return attempt
        parts.append(found)
    attempt.solutions = list(zip(*parts, strict=False))
    for found in parts:
        used = [part.path.q for part in found[: len(attempt.solutions)]]
        frames = len(used[0])
        attempt.success_frames += sum(
            len(np.unique(np.stack([q[t] for q in used]), axis=0)) for t in range(frames)
        )
    return attempt


def _holding_parts(
    one: Prepared,
    method: ContactSampling,
    rng: np.random.Generator,
    deadline: float,
    attempt: Attempt,
) -> list[Part]:
    """Motions of one holding from one tree."""
    search = Search(one, rng)
    parts: list[Part] = []
    for _ in range(PATHS):
        path = _next_path(search, method.max_frames, deadline, attempt)
        if path is None:
            break
        part = _finished(one, path, attempt)
        if not isinstance(part, Part):
            search.reject(part - one.start)
        elif all(np.abs(part.q - other.q).max() > _SAME for other in parts):
            parts.append(part)
    tally = search.tally
    attempt.frames += tally.frames
    attempt.dead_ends += tally.dead_ends
    attempt.furthest = max(attempt.furthest, one.start + tally.furthest)
    if not parts:
        cause = tally.main_cause()
        attempt.causes[
            f"around frame {one.start + tally.furthest}, {_CAUSES[cause]}"
            if cause is not None
            else f"no first grasp of '{one.holding.body}' at frame {one.start} can carry it. "
            "Raise friction, lower the mass, or bring the wrist nearer."
        ] += 1
    return parts


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
    for number in range(1 + _REPAIRS):
        begin = time.perf_counter()
        verdict = _verdict(one, motion.q)
        attempt.seconds["judging"] += time.perf_counter() - begin
        if verdict.contacts is not None:
            bend = (motion.q - one.stage.rest) ** 2
            jolt = np.diff(motion.q, n=2, axis=0) ** 2
            strain = float(bend.mean() + 100.0 * jolt.mean())
            return Part(motion.q, verdict.contacts, path, strain)
        if number < _REPAIRS:
            begin = time.perf_counter()
            motion = (
                roll_on(one, path, motion, verdict.judged)
                if verdict.is_sunk
                else stay_near(one, path, motion, verdict.failing)
            )
            attempt.seconds["reconstruction"] += time.perf_counter() - begin
    attempt.dropped += 1
    attempt.causes[verdict.cause] += 1
    return verdict.frame


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
        return _refused(one, judged, found.is_sunk, found.frame, found.reason)
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
    return _Verdict(found, judged, False, "", -1, np.zeros(0, dtype=np.int64))


def _leaping_frame(one: Prepared, q: np.ndarray) -> int | None:
    """First frame of the problem into which a joint leaps, as when a finger comes unstuck."""
    speed = np.abs(np.diff(q, axis=0)) / np.diff(one.times)[:, None]
    leaps = [jumping_steps(column, one.times, JOINT_LEAP_SPEED) for column in speed.T]
    frames = np.flatnonzero(np.any(leaps, axis=0))
    return one.first + int(frames[0]) + 1 if frames.size else None
