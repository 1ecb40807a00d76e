"""The certificate: whether contact forces can move the bodies as the clip shows.

Judged from poses, meshes, masses and friction alone; what the method says about its contacts is
used only to check that it is so. Bodies pushing on each other are not modelled.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.clip import Clip
from handwright.core.contact import ENVIRONMENT, ContactMode
from handwright.core.problem import Problem
from handwright.evidence.balance import CARRYING, Balance, balance, static_drifts, weight_of
from handwright.evidence.contacts import (
    ContactTable,
    HandProbe,
    environment_contacts,
    hand_gaps,
    join_tables,
    probe_hand,
)
from handwright.evidence.dynamics import Wrench, required_wrench
from handwright.evidence.jumps import jump_excess
from handwright.evidence.limits import limit_excess
from handwright.evidence.penetration import finger_finger
from handwright.evidence.records import BodyRecord, Certificate, Check, FrameRecord, JudgedContact
from handwright.evidence.skin_probe import skin_depth_in_surroundings
from handwright.evidence.stored import judge_stored
from handwright.evidence.tolerances import Tolerances
from handwright.geometry.exact import ExactDistance

CHECKS = (
    "force_residual",
    "moment_residual",
    "gap",
    "penetration",
    "slip",
    "finger_finger",
    "joint_limits",
    "strength",
    "friction",
    "jump",
)


class _BodyFindings(NamedTuple):
    table: ContactTable
    wrench: Wrench
    balance: Balance
    margin: Float[np.ndarray, " N"]
    gap: Float[np.ndarray, " T"]
    penetration: Float[np.ndarray, " T"]
    drift: Float[np.ndarray, " T"]
    digit_force: Float[np.ndarray, " T"]


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
    clip = clip if problem is None else replace(clip, problem=problem)
    near_jump, leaps = jump_excess(
        clip, speed=tolerances.jump_speed, joint_speed=tolerances.joint_jump_speed
    )
    hands = {name: probe_hand(clip, name) for name in clip.hands}
    exact = {name: ExactDistance.from_body(body) for name, body in clip.problem.bodies.items()}
    findings = {
        name: _judge_body(clip, name, list(hands.values()), exact[name], tolerances, near_jump)
        for name in clip.bodies
    }
    measures = _body_measures(findings, tolerances, clip.num_frames)
    measures |= _hand_measures(clip, hands, tolerances)
    stored = judge_stored(clip, hands, exact)
    measures["friction"] = _over(stored.cone_excess, tolerances.friction, "of cone")
    slip = measures["slip"]
    claimed = stored.static_slip > tolerances.static_speed
    measures["slip"] = slip._replace(
        fails=slip.fails | claimed,
        detail="contacts stored as static slide" if claimed.any() else "",
    )
    inside = np.zeros(clip.num_frames)
    for hand in hands.values():
        depth = skin_depth_in_surroundings(
            hand.model, hand.skin, hand.motion.q, hand.motion.root, clip.problem.environment
        )
        inside = np.maximum(inside, depth)
    deepest = np.maximum(measures["penetration"].value, inside)
    measures["penetration"] = _over(deepest, tolerances.penetration + tolerances.soft_tissue, "m")
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
    return _certificate(clip, findings, measures, tolerances)


def _judge_body(
    clip: Clip,
    name: str,
    hands: list[HandProbe],
    exact: ExactDistance,
    tolerances: Tolerances,
    near_jump: Bool[np.ndarray, " T"],
) -> _BodyFindings:
    body, pose = clip.problem.bodies[name], clip.bodies[name]
    gravity = clip.problem.gravity
    gaps = [
        hand_gaps(
            hand, body, pose, exact, clip.times, reach=tolerances.contact_distance,
            touching=tolerances.gap, static_speed=tolerances.static_speed,
        )
        for hand in hands
    ]  # fmt: skip
    around, sunk = environment_contacts(
        clip, name, reach=tolerances.contact_distance, static_speed=tolerances.static_speed
    )
    table = join_tables([*(gap.contacts for gap in gaps), around])
    wrench = required_wrench(body, pose, clip.times, gravity, smoothing_hz=tolerances.smoothing_hz)
    weight = weight_of(body, gravity)
    found = balance(
        table, wrench, weight=weight, gyration=body.radius_of_gyration, tolerances=tolerances
    )
    size = np.linalg.norm(found.force, axis=1)
    carrying = size > CARRYING * weight
    widest = np.zeros(clip.num_frames)
    np.maximum.at(widest, table.frame[carrying], table.gap[carrying])
    impact = table.closing[carrying] > 0.0
    # During an impact the frames may straddle the touch itself.
    np.minimum.at(widest, table.frame[carrying][impact], tolerances.gap)
    return _BodyFindings(
        table=table,
        wrench=wrench,
        balance=found,
        margin=_friction_margins(table, found.force, size),
        gap=widest,
        penetration=np.max([sunk, *(gap.skin_depth for gap in gaps)], axis=0),
        drift=static_drifts(table, carrying, pose, clip.times, near_jump),
        digit_force=_digit_forces(clip, table, found.force),
    )


def _friction_margins(
    table: ContactTable, force: Float[np.ndarray, "N 3"], size: Float[np.ndarray, " N"]
) -> Float[np.ndarray, " N"]:
    normal = np.einsum("ni,ni->n", force, table.normal)
    across = np.linalg.norm(force - normal[:, None] * table.normal, axis=1)
    limit = np.maximum(table.friction * normal, 1e-12)
    return np.where(size > 0.0, np.clip(1.0 - across / limit, 0.0, 1.0), 1.0)


def _digit_forces(
    clip: Clip, table: ContactTable, force: Float[np.ndarray, "N 3"]
) -> Float[np.ndarray, " T"]:
    """Largest sum of the forces of one digit in each frame, N."""
    largest = np.zeros(clip.num_frames)
    for index, name in enumerate(table.touchers):
        if name == ENVIRONMENT:
            continue
        mine = table.toucher == index
        digit = clip.problem.hands[name].capsules.digit[table.part[mine]]
        size = np.linalg.norm(force[mine], axis=1)
        for d in np.unique(digit[digit >= 0]):
            total = np.zeros(clip.num_frames)
            np.add.at(total, table.frame[mine][digit == d], size[digit == d])
            largest = np.maximum(largest, total)
    return largest


def _over(value: Float[np.ndarray, " T"], allowed: float, unit: str, detail: str = "") -> _Measure:
    return _Measure(value, allowed, unit, value > allowed, detail)


def _body_measures(
    findings: dict[str, _BodyFindings], tolerances: Tolerances, count: int
) -> dict[str, _Measure]:
    def worst(values: list[np.ndarray]) -> np.ndarray:
        return np.max([np.zeros(count), *values], axis=0)

    def failing(name: str) -> np.ndarray:
        fails = [[name in failed for failed in one.balance.failed] for one in findings.values()]
        return np.asarray(np.array([[False] * count, *fails]).any(axis=0))

    every = list(findings.values())
    drift = worst([one.drift for one in every])
    return {
        "force_residual": _Measure(
            worst([one.balance.force_residual for one in every]),
            tolerances.force_residual, "of weight", failing("force_residual"),
        ),
        "moment_residual": _Measure(
            worst([one.balance.moment_residual for one in every]),
            tolerances.moment_residual, "of weight x gyration", failing("moment_residual"),
        ),
        "gap": _Measure(worst([one.gap for one in every]), tolerances.gap, "m", failing("gap")),
        "penetration": _over(
            worst([one.penetration for one in every]), tolerances.penetration, "m"
        ),
        "slip": _Measure(
            drift, tolerances.static_drift, "m", (drift > tolerances.static_drift) | failing("slip")
        ),
        "strength": _over(worst([one.digit_force for one in every]), tolerances.strength, "N"),
    }  # fmt: skip


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


def _certificate(
    clip: Clip,
    findings: dict[str, _BodyFindings],
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
    frames = tuple(
        FrameRecord(
            frame=t,
            time=float(clip.times[t]),
            bodies={name: _body_record(clip, one, t) for name, one in findings.items()},
            joint_excess=float(measures["joint_limits"].value[t]),
            finger_finger=float(measures["finger_finger"].value[t]),
            failed=tuple(name for name in CHECKS if measures[name].fails[t]),
        )
        for t in range(clip.num_frames)
    )
    made = clip.provenance
    return Certificate(f"{made.scene} by {made.method}", frames, checks, tolerances)


def _body_record(clip: Clip, one: _BodyFindings, t: int) -> BodyRecord:
    rows = one.table.rows(t)
    contacts = tuple(
        _judged_contact(clip, one, row)
        for row in range(rows.start, rows.stop)
        if one.balance.used[row]
    )
    static = [
        contact.friction_margin
        for contact in contacts
        if contact.mode != ContactMode.SLIDING and contact.force.any()
    ]
    return BodyRecord(
        required_force=one.wrench.force[t],
        required_moment=one.wrench.moment[t],
        contacts=contacts,
        force_residual=float(one.balance.force_residual[t]),
        moment_residual=float(one.balance.moment_residual[t]),
        friction_margin=min(static, default=1.0),
        gap=float(one.gap[t]),
        penetration=float(one.penetration[t]),
        drift=float(one.drift[t]),
    )


def _judged_contact(clip: Clip, one: _BodyFindings, row: int) -> JudgedContact:
    table = one.table
    toucher = table.touchers[table.toucher[row]]
    part = int(table.part[row])
    named = (
        str(part) if toucher == ENVIRONMENT else clip.problem.hands[toucher].capsules.names[part]
    )
    return JudgedContact(
        toucher=toucher,
        part=named,
        point=table.point[row],
        normal=table.normal[row],
        gap=float(table.gap[row]),
        slip_speed=float(np.linalg.norm(table.velocity[row])),
        mode=ContactMode(int(table.mode[row])),
        force=one.balance.force[row],
        friction_margin=float(one.margin[row]),
    )
