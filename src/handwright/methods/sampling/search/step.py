"""One step of the search: from the plan in row t of the path to a feasible frame t + 1, or none."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.kernels.decorators import compiled, inlined, kernel, linked
from handwright.methods.sampling.search import vec3
from handwright.methods.sampling.search.contacts import (
    BACKWARD,
    collect_central_contacts,
    reset_force_weights,
)
from handwright.methods.sampling.search.frame import (
    CROSSED,
    FEASIBLE,
    UNBALANCED,
    check_frame,
    find_forces,
)
from handwright.methods.sampling.search.posing import place_hands, pose_digits
from handwright.methods.sampling.search.workspace import (
    FLY,
    FREE,
    HOLD,
    SLIDE,
    Path,
    Workspace,
    copy_motion,
)
from handwright.methods.sampling.setup.candidates import Candidates
from handwright.methods.sampling.setup.hold_data import HoldData

# A contact that has rolled this far from its guiding point, m, becomes the guiding point: a digit
# that turns about the normal moves what touches beside its guiding point over the body.
_ROLL = 3e-4
# Share of the way to rest by which posed digits relax from frame to frame, and its limit, rad.
_RELAXING, _RELAXED = 0.1, 0.02
IDLE_LOAD = 0.01
"""Load below which a digit is idle, in weights of the body."""
# Normals before and after a step of a slide agree by this cosine, or there is an edge in between.
_MIN_SLIDE_COSINE = 0.8
# Height of a relocating pad over the surface, m.
_LIFT = 0.010
TRIES = 3
"""Largest number of times that a frame is posed."""


class SearchState(NamedTuple):
    """All that the compiled parts of the search read and write."""

    data: HoldData
    candidates: Candidates
    path: Path
    work: Workspace


@linked
def advance(state: SearchState, t: int) -> None:
    """Prepares frame t + 1: its guiding points from the plan in row t, bounds and weights."""
    data, path, work = state.data, state.path, state.work
    guide = work.guide
    for d in range(guide.mode.shape[0]):
        guide.mode[d] = path.mode[t, d]
        guide.link[d] = path.link[t, d]
        vec3.copy(guide.local[d], path.local[t, d])
        vec3.copy(guide.target[d], path.target[t, d])
        vec3.copy(guide.normal[d], path.normal[t, d])
        if path.mode[t, d] == SLIDE:
            _slide(data, path, t, d, work)
        elif path.mode[t, d] == FLY:
            _fly(data, path, t, d, work)
        work.force_weight[d] = data.idle_force_factor if path.load[t, d] < IDLE_LOAD else 1.0
        work.is_landing[d] = path.mode[t, d] == FLY
        work.must_touch[d] = False
    place_hands(data, t, path.q[t], work.before)
    for c in range(work.sheared.shape[0]):
        vec3.copy(work.sheared[c], path.shear[t, c])
    step = data.limits.step
    for j in range(path.q.shape[1]):
        before = path.q[t, j]
        path.q[t + 1, j] = before
        low, high = data.low[t + 1, j], data.high[t + 1, j]
        work.low[j] = min(max(before - step, low), high)
        work.high[j] = max(min(before + step, high), low)
        # This is slow, because a digit that turns about its contact rolls on it.
        away = data.curled[t + 1, j] - before
        # What a guide's hand does in the meantime is added; without one nothing is.
        work.reference[j] = before + (data.curled[t + 1, j] - data.curled[t, j])
        work.reference[j] += min(max(_RELAXING * away, -_RELAXED), _RELAXED)
    for d in range(guide.mode.shape[0]):
        if guide.mode[d] != FREE:
            continue
        openness = 1
        for e in range(guide.mode.shape[0]):
            if data.hands.hand_of_digit[e] == data.hands.hand_of_digit[d] and guide.mode[e] in (
                HOLD,
                SLIDE,
            ):
                openness = 0
        for n in range(data.hands.table.free.shape[1]):
            j = data.hands.table.free[d, n]
            if j < 0:
                break
            moved = data.ready[t + 1, openness, j] - data.ready[t, openness, j]
            work.reference[j] = 0.8 * path.q[t, j] + 0.2 * data.ready[t + 1, openness, j]
            work.reference[j] += 0.8 * moved


@inlined
def _slide(data: HoldData, path: Path, t: int, d: int, work: Workspace) -> None:
    """Moves the guiding point of a digit that slides over the surface."""
    guide = work.guide
    p = vec3.shifted(vec3.read(guide.target[d]), 1.0, vec3.read(path.slide[t, d]))
    value, gradient = vec3.distance_at(data.field, p)
    size = max(vec3.length(gradient), 1e-9)
    normal = vec3.divided(gradient, size)
    if vec3.dot(normal, vec3.read(guide.normal[d])) < _MIN_SLIDE_COSINE:
        # Over an edge: the digit stops in front of it.
        guide.mode[d] = HOLD
        return
    vec3.write(guide.normal[d], normal)
    vec3.write(guide.target[d], vec3.shifted(p, -value / size, normal))


@inlined
def _fly(data: HoldData, path: Path, t: int, d: int, work: Workspace) -> None:
    """Moves the guiding point of a digit that is on a flight."""
    guide = work.guide
    begin, end = path.fly_begin[t, d], path.fly_end[t, d]
    goal = vec3.read(path.fly_goal[t, d])
    guide.link[d] = data.pad_links[d, path.fly_pad[t, d]]
    vec3.copy(guide.local[d], data.pads[d, path.fly_pad[t, d]])
    if t + 1 >= end:
        guide.mode[d] = HOLD
        vec3.write(guide.target[d], goal)
        vec3.copy(guide.normal[d], path.fly_normal[t, d])
        return
    s = (t + 1 - begin) / (end - begin)
    # Straight up at first and straight down at last, so that it touches without sliding.
    over = min(max((s - 0.2) / 0.6, 0.0), 1.0)
    smooth = over * over * (3.0 - 2.0 * over)
    p = vec3.shifted(vec3.scaled(1.0 - smooth, vec3.read(path.fly_from[t, d])), smooth, goal)
    value, gradient = vec3.distance_at(data.field, p)
    height = _LIFT * np.sin(np.pi * s)
    if value < height:
        normal = vec3.divided(gradient, max(vec3.length(gradient), 1e-9))
        vec3.write(guide.normal[d], normal)
        p = vec3.shifted(p, height - value, normal)
    vec3.write(guide.target[d], p)


@linked
def solve_frame(state: SearchState, t: int, tries: int, has_before: bool, is_exact: bool) -> int:
    """Poses and checks frame t, which has been prepared; writes it to the path if it is feasible.

    Digits are posed one after the other. If they are in each other's way, or in the body, they are
    posed again, ``tries`` times in all, without those that have lost their contacts.
    """
    data, path, work = state.data, state.path, state.work
    verdict = CROSSED
    for _ in range(tries):
        pose_digits(data, t, path.q[t], work)
        verdict = check_frame(data, t, work, has_before, is_exact)
        if verdict in (FEASIBLE, UNBALANCED):
            break
        _release_blamed_digit(work)
    if verdict == FEASIBLE:
        update_guides(data, work, has_before)
        _write_frame(path, t, work)
    return verdict


@kernel
def _release_blamed_digit(work: Workspace) -> None:
    """Frees a digit that is in the way and does not hold: it lost its contact, or is flying."""
    guide = work.guide
    for n in range(2):
        d = work.found.blame[n]
        if d < 0 or work.must_touch[d]:
            continue
        if guide.mode[d] == FLY or (guide.mode[d] == HOLD and work.is_lost[d]):
            guide.mode[d] = FREE
            return


@inlined
def _foremost_contact(data: HoldData, work: Workspace, d: int) -> int:
    """The foremost contact of a digit, or -1.

    Capsules are ordered along a digit, so the last one counts, without the faces beside it.
    """
    found, link_of, seed = work.found, data.hands.table.capsule_link, -1
    for n in range(found.num[1], found.num[0]):
        c = found.capsule[n]
        if data.hands.digit_of_capsule[c] != d:
            continue
        last = found.capsule[max(seed, 0)]
        if seed < 0 or (c != last and link_of[c] >= link_of[last]):
            seed = n
    return seed


@kernel
def update_guides(data: HoldData, work: Workspace, has_before: bool) -> None:
    """Moves guiding points to where digits touch now, if they have rolled, slid or come off.

    The foremost contact of a digit is its seed (section 4.2).
    """
    found, now, guide = work.found, work.now, work.guide
    for d in range(guide.mode.shape[0]):
        if guide.mode[d] != HOLD and not (work.is_lost[d] and guide.mode[d] == SLIDE):
            continue
        seed = _foremost_contact(data, work, d)
        if seed < 0:
            if work.is_lost[d]:
                guide.mode[d] = FREE
            continue
        link = data.hands.table.capsule_link[found.capsule[seed]]
        normal, point = vec3.read(work.contacts.normal[seed]), vec3.read(found.point[seed])
        # How far a guiding point that is kept is beside its target: the next one makes up for it,
        # or contacts would creep away as they roll.
        missed = (0.0, 0.0, 0.0)
        if not work.is_lost[d]:
            if link != guide.link[d]:
                continue
            target = vec3.read(guide.target[d])
            missed = vec3.tangential(
                vec3.minus(vec3.point_of(now, link, guide.local[d]), target), normal
            )
            slip, rolled = vec3.read(found.slip[seed]), vec3.minus(point, target)
            if not has_before or work.is_landing[d]:
                slip = missed
            has_slid = vec3.dot(slip, slip) > (BACKWARD * data.limits.slip) ** 2
            if not has_slid and vec3.dot(rolled, rolled) <= _ROLL**2:
                continue
            if has_slid:
                # It holds from where it is: to go back would be sliding again.
                missed = (0.0, 0.0, 0.0)
        guide.mode[d] = HOLD
        guide.link[d] = link
        vec3.write(guide.local[d], vec3.local_of(now, link, point))
        vec3.write(guide.target[d], vec3.minus(point, missed))
        vec3.write(guide.normal[d], vec3.scaled(-1.0, normal))


@kernel
def _write_frame(path: Path, t: int, work: Workspace) -> None:
    """Writes frame t to the path; the plan goes on as it was."""
    guide, found = work.guide, work.found
    old = max(t - 1, 0)
    path.window_end[t] = path.window_end[old]
    for c in range(work.shear.shape[0]):
        vec3.copy(path.shear[t, c], work.shear[c])
    for d in range(guide.mode.shape[0]):
        path.mode[t, d] = path.reached[t, d] = guide.mode[d]
        path.kept[t, d] = not work.is_lost[d]
        path.link[t, d] = guide.link[d]
        path.load[t, d], path.ratio[t, d] = found.load[d], found.ratio[d]
        vec3.copy(path.local[t, d], guide.local[d])
        vec3.copy(path.target[t, d], guide.target[d])
        vec3.copy(path.normal[t, d], guide.normal[d])
        vec3.copy(path.pull[t, d], found.pull[d])
        copy_motion(path, old, path, t, d)


@compiled
def pose_free_digits(
    state: SearchState, first: int, last: int, wanted: Float[np.ndarray, "T J"]
) -> None:
    """Poses digits that are off the body frame by frame from ``first`` to ``last``.

    Only their postures count: whether a hand that is off the body carries it is not asked. Row
    ``first`` of the path is where this begins; ``last`` may be later or earlier. The postures that
    are ``wanted`` are in rad.
    """
    data, work, q = state.data, state.work, state.path.q
    for d in range(work.guide.mode.shape[0]):
        work.guide.mode[d] = FREE
    step, t = 1 if last > first else -1, first
    while t != last:
        before, t = q[t], t + step
        for j in range(q.shape[1]):
            low, high = data.low[t, j], data.high[t, j]
            q[t, j] = before[j]
            work.low[j] = min(max(before[j] - data.limits.step, low), high)
            work.high[j] = min(max(before[j] + data.limits.step, low), high)
            work.reference[j] = 0.75 * before[j] + 0.25 * wanted[t, j]
        pose_digits(data, t, q[t], work)


@kernel
def pad_position(state: SearchState, t: int, d: int, variant: int) -> vec3.Vector:
    """Where a point of a digit's skin that may touch is in row t, in the body's frame, m."""
    data, work = state.data, state.work
    place_hands(data, t, state.path.q[t], work.now)
    return vec3.point_of(work.now, data.pad_links[d, variant], data.pads[d, variant])


@linked
def still_holds(state: SearchState, t: int) -> bool:
    """Whether frame t of a path is in balance by central differences, once frame t + 1 is known.

    A digit that sets out, or stops, moves over the body in that frame already.
    """
    data, shear, work = state.data, state.path.shear, state.work
    before = max(t - 1, 0)
    reset_force_weights(work)
    for c in range(work.sheared.shape[0]):
        for i in range(3):
            work.sheared[c, i] = shear[before, c, i] if before < t else 0.0
    collect_central_contacts(data, state.path.q, t, work, before > t)
    for c in range(work.shear.shape[0]):
        vec3.copy(shear[t, c], work.shear[c])
    return find_forces(data, t, work, before > t)


@compiled
def take_step(state: SearchState, t: int, is_exact: bool) -> int:
    """Goes on to frame t + 1 by the plan in row t; FEASIBLE, or what either frame fails by.

    ``is_exact`` says whether the least forces themselves are wanted.
    """
    advance(state, t)
    verdict = solve_frame(state, t + 1, TRIES, True, is_exact)
    if verdict == FEASIBLE and not still_holds(state, t):
        return UNBALANCED
    return verdict
