"""Checks of bodies: what moves them, what they touch, and what slides, sinks in or hits."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.clip import Clip
from handwright.core.contact import ContactMode
from handwright.core.tolerances import Tolerances
from handwright.evidence.certificate.findings import Findings, Sunk, size_limit
from handwright.evidence.certificate.measures.measure import (
    Ground,
    Measure,
    Says,
    Series,
    always,
    over,
    worst_of,
)
from handwright.evidence.contacts.hand_probe import HandProbe
from handwright.evidence.contacts.skin_probe import depth_in_surroundings


def body_measures(
    clip: Clip, findings: Findings, hands: dict[str, HandProbe], tolerances: Tolerances
) -> dict[str, Measure]:
    """Checks of forces, gaps, depths, slips, impacts and strength."""
    found = findings.balance
    return {
        "force_residual": _residual(
            found.force_residual, found.failing("force_residual"), tolerances.force_residual,
            "of weight", findings.names, "has no contact for part of its force",
        ),
        "moment_residual": _residual(
            found.moment_residual, found.failing("moment_residual"), tolerances.moment_residual,
            "of weight x gyration", findings.names, "has no contact for part of its moment",
        ),
        "gap": _gap(clip, findings, tolerances),
        "penetration": _penetration(clip, findings.sunk, hands, tolerances),
        "slip": _slip(clip, findings, tolerances),
        "impact": _impact(findings, tolerances),
        "strength": _strength(findings, tolerances),
    }  # fmt: skip


def _residual(
    values: Float[np.ndarray, "T B"],
    fails: Bool[np.ndarray, " T"],
    allowed: float,
    unit: str,
    names: tuple[str, ...],
    lacks: str,
) -> Measure:
    worst = np.asarray(values.max(axis=1, initial=0.0))
    # What is named as slip, a gap, or a body that does not fall is not named here once more.
    value = np.where(fails, worst, np.minimum(worst, allowed))
    return Measure(
        value, np.full(len(value), allowed), unit, fails,
        lambda frame: f"'{names[int(values[frame].argmax())]}' {lacks}",
    )  # fmt: skip


def _gap(clip: Clip, findings: Findings, tolerances: Tolerances) -> Measure:
    fails = findings.balance.failing("gap")

    def series() -> Iterable[Series]:
        for number, name in enumerate(findings.names):
            cap, less = _cap(clip, (name,), tolerances.gap, tolerances)
            yield Series(findings.gap[:, number], cap, _widest(findings, number, less))

    found = worst_of(series(), clip.num_frames, tolerances.gap, "m")
    value = np.where(fails, found.value, np.minimum(found.value, found.cap))
    return found._replace(value=value, fails=fails)


def _cap(
    clip: Clip, names: tuple[str, ...], allowed: float, tolerances: Tolerances
) -> tuple[float, str]:
    """How deep or wide is allowed at bodies, m, and a remark if their size makes that less."""
    bodies = clip.problem.bodies
    caps = {name: size_limit(bodies[name], allowed, tolerances) for name in names}
    small = " and ".join(f"'{name}'" for name, cap in caps.items() if cap < allowed)
    less = f" (less is allowed for the size of {small})" if small else ""
    return min(caps.values()), less


def _widest(findings: Findings, body: int, less: str) -> Says:
    """Which contact with a body has the widest gap."""
    table = findings.table

    def says(frame: int) -> str:
        of_body = (table.body == body) | (table.other == body)
        rows = np.flatnonzero(findings.carrying & of_body & (table.frame == frame))
        if rows.size == 0:
            return f"'{findings.names[body]}'"
        row = int(rows[table.gap[rows].argmax()])
        away = f"'{findings.names[body]}' from {1e3 * table.gap[row]:.3g} mm away"
        return f"{findings.toucher_name(row, body)} would have to push {away}{less}"

    return says


def _penetration(
    clip: Clip, sunk: tuple[Sunk, ...], hands: dict[str, HandProbe], tolerances: Tolerances
) -> Measure:
    allowed, around = tolerances.penetration + tolerances.soft_tissue, clip.problem.environment

    def series() -> Iterable[Series]:
        for one in sunk:
            cap, less = _cap(clip, one.bodies, allowed, tolerances)
            yield Series(one.depth, cap, _with(one.says, less))
        for hand in hands.values():
            motion, says = hand.motion, always(f"{hand.name} in the surroundings")
            inside = depth_in_surroundings(hand.model, hand.skin, motion.q, motion.root, around)
            yield Series(inside, allowed, says)

    return worst_of(series(), clip.num_frames, allowed, "m")


def _with(says: Says, remark: str) -> Says:
    return lambda frame: f"{says(frame)}{remark}"


def _slip(clip: Clip, findings: Findings, tolerances: Tolerances) -> Measure:
    def series() -> Iterable[Series]:
        for number, name in enumerate(findings.names):
            body = clip.problem.bodies[name]
            cap = size_limit(body, tolerances.static_drift, tolerances, is_thickness=False)
            yield Series(findings.drift.way[:, number], cap, _creeps(findings, number))

    sliding = Ground(
        findings.balance.failing("slip"), lambda frame: _slides(findings, frame, tolerances)
    )
    found = worst_of(series(), clip.num_frames, tolerances.static_drift, "m")
    return found._replace(grounds=(sliding,))


def _creeps(findings: Findings, body: int) -> Says:
    """Which contact has drifted farthest on a body."""

    def says(frame: int) -> str:
        return f"{findings.pair(int(findings.drift.row[frame, body]))} creeps"

    return says


def _slides(findings: Findings, frame: int, tolerances: Tolerances) -> str:
    """Which contact slides fastest where it would have to hold."""
    table, text = findings.table, "contacts slide that would have to hold"
    bodies = [b for (t, b), names in findings.balance.failed.items() if t == frame]
    slides = (table.mode != int(ContactMode.STATIC)) & findings.balance.used
    rows = np.flatnonzero((table.frame == frame) & slides & np.isin(table.body, bodies))
    if rows.size == 0:
        return text
    speed, allowed = np.linalg.norm(table.velocity[rows], axis=1), tolerances.static_speed
    pair = findings.pair(int(rows[speed.argmax()]))
    if speed.max() <= allowed:
        return f"{text}: {pair}, to and fro from frame to frame"
    return f"{text}: {pair}, at {1e3 * speed.max():.3g} mm/s, allowed {1e3 * allowed:.3g} mm/s"


def _impact(findings: Findings, tolerances: Tolerances) -> Measure:
    def parts(frame: int) -> str:
        text, table = "things part faster than they met", findings.table
        rows = np.flatnonzero((table.frame == frame) & ~table.may_push)
        if rows.size == 0:
            return text
        row = int(rows[table.gap[rows].argmin()])
        return f"{text}: {findings.pair(row)}"

    hits = over(findings.impact_rate, tolerances.impacts, "a second", always("too many impacts"))
    return hits._replace(grounds=(Ground(findings.balance.failing("impact"), parts),))


def _strength(findings: Findings, tolerances: Tolerances) -> Measure:
    effort = findings.effort
    pressed = effort.digit_force / max(tolerances.strength, 1e-9)
    share = np.maximum(np.maximum(effort.torque_share, pressed), effort.arm_share)
    return Measure(share, np.ones(len(share)), "of strength", effort.is_over, always(effort.detail))
