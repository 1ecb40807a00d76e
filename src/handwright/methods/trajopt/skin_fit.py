"""Capsules fitted to the skin where a motion touches with it.

A palm is not round: its skin can be millimetres off any capsule where it touches. Motions are
judged by skin, so capsules that touch get the radius with which it just does, and their neighbours
in the same contact one with which they are as near as the skin over them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import HandModel
from handwright.geometry.distance.exact import ExactDistance
from handwright.hands.skin.build import skin_of
from handwright.kernels.packed import Packed
from handwright.kinematics.skin.samples import vertex_capsules
from handwright.kinematics.skin.skinning import posed_skin
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.trajopt.clips import hand_motion
from handwright.methods.trajopt.model.transcribe import Built, make_room
from handwright.methods.trajopt.solver.system import fill_sample, place_contact, pose_sample
from handwright.methods.trajopt.terms.collision import capsule_to_body

# Larger errors are no matter of fitting, m.
_MOST = 3e-3
# Capsules further from the body than this tell nothing about their skin near it, m.
_NEAR = 4e-3
# A capsule of the hand model this near to the body touches it, whatever its skin does, m: it is
# then the capsule whose gap is judged.
_TOUCHES = 1e-3
# Where it is, the skin may be pressed in so far that the capsule comes near, m.
_PRESSED = 2.5e-4
# Where it stands out of the skin, as over a hollow palm, it may sink in by this, m: deeper it would
# touch although no contact is on.
_SUNK = 4e-4


class SkinFit(NamedTuple):
    """How skin touches in a motion that was found with capsules."""

    excess: Float[np.ndarray, " C"]
    """By how much the radius of every capsule is too large, m; 0 if it never touches."""
    gap: float
    """The largest of a contact that is on, m."""
    depth: float
    """Of the deepest skin in the body while any contact of its hand is on, m."""

    def is_within(self, limit: float) -> bool:
        """Whether skin is neither further off nor deeper in than this, m."""
        return max(self.gap, self.depth) <= limit


def fit_skin(built: Built, keys: Float[np.ndarray, "K n"]) -> SkinFit:
    """Compares skin and capsules in the middle of every phase.

    Args:
        built: The problem.
        keys: Key states; contact variables are 0 or 1.
    """
    m, room = built.model, make_room(built.model)
    packed, bench = Packed(m), Packed(room)
    layout = m.layout
    exact = ExactDistance.from_body(built.body)
    found: dict[int, list[float]] = {}
    worst_gap = deepest = 0.0
    for k in range(len(m.clearance)):
        on = np.flatnonzero(keys[k, layout.contacts] > 0.5)
        on = on[built.contact_hand[on] >= 0]
        if not len(on):
            continue
        fill_sample(packed, keys[k], keys[(k + 1) % len(keys)], 0.5, bench)
        pose_sample(packed, bench, (k + 0.5) * m.phase_time)
        turn = rotation.from_matrix(room.body_turn)
        place = room.z[layout.body_position] - rotation.rotate(turn, built.body.center)
        body = Pose(place, turn)
        for h in set(built.contact_hand[on].tolist()):
            gaps = _gaps(built, h, room.z[layout.coordinates], body, exact)
            if not np.isfinite(gaps).any():
                continue
            deepest = max(deepest, -float(gaps.min()))
            for j in on[built.contact_hand[on] == h]:
                touching = int(place_contact(packed, bench, int(j))[7])
                for capsule in m.contacts.capsules[m.contacts.first[j] : m.contacts.last[j]]:
                    own = float(capsule_to_body(packed, bench, int(capsule))[0])
                    skin = float(gaps[built.capsule_number[capsule]])
                    bare = own + m.skeleton.radius[capsule] - m.skeleton.bare_radius[capsule]
                    if capsule == touching:
                        worst_gap = max(worst_gap, _judged_gap(bare, skin))
                    if own < _NEAR and np.isfinite(skin):
                        found.setdefault(int(capsule), []).append(_excess(own, bare, skin))
    excess = np.zeros(len(m.skeleton.radius))
    for capsule, off in found.items():
        excess[capsule] = np.median(off)
    return SkinFit(np.clip(excess, -_MOST, _MOST), worst_gap, deepest)


def _judged_gap(bare: float, skin: float) -> float:
    """Gap of a contact as motions are judged by: of the capsule if it touches, else of the skin."""
    gap = bare if bare <= _TOUCHES or not np.isfinite(skin) else skin
    return max(gap, 0.0)


def _excess(own: float, bare: float, skin: float) -> float:
    """By how much the radius of a capsule is too large.

    Args:
        own: Gap between body and capsule with the radius that it has now, m.
        bare: The same with the radius of the hand model, m.
        skin: Gap between body and the skin over it, m.
    """
    left = bare - skin
    pressed = min(0.5 * left, _PRESSED) if 0.0 < left <= _TOUCHES else 0.0
    return min(skin + pressed, bare + _SUNK) - own


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
    reach = built.model.body.reach + _MOST + _NEAR
    near = np.flatnonzero(np.linalg.norm(local - built.body.center, axis=1) < reach)
    distance = exact.signed_distance(local[near])[0]
    np.minimum.at(gaps, _owners(hand.model)[near], distance)
    return gaps


@lru_cache(maxsize=8)
def _owners(model: HandModel) -> Int[np.ndarray, " V"]:
    """The capsule under every vertex of the skin."""
    return vertex_capsules(model, skin_of(model))
