"""One attempt: a tree is searched for each hold; its paths are smoothed and checked."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.contact.leaps import jumping_steps
from handwright.core.tolerances import JOINT_LEAP_SPEED
from handwright.methods.base import AttemptContext
from handwright.methods.sampling.constraints.schedule import find_unpinned_frame
from handwright.methods.sampling.finish.check import CheckedMotion, check_motion
from handwright.methods.sampling.finish.exact_contacts import ExactContacts, Refusal, exact_contacts
from handwright.methods.sampling.finish.smooth import (
    SmoothMotion,
    follow_rolling_contacts,
    lift_creeping_phalanx,
    pull_towards_search,
    smooth_path,
)
from handwright.methods.sampling.search.frame import CROSSED, MISSED, PENETRATING, UNBALANCED
from handwright.methods.sampling.search.search import TreeSearch
from handwright.methods.sampling.search.workspace import Path
from handwright.methods.sampling.setup.hold_data import slice_hold_data
from handwright.methods.sampling.setup.prepare import HoldSearch

if TYPE_CHECKING:
    from handwright.methods.sampling.method import ContactSampling

PATHS = 3
"""Largest number of motions that an attempt takes from a tree."""
# Number of paths of a tree whose smooth motion does not hold, after which it is given up.
_MOST_DROPPED = 4
# How often a motion that does not hold is smoothed again: farther off the body where skin is too
# deep, else nearer to the search's own.
_REPAIRS = 1
# How often that is done where fingers wrap the body: several phalanges may have to leave it; and
# with a guide, where paths are dear.
_WRAP_REPAIRS = 5
# Motions whose joints never differ by more, rad, are the same.
_SAME = 0.1
# Force from which a contact counts as one that holds, in weights of the body.
_LEAST_FORCE = 1e-3
# Number of frames between two looks at the clock.
_SLICE = 200
# Number of frames of an unfinished path that are judged exactly.
_JUDGED_FRAMES = 20
_CAUSES = {
    MISSED: "a finger could not keep its contact. Let the wrist follow the body more closely.",
    PENETRATING: "a finger or the palm would sink into the body or the surroundings. Move the "
    "wrist away.",
    CROSSED: "fingers would cross. Leave more of them free.",
    UNBALANCED: "the contacts could not move the body as its track shows. Raise friction, lower "
    "the mass, or slow the track down.",
}


class HoldMotion(NamedTuple):
    """The motion of one hold."""

    q: Float[np.ndarray, "T J"]
    """Joint values of all its hands, rad."""
    contacts: ExactContacts
    path: Path
    strain: float
    """Mean square of joint values away from comfort, and of their accelerations: the smaller, the
    calmer."""


class SearchEffort(NamedTuple):
    """What the search of a hold had done when a motion was found, or when it ended."""

    frames: int
    """Number of frames that were tried."""
    dead_ends: int
    dropped: int
    """Number of paths whose smooth motion did not hold."""

    def plus(self, later: SearchEffort) -> SearchEffort:
        """This effort and a later one together."""
        return SearchEffort(*(a + b for a, b in zip(self, later, strict=True)))


class TreeLimits(NamedTuple):
    """After what a tree is given up."""

    frames: int
    """Number of frames that were tried."""
    dropped: int
    """Number of paths whose smooth motion did not hold."""


@dataclass(slots=True)
class TreeAttempt:
    """What one attempt came to."""

    parts: list[list[HoldMotion]] = field(default_factory=list)
    """Motions of each hold."""
    efforts: list[list[SearchEffort]] = field(default_factory=list)
    """For each hold the effort up to each of its motions, and at last the whole effort."""
    causes: Counter[str] = field(default_factory=Counter)
    timings: dict[str, float] = field(
        default_factory=lambda: {"search": 0.0, "reconstruction": 0.0, "judging": 0.0}
    )
    """Seconds by part of the work."""

    @property
    def found(self) -> list[tuple[HoldMotion, ...]]:
        """Solutions with one motion for each hold."""
        return list(zip(*self.parts, strict=False))

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Adds the time of what is done within to that of a part of the work."""
        begin = time.perf_counter()
        yield
        self.timings[part] += time.perf_counter() - begin

    @property
    def effort(self) -> SearchEffort:
        """The effort of all holds together."""
        return SearchEffort(*np.sum([row[-1] for row in self.efforts], axis=0).tolist())

    @property
    def success_frames(self) -> int:
        """Number of different frames on the paths of all solutions."""
        total, count = 0, len(self.found)
        for found in self.parts if count else ():
            paths = np.stack([part.path.q for part in found[:count]])
            is_known = (paths[:, None] == paths[None]).all(axis=3)
            total += int((~np.tril(np.moveaxis(is_known, 2, 0), -1).any(axis=2)).sum())
        return total

    def first(self, count: int) -> TreeAttempt:
        """The attempt as if it had ended when it had found ``count`` solutions."""
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
    holds: list[HoldSearch], method: ContactSampling, context: AttemptContext
) -> TreeAttempt:
    """Searches all holds, smooths the motions and checks them."""
    attempt = TreeAttempt()
    for index, hold in enumerate(holds):
        rng = context.rng(index)
        limits = _limits(hold, method)
        is_found = _search_hold(hold, limits[0], rng, context, attempt)
        # What a guide asks for may be beyond help, in part or altogether.
        for policy, limit in zip(hold.looser, limits[1:], strict=True):
            if is_found or context.is_over:
                break
            attempt.parts.pop()
            spent = attempt.efforts.pop()[-1]
            loosely = hold._replace(policy=policy)
            is_found = _search_hold(loosely, limit, rng, context, attempt)
            attempt.efforts[-1] = [spent.plus(effort) for effort in attempt.efforts[-1]]
        if not is_found:
            break
    return attempt


def _limits(hold: HoldSearch, method: ContactSampling) -> list[TreeLimits]:
    """Limits for the policy of a hold, and for each of the looser ones."""
    plain = TreeLimits(method.max_frames, _MOST_DROPPED)
    if not hold.looser:
        return [plain]
    # What can be followed is soon found, closely sooner than loosely. Where the guide asks for what
    # cannot be, the time is better spent without it.
    closely, loosely = (max(method.max_frames // share, 1) for share in (4, 2))
    return [TreeLimits(closely, _MOST_DROPPED), TreeLimits(loosely, 3 * _MOST_DROPPED), plain]


def _search_hold(
    hold: HoldSearch,
    limits: TreeLimits,
    rng: np.random.Generator,
    context: AttemptContext,
    attempt: TreeAttempt,
) -> bool:
    """Adds motions of one hold from one tree to an attempt; returns whether there are any."""
    judge = partial(_find_fault, hold) if hold.guided else None
    search, most = TreeSearch(hold, rng, judge), context.wanted
    tally = search.tally
    parts: list[HoldMotion] = []
    efforts: list[SearchEffort] = []
    dropped = 0
    for _ in range(PATHS + limits.dropped):
        path = _next_path(search, limits.frames, context, attempt)
        if path is None:
            break
        part = _finish_path(hold, path, attempt)
        if not isinstance(part, HoldMotion):
            dropped += 1
            if dropped == limits.dropped:
                break
            search.reject(part - hold.start)
        elif all(np.abs(part.q - other.q).max() > _SAME for other in parts):
            parts.append(part)
            efforts.append(SearchEffort(tally.frames, tally.dead_ends, dropped))
            if len(parts) == min(most, PATHS):
                break
    if len(parts) < most:
        efforts.append(SearchEffort(tally.frames, tally.dead_ends, dropped))
    attempt.parts.append(parts)
    attempt.efforts.append(efforts)
    if not parts:
        cause = tally.main_cause()
        attempt.causes[
            f"around frame {hold.start + tally.furthest}, {_CAUSES[cause]}"
            if cause is not None
            else f"no first grasp of '{hold.interval.body}' at frame {hold.start} can carry it. "
            "Raise friction, lower the mass, or bring the wrist nearer."
        ] += 1
    return bool(parts)


def _next_path(
    search: TreeSearch, max_frames: int, context: AttemptContext, attempt: TreeAttempt
) -> Path | None:
    tally, path = search.tally, None
    with attempt.timed("search"):
        while path is None and not (
            search.is_hopeless or tally.frames >= max_frames or context.is_over
        ):
            path = search.next_path(min(tally.frames + _SLICE, max_frames))
    return path


def _finish_path(hold: HoldSearch, path: Path, attempt: TreeAttempt) -> HoldMotion | int:
    """The smooth motion of a path with its exact contacts, or the frame where it does not hold."""
    with attempt.timed("reconstruction"):
        motion = smooth_path(hold, path)
    may_repair = hold.policy.wraps or hold.guided
    repairs, failed = _WRAP_REPAIRS if may_repair else _REPAIRS, -1
    while True:
        with attempt.timed("judging"):
            checked = check_motion(hold.strict, motion.q, hold.work)
            verdict = _judge_motion(hold, motion.q, checked)
        if isinstance(verdict, ExactContacts):
            bend = (motion.q - hold.data.comfortable) ** 2
            jolt = np.diff(motion.q, n=2, axis=0) ** 2
            strain = float(bend.mean() + 100.0 * jolt.mean())
            return HoldMotion(motion.q, verdict, path, strain)
        # What the last repair left as it was, another one will not change.
        if repairs == 0 or verdict.frame == failed:
            attempt.causes[f"after smoothing, at frame {verdict.frame}, {verdict.reason}"] += 1
            return verdict.frame
        repairs, failed = repairs - 1, verdict.frame
        with attempt.timed("reconstruction"):
            motion = _repair(hold, path, motion, checked, verdict)


def _find_fault(hold: HoldSearch, path: Path, frame: int) -> int | None:
    """First frame of the search, before a frame that it has reached, in which a path fails exactly.

    Only the last frames are looked at: earlier ones have been.
    """
    low, shift = max(frame - _JUDGED_FRAMES, 0), hold.start - hold.first
    span = shift + low, shift + frame + 1
    part = hold._replace(
        first=hold.start + low,
        data=slice_hold_data(hold.data, *span),
        strict=slice_hold_data(hold.strict, *span),
    )
    q = path.q[low : frame + 1]
    found = exact_contacts(part, q, check_motion(part.strict, q, hold.work))
    if not isinstance(found, Refusal):
        return None
    fault = found.frame - hold.start
    # What was before the first of these frames, or comes after the last, is not known here.
    is_known = (low == 0 or fault > low + 1) and fault < frame - 1
    return fault if is_known else None


def _repair(
    hold: HoldSearch, path: Path, motion: SmoothMotion, checked: CheckedMotion, refusal: Refusal
) -> SmoothMotion:
    """Smooths a motion that did not hold again."""
    if refusal.is_penetrating:
        return follow_rolling_contacts(hold, path, motion, checked)
    lifted = None
    if hold.policy.wraps and refusal.creeping is not None:
        lifted = lift_creeping_phalanx(hold, path, motion, checked, refusal.creeping)
    failing = refusal.failing
    if failing is None:
        failing = np.array([refusal.frame - hold.first])
    return lifted or pull_towards_search(hold, path, motion, failing)


def _judge_motion(
    hold: HoldSearch, q: Float[np.ndarray, "T J"], checked: CheckedMotion
) -> ExactContacts | Refusal:
    """Exact contacts of a checked motion that holds, or why it does not."""
    failing = np.flatnonzero(checked.verdict)
    if failing.size:
        return Refusal(
            hold.first + int(failing[0]),
            _CAUSES[int(checked.verdict[failing[0]])],
            is_penetrating=bool((checked.verdict == PENETRATING).any()),
            failing=failing,
        )
    exact = exact_contacts(hold, q, checked)
    if isinstance(exact, Refusal):
        return exact
    leap = find_leaping_frame(hold, q)
    if leap is not None:
        return Refusal(leap, "a finger leaps. Let the wrist move more slowly.")
    found = exact.found
    digit = np.where(
        found.capsule >= 0, hold.data.hands.digit_of_capsule[np.maximum(found.capsule, 0)], -1
    )
    left = find_unpinned_frame(
        hold.policy.schedule, hold.start - hold.first, found.frame, digit, found.point
    )
    if left is not None:
        return Refusal(hold.first + left, "a digit has rolled off its pin. Shorten the pin.")
    left = _find_stray_frame(hold, exact, digit)
    if left is not None:
        return Refusal(
            hold.first + left,
            "a digit holds the body beside the part that it was told to. Loosen grasp_region or "
            "grasp_regions.",
        )
    return exact


def _find_stray_frame(
    hold: HoldSearch, exact: ExactContacts, digit: Int[np.ndarray, " N"]
) -> int | None:
    """First frame of the hold in which a digit bears force only beside the part it is to hold."""
    found, parts = exact.found, hold.parts
    bears = np.linalg.norm(exact.force, axis=1) > _LEAST_FORCE * hold.data.weight
    for t in np.unique(found.frame) if parts.all_regions() else ():
        for d in range(len(parts.regions)):
            own = (found.frame == t) & (digit == d)
            if (own & bears).any() and parts.strays(d, found.point[own], -found.normal[own]):
                return int(t)
    return None


def find_leaping_frame(hold: HoldSearch, q: Float[np.ndarray, "T J"]) -> int | None:
    """First frame of the problem into which a joint leaps, as when a finger comes unstuck."""
    speed = np.abs(np.diff(q, axis=0)) / np.diff(hold.times)[:, None]
    leaps = jumping_steps(speed, hold.times, JOINT_LEAP_SPEED)
    frames = np.flatnonzero(np.any(leaps, axis=1))
    return hold.first + int(frames[0]) + 1 if frames.size else None
