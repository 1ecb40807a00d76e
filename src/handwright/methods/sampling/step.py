"""One step of the search: from the plan in row t of the path to a feasible frame t + 1, or none."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.geometry.sdf import field_value_gradient
from handwright.kinematics.digit_ik import IkWeights
from handwright.kinematics.tree import placed
from handwright.math.compiled import compiled, inlined, kernel
from handwright.mechanics.cones import MAX_ITERATIONS, PENALTY, solve_cones
from handwright.mechanics.pyramid import MAX_PIVOTS, solve_pyramids
from handwright.methods.sampling.candidates import Candidates
from handwright.methods.sampling.frame import (
    CROSSED,
    FINE,
    UNMOVED,
    add_ground,
    check_frame,
    place_hands,
    pose_alone,
    pose_digits,
)
from handwright.methods.sampling.path import Path
from handwright.methods.sampling.room import FLY, FREE, HOLD, SLIDE, Room
from handwright.methods.sampling.stage import Stage

_TOLERANCE = 1e-5
# A contact that has rolled this far from its guiding point, m, becomes the guiding point.
_ROLL = 1e-3
# Load below which a digit is idle, in weights of the body.
IDLE_LOAD = 0.01
# Normals of neighbouring places on a slide agree by this cosine, or there is an edge between them.
_MIN_SLIDE_COSINE = 0.8


class Steps(NamedTuple):
    """Settings of single steps."""

    price: np.ndarray
    """(T, D) of normal force."""
    free_price: float
    """Factor on the price of digits that carried nothing in the frame before."""
    lift: float
    """Height of a relocating pad over the surface, m."""
    alone: IkWeights
    """For one digit as if there were no others."""


class Bench(NamedTuple):
    """All that the compiled parts of the search read and write."""

    stage: Stage
    candidates: Candidates
    steps: Steps
    path: Path
    room: Room


@kernel
def advance(bench: Bench, t: int) -> None:
    """Prepares frame t + 1: its guiding points from the plan in row t, bounds and prices."""
    stage, path, room, steps = bench.stage, bench.path, bench.room, bench.steps
    guide = room.guide
    for d in range(guide.mode.shape[0]):
        guide.mode[d] = path.mode[t, d]
        guide.link[d] = path.link[t, d]
        for i in range(3):
            guide.local[d, i] = path.local[t, d, i]
            guide.target[d, i] = path.target[t, d, i]
            guide.normal[d, i] = path.normal[t, d, i]
        if path.mode[t, d] == SLIDE:
            _slide(stage, path, t, d, room)
        elif path.mode[t, d] == FLY:
            _fly(stage, path, t, d, room, steps.lift)
        was_idle = path.load[t, d] < IDLE_LOAD
        room.price[d] = steps.price[t + 1, d] * (steps.free_price if was_idle else 1.0)
        room.is_landing[d] = path.mode[t, d] == FLY
        room.must_touch[d] = False
    place_hands(stage, t, path.q[t], room.before)
    step = stage.limits.step
    for j in range(path.q.shape[1]):
        before = path.q[t, j]
        path.q[t + 1, j] = before
        low, high = stage.low[t + 1, j], stage.high[t + 1, j]
        room.low[j] = min(max(before - step, low), high)
        room.high[j] = max(min(before + step, high), low)
        room.reference[j] = 0.9 * before + 0.1 * stage.rest[j]
    for d in range(guide.mode.shape[0]):
        if guide.mode[d] != FREE:
            continue
        openness = 1
        for e in range(guide.mode.shape[0]):
            if stage.hand_of_digit[e] == stage.hand_of_digit[d] and guide.mode[e] in (HOLD, SLIDE):
                openness = 0
        for n in range(stage.table.free.shape[1]):
            j = stage.table.free[d, n]
            if j < 0:
                break
            room.reference[j] = 0.8 * path.q[t, j] + 0.2 * stage.ready[openness, j]


@inlined
def _slide(stage: Stage, path: Path, t: int, d: int, room: Room) -> None:
    guide = room.guide
    x = guide.target[d, 0] + path.slide[t, d, 0]
    y = guide.target[d, 1] + path.slide[t, d, 1]
    z = guide.target[d, 2] + path.slide[t, d, 2]
    value, gx, gy, gz = field_value_gradient(stage.field, x, y, z)
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
def _fly(stage: Stage, path: Path, t: int, d: int, room: Room, lift: float) -> None:
    guide = room.guide
    begin, end = path.fly_begin[t, d], path.fly_end[t, d]
    guide.link[d] = stage.pad_link[d]
    for i in range(3):
        guide.local[d, i] = stage.pads[d, path.fly_pad[t, d], i]
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
    value, gx, gy, gz = field_value_gradient(stage.field, p[0], p[1], p[2])
    size = max(np.sqrt(gx * gx + gy * gy + gz * gz), 1e-9)
    height = lift * np.sin(np.pi * s)
    if value < height:
        guide.normal[d, 0], guide.normal[d, 1], guide.normal[d, 2] = gx / size, gy / size, gz / size
        for i in range(3):
            guide.target[d, i] += (height - value) * guide.normal[d, i]


@compiled
def settle(bench: Bench, t: int, tries: int, has_before: bool, is_exact: bool) -> int:
    """Poses and tests frame t, which has been prepared; if it is fine it is written to the path.

    Digits are posed one after the other. If they are in each other's way, or in the body, they are
    posed again, ``tries`` times in all, without those that have lost their places.
    """
    stage, path, room = bench.stage, bench.path, bench.room
    verdict = CROSSED
    for _ in range(tries):
        pose_digits(stage, t, path.q[t], room)
        verdict = check_frame(stage, t, room, has_before, is_exact)
        if verdict in (FINE, UNMOVED):
            break
        _let_go(room)
    if verdict == FINE:
        _seed(stage, room)
        _commit(path, t, room)
    return verdict


@kernel
def _let_go(room: Room) -> None:
    """Frees a digit that is in the way and does not hold: it has lost its place, or is flying."""
    guide = room.guide
    for n in range(2):
        d = room.found.blame[n]
        if d < 0 or room.must_touch[d]:
            continue
        if guide.mode[d] == FLY or (guide.mode[d] == HOLD and room.is_lost[d]):
            guide.mode[d] = FREE
            return


@kernel
def _seed(stage: Stage, room: Room) -> None:
    """Takes guiding points to where digits touch now, if they have rolled, slid or come off.

    The foremost contact of a digit is its seed (section 4.2): capsules are ordered along a digit,
    so the last one counts; not the faces beside it.
    """
    found, now, guide = room.found, room.now, room.guide
    for d in range(guide.mode.shape[0]):
        if guide.mode[d] != HOLD and not (room.is_lost[d] and guide.mode[d] == SLIDE):
            continue
        seed = -1
        for n in range(found.num[1], found.num[0]):
            c = found.capsule[n]
            if stage.digit_of_capsule[c] == d and (
                seed < 0
                or (
                    c != found.capsule[seed]
                    and stage.table.capsule_link[c] >= stage.table.capsule_link[found.capsule[seed]]
                )
            ):
                seed = n
        if seed < 0:
            if room.is_lost[d]:
                guide.mode[d] = FREE
            continue
        link = stage.table.capsule_link[found.capsule[seed]]
        square = slip = 0.0
        for i in range(3):
            square += (found.point[seed, i] - guide.target[d, i]) ** 2
            slip += found.slip[seed, i] ** 2
        has_rolled = square > _ROLL**2 and slip <= stage.limits.slip**2 and link == guide.link[d]
        if not (room.is_lost[d] or has_rolled):
            continue
        guide.mode[d] = HOLD
        guide.link[d] = link
        for i in range(3):
            guide.local[d, i] = 0.0
            for j in range(3):
                guide.local[d, i] += now.rotation[link, j, i] * (
                    found.point[seed, j] - now.position[link, j]
                )
        for i in range(3):
            guide.target[d, i] = found.point[seed, i]
            guide.normal[d, i] = -room.contacts.normal[seed, i]


@kernel
def _commit(path: Path, t: int, room: Room) -> None:
    """Writes frame t; the plan goes on as it was."""
    guide, found = room.guide, room.found
    old = max(t - 1, 0)
    path.window_end[t] = path.window_end[old]
    for d in range(guide.mode.shape[0]):
        path.mode[t, d] = path.reached[t, d] = guide.mode[d]
        path.kept[t, d] = not room.is_lost[d]
        path.link[t, d] = guide.link[d]
        path.load[t, d], path.ratio[t, d] = found.load[d], found.ratio[d]
        path.fly_begin[t, d] = path.fly_begin[old, d]
        path.fly_end[t, d] = path.fly_end[old, d]
        path.fly_place[t, d] = path.fly_place[old, d]
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
def keeps_place(bench: Bench, t: int, d: int, later: int) -> bool:
    """Whether a digit can keep the guiding point of row t until a later frame."""
    stage, path, room = bench.stage, bench.path, bench.room
    for j in range(path.q.shape[1]):
        room.spare[j] = path.q[t, j]
    place_hands(stage, later, room.spare, room.now)
    pose_alone(
        stage, later, d, path.link[t, d], path.local[t, d], room.spare, path.target[t, d],
        path.normal[t, d], path.q[t], bench.steps.alone, room,
    )  # fmt: skip
    local, target = path.local[t, d], path.target[t, d]
    x, y, z = placed(room.now, path.link[t, d], local[0], local[1], local[2])
    miss = np.sqrt((x - target[0]) ** 2 + (y - target[1]) ** 2 + (z - target[2]) ** 2)
    return miss < stage.limits.anchor


@compiled
def pad_place(bench: Bench, t: int, d: int) -> tuple[float, float, float]:
    """Where the middle of a digit's pad is in row t, in the body's frame, m."""
    stage, room = bench.stage, bench.room
    place_hands(stage, t, bench.path.q[t], room.now)
    local = stage.pads[d, 0]
    return placed(room.now, stage.pad_link[d], local[0], local[1], local[2])


@inlined
def _add_static(stage: Stage, room: Room, n: int, point: np.ndarray, normal: np.ndarray) -> None:
    """Writes a contact that does not slide."""
    for i in range(3):
        room.contacts.arm[n, i] = point[i] - stage.center[i]
        room.contacts.normal[n, i] = -normal[i]
        room.contacts.drag[n, i] = 0.0
    room.contacts.friction[n] = stage.friction * stage.limits.friction_margin
    room.contacts.weight[n] = 1.0
    room.contacts.cap[n] = np.inf


@kernel
def can_carry(stage: Stage, t: int, n: int, room: Room) -> bool:
    """Whether the first ``n`` contacts in ``room`` can move the body in frame ``t``."""
    status, total, _ = solve_pyramids(
        room.pyramid, room.contacts, n, stage.wrench[t], stage.weight, stage.gyration,
        _TOLERANCE, MAX_PIVOTS,
    )  # fmt: skip
    if status != 0:
        status, total, _ = solve_cones(
            room.cone, room.contacts, n, stage.wrench[t], stage.weight, stage.gyration,
            _TOLERANCE, PENALTY, MAX_ITERATIONS,
        )  # fmt: skip
    return status == 0 and total <= stage.limits.force * stage.weight


@compiled
def carried_frames(bench: Bench, chosen: np.ndarray, first: int, share: float) -> int:
    """Number of key frames from ``first`` on that a grasp can carry while its places last.

    Args:
        bench: The search.
        chosen: (D,) place of each digit, or -1.
        first: Key frame.
        share: Of the friction of hands that is used.
    """
    stage, places, room = bench.stage, bench.candidates, bench.room
    count = 0
    for k in range(first, places.frame.shape[0]):
        t = places.frame[k]
        n = add_ground(stage, t, room)
        for d in range(chosen.shape[0]):
            m = chosen[d]
            if m >= 0 and places.cost[d, m, k] < np.inf:
                _add_static(stage, room, n, places.point[m], places.normal[m])
                room.contacts.friction[n] *= share
                n += 1
        if not can_carry(stage, t, n, room):
            break
        count += 1
    return count


@inlined
def _copy_contact(room: Room, source: int, to: int) -> None:
    contacts = room.contacts
    for i in range(3):
        contacts.arm[to, i] = contacts.arm[source, i]
        contacts.normal[to, i] = contacts.normal[source, i]
        contacts.drag[to, i] = contacts.drag[source, i]
    contacts.friction[to] = contacts.friction[source]
    contacts.weight[to] = contacts.weight[source]
    contacts.cap[to] = contacts.cap[source]


@compiled
def posed_frames(bench: Bench, share: float) -> int:
    """Number of key frames that the contacts of frame 0, just settled, carry while they last.

    Places are only where digits should touch; this is where they do, with all parts of the hand.

    Args:
        bench: The search.
        share: Of the friction of hands that is used.
    """
    stage, places, room = bench.stage, bench.candidates, bench.room
    ground, total = room.found.num[1], room.found.num[0]
    hands = total - ground
    # Out of the way of the ground, of which there is more or less in other frames.
    away = room.contacts.friction.shape[0] - hands
    for n in range(hands - 1, -1, -1):
        _copy_contact(room, ground + n, away + n)
        room.contacts.friction[away + n] *= share
    count = 0
    for k in range(places.frame.shape[0]):
        t = places.frame[k]
        first = add_ground(stage, t, room)
        for n in range(hands):
            _copy_contact(room, away + n, first + n)
        if not can_carry(stage, t, first + hands, room):
            break
        count += 1
    # As they were found, for whoever looks at them next.
    add_ground(stage, 0, room)
    for n in range(hands):
        _copy_contact(room, away + n, ground + n)
        room.contacts.friction[ground + n] /= share
    return count


@compiled
def carried_by(bench: Bench, t: int, point: np.ndarray, normal: np.ndarray, share: float) -> bool:
    """Whether contacts at given points can move the body in frame ``t``.

    Args:
        bench: The search.
        t: Frame.
        point: (N, 3) in the body's frame, m.
        normal: (N, 3) out of the body.
        share: Of the friction of hands that is used.
    """
    stage, room = bench.stage, bench.room
    n = add_ground(stage, t, room)
    for row in range(point.shape[0]):
        _add_static(stage, room, n, point[row], normal[row])
        room.contacts.friction[n] *= share
        n += 1
    return can_carry(stage, t, n, room)


@compiled
def carried_without(bench: Bench, t: int, end: int, is_away: np.ndarray) -> bool:
    """Whether the digits that touch in row t can carry the body until ``end`` without some.

    Those that slide by the plan have kinetic friction along their way only.

    Args:
        bench: The search.
        t: Row of the path.
        end: Last frame.
        is_away: (D,) digits that do not help.
    """
    stage, path, room = bench.stage, bench.path, bench.room
    last = stage.wrench.shape[0] - 1
    for later in (t, (t + end) // 2, end):
        frame = min(later, last)
        n = add_ground(stage, frame, room)
        for d in range(is_away.shape[0]):
            if is_away[d] or (path.mode[t, d] != HOLD and path.mode[t, d] != SLIDE):
                continue
            _add_static(stage, room, n, path.target[t, d], path.normal[t, d])
            if path.mode[t, d] == SLIDE:
                x, y, z = path.slide[t, d, 0], path.slide[t, d, 1], path.slide[t, d, 2]
                speed = max(np.sqrt(x * x + y * y + z * z), 1e-12)
                room.contacts.drag[n, 0] = x / speed
                room.contacts.drag[n, 1] = y / speed
                room.contacts.drag[n, 2] = z / speed
            n += 1
        if not can_carry(stage, frame, n, room):
            return False
    return True
