"""Contacts and forces of a checked motion, made exact against the body's own mesh.

Contacts are moved to the mesh (``mesh_contacts``) and the forces are solved again. What a
certificate would refuse is refused here, each with the frame, the cause and what to change.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.hand import HandModel
from handwright.hands.human.strength import joint_strength
from handwright.kinematics.skin.samples import CAPSULE_BULGE
from handwright.math.pose import Pose
from handwright.mechanics import ForceContacts, force_contacts
from handwright.mechanics.frame_forces import forces_of_frames
from handwright.mechanics.torques import torque_maps
from handwright.methods.sampling.finish.check import CheckedMotion
from handwright.methods.sampling.finish.exact_depth import skin_depths
from handwright.methods.sampling.finish.mesh_contacts import (
    MeshContacts,
    add_edge_faces,
    contacts_of_hand,
    move_to_mesh,
)
from handwright.methods.sampling.setup.limits import (
    CHECKED_STATIC_SHARE,
    CREEP,
    EXACT_GAP,
    HIDDEN_DEPTH,
    LOOSE_RESIDUAL,
    RESIDUAL,
    USABLE_DIGIT_FORCE,
    USABLE_STRENGTH,
)
from handwright.methods.sampling.setup.prepare import HoldSearch

# A contact with less force, in weights, bears nothing.
_IDLE = 1e-6
# Weight of the forces of the ground against those of hands.
_GROUND_FORCE_WEIGHT = 0.05
# How far beside, along the axis of a capsule, contacts are looked at once more, m; and the cosine
# of normals that are the same.
_BESIDE, _SAME_FACET = 3.5e-4, 0.99998
# A joint this near to its limit is held there by its ligaments, rad.
_AT_LIMIT = np.radians(0.5)


class ExactContacts(NamedTuple):
    """N contacts of a motion with their forces."""

    found: MeshContacts
    force: Float[np.ndarray, "N 3"]
    """Force on the body, N."""
    slides: Bool[np.ndarray, " N"]


class CreepingContact(NamedTuple):
    """A contact that should hold and moves on, little by little."""

    capsule: int
    frame: int
    """Frame of the hold in which it has come too far."""
    frames: Int[np.ndarray, " N"]
    """Frames of the hold in which the contact lasts."""


class Refusal(NamedTuple):
    """Why a motion does not hold."""

    frame: int
    """Frame of the problem at which it fails first."""
    reason: str
    """The reason, with what to change."""
    is_penetrating: bool = False
    """Whether skin is too deep somewhere."""
    creeping: CreepingContact | None = None
    """The contact that creeps, if that is the reason."""
    failing: Int[np.ndarray, " N"] | None = None
    """All frames of the hold in which it fails, if more than the first are known."""


def exact_contacts(
    hold: HoldSearch, q: Float[np.ndarray, "T J"], checked: CheckedMotion
) -> ExactContacts | Refusal:
    """Exact contacts with forces; or, if these cannot move the body after all, says why.

    The motion has joint values ``q``, rad, and in the grid the contacts that were ``checked``.
    """
    moved = move_to_mesh(hold, q, checked)
    refusal = _check_flesh_depth(hold, moved)
    if refusal is not None:
        return refusal
    near = add_edge_faces(hold, q, moved)
    # A little faster counts as sliding here but as holding in a certificate.
    speed = np.linalg.norm(near.slip, axis=1)
    may_hold = speed <= hold.strict.limits.slip * (1.0 / CHECKED_STATIC_SHARE)
    creeping = find_creeping_contact(near.frame, near.capsule, near.slip, may_hold)
    if creeping is not None:
        return Refusal(
            hold.first + creeping.frame,
            "a contact that should hold creeps. Let the wrist follow the body more closely.",
            creeping=creeping,
        )
    found = near.chosen((near.gap <= EXACT_GAP) | (near.capsule < 0))
    force = solve_forces(hold, found)
    if isinstance(force, Refusal):
        return force
    refusal = (
        check_neighbouring_facets(hold, found)
        or _check_strength(hold, q, found, force)
        or _check_skin_depth(hold, q)
    )
    if refusal is not None:
        return refusal
    # Nothing stretches the skin of a contact that bears nothing.
    is_idle = np.linalg.norm(force, axis=1) <= _IDLE * hold.strict.weight
    slides = (np.linalg.norm(found.drag, axis=1) > 0.0) | (is_idle & found.moves)
    return ExactContacts(found, force, slides)


def check_neighbouring_facets(hold: HoldSearch, found: MeshContacts) -> Refusal | None:
    """Refuses forces that depend on which facet of the mesh a contact is taken to be on.

    Another look at the same pose, such as a certificate's, finds the nearest point of an axis a
    little beside ours; where facets meet, the normal is another one then.
    """
    rows = np.flatnonzero(found.axis.any(axis=1))
    # The faces beside an edge come after their own contact.
    capsules = len(hold.data.hands.digit_of_capsule)
    rows = rows[np.unique(capsules * found.frame[rows] + found.capsule[rows], return_index=True)[1]]
    for way in (-_BESIDE, _BESIDE):
        position = found.toucher[rows] + way * found.axis[rows]
        _, closest, _, outward = hold.distance.signed_distance(position)
        rotated = rows[-np.einsum("ni,ni->n", outward, found.normal[rows]) < _SAME_FACET]
        if rotated.size == 0:
            continue
        point, normal = found.point.copy(), found.normal.copy()
        point[rows], normal[rows] = closest, -outward
        other = found._replace(point=point, normal=normal)
        frames = np.unique(found.frame[rotated])
        force = solve_forces(
            hold, other.chosen(np.isin(found.frame, frames)), frames, LOOSE_RESIDUAL
        )
        if isinstance(force, Refusal):
            return force
    return None


def solve_forces(
    hold: HoldSearch,
    found: MeshContacts,
    frames: Int[np.ndarray, " F"] | None = None,
    residual: float = RESIDUAL,
) -> Float[np.ndarray, "N 3"] | Refusal:
    """Least forces that move the body in some frames, or in all, N; or where there are none.

    A ``residual`` of force and moment may be left, in weights.
    """
    data = hold.strict
    frames = np.arange(len(data.wrench)) if frames is None else frames
    at = np.searchsorted(frames, found.frame)
    solved = forces_of_frames(
        _force_contacts(hold, found),
        np.searchsorted(at, np.arange(len(frames) + 1)),
        data.wrench[frames],
        force_scale=data.weight,
        length_scale=data.gyration,
    )
    missing = np.maximum(
        np.linalg.norm(solved.residual[:, :3], axis=1),
        np.linalg.norm(solved.residual[:, 3:], axis=1) / data.gyration,
    )
    is_hand = found.capsule >= 0
    level = np.einsum("ni,ni->n", solved.forces, found.normal)
    pressed = np.bincount(at[is_hand], level[is_hand], minlength=len(frames))
    # Written so that NaN is refused.
    is_carried = missing <= residual * data.weight
    is_carried &= pressed <= data.limits.force * data.weight
    if not is_carried.all():
        return Refusal(
            hold.first + int(frames[is_carried.argmin()]),
            "contacts on the exact surface of the body could not move it as its track shows. "
            "Raise friction, lower the mass, or slow the track.",
        )
    return solved.forces


def _force_contacts(hold: HoldSearch, found: MeshContacts) -> ForceContacts:
    """Contacts as the solver of forces takes them."""
    data, capsule, is_ground = hold.strict, found.capsule, found.capsule < 0
    # Friction of the surroundings by their number; contacts know only the number.
    friction_of = dict(zip(hold.data.ground.surface, hold.data.ground.friction, strict=True))
    friction = np.full(len(capsule), hold.body.friction * data.limits.friction_margin)
    friction[is_ground] = [friction_of[-1 - c] for c in capsule[is_ground]]
    digit = np.where(is_ground, -1, hold.data.hands.digit_of_capsule[np.maximum(capsule, 0)])
    # Fingers that were told to keep off the body carry nothing.
    may_press = (digit < 0) | hold.data.may_touch[found.frame, digit]
    return force_contacts(
        found.point,
        found.normal,
        center=hold.body.center,
        friction=friction,
        drag=found.drag,
        weight=np.where(is_ground, _GROUND_FORCE_WEIGHT, hold.force_weight[np.maximum(capsule, 0)]),
        cap=np.where(may_press & found.bears, np.inf, 0.0),
    )


def _check_skin_depth(hold: HoldSearch, q: Float[np.ndarray, "T J"]) -> Refusal | None:
    """Refuses a motion in which the skin of a hand is too deep."""
    data = hold.strict
    for h, name in enumerate(hold.interval.hands):
        depth = skin_depths(*hold.posed(q, h), data.field, hold.distance, data.environment)
        if depth.max() > data.limits.penetration + HIDDEN_DEPTH:
            t = int(depth.argmax())
            return Refusal(
                hold.first + t,
                f"skin of '{name}' is {1e3 * depth[t]:.2f} mm deep. Move the wrist away, or raise "
                "soft_tissue.",
                is_penetrating=True,
            )
    return None


def _check_flesh_depth(hold: HoldSearch, found: MeshContacts) -> Refusal | None:
    """Refuses a motion in which a thin part of the body goes through flesh.

    The skin itself is never deep in a thin part.
    """
    allowed = hold.strict.limits.penetration + HIDDEN_DEPTH + CAPSULE_BULGE
    if found.gap.min(initial=0.0) >= -allowed:
        return None
    return Refusal(
        hold.first + int(found.frame[found.gap.argmin()]),
        "a thin part of the body goes through the hand. Move the wrist away.",
        is_penetrating=True,
    )


def _check_strength(
    hold: HoldSearch,
    q: Float[np.ndarray, "T J"],
    found: MeshContacts,
    force: Float[np.ndarray, "N 3"],
) -> Refusal | None:
    """Refuses a motion for which a hand is not strong enough."""
    for h, name in enumerate(hold.interval.hands):
        mine, part = contacts_of_hand(hold, found.capsule, h)
        overload = find_overload(
            hold.posed(q, h), found.frame[mine], part, found.point[mine], force[mine]
        )
        if overload is not None:
            t, what = overload
            return Refusal(
                hold.first + t,
                f"'{what}' of '{name}' is not strong enough. Make the body lighter, raise its "
                "friction, or slow the track down.",
            )
    return None


def find_overload(
    posed: tuple[HandModel, Float[np.ndarray, "T J"], Pose],
    frame: Int[np.ndarray, " N"],
    capsule: Int[np.ndarray, " N"],
    point: Float[np.ndarray, "N 3"],
    force: Float[np.ndarray, "N 3"],
) -> tuple[int, str] | None:
    """The frame in which forces ask most of a hand, and of what, if that is too much.

    Contacts of the hand, by its own capsules, are given by their points, m, and forces on the body,
    N. The limits are those of a certificate. The hand's own weight is left out: a share of the
    limits is kept back for it.
    """
    model, q, root = posed
    worst, what = 1.0, None
    count, digit = len(q), model.capsules.digit[capsule]
    size = np.linalg.norm(force, axis=1)
    for d, each in enumerate(model.digits):
        mine = digit == d
        share = np.bincount(frame[mine], size[mine], count) / USABLE_DIGIT_FORCE
        if share.max() > worst:
            worst, what = float(share.max()), (int(share.argmax()), each.name)
    strength = joint_strength(model)
    known = np.flatnonzero(strength.is_known)
    maps = torque_maps(model, q[frame], model.capsules.link[capsule], point, root[frame])[:, known]
    torque = np.zeros((count, len(known)))
    np.add.at(torque, frame, np.einsum("nki,ni->nk", maps, force))
    joints = q[:, known]
    at_top = joints >= model.joints.upper[known] - _AT_LIMIT
    at_bottom = joints <= model.joints.lower[known] + _AT_LIMIT
    least = np.where(at_top, -np.inf, strength.lower[known])
    most = np.where(at_bottom, np.inf, strength.upper[known])
    shares = np.maximum(torque / (USABLE_STRENGTH * most), torque / (USABLE_STRENGTH * least))
    if shares.size and shares.max() > worst:
        t, k = (int(i) for i in np.unravel_index(int(shares.argmax()), shares.shape))
        what = (t, model.joints.names[known[k]])
    return what


def find_creeping_contact(
    frame: Int[np.ndarray, " N"],
    capsule: Int[np.ndarray, " N"],
    slip: Float[np.ndarray, "N 3"],
    may_hold: Bool[np.ndarray, " N"],
) -> CreepingContact | None:
    """Finds a contact that may count as holding in a certificate and has crept too far.

    Contacts slip in m a frame. Where a capsule touches several faces, the mean of their material
    points counts.
    """
    for c in np.unique(capsule[capsule >= 0]):
        mine = np.flatnonzero((capsule == c) & may_hold)
        held, which = np.unique(frame[mine], return_inverse=True)
        mean = np.zeros((len(held), 3))
        np.add.at(mean, which, slip[mine])
        mean /= np.bincount(which, minlength=len(held))[:, None]
        total, begin = np.zeros(3), 0
        for n in range(1, len(held)):
            follows = held[n] == held[n - 1] + 1
            begin = begin if follows else n
            total = total + 0.5 * (mean[n] + mean[n - 1]) if follows else np.zeros(3)
            if float(np.linalg.norm(total)) > CREEP:
                later = np.flatnonzero(np.diff(held[n:]) > 1)
                stop = n + 1 + int(later[0]) if later.size else len(held)
                return CreepingContact(int(c), int(held[n]), held[begin:stop])
    return None
