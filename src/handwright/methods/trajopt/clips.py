"""From key states to a clip: poses at the frames of the problem, contacts and forces."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ENVIRONMENT, Contact, ContactMode, ContactTrack
from handwright.core.tolerances import STATIC_SPEED
from handwright.kernels.packed import Packed
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.trajopt.model.hands import WRIST_HINGES, TranscribedHand
from handwright.methods.trajopt.model.model import Model
from handwright.methods.trajopt.model.transcribe import Transcription
from handwright.methods.trajopt.model.workspace import SampleWorkspace, make_workspace
from handwright.methods.trajopt.solver.system import fill_sample, place_contact, pose_sample

# Contacts with less force than the first share of the weight are not listed; nor are those with
# less than the second that begin or end within a frame: they hardly touch yet, or hardly still.
_IDLE, _BARELY = 5e-3, 1e-2
# Speed from which on a stroke counts as sliding, m/s. The certificate takes differences over two
# frames, in which a contact that has just begun to slide may become faster than a static one.
_SLIDES = 0.5 * STATIC_SPEED


def make_clip(transcription: Transcription, keys: Float[np.ndarray, "K n"], method: str) -> Clip:
    """The motion at the frames of the problem; contact variables of the keys are 0 or 1."""
    problem, m, work = (
        transcription.problem,
        transcription.model,
        make_workspace(transcription.model),
    )
    packed, packed_work = Packed(m), Packed(work)
    layout = m.layout
    coordinates = np.zeros((len(problem.times), layout.num_coordinates))
    positions = np.zeros((len(problem.times), 3))
    rotations = np.zeros((len(problem.times), 3, 3))
    contacts: list[Contact] = []
    begins = m.key_times(keys)
    forces = mean_forces(transcription, keys, problem.times - problem.times[0])
    for t, time in enumerate(problem.times - problem.times[0]):
        phase, fraction = _where(begins, float(time), is_cyclic=m.is_cyclic)
        fill_sample(packed, keys[phase], keys[(phase + 1) % len(keys)], fraction, packed_work)
        pose_sample(packed, packed_work, float(time))
        coordinates[t] = work.z[layout.coordinates]
        positions[t], rotations[t] = work.z[layout.body_position], work.body_rotation
        contacts += _contacts(transcription, forces[t], t, (packed, packed_work), work)
    pose = Pose(positions, rotation.from_matrix(rotations))
    body_pose = Pose(pose.apply(-transcription.body.center), pose.wxyz)
    return Clip(
        problem=problem,
        times=problem.times,
        hands={hand.name: hand_motion(hand, coordinates) for hand in transcription.hands},
        bodies={transcription.body_name: body_pose},
        contacts=ContactTrack.of(contacts),
        provenance=Provenance(problem.name, method),
    )


def hand_motion(hand: TranscribedHand, coordinates: Float[np.ndarray, "T Q"]) -> HandMotion:
    """Motion of a hand's root and joints from the coordinates of the model."""
    c = hand.couplings
    first = hand.first_finger_coordinate
    driven = coordinates[:, first + np.maximum(c.driver, 0)]
    q = np.where(c.driver >= 0, c.ratio * driven, 0.0) + c.bias
    count = len(coordinates)
    if not hand.is_free:
        root = Pose(np.tile(hand.root.position, (count, 1)), np.tile(hand.root.wxyz, (count, 1)))
        return HandMotion(root, q)
    wrist = coordinates[:, hand.first_coordinate : hand.first_coordinate + 6]
    turned = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
    for i, axis in enumerate(WRIST_HINGES):
        turned = rotation.multiply(turned, rotation.from_axis_angle(axis, wrist[:, 3 + i]))
    position = hand.root.position + rotation.rotate(hand.root.wxyz, wrist[:, :3])
    return HandMotion(Pose.normalized(position, rotation.multiply(hand.root.wxyz, turned)), q)


def _where(begins: Float[np.ndarray, " L"], time: float, *, is_cyclic: bool) -> tuple[int, float]:
    """Phase that contains a time, and the fraction of it that has passed.

    ``begins`` are the times of the keys, and of the end of a cycle, at which the motion begins
    anew.
    """
    if is_cyclic and time > begins[-1] - 1e-9:
        return 0, 0.0
    phase = int(np.clip(np.searchsorted(begins, time + 1e-9, side="right") - 1, 0, len(begins) - 2))
    fraction = (time - begins[phase]) / (begins[phase + 1] - begins[phase])
    return phase, float(np.clip(fraction, 0.0, 1.0))


def mean_forces(
    transcription: Transcription, keys: Float[np.ndarray, "K n"], times: Float[np.ndarray, " T"]
) -> Float[np.ndarray, "T N 3"]:
    """Forces of all contacts around every frame, N.

    The certificate takes differences of poses, which are means of the acceleration with weights
    that fall linearly to zero at the next frames. Forces are linear between keys, at which they may
    jump, so Simpson's rule is exact on parts that contain neither a frame nor a key within.
    """
    m = transcription.model
    layout, nc = m.layout, m.layout.num_contacts
    begins = m.key_times(keys)
    duration, step = float(times[-1]), float(times[1])
    # A cyclic motion also has the keys of the cycles before and after.
    rounds = (-duration, 0.0, duration) if m.is_cyclic else (0.0,)
    ends = np.concatenate([begins + later for later in rounds])
    forces = np.zeros((len(times), nc, 3))
    share = np.zeros((len(times), nc))
    for t, time in enumerate(times):
        within = ends[np.abs(ends - time) < step - 1e-9]
        parts = np.unique([time - step, time, time + step, *within])
        for left, right in pairwise(parts):
            # Both ends of a part belong to the phase of its middle.
            middle = 0.5 * (left + right)
            at = middle % duration if m.is_cyclic else min(max(middle, 0.0), duration)
            phase, s = _where(begins, at, is_cyclic=m.is_cyclic)
            first, second = keys[phase], keys[(phase + 1) % len(keys)]
            length = begins[phase + 1] - begins[phase]
            for off, part in ((left, 1.0), (middle, 4.0), (right, 1.0)):
                weight = part / 6.0 * (right - left) / step * (1.0 - abs(off - time) / step)
                if weight <= 0.0:
                    continue
                # Before and after the motion, forces are as at its start and its end.
                is_outside = not m.is_cyclic and at != middle
                u = s if is_outside else min(max(s + (off - middle) / length, 0.0), 1.0)
                is_on = weight * first[layout.contacts]
                force = (1.0 - u) * first[layout.forces] + u * second[layout.forces]
                forces[t] += is_on[:, None] * force.reshape(nc, 3)
                share[t] += is_on
    is_bare = np.linalg.norm(forces, axis=2) < _BARELY * m.weight
    return np.where(((share < 1.0 - 1e-9) & is_bare)[..., None], 0.0, forces)


def _contacts(
    transcription: Transcription,
    forces: Float[np.ndarray, "N 3"],
    frame: int,
    packed: tuple[Packed, Packed],
    work: SampleWorkspace,
) -> list[Contact]:
    """Contacts of a frame that carry force; ``packed`` are the model and ``work``."""
    m, found = transcription.model, []
    for j in np.flatnonzero(forces.any(axis=1)):
        placed = place_contact(*packed, int(j))
        point, normal = np.array(placed[0]), np.array(placed[1])
        force = _within_cone(forces[j], normal, float(m.contacts.friction[j]))
        if np.linalg.norm(force) < _IDLE * m.weight:
            continue
        hand = int(transcription.contact_hand[j])
        if hand >= 0:
            toucher, part = transcription.hands[hand].name, transcription.capsule_number[placed[3]]
        else:
            toucher, part = ENVIRONMENT, transcription.surfaces[m.contacts.surface[j]]
        mode = ContactMode.STATIC
        if m.contacts.slides[j] and _speed(m, work, point, normal) > _SLIDES:
            mode = ContactMode.SLIDING
        found.append(
            Contact(
                frame=frame,
                toucher=toucher,
                part=int(part),
                body=transcription.body_name,
                point=point,
                normal=normal,
                gap=float(placed[2]),
                force=force,
                mode=mode,
            )
        )
    return found


def _speed(
    m: Model, work: SampleWorkspace, point: Float[np.ndarray, "3"], normal: Float[np.ndarray, "3"]
) -> float:
    """Speed of the body's material at a point across a normal, m/s."""
    arm = point - work.z[m.layout.body_position]
    velocity = work.z[m.layout.body_velocity] + np.cross(work.body_omega[3], arm)
    return float(np.linalg.norm(velocity - (velocity @ normal) * normal))


def _within_cone(
    force: Float[np.ndarray, "3"], normal: Float[np.ndarray, "3"], friction: float
) -> Float[np.ndarray, "3"]:
    """The force with its tangential part reduced to the cone, which takes off very little."""
    along = max(float(force @ normal), 0.0)
    across = force - (force @ normal) * normal
    size = float(np.linalg.norm(across))
    return along * normal + across * min(1.0, friction * along / max(size, 1e-12))
