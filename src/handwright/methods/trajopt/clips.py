"""From key states to a clip: poses at the frames of the problem, contacts and forces."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ENVIRONMENT, Contact, ContactMode, ContactTrack
from handwright.core.problem import Problem
from handwright.math import rotation
from handwright.math.packed import Packed
from handwright.math.pose import Pose
from handwright.mechanics.sliding import STATIC_SPEED
from handwright.methods.trajopt.build import WRIST_HINGES, Built, HandPart, make_room
from handwright.methods.trajopt.model import Room
from handwright.methods.trajopt.system import fill_sample, place_contact, pose_sample
from handwright.methods.trajopt.timing import key_times

# Contacts with less force than this share of the weight are not listed.
_IDLE = 5e-3


def make_clip(problem: Problem, built: Built, keys: Float[np.ndarray, "K n"], method: str) -> Clip:
    """The motion at the frames of the problem.

    Args:
        problem: What is answered.
        built: The same as arrays.
        keys: Key states; contact variables are 0 or 1.
        method: Name, for the provenance.
    """
    m, room = built.model, make_room(built.model)
    packed, bench = Packed(m), Packed(room)
    nq = m.num_coordinates
    coordinates = np.zeros((len(problem.times), nq))
    place, turn = np.zeros((len(problem.times), 3)), np.zeros((len(problem.times), 3, 3))
    contacts: list[Contact] = []
    begins = key_times(m, keys)
    step = float(np.diff(problem.times).min())
    for t, time in enumerate(problem.times - problem.times[0]):
        phase, fraction = _where(begins, float(time), is_cyclic=m.is_cyclic)
        fill_sample(packed, keys[phase], keys[(phase + 1) % len(keys)], fraction, bench)
        pose_sample(packed, bench, float(time))
        coordinates[t] = room.z[:nq]
        place[t], turn[t] = room.z[nq - 6 : nq - 3], room.body_turn
        share = _shares(
            built, keys, (phase, fraction, begins[phase + 1] - begins[phase]), step, room
        )
        contacts += _contacts(built, share, t, packed, bench, room)
    pose = Pose(place, rotation.from_matrix(turn))
    body_pose = Pose(pose.apply(-built.body.center), pose.wxyz)
    return Clip(
        problem=problem,
        times=problem.times,
        hands={hand.name: hand_motion(hand, coordinates) for hand in built.hands},
        bodies={built.body_name: body_pose},
        contacts=ContactTrack.of(contacts),
        provenance=Provenance(problem.name, method),
    )


def hand_motion(hand: HandPart, coordinates: Float[np.ndarray, "T Q"]) -> HandMotion:
    """Root and joints of a hand from coordinates of the model."""
    c = hand.couplings
    first = hand.first_finger_coordinate
    driven = coordinates[:, first + np.maximum(c.driver, 0)]
    q = np.where(c.driver >= 0, c.ratio * driven, 0.0) + c.bias
    count = len(coordinates)
    if not hand.is_free:
        root = Pose(np.tile(hand.root.position, (count, 1)), np.tile(hand.root.wxyz, (count, 1)))
        return HandMotion(root, q)
    wrist = coordinates[:, hand.first_coordinate : hand.first_coordinate + 6]
    turn = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
    for i, axis in enumerate(WRIST_HINGES):
        turn = rotation.multiply(turn, rotation.from_axis_angle(axis, wrist[:, 3 + i]))
    position = hand.root.position + rotation.rotate(hand.root.wxyz, wrist[:, :3])
    return HandMotion(Pose.normalized(position, rotation.multiply(hand.root.wxyz, turn)), q)


def _where(begins: Float[np.ndarray, " L"], time: float, *, is_cyclic: bool) -> tuple[int, float]:
    """Phase of a time, and the fraction of it that has passed; a cyclic motion begins anew.

    ``begins`` are the times of the keys, and of the end of a cycle.
    """
    if is_cyclic and time > begins[-1] - 1e-9:
        return 0, 0.0
    phase = int(np.clip(np.searchsorted(begins, time + 1e-9, side="right") - 1, 0, len(begins) - 2))
    fraction = (time - begins[phase]) / (begins[phase + 1] - begins[phase])
    return phase, float(np.clip(fraction, 0.0, 1.0))


def _shares(
    built: Built,
    keys: Float[np.ndarray, "K n"],
    at: tuple[int, float, float],
    step: float,
    room: Room,
) -> Float[np.ndarray, " N"]:
    """Shares of the contacts in a frame. Forces leap at keys; frames near get some of each side.

    An acceleration is taken from a frame and its two neighbours, which makes it a mean over the
    time between these, with weights that fall from the frame to them. So forces are made the same
    mean. A contact that is on beyond the key only is put where it is at the key.

    Args:
        built: The problem.
        keys: Key states.
        at: Phase of the frame, fraction of it that has passed, and its length, s.
        step: Between frames, s.
        room: With the state of the frame; origins and forces of such contacts are changed.
    """
    m = built.model
    phase, fraction, length = at
    own = keys[phase, m.first_share :]
    since, left = fraction * length / step, (1.0 - fraction) * length / step
    is_late = left < since
    beyond = phase + (1 if is_late else -1)
    if min(since, left) >= 1.0 or not (m.is_cyclic or 0 <= beyond < len(m.clearance)):
        return own.copy()
    key = keys[(phase + 1 if is_late else phase) % len(keys)]
    other = keys[beyond % len(keys), m.first_share :]
    for j in np.flatnonzero((own == 0.0) & (other > 0.0)):
        for first in (2 * m.num_coordinates, 2 * m.num_coordinates + 3 * m.num_contacts):
            place = slice(first + 3 * j, first + 3 * j + 3)
            room.z[place] = key[place]
    part = 0.5 * (1.0 - min(since, left)) ** 2
    return (1.0 - part) * own + part * other


def _contacts(
    built: Built,
    share: Float[np.ndarray, " N"],
    frame: int,
    packed: Packed,
    bench: Packed,
    room: Room,
) -> list[Contact]:
    """Contacts of a frame with the state in ``room``."""
    m = built.model
    nq = m.num_coordinates
    weight = m.weight
    found = []
    for j in np.flatnonzero(share > 0.0):
        x, y, z, nx, ny, nz, gap, capsule = place_contact(packed, bench, int(j))
        force = _within_cone(
            share[j] * room.z[2 * nq + 3 * j : 2 * nq + 3 * j + 3],
            np.array([nx, ny, nz]),
            float(m.contacts.friction[j]),
        )
        if np.linalg.norm(force) < _IDLE * weight:
            continue
        hand = int(built.contact_hand[j])
        if hand >= 0:
            toucher, part = built.hands[hand].name, int(built.capsule_number[capsule])
        else:
            toucher, part = ENVIRONMENT, int(built.surfaces[m.contacts.surface[j]])
        found.append(
            Contact(
                frame=frame,
                toucher=toucher,
                part=part,
                body=built.body_name,
                point=np.array([x, y, z]),
                normal=np.array([nx, ny, nz]),
                gap=float(gap),
                force=force,
                mode=_mode(built, room, int(j), np.array([x, y, z]), np.array([nx, ny, nz])),
            )
        )
    return found


def _mode(
    built: Built,
    room: Room,
    j: int,
    point: Float[np.ndarray, "3"],
    normal: Float[np.ndarray, "3"],
) -> ContactMode:
    """A stroke slides unless it is about to begin, to turn or to end."""
    m, nq = built.model, built.model.num_coordinates
    if not m.contacts.slides[j]:
        return ContactMode.STATIC
    arm = point - room.z[nq - 6 : nq - 3]
    velocity = room.z[2 * nq - 6 : 2 * nq - 3] + np.cross(room.swing[3], arm)
    speed = float(np.linalg.norm(velocity - (velocity @ normal) * normal))
    return ContactMode.SLIDING if speed > STATIC_SPEED else ContactMode.STATIC


def _within_cone(
    force: Float[np.ndarray, "3"], normal: Float[np.ndarray, "3"], friction: float
) -> Float[np.ndarray, "3"]:
    """The force with what sticks out of its cone sideways taken off: a small share of a weight."""
    along = max(float(force @ normal), 0.0)
    across = force - (force @ normal) * normal
    size = float(np.linalg.norm(across))
    return along * normal + across * min(1.0, friction * along / max(size, 1e-12))
