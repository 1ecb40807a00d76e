"""How well a motion keeps the laws: errors in plain units at many moments."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.tolerances import DIGIT_FORCE
from handwright.kernels.decorators import kernel
from handwright.kernels.packed import Packed
from handwright.methods.trajopt.model.goal_rows import fine_samples
from handwright.methods.trajopt.model.layout import force_index
from handwright.methods.trajopt.model.model import HAND_CONTACT, Model, Room, Weights
from handwright.methods.trajopt.model.transcribe import Built
from handwright.methods.trajopt.model.vectors import length_at
from handwright.methods.trajopt.solver.system import fill_sample, pose_sample
from handwright.methods.trajopt.terms.body import FORCE, MOMENT, body_terms
from handwright.methods.trajopt.terms.collision import collision_terms, limit_terms
from handwright.methods.trajopt.terms.contact import contact_terms
from handwright.methods.trajopt.terms.contact_rows import BODY_GAP, CONE, HAND_GAP, SLIP, SQUEEZE
from handwright.methods.trajopt.terms.goal import goal_terms
from handwright.methods.trajopt.terms.push import worst_push

MEASURES = (
    "gap", "slip", "force", "moment", "cone", "penetration", "limit", "goal",
    "strength", "push",
)  # fmt: skip
_GAP, _SLIP, _FORCE, _MOMENT, _CONE, _PENETRATION, _LIMIT, _GOAL, _STRENGTH, _PUSH = range(10)
LIMITS = {
    "gap": 3e-4,
    "slip": 5e-4,
    "force": 5e-3,
    "moment": 2e-3,
    "cone": 0.02,
    "penetration": 5e-4,
    "limit": 8e-3,
    "goal": 1.0,
    "strength": DIGIT_FORCE,
    "push": 0.1,
}
"""Largest errors of a motion that is good: m, m/s, weights, weights x arm, weights, m, rad, goals
over their tolerance, N, shares of pushes."""
UNITS = {
    "gap": "m",
    "slip": "m/s",
    "force": "of weight",
    "moment": "of weight x 2 radii of gyration (0.1 m at most)",
    "cone": "of weight",
    "penetration": "m",
    "limit": "rad",
    "goal": "of its tolerance",
    "strength": "N",
    "push": "of a push",
}


class Measured(NamedTuple):
    """Errors of a motion."""

    worst: dict[str, float]
    """By name, over all moments and contacts."""
    contacts: Float[np.ndarray, "P N"]
    """By phase and contact: the largest of gap, slip and cone, each over its limit."""
    depth: Float[np.ndarray, " S"]
    """Of overlaps at the moments of ``fine_samples``, m."""

    @property
    def excess(self) -> float:
        """The largest error over its limit; at most 1 for a motion that is good."""
        return max(self.worst[name] / LIMITS[name] for name in MEASURES)

    @property
    def cause(self) -> str:
        """Name of that error."""
        return max(MEASURES, key=lambda name: self.worst[name] / LIMITS[name])


@kernel
def _measure(
    m: Model,
    w: Weights,
    keys: np.ndarray,
    room: Room,
    out: np.ndarray,
    by: np.ndarray,
    depth: np.ndarray,
) -> None:
    """Writes worst errors into ``out``, those of phases and contacts into ``by`` (P, N, 3)."""
    layout = m.layout
    for n in range(m.samples.phase.shape[0]):
        k = m.samples.phase[n]
        other = 0 if k + 1 == keys.shape[0] else k + 1
        fill_sample(m, keys[k], keys[other], m.samples.fraction[n], room)
        pose_sample(m, room, m.samples.time[n])
        for row in range(m.samples.goal_first[n], m.samples.goal_last[n]):
            out[_GOAL] = max(out[_GOAL], np.sqrt(2.0 * goal_terms(m, w, room, row, 1.0, False)))
        if not m.samples.is_full[n]:
            continue
        r = room.residual
        for j in range(layout.num_contacts):
            if room.z[layout.first_contact + j] < 0.5:
                continue
            contact_terms(m, w, room, j, 1.0, 1.0, False, False)
            gap = max(abs(r[BODY_GAP]), abs(r[HAND_GAP]))
            slip = length_at(r, SLIP)
            cone = max(r[CONE], r[SQUEEZE])
            if m.contacts.slides[j]:
                cone, slip = max(cone, slip), 0.0
            if m.contacts.kind[j] == HAND_CONTACT:
                f = force_index(layout, j)
                push = room.z[f] ** 2 + room.z[f + 1] ** 2 + room.z[f + 2] ** 2
                out[_STRENGTH] = max(out[_STRENGTH], np.sqrt(push))
            by[k, j, 0], by[k, j, 1] = max(by[k, j, 0], gap), max(by[k, j, 1], slip)
            by[k, j, 2] = max(by[k, j, 2], cone)
            out[_GAP], out[_SLIP] = max(out[_GAP], gap), max(out[_SLIP], slip)
            out[_CONE] = max(out[_CONE], cone)
        body_terms(m, w, room, 1.0, False)
        out[_FORCE] = max(out[_FORCE], length_at(r, FORCE))
        out[_MOMENT] = max(out[_MOMENT], length_at(r, MOMENT))
        out[_PUSH] = max(out[_PUSH], worst_push(m, w, room, k))
        # Roots of sums of squares: no single overlap is deeper.
        depth[n] = np.sqrt(2.0 * collision_terms(m, w, room, k, 1.0, False))
        out[_PENETRATION] = max(out[_PENETRATION], depth[n])
        over = np.sqrt(2.0 * limit_terms(m, w, room, 1.0, False))
        out[_LIMIT] = max(out[_LIMIT], over)


def measure(built: Built, keys: Float[np.ndarray, "K n"], room: Room) -> Measured:
    """Errors of a motion whose contact variables are 0 or 1.

    Args:
        built: The problem.
        keys: Key states.
        room: For one sample.
    """
    fine = fine_samples(built.model)
    fine = fine._replace(clearance=np.zeros_like(built.model.clearance))
    unit = Weights(
        gap=1.0, slip=1.0, force=1.0, moment=1.0, cone=1.0, pad=0.0, facing=0.0, limit=1.0,
        penetration=1.0, goal=1.0, squeeze=0.0, attraction=0.0, friction=1.0, push=1.0,
        is_frozen=True,
    )  # fmt: skip
    out = np.zeros(len(MEASURES))
    by = np.zeros((len(built.model.clearance), built.model.layout.num_contacts, 3))
    depth = np.zeros(len(fine.samples.phase))
    _measure(Packed(fine), Packed(unit), np.ascontiguousarray(keys), Packed(room), out, by, depth)
    shares = by / np.array([LIMITS["gap"], LIMITS["slip"], LIMITS["cone"]])
    return Measured(dict(zip(MEASURES, out.tolist(), strict=True)), shares.max(axis=2), depth)
