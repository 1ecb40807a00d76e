"""Contacts of a clip by columns: those that it stores, or those that the judge found."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip
from handwright.core.contact import ENVIRONMENT
from handwright.evidence import Certificate


class ContactRows(NamedTuple):
    """Contacts, ordered by frame."""

    frame: list[int]
    toucher: list[str]
    digit: list[str]
    """Of a hand, or ``palm``; empty for others."""
    body: list[str]
    mode: list[int]
    point: Float[np.ndarray, "N 3"]
    """m."""
    normal: Float[np.ndarray, "N 3"]
    force: Float[np.ndarray, "N 3"]
    """N; NaN where none is known."""
    friction: Float[np.ndarray, " N"]

    def margins(self) -> Float[np.ndarray, " N"]:
        """1 for a straight push, 0 on the edge of the cone; NaN without force."""
        normal = np.einsum("ni,ni->n", self.force, self.normal)
        across = np.linalg.norm(self.force - normal[:, None] * self.normal, axis=1)
        margin = np.clip(1.0 - across / np.maximum(self.friction * normal, 1e-12), 0.0, 1.0)
        # A contact that carries nothing is as far from slipping as can be.
        idle = np.linalg.norm(self.force, axis=1) < 1e-9
        return np.where(idle, 1.0, margin)


def contact_rows(clip: Clip, certificate: Certificate) -> tuple[ContactRows, str]:
    """The contacts of a clip, and a note if they are not its own."""
    if len(clip.contacts):
        return _stored(clip), ""
    rows = _judged(clip, certificate)
    note = "the clip stores no contacts: those shown are the judge's" if rows.frame else ""
    return rows, note


def _stored(clip: Clip) -> ContactRows:
    contacts = clip.contacts
    touchers = [contacts.touchers[n] for n in contacts.toucher]
    bodies = [contacts.bodies[n] for n in contacts.body]
    parts = contacts.part.tolist()
    whose = list(zip(touchers, parts, bodies, strict=True))
    return ContactRows(
        frame=contacts.frame.tolist(),
        toucher=touchers,
        digit=[_digit(clip, toucher, part) for toucher, part, _ in whose],
        body=bodies,
        mode=contacts.mode.tolist(),
        point=contacts.point,
        normal=contacts.normal,
        force=contacts.force,
        friction=np.array([_friction(clip, *names) for names in whose]),
    )


def _judged(clip: Clip, certificate: Certificate) -> ContactRows:
    found = [
        (record.frame, body, contact)
        for record in certificate.frames
        for body, state in record.bodies.items()
        for contact in state.contacts
    ]
    numbers = [_part_number(clip, contact.toucher, contact.part) for _, _, contact in found]
    return ContactRows(
        frame=[frame for frame, _, _ in found],
        toucher=[contact.toucher for _, _, contact in found],
        digit=[
            _digit(clip, contact.toucher, number)
            for (_, _, contact), number in zip(found, numbers, strict=True)
        ],
        body=[body for _, body, _ in found],
        mode=[int(contact.mode) for _, _, contact in found],
        point=np.array([c.point for _, _, c in found]).reshape(-1, 3),
        normal=np.array([c.normal for _, _, c in found]).reshape(-1, 3),
        force=np.array([c.force for _, _, c in found]).reshape(-1, 3),
        friction=np.array(
            [
                _friction(clip, contact.toucher, number, body)
                for (_, body, contact), number in zip(found, numbers, strict=True)
            ]
        ),
    )


def _part_number(clip: Clip, toucher: str, part: str) -> int:
    """The judge names capsules and numbers surfaces."""
    if toucher in clip.problem.hands:
        return clip.problem.hands[toucher].capsules.names.index(part)
    return int(part)


def _digit(clip: Clip, toucher: str, part: int) -> str:
    if toucher not in clip.problem.hands:
        return ""
    model = clip.problem.hands[toucher]
    number = int(model.capsules.digit[part])
    return model.digits[number].name if number >= 0 else "palm"


def _friction(clip: Clip, toucher: str, part: int, body: str) -> float:
    """Coefficient of a contact, as the judge has it."""
    problem = clip.problem
    if toucher == ENVIRONMENT:
        return problem.environment[part].friction
    if toucher in problem.bodies:
        return min(problem.bodies[toucher].friction, problem.bodies[body].friction)
    return problem.bodies[body].friction
