"""Gaits of fingers: who holds a body when, for cyclic motions that turn it in the hand.

A digit that stays cannot turn a body far; it has to let go, go back and take hold again, while the
others hold. Contact variables that start at one half everywhere seldom find such an order. So
attempts start from random ones: digits swing in turn, each as often as the others.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from handwright.kernels.packed import Packed
from handwright.methods.trajopt.model.transcribe import Built, make_room
from handwright.methods.trajopt.solver.system import fill_sample, pose_sample
from handwright.methods.trajopt.terms.contact import body_distance


def sampled_gait(
    built: Built, rng: np.random.Generator, allowed: Bool[np.ndarray, "P N"]
) -> Bool[np.ndarray, "P N"]:
    """Contacts that are on, by phase: digits swing for a phase each, one after the other.

    The order and the moment of the first are random. Where there are fewer phases than digits, some
    swing together. Palms, which cannot step, take no part.
    """
    phases = len(allowed)
    gait = allowed.copy()
    for hand in range(len(built.hands)):
        own = np.flatnonzero(built.contact_hand == hand)
        is_digit = built.model.contacts.pad_joint[own] >= 0
        digits, gait[:, own[~is_digit]] = own[is_digit], False
        num_strides = max(phases // len(digits), 1)
        late = rng.uniform()
        for place, digit in enumerate(rng.permutation(digits)):
            for stride in range(num_strides):
                swing = (stride + (place + late) / len(digits)) * phases / num_strides
                gait[int(swing) % phases, digit] = False
    return gait


def start_origins(built: Built, gait: Bool[np.ndarray, "P N"]) -> Float[np.ndarray, "P N 3"]:
    """Origins of forces on the body, by key: where each pad is nearest in the middle of its hold.

    The body has turned by then as its goal says, and the hand is as it starts.
    """
    m, room = built.model, make_room(built.model)
    packed, bench = Packed(m), Packed(room)
    phases = len(gait)
    fill_sample(packed, built.start, built.start, 0.0, bench)
    origins = np.zeros((phases, m.layout.num_contacts, 3))
    centre = built.start[m.layout.body_position]
    for j in np.flatnonzero(m.contacts.pad_joint >= 0):
        link = m.contacts.pad_joint[j]
        for k in range(phases):
            middle = _middle_of_hold(gait[:, j], k)
            pose_sample(packed, bench, middle * m.phase_time)
            pad = room.place[link] + room.turn[link] @ m.contacts.pad[j]
            local = room.body_turn.T @ (pad - centre)
            distance, *outward = body_distance(packed, *local)
            origins[k, j] = local - distance * np.array(outward)
    return origins


def _middle_of_hold(is_on: Bool[np.ndarray, " P"], key: int) -> float:
    """Middle, in phases, of the hold that a key is in; the key itself where there is none."""
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
