"""The certificate: whether contact forces can move the bodies as the clip shows.

Judged from poses, meshes, masses and friction alone; what the method says about its contacts is
used only to check that it is so.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.certificate import COARSE, Certificate, Check, FrameRecord
from handwright.core.clip import Clip
from handwright.core.problem import Problem
from handwright.core.tolerances import Tolerances
from handwright.errors import InvalidValueError
from handwright.evidence.certificate.assumptions import assumptions, mass_faults, mesh_faults
from handwright.evidence.certificate.findings import Findings, find, size_limit
from handwright.evidence.certificate.jumps import jump_excess
from handwright.evidence.certificate.penetration import finger_finger
from handwright.evidence.certificate.recording import body_records
from handwright.evidence.certificate.resolution import coarse_faults, is_too_fine
from handwright.evidence.certificate.seam import around_seam, seam_gap
from handwright.evidence.certificate.speeds import limit_excess, speed_shares
from handwright.evidence.certificate.stored import StoredFindings, judge_stored
from handwright.evidence.contacts.crossings import bodies_cross
from handwright.evidence.contacts.hand_probe import HandProbe, probe_hand
from handwright.evidence.contacts.overlaps import hand_hand_depth, palm_depth
from handwright.evidence.contacts.probes import exact_distance
from handwright.evidence.contacts.skin_probe import depth_in_surroundings
from handwright.evidence.contacts.sweeps import swept_through
from handwright.evidence.contacts.thin_things import (
    body_between_knuckles,
    spikes_in_body,
    surroundings_in_flesh,
    thin_body_in_flesh,
)
from handwright.geometry.distance.exact import ExactDistance

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
_STORED_STRENGTH = 1.5
"""Stored forces may be this much larger than the strength of a digit: the judge looks for the least
that will do, and a method need not."""
_SOFT_SKIN = 1e-3
"""How deep edges of thin bodies may be in the skin before that counts as being in the flesh, m."""
_SEAM = 1e-3
"""How far from its start a cyclic motion may end, m."""


class _Measure(NamedTuple):
    """A check over the frames: values, what is allowed, and which frames fail."""

    value: Float[np.ndarray, " T"]
    allowed: float
    unit: str
    fails: Bool[np.ndarray, " T"]
    detail: str = ""


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
    measures = _body_measures(clip, findings, hands, tolerances)
    measures |= _hand_measures(clip, hands, tolerances)
    measures |= _stored_measures(stored, measures, tolerances)
    measures["crossing"] = _crossing(clip, hands, exact, tolerances)
    # A leap breaks everything around it: it is named once, and those frames are not judged.
    measures = {
        name: measure._replace(
            value=np.where(near_jump, 0.0, measure.value), fails=measure.fails & ~near_jump
        )
        for name, measure in measures.items()
    }
    into = np.zeros(clip.num_frames, dtype=bool)
    into[[frame for frames in leaps.values() for frame in frames]] = True
    measures["jump"] = _Measure(into.astype(float), 0.0, "leaps", into, ", ".join(leaps))
    speeds = speed_shares(clip, hands.values(), tolerances)
    measures["speed"] = _over(speeds.share, 1.0, "of limit", speeds.detail)
    bodies = dict(clip.problem.bodies)
    measures[COARSE] = _whole(clip, coarse_faults(clip, tolerances))
    measures["mesh"] = _whole(clip, mesh_faults(bodies))
    measures["mass"] = _whole(clip, mass_faults(bodies))
    measures["seam"] = _seam(clip, tolerances)
    return _certificate(clip, findings, stored, measures, tolerances)


def _whole(clip: Clip, faults: list[str]) -> _Measure:
    """A check of a clip as a whole, by what is wrong with it in words."""
    value = np.full(clip.num_frames, float(len(faults)))
    return _over(value, 0.0, "faults", "; ".join(faults))


def _crossing(
    clip: Clip,
    hands: dict[str, HandProbe],
    exact: dict[str, ExactDistance],
    tolerances: Tolerances,
) -> _Measure:
    """Whether anything goes through anything else, in a frame or on the way to it."""
    found = [hand_hand_depth(hands)]
    for hand in hands.values():
        found += [palm_depth(hand), surroundings_in_flesh(hand, clip.problem.environment)]
        for name, pose in clip.bodies.items():
            names = [f"{name} between the knuckles of {hand.name}"] * clip.num_frames
            found.append((body_between_knuckles(hand, pose, exact[name]), names))
            deep = thin_body_in_flesh(hand, clip.problem.bodies[name], pose)
            # Edges that rest on soft skin are a little in it.
            flesh = [f"{name} in the flesh of {hand.name}"] * clip.num_frames
            allowed = max(_SOFT_SKIN, tolerances.soft_tissue)
            found.append((np.maximum(deep - allowed, 0.0), flesh))
    for name, pose in clip.bodies.items():
        names = [f"surroundings in {name}"] * clip.num_frames
        found.append((spikes_in_body(clip.problem.environment, pose, exact[name]), names))
    for one, two in combinations(clip.bodies, 2):
        names = [f"{one} and {two}"] * clip.num_frames
        found.append((bodies_cross(clip, one, two, exact), names))
    depth, detail = np.zeros(clip.num_frames), ""
    for deep, names in found:
        if deep.max(initial=0.0) > max(depth.max(), tolerances.finger_finger):
            detail = names[int(deep.argmax())]
        depth[: len(deep)] = np.maximum(depth[: len(deep)], deep)
    passed, names = swept_through(clip, hands)
    if passed.any():
        detail = names[int(passed.argmax())]
    fails = (depth > tolerances.finger_finger) | passed
    return _Measure(depth, tolerances.finger_finger, "m", fails, detail)


def _seam(clip: Clip, tolerances: Tolerances) -> _Measure:
    """Whether a cyclic motion ends where it starts, and goes on from there as it must."""
    value, detail = np.zeros(clip.num_frames), ""
    if not clip.problem.is_cyclic:
        return _over(value, _SEAM, "m")
    value[-1], whose = seam_gap(clip)
    if value[-1] > _SEAM:
        return _over(value, _SEAM, "m", f"'{whose}' ends {1e3 * value[-1]:.3g} mm from its start")
    fails = np.zeros(clip.num_frames, dtype=bool)
    around = certify(around_seam(clip), tolerances=replace(tolerances, least_frames=0.0))
    # The ends of the piece are cut off from what explains them; they are judged with the clip.
    middle = around.frames[len(around.frames) // 2 - 1 : len(around.frames) // 2 + 2]
    reasons = dict.fromkeys(name for frame in middle for name in frame.failed)
    if reasons:
        fails[-1], detail = True, f"going on from the end: {', '.join(reasons)}"
    return _Measure(value, _SEAM, "m", fails, detail)


def _check_smoothing(clip: Clip, tolerances: Tolerances) -> None:
    """A low-pass that lets everything through would be named in the verdict and do nothing."""
    cutoff, limit = tolerances.smoothing_hz, 0.5 * clip.fps
    if cutoff is not None and clip.num_frames > 1 and cutoff >= limit:
        raise InvalidValueError(
            f"smoothing_hz is {cutoff:g}; expected below {limit:g} Hz, half the frame rate of the "
            "clip. Lower it (8 Hz suits motion capture), or leave it out."
        )


def _over(value: Float[np.ndarray, " T"], allowed: float, unit: str, detail: str = "") -> _Measure:
    return _Measure(value, allowed, unit, value > allowed, detail)


def _body_measures(
    clip: Clip, findings: Findings, hands: dict[str, HandProbe], tolerances: Tolerances
) -> dict[str, _Measure]:
    found = findings.balance

    def worst(values: Float[np.ndarray, "T B"]) -> np.ndarray:
        return np.asarray(values.max(axis=1, initial=0.0))

    deepest = worst(findings.penetration)
    allowed = tolerances.penetration + tolerances.soft_tissue
    sunk = _beyond_size(clip, findings.penetration, allowed, tolerances)
    for hand in hands.values():
        motion, around = hand.motion, clip.problem.environment
        inside = depth_in_surroundings(hand.model, hand.skin, motion.q, motion.root, around)
        deepest = np.maximum(deepest, inside)
    drift, effort = worst(findings.drift), findings.effort
    drifts = drift > tolerances.static_drift
    sliding = found.failing("slip")
    share = np.maximum(effort.torque_share, effort.digit_force / max(tolerances.strength, 1e-9))
    share = np.maximum(share, effort.arm_share)
    hits = findings.impact_rate
    springs = found.failing("impact")
    return {
        "force_residual": _Measure(
            worst(found.force_residual), tolerances.force_residual, "of weight",
            found.failing("force_residual"),
        ),
        "moment_residual": _Measure(
            worst(found.moment_residual), tolerances.moment_residual, "of weight x gyration",
            found.failing("moment_residual"),
        ),
        "gap": _Measure(worst(findings.gap), tolerances.gap, "m", found.failing("gap")),
        "penetration": _Measure(deepest, allowed, "m", (deepest > allowed) | sunk),
        "slip": _Measure(
            drift, tolerances.static_drift, "m", drifts | sliding,
            "contacts slide that would have to hold" if sliding.any() else "",
        ),
        "impact": _Measure(
            hits, tolerances.impacts, "a second", (hits > tolerances.impacts) | springs,
            "things part faster than they met" if springs.any() else "",
        ),
        "strength": _Measure(share, 1.0, "of strength", effort.is_over, effort.detail),
    }  # fmt: skip


def _beyond_size(
    clip: Clip, values: Float[np.ndarray, "T B"], limit: float, tolerances: Tolerances
) -> Bool[np.ndarray, " T"]:
    """Frames in which a length is more than allowed for a body, or for one of its size."""
    most = [size_limit(clip.problem.bodies[name], limit, tolerances) for name in clip.bodies]
    return np.asarray((values > np.array(most)).any(axis=1))


def _hand_measures(
    clip: Clip, hands: dict[str, HandProbe], tolerances: Tolerances
) -> dict[str, _Measure]:
    count = clip.num_frames
    excess, depth = np.zeros(count), np.zeros(count)
    whose, which = "", ""
    for hand in hands.values():
        over, joints = limit_excess(hand.model, hand.motion.q)
        if over.max() > max(excess.max(), tolerances.joint_limits):
            whose = f"{hand.name}.{joints[int(over.argmax())]}"
        excess = np.maximum(excess, over)
        deep, pairs = finger_finger(hand.model, hand.motion.q)
        if deep.max() > max(depth.max(), tolerances.finger_finger):
            which = pairs[int(deep.argmax())]
        depth = np.maximum(depth, deep)
    return {
        "finger_finger": _over(depth, tolerances.finger_finger, "m", which),
        "joint_limits": _over(excess, tolerances.joint_limits, "rad", whose),
    }


def _stored_measures(
    stored: StoredFindings, measures: dict[str, _Measure], tolerances: Tolerances
) -> dict[str, _Measure]:
    """Checks of what the clip itself says about its contacts."""
    slip, strength = measures["slip"], measures["strength"]
    pressed = stored.digit_force / max(_STORED_STRENGTH * tolerances.strength, 1e-9)
    presses = f"a digit is stored to press with {stored.digit_force.max(initial=0.0):.3g} N"
    claimed = stored.static_slip > tolerances.static_speed
    says = ""
    if claimed.any():
        fastest = float(stored.static_slip.max())
        says = f"contacts stored as static slide, at up to {fastest:.3g} m/s"
    none = "" if stored.has_forces else "no forces are stored"
    faults = []
    if stored.num_misplaced:
        faults.append(f"{stored.num_misplaced} forces act where nothing touches")
    if stored.num_missing:
        faults.append(f"{stored.num_missing} of the contacts have no force (NaN)")
    balance = _over(
        np.nan_to_num(stored.residual, nan=0.0), tolerances.stored_balance, "of weight",
        none or "; ".join(faults),
    )  # fmt: skip
    return {
        "slip": slip._replace(
            fails=slip.fails | claimed,
            detail="; ".join(text for text in (slip.detail, says) if text),
        ),
        "strength": strength._replace(
            value=np.maximum(strength.value, np.where(pressed > 1.0, pressed, 0.0)),
            fails=strength.fails | (pressed > 1.0),
            detail=strength.detail or (presses if (pressed > 1.0).any() else ""),
        ),
        "friction": _over(stored.cone_excess, tolerances.friction, "of cone", none),
        "stored_balance": balance._replace(fails=balance.fails | stored.is_incomplete),
    }


def _certificate(
    clip: Clip,
    findings: Findings,
    stored: StoredFindings,
    measures: dict[str, _Measure],
    tolerances: Tolerances,
) -> Certificate:
    checks = tuple(
        Check(
            name=name,
            passed=not measures[name].fails.any(),
            worst=float(measures[name].value.max()),
            allowed=measures[name].allowed,
            unit=measures[name].unit,
            frames=tuple(int(t) for t in np.flatnonzero(measures[name].fails)),
            detail=measures[name].detail,
        )
        for name in CHECKS
    )
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
            failed=tuple(name for name in CHECKS if measures[name].fails[t]),
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
