"""Whether contacts can carry the body, and for how long: those of grasps, plans and digits."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.kernels.decorators import compiled, inlined, kernel, linked
from handwright.methods.sampling.search import vec3
from handwright.methods.sampling.search.contacts import add_ground
from handwright.methods.sampling.search.frame import solve_by_cones, solve_by_pyramids
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
    target, normal, weights = path.target[t, d], path.normal[t, d], data.alone_weights
    return pose_alone(data, later, d, target, normal, path.q[t], weights, work) < data.limits.anchor


@inlined
def _add_static(
    data: HoldData,
    work: Workspace,
    n: int,
    point: Float[np.ndarray, " 3"],
    normal: Float[np.ndarray, " 3"],
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
    status, total = solve_by_pyramids(data, t, n, work)
    if status != 0:
        status, total = solve_by_cones(data, t, n, work)
    return status == 0 and total <= data.limits.force * data.weight


@kernel
def count_carried_key_frames(
    state: SearchState, chosen: Int[np.ndarray, " D"], first: int, share: float
) -> int:
    """Counts the key frames from number ``first`` on in which a grasp carries the body.

    A grasp has a candidate for each digit, or -1; hands use a share of their friction.
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
    vec3.copy(contacts.arm[to], contacts.arm[source])
    vec3.copy(contacts.normal[to], contacts.normal[source])
    vec3.copy(contacts.drag[to], contacts.drag[source])
    contacts.friction[to] = contacts.friction[source]
    contacts.weight[to] = contacts.weight[source]
    contacts.cap[to] = contacts.cap[source]


@compiled
def count_posed_key_frames(state: SearchState, share: float) -> int:
    """Counts the key frames in which the contacts of frame 0, just solved, carry the body.

    Candidates are only where digits should touch; this asks with all parts of the hand, where they
    do touch. Hands use a share of their friction.
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
def can_carry_without(
    state: SearchState, t: int, end: int, is_away: Bool[np.ndarray, " D"]
) -> bool:
    """Whether digits that touch in row t can carry the body until frame ``end`` without some.

    Digits that slide by the plan have kinetic friction along their way only.
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
                slide = vec3.read(path.slide[t, d])
                vec3.write(
                    work.contacts.drag[n], vec3.divided(slide, max(vec3.length(slide), 1e-12))
                )
            n += 1
        if not can_carry(data, frame, n, work):
            return False
    return True


@inlined
def _is_near(a: Float[np.ndarray, " 3"], b: Float[np.ndarray, " 3"]) -> bool:
    return vec3.length(vec3.minus(vec3.read(a), vec3.read(b))) < FINGER_WIDTH


@kernel
def _is_crowded(
    point: Float[np.ndarray, "M 3"], chosen: Int[np.ndarray, " D"], taken: Float[np.ndarray, "K 3"]
) -> bool:
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
    state: SearchState,
    chosen: Int[np.ndarray, "N D"],
    first: int,
    taken: Float[np.ndarray, "M 3"],
    score: Float[np.ndarray, " N"],
) -> None:
    """Writes for how many key frames grasps carry the body, with all and with less friction.

    It is 0 also where two digits would be too near to each other, or one to a point, m, that
    another digit has taken. ``first`` is the number of the first key frame.
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
    frames: Int[np.ndarray, " H"],
    keys: Int[np.ndarray, " H"],
    keeps: Int[np.ndarray, "D H"],
    share: float,
) -> int:
    """Counts the horizons, one after the other, up to which the plan of row t carries the body.

    Horizons have frames and key frames. Whether digits keep their contacts so long is written to
    ``keeps`` where it is ``UNKNOWN``. Hands use a share of their friction.
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
