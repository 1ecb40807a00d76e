"""Contacts and forces of a judged motion, made exact against the body's own mesh.

The search reads distances from a grid, which rounds off sharp edges by a fraction of a millimetre.
Here every contact is moved to the mesh and the forces are solved again, so that what a clip stores
is what anybody finds who looks at the mesh.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.contact.edges import edge_sides
from handwright.contact.shear import frame_durations, skin_shears, slip_velocity
from handwright.contact.sliding import relative_velocity
from handwright.kinematics import link_poses, posed_capsules
from handwright.kinematics.skin.samples import CAPSULE_BULGE
from handwright.math.pose import Pose
from handwright.mechanics import ForceContacts, force_contacts
from handwright.mechanics.frame_forces import forces_of_frames
from handwright.methods.sampling.finish.check import CheckedMotion
from handwright.methods.sampling.finish.effort import find_overload
from handwright.methods.sampling.finish.exact_depth import skin_depths
from handwright.methods.sampling.setup.prepare import HoldSearch, joints_of, root_of

_SAME = 2e-5
_TOUCHING = 9.5e-4
# A little over a certificate's own limit: a finger between the two may count there as holding,
# and may not creep.
_NEARLY_TOUCHING = 1.02e-3
# Frames by which skin may have touched earlier than is found here. What is said to hold must do so
# in all cases; and slips that differ by more than this share are not the same.
_EARLIER, _SAME_SLIP = (0, 1, 2, 4, 8), 0.1
# A contact that does not slide may creep this far while it lasts, m.
_CREEP = 9e-4
# The speed up to which a certificate says that a contact holds, over the one that is used here.
_STATIC_SHARE = 1.0 / 0.9
# A contact with less, in weights, bears nothing.
_IDLE = 1e-6
# Share of the residual tolerance of a certificate that is used, in weights.
_RESIDUAL = 5e-3
# The same where contacts are looked at once more a little beside.
_LOOSE_RESIDUAL = 9e-3
# How far beside, along the axis of a capsule, m; and the cosine of normals that are the same.
_BESIDE, _SAME_FACET = 3.5e-4, 0.99998
# Depth that the judge's grid and skin points may hide, m; short of what a certificate allows.
_HIDDEN = 1.8e-4
# A normal is one if going against it leads away from the body by this share of the way, m.
_LEAST_COSINE = 0.6
_STEP = 5e-4


class ExactContacts(NamedTuple):
    """Contacts of a motion, in the body's frame, ordered by frame."""

    frame: np.ndarray
    capsule: np.ndarray
    """Or -1 - s for surface s of the surroundings."""
    point: np.ndarray
    normal: np.ndarray
    """Into the body."""
    gap: np.ndarray
    force: np.ndarray
    slides: np.ndarray


class CreepingContact(NamedTuple):
    """A contact that should hold and moves on, little by little."""

    capsule: int
    frame: int
    """Of the stage, in which it has come too far."""
    frames: np.ndarray
    """(N,) of the stage, in which the contact lasts."""


class Refusal(NamedTuple):
    """Why a motion does not hold after all."""

    frame: int
    """Of the problem, at which it fails."""
    reason: str
    """With what to change."""
    is_penetrating: bool = False
    """Whether skin is too deep."""
    creeping: CreepingContact | None = None
    """The contact that does, if one creeps."""


class _Contacts(NamedTuple):
    """Contacts on the mesh, in the body's frame, ordered by frame."""

    frame: np.ndarray
    capsule: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    slip: np.ndarray
    """(N, 3) motion of the toucher's material over the body that skin does not make up for, m a
    frame; zero for the ground."""
    drag: np.ndarray
    """(N, 3) direction of friction on the body where the contact slides, else zero."""
    toucher: np.ndarray
    """(N, 3) point of the hand that the contact is measured from; zero for the ground."""
    axis: np.ndarray
    """(N, 3) direction in which the capsule's axis goes on there; zero where it does not."""
    bears: np.ndarray
    """(N,) whether it may press: not where others may see it slide another way."""
    moves: np.ndarray
    """(N,) whether it moves over the body, be it within what skin gives way."""

    def chosen(self, rows: np.ndarray) -> _Contacts:
        """Some of them, by mask or number."""
        return _Contacts(*(column[rows] for column in self))


def exact_contacts(
    hold: HoldSearch, q: np.ndarray, checked: CheckedMotion
) -> ExactContacts | Refusal:
    """Exact contacts with forces; or, if these cannot move the body after all, why.

    Args:
        hold: The holding.
        q: (T, J) joint values of all hands, rad.
        checked: Of the motion.
    """
    moved = _move_to_mesh(hold, q, checked)
    refusal = _check_flesh_depth(hold, moved.frame, moved.gap)
    if refusal is not None:
        return refusal
    near = _add_edge_faces(hold, q, moved)
    # A little faster counts as sliding here but as holding in a certificate.
    speed = np.linalg.norm(near.slip, axis=1)
    may_hold = speed <= _STATIC_SHARE * hold.strict.limits.slip
    creeping = find_creeping_contact(near.frame, near.capsule, near.slip, may_hold)
    if creeping is not None:
        return Refusal(
            hold.first + creeping.frame,
            "a contact that should hold creeps. Let the wrist follow the body more closely.",
            creeping=creeping,
        )
    found = near.chosen((near.gap <= _TOUCHING) | (near.capsule < 0))
    force = _forces(hold, found)
    if isinstance(force, Refusal):
        return force
    refusal = _check_neighbouring_facets(hold, found)
    if refusal is not None:
        return refusal
    frame, capsule, point, normal, gap, _, drag, *_ = found
    refusal = _check_strength(hold, q, frame, capsule, point, force) or _check_skin_depth(hold, q)
    if refusal is not None:
        return refusal
    # Nothing stretches the skin of a contact that bears nothing.
    is_idle = np.linalg.norm(force, axis=1) <= _IDLE * hold.strict.weight
    slides = (np.linalg.norm(drag, axis=1) > 0.0) | (is_idle & found.moves)
    return ExactContacts(frame, capsule, point, normal, gap, force, slides)


def _move_to_mesh(hold: HoldSearch, q: np.ndarray, checked: CheckedMotion) -> _Contacts:
    """The judge's contacts, those of hands moved to the mesh; not the faces beside them."""
    rows = _first_of_each(checked)
    frame, capsule = checked.frame[rows], checked.capsule[rows]
    point, normal, gap = checked.point[rows], checked.normal[rows], checked.gap[rows]
    hand = np.flatnonzero(capsule >= 0)
    toucher = _touching_points(
        hold, q, frame[hand], capsule[hand], point[hand], normal[hand], gap[hand]
    )
    found, closest, _, outward = hold.distance.signed_distance(toucher.point)
    point[hand], normal[hand] = closest, -outward
    gap[hand] = found - toucher.reach
    position, axis = np.zeros_like(point), np.zeros_like(point)
    position[hand], axis[hand] = toucher.point, toucher.axis
    slip, drag = checked.slip[rows].copy(), checked.drag[rows].copy()
    yes = np.ones(len(frame), dtype=bool)
    return _Contacts(frame, capsule, point, normal, gap, slip, drag, position, axis, yes, ~yes)


def _add_edge_faces(hold: HoldSearch, q: np.ndarray, moved: _Contacts) -> _Contacts:
    """Contacts that are near enough, with the faces beside edges, and how they slide there."""
    near = moved.chosen((moved.gap <= _NEARLY_TOUCHING) | (moved.capsule < 0))
    # Others may see a contact begin some frames earlier: with more points of the skin, or nearer.
    earlier = _EARLIER if hold.strict.limits.shear > 0.0 else (0,)
    lives = [_skin_stretch(hold, q, near, count) for count in earlier]
    moved = near.chosen(_points_into_body(hold, near.point, near.normal))
    hand = np.flatnonzero((moved.capsule >= 0) & (moved.gap <= _TOUCHING))
    sides = edge_sides(
        moved.point[hand], moved.normal[hand], moved.gap[hand], hold.distance, touching=_TOUCHING
    )
    facing = _points_into_body(hold, sides.points, sides.normals)
    beside = moved.chosen(hand[sides.owner[facing]])._replace(
        point=sides.points[facing], normal=sides.normals[facing], gap=sides.gap[facing]
    )
    every = _Contacts(*(np.concatenate(pair) for pair in zip(moved, beside, strict=True)))
    own_normal = np.concatenate([moved.normal, moved.normal[hand[sides.owner[facing]]]])
    # Where a contact has been moved to, its material point slides at another speed.
    motion, limit = _motions(hold, q, every.frame, every.capsule, every.point), hold.strict.limits
    at = every.frame, np.maximum(every.capsule, -1)
    lasts = frame_durations(np.arange(len(q), dtype=np.float64))[every.frame]
    across = _tangential(motion, own_normal)
    slips = [slip_velocity(across, before[at], lasts, limit.shear) for before in lives]
    slip = _longest_rows(slips)
    speed = np.linalg.norm(slip, axis=1, keepdims=True)
    slid = np.where(speed > limit.slip, slip / np.maximum(speed, 1e-30), 0.0)
    drag = np.where(every.capsule[:, None] >= 0, slid, every.drag)
    # A finger that moves over an edge rests on neither face.
    beyond = _longest_rows([slip_velocity(motion, old[at], lasts, limit.shear) for old in lives])
    rests = np.linalg.norm(beyond, axis=1) <= limit.slip
    rests[: len(moved.frame)] = True
    order = np.flatnonzero(rests)[np.argsort(every.frame[rests], kind="stable")]
    differs = np.max([np.linalg.norm(slip - other, axis=1) for other in slips], axis=0)
    bears = (speed[:, 0] <= limit.slip) | (differs <= _SAME_SLIP * speed[:, 0])
    moves = (np.linalg.norm(across, axis=1) > limit.slip) & (every.capsule >= 0)
    return every._replace(slip=slip, drag=drag, bears=bears, moves=moves).chosen(order)


def _skin_stretch(hold: HoldSearch, q: np.ndarray, alive: _Contacts, earlier: int) -> np.ndarray:
    """(T, C + 1, 3) by which skin is stretched when frames begin, m; the last is for the ground.

    Args:
        hold: The holding.
        q: (T, J) joint values of all hands, rad.
        alive: All contacts.
        earlier: Frames by which each may have begun earlier, moving as it does when it is found.
    """
    shape = (len(q), len(hold.data.digit_of_capsule) + 1)
    moves, faces = np.zeros((*shape, 3)), np.zeros((*shape, 3))
    if hold.strict.limits.shear <= 0.0:
        return moves
    touches = np.zeros(shape, dtype=bool)
    mine = alive.chosen(alive.capsule >= 0)
    at = mine.frame, mine.capsule
    motion = _motions(hold, q, mine.frame, mine.capsule, mine.point)
    moves[at], faces[at], touches[at] = _tangential(motion, mine.normal), mine.normal, True
    for _ in range(earlier):
        begins = ~touches[:-1] & touches[1:]
        for column in (moves, faces, touches):
            column[:-1][begins] = column[1:][begins]
    frames = np.arange(len(q), dtype=np.float64)
    return skin_shears(moves, faces, touches, frames, hold.strict.limits.shear)


def _longest_rows(vectors: list[np.ndarray]) -> np.ndarray:
    """(N, 3) of each row the longest one."""
    size = np.linalg.norm(vectors, axis=2)
    return np.stack(vectors)[size.argmax(axis=0), np.arange(size.shape[1])]


def _tangential(motion: np.ndarray, normal: np.ndarray) -> np.ndarray:
    return motion - np.einsum("ni,ni->n", motion, normal)[:, None] * normal


def _check_neighbouring_facets(hold: HoldSearch, found: _Contacts) -> Refusal | None:
    """In which frame the forces hang on which facet of the mesh a contact is taken to be on.

    Another look at the same pose, such as a certificate's, finds the nearest point of an axis a
    little beside ours; where facets meet, the normal is another one then.
    """
    rows = np.flatnonzero(found.axis.any(axis=1))
    # The faces beside an edge come after their own contact.
    capsules = len(hold.data.digit_of_capsule)
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
        force = _forces(hold, other.chosen(np.isin(found.frame, frames)), frames, _LOOSE_RESIDUAL)
        if isinstance(force, Refusal):
            return force
    return None


def _forces(
    hold: HoldSearch,
    found: _Contacts,
    frames: np.ndarray | None = None,
    residual: float = _RESIDUAL,
) -> np.ndarray | Refusal:
    """(N, 3) least forces that move the body, N; or in which frame there are none.

    Args:
        hold: The holding.
        found: Contacts of some frames.
        frames: Which; all if None.
        residual: That may be left, in weights.
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


def _first_of_each(checked: CheckedMotion) -> np.ndarray:
    """Rows of contacts, without those on the faces beside: they come after their own contact."""
    count = int(checked.num[0])
    frame, capsule = checked.frame[:count], checked.capsule[:count]
    is_first = np.ones(count, dtype=bool)
    is_first[1:] = (frame[1:] != frame[:-1]) | (capsule[1:] != capsule[:-1]) | (capsule[1:] < 0)
    return np.flatnonzero(is_first)


def _force_contacts(hold: HoldSearch, found: _Contacts) -> ForceContacts:
    """Contacts of all frames as the solver takes them."""
    data, capsule, is_ground = hold.strict, found.capsule, found.capsule < 0
    # Friction of the surroundings by their number; the judge knows only the number.
    friction_of = dict(zip(hold.data.ground.surface, hold.data.ground.friction, strict=True))
    friction = np.full(len(capsule), hold.body.friction * data.limits.friction_margin)
    friction[is_ground] = [friction_of[-1 - c] for c in capsule[is_ground]]
    digit = np.where(is_ground, -1, hold.data.digit_of_capsule[np.maximum(capsule, 0)])
    # Fingers that were told to keep off carry nothing.
    may_press = (digit < 0) | hold.data.may_touch[found.frame, digit]
    return force_contacts(
        found.point,
        found.normal,
        center=hold.body.center,
        friction=friction,
        drag=found.drag,
        weight=np.where(is_ground, 0.05, hold.force_weight[np.maximum(capsule, 0)]),
        cap=np.where(may_press & found.bears, np.inf, 0.0),
    )


class _Touching(NamedTuple):
    """Points of hands that contacts are measured from."""

    point: np.ndarray
    reach: np.ndarray
    """How far the hand stands out from the point, m."""
    axis: np.ndarray
    """(N, 3) direction in which the axis goes on there, both ways; else zero."""


def _touching_points(
    hold: HoldSearch,
    q: np.ndarray,
    frame: np.ndarray,
    capsule: np.ndarray,
    point: np.ndarray,
    normal: np.ndarray,
    gap: np.ndarray,
) -> _Touching:
    """On the axis of a capsule where this touches, else on the skin."""
    position, reach = point - gap[:, None] * normal, np.zeros(len(point))
    axes = np.zeros_like(position)
    hands = hold.hands
    for h, model in enumerate(hold.models):
        mine = np.flatnonzero(hands.hand_of_capsule[capsule] == h)
        if mine.size == 0:
            continue
        posed = posed_capsules(model, q[:, joints_of(hold, h)], root_of(hold, h))
        part = capsule[mine] - hands.first_capsule[h]
        start, end = posed.start[frame[mine], part], posed.end[frame[mine], part]
        along = end - start
        length = np.maximum(np.einsum("ni,ni->n", along, along), 1e-18)
        share = np.einsum("ni,ni->n", point[mine] - start, along) / length
        axis = start + np.clip(share, 0.0, 1.0)[:, None] * along
        radius = posed.radius[part]
        off = np.linalg.norm(point[mine] - axis, axis=1) - radius
        is_capsule = np.abs(off - gap[mine]) < _SAME
        chosen = mine[is_capsule]
        position[chosen], reach[chosen] = axis[is_capsule], radius[is_capsule]
        is_inside = (share > 0.0) & (share < 1.0)
        unit = along / np.sqrt(length)[:, None]
        axes[chosen] = np.where(is_inside[:, None], unit, 0.0)[is_capsule]
    return _Touching(position, reach, axes)


def _motions(
    hold: HoldSearch, q: np.ndarray, frame: np.ndarray, capsule: np.ndarray, point: np.ndarray
) -> np.ndarray:
    """(N, 3) motion of a hand's material point past the body, m a frame; zero for the ground."""
    motion, hands = np.zeros_like(point), hold.hands
    count = len(q)
    still = Pose(np.zeros((count, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)))
    for h, model in enumerate(hold.models):
        mine = np.flatnonzero((capsule >= 0) & (hands.hand_of_capsule[capsule] == h))
        rotations, positions = link_poses(model, q[:, joints_of(hold, h)], root_of(hold, h))
        link = model.capsules.link[capsule[mine] - hands.first_capsule[h]]
        frames = np.arange(count, dtype=np.float64)
        motion[mine] = relative_velocity(
            frames, rotations, positions, still, frame[mine], link, point[mine]
        )
    return motion


def _points_into_body(hold: HoldSearch, point: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Which normals lead into the body, by the rule that a certificate has for stored ones."""
    here = hold.distance.signed_distance(point)[0]
    there = hold.distance.signed_distance(point - _STEP * normal)[0]
    return np.asarray(there - here >= _LEAST_COSINE * _STEP)


def _check_skin_depth(hold: HoldSearch, q: np.ndarray) -> Refusal | None:
    """Which hand is too deep, where, and what to change."""
    data = hold.strict
    for h, (name, model) in enumerate(zip(hold.interval.hands, hold.models, strict=True)):
        depth = skin_depths(
            model,
            q[:, joints_of(hold, h)],
            root_of(hold, h),
            data.field,
            hold.distance,
            data.environment,
        )
        if depth.max() > data.limits.penetration + _HIDDEN:
            t = int(depth.argmax())
            return Refusal(
                hold.first + t,
                f"skin of '{name}' is {1e3 * depth[t]:.2f} mm deep. Move the wrist away, or raise "
                "soft_tissue.",
                is_penetrating=True,
            )
    return None


def _check_flesh_depth(hold: HoldSearch, frame: np.ndarray, gap: np.ndarray) -> Refusal | None:
    """Where a thin part of the body goes through flesh, in which skin is never deep."""
    allowed = hold.strict.limits.penetration + _HIDDEN + CAPSULE_BULGE
    if len(gap) == 0 or gap.min() >= -allowed:
        return None
    return Refusal(
        hold.first + int(frame[gap.argmin()]),
        "a thin part of the body goes through the hand. Move the wrist away.",
        is_penetrating=True,
    )


def _check_strength(
    hold: HoldSearch,
    q: np.ndarray,
    frame: np.ndarray,
    capsule: np.ndarray,
    point: np.ndarray,
    force: np.ndarray,
) -> Refusal | None:
    """Which hand is not strong enough, where, and what to change."""
    hands = hold.hands
    for h, (name, model) in enumerate(zip(hold.interval.hands, hold.models, strict=True)):
        mine = np.flatnonzero((capsule >= 0) & (hands.hand_of_capsule[capsule] == h))
        found = find_overload(
            model, q[:, joints_of(hold, h)], root_of(hold, h), frame[mine],
            capsule[mine] - hands.first_capsule[h], point[mine], force[mine],
        )  # fmt: skip
        if found is not None:
            t, what = found
            return Refusal(
                hold.first + t,
                f"'{what}' of '{name}' is not strong enough. Make the body lighter, raise its "
                "friction, or slow the track down.",
            )
    return None


def find_creeping_contact(
    frame: np.ndarray, capsule: np.ndarray, slip: np.ndarray, may_hold: np.ndarray
) -> CreepingContact | None:
    """The contact that is said to hold and has crept too far, if one does.

    Where a capsule touches several faces, the mean of their material points counts.
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
            if float(np.linalg.norm(total)) > _CREEP:
                later = np.flatnonzero(np.diff(held[n:]) > 1)
                stop = n + 1 + int(later[0]) if later.size else len(held)
                return CreepingContact(int(c), int(held[n]), held[begin:stop])
    return None
