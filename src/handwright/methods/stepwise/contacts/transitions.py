"""How contacts change: they begin, collide, stay, slide, stay again and end (section 4.2)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from handwright.core.contact import ContactMode
from handwright.math.vectors import length
from handwright.methods.stepwise.contacts.contact_state import (
    ContactArrays,
    ContactState,
    held_points,
    mean_slip,
)
from handwright.methods.stepwise.contacts.proximity import (
    HandProximity,
    hand_contact,
    new_hand_contacts,
)
from handwright.methods.stepwise.contacts.support_corners import TOUCHING
from handwright.methods.stepwise.contacts.transition_kernels import (
    SlipFigures,
    energy_added,
    gaps_and_forces,
    in_body_axes,
    slip_figures,
)
from handwright.methods.stepwise.frame import Frame
from handwright.methods.stepwise.qp.step import StepSolution

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
# Share of a weight below which a force of the environment is none.
_LEAST_FORCE = 1e-5
# Speeds below this are none, m/s, and gaps below this, m.
_STILL, _PARTED = 1e-3, 3e-5


def update_hand_contacts(
    frame: Frame,
    meetings: list[HandProximity],
    contacts: list[ContactState],
    reaching: set[tuple[int, int]],
) -> list[ContactState]:
    """The contacts of hands at the start of a frame, from those of the last one."""
    near = {(meeting.hand, meeting.body): meeting for meeting in meetings if meeting.body >= 0}
    kept = []
    points, apart = held_points(frame, contacts)
    for contact, point, (away, crept) in zip(contacts, points, apart.tolist(), strict=True):
        meeting = near[contact.hand, contact.body]
        gap = float(meeting.nearest.gap[contact.part])
        is_free = length(contact.force) < _NO_FORCE
        if not gap < LOST or (gap > 0.5 * LOST and is_free):
            continue
        if contact.mode == ContactMode.COLLIDING:
            contact.mode = ContactMode.STATIC
        contact.is_pinned, contact.is_let_go, contact.is_separated = False, False, away > _FAR
        if (
            contact.mode == ContactMode.SLIDING
            or crept > _CREPT
            or away > LOST
            or (contact.idle_frames >= _IDLE_FRAMES and max(abs(away), crept) > _LOOSE)
            or _has_rolled(meeting, contact, point, away)
        ):
            contact = _anew(frame, meeting, contact)
        kept.append(contact)
    return kept + new_hand_contacts(frame, meetings, kept, reaching)


def _has_rolled(
    meeting: HandProximity, contact: ContactState, point: np.ndarray, away: float
) -> bool:
    return away > _LIFTED and length(meeting.nearest.point[contact.part] - point) > _ROLLED


def _anew(frame: Frame, meeting: HandProximity, contact: ContactState) -> ContactState:
    """The contact with both anchors where the skin is nearest now."""
    fresh = hand_contact(frame, meeting, contact.part, contact.mode)
    fresh.drag, fresh.cap, fresh.force = contact.drag, contact.cap, contact.force
    fresh.curve, fresh.moved = contact.curve, contact.moved
    return fresh


def after_step(
    frame: Frame, contacts: list[ContactState], rows: ContactArrays, solved: StepSolution
) -> None:
    """Remembers forces and slips, and finds which contacts slide from now on."""
    moved = in_body_axes(rows.moving(solved.velocity), rows.which.body, frame.poses.rotation)
    slip = rows.slip(solved.velocity)
    speed = rows.speed(solved.velocity).tolist()
    for k, contact in enumerate(contacts):
        contact.force, contact.curve = solved.force[k], rows.curve[k]
        contact.moved = moved[k]
        if contact.hand < 0:
            continue
        is_idle = length(contact.force) < _IDLE and length(contact.moved) < _IDLE_SPEED
        contact.idle_frames = contact.idle_frames + 1 if is_idle else 0
        if contact.mode == ContactMode.SLIDING:
            if speed[k] < _STAYS or slip[k] @ contact.drag < 0.0:
                contact.mode = ContactMode.STATIC
            else:
                contact.drag = slip[k] / speed[k]


def separating_contacts(
    contacts: list[ContactState],
    rows: ContactArrays,
    solved: StepSolution,
    weight: float,
    step: float,
) -> list[int]:
    """Contacts that would break while any of them still pushes: first rule of section 4.2.

    The weight is that of all bodies, N.
    """
    gap, along = gaps_and_forces(rows.offset, rows.normal, solved.force)
    leaving = rows.leaving(solved.velocity)
    ending = gap + step * leaving
    is_hand = rows.which.hand >= 0
    free = np.array([not (t.is_separated or t.is_pinned) for t in contacts], dtype=bool)
    # Skin gives way a little, the edges of bodies do not.
    lies = (ending > _PARTED) & ((leaving > _STILL) | (gap > _PARTED)) & free & ~is_hand
    holds = (ending > _FAR) & (leaving > _STAYS) & (along > _NO_FORCE) & free & is_hand
    found = np.flatnonzero(holds).tolist()
    if (along[lies] > _LEAST_FORCE * weight).any():
        found += np.flatnonzero(lies).tolist()
    return found


def contact_gaps(rows: ContactArrays) -> Float[np.ndarray, " K"]:
    """How far what touches is from the bodies along the normals, m."""
    return gaps_and_forces(rows.offset, rows.normal, rows.normal)[0]


def resolve_separation(
    contacts: list[ContactState],
    rows: ContactArrays,
    parting: list[int],
    solve: Callable[[], StepSolution],
) -> StepSolution:
    """Solves a frame with contacts that break without force, or that do not break.

    A contact pushes or parts, not both. Of the two frames the one that costs less is taken: a hand
    that cannot carry a body yet without a great effort leaves it where it lies. What is apart to
    begin with breaks.

    Args:
        contacts: All contacts; those that part are changed.
        rows: All contacts as arrays.
        parting: Which ones.
        solve: Solves the frame with the contacts as they are.
    """
    gap = contact_gaps(rows)
    for k in parting:
        contacts[k].is_separated = True
    broken = solve()
    near = [k for k in parting if gap[k] < TOUCHING]
    if not near:
        return broken
    for k in near:
        contacts[k].is_separated, contacts[k].is_pinned = False, True
    kept = solve()
    if kept.cost <= broken.cost:
        return kept
    for k in near:
        contacts[k].is_separated, contacts[k].is_pinned = True, False
    return broken


def corrections(
    contacts: list[ContactState], rows: ContactArrays, solved: StepSolution, weight: float
) -> bool:
    """Roll-back: changes the modes of contacts that slide, and says whether any did.

    A contact that starts to slide has its force on the edge of the cone against the slip (second
    rule of section 4.2); friction that would drive the slip makes the contact stay instead. The
    weight is that of all bodies, N.
    """
    changed = False
    mean = mean_slip(rows, solved.velocity)
    drag = np.array([contact.drag for contact in contacts]).reshape(-1, 3)
    figures = slip_figures(
        solved.force, rows.normal, rows.slip(solved.velocity), mean, drag
    ).tolist()
    for contact, way, (along, _, speed, pace, dragged, mean_dragged) in zip(
        contacts, mean, figures, strict=True
    ):
        if contact.hand >= 0 or along <= _LEAST_FORCE * weight:
            continue
        if contact.mode == ContactMode.STATIC and speed > _SLIDES:
            # It holds if it can.
            if contact.is_stuck:
                contact.mode, contact.drag = ContactMode.SLIDING, _way(way)
            contact.is_stuck, changed = True, True
        elif contact.mode == ContactMode.SLIDING and dragged < -_STILL:
            contact.mode, changed = ContactMode.STATIC, True
        elif contact.mode == ContactMode.SLIDING and mean_dragged < _TURNED * max(pace, 1e-12):
            contact.drag, changed = _way(way), True
    if changed:
        # What slips in a hand may hold once the environment does what it must.
        return True
    for contact, way, own in zip(contacts, mean, figures, strict=True):
        if contact.hand >= 0:
            changed |= _slide_or_stay(contact, way, SlipFigures(*own))
    return changed


def _way(mean: np.ndarray) -> np.ndarray:
    return np.asarray(mean / max(length(mean), 1e-12))


def _slide_or_stay(contact: ContactState, mean: np.ndarray, slip: SlipFigures) -> bool:
    """Changes the mode of a hand's contact to what its slip asks for; says whether it did."""
    if contact.mode == ContactMode.STATIC:
        # A pyramid has its corners on the cone: between them less is all there is.
        at_edge = slip.across > _NEARLY_ALL / np.sqrt(2.0) * contact.friction * slip.along
        if slip.speed > _SLIDES and (slip.along < _NO_FORCE or at_edge):
            contact.mode, contact.drag = ContactMode.SLIDING, _way(mean)
            return True
    elif contact.mode == ContactMode.SLIDING:
        if slip.dragged < -_STILL:
            contact.mode = ContactMode.STATIC
            return True
        if slip.pace > _SLIDES and slip.mean_dragged < _TURNED * slip.pace:
            contact.drag = _way(mean)
            return True
    return False


def added_energy(
    contacts: list[ContactState], rows: ContactArrays, solved: StepSolution, step: float
) -> float:
    """Energy that contacts which slide or break add in a frame, J; none should."""
    return float(
        energy_added(
            solved.force,
            rows.normal,
            rows.slip(solved.velocity),
            rows.leaving(solved.velocity),
            rows.which.hand,
            np.array([contact.mode for contact in contacts], dtype=np.int64),
            _STILL,
            step,
        )
    )
