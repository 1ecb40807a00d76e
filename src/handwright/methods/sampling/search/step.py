"""One step of the search: from the plan in row t of the path to a feasible frame t + 1, or none."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.geometry.distance.sdf import field_value_gradient
from handwright.kernels.decorators import compiled, inlined, kernel, linked
from handwright.kinematics.ik.problem import IkWeights
from handwright.kinematics.tree import Links, placed
from handwright.methods.sampling.search.contacts import BACKWARD, collect_contacts
from handwright.methods.sampling.search.forces import find_forces
from handwright.methods.sampling.search.frame import CROSSED, FEASIBLE, UNBALANCED, check_frame
from handwright.methods.sampling.search.path import Path
from handwright.methods.sampling.search.posing import place_hands, pose_digits
from handwright.methods.sampling.search.slipping import find_central_slips, reset_force_weights
from handwright.methods.sampling.search.workspace import FLY, FREE, HOLD, SLIDE, Workspace
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


TRIES = 3
"""Largest number of times that a frame is posed."""


class Steps(NamedTuple):
    """Settings of single steps."""

    force_weight: Float[np.ndarray, "T D"]
    """Weight of normal force in the objective of the forces."""
    idle_force_factor: float
    """Factor on the weight for digits that carried nothing in the frame before."""
    lift: float
    """Height of a relocating pad over the surface, m."""
    alone: IkWeights
    """Weights of the inverse kinematics of one digit as if there were no others."""


class SearchState(NamedTuple):
    """All that the compiled parts of the search read and write."""

    data: HoldData
    candidates: Candidates
    steps: Steps
    path: Path
    work: Workspace


@linked
def advance(state: SearchState, t: int) -> None:
    """Prepares frame t + 1: its guiding points from the plan in row t, bounds and weights."""
    data, path, work, steps = state.data, state.path, state.work, state.steps
    guide = work.guide
    for d in range(guide.mode.shape[0]):
        guide.mode[d] = path.mode[t, d]
        guide.link[d] = path.link[t, d]
        for i in range(3):
            guide.local[d, i] = path.local[t, d, i]
            guide.target[d, i] = path.target[t, d, i]
            guide.normal[d, i] = path.normal[t, d, i]
        if path.mode[t, d] == SLIDE:
            _slide(data, path, t, d, work)
        elif path.mode[t, d] == FLY:
            _fly(data, path, t, d, work, steps.lift)
        was_idle = path.load[t, d] < IDLE_LOAD
        work.force_weight[d] = steps.force_weight[t + 1, d] * (
            steps.idle_force_factor if was_idle else 1.0
        )
        work.is_landing[d] = path.mode[t, d] == FLY
        work.must_touch[d] = False
    place_hands(data, t, path.q[t], work.before)
    for c in range(work.sheared.shape[0]):
        for i in range(3):
            work.sheared[c, i] = path.shear[t, c, i]
    step = data.limits.step
    for j in range(path.q.shape[1]):
        before = path.q[t, j]
        path.q[t + 1, j] = before
        low, high = data.low[t + 1, j], data.high[t + 1, j]
        work.low[j] = min(max(before - step, low), high)
        work.high[j] = max(min(before + step, high), low)
        # This is slow, because a digit that turns about its contact rolls on it.
        away = data.curled[j] - before
        work.reference[j] = before + min(max(_RELAXING * away, -_RELAXED), _RELAXED)
    for d in range(guide.mode.shape[0]):
        if guide.mode[d] != FREE:
            continue
        openness = 1
        for e in range(guide.mode.shape[0]):
            if data.hand_of_digit[e] == data.hand_of_digit[d] and guide.mode[e] in (HOLD, SLIDE):
                openness = 0
        for n in range(data.table.free.shape[1]):
            j = data.table.free[d, n]
            if j < 0:
                break
            work.reference[j] = 0.8 * path.q[t, j] + 0.2 * data.ready[openness, j]


@inlined
def _slide(data: HoldData, path: Path, t: int, d: int, work: Workspace) -> None:
    """Moves the guiding point of a digit that slides over the surface."""
    guide = work.guide
    x = guide.target[d, 0] + path.slide[t, d, 0]
    y = guide.target[d, 1] + path.slide[t, d, 1]
    z = guide.target[d, 2] + path.slide[t, d, 2]
    value, gx, gy, gz = field_value_gradient(data.field, x, y, z)
    size = max(np.sqrt(gx * gx + gy * gy + gz * gz), 1e-9)
    gx, gy, gz = gx / size, gy / size, gz / size
    cosine = gx * guide.normal[d, 0] + gy * guide.normal[d, 1] + gz * guide.normal[d, 2]
    if cosine < _MIN_SLIDE_COSINE:
        # Over an edge: the digit stops in front of it.
        guide.mode[d] = HOLD
        return
    far = value / size
    guide.normal[d, 0], guide.normal[d, 1], guide.normal[d, 2] = gx, gy, gz
    guide.target[d, 0], guide.target[d, 1], guide.target[d, 2] = (
        x - far * gx,
        y - far * gy,
        z - far * gz,
    )


@inlined
def _fly(data: HoldData, path: Path, t: int, d: int, work: Workspace, lift: float) -> None:
    """Moves the guiding point of a digit that is on a flight."""
    guide = work.guide
    begin, end = path.fly_begin[t, d], path.fly_end[t, d]
    guide.link[d] = data.pad_links[d, path.fly_pad[t, d]]
    for i in range(3):
        guide.local[d, i] = data.pads[d, path.fly_pad[t, d], i]
    if t + 1 >= end:
        guide.mode[d] = HOLD
        for i in range(3):
            guide.target[d, i] = path.fly_goal[t, d, i]
            guide.normal[d, i] = path.fly_normal[t, d, i]
        return
    s = (t + 1 - begin) / (end - begin)
    # Straight up at first and straight down at last, so that it touches without sliding.
    over = min(max((s - 0.2) / 0.6, 0.0), 1.0)
    smooth = over * over * (3.0 - 2.0 * over)
    for i in range(3):
        guide.target[d, i] = (1.0 - smooth) * path.fly_from[t, d, i] + smooth * path.fly_goal[
            t, d, i
        ]
    p = guide.target[d]
    value, gx, gy, gz = field_value_gradient(data.field, p[0], p[1], p[2])
    size = max(np.sqrt(gx * gx + gy * gy + gz * gz), 1e-9)
    height = lift * np.sin(np.pi * s)
    if value < height:
        guide.normal[d, 0], guide.normal[d, 1], guide.normal[d, 2] = gx / size, gy / size, gz / size
        for i in range(3):
            guide.target[d, i] += (height - value) * guide.normal[d, i]


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
    found, seed = work.found, -1
    for n in range(found.num[1], found.num[0]):
        c = found.capsule[n]
        if data.digit_of_capsule[c] == d and (
            seed < 0
            or (
                c != found.capsule[seed]
                and data.table.capsule_link[c] >= data.table.capsule_link[found.capsule[seed]]
            )
        ):
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
        link = data.table.capsule_link[found.capsule[seed]]
        normal = work.contacts.normal[seed]
        # How far a guiding point that is kept is beside its target: the next one makes up for it,
        # or contacts would creep away as they roll.
        mx = my = mz = 0.0
        if not work.is_lost[d]:
            if link != guide.link[d]:
                continue
            x, y, z = placed(now, link, guide.local[d, 0], guide.local[d, 1], guide.local[d, 2])
            mx, my, mz = x - guide.target[d, 0], y - guide.target[d, 1], z - guide.target[d, 2]
            along = mx * normal[0] + my * normal[1] + mz * normal[2]
            mx, my, mz = mx - along * normal[0], my - along * normal[1], mz - along * normal[2]
            square = slip = 0.0
            for i in range(3):
                square += (found.point[seed, i] - guide.target[d, i]) ** 2
                slip += found.slip[seed, i] ** 2
            if not has_before or work.is_landing[d]:
                slip = mx * mx + my * my + mz * mz
            has_slid = slip > (BACKWARD * data.limits.slip) ** 2
            if not has_slid and square <= _ROLL**2:
                continue
            if has_slid:
                # It holds from where it is: to go back would be sliding again.
                mx = my = mz = 0.0
        guide.mode[d] = HOLD
        guide.link[d] = link
        for i in range(3):
            guide.local[d, i] = 0.0
            for j in range(3):
                guide.local[d, i] += now.rotation[link, j, i] * (
                    found.point[seed, j] - now.position[link, j]
                )
        guide.target[d, 0] = found.point[seed, 0] - mx
        guide.target[d, 1] = found.point[seed, 1] - my
        guide.target[d, 2] = found.point[seed, 2] - mz
        for i in range(3):
            guide.normal[d, i] = -normal[i]


@kernel
def _write_frame(path: Path, t: int, work: Workspace) -> None:
    """Writes frame t to the path; the plan goes on as it was."""
    guide, found = work.guide, work.found
    old = max(t - 1, 0)
    path.window_end[t] = path.window_end[old]
    for c in range(work.shear.shape[0]):
        for i in range(3):
            path.shear[t, c, i] = work.shear[c, i]
    for d in range(guide.mode.shape[0]):
        path.mode[t, d] = path.reached[t, d] = guide.mode[d]
        path.kept[t, d] = not work.is_lost[d]
        path.link[t, d] = guide.link[d]
        path.load[t, d], path.ratio[t, d] = found.load[d], found.ratio[d]
        path.fly_begin[t, d] = path.fly_begin[old, d]
        path.fly_end[t, d] = path.fly_end[old, d]
        path.fly_candidate[t, d] = path.fly_candidate[old, d]
        path.fly_pad[t, d] = path.fly_pad[old, d]
        for i in range(3):
            path.local[t, d, i] = guide.local[d, i]
            path.target[t, d, i] = guide.target[d, i]
            path.normal[t, d, i] = guide.normal[d, i]
            path.pull[t, d, i] = found.pull[d, i]
            path.slide[t, d, i] = path.slide[old, d, i]
            path.fly_from[t, d, i] = path.fly_from[old, d, i]
            path.fly_goal[t, d, i] = path.fly_goal[old, d, i]
            path.fly_normal[t, d, i] = path.fly_normal[old, d, i]


@compiled
def pose_free_digits(state: SearchState, first: int, last: int, wanted: np.ndarray) -> None:
    """Poses digits that are off the body frame by frame from ``first`` to ``last``.

    Only their postures count: whether a hand that is off the body carries it is not asked.

    Args:
        state: The search; row ``first`` of its path is where this begins.
        first: The frame to begin with.
        last: The frame to end with, later or earlier.
        wanted: (T, J) postures that are preferred, rad.
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
def pad_position(state: SearchState, t: int, d: int, variant: int) -> tuple[float, float, float]:
    """Where a point of a digit's skin that may touch is in row t, in the body's frame, m."""
    data, work = state.data, state.work
    place_hands(data, t, state.path.q[t], work.now)
    local = data.pads[d, variant]
    return placed(work.now, data.pad_links[d, variant], local[0], local[1], local[2])


@linked
def still_holds(state: SearchState, t: int, ahead: Links) -> bool:
    """Whether frame t of a path is in balance by central differences, once frame t + 1 is known.

    A digit that sets out, or stops, moves over the body in that frame already.

    Args:
        state: The search; rows t - 1 to t + 1 of its path have been written.
        t: Frame.
        ahead: Scratch memory for links.
    """
    data, q, work = state.data, state.path.q, state.work
    before = max(t - 1, 0)
    place_hands(data, t + 1, q[t + 1], ahead)
    place_hands(data, before, q[before], work.before)
    place_hands(data, t, q[t], work.now)
    reset_force_weights(work)
    shear = state.path.shear
    for c in range(work.sheared.shape[0]):
        for i in range(3):
            work.sheared[c, i] = shear[before, c, i] if before < t else 0.0
    collect_contacts(data, t, work, before > t)
    find_central_slips(data, t, work, ahead, t + 1 - before)
    for c in range(work.shear.shape[0]):
        for i in range(3):
            shear[t, c, i] = work.shear[c, i]
    return find_forces(data, t, work, before > t)


@compiled
def take_step(state: SearchState, t: int, ahead: Links, is_exact: bool) -> int:
    """Goes on to frame t + 1 by the plan in row t; FEASIBLE, or what either frame fails by.

    Args:
        state: The search.
        t: Frame.
        ahead: Scratch memory for links.
        is_exact: Whether the least forces themselves are wanted.
    """
    advance(state, t)
    verdict = solve_frame(state, t + 1, TRIES, True, is_exact)
    if verdict == FEASIBLE and not still_holds(state, t, ahead):
        return UNBALANCED
    return verdict
