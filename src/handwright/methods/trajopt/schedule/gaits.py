"""Finger gaits: which digits hold a body when, for cyclic motions that turn it in the hand.

A digit that stays cannot turn a body far; it has to let go, go back and take hold again, while the
others hold. Contact variables that start at one half everywhere seldom find such a sequence. So
attempts start from random ones: digits swing one after the other, each as often as the others.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from handwright.kernels.packed import Packed
from handwright.methods.trajopt.model.transcribe import Transcription
from handwright.methods.trajopt.model.workspace import make_workspace
from handwright.methods.trajopt.solver.system import fill_sample, pose_sample
from handwright.methods.trajopt.terms.contact_state import body_distance


def sampled_gait(
    transcription: Transcription, rng: np.random.Generator, allowed: Bool[np.ndarray, "P N"]
) -> Bool[np.ndarray, "P N"]:
    """Contacts that are on, by phase: digits swing for a phase each, one after the other.

    The order and the moment of the first swing are random. Where there are fewer phases than
    digits, some swing together. Palms cannot step and take no part.
    """
    phases = len(allowed)
    gait = allowed.copy()
    for hand in range(len(transcription.hands)):
        own = np.flatnonzero(transcription.contact_hand == hand)
        is_digit = transcription.model.contacts.pad_joint[own] >= 0
        digits, gait[:, own[~is_digit]] = own[is_digit], False
        num_strides = max(phases // len(digits), 1)
        late = rng.uniform()
        for order, digit in enumerate(rng.permutation(digits)):
            for stride in range(num_strides):
                swing = (stride + (order + late) / len(digits)) * phases / num_strides
                gait[int(swing) % phases, digit] = False
    return gait


def start_origins(
    transcription: Transcription, gait: Bool[np.ndarray, "P N"]
) -> Float[np.ndarray, "P N 3"]:
    """Origins of forces on the body, by key: the point nearest to each pad amid its hold.

    The body is rotated as its goal prescribes for that moment, and the hand is at its start.
    """
    m, work = transcription.model, make_workspace(transcription.model)
    packed, packed_work = Packed(m), Packed(work)
    phases = len(gait)
    fill_sample(packed, transcription.start, transcription.start, 0.0, packed_work)
    origins = np.zeros((phases, m.layout.num_contacts, 3))
    centre = transcription.start[m.layout.body_position]
    for j in np.flatnonzero(m.contacts.pad_joint >= 0):
        link = m.contacts.pad_joint[j]
        for k in range(phases):
            middle = _middle_of_hold(gait[:, j], k)
            pose_sample(packed, packed_work, middle * m.phase_time)
            pad = work.position[link] + work.rotation[link] @ m.contacts.pad[j]
            local = work.body_rotation.T @ (pad - centre)
            distance, outward = body_distance(packed, tuple(local))
            origins[k, j] = local - distance * np.array(outward)
    return origins


def _middle_of_hold(is_on: Bool[np.ndarray, " P"], key: int) -> float:
    """Middle, in phases, of the hold that contains a key; the key itself where there is none."""
    phases = len(is_on)
    if is_on.all() or not is_on.any():
        return float(key)
    if not (is_on[key] or is_on[key - 1]):
        return float(key)
    first = last = key
    while is_on[(first - 1) % phases]:
        first -= 1
    while is_on[last % phases]:
        last += 1
    return 0.5 * (first + last)
