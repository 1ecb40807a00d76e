"""How good the contacts are that a clip lists as carrying force: gap, slip, cone, balance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.certificate import Certificate
from handwright.core.clip import Clip
from handwright.core.contact import ENVIRONMENT
from handwright.core.tolerances import Tolerances
from handwright.evidence.certificate.stored import cone_excess, listed_wrench, static_slip
from handwright.evidence.contacts.hand_contacts import hand_gaps
from handwright.evidence.contacts.hand_probe import HandProbe, probe_hand
from handwright.evidence.contacts.probes import exact_distance
from handwright.evidence.contacts.table import ContactRule
from handwright.geometry.distance.surface_distance import surface_distance

# Gaps of hands are looked for up to this; larger ones are given as this, m.
_FARTHEST = 0.01
_LEAST_FORCE = 1e-3
"""Smaller shares of the body's weight count as no force."""


class CarryingContacts(NamedTuple):
    """Contacts that carry force, in the order of the clip."""

    frame: Int[np.ndarray, " N"]
    is_hand: Bool[np.ndarray, " N"]
    """Whether a hand touches; else the surroundings do."""
    gap: Float[np.ndarray, " N"]
    """Between body and toucher, or from the listed point to the body, whichever is more, m; 0 in
    penetration."""
    slip: Float[np.ndarray, " N"]
    """Sliding speed of what is listed as static or rolling, m/s; 0 for the others."""
    cone: Float[np.ndarray, " N"]
    """Excess of the force over its cone, as a share of the cone's width."""


class Unbalanced(NamedTuple):
    """What listed forces leave of the needed wrench of a body.

    In all frames but the first and the last, whose derivatives are taken from their neighbours.
    """

    frame: Int[np.ndarray, " N"]
    force: Float[np.ndarray, " N"]
    """Over the weight."""
    moment: Float[np.ndarray, " N"]
    """N m about the centre of mass."""


def carrying_contacts(clip: Clip) -> CarryingContacts:
    """Contacts of hands and surroundings with bodies that carry a force, measured anew."""
    contacts = clip.contacts
    hands = {name: probe_hand(clip, name) for name in clip.hands}
    size = np.linalg.norm(contacts.force, axis=1)
    columns: list[tuple[np.ndarray, ...]] = []
    for number, body in enumerate(contacts.bodies):
        weight = _weight(clip, body)
        for toucher, name in enumerate(contacts.touchers):
            if name != ENVIRONMENT and name not in hands:
                continue
            mine = (contacts.body == number) & (contacts.toucher == toucher)
            rows = np.flatnonzero(mine & (size > _LEAST_FORCE * weight))
            if rows.size:
                columns.append(
                    (
                        rows,
                        np.full(len(rows), name != ENVIRONMENT),
                        _gaps(clip, body, name, rows, hands),
                        static_slip(clip, body, name, rows, hands),
                        cone_excess(clip, body, rows),
                    )
                )
    if not columns:
        none = np.zeros(0)
        return CarryingContacts(none.astype(np.int64), none.astype(bool), none, none, none)
    rows, *others = (np.concatenate(column) for column in zip(*columns, strict=True))
    order = np.argsort(rows)
    return CarryingContacts(contacts.frame[rows[order]], *(column[order] for column in others))


def unbalanced(clip: Clip, certificate: Certificate, body: str) -> Unbalanced:
    """Needed wrench less that of the listed forces.

    Args:
        clip: The motion.
        certificate: Its certificate, which knows the needed wrench.
        body: Name.
    """
    contacts = clip.contacts
    records = [frame.bodies[body] for frame in certificate.frames]
    force = np.array([record.required_force for record in records])
    moment = np.array([record.required_moment for record in records])
    center = clip.bodies[body].apply(clip.problem.bodies[body].center)
    given = np.nan_to_num(contacts.force, nan=0.0)
    pushed, turned = listed_wrench(contacts, body, given, center)
    inner = np.arange(1, clip.num_frames - 1)
    return Unbalanced(
        inner,
        np.linalg.norm((force - pushed)[inner], axis=1) / _weight(clip, body),
        np.linalg.norm((moment - turned)[inner], axis=1),
    )


def _weight(clip: Clip, body: str) -> float:
    """Weight of a body, or its mass in N where nothing pulls it down."""
    pull = float(np.linalg.norm(clip.problem.gravity))
    return clip.problem.bodies[body].mass * (pull if pull > 0.0 else 1.0)


def _gaps(
    clip: Clip,
    body: str,
    name: str,
    rows: Int[np.ndarray, " N"],
    hands: dict[str, HandProbe],
) -> Float[np.ndarray, " N"]:
    contacts, pose = clip.contacts, clip.bodies[body]
    frame, part, point = contacts.frame[rows], contacts.part[rows], contacts.point[rows]
    exact = exact_distance(clip.problem.bodies[body])
    off = np.abs(exact.signed_distance(pose[frame].inverse().apply(point))[0])
    apart = np.full(len(rows), _FARTHEST)
    if name == ENVIRONMENT:
        for number, surface in enumerate(clip.problem.environment):
            mine = part == number
            apart[mine] = surface_distance(surface, point[mine])[0]
        return np.maximum(off, apart)
    plain = Tolerances()
    rule = ContactRule(_FARTHEST, plain.gap, plain.static_speed)
    found = hand_gaps(
        hands[name], clip.problem.bodies[body], pose, exact, clip.times, rule
    ).contacts
    least = np.full((clip.num_frames, len(hands[name].model.capsules)), _FARTHEST)
    np.minimum.at(least, (found.frame, found.part), found.gap)
    is_part = (part >= 0) & (part < least.shape[1])
    apart[is_part] = least[frame[is_part], part[is_part]]
    return np.maximum(off, apart)
