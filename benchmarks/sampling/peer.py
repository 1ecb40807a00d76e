"""The test of one frame of contact sampling against the same test from off-the-shelf parts.

One frame: bend the digits to their guiding points without sinking in, collect the contacts, ask the
cone program whether they can move the body. The peer bends by SLSQP of scipy, with derivatives, and
asks Clarabel. All else is shared with ours, which makes the peer faster than it would be by itself:
kinematics, distances and the collecting of contacts are our compiled ones, a capsule's skin is one
constraint, and the surroundings are left out.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.kernels.force_problems import ForceProblem, solve_by_clarabel
from benchmarks.sampling.slsqp import DigitProblem, bend_by_slsqp
from benchmarks.timing import best_seconds
from handwright.core.problem import Problem
from handwright.errors import InvalidValueError
from handwright.kernels.decorators import compiled
from handwright.kernels.packed import Packed
from handwright.mechanics import ForceContacts
from handwright.methods import ContactSampling
from handwright.methods.base import AttemptContext
from handwright.methods.sampling.search.contacts import collect_contacts
from handwright.methods.sampling.search.frame import FEASIBLE, find_crossed_digits
from handwright.methods.sampling.search.posing import place_hands
from handwright.methods.sampling.search.step import SearchState, advance, solve_frame
from handwright.methods.sampling.search.workspace import FREE, HOLD, SLIDE, Path, copy_path
from handwright.methods.sampling.setup.prepare import HoldSearch

NUM_FRAMES = 10
_SWEEPS = 2
_PEER_REPEATS = 2


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
    """Largest distance from its guiding point of a digit that keeps it."""
    peer_miss_mm: float
    frames: int


@compiled
def _collect(state: SearchState, t: int, q: np.ndarray) -> tuple[float, int]:
    """Contacts of a posture; returns the depth of the skin, m, and a digit that crosses or -1."""
    data, work = state.data, state.work
    place_hands(data, t, q, work.now)
    depth = collect_contacts(data, t, work, True)
    return depth, find_crossed_digits(data, work.now, data.limits.digits)[0]


def solved_path(problem: Problem, *, seed: int, budget: float) -> tuple[HoldSearch, Path]:
    """A path that the search finds through a problem with one hand and one body.

    Args:
        problem: Tracks of all.
        seed: Of the search.
        budget: Processor time, s.
    """
    search = ContactSampling(num_solutions=1, time_budget=budget).search(problem)
    search.warm_up()
    number, left = 0, budget
    while left > 0.0:
        context = AttemptContext(seed, number, 1, left)
        attempt = search.attempt(context)
        if attempt.found:
            return search.holds[0], attempt.found[0][0].path
        number, left = number + 1, left - context.used
    raise InvalidValueError(
        f"'{problem.name}' was not solved in {budget:g} s, so that there are no frames to compare. "
        "Give --budget more seconds."
    )


def _test_frame(state: Packed, t: int) -> int:
    """What the search does for one frame, with the cones asked for their least forces."""
    advance(state, t - 1)
    return int(solve_frame(state, t, _SWEEPS, True, True))


def measure_frames(hold: HoldSearch, path: Path, num_frames: int = NUM_FRAMES) -> PeerFigures:
    """Times both tests on frames spread evenly over a path."""
    frames = np.unique(np.linspace(1, len(path.q) - 1, num_frames).round().astype(np.int64))
    # Each frame has a path of its own, for the test writes its outcome there.
    own = [copy_path(path) for _ in frames]
    packed = [Packed(SearchState(hold.searched, hold.candidates, copy, hold.work)) for copy in own]
    rows = list(zip(packed, frames.tolist(), strict=True))
    ours = best_seconds(lambda: [_test_frame(state, t) for state, t in rows], repeats=20)
    peer_ik = peer_forces = 0.0
    agreed = feasible = 0
    misses = np.zeros((2, len(frames)))
    for k, (state, t) in enumerate(rows):
        advance(state, t - 1)
        bend = _digit_problem(hold, own[k], t)
        verdict = int(solve_frame(state, t, _SWEEPS, True, True))
        limits, kept = hold.searched.limits, _kept(hold, bend)
        misses[0, k] = bend.misses(own[k].q[t])[kept].max(initial=0.0)
        q = bend_by_slsqp(bend)
        peer_ik += best_seconds(partial(bend_by_slsqp, bend), repeats=_PEER_REPEATS)
        advance(state, t - 1)
        ask = partial(_carried_by_clarabel, hold, state, t, q)
        peer_forces += best_seconds(ask, repeats=_PEER_REPEATS)
        misses[1, k] = bend.misses(q)[kept].max(initial=0.0)
        depth, crossing = _collect(state, t, q)
        is_fine = (
            ask() and crossing < 0 and misses[1, k] <= limits.anchor and depth <= limits.penetration
        )
        agreed += int(bool(is_fine) == (verdict == FEASIBLE))
        feasible += int(verdict == FEASIBLE)
    count = len(frames)
    peer = peer_ik + peer_forces
    return PeerFigures(
        ours_us=1e6 * ours / count,
        peer_ms=1e3 * peer / count,
        peer_ik_ms=1e3 * peer_ik / count,
        peer_forces_ms=1e3 * peer_forces / count,
        ratio=peer / ours,
        agree=agreed / count,
        feasible=feasible / count,
        ours_miss_mm=1e3 * float(misses[0].max()),
        peer_miss_mm=1e3 * float(misses[1].max()),
        frames=count,
    )


def _digit_problem(hold: HoldSearch, path: Path, t: int) -> DigitProblem:
    """Guiding points and bounds of a frame that has been prepared."""
    data, guide, work = hold.searched, hold.work.guide, hold.work
    guided = guide.mode != FREE
    return DigitProblem(
        model=hold.models[0],
        root_rotation=data.root_rotation[t, 0],
        root_position=data.root_position[t, 0],
        digit=np.flatnonzero(guided),
        link=guide.link[guided],
        local=guide.local[guided],
        target=guide.target[guided],
        is_held=np.isin(guide.mode[guided], (HOLD, SLIDE)),
        start=path.q[t - 1].copy(),
        reference=work.reference.copy(),
        low=work.low.copy(),
        high=work.high.copy(),
        field=data.field,
        samples=data.hands.samples,
        max_samples=int(data.limits.max_samples),
        margin=float(data.hold_weights.object_margin),
        digit_margin=float(data.hold_weights.digit_margin),
    )


def _kept(hold: HoldSearch, bend: DigitProblem) -> np.ndarray:
    """Which of the held guiding points ours has met.

    The search lets digits roll off the others, or lets them go where they are in the way.
    """
    held = bend.digit[bend.is_held]
    return ~hold.work.is_lost[held].astype(bool) & (hold.work.guide.mode[held] != FREE)


def _carried_by_clarabel(hold: HoldSearch, state: Packed, t: int, q: np.ndarray) -> bool:
    """Whether the contacts of a posture can move the body, by Clarabel."""
    data, work = hold.searched, hold.work
    _collect(state, t, q)
    count, table = int(work.found.num[0]), work.contacts
    contacts = ForceContacts(*(column[:count].copy() for column in table))
    problem = ForceProblem(contacts, data.wrench[t].copy(), data.weight, data.gyration)
    return bool(np.isfinite(solve_by_clarabel(problem)))
