"""Whether contacts can carry the body, and for how long: those of grasps, plans and digits."""

from __future__ import annotations

import numpy as np

from handwright.kernels.decorators import compiled, inlined, kernel, linked
from handwright.kinematics.tree import placed
from handwright.mechanics.cones import MAX_ITERATIONS, PENALTY, solve_cones
from handwright.mechanics.pyramid import MAX_PIVOTS, solve_pyramids
from handwright.mechanics.wrench import ForceProgram
from handwright.methods.sampling.search.contacts import add_ground
from handwright.methods.sampling.search.forces import FORCE_TOLERANCE
from handwright.methods.sampling.search.posing import place_hands, pose_alone, set_touching_point
from handwright.methods.sampling.search.step import SearchState
from handwright.methods.sampling.search.workspace import FLY, HOLD, SLIDE, Workspace
from handwright.methods.sampling.setup.hold_data import HoldData

FINGER_WIDTH = 0.013
"""Pads of two digits are no nearer than this, m."""
SPARE_FRICTION = 0.6
"""Share of the friction with which a good grasp still holds."""
UNKNOWN, NO, YES = -1, 0, 1
"""Whether a digit can keep its contact up to a later frame."""


@linked
def can_keep_contact(state: SearchState, t: int, d: int, later: int) -> bool:
    """Whether a digit can keep the guiding point of row t until a later frame."""
    data, path, work = state.data, state.path, state.work
    for j in range(path.q.shape[1]):
        work.spare[j] = path.q[t, j]
    place_hands(data, later, work.spare, work.now)
    set_touching_point(data, d, path.link[t, d], path.local[t, d])
    pose_alone(
        data, later, d, path.target[t, d], path.normal[t, d], path.q[t], state.steps.alone, work
    )
    local, target = path.local[t, d], path.target[t, d]
    x, y, z = placed(work.now, path.link[t, d], local[0], local[1], local[2])
    miss = np.sqrt((x - target[0]) ** 2 + (y - target[1]) ** 2 + (z - target[2]) ** 2)
    return miss < data.limits.anchor


@inlined
def _add_static(
    data: HoldData, work: Workspace, n: int, point: np.ndarray, normal: np.ndarray
) -> None:
    """Writes contact ``n``, which does not slide."""
    for i in range(3):
        work.contacts.arm[n, i] = point[i] - data.center[i]
        work.contacts.normal[n, i] = -normal[i]
        work.contacts.drag[n, i] = 0.0
    work.contacts.friction[n] = data.friction * data.limits.friction_margin
    work.contacts.weight[n] = 1.0
    work.contacts.cap[n] = np.inf


@linked
def can_carry(data: HoldData, t: int, n: int, work: Workspace) -> bool:
    """Whether the first ``n`` contacts in ``work`` can move the body as frame ``t`` asks."""
    program = ForceProgram(
        work.contacts, n, data.wrench[t], data.weight, data.gyration, FORCE_TOLERANCE
    )
    status, total, _ = solve_pyramids(work.pyramid, program, MAX_PIVOTS)
    if status != 0:
        status, total, _ = solve_cones(work.cone, program, PENALTY, MAX_ITERATIONS)
    return status == 0 and total <= data.limits.force * data.weight


@kernel
def count_carried_key_frames(
    state: SearchState, chosen: np.ndarray, first: int, share: float
) -> int:
    """Counts the key frames from ``first`` on in which a grasp carries the body.

    Args:
        state: The search.
        chosen: (D,) candidate of each digit, or -1.
        first: Number of the first key frame.
        share: Share of the friction of hands that is used.
    """
    data, candidates, work = state.data, state.candidates, state.work
    count = 0
    for k in range(first, candidates.frame.shape[0]):
        t = candidates.frame[k]
        n = add_ground(data, t, work)
        for d in range(chosen.shape[0]):
            m = chosen[d]
            if m >= 0 and candidates.cost[d, m, k] < np.inf:
                _add_static(data, work, n, candidates.point[m], candidates.normal[m])
                work.contacts.friction[n] *= share
                n += 1
        if not can_carry(data, t, n, work):
            break
        count += 1
    return count


@inlined
def _copy_contact(work: Workspace, source: int, to: int) -> None:
    contacts = work.contacts
    for i in range(3):
        contacts.arm[to, i] = contacts.arm[source, i]
        contacts.normal[to, i] = contacts.normal[source, i]
        contacts.drag[to, i] = contacts.drag[source, i]
    contacts.friction[to] = contacts.friction[source]
    contacts.weight[to] = contacts.weight[source]
    contacts.cap[to] = contacts.cap[source]


@compiled
def count_posed_key_frames(state: SearchState, share: float) -> int:
    """Counts the key frames in which the contacts of frame 0, just solved, carry the body.

    Candidates are only where digits should touch; this asks with all parts of the hand, where they
    do touch.

    Args:
        state: The search.
        share: Share of the friction of hands that is used.
    """
    data, candidates, work = state.data, state.candidates, state.work
    ground, total = work.found.num[1], work.found.num[0]
    hands = total - ground
    # They are moved out of the way of the ground contacts, whose number differs between frames.
    away = work.contacts.friction.shape[0] - hands
    for n in range(hands - 1, -1, -1):
        _copy_contact(work, ground + n, away + n)
        work.contacts.friction[away + n] *= share
    count = 0
    for k in range(candidates.frame.shape[0]):
        t = candidates.frame[k]
        first = add_ground(data, t, work)
        for n in range(hands):
            _copy_contact(work, away + n, first + n)
        if not can_carry(data, t, first + hands, work):
            break
        count += 1
    # The contacts are left as they were found.
    add_ground(data, 0, work)
    for n in range(hands):
        _copy_contact(work, away + n, ground + n)
        work.contacts.friction[ground + n] /= share
    return count


@linked
def can_carry_without(state: SearchState, t: int, end: int, is_away: np.ndarray) -> bool:
    """Whether the digits that touch in row t can carry the body until ``end`` without some.

    Digits that slide by the plan have kinetic friction along their way only.

    Args:
        state: The search.
        t: Row of the path.
        end: Last frame.
        is_away: (D,) which digits do not help.
    """
    data, path, work = state.data, state.path, state.work
    last = data.wrench.shape[0] - 1
    for later in (t, (t + end) // 2, end):
        frame = min(later, last)
        n = add_ground(data, frame, work)
        for d in range(is_away.shape[0]):
            if is_away[d] or (path.mode[t, d] != HOLD and path.mode[t, d] != SLIDE):
                continue
            _add_static(data, work, n, path.target[t, d], path.normal[t, d])
            if path.mode[t, d] == SLIDE:
                x, y, z = path.slide[t, d, 0], path.slide[t, d, 1], path.slide[t, d, 2]
                speed = max(np.sqrt(x * x + y * y + z * z), 1e-12)
                work.contacts.drag[n, 0] = x / speed
                work.contacts.drag[n, 1] = y / speed
                work.contacts.drag[n, 2] = z / speed
            n += 1
        if not can_carry(data, frame, n, work):
            return False
    return True


@inlined
def _is_near(a: np.ndarray, b: np.ndarray) -> bool:
    square = 0.0
    for i in range(3):
        square += (a[i] - b[i]) ** 2
    return np.sqrt(square) < FINGER_WIDTH


@kernel
def _is_crowded(point: np.ndarray, chosen: np.ndarray, taken: np.ndarray) -> bool:
    """Whether two digits would be too near to each other, or one to a point that is taken."""
    for d in range(chosen.shape[0]):
        if chosen[d] < 0:
            continue
        for e in range(d):
            if chosen[e] >= 0 and _is_near(point[chosen[d]], point[chosen[e]]):
                return True
        for n in range(taken.shape[0]):
            if _is_near(point[chosen[d]], taken[n]):
                return True
    return False


@compiled
def score_grasps(
    state: SearchState, chosen: np.ndarray, first: int, taken: np.ndarray, score: np.ndarray
) -> None:
    """Writes for how many key frames grasps carry the body, with all and with less friction.

    Args:
        state: The search.
        chosen: (N, D) candidate of each digit, or -1.
        first: Number of the first key frame.
        taken: (M, 3) points that other digits hold, m.
        score: (N,) is written; 0 also where two digits would be too near to each other.
    """
    for row in range(chosen.shape[0]):
        score[row] = 0.0
        if _is_crowded(state.candidates.point, chosen[row], taken):
            continue
        lasts = count_carried_key_frames(state, chosen[row], first, 1.0)
        if lasts > 0:
            score[row] = lasts + count_carried_key_frames(state, chosen[row], first, SPARE_FRICTION)


@linked
def count_carried_horizons(
    state: SearchState,
    t: int,
    frames: np.ndarray,
    keys: np.ndarray,
    keeps: np.ndarray,
    share: float,
) -> int:
    """Counts the horizons, one after the other, up to which the plan of row t carries the body.

    Args:
        state: The search.
        t: Row of the path.
        frames: (H,) frames of the horizons.
        keys: (H,) key frames for them.
        keeps: (D, H) whether digits keep their contacts so long; written where it is ``UNKNOWN``.
        share: Share of the friction of hands that is used.
    """
    data, path, candidates, work = state.data, state.path, state.candidates, state.work
    for h in range(frames.shape[0]):
        for d in range(keeps.shape[0]):
            # This comes before contacts are written, because it overwrites the links of the frame.
            if path.mode[t, d] == HOLD and keeps[d, h] == UNKNOWN:
                keeps[d, h] = YES if can_keep_contact(state, t, d, frames[h]) else NO
        n = add_ground(data, frames[h], work)
        for d in range(keeps.shape[0]):
            mode, m = path.mode[t, d], path.fly_candidate[t, d]
            if (mode == HOLD and keeps[d, h] == YES) or mode == SLIDE:
                _add_static(data, work, n, path.target[t, d], path.normal[t, d])
            elif (
                mode == FLY
                and path.fly_end[t, d] < frames[h]
                and candidates.cost[d, m, keys[h]] < np.inf
            ):
                _add_static(data, work, n, candidates.point[m], candidates.normal[m])
            else:
                continue
            work.contacts.friction[n] *= share
            n += 1
        if not can_carry(data, frames[h], n, work):
            return h
    return int(frames.shape[0])
