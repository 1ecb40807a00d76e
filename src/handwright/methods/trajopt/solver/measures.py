"""Errors of a motion in plain units, at many moments."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.tolerances import Tolerances
from handwright.kernels.decorators import kernel
from handwright.kernels.packed import Packed
from handwright.methods.trajopt.model import vectors as vec
from handwright.methods.trajopt.model.goal_rows import fine_samples
from handwright.methods.trajopt.model.layout import force_index
from handwright.methods.trajopt.model.model import HAND_CONTACT, Model, ResidualWeights
from handwright.methods.trajopt.model.transcribe import Transcription
from handwright.methods.trajopt.model.workspace import SampleWorkspace
from handwright.methods.trajopt.solver.system import fill_sample, pose_sample
from handwright.methods.trajopt.terms.body import FORCE, MOMENT, body_terms
from handwright.methods.trajopt.terms.collision import collision_terms, limit_terms
from handwright.methods.trajopt.terms.contact import contact_terms
from handwright.methods.trajopt.terms.contact_state import BODY_GAP, CONE, HAND_GAP, SLIP, SQUEEZE
from handwright.methods.trajopt.terms.goal import goal_terms
from handwright.methods.trajopt.terms.push import worst_push

_GAP, _SLIP, _FORCE, _MOMENT, _CONE, _PENETRATION, _LIMIT, _GOAL, _STRENGTH, _PUSH = range(10)
_CERTIFIED = Tolerances()
LIMITS = {
    "gap": 0.3 * _CERTIFIED.gap,
    "slip": 0.1 * _CERTIFIED.static_speed,
    "force": 0.5 * _CERTIFIED.force_residual,
    "moment": 0.2 * _CERTIFIED.moment_residual,
    # What is outside a cone is cut off in the clip, and is then missing in the balance.
    "cone": _CERTIFIED.stored_balance,
    "penetration": 0.5 * _CERTIFIED.penetration,
    # Rounded down to whole milliradians.
    "limit": math.floor(1e3 * _CERTIFIED.joint_limits) / 1e3,
    "goal": 1.0,
    "strength": _CERTIFIED.strength,
    "push": 0.1,
}
"""Largest errors of a motion that may be returned, in ``UNITS``: shares of what the certificate
allows, since it judges skin and frames where these are errors of capsules and splines."""
MEASURES = tuple(LIMITS)
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


class MotionErrors(NamedTuple):
    """Errors of a motion."""

    worst: dict[str, float]
    """Largest error by name, over all moments and contacts."""
    contacts: Float[np.ndarray, "P N"]
    """Errors of every contact in every phase: the largest of gap, slip and cone, each over its
    limit."""
    depth: Float[np.ndarray, " S"]
    """Depth of overlaps at the samples of ``fine_samples``, m."""

    @property
    def excess(self) -> float:
        """The largest error over its limit; at most 1 for a motion that may be returned."""
        return max(self.worst[name] / LIMITS[name] for name in MEASURES)

    @property
    def cause(self) -> str:
        """Name of the error that is largest over its limit."""
        return max(MEASURES, key=lambda name: self.worst[name] / LIMITS[name])


class _ErrorArrays(NamedTuple):
    """Where a kernel writes errors."""

    worst: Float[np.ndarray, " measures"]
    contacts: Float[np.ndarray, "P N 3"]
    """Gap, slip and cone error of every contact in every phase."""
    depth: Float[np.ndarray, " S"]


@kernel
def _measure(
    m: Model, w: ResidualWeights, keys: np.ndarray, work: SampleWorkspace, out: _ErrorArrays
) -> None:
    """Writes the errors of all samples of a motion."""
    layout, worst, r = m.layout, out.worst, work.residual
    for n in range(m.samples.phase.shape[0]):
        k = m.samples.phase[n]
        other = 0 if k + 1 == keys.shape[0] else k + 1
        fill_sample(m, keys[k], keys[other], m.samples.fraction[n], work)
        pose_sample(m, work, m.samples.time[n])
        for row in range(m.samples.goal_first[n], m.samples.goal_last[n]):
            off = np.sqrt(2.0 * goal_terms(m, w, work, row, 1.0, False))
            worst[_GOAL] = max(worst[_GOAL], off)
        if not m.samples.is_full[n]:
            continue
        for j in range(layout.num_contacts):
            if work.z[layout.first_contact + j] >= 0.5:
                _measure_contact(m, w, work, k, j, out)
        body_terms(m, w, work, 1.0, False)
        worst[_FORCE] = max(worst[_FORCE], vec.norm(vec.triple(r, FORCE)))
        worst[_MOMENT] = max(worst[_MOMENT], vec.norm(vec.triple(r, MOMENT)))
        worst[_PUSH] = max(worst[_PUSH], worst_push(m, w, work, k))
        # This is the root of a sum of squares, so no single overlap is deeper.
        out.depth[n] = np.sqrt(2.0 * collision_terms(m, w, work, k, 1.0, False))
        worst[_PENETRATION] = max(worst[_PENETRATION], out.depth[n])
        over = np.sqrt(2.0 * limit_terms(m, w, work, 1.0, False))
        worst[_LIMIT] = max(worst[_LIMIT], over)


@kernel
def _measure_contact(
    m: Model, w: ResidualWeights, work: SampleWorkspace, k: int, j: int, out: _ErrorArrays
) -> None:
    """Writes the errors of contact ``j`` at a sample of phase ``k``."""
    worst, r, by = out.worst, work.residual, out.contacts[k, j]
    contact_terms(m, w, work, j, 1.0, 1.0, False, False)
    gap = max(abs(r[BODY_GAP]), abs(r[HAND_GAP]))
    slip = vec.norm(vec.triple(r, SLIP))
    cone = max(r[CONE], r[SQUEEZE])
    if m.contacts.slides[j]:
        cone, slip = max(cone, slip), 0.0
    if m.contacts.kind[j] == HAND_CONTACT:
        force = vec.norm(vec.triple(work.z, force_index(m.layout, j)))
        worst[_STRENGTH] = max(worst[_STRENGTH], force)
    by[0], by[1], by[2] = max(by[0], gap), max(by[1], slip), max(by[2], cone)
    worst[_GAP], worst[_SLIP] = max(worst[_GAP], gap), max(worst[_SLIP], slip)
    worst[_CONE] = max(worst[_CONE], cone)


def measure_errors(
    transcription: Transcription, keys: Float[np.ndarray, "K n"], work: SampleWorkspace
) -> MotionErrors:
    """Errors of a motion whose contact variables are 0 or 1."""
    model = fine_samples(transcription.model)
    # A hand that is near the body without touching it makes no error.
    near = model.schedule._replace(clearance=np.zeros_like(model.schedule.clearance))
    model = model._replace(schedule=near)
    unit = ResidualWeights(
        gap=1.0, slip=1.0, force=1.0, moment=1.0, cone=1.0, pad=0.0, facing=0.0, limit=1.0,
        penetration=1.0, goal=1.0, squeeze=0.0, attraction=0.0, friction=1.0, push=1.0,
        is_frozen=True,
    )  # fmt: skip
    out = _ErrorArrays(
        worst=np.zeros(len(MEASURES)),
        contacts=np.zeros((model.num_phases, model.layout.num_contacts, 3)),
        depth=np.zeros(len(model.samples.phase)),
    )
    _measure(Packed(model), Packed(unit), np.ascontiguousarray(keys), Packed(work), Packed(out))
    shares = out.contacts / np.array([LIMITS["gap"], LIMITS["slip"], LIMITS["cone"]])
    worst = dict(zip(MEASURES, out.worst.tolist(), strict=True))
    return MotionErrors(worst, shares.max(axis=2), out.depth)
