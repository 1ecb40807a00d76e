"""Contacts and forces that a method stored with its clip, held against poses and shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip
from handwright.core.contact import ENVIRONMENT, Contact, ContactMode
from handwright.evidence.contacts import HandProbe, relative_velocity
from handwright.geometry.exact import ExactDistance

# Normals farther than this from the mesh's are no normals; at edges any direction between those
# of the two sides will do.
_LEAST_COSINE = 0.5
_NO_FORCE = 1e-6


class StoredFindings(NamedTuple):
    """What the stored contacts claim that is not so, by frame."""

    cone_excess: Float[np.ndarray, " T"]
    """Largest excess of a force over its cone, as a share of the cone's width; 0 if none."""
    static_slip: Float[np.ndarray, " T"]
    """Largest sliding speed of a contact that is called static or rolling, m/s."""


def judge_stored(
    clip: Clip, hands: Mapping[str, HandProbe], exact: Mapping[str, ExactDistance]
) -> StoredFindings:
    """Checks friction cones and modes of the clip's own contacts."""
    excess, slip = np.zeros(clip.num_frames), np.zeros(clip.num_frames)
    for row in range(len(clip.contacts)):
        contact = clip.contacts[row]
        if contact.body not in exact:
            continue
        t = contact.frame
        excess[t] = max(excess[t], _cone_excess(clip, contact, exact[contact.body]))
        if contact.mode in (ContactMode.STATIC, ContactMode.ROLLING):
            slip[t] = max(slip[t], _slip_speed(clip, contact, hands))
    return StoredFindings(excess, slip)


def _cone_excess(clip: Clip, contact: Contact, exact: ExactDistance) -> float:
    body = clip.problem.bodies[contact.body]
    weight = body.mass * max(float(np.linalg.norm(clip.problem.gravity)), 1.0)
    size = float(np.linalg.norm(contact.force))
    if not np.isfinite(contact.force).all() or size < _NO_FORCE * weight:
        return 0.0
    pose = clip.bodies[contact.body][contact.frame]
    outward = pose.rotate(exact.signed_distance(pose.inverse().apply(contact.point)[None])[3][0])
    if float(-outward @ contact.normal) < _LEAST_COSINE:
        return 1.0
    if contact.toucher == ENVIRONMENT:
        friction = clip.problem.environment[contact.part].friction
    else:
        friction = body.friction
    normal = float(contact.force @ contact.normal)
    across = float(np.linalg.norm(contact.force - normal * contact.normal))
    return max(0.0, (across - friction * normal) / (max(friction, 1e-3) * size))


def _slip_speed(clip: Clip, contact: Contact, hands: Mapping[str, HandProbe]) -> float:
    pose, times = clip.bodies[contact.body], clip.times
    frame, link = np.array([contact.frame]), np.zeros(1, dtype=np.int64)
    if contact.toucher == ENVIRONMENT:
        turns = np.broadcast_to(np.eye(3), (len(times), 1, 3, 3))
        places = np.zeros((len(times), 1, 3))
    elif contact.toucher in hands:
        hand = hands[contact.toucher]
        link = hand.model.capsules.link[[contact.part]]
        turns, places = hand.turns, hand.places
    else:
        return 0.0
    velocity = relative_velocity(times, turns, places, pose, frame, link, contact.point[None])[0]
    return float(np.linalg.norm(velocity - (velocity @ contact.normal) * contact.normal))
