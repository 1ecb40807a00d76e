"""Depth-first search for contact trajectories, in windows of frames.

Ye & Liu 2012, sections 4 and 5: a window keeps one strategy for every digit; at its end new ones
are drawn among those that the contact forces allow. A dead end is answered by its cause. Past the
paper: the plan looks ahead. A contact that is about to leave the digit's reach is given up while
others can carry the load, and places that stay within reach are preferred.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.geometry.sdf import field_value_gradient
from handwright.kinematics.digit_ik import IkWeights
from handwright.kinematics.tree import placed
from handwright.math.compiled import compiled, merged
from handwright.mechanics.cones import MAX_ITERATIONS, PENALTY, solve_cones
from handwright.mechanics.pyramid import MAX_PIVOTS, solve_pyramids
from handwright.methods.sampling.candidates import Candidates
from handwright.methods.sampling.frame import (
    CROSSED,
    FINE,
    FLY,
    FREE,
    HOLD,
    MISSED,
    SLIDE,
    SUNK,
    UNMOVED,
    Guide,
    Room,
    add_ground,
    check_frame,
    place_hands,
    pose_alone,
    pose_digits,
)
from handwright.methods.sampling.path import Path
from handwright.methods.sampling.stage import Stage
from handwright.methods.sampling.tally import Tally, note_frame

_TOLERANCE = 1e-5
_ROLL = 2e-3
_IDLE_LOAD = 0.01
_ON_CONE = 0.9
_MIN_SLIDE_ROOM = 0.8
# Rounds of draws without a first grasp after which there is little hope for one.
_GRASP_MISSES = 3


class Policy(NamedTuple):
    """How the search chooses; probabilities are for each chance that it gets."""

    window: int
    """Expected length of a window, frames."""
    slide: np.ndarray
    """(T, D) probability that a digit on its friction cone slides."""
    relocate: np.ndarray
    """(T, D) probability that a digit without load moves to another place."""
    price: np.ndarray
    """(T, D) price of normal force."""
    free_price: float
    """Factor on the price of digits that carried nothing in the frame before."""
    land: float
    """Probability that a free digit comes to the body."""
    leave_free: float
    """Probability that a digit stays off the body at the start."""
    slide_step: float
    """Largest sliding, m a frame."""
    flight: int
    """Least frames from lift-off to landing."""
    lift: float
    """Height of a relocating pad over the surface, m."""
    look_ahead: int
    """Frames within which a contact must stay in reach."""
    comfort: float
    """How much comfortable places are preferred."""
    grasp_tries: int
    """Draws of a first grasp."""
    alone: IkWeights
    """For one digit as if there were no others."""
    is_informed: bool
    """Whether dead ends are answered by their cause; else everything is drawn anew."""


@merged
def _key_at(cands: Candidates, t: int) -> int:
    """Last key frame that is not after a frame."""
    k = 0
    while k + 1 < cands.frame.shape[0] and cands.frame[k + 1] <= t:
        k += 1
    return k


@merged
def _contact_row(stage: Stage, room: Room, n: int, point: np.ndarray, normal: np.ndarray) -> None:
    """Writes a contact that does not slide."""
    for i in range(3):
        room.contacts.arm[n, i] = point[i] - stage.center[i]
        room.contacts.normal[n, i] = -normal[i]
        room.contacts.drag[n, i] = 0.0
    room.contacts.friction[n] = stage.friction * stage.limits.friction_margin
    room.contacts.weight[n] = 1.0
    room.contacts.cap[n] = np.inf


@merged
def _can_carry(stage: Stage, t: int, n: int, room: Room) -> bool:
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


@merged
def _carried_frames(
    stage: Stage, cands: Candidates, chosen: np.ndarray, room: Room, first: int
) -> int:
    """Number of key frames from ``first`` on that a grasp can carry while all its places last."""
    count = 0
    for k in range(first, cands.frame.shape[0]):
        t = cands.frame[k]
        n = add_ground(stage, t, room)
        for d in range(chosen.shape[0]):
            m = chosen[d]
            if m >= 0 and cands.cost[d, m, k] < np.inf:
                _contact_row(stage, room, n, cands.point[m], cands.normal[m])
                n += 1
        if not _can_carry(stage, t, n, room):
            break
        count += 1
    return count


@compiled
def _draw_place(
    cands: Candidates, d: int, k: int, comfort: float, near: np.ndarray, spread: float,
    room_for: np.ndarray, rng: np.random.Generator,
) -> int:  # fmt: skip
    """A place for a digit at a key frame, by comfort, life, and nearness to a point; or -1."""
    total = 0.0
    most = 1
    for m in range(cands.point.shape[0]):
        most = max(most, cands.life[d, m, k])
    for m in range(cands.point.shape[0]):
        room_for[m] = 0.0
        if cands.cost[d, m, k] < np.inf:
            life = cands.life[d, m, k] / most
            weight = np.exp(-comfort * cands.cost[d, m, k]) * life**3
            if spread > 0.0:
                square = 0.0
                for i in range(3):
                    square += (cands.point[m, i] - near[i]) ** 2
                weight *= np.exp(-0.5 * square / spread**2)
            room_for[m] = weight
            total += weight
    if not total > 0.0:
        return -1
    mark = rng.random() * total
    last = -1
    for m in range(cands.point.shape[0]):
        if room_for[m] > 0.0:
            last = m
            mark -= room_for[m]
            if mark <= 0.0:
                return m
    return last


@compiled
def _first_grasp(
    stage: Stage, cands: Candidates, policy: Policy, room: Room, path: Path, guide: Guide,
    rng: np.random.Generator, tally: Tally,
) -> bool:  # fmt: skip
    """Draws places for the digits, keeps the grasp that lasts longest, and poses it in frame 0."""
    digits = stage.hand_of_digit.shape[0]
    chosen, best = np.full(digits, -1), np.full(digits, -1)
    weights = np.zeros(cands.point.shape[0])
    nowhere = np.zeros(3)
    longest = 0
    wanted = cands.frame.shape[0]
    for _ in range(policy.grasp_tries):
        tally.grasps[0] += 1
        for d in range(digits):
            chosen[d] = -1
            is_thumb = d == 0 or stage.hand_of_digit[d] != stage.hand_of_digit[d - 1]
            if stage.may_touch[0, d] and (is_thumb or rng.random() >= policy.leave_free):
                chosen[d] = _draw_place(cands, d, 0, policy.comfort, nowhere, 0.0, weights, rng)
        lasts = _carried_frames(stage, cands, chosen, room, 0)
        is_better = lasts > longest or (lasts == longest and lasts > 0 and rng.random() < 0.3)
        if is_better and _pose_grasp(stage, cands, chosen, room, path, guide):
            longest = lasts
            best[:] = chosen
            if longest == wanted:
                break
    if longest == 0:
        return False
    return _pose_grasp(stage, cands, best, room, path, guide)


@compiled
def _pose_grasp(
    stage: Stage, cands: Candidates, chosen: np.ndarray, room: Room, path: Path, guide: Guide
) -> bool:
    """Poses all digits at their places in frame 0; whether that frame is feasible."""
    q = path.q[0]
    q[:] = stage.rest
    for d in range(chosen.shape[0]):
        m = chosen[d]
        guide.mode[d] = FREE if m < 0 else HOLD
        guide.link[d] = stage.pad_link[d]
        guide.local[d] = stage.pads[d, 0]
        if m >= 0:
            guide.local[d] = stage.pads[d, cands.pad[m]]
            guide.target[d] = cands.point[m]
            guide.normal[d] = cands.normal[m]
            for a in range(cands.q.shape[3]):
                joint = stage.table.free[d, a]
                if joint < 0:
                    break
                q[joint] = cands.q[d, m, 0, a]
    room.low[:] = stage.low[0]
    room.high[:] = stage.high[0]
    room.reference[:] = stage.rest
    pose_digits(stage, 0, guide, q, room, 3)
    room.price[:] = 1.0
    room.is_landing[:] = False
    if check_frame(stage, 0, guide, q, room, False, True) != FINE:
        return False
    _commit(path, 0, guide, room)
    return True


@merged
def _commit(path: Path, t: int, guide: Guide, room: Room) -> None:
    path.mode[t] = guide.mode
    path.reached[t] = guide.mode
    path.link[t] = guide.link
    path.local[t] = guide.local
    path.target[t] = guide.target
    path.normal[t] = guide.normal
    count = guide.mode.shape[0]
    path.load[t] = room.found.load[:count]
    path.ratio[t] = room.found.ratio[:count]
    path.pull[t] = room.found.pull[:count]


@merged
def _advance(stage: Stage, path: Path, t: int, guide: Guide, policy: Policy) -> None:
    """Guiding points of frame t + 1 from the plan in row t."""
    for d in range(guide.mode.shape[0]):
        guide.mode[d] = path.mode[t, d]
        guide.link[d] = path.link[t, d]
        guide.local[d] = path.local[t, d]
        guide.target[d] = path.target[t, d]
        guide.normal[d] = path.normal[t, d]
        if path.mode[t, d] == SLIDE:
            _slide(stage, path, t, d, guide)
        elif path.mode[t, d] == FLY:
            _fly(stage, path, t, d, guide, policy)


@merged
def _slide(stage: Stage, path: Path, t: int, d: int, guide: Guide) -> None:
    p = guide.target[d] + path.slide[t, d]
    value, gx, gy, gz = field_value_gradient(stage.field, p[0], p[1], p[2])
    size = np.sqrt(gx * gx + gy * gy + gz * gz)
    old = guide.normal[d]
    cosine = (gx * old[0] + gy * old[1] + gz * old[2]) / max(size, 1e-9)
    if cosine < _MIN_SLIDE_ROOM:
        # Over an edge: the digit stops in front of it.
        guide.mode[d] = HOLD
        return
    guide.normal[d, 0], guide.normal[d, 1], guide.normal[d, 2] = gx / size, gy / size, gz / size
    guide.target[d] = p - (value / size) * guide.normal[d]


@merged
def _fly(stage: Stage, path: Path, t: int, d: int, guide: Guide, policy: Policy) -> None:
    begin, end = path.fly_begin[t, d], path.fly_end[t, d]
    guide.link[d] = stage.pad_link[d]
    guide.local[d] = stage.pads[d, path.fly_pad[t, d]]
    if t + 1 >= end:
        guide.mode[d] = HOLD
        guide.target[d] = path.fly_goal[t, d]
        guide.normal[d] = path.fly_normal[t, d]
        return
    s = (t + 1 - begin) / (end - begin)
    # Straight up at first and straight down at last, so that it touches without sliding.
    over = min(max((s - 0.2) / 0.6, 0.0), 1.0)
    smooth = over * over * (3.0 - 2.0 * over)
    p = (1.0 - smooth) * path.fly_from[t, d] + smooth * path.fly_goal[t, d]
    value, gx, gy, gz = field_value_gradient(stage.field, p[0], p[1], p[2])
    size = max(np.sqrt(gx * gx + gy * gy + gz * gz), 1e-9)
    height = policy.lift * np.sin(np.pi * s)
    if value < height:
        guide.normal[d, 0], guide.normal[d, 1], guide.normal[d, 2] = gx / size, gy / size, gz / size
        p = p + (height - value) * guide.normal[d]
    guide.target[d] = p


@compiled
def _step(
    stage: Stage, path: Path, t: int, guide: Guide, policy: Policy, room: Room, is_exact: bool
) -> int:
    """Tries frame t + 1; on success it is written into the path."""
    _advance(stage, path, t, guide, policy)
    place_hands(stage, t, path.q[t], room.before)
    q = path.q[t + 1]
    q[:] = path.q[t]
    step = stage.limits.step
    for j in range(q.shape[0]):
        room.low[j] = min(max(q[j] - step, stage.low[t + 1, j]), stage.high[t + 1, j])
        room.high[j] = max(min(q[j] + step, stage.high[t + 1, j]), stage.low[t + 1, j])
        room.reference[j] = 0.9 * q[j] + 0.1 * stage.rest[j]
    for d in range(guide.mode.shape[0]):
        was_idle = path.load[t, d] < _IDLE_LOAD
        room.price[d] = policy.price[t + 1, d] * (policy.free_price if was_idle else 1.0)
        room.is_landing[d] = path.mode[t, d] == FLY
    pose_digits(stage, t + 1, guide, q, room, 2)
    verdict = check_frame(stage, t + 1, guide, q, room, True, is_exact)
    if verdict != FINE:
        return verdict
    _roll(stage, guide, room)
    _commit(path, t + 1, guide, room)
    path.slide[t + 1] = path.slide[t]
    path.fly_begin[t + 1] = path.fly_begin[t]
    path.fly_end[t + 1] = path.fly_end[t]
    path.fly_pad[t + 1] = path.fly_pad[t]
    path.fly_from[t + 1] = path.fly_from[t]
    path.fly_goal[t + 1] = path.fly_goal[t]
    path.fly_normal[t + 1] = path.fly_normal[t]
    path.window_end[t + 1] = path.window_end[t]
    return FINE


@merged
def _roll(stage: Stage, guide: Guide, room: Room) -> None:
    """A contact that has rolled away from its guiding point becomes the guiding point."""
    found, now = room.found, room.now
    for n in range(found.num[1], found.num[0]):
        c = found.capsule[n]
        d = stage.digit_of_capsule[c]
        if d < 0 or guide.mode[d] != HOLD or stage.table.capsule_link[c] != guide.link[d]:
            continue
        moved = np.sqrt(np.sum((found.point[n] - guide.target[d]) ** 2))
        slip = np.sqrt(np.sum(found.slip[n] ** 2))
        if moved > _ROLL and slip <= stage.limits.slip:
            link = guide.link[d]
            arm = found.point[n] - now.position[link]
            for i in range(3):
                guide.local[d, i] = (
                    now.rotation[link, 0, i] * arm[0]
                    + now.rotation[link, 1, i] * arm[1]
                    + now.rotation[link, 2, i] * arm[2]
                )
                guide.target[d, i] = found.point[n, i]
                guide.normal[d, i] = -room.contacts.normal[n, i]


@merged
def _stays_in_reach(
    stage: Stage, path: Path, t: int, d: int, later: int, weights: IkWeights, room: Room
) -> bool:
    """Whether a digit can keep its guiding point until a later frame."""
    q = path.q[t].copy()
    place_hands(stage, later, q, room.now)
    pose_alone(
        stage, later, d, path.link[t, d], path.local[t, d], q, path.target[t, d],
        path.normal[t, d], path.q[t], weights, room,
    )  # fmt: skip
    local, target = path.local[t, d], path.target[t, d]
    x, y, z = placed(room.now, path.link[t, d], local[0], local[1], local[2])
    miss = np.sqrt((x - target[0]) ** 2 + (y - target[1]) ** 2 + (z - target[2]) ** 2)
    return miss < stage.limits.anchor


@merged
def _carried_until(
    stage: Stage, path: Path, t: int, end: int, without: np.ndarray, room: Room
) -> bool:
    """The same for a few frames from ``t`` to ``end``, the guiding points staying as they are."""
    n_frames = stage.wrench.shape[0]
    for later in (t, (t + end) // 2, end):
        frame = min(later, n_frames - 1)
        n = add_ground(stage, frame, room)
        for d in range(without.shape[0]):
            if not without[d] and path.mode[t, d] == HOLD:
                _contact_row(stage, room, n, path.target[t, d], path.normal[t, d])
                n += 1
        if not _can_carry(stage, frame, n, room):
            return False
    return True


@compiled
def _send(
    stage: Stage, cands: Candidates, path: Path, t: int, d: int, policy: Policy, room: Room,
    weights: np.ndarray, rng: np.random.Generator,
) -> bool:  # fmt: skip
    """Plans a flight of a digit to a new place, or to none if there is none in reach."""
    frames = stage.wrench.shape[0]
    if t + 2 >= frames:
        return False
    place_hands(stage, t, path.q[t], room.now)
    local = stage.pads[d, 0]
    x, y, z = placed(room.now, stage.pad_link[d], local[0], local[1], local[2])
    here = np.array([x, y, z])
    landing = min(t + policy.flight, frames - 1)
    k = _key_at(cands, landing)
    if k + 1 < cands.frame.shape[0]:
        k += 1
    m = -1
    if stage.may_touch[landing, d]:
        m = _draw_place(cands, d, k, policy.comfort, here, 0.04, weights, rng)
    if m < 0:
        path.mode[t, d] = FREE
        return True
    distance = np.sqrt(np.sum((cands.point[m] - here) ** 2))
    # A hand moves its finger by some 8 mm a frame without haste.
    duration = max(policy.flight, int(np.ceil(distance / 0.008)))
    path.mode[t, d] = FLY
    path.fly_pad[t, d] = cands.pad[m]
    path.fly_begin[t, d] = t
    path.fly_end[t, d] = t + duration
    path.fly_from[t, d] = here
    path.fly_goal[t, d] = cands.point[m]
    path.fly_normal[t, d] = cands.normal[m]
    return True


@compiled
def _plan(
    stage: Stage, cands: Candidates, path: Path, t: int, policy: Policy, room: Room,
    forced: np.ndarray, weights: np.ndarray, rng: np.random.Generator,
) -> None:  # fmt: skip
    """Draws a strategy for every digit, for the window that starts at frame ``t``."""
    frames, digits = stage.wrench.shape[0], forced.shape[0]
    length = 1 + rng.integers(0, max(2 * policy.window - 1, 1))
    path.window_end[t] = min(t + length, frames - 1)
    away = np.zeros(digits, dtype=np.bool_)
    flying = 0
    for d in range(digits):
        away[d] = path.mode[t, d] in (FREE, FLY)
        flying += path.mode[t, d] == FLY
    order = rng.permutation(digits)
    for turn in range(digits):
        d = order[turn]
        mode = path.mode[t, d]
        if mode == FLY:
            continue
        if mode == FREE:
            if forced[d]:
                continue
            if stage.may_touch[t, d] and rng.random() < policy.land and flying < 2:
                _send(stage, cands, path, t, d, policy, room, weights, rng)
                flying += path.mode[t, d] == FLY
            continue
        later = min(t + policy.look_ahead, frames - 1)
        must_go = forced[d] or not stage.may_touch[later, d]
        if not must_go and policy.look_ahead > 0:
            must_go = not _stays_in_reach(stage, path, t, d, later, policy.alone, room)
        draw = rng.random()
        wants_away = path.load[t, d] < _IDLE_LOAD and draw < policy.relocate[t, d]
        wants_slide = (
            path.ratio[t, d] > _ON_CONE
            and path.load[t, d] >= _IDLE_LOAD
            and draw < policy.slide[t, d]
        )
        if (must_go or wants_away) and flying < 2:
            away[d] = True
            is_carried = _carried_until(stage, path, t, t + policy.flight, away, room)
            if is_carried and _send(stage, cands, path, t, d, policy, room, weights, rng):
                flying += 1
                continue
            away[d] = False
        path.mode[t, d] = HOLD
        if wants_slide or (must_go and path.ratio[t, d] > 0.5):
            path.mode[t, d] = SLIDE
            speed = policy.slide_step * (0.3 + 0.7 * rng.random())
            path.slide[t, d] = speed * path.pull[t, d]


@compiled
def search(
    stage: Stage, cands: Candidates, policy: Policy, room: Room, path: Path, max_frames: int,
    rng: np.random.Generator, tally: Tally,
) -> bool:  # fmt: skip
    """Looks for one path through all frames; ``path`` holds it if one is found."""
    digits, frames = stage.hand_of_digit.shape[0], stage.wrench.shape[0]
    weights = np.zeros(cands.point.shape[0])
    guide = Guide(
        np.zeros(digits, dtype=np.int64),
        np.zeros(digits, dtype=np.int64),
        np.zeros((digits, 3)),
        np.zeros((digits, 3)),
        np.zeros((digits, 3)),
    )
    forced = np.zeros(digits, dtype=np.bool_)
    starts = np.zeros(frames + 1, dtype=np.int64)
    fails = np.zeros(frames + 1, dtype=np.int64)
    t, depth, misses = -1, 0, 0
    while tally.frames[0] < max_frames:
        if t < 0:
            tally.frames[0] += 1
            if not _first_grasp(stage, cands, policy, room, path, guide, rng, tally):
                tally.dead_ends[0] += 1
                tally.furthest[0] = max(tally.furthest[0], 0)
                misses += 1
                if misses == _GRASP_MISSES:
                    return False
                continue
            t, depth = 0, 0
            note_frame(tally.seen, tally.frames[0] - 1, t, path.q[t])
            path.window_end[0] = 0
            forced[:] = False
            fails[0] = 0
        if t == frames - 1:
            return True
        if path.window_end[t] <= t:
            starts[depth] = t
            fails[depth] = 0
            depth += 1
            _plan(stage, cands, path, t, policy, room, forced, weights, rng)
            forced[:] = False
        tally.frames[0] += 1
        is_exact = path.window_end[t] <= t + 1
        verdict = _step(stage, path, t, guide, policy, room, is_exact)
        if verdict == FINE:
            t += 1
            note_frame(tally.seen, tally.frames[0] - 1, t, path.q[t])
            continue
        tally.dead_ends[0] += 1
        tally.missed[0] += verdict == MISSED
        tally.sunk[0] += verdict == SUNK
        tally.crossed[0] += verdict == CROSSED
        tally.unmoved[0] += verdict == UNMOVED
        if t + 1 > tally.furthest[0]:
            tally.furthest[0], tally.furthest[1] = t + 1, verdict
        # Back to the start of this window, or, after it has failed often, of an earlier one.
        depth -= 1
        fails[depth] += 1
        while depth > 0 and fails[depth] > 2:
            depth -= 1
            fails[depth] += 1
        if depth == 0 and fails[0] > 3:
            t = -1
            continue
        t = starts[depth]
        count = fails[depth]
        forced[:] = False
        if policy.is_informed and verdict in (MISSED, SUNK, CROSSED):
            a, b = room.found.blame[0], room.found.blame[1]
            if b >= 0 and path.load[t, b] < path.load[t, a]:
                a = b
            if a >= 0:
                forced[a] = True
        path.mode[t] = path.reached[t]
        starts[depth] = t
        depth += 1
        _plan(stage, cands, path, t, policy, room, forced, weights, rng)
        fails[depth - 1] = count
        forced[:] = False
    return False
