"""From key states to a clip: poses at the frames of the problem, contacts and forces."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ENVIRONMENT, Contact, ContactMode, ContactTrack
from handwright.core.problem import Problem
from handwright.core.tolerances import STATIC_SPEED
from handwright.kernels.packed import Packed
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.trajopt.model.model import Room
from handwright.methods.trajopt.model.timing import key_times
from handwright.methods.trajopt.model.transcribe import WRIST_HINGES, Built, HandPart, make_room
from handwright.methods.trajopt.solver.system import fill_sample, place_contact, pose_sample

# Contacts with less force than this share of the weight are not listed; nor are those that begin or
# end with a frame and have less than the second: they hardly touch yet, or no more.
_IDLE, _BARELY = 5e-3, 1e-2
# Speed from which on a stroke slides, m/s. Motions are judged by differences over two frames, in
# which what has just begun to slide may become faster than what counts as static.
_SLIDES = 0.5 * STATIC_SPEED


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
    layout = m.layout
    coordinates = np.zeros((len(problem.times), layout.num_coordinates))
    place, turn = np.zeros((len(problem.times), 3)), np.zeros((len(problem.times), 3, 3))
    contacts: list[Contact] = []
    begins = key_times(m, keys)
    forces = mean_forces(built, keys, problem.times - problem.times[0])
    for t, time in enumerate(problem.times - problem.times[0]):
        phase, fraction = _where(begins, float(time), is_cyclic=m.is_cyclic)
        fill_sample(packed, keys[phase], keys[(phase + 1) % len(keys)], fraction, bench)
        pose_sample(packed, bench, float(time))
        coordinates[t] = room.z[layout.coordinates]
        place[t], turn[t] = room.z[layout.body_position], room.body_turn
        contacts += _contacts(built, forces[t], t, packed, bench, room)
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


def mean_forces(
    built: Built, keys: Float[np.ndarray, "K n"], times: Float[np.ndarray, " T"]
) -> Float[np.ndarray, "T N 3"]:
    """Forces of all contacts around every frame, N.

    Differences of poses, by which motions are judged, see the mean of an acceleration with weights
    that fall evenly to zero at the next frames. Forces are linear between keys, where they leap and
    bend, so Simpson's rule is exact on parts that hold neither a frame nor a key within.
    """
    m = built.model
    layout, nc = m.layout, m.layout.num_contacts
    begins = key_times(m, keys)
    duration, step = float(times[-1]), float(times[1])
    # Of the cycles before and after, too.
    rounds = (-duration, 0.0, duration) if m.is_cyclic else (0.0,)
    ends = np.concatenate([begins + later for later in rounds])
    forces = np.zeros((len(times), nc, 3))
    share = np.zeros((len(times), nc))
    for t, time in enumerate(times):
        within = ends[np.abs(ends - time) < step - 1e-9]
        parts = np.unique([time - step, time, time + step, *within])
        for left, right in pairwise(parts):
            # Both ends in the phase that the part is in.
            middle = 0.5 * (left + right)
            at = middle % duration if m.is_cyclic else min(max(middle, 0.0), duration)
            phase, s = _where(begins, at, is_cyclic=m.is_cyclic)
            first, second = keys[phase], keys[(phase + 1) % len(keys)]
            length = begins[phase + 1] - begins[phase]
            for off, part in ((left, 1.0), (middle, 4.0), (right, 1.0)):
                weight = part / 6.0 * (right - left) / step * (1.0 - abs(off - time) / step)
                if weight <= 0.0:
                    continue
                # The first and the last force stay before and after the motion.
                is_outside = not m.is_cyclic and at != middle
                u = s if is_outside else min(max(s + (off - middle) / length, 0.0), 1.0)
                is_on = weight * first[layout.contacts]
                force = (1.0 - u) * first[layout.forces] + u * second[layout.forces]
                forces[t] += is_on[:, None] * force.reshape(nc, 3)
                share[t] += is_on
    is_bare = np.linalg.norm(forces, axis=2) < _BARELY * m.weight
    return np.where(((share < 1.0 - 1e-9) & is_bare)[..., None], 0.0, forces)


def _contacts(
    built: Built,
    forces: Float[np.ndarray, "N 3"],
    frame: int,
    packed: Packed,
    bench: Packed,
    room: Room,
) -> list[Contact]:
    """Contacts of a frame that carry force."""
    m = built.model
    weight = m.weight
    found = []
    for j in np.flatnonzero(forces.any(axis=1)):
        x, y, z, nx, ny, nz, gap, capsule = place_contact(packed, bench, int(j))
        force = _within_cone(forces[j], np.array([nx, ny, nz]), float(m.contacts.friction[j]))
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
    m, layout = built.model, built.model.layout
    if not m.contacts.slides[j]:
        return ContactMode.STATIC
    arm = point - room.z[layout.body_position]
    velocity = room.z[layout.body_velocity] + np.cross(room.swing[3], arm)
    speed = float(np.linalg.norm(velocity - (velocity @ normal) * normal))
    return ContactMode.SLIDING if speed > _SLIDES else ContactMode.STATIC


def _within_cone(
    force: Float[np.ndarray, "3"], normal: Float[np.ndarray, "3"], friction: float
) -> Float[np.ndarray, "3"]:
    """The force with what sticks out of its cone sideways taken off: a small share of a weight."""
    along = max(float(force @ normal), 0.0)
    across = force - (force @ normal) * normal
    size = float(np.linalg.norm(across))
    return along * normal + across * min(1.0, friction * along / max(size, 1e-12))
