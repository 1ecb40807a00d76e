"""Capsules fitted to the skin where a motion touches with it.

A palm is not round: its skin can be a millimetre off any capsule where it touches. Motions are
judged by skin, so capsules that touch get the radius with which it just does.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import HandModel
from handwright.geometry.exact import ExactDistance
from handwright.hands.skin import skin_of
from handwright.kinematics.skin_samples import vertex_capsules
from handwright.kinematics.skinning import posed_skin
from handwright.math import rotation
from handwright.math.packed import Packed
from handwright.math.pose import Pose
from handwright.methods.trajopt.build import Built, make_room
from handwright.methods.trajopt.clips import hand_motion
from handwright.methods.trajopt.system import fill_sample, place_contact, pose_sample

# Larger errors are no matter of fitting, m.
_MOST = 3e-3


def skin_errors(built: Built, keys: Float[np.ndarray, "K n"]) -> Float[np.ndarray, " C"]:
    """Gap between skin and body over every capsule while it touches, m; 0 if it never does.

    Args:
        built: The problem.
        keys: Key states; contact variables are 0 or 1.
    """
    m, room = built.model, make_room(built.model)
    packed, bench = Packed(m), Packed(room)
    nq = m.num_coordinates
    exact = ExactDistance.from_body(built.body)
    found: dict[int, list[float]] = {}
    for k in range(len(m.clearance)):
        on = np.flatnonzero(keys[k, m.first_share :] > 0.5)
        on = on[built.contact_hand[on] >= 0]
        if not len(on):
            continue
        fill_sample(packed, keys[k], keys[(k + 1) % len(keys)], 0.5, bench)
        pose_sample(packed, bench, (k + 0.5) * m.phase_time)
        turn = rotation.from_matrix(room.body_turn)
        body = Pose(room.z[nq - 6 : nq - 3] - rotation.rotate(turn, built.body.center), turn)
        for h in set(built.contact_hand[on].tolist()):
            gaps = _gaps(built, h, room.z[:nq], body, exact)
            for j in on[built.contact_hand[on] == h]:
                capsule = int(place_contact(packed, bench, int(j))[7])
                gap = gaps[built.capsule_number[capsule]]
                if np.isfinite(gap):
                    found.setdefault(capsule, []).append(float(gap))
    errors = np.zeros(len(m.skeleton.radius))
    for capsule, off in found.items():
        errors[capsule] = np.median(off)
    return np.clip(errors, -_MOST, _MOST)


def _gaps(
    built: Built, h: int, z: Float[np.ndarray, " Q"], body: Pose, exact: ExactDistance
) -> Float[np.ndarray, " C"]:
    """Least gap of the skin over every capsule of a hand, m; infinite where there is none."""
    hand = built.hands[h]
    gaps = np.full(len(hand.model.capsules), np.inf)
    if hand.model.skin is None or hand.model.side == "none":
        return gaps
    skin = skin_of(hand.model)
    motion = hand_motion(hand, z[None])
    places = posed_skin(hand.model, skin, motion.q, motion.root)[0]
    local = body.inverse().apply(places)
    reach = built.model.body.reach + _MOST
    near = np.flatnonzero(np.linalg.norm(local - built.body.center, axis=1) < reach)
    distance = exact.signed_distance(local[near])[0]
    np.minimum.at(gaps, _owners(hand.model)[near], distance)
    return gaps


@lru_cache(maxsize=8)
def _owners(model: HandModel) -> Int[np.ndarray, " V"]:
    """The capsule under every vertex of the skin."""
    return vertex_capsules(model, skin_of(model))
