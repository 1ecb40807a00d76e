"""Forces of a body over a motion: which contacts explain it, and what stands in the way if none do.

Contacts that touch are tried first, each with its own mode. Where they do not suffice, the same
contacts are tried as if none of them slid, then the near ones as if they touched: if that would
do, the cause is slip, or a gap, and is named so. Otherwise the motion itself is at fault.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.body import RigidBody
from handwright.core.contact import ContactMode
from handwright.evidence.contacts import ContactTable
from handwright.evidence.dynamics import Wrench
from handwright.evidence.forces import ContactSet, Forces, solve_forces
from handwright.evidence.tolerances import Tolerances
from handwright.math import rotation
from handwright.math.pose import Pose

# A contact with less than this share of the weight carries nothing.
CARRYING = 0.005


class Balance(NamedTuple):
    """Forces of one body over a motion."""

    force: Float[np.ndarray, "N 3"]
    """For each row of the contact table, N."""
    used: Bool[np.ndarray, " N"]
    """Rows that the forces were looked for on."""
    force_residual: Float[np.ndarray, " T"]
    moment_residual: Float[np.ndarray, " T"]
    failed: list[set[str]]
    """Names of the checks that fail in each frame."""


def weight_of(body: RigidBody, gravity: Float[np.ndarray, "3"]) -> float:
    """Unit of force, N; that of 1 m/s^2 in a world without gravity."""
    return body.mass * max(float(np.linalg.norm(gravity)), 1.0)


def balance(
    table: ContactTable, wrench: Wrench, *, weight: float, gyration: float, tolerances: Tolerances
) -> Balance:
    """Finds forces for every frame."""
    count = len(wrench.force)
    force, used = np.zeros((len(table.frame), 3)), np.zeros(len(table.frame), dtype=bool)
    force_residual, moment_residual = np.zeros(count), np.zeros(count)
    failed: list[set[str]] = []
    for t in range(count):
        rows = table.rows(t)
        touching = table.gap[rows] <= tolerances.gap + table.closing[rows]
        sliding = table.mode[rows] == int(ContactMode.SLIDING)
        everywhere, nowhere = np.ones_like(touching), np.zeros_like(sliding)
        attempts: list[tuple[np.ndarray, np.ndarray, set[str]]] = [(touching, sliding, set())]
        if sliding[touching].any():
            attempts.append((touching, nowhere, {"slip"}))
        if not touching.all():
            attempts.append((everywhere, sliding, {"gap"}))
            if sliding.any():
                attempts.append((everywhere, nowhere, {"gap", "slip"}))
        first: tuple[np.ndarray, Forces] | None = None
        for chosen, slides, names in attempts:
            contacts = _contact_set(table, rows, chosen, slides)
            found = solve_forces(
                contacts, wrench.force[t], wrench.moment[t], wrench.center[t],
                weight=weight, gyration=gyration,
            )  # fmt: skip
            reasons = _residual_reasons(found, tolerances)
            if first is None:
                first, blame = (chosen, found), reasons
            if not reasons:
                first, blame = (chosen, found), names
                break
        assert first is not None
        chosen, found = first
        index = np.arange(rows.start, rows.stop)[chosen]
        force[index], used[index] = found.force, True
        force_residual[t], moment_residual[t] = found.force_residual, found.moment_residual
        failed.append(set(blame))
    return Balance(force, used, force_residual, moment_residual, failed)


def _contact_set(
    table: ContactTable, rows: slice, chosen: np.ndarray, sliding: np.ndarray
) -> ContactSet:
    velocity = table.velocity[rows][chosen]
    speed = np.linalg.norm(velocity, axis=1, keepdims=True)
    return ContactSet(
        table.point[rows][chosen],
        table.normal[rows][chosen],
        table.friction[rows][chosen],
        sliding[chosen],
        velocity / np.maximum(speed, 1e-12),
    )


def _residual_reasons(found: Forces, tolerances: Tolerances) -> set[str]:
    reasons: set[str] = set()
    if found.force_residual > tolerances.force_residual:
        reasons.add("force_residual")
    # An untouched body that does not fall is one fault, however it turns.
    touched = len(found.force) > 0
    if found.moment_residual > tolerances.moment_residual and (touched or not reasons):
        reasons.add("moment_residual")
    return reasons


def static_drifts(
    table: ContactTable,
    carrying: Bool[np.ndarray, " N"],
    pose: Pose,
    times: Float[np.ndarray, " T"],
    broken: Bool[np.ndarray, " T"],
) -> Float[np.ndarray, " T"]:
    """How far the worst static contact has slid since its episode began, in each frame, m.

    Args:
        table: Contacts of the body.
        carrying: Rows that carry force.
        pose: (T,) poses of the body.
        times: s.
        broken: Frames in which no episode may continue.
    """
    drift = np.zeros(len(times))
    static = carrying & (table.mode == int(ContactMode.STATIC)) & ~broken[table.frame]
    keys = table.toucher * (int(table.part.max(initial=0)) + 1) + table.part
    turn = rotation.to_matrix(pose.wxyz)
    local = np.einsum("nji,nj->ni", turn[table.frame], table.velocity)
    for key in np.unique(keys[static]):
        mine = static & (keys == key)
        frames, inverse = np.unique(table.frame[mine], return_inverse=True)
        mean = np.zeros((len(frames), 3))
        np.add.at(mean, inverse, local[mine])
        mean /= np.bincount(inverse)[:, None]
        total = np.zeros(3)
        for n in range(1, len(frames)):
            t, before = frames[n], frames[n - 1]
            if t != before + 1:
                total = np.zeros(3)
                continue
            total = total + 0.5 * (mean[n] + mean[n - 1]) * (times[t] - times[before])
            drift[t] = max(drift[t], float(np.linalg.norm(total)))
    return drift
