"""How contacts change: they begin, collide, stay, slide, stay again and end (section 4.2)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.contact import ContactMode
from handwright.math.vectors import length
from handwright.methods.stepwise.meeting import TOUCHING, Meeting, hand_touch, new_hand_touches
from handwright.methods.stepwise.step import Solved
from handwright.methods.stepwise.touches import Touch, TouchRows, mean_slip, touching_point
from handwright.methods.stepwise.world import BodyState, HandState, World, stacked

LOST = 2e-3
"""Gap at which a contact has ended, m."""
# Gap from which a contact of a hand gives no force, m.
_FAR = 8e-4
# A static contact slides when it is faster than the first, m/s, and friction is this share of what
# it can be; a sliding one stays when it is slower than the second.
_SLIDES, _STAYS, _NEARLY_ALL = 4.7e-3, 0.004, 0.95
# Cosine between friction and slip below which friction is turned.
_TURNED = 0.985
# Forces below this are none, N.
_NO_FORCE = 0.02
# A static contact whose points have come this far apart across the normal begins anew, m.
_CREPT = 8e-4
# The skin has rolled on when its nearest point is this far from the anchor, m, and the anchor
# this far off the surface, m.
_ROLLED, _LIFTED = 4e-3, 3e-4
# Share of a weight below which a force of the surroundings is none.
_LEAST_FORCE = 1e-5
# Speeds below this are none, m/s, and gaps below this, m.
_STILL, _PARTED = 1e-3, 3e-5


def update_hand_touches(
    world: World,
    hands: list[HandState],
    bodies: list[BodyState],
    meetings: list[Meeting],
    touches: list[Touch],
    reaching: set[tuple[int, int]],
) -> list[Touch]:
    """The contacts of hands at the start of a frame, from those of the last one."""
    near = {(meeting.hand, meeting.body): meeting for meeting in meetings if meeting.body >= 0}
    kept = []
    for touch in touches:
        meeting = near[touch.hand, touch.body]
        gap = float(meeting.nearest.gap[touch.part])
        body = bodies[touch.body]
        point = body.center + body.turn @ touch.anchor
        offset = touching_point(touch, hands, bodies) - point
        normal = body.turn @ touch.normal
        away = -float(offset @ normal)
        is_free = length(touch.force) < _NO_FORCE
        if not gap < LOST or (gap > 0.5 * LOST and is_free):
            continue
        if touch.mode == ContactMode.COLLIDING:
            touch.mode = ContactMode.STATIC
        touch.is_pinned, touch.is_let_go, touch.is_parted = False, False, away > _FAR
        crept = length(offset + away * normal)
        if (
            touch.mode == ContactMode.SLIDING
            or crept > _CREPT
            or away > LOST
            or _has_rolled(meeting, touch, point, away)
        ):
            touch = _anew(world, hands, bodies, meeting, touch)
        kept.append(touch)
    return kept + new_hand_touches(world, hands, bodies, meetings, kept, reaching)


def _has_rolled(meeting: Meeting, touch: Touch, point: np.ndarray, away: float) -> bool:
    moved = length(meeting.nearest.point[touch.part] - point)
    return moved > _ROLLED and away > _LIFTED


def _anew(
    world: World,
    hands: list[HandState],
    bodies: list[BodyState],
    meeting: Meeting,
    touch: Touch,
) -> Touch:
    """The contact with both anchors where the skin is nearest now."""
    fresh = hand_touch(world, hands, bodies, meeting, touch.part, touch.mode)
    fresh.drag, fresh.cap, fresh.force = touch.drag, touch.cap, touch.force
    fresh.curve, fresh.moved = touch.curve, touch.moved
    return fresh


def after_step(
    touches: list[Touch], rows: TouchRows, solved: Solved, bodies: list[BodyState]
) -> None:
    """Remembers forces and slips, and finds which contacts slide from now on.

    Args:
        touches: Changed.
        rows: The same as arrays.
        solved: The frame.
        bodies: Before it.
    """
    moved = rows.moving(solved.velocity)
    moved = np.einsum("kji,kj->ki", stacked(bodies)[1][rows.body], moved)
    slip = rows.slip(solved.velocity)
    speed = rows.speed(solved.velocity)
    for k, touch in enumerate(touches):
        touch.force, touch.curve = solved.force[k], rows.curve[k]
        touch.moved = moved[k]
        if touch.hand < 0:
            continue
        if touch.mode == ContactMode.SLIDING:
            if speed[k] < _STAYS or slip[k] @ touch.drag < 0.0:
                touch.mode = ContactMode.STATIC
            else:
                touch.drag = slip[k] / speed[k]


def parting_touches(
    touches: list[Touch], rows: TouchRows, solved: Solved, weight: float, step: float
) -> list[int]:
    """Contacts that would break while any of them still pushes: first rule of section 4.2.

    Args:
        touches: All contacts.
        rows: The same as arrays.
        solved: What the frame would do.
        weight: Of all bodies, N.
        step: s.
    """
    along = np.einsum("ki,ki->k", solved.force, rows.normal)
    leaving = rows.leaving(solved.velocity)
    gap = touch_gaps(rows)
    ending = gap + step * leaving
    is_hand = np.array([touch.hand >= 0 for touch in touches], dtype=bool)
    free = np.array([not (t.is_parted or t.is_pinned) for t in touches], dtype=bool)
    # Skin gives way a little, the edges of bodies do not.
    lies = (ending > _PARTED) & ((leaving > _STILL) | (gap > _PARTED)) & free & ~is_hand
    holds = (ending > _FAR) & (leaving > _STAYS) & (along > _NO_FORCE) & free & is_hand
    found = np.flatnonzero(holds).tolist()
    if (along[lies] > _LEAST_FORCE * weight).any():
        found += np.flatnonzero(lies).tolist()
    return found


def touch_gaps(rows: TouchRows) -> Float[np.ndarray, " K"]:
    """How far what touches is from the bodies along the normals, m."""
    return np.asarray(-np.einsum("ki,ki->k", rows.offset, rows.normal))


def break_or_stay(
    touches: list[Touch], rows: TouchRows, parting: list[int], solve: Callable[[], Solved]
) -> Solved:
    """Solves a frame with contacts that break without force, or that do not break.

    A contact pushes or parts, not both. Of the two frames the one that costs less is taken: a hand
    that cannot carry a body yet without a great effort leaves it where it lies. What is apart to
    begin with breaks.

    Args:
        touches: All contacts; those that part are changed.
        rows: The same as arrays.
        parting: Which ones.
        solve: Solves the frame with the contacts as they are.
    """
    gap = touch_gaps(rows)
    for k in parting:
        touches[k].is_parted = True
    broken = solve()
    near = [k for k in parting if gap[k] < TOUCHING]
    if not near:
        return broken
    for k in near:
        touches[k].is_parted, touches[k].is_pinned = False, True
    kept = solve()
    if kept.cost <= broken.cost:
        return kept
    for k in near:
        touches[k].is_parted, touches[k].is_pinned = True, False
    return broken


def corrections(
    touches: list[Touch],
    rows: TouchRows,
    solved: Solved,
    bodies: list[BodyState],
    weight: float,
) -> bool:
    """Roll-back: changes the modes of contacts that slide, and says whether any did.

    A contact that starts to slide has its force on the edge of the cone against the slip (second
    rule of section 4.2); friction that would drive the slip makes the contact stay instead.

    Args:
        touches: Changed where a rule is broken.
        rows: The same as arrays.
        solved: What the frame would do.
        bodies: Before it.
        weight: Of all bodies, N.
    """
    changed = False
    along = np.einsum("ki,ki->k", solved.force, rows.normal)
    slip = rows.slip(solved.velocity)
    speed = rows.speed(solved.velocity)
    mean = mean_slip(rows, solved.velocity)
    for k, touch in enumerate(touches):
        if touch.hand >= 0 or along[k] <= _LEAST_FORCE * weight:
            continue
        if touch.mode == ContactMode.STATIC and speed[k] > _SLIDES:
            # It holds if it can.
            if touch.is_stuck:
                touch.mode, touch.drag = ContactMode.SLIDING, _way(mean[k])
            touch.is_stuck, changed = True, True
        elif touch.mode == ContactMode.SLIDING and slip[k] @ touch.drag < -_STILL:
            touch.mode, changed = ContactMode.STATIC, True
        elif touch.mode == ContactMode.SLIDING and _way(mean[k]) @ touch.drag < _TURNED:
            touch.drag, changed = _way(mean[k]), True
    if changed:
        # What slips in a hand may hold once the surroundings do what they must.
        return True
    at_edge = _is_at_edge(touches, rows, solved)
    for k, touch in enumerate(touches):
        if touch.hand >= 0:
            changed |= _slide_or_stay(touch, slip[k], mean[k], bool(at_edge[k]))
    return changed


def _is_at_edge(touches: list[Touch], rows: TouchRows, solved: Solved) -> Bool[np.ndarray, " K"]:
    """Which contacts give nearly all the friction they can, or nothing."""
    along = np.einsum("ki,ki->k", solved.force, rows.normal)
    across = np.linalg.norm(solved.force - along[:, None] * rows.normal, axis=1)
    friction = np.array([touch.friction for touch in touches])
    # A pyramid has its corners on the cone: between them less is all there is.
    return (along < _NO_FORCE) | (across > _NEARLY_ALL / np.sqrt(2.0) * friction * along)


def _way(mean: np.ndarray) -> np.ndarray:
    return np.asarray(mean / max(length(mean), 1e-12))


def _slide_or_stay(touch: Touch, slip: np.ndarray, mean: np.ndarray, at_edge: bool) -> bool:
    """Changes the mode of a hand's contact to what its slip asks for; says whether it did."""
    pace = length(mean)
    if touch.mode == ContactMode.STATIC:
        if length(slip) > _SLIDES and at_edge:
            touch.mode, touch.drag = ContactMode.SLIDING, _way(mean)
            return True
    elif touch.mode == ContactMode.SLIDING:
        if slip @ touch.drag < -_STILL:
            touch.mode = ContactMode.STATIC
            return True
        if pace > _SLIDES and mean @ touch.drag < _TURNED * pace:
            touch.drag = _way(mean)
            return True
    return False


def added_energy(touches: list[Touch], rows: TouchRows, solved: Solved, step: float) -> float:
    """Energy that contacts which slide or break add in a frame, J; none should."""
    along = np.einsum("ki,ki->k", solved.force, rows.normal)
    slip, leaving = rows.slip(solved.velocity), rows.leaving(solved.velocity)
    driven = -np.einsum("ki,ki->k", solved.force, slip)
    total = 0.0
    for k, touch in enumerate(touches):
        if touch.hand < 0 and leaving[k] > _STILL:
            total += max(step * float(leaving[k] * along[k]), 0.0)
        if touch.mode == ContactMode.SLIDING:
            total += max(step * float(driven[k]), 0.0)
    return total
