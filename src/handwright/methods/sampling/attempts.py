"""Independent attempts at a solution, one after the other or in several processes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from handwright.core.problem import Problem
from handwright.methods.sampling.exact_contacts import ExactContacts, exact_contacts
from handwright.methods.sampling.frame import CROSSED, MISSED, SUNK, UNMOVED
from handwright.methods.sampling.judge import judge_motion, make_judged
from handwright.methods.sampling.path import Path, make_path
from handwright.methods.sampling.prepare import Prepared, prepare
from handwright.methods.sampling.reconstruct import reconstruct
from handwright.methods.sampling.search import search
from handwright.methods.sampling.stage import part_of_stage
from handwright.methods.sampling.tally import make_tally

if TYPE_CHECKING:
    from handwright.methods.sampling.contact_sampling import ContactSampling

_WARM_FRAMES = 4
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


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one attempt came to."""

    parts: tuple[Part, ...] | None
    """One for each holding, or None if there is no solution."""
    strain: float
    """Mean square of joint values away from rest, and of their accelerations; smaller is calmer."""
    frames: int
    dead_ends: int
    furthest: int
    cause: str
    was_dropped: bool
    """Whether a path was found whose smooth motion did not hold."""
    seconds: dict[str, float]


def warm_up(one: Prepared) -> None:
    """Lets everything be compiled that an attempt uses, so that no time budget goes into it."""
    joints, digits = len(one.stage.rest), len(one.stage.hand_of_digit)
    path = make_path(one.stop - one.start, joints, digits)
    rng = np.random.default_rng(0)
    search(one.searched, one.candidates, one.policy, one.room, path, 0, rng, make_tally())
    few = part_of_stage(one.stage, 0, _WARM_FRAMES)
    path = make_path(_WARM_FRAMES, joints, digits)
    path.q[:] = one.stage.rest
    smooth = reconstruct(few, path, 0, one.models, one.hands.open, one.room)
    judged = make_judged(_WARM_FRAMES, len(one.stage.digit_of_capsule) + 16)
    judge_motion(few, smooth.q, one.room, judged)


def run_attempts(
    problem: Problem, method: ContactSampling, prepared: list[Prepared], seed: int, deadline: float
) -> Iterator[Attempt]:
    """Attempts in their order, for as long as there is time."""
    if method.num_workers == 1:
        number = 0
        while time.monotonic() < deadline:
            yield run_attempt(prepared, method, seed, number, deadline)
            number += 1
        return
    context = get_context("spawn")
    with ProcessPoolExecutor(
        method.num_workers, context, _start_worker, (problem, method, deadline)
    ) as pool:
        ahead = [pool.submit(_work, seed, number) for number in range(2 * method.num_workers)]
        number = len(ahead)
        try:
            while time.monotonic() < deadline:
                attempt = ahead.pop(0).result()
                ahead.append(pool.submit(_work, seed, number))
                number += 1
                yield attempt
        finally:
            for job in ahead:
                job.cancel()


_state: dict[str, object] = {}


def _start_worker(problem: Problem, method: ContactSampling, deadline: float) -> None:
    _state["prepared"] = prepare(problem, method)
    _state["method"] = method
    _state["deadline"] = deadline


def _work(seed: int, number: int) -> Attempt:
    return run_attempt(_state["prepared"], _state["method"], seed, number, _state["deadline"])  # type: ignore[arg-type]


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
    parts = []
    frames = dead_ends = furthest = 0
    strain = 0.0
    seconds = {"search": 0.0, "reconstruction": 0.0, "judging": 0.0}
    for index, one in enumerate(prepared):
        rng = np.random.default_rng([seed, number, index])
        tally = make_tally()
        path = make_path(one.stop - one.start, len(one.stage.rest), len(one.stage.hand_of_digit))
        begin = time.perf_counter()
        found = False
        while not found and tally.frames[0] < method.max_frames and time.monotonic() < deadline:
            found = search(
                one.searched,
                one.candidates,
                one.policy,
                one.room,
                path,
                min(int(tally.frames[0]) + 500, method.max_frames),
                rng,
                tally,
            )
        seconds["search"] += time.perf_counter() - begin
        frames += int(tally.frames[0])
        dead_ends += int(tally.dead_ends[0])
        furthest = one.start + int(tally.furthest[0])
        if not found:
            counts = {
                MISSED: int(tally.missed[0]),
                SUNK: int(tally.sunk[0]),
                CROSSED: int(tally.crossed[0]),
                UNMOVED: int(tally.unmoved[0]),
            }
            worst = max(counts, key=lambda name: counts[name])
            cause = (
                f"around frame {furthest}, {_CAUSES[worst]}"
                if counts[worst]
                else f"no first grasp of '{one.holding.body}' at frame {one.start} can carry it. "
                "Raise friction, lower the mass, or bring the wrist nearer."
            )
            return Attempt(None, np.inf, frames, dead_ends, furthest, cause, False, seconds)
        begin = time.perf_counter()
        smooth = reconstruct(
            one.stage, path, one.start - one.first, one.models, one.hands.open, one.room
        )
        seconds["reconstruction"] += time.perf_counter() - begin
        begin = time.perf_counter()
        capacity = len(one.stage.digit_of_capsule) + 16
        judged = make_judged(len(smooth.q), capacity)
        failing = judge_motion(one.strict, smooth.q, one.room, judged)
        contacts = None
        if not failing:
            contacts = exact_contacts(one, smooth.q, judged)
        seconds["judging"] += time.perf_counter() - begin
        if failing:
            frame = int(np.flatnonzero(judged.verdict)[0])
            cause = (
                f"after smoothing, at frame {one.first + frame}, "
                f"{_CAUSES[int(judged.verdict[frame])]}"
            )
            return Attempt(None, np.inf, frames, dead_ends, furthest, cause, True, seconds)
        if contacts is None:
            cause = "contacts crept, or did not hold on the exact surface of the body."
            return Attempt(None, np.inf, frames, dead_ends, furthest, cause, True, seconds)
        bend = (smooth.q - one.stage.rest) ** 2
        jolt = np.diff(smooth.q, n=2, axis=0) ** 2
        strain += float(bend.mean() + 100.0 * jolt.mean())
        parts.append(Part(smooth.q, contacts, path))
    return Attempt(tuple(parts), strain, frames, dead_ends, furthest, "", False, seconds)
