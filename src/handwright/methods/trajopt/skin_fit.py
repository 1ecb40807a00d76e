"""Capsules fitted to the skin where a motion touches with it.

A palm is not round: its skin can be millimetres off any capsule where it touches. The certificate
judges the skin, so a capsule that touches gets the radius with which the skin just touches, and its
neighbours in the same contact get radii with which they are as near as the skin over them.
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
from handwright.kinematics.skin.samples import has_skin, vertex_capsules
from handwright.kinematics.skin.skinning import posed_skin
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.trajopt.clips import hand_motion
from handwright.methods.trajopt.model.transcribe import Transcription
from handwright.methods.trajopt.model.workspace import make_workspace
from handwright.methods.trajopt.solver.system import fill_sample, place_contact, pose_sample
from handwright.methods.trajopt.terms.collision import capsule_to_body

# Largest change of a radius, m: larger errors are not for fitting to correct.
_MOST = 3e-3
# Capsules further from the body than this are not compared with their skin, m.
_NEAR = 4e-3
# A capsule of the hand model this near to the body touches it, whatever its skin does, m: the
# certificate then judges the gap of the capsule.
_TOUCHING_GAP = 1e-3
# Depth to which skin may be pressed in where that brings its capsule near, m.
_PRESSED = 2.5e-4
# Depth to which a capsule that stands out of the skin, as over a hollow palm, may sink in, m: if
# deeper, it would touch although no contact is on.
_SUNK = 4e-4


class SkinFit(NamedTuple):
    """How skin touches in a motion that was found with capsules."""

    excess: Float[np.ndarray, " C"]
    """By how much the radius of every capsule is too large, m; 0 if it never touches."""
    gap: float
    """Largest gap of a contact that is on, m."""
    depth: float
    """Largest depth of skin in the body while any contact of its hand is on, m."""

    def is_within(self, limit: float) -> bool:
        """Whether the skin has no larger gap and no larger depth than this, m."""
        return max(self.gap, self.depth) <= limit


def fit_skin(transcription: Transcription, keys: Float[np.ndarray, "K n"]) -> SkinFit:
    """Compares skin and capsules in the middle of every phase; contact variables are 0 or 1."""
    m, work = transcription.model, make_workspace(transcription.model)
    packed, packed_work = Packed(m), Packed(work)
    layout = m.layout
    exact = ExactDistance.from_body(transcription.body)
    found: dict[int, list[float]] = {}
    worst_gap = deepest = 0.0
    for k in range(m.num_phases):
        on = np.flatnonzero(keys[k, layout.contacts] > 0.5)
        on = on[transcription.contact_hand[on] >= 0]
        if not len(on):
            continue
        fill_sample(packed, keys[k], keys[(k + 1) % len(keys)], 0.5, packed_work)
        pose_sample(packed, packed_work, (k + 0.5) * m.phase_time)
        wxyz = rotation.from_matrix(work.body_rotation)
        center = rotation.rotate(wxyz, transcription.body.center)
        body = Pose(work.z[layout.body_position] - center, wxyz)
        for h in set(transcription.contact_hand[on].tolist()):
            gaps = _gaps(transcription, h, work.z[layout.coordinates], body, exact)
            if not np.isfinite(gaps).any():
                continue
            deepest = max(deepest, -float(gaps.min()))
            for j in on[transcription.contact_hand[on] == h]:
                touching = int(place_contact(packed, packed_work, int(j))[3])
                for capsule in m.contacts.capsules[m.contacts.first[j] : m.contacts.last[j]]:
                    own = float(capsule_to_body(packed, packed_work, int(capsule))[0])
                    skin = float(gaps[transcription.capsule_number[capsule]])
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
    """Gap as the certificate judges it: of the capsule if that touches, else of the skin."""
    gap = bare if bare <= _TOUCHING_GAP or not np.isfinite(skin) else skin
    return max(gap, 0.0)


def _excess(own: float, bare: float, skin: float) -> float:
    """By how much the radius of a capsule is too large.

    Args:
        own: Gap between body and capsule with its present radius, m.
        bare: Gap between body and capsule with the radius of the hand model, m.
        skin: Gap between body and the skin over it, m.
    """
    left = bare - skin
    pressed = min(0.5 * left, _PRESSED) if 0.0 < left <= _TOUCHING_GAP else 0.0
    return min(skin + pressed, bare + _SUNK) - own


def _gaps(
    transcription: Transcription,
    h: int,
    z: Float[np.ndarray, " Q"],
    body: Pose,
    exact: ExactDistance,
) -> Float[np.ndarray, " C"]:
    """Least gap of the skin over every capsule of a hand, m; infinite where there is none."""
    hand = transcription.hands[h]
    gaps = np.full(len(hand.model.capsules), np.inf)
    if not has_skin(hand.model):
        return gaps
    skin = skin_of(hand.model)
    motion = hand_motion(hand, z[None])
    vertices = posed_skin(hand.model, skin, motion.q, motion.root)[0]
    local = body.inverse().apply(vertices)
    reach = transcription.model.body.reach + _MOST + _NEAR
    near = np.flatnonzero(np.linalg.norm(local - transcription.body.center, axis=1) < reach)
    distance = exact.signed_distance(local[near])[0]
    np.minimum.at(gaps, _owners(hand.model)[near], distance)
    return gaps


@lru_cache(maxsize=8)
def _owners(model: HandModel) -> Int[np.ndarray, " V"]:
    """The capsule under every vertex of the skin."""
    return vertex_capsules(model, skin_of(model))
