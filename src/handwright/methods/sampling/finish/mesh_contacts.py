"""Contacts of a motion on the body's own mesh, and how they slide there.

The search reads distances from a grid, which rounds off sharp edges by a fraction of a millimetre.
Here every contact is moved to the mesh, so that what a clip stores is what anybody finds who looks
at the mesh.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.contact.edges import edge_sides
from handwright.contact.shear import frame_durations, skin_shears, slip_velocity
from handwright.contact.sliding import relative_velocity
from handwright.kinematics import link_poses, posed_capsules
from handwright.math.pose import Pose
from handwright.methods.sampling.finish.check import CheckedMotion
from handwright.methods.sampling.setup.limits import EXACT_GAP, NEAR_GAP
from handwright.methods.sampling.setup.prepare import HoldSearch

# Gaps that differ by less, m, are the same.
_SAME_GAP = 2e-5
# Frames by which skin may have touched earlier than is found here. What is said to hold must do so
# in all cases; and slips that differ by more than this share are not the same.
_EARLIER, _SAME_SLIP = (0, 1, 2, 4, 8), 0.1
# A normal is one if going against it by _PROBE, m, leads away from the body by this share of it.
_LEAST_COSINE, _PROBE = 0.6, 5e-4


class MeshContacts(NamedTuple):
    """N contacts on the mesh, in the body's frame, ordered by frame."""

    frame: Int[np.ndarray, " N"]
    capsule: Int[np.ndarray, " N"]
    """The capsule that touches, or -1 - s for surface s of the surroundings."""
    point: Float[np.ndarray, "N 3"]
    """m."""
    normal: Float[np.ndarray, "N 3"]
    """Into the body."""
    gap: Float[np.ndarray, " N"]
    """m."""
    slip: Float[np.ndarray, "N 3"]
    """Motion of the toucher's material over the body beyond what skin stretches, m a frame; zero
    for the ground."""
    drag: Float[np.ndarray, "N 3"]
    """Direction of friction on the body where the contact slides, else zero."""
    toucher: Float[np.ndarray, "N 3"]
    """Point of the hand that the contact is measured from; zero for the ground."""
    axis: Float[np.ndarray, "N 3"]
    """Direction in which the capsule's axis goes on there; zero where it does not."""
    bears: Bool[np.ndarray, " N"]
    """Whether it may press: not where others may see it slide another way."""
    moves: Bool[np.ndarray, " N"]
    """Whether it moves over the body, be it within what skin stretches."""

    def chosen(self, rows: np.ndarray) -> MeshContacts:
        """Some of the contacts, by mask or number."""
        return MeshContacts(*(column[rows] for column in self))


def move_to_mesh(
    hold: HoldSearch, q: Float[np.ndarray, "T J"], checked: CheckedMotion
) -> MeshContacts:
    """Moves contacts of hands in the grid to the mesh; faces beside an edge are left out.

    ``q`` are the joint values of all hands, rad.
    """
    rows = checked.first_of_each_capsule()
    capsule = checked.capsule[rows]
    point, normal, gap = checked.point[rows], checked.normal[rows], checked.gap[rows]
    hand = np.flatnonzero(capsule >= 0)
    toucher, axis = np.zeros_like(point), np.zeros_like(point)
    toucher[hand], reach, axis[hand] = _touching_points(hold, q, checked, rows[hand])
    found, closest, _, outward = hold.distance.signed_distance(toucher[hand])
    point[hand], normal[hand] = closest, -outward
    gap[hand] = found - reach
    return MeshContacts(
        frame=checked.frame[rows],
        capsule=capsule,
        point=point,
        normal=normal,
        gap=gap,
        slip=checked.slip[rows].copy(),
        drag=checked.drag[rows].copy(),
        toucher=toucher,
        axis=axis,
        bears=np.ones(len(rows), dtype=bool),
        moves=np.zeros(len(rows), dtype=bool),
    )


def contacts_of_hand(
    hold: HoldSearch, capsule: Int[np.ndarray, " N"], h: int
) -> tuple[Int[np.ndarray, " M"], Int[np.ndarray, " M"]]:
    """Contacts of one hand by the capsules of all, and their capsules among those of that hand."""
    first, last = hold.data.hands.first_capsule[h : h + 2]
    mine = np.flatnonzero((capsule >= first) & (capsule < last))
    return mine, capsule[mine] - first


def _touching_points(
    hold: HoldSearch,
    q: Float[np.ndarray, "T J"],
    checked: CheckedMotion,
    rows: Int[np.ndarray, " N"],
) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, " N"], Float[np.ndarray, "N 3"]]:
    """Points that some contacts of hands are measured from, m.

    They are on the axis of a capsule where this touches, else on the skin. Returned with them are
    how far the hand stands out from them, m, and directions in which the axis goes on there, both
    ways; else zero.
    """
    frame, capsule = checked.frame[rows], checked.capsule[rows]
    point, normal, gap = checked.point[rows], checked.normal[rows], checked.gap[rows]
    position, reach = point - gap[:, None] * normal, np.zeros(len(point))
    axes = np.zeros_like(position)
    for h in range(len(hold.models)):
        mine, part = contacts_of_hand(hold, capsule, h)
        posed = posed_capsules(*hold.posed(q, h))
        start, end = posed.start[frame[mine], part], posed.end[frame[mine], part]
        along = end - start
        length = np.maximum(np.einsum("ni,ni->n", along, along), 1e-18)
        share = np.einsum("ni,ni->n", point[mine] - start, along) / length
        axis = start + np.clip(share, 0.0, 1.0)[:, None] * along
        radius = posed.radius[part]
        off = np.linalg.norm(point[mine] - axis, axis=1) - radius
        is_capsule = np.abs(off - gap[mine]) < _SAME_GAP
        chosen = mine[is_capsule]
        position[chosen], reach[chosen] = axis[is_capsule], radius[is_capsule]
        is_inside = (share > 0.0) & (share < 1.0)
        unit = along / np.sqrt(length)[:, None]
        axes[chosen] = np.where(is_inside[:, None], unit, 0.0)[is_capsule]
    return position, reach, axes


def add_edge_faces(
    hold: HoldSearch, q: Float[np.ndarray, "T J"], moved: MeshContacts
) -> MeshContacts:
    """Chooses contacts that are near enough, adds faces beside edges, and finds how all slide."""
    near = moved.chosen((moved.gap <= NEAR_GAP) | (moved.capsule < 0))
    # Others may see a contact begin some frames earlier: with more points of the skin, or nearer.
    earlier = _EARLIER if hold.strict.limits.shear > 0.0 else (0,)
    lives = [_skin_stretch(hold, q, near, count) for count in earlier]
    moved = near.chosen(_points_into_body(hold, near.point, near.normal))
    hand = np.flatnonzero((moved.capsule >= 0) & (moved.gap <= EXACT_GAP))
    sides = edge_sides(
        moved.point[hand], moved.normal[hand], moved.gap[hand], hold.distance, touching=EXACT_GAP
    )
    facing = _points_into_body(hold, sides.points, sides.normals)
    beside = moved.chosen(hand[sides.owner[facing]])._replace(
        point=sides.points[facing], normal=sides.normals[facing], gap=sides.gap[facing]
    )
    every = MeshContacts(*(np.concatenate(pair) for pair in zip(moved, beside, strict=True)))
    own_normal = np.concatenate([moved.normal, moved.normal[hand[sides.owner[facing]]]])
    # Where a contact has been moved to, its material point slides at another speed.
    motion, limit = _motions(hold, q, every), hold.strict.limits
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


def _skin_stretch(
    hold: HoldSearch, q: Float[np.ndarray, "T J"], alive: MeshContacts, earlier: int
) -> Float[np.ndarray, "T C_plus_1 3"]:
    """Stretch of the skin when frames begin, m; the last column is for the ground.

    Each contact may have begun some frames earlier, moving as it does when it is found.
    """
    shape = (len(q), len(hold.data.hands.digit_of_capsule) + 1)
    moves, faces = np.zeros((*shape, 3)), np.zeros((*shape, 3))
    if hold.strict.limits.shear <= 0.0:
        return moves
    touches = np.zeros(shape, dtype=bool)
    mine = alive.chosen(alive.capsule >= 0)
    at = mine.frame, mine.capsule
    motion = _motions(hold, q, mine)
    moves[at], faces[at], touches[at] = _tangential(motion, mine.normal), mine.normal, True
    for _ in range(earlier):
        begins = ~touches[:-1] & touches[1:]
        for column in (moves, faces, touches):
            column[:-1][begins] = column[1:][begins]
    frames = np.arange(len(q), dtype=np.float64)
    return skin_shears(moves, faces, touches, frames, hold.strict.limits.shear)


def _longest_rows(vectors: list[np.ndarray]) -> np.ndarray:
    """(N, 3) the longest of several vectors in each row."""
    size = np.linalg.norm(vectors, axis=2)
    return np.stack(vectors)[size.argmax(axis=0), np.arange(size.shape[1])]


def _tangential(motion: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """The part of motions that is at right angles to normals."""
    return motion - np.einsum("ni,ni->n", motion, normal)[:, None] * normal


def _motions(
    hold: HoldSearch, q: Float[np.ndarray, "T J"], found: MeshContacts
) -> Float[np.ndarray, "N 3"]:
    """Motion of a hand's material point past the body, m a frame; zero for the ground."""
    motion = np.zeros_like(found.point)
    frames, still = np.arange(len(q), dtype=np.float64), Pose.identity(len(q))
    for h, model in enumerate(hold.models):
        mine, part = contacts_of_hand(hold, found.capsule, h)
        rotations, positions = link_poses(*hold.posed(q, h))
        motion[mine] = relative_velocity(
            frames, rotations, positions, still, found.frame[mine], model.capsules.link[part],
            found.point[mine],
        )  # fmt: skip
    return motion


def _points_into_body(hold: HoldSearch, point: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Which normals point into the body, by the rule that a certificate has for stored ones."""
    here = hold.distance.signed_distance(point)[0]
    there = hold.distance.signed_distance(point - _PROBE * normal)[0]
    return np.asarray(there - here >= _LEAST_COSINE * _PROBE)
