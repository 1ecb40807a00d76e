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
    FINE,
    SUNK,
    UNMOVED,
    collect_contacts,
    digits_crossed,
    find_forces,
    give_way,
    place_hands,
)
from handwright.methods.sampling.search.step import TRIES, Bench, advance, settle
from handwright.methods.sampling.search.workspace import Room
from handwright.methods.sampling.setup.hold_data import Stage


class Judged(NamedTuple):
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


def make_judged(frames: int, capacity: int) -> Judged:
    """Room for a motion with up to ``capacity`` contacts a frame."""
    rows = frames * capacity
    whole = np.zeros(rows, dtype=np.int64)
    three = np.zeros((rows, 3))
    return Judged(
        np.zeros(1, dtype=np.int64), whole, whole.copy(), three, three.copy(), np.zeros(rows),
        three.copy(), three.copy(), np.zeros(frames, dtype=np.int64), np.zeros(frames),
    )  # fmt: skip


def judge_motion(stage: Stage, q: np.ndarray, room: Room, out: Judged) -> int:
    """Looks at every frame of a motion; returns how many fail."""
    now = room.now
    ahead = Links(*(np.zeros_like(array) for array in now))
    return int(_judge(Packed(stage), q, Packed(room), Packed(ahead), Packed(out), False, True))


@inlined
def _take_motion(room: Room, n: int) -> None:
    """For a face beside an edge: it is touched by the material of the contact before it.

    By none, if that moves over the edge.
    """
    contacts, slip = room.contacts, room.found.slip
    contacts.cap[n] = contacts.cap[n - 1]
    for i in range(3):
        slip[n, i] = slip[n - 1, i]
        contacts.drag[n, i] = contacts.drag[n - 1, i]
        if contacts.drag[n, i] != 0.0:
            contacts.cap[n] = 0.0


@kernel
def slip_around(stage: Stage, t: int, room: Room, ahead: Links, span: int) -> None:
    """How contacts of frame t slide by central differences, and what they may bear then.

    Args:
        stage: The holding.
        t: Frame, whose contacts are in ``room``, with the links now and before.
        room: Memory.
        ahead: Links of a later frame.
        span: Frames from ``room.before`` to there.
    """
    found, contacts = room.found, room.contacts
    for n in range(found.num[1], found.num[0]):
        if n > found.num[1] and found.capsule[n] == found.capsule[n - 1]:
            _take_motion(room, n)
            continue
        link = stage.table.capsule_link[found.capsule[n]]
        place, turn, moved = room.now.position, room.now.rotation, found.slip
        ax = found.point[n, 0] - place[link, 0]
        ay = found.point[n, 1] - place[link, 1]
        az = found.point[n, 2] - place[link, 2]
        x = turn[link, 0, 0] * ax + turn[link, 1, 0] * ay + turn[link, 2, 0] * az
        y = turn[link, 0, 1] * ax + turn[link, 1, 1] * ay + turn[link, 2, 1] * az
        z = turn[link, 0, 2] * ax + turn[link, 1, 2] * ay + turn[link, 2, 2] * az
        old = placed(room.before, link, x, y, z)
        new = placed(ahead, link, x, y, z)
        along = 0.0
        for i in range(3):
            moved[n, i] = (new[i] - old[i]) / max(span, 1)
            along += moved[n, i] * contacts.normal[n, i]
        for i in range(3):
            moved[n, i] -= along * contacts.normal[n, i]
        # A frame lasts from half-way after the last one to half-way before the next.
        lasts = 0.5 * max(span, 1)
        dx, dy, dz = give_way(
            stage, room, n, lasts * moved[n, 0], lasts * moved[n, 1], lasts * moved[n, 2]
        )
        moved[n, 0], moved[n, 1], moved[n, 2] = dx / lasts, dy / lasts, dz / lasts
        size = 0.0
        for i in range(3):
            size += moved[n, i] ** 2
        size = np.sqrt(size)
        for i in range(3):
            contacts.drag[n, i] = moved[n, i] / size if size > stage.limits.slip else 0.0
        digit = stage.digit_of_capsule[found.capsule[n]]
        if digit >= 0 and not stage.may_touch[t, digit]:
            contacts.cap[n] = 0.0


@kernel
def _forget_landings(room: Room) -> None:
    """Whoever lands may press, and force costs the same everywhere."""
    for d in range(room.is_landing.shape[0]):
        room.is_landing[d] = False
        room.price[d] = 1.0


@linked
def still_holds(bench: Bench, t: int, ahead: Links) -> bool:
    """Whether frame t of a path holds by the rules of the judge, now that the next one is known.

    A digit that sets out, or stops, moves over the body in that frame already.

    Args:
        bench: The search; rows t - 1 to t + 1 of its path are written.
        t: Frame.
        ahead: Room for links.
    """
    stage, q, room = bench.stage, bench.path.q, bench.room
    before = max(t - 1, 0)
    place_hands(stage, t + 1, q[t + 1], ahead)
    place_hands(stage, before, q[before], room.before)
    place_hands(stage, t, q[t], room.now)
    _forget_landings(room)
    shear = bench.path.shear
    for c in range(room.sheared.shape[0]):
        for i in range(3):
            room.sheared[c, i] = shear[before, c, i] if before < t else 0.0
    collect_contacts(stage, t, room, before > t)
    slip_around(stage, t, room, ahead, t + 1 - before)
    for c in range(room.shear.shape[0]):
        for i in range(3):
            shear[t, c, i] = room.shear[c, i]
    return find_forces(stage, t, room, before > t)


@compiled
def take_step(bench: Bench, t: int, ahead: Links, is_exact: bool) -> int:
    """Goes on to frame t + 1 by the plan in row t; FINE, or what either of the two fails by.

    Args:
        bench: The search.
        t: Frame.
        ahead: Room for links.
        is_exact: Whether the least forces themselves are wanted.
    """
    advance(bench, t)
    verdict = settle(bench, t + 1, TRIES, True, is_exact)
    if verdict == FINE and not still_holds(bench, t, ahead):
        return UNMOVED
    return verdict


@kernel
def _judge(
    stage: Stage,
    q: np.ndarray,
    room: Room,
    ahead: Links,
    out: Judged,
    has_before: bool,
    is_exact: bool,
) -> int:
    # Truth values are handed over, because numba compiles callees anew for constants; and there
    # are loops, because operations on whole arrays take long to compile.
    frames = q.shape[0]
    found, contacts = room.found, room.contacts
    failing = 0
    out.num[0] = 0
    _forget_landings(room)
    for t in range(frames):
        before, after = max(t - 1, 0), min(t + 1, frames - 1)
        place_hands(stage, after, q[after], ahead)
        place_hands(stage, before, q[before], room.before)
        place_hands(stage, t, q[t], room.now)
        for c in range(room.sheared.shape[0]):
            for i in range(3):
                room.sheared[c, i] = room.shear[c, i] if t > 0 else 0.0
        out.depth[t] = collect_contacts(stage, t, room, has_before)
        slip_around(stage, t, room, ahead, after - before)
        verdict = FINE
        if not find_forces(stage, t, room, is_exact):
            verdict = UNMOVED
        if not out.depth[t] <= stage.limits.penetration:
            verdict = SUNK
        if digits_crossed(stage, room.now, stage.limits.digits)[0] >= 0:
            verdict = CROSSED
        out.verdict[t] = verdict
        failing += verdict != FINE
        for n in range(found.num[0]):
            row = out.num[0]
            out.num[0] += 1
            out.frame[row] = t
            is_ground = n < found.num[1]
            out.capsule[row] = (
                -1 - stage.ground.surface[stage.ground.first[t] + n]
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
