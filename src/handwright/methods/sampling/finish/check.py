"""A finished motion looked at as a whole: contacts, sliding and faults of every frame.

The same rules as in the search, with what only the finished motion tells: sliding by central
differences, and skin looked at closely. Whatever fails here is not returned.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.kernels.decorators import compiled, inlined, kernel, linked
from handwright.kernels.packed import Packed
from handwright.kinematics.tree import Links, placed
from handwright.methods.sampling.search.frame import (
    CROSSED,
    FEASIBLE,
    PENETRATING,
    UNBALANCED,
    apply_skin_stretch,
    collect_contacts,
    find_crossed_digits,
    find_forces,
    place_hands,
)
from handwright.methods.sampling.search.step import TRIES, SearchState, advance, solve_frame
from handwright.methods.sampling.search.workspace import Workspace
from handwright.methods.sampling.setup.hold_data import HoldData


class CheckedMotion(NamedTuple):
    """Contacts of a motion over T frames, in the body's frame; N rows are in use."""

    num: np.ndarray
    """(1,)"""
    frame: np.ndarray
    capsule: np.ndarray
    """Or -1 - s for surface s of the surroundings."""
    point: np.ndarray
    normal: np.ndarray
    """Into the body."""
    gap: np.ndarray
    slip: np.ndarray
    """(N, 3) motion of the hand's material point over the body, m a frame."""
    drag: np.ndarray
    """(N, 3) direction of friction on the body where the contact slides, else zero."""
    verdict: np.ndarray
    """(T,) FINE, or what a frame fails by."""
    depth: np.ndarray
    """(T,) of the skin, m."""


def make_checked_motion(frames: int, capacity: int) -> CheckedMotion:
    """Room for a motion with up to ``capacity`` contacts a frame."""
    rows = frames * capacity
    whole = np.zeros(rows, dtype=np.int64)
    three = np.zeros((rows, 3))
    return CheckedMotion(
        np.zeros(1, dtype=np.int64), whole, whole.copy(), three, three.copy(), np.zeros(rows),
        three.copy(), three.copy(), np.zeros(frames, dtype=np.int64), np.zeros(frames),
    )  # fmt: skip


def check_motion(data: HoldData, q: np.ndarray, work: Workspace, out: CheckedMotion) -> int:
    """Looks at every frame of a motion; returns how many fail."""
    now = work.now
    ahead = Links(*(np.zeros_like(array) for array in now))
    return int(
        _check_frames(Packed(data), q, Packed(work), Packed(ahead), Packed(out), False, True)
    )


@inlined
def _copy_slip_of_edge(work: Workspace, n: int) -> None:
    """For a face beside an edge: it is touched by the material of the contact before it.

    By none, if that moves over the edge.
    """
    contacts, slip = work.contacts, work.found.slip
    contacts.cap[n] = contacts.cap[n - 1]
    for i in range(3):
        slip[n, i] = slip[n - 1, i]
        contacts.drag[n, i] = contacts.drag[n - 1, i]
        if contacts.drag[n, i] != 0.0:
            contacts.cap[n] = 0.0


@kernel
def slip_around(data: HoldData, t: int, work: Workspace, ahead: Links, span: int) -> None:
    """How contacts of frame t slide by central differences, and what they may bear then.

    Args:
        data: The holding.
        t: Frame, whose contacts are in ``work``, with the links now and before.
        work: Memory.
        ahead: Links of a later frame.
        span: Frames from ``work.before`` to there.
    """
    found, contacts = work.found, work.contacts
    for n in range(found.num[1], found.num[0]):
        if n > found.num[1] and found.capsule[n] == found.capsule[n - 1]:
            _copy_slip_of_edge(work, n)
            continue
        link = data.table.capsule_link[found.capsule[n]]
        position, rotation, moved = work.now.position, work.now.rotation, found.slip
        ax = found.point[n, 0] - position[link, 0]
        ay = found.point[n, 1] - position[link, 1]
        az = found.point[n, 2] - position[link, 2]
        x = rotation[link, 0, 0] * ax + rotation[link, 1, 0] * ay + rotation[link, 2, 0] * az
        y = rotation[link, 0, 1] * ax + rotation[link, 1, 1] * ay + rotation[link, 2, 1] * az
        z = rotation[link, 0, 2] * ax + rotation[link, 1, 2] * ay + rotation[link, 2, 2] * az
        old = placed(work.before, link, x, y, z)
        new = placed(ahead, link, x, y, z)
        along = 0.0
        for i in range(3):
            moved[n, i] = (new[i] - old[i]) / max(span, 1)
            along += moved[n, i] * contacts.normal[n, i]
        for i in range(3):
            moved[n, i] -= along * contacts.normal[n, i]
        # A frame lasts from half-way after the last one to half-way before the next.
        lasts = 0.5 * max(span, 1)
        dx, dy, dz = apply_skin_stretch(
            data, work, n, lasts * moved[n, 0], lasts * moved[n, 1], lasts * moved[n, 2]
        )
        moved[n, 0], moved[n, 1], moved[n, 2] = dx / lasts, dy / lasts, dz / lasts
        size = 0.0
        for i in range(3):
            size += moved[n, i] ** 2
        size = np.sqrt(size)
        for i in range(3):
            contacts.drag[n, i] = moved[n, i] / size if size > data.limits.slip else 0.0
        digit = data.digit_of_capsule[found.capsule[n]]
        if digit >= 0 and not data.may_touch[t, digit]:
            contacts.cap[n] = 0.0


@kernel
def reset_force_weights(work: Workspace) -> None:
    """Whoever lands may press, and force costs the same everywhere."""
    for d in range(work.is_landing.shape[0]):
        work.is_landing[d] = False
        work.force_weight[d] = 1.0


@linked
def still_holds(state: SearchState, t: int, ahead: Links) -> bool:
    """Whether frame t of a path holds by the rules of the judge, now that the next one is known.

    A digit that sets out, or stops, moves over the body in that frame already.

    Args:
        state: The search; rows t - 1 to t + 1 of its path are written.
        t: Frame.
        ahead: Room for links.
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
    slip_around(data, t, work, ahead, t + 1 - before)
    for c in range(work.shear.shape[0]):
        for i in range(3):
            shear[t, c, i] = work.shear[c, i]
    return find_forces(data, t, work, before > t)


@compiled
def take_step(state: SearchState, t: int, ahead: Links, is_exact: bool) -> int:
    """Goes on to frame t + 1 by the plan in row t; FINE, or what either of the two fails by.

    Args:
        state: The search.
        t: Frame.
        ahead: Room for links.
        is_exact: Whether the least forces themselves are wanted.
    """
    advance(state, t)
    verdict = solve_frame(state, t + 1, TRIES, True, is_exact)
    if verdict == FEASIBLE and not still_holds(state, t, ahead):
        return UNBALANCED
    return verdict


@kernel
def _check_frames(
    data: HoldData,
    q: np.ndarray,
    work: Workspace,
    ahead: Links,
    out: CheckedMotion,
    has_before: bool,
    is_exact: bool,
) -> int:
    # Truth values are handed over, because numba compiles callees anew for constants; and there
    # are loops, because operations on whole arrays take long to compile.
    frames = q.shape[0]
    found, contacts = work.found, work.contacts
    failing = 0
    out.num[0] = 0
    reset_force_weights(work)
    for t in range(frames):
        before, after = max(t - 1, 0), min(t + 1, frames - 1)
        place_hands(data, after, q[after], ahead)
        place_hands(data, before, q[before], work.before)
        place_hands(data, t, q[t], work.now)
        for c in range(work.sheared.shape[0]):
            for i in range(3):
                work.sheared[c, i] = work.shear[c, i] if t > 0 else 0.0
        out.depth[t] = collect_contacts(data, t, work, has_before)
        slip_around(data, t, work, ahead, after - before)
        verdict = FEASIBLE
        if not find_forces(data, t, work, is_exact):
            verdict = UNBALANCED
        if not out.depth[t] <= data.limits.penetration:
            verdict = PENETRATING
        if find_crossed_digits(data, work.now, data.limits.digits)[0] >= 0:
            verdict = CROSSED
        out.verdict[t] = verdict
        failing += verdict != FEASIBLE
        for n in range(found.num[0]):
            row = out.num[0]
            out.num[0] += 1
            out.frame[row] = t
            is_ground = n < found.num[1]
            out.capsule[row] = (
                -1 - data.ground.surface[data.ground.first[t] + n]
                if is_ground
                else found.capsule[n]
            )
            for i in range(3):
                out.point[row, i] = found.point[n, i]
                out.normal[row, i] = contacts.normal[n, i]
                out.drag[row, i] = contacts.drag[n, i]
                out.slip[row, i] = found.slip[n, i]
            out.gap[row] = found.gap[n]
    return failing
