"""The test of one frame of contact sampling against the same test from off-the-shelf parts.

One frame: bend the digits to their guiding points without sinking in, collect the contacts, ask the
cone program whether they can move the body. The peer bends by SLSQP of scipy, with derivatives, and
asks Clarabel. All else is shared with ours, which makes the peer faster than it would be by itself:
kinematics, distances and the collecting of contacts are our compiled ones, a capsule's skin is one
constraint, and the surroundings are left out.
"""

from __future__ import annotations

import time
from functools import partial
from typing import NamedTuple

import numpy as np

from handwright.benchmarks.force_problems import ForceProblem, solve_by_clarabel
from handwright.benchmarks.sampling_slsqp import DigitProblem, bend_by_slsqp
from handwright.benchmarks.timing import best_seconds
from handwright.core.problem import Problem
from handwright.errors import InvalidValueError
from handwright.math.compiled import compiled
from handwright.mechanics import ForceContacts
from handwright.methods import ContactSampling
from handwright.methods.sampling.attempts import run_attempts, warm_up
from handwright.methods.sampling.frame import (
    FINE,
    FLY,
    FREE,
    Guide,
    Room,
    check_frame,
    collect_contacts,
    digits_crossed,
    place_hands,
    pose_digits,
)
from handwright.methods.sampling.path import Path
from handwright.methods.sampling.prepare import Prepared, prepare
from handwright.methods.sampling.stage import Stage

NUM_FRAMES = 10
_SWEEPS = 2
_PEER_REPEATS = 2
_REST_SHARE = 0.1


class PeerFigures(NamedTuple):
    """Times for one frame, and whether both came to the same."""

    ours_us: float
    peer_ms: float
    peer_ik_ms: float
    peer_forces_ms: float
    ratio: float
    agree: float
    """Share of the frames on which the two verdicts are the same."""
    feasible: float
    """Share of the frames that ours finds feasible, as the search did."""
    ours_miss_mm: float
    """Largest distance of a pad from its guiding point."""
    peer_miss_mm: float
    frames: int


@compiled
def _test_frames(
    stage: Stage,
    path: Path,
    frames: np.ndarray,
    guide: Guide,
    room: Room,
    posed: np.ndarray,
    verdict: np.ndarray,
) -> None:
    """Tests frames of a path as the search does, each from the posture of the frame before."""
    for k in range(frames.shape[0]):
        t = frames[k]
        guide.mode[:] = path.reached[t]
        guide.link[:] = path.link[t]
        guide.local[:] = path.local[t]
        guide.target[:] = path.target[t]
        guide.normal[:] = path.normal[t]
        before = path.q[t - 1]
        place_hands(stage, t - 1, before, room.before)
        q = posed[k]
        q[:] = before
        step = stage.limits.step
        for j in range(q.shape[0]):
            room.low[j] = min(max(q[j] - step, stage.low[t, j]), stage.high[t, j])
            room.high[j] = max(min(q[j] + step, stage.high[t, j]), stage.low[t, j])
            room.reference[j] = (1.0 - _REST_SHARE) * q[j] + _REST_SHARE * stage.rest[j]
        room.price[:] = 1.0
        for d in range(guide.mode.shape[0]):
            room.is_landing[d] = path.mode[t - 1, d] == FLY
        pose_digits(stage, t, guide, q, room, _SWEEPS)
        verdict[k] = check_frame(stage, t, guide, q, room, True, True)


def solved_path(problem: Problem, *, seed: int, budget: float) -> tuple[Prepared, Path]:
    """A path that the search finds through a problem with one hand and one body.

    Args:
        problem: Tracks of all.
        seed: Of the search.
        budget: s.
    """
    method = ContactSampling(num_solutions=1, time_budget=budget)
    prepared = prepare(problem, method)
    warm_up(prepared[0])
    deadline = time.monotonic() + budget
    for attempt in run_attempts(problem, method, prepared, seed, deadline):
        if attempt.parts is not None:
            return prepared[0], attempt.parts[0].path
    raise InvalidValueError(
        f"'{problem.name}' was not solved in {budget:g} s, so that there are no frames to compare. "
        "Give --budget more seconds."
    )


def measure_frames(one: Prepared, path: Path, num_frames: int = NUM_FRAMES) -> PeerFigures:
    """Times both tests on frames spread evenly over a path."""
    stage, room = one.searched, one.room
    digits = len(stage.hand_of_digit)
    frames = np.unique(np.linspace(1, len(path.q) - 1, num_frames).round().astype(np.int64))
    guide = Guide(
        np.zeros(digits, dtype=np.int64), np.zeros(digits, dtype=np.int64), np.zeros((digits, 3)),
        np.zeros((digits, 3)), np.zeros((digits, 3)),
    )  # fmt: skip
    posed, verdict = np.zeros((len(frames), path.q.shape[1])), np.full(len(frames), -1)
    ours = best_seconds(
        lambda: _test_frames(stage, path, frames, guide, room, posed, verdict), repeats=20
    )
    peer_ik = peer_forces = 0.0
    agreed = 0
    misses = np.zeros((2, len(frames)))
    for k, t in enumerate(frames):
        bend = _digit_problem(one, path, int(t))
        misses[0, k] = bend.misses(posed[k]).max(initial=0.0)
        q = bend_by_slsqp(bend)
        peer_ik += best_seconds(partial(bend_by_slsqp, bend), repeats=_PEER_REPEATS)
        ask = partial(_carried_by_clarabel, one, path, int(t), q)
        peer_forces += best_seconds(ask, repeats=_PEER_REPEATS)
        is_carried = ask()
        misses[1, k] = bend.misses(q).max(initial=0.0)
        depth = collect_contacts(stage, int(t), room, True)
        is_clear = digits_crossed(stage, room.now, stage.limits.digits)[0] < 0
        is_fine = (
            is_carried
            and is_clear
            and misses[1, k] <= stage.limits.anchor
            and depth <= stage.limits.penetration
        )
        agreed += int(bool(is_fine) == bool(verdict[k] == FINE))
    count = len(frames)
    peer = peer_ik + peer_forces
    return PeerFigures(
        ours_us=1e6 * ours / count,
        peer_ms=1e3 * peer / count,
        peer_ik_ms=1e3 * peer_ik / count,
        peer_forces_ms=1e3 * peer_forces / count,
        ratio=peer / ours,
        agree=agreed / count,
        feasible=float(np.mean(verdict == FINE)),
        ours_miss_mm=1e3 * float(misses[0].max()),
        peer_miss_mm=1e3 * float(misses[1].max()),
        frames=count,
    )


def _digit_problem(one: Prepared, path: Path, t: int) -> DigitProblem:
    stage, before = one.searched, path.q[t - 1]
    step, low, high = stage.limits.step, stage.low[t], stage.high[t]
    guided = path.reached[t] != FREE
    return DigitProblem(
        model=one.models[0],
        root_rotation=stage.root_rotation[t, 0],
        root_position=stage.root_position[t, 0],
        link=path.link[t][guided],
        local=path.local[t][guided],
        target=path.target[t][guided],
        is_held=path.reached[t][guided] != FLY,
        start=before.copy(),
        reference=(1.0 - _REST_SHARE) * before + _REST_SHARE * stage.rest,
        low=np.clip(before - step, low, high),
        high=np.clip(before + step, low, high),
        field=stage.field,
        samples=stage.samples,
        max_samples=int(stage.limits.max_samples),
        margin=float(stage.hold.object_margin),
        digit_margin=float(stage.hold.digit_margin),
    )


def _carried_by_clarabel(one: Prepared, path: Path, t: int, q: np.ndarray) -> bool:
    """Whether the contacts of a posture can move the body, by Clarabel."""
    stage, room = one.searched, one.room
    for d in range(len(stage.hand_of_digit)):
        room.is_landing[d] = path.mode[t - 1, d] == FLY
    place_hands(stage, t - 1, path.q[t - 1], room.before)
    place_hands(stage, t, q, room.now)
    collect_contacts(stage, t, room, True)
    count, table = int(room.found.num[0]), room.contacts
    contacts = ForceContacts(
        *(np.array(getattr(table, name)[:count]) for name in ForceContacts._fields)
    )
    problem = ForceProblem(contacts, stage.wrench[t].copy(), stage.weight, stage.gyration)
    return bool(np.isfinite(solve_by_clarabel(problem)))
