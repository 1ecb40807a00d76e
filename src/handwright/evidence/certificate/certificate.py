"""The certificate: whether contact forces can move the bodies as the clip shows.

Judged from poses, meshes, masses and friction alone; what the method says about its contacts is
used only to check that it is so.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from handwright.core.certificate import COARSE, Certificate, Check, FrameRecord
from handwright.core.clip import Clip
from handwright.core.problem import Problem
from handwright.core.tolerances import Tolerances
from handwright.errors import InvalidValueError
from handwright.evidence.certificate.findings import Findings, find
from handwright.evidence.certificate.given.assumptions import (
    assumptions,
    mass_faults,
    mesh_faults,
)
from handwright.evidence.certificate.jumps import jump_excess
from handwright.evidence.certificate.measures.measure import (
    Ground,
    Measure,
    always,
    over,
    whole,
)
from handwright.evidence.certificate.measures.of_bodies import body_measures
from handwright.evidence.certificate.measures.of_hands import crossing, hand_measures
from handwright.evidence.certificate.measures.of_stored import stored_measures
from handwright.evidence.certificate.recording import body_records
from handwright.evidence.certificate.resolution import coarse_faults, is_too_fine
from handwright.evidence.certificate.seam import around_seam, seam_gap
from handwright.evidence.certificate.speeds import speed_shares
from handwright.evidence.certificate.stored import StoredFindings, judge_stored
from handwright.evidence.contacts.hand_probe import probe_hand
from handwright.evidence.contacts.probes import exact_distance

CHECKS = (
    COARSE,
    "mesh",
    "mass",
    "force_residual",
    "moment_residual",
    "gap",
    "penetration",
    "slip",
    "impact",
    "crossing",
    "finger_finger",
    "joint_limits",
    "strength",
    "friction",
    "stored_balance",
    "jump",
    "speed",
    "seam",
)


def certify(
    clip: Clip, problem: Problem | None = None, tolerances: Tolerances | None = None
) -> Certificate:
    """Judges every frame of a clip.

    Args:
        clip: The motion.
        problem: Hands, bodies and surroundings to judge it with; those of the clip if None.
        tolerances: What is allowed; the defaults if None.
    """
    tolerances = Tolerances() if tolerances is None else tolerances
    _check_smoothing(clip, tolerances)
    clip = clip if problem is None else replace(clip, problem=problem)
    if is_too_fine(clip, tolerances):
        # Differences over such steps overflow, and nothing can be said.
        faults = "; ".join(coarse_faults(clip, tolerances))
        coarse = Check(COARSE, False, 1.0, 0.0, "faults", (0,), faults)
        others = (Check(name, True, 0.0, 0.0, "", (), "not judged") for name in CHECKS[1:])
        return Certificate(_title(clip), (), (coarse, *others), tolerances, (), clip.num_frames)
    near_jump, leaps = jump_excess(
        clip, speed=tolerances.jump_speed, joint_speed=tolerances.joint_jump_speed
    )
    hands = {name: probe_hand(clip, name) for name in clip.hands}
    exact = {name: exact_distance(body) for name, body in clip.problem.bodies.items()}
    findings = find(clip, hands, exact, tolerances, near_jump)
    stored = judge_stored(clip, hands, exact, findings.loads, findings.shears, tolerances)
    measures = body_measures(clip, findings, hands, tolerances)
    measures |= hand_measures(clip, hands, tolerances)
    measures |= stored_measures(stored, measures, tolerances)
    measures["crossing"] = crossing(clip, hands, exact, tolerances)
    # A leap breaks everything around it: it is named once, and those frames are not judged.
    measures = {name: measure.away_from(near_jump) for name, measure in measures.items()}
    into = np.zeros(clip.num_frames)
    into[[frame for frames in leaps.values() for frame in frames]] = 1.0
    measures["jump"] = over(into, 0.0, "leaps", always(", ".join(leaps)))
    speeds = speed_shares(clip, hands.values(), tolerances)
    measures["speed"] = over(speeds.share, 1.0, "of limit", always(speeds.detail))
    bodies = dict(clip.problem.bodies)
    measures[COARSE] = whole(clip.num_frames, coarse_faults(clip, tolerances))
    measures["mesh"] = whole(clip.num_frames, mesh_faults(bodies))
    measures["mass"] = whole(clip.num_frames, mass_faults(bodies))
    measures["seam"] = _seam(clip, tolerances)
    return _certificate(clip, findings, stored, measures, tolerances)


def _seam(clip: Clip, tolerances: Tolerances) -> Measure:
    """Whether a cyclic motion ends where it starts, and goes on from there as it must."""
    value, fails = np.zeros(clip.num_frames), np.zeros(clip.num_frames, dtype=bool)
    if not clip.problem.is_cyclic:
        return over(value, tolerances.seam, "m")
    value[-1], whose = seam_gap(clip)
    ends = f"'{whose}' ends {1e3 * value[-1]:.3g} mm from its start"
    found = over(value, tolerances.seam, "m", always(ends))
    if found.fails.any():
        return found
    around = certify(around_seam(clip), tolerances=replace(tolerances, least_frames=0.0))
    # The ends of the piece are cut off from what explains them; they are judged with the clip.
    middle = around.frames[len(around.frames) // 2 - 1 : len(around.frames) // 2 + 2]
    reasons = dict.fromkeys(name for frame in middle for name in frame.failed)
    fails[-1] = bool(reasons)
    goes_on = Ground(fails, always(f"going on from the end: {', '.join(reasons)}"))
    return found._replace(grounds=(goes_on,))


def _check_smoothing(clip: Clip, tolerances: Tolerances) -> None:
    """A low-pass that lets everything through would be named in the verdict and do nothing."""
    cutoff, limit = tolerances.smoothing_hz, 0.5 * clip.fps
    if cutoff is not None and clip.num_frames > 1 and cutoff >= limit:
        raise InvalidValueError(
            f"smoothing_hz is {cutoff:g}; expected below {limit:g} Hz, half the frame rate of the "
            "clip. Lower it (8 Hz suits motion capture), or leave it out."
        )


def _certificate(
    clip: Clip,
    findings: Findings,
    stored: StoredFindings,
    measures: dict[str, Measure],
    tolerances: Tolerances,
) -> Certificate:
    checks = tuple(measures[name].check(name) for name in CHECKS)
    failing = {name: measures[name].is_failing() for name in CHECKS}
    bodies = body_records(clip, findings)
    left, effort = stored.residual, findings.effort
    frames = tuple(
        FrameRecord(
            frame=t,
            time=float(clip.times[t]),
            bodies=bodies[t],
            joint_excess=float(measures["joint_limits"].value[t]),
            finger_finger=float(measures["finger_finger"].value[t]),
            digit_force=float(effort.digit_force[t]),
            torque_share=float(effort.torque_share[t]),
            stored_residual=float(left[t]) if np.isfinite(left[t]) else None,
            failed=tuple(name for name in CHECKS if failing[name][t]),
        )
        for t in range(clip.num_frames)
    )
    names = ", ".join(f"'{name}'" for name in findings.unknown_strength)
    unknown = (f"the strength of {names}",)
    return Certificate(
        _title(clip), frames, checks, tolerances, findings.notes, clip.num_frames,
        tuple(assumptions(clip)), unknown if findings.unknown_strength else (),
    )  # fmt: skip


def _title(clip: Clip) -> str:
    return f"{clip.provenance.scene} by {clip.provenance.method}"
