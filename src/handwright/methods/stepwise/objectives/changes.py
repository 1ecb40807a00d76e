"""How contacts change: they begin, collide, stay, slide, stay again and end (section 4.2)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from handwright.core.contact import ContactMode
from handwright.math.vectors import length
from handwright.methods.stepwise.contacts.meeting import Meeting, hand_touch, new_hand_touches
from handwright.methods.stepwise.contacts.touches import Touch, TouchRows, held_points, mean_slip
from handwright.methods.stepwise.frame import Frame
from handwright.methods.stepwise.objectives.carrying import TOUCHING
from handwright.methods.stepwise.objectives.change_kernels import (
    SlipFigures,
    energy_added,
    gaps_and_forces,
    in_body_axes,
    slip_figures,
)
from handwright.methods.stepwise.qp.step import Solved

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
# Points of a contact that has given no force, N, and been still, m/s, for so many frames are
# forgotten when they are this far apart, m: what cannot be closed would pull at the arm for ever.
_IDLE, _IDLE_SPEED, _IDLE_FRAMES, _LOOSE = 1e-6, 1e-4, 3, 5e-5
# Share of a weight below which a force of the surroundings is none.
_LEAST_FORCE = 1e-5
# Speeds below this are none, m/s, and gaps below this, m.
_STILL, _PARTED = 1e-3, 3e-5


def update_hand_touches(
    frame: Frame,
    meetings: list[Meeting],
    touches: list[Touch],
    reaching: set[tuple[int, int]],
) -> list[Touch]:
    """The contacts of hands at the start of a frame, from those of the last one."""
    near = {(meeting.hand, meeting.body): meeting for meeting in meetings if meeting.body >= 0}
    kept = []
    points, apart = held_points(frame, touches)
    for touch, point, (away, crept) in zip(touches, points, apart.tolist(), strict=True):
        meeting = near[touch.hand, touch.body]
        gap = float(meeting.nearest.gap[touch.part])
        is_free = length(touch.force) < _NO_FORCE
        if not gap < LOST or (gap > 0.5 * LOST and is_free):
            continue
        if touch.mode == ContactMode.COLLIDING:
            touch.mode = ContactMode.STATIC
        touch.is_pinned, touch.is_let_go, touch.is_parted = False, False, away > _FAR
        if (
            touch.mode == ContactMode.SLIDING
            or crept > _CREPT
            or away > LOST
            or (touch.idle_frames >= _IDLE_FRAMES and max(abs(away), crept) > _LOOSE)
            or _has_rolled(meeting, touch, point, away)
        ):
            touch = _anew(frame, meeting, touch)
        kept.append(touch)
    return kept + new_hand_touches(frame, meetings, kept, reaching)


def _has_rolled(meeting: Meeting, touch: Touch, point: np.ndarray, away: float) -> bool:
    return away > _LIFTED and length(meeting.nearest.point[touch.part] - point) > _ROLLED


def _anew(frame: Frame, meeting: Meeting, touch: Touch) -> Touch:
    """The contact with both anchors where the skin is nearest now."""
    fresh = hand_touch(frame, meeting, touch.part, touch.mode)
    fresh.drag, fresh.cap, fresh.force = touch.drag, touch.cap, touch.force
    fresh.curve, fresh.moved = touch.curve, touch.moved
    return fresh


def after_step(frame: Frame, touches: list[Touch], rows: TouchRows, solved: Solved) -> None:
    """Remembers forces and slips, and finds which contacts slide from now on.

    Args:
        frame: States before it.
        touches: All contacts; changed.
        rows: The same as arrays.
        solved: Velocities and forces of the frame.
    """
    moved = in_body_axes(rows.moving(solved.velocity), rows.which.body, frame.poses.rotation)
    slip = rows.slip(solved.velocity)
    speed = rows.speed(solved.velocity).tolist()
    for k, touch in enumerate(touches):
        touch.force, touch.curve = solved.force[k], rows.curve[k]
        touch.moved = moved[k]
        if touch.hand < 0:
            continue
        is_idle = length(touch.force) < _IDLE and length(touch.moved) < _IDLE_SPEED
        touch.idle_frames = touch.idle_frames + 1 if is_idle else 0
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
    gap, along = gaps_and_forces(rows.offset, rows.normal, solved.force)
    leaving = rows.leaving(solved.velocity)
    ending = gap + step * leaving
    is_hand = rows.which.hand >= 0
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
    return gaps_and_forces(rows.offset, rows.normal, rows.normal)[0]


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


def corrections(touches: list[Touch], rows: TouchRows, solved: Solved, weight: float) -> bool:
    """Roll-back: changes the modes of contacts that slide, and says whether any did.

    A contact that starts to slide has its force on the edge of the cone against the slip (second
    rule of section 4.2); friction that would drive the slip makes the contact stay instead.

    Args:
        touches: Changed where a rule is broken.
        rows: The same as arrays.
        solved: What the frame would do.
        weight: Weight of all bodies, N.
    """
    changed = False
    mean = mean_slip(rows, solved.velocity)
    drag = np.array([touch.drag for touch in touches]).reshape(-1, 3)
    figures = slip_figures(
        solved.force, rows.normal, rows.slip(solved.velocity), mean, drag
    ).tolist()
    for touch, way, (along, _, speed, pace, dragged, mean_dragged) in zip(
        touches, mean, figures, strict=True
    ):
        if touch.hand >= 0 or along <= _LEAST_FORCE * weight:
            continue
        if touch.mode == ContactMode.STATIC and speed > _SLIDES:
            # It holds if it can.
            if touch.is_stuck:
                touch.mode, touch.drag = ContactMode.SLIDING, _way(way)
            touch.is_stuck, changed = True, True
        elif touch.mode == ContactMode.SLIDING and dragged < -_STILL:
            touch.mode, changed = ContactMode.STATIC, True
        elif touch.mode == ContactMode.SLIDING and mean_dragged < _TURNED * max(pace, 1e-12):
            touch.drag, changed = _way(way), True
    if changed:
        # What slips in a hand may hold once the surroundings do what they must.
        return True
    for touch, way, own in zip(touches, mean, figures, strict=True):
        if touch.hand >= 0:
            changed |= _slide_or_stay(touch, way, SlipFigures(*own))
    return changed


def _way(mean: np.ndarray) -> np.ndarray:
    return np.asarray(mean / max(length(mean), 1e-12))


def _slide_or_stay(touch: Touch, mean: np.ndarray, slip: SlipFigures) -> bool:
    """Changes the mode of a hand's contact to what its slip asks for; says whether it did.

    Args:
        touch: The contact.
        mean: Its mean slip, m/s.
        slip: What its forces and its slip are.
    """
    if touch.mode == ContactMode.STATIC:
        # A pyramid has its corners on the cone: between them less is all there is.
        at_edge = slip.across > _NEARLY_ALL / np.sqrt(2.0) * touch.friction * slip.along
        if slip.speed > _SLIDES and (slip.along < _NO_FORCE or at_edge):
            touch.mode, touch.drag = ContactMode.SLIDING, _way(mean)
            return True
    elif touch.mode == ContactMode.SLIDING:
        if slip.dragged < -_STILL:
            touch.mode = ContactMode.STATIC
            return True
        if slip.pace > _SLIDES and slip.mean_dragged < _TURNED * slip.pace:
            touch.drag = _way(mean)
            return True
    return False


def added_energy(touches: list[Touch], rows: TouchRows, solved: Solved, step: float) -> float:
    """Energy that contacts which slide or break add in a frame, J; none should."""
    return float(
        energy_added(
            solved.force,
            rows.normal,
            rows.slip(solved.velocity),
            rows.leaving(solved.velocity),
            rows.which.hand,
            np.array([touch.mode for touch in touches], dtype=np.int64),
            _STILL,
            step,
        )
    )
