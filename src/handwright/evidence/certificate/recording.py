"""From the arrays of the findings to the records of each body in each frame."""

from __future__ import annotations

import numpy as np

from handwright.core.certificate import BodyRecord, JudgedContact
from handwright.core.clip import Clip
from handwright.core.contact import ContactMode
from handwright.evidence.certificate.findings import Findings


def body_records(clip: Clip, findings: Findings) -> list[dict[str, BodyRecord]]:
    """For each frame, what was found about each body."""
    table, found = findings.table, findings.balance
    starts = table.starts(clip.num_frames)
    speed = np.linalg.norm(table.velocity, axis=1)
    records: list[dict[str, BodyRecord]] = []
    for t in range(clip.num_frames):
        contacts: dict[int, list[JudgedContact]] = {b: [] for b in range(len(findings.names))}
        for row in range(starts[t], starts[t + 1]):
            if not found.used[row]:
                continue
            body, other = int(table.body[row]), int(table.other[row])
            contact = _judged_contact(clip, findings, row, float(speed[row]))
            contacts[body].append(contact)
            if other >= 0:
                contacts[other].append(_seen_from_other(contact, findings.names[body]))
        records.append(
            {
                name: _body_record(findings, t, b, tuple(contacts[b]))
                for b, name in enumerate(findings.names)
            }
        )
    return records


def _body_record(
    findings: Findings, t: int, body: int, contacts: tuple[JudgedContact, ...]
) -> BodyRecord:
    wrench = findings.loads[findings.names[body]].wrench
    static = [
        contact.friction_margin
        for contact in contacts
        if contact.mode != ContactMode.SLIDING and contact.force.any()
    ]
    return BodyRecord(
        required_force=wrench.force[t],
        required_moment=wrench.moment[t],
        contacts=contacts,
        force_residual=float(findings.balance.force_residual[t, body]),
        moment_residual=float(findings.balance.moment_residual[t, body]),
        friction_margin=min(static, default=1.0),
        gap=float(findings.gap[t, body]),
        penetration=float(findings.penetration[t, body]),
        drift=float(findings.drift.way[t, body]),
    )


def _judged_contact(clip: Clip, findings: Findings, row: int, speed: float) -> JudgedContact:
    table = findings.table
    toucher, part = table.touchers[table.toucher[row]], int(table.part[row])
    is_hand = toucher in clip.hands
    return JudgedContact(
        toucher=toucher,
        part=clip.problem.hands[toucher].capsules.names[part] if is_hand else str(part),
        point=table.point[row],
        normal=table.normal[row],
        gap=float(table.gap[row]),
        slip_speed=speed,
        mode=ContactMode(int(table.mode[row])),
        force=findings.balance.force[row],
        friction_margin=float(findings.margin[row]),
    )


def _seen_from_other(contact: JudgedContact, touched: str) -> JudgedContact:
    """The same contact on the body that pushes, and is pushed back."""
    return JudgedContact(
        touched, contact.part, contact.point, -contact.normal, contact.gap, contact.slip_speed,
        contact.mode, -contact.force, contact.friction_margin,
    )  # fmt: skip
