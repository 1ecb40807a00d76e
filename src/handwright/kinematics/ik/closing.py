"""Closing a hand around an object: each joint bends until the links beyond it touch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.geometry.distance.capsules import capsule_capsule
from handwright.geometry.distance.sdf import Field, field_value_gradient
from handwright.geometry.distance.sdf_chains import capsule_depth
from handwright.kinematics.fk import PosedCapsules, one_pose, posed_capsules, posed_pads
from handwright.kinematics.ik.hand import DigitTargets, solve_ik
from handwright.kinematics.ik.problem import IkWeights
from handwright.math.pose import Pose

_SAMPLES = 12


def capsule_gap(field: Field, capsules: PosedCapsules, c: int) -> float:
    """Gap between one capsule and the object of a field, m; negative inside."""
    radius = float(capsules.radius[c])
    return float(
        capsule_depth(field, *capsules.start[c], *capsules.end[c], radius, radius, _SAMPLES)[0]
    )


@dataclass(frozen=True, slots=True, eq=False)
class ClosedHand:
    """A hand closed around an object."""

    q: Float[np.ndarray, " J"]
    """rad."""
    touching: Bool[np.ndarray, " D"]
    """Digits whose pad lies on the object."""
    pad_gap: Float[np.ndarray, " D"]
    """Distance of each pad from the object's surface, m; negative inside."""
    depth: float
    """How deep any capsule is inside the object, m."""


def close_around(
    model: HandModel,
    field: Field,
    *,
    root: Pose,
    body: Pose | None = None,
    start: Float[np.ndarray, " J"] | None = None,
    end: Float[np.ndarray, " J"] | None = None,
    steps: int = 60,
    clearance: float = 0.0005,
    pad_reach: float = 0.012,
) -> ClosedHand:
    """Bends the digits of a placed hand around an object, then lays the pads onto it.

    A joint stops for good when a link that it moves would come nearer than ``clearance`` to the
    object, or to a digit that closed before; the joints beyond go on, so the digit wraps. The
    thumb closes last.

    Args:
        model: The hand.
        field: Signed distances of the object, in its own frame.
        root: Pose of the hand's root in the world.
        body: Pose of the object in the world.
        start: Joint values to start from, rad; those of the pose ``open`` by default.
        end: Joint values of the fully closed hand, rad; those of ``closed`` by default.
        steps: Number of steps between the two.
        clearance: Gap at which a link counts as touching, m.
        pad_reach: Pads that end nearer to the surface than this are laid onto it, m.
    """
    if steps < 1:
        raise InvalidValueError(f"close_around: steps is {steps}; expected 1 or more.")
    body = Pose.identity() if body is None else body
    local = body.inverse() @ root
    q = one_pose(model, model.pose("open") if start is None else start)
    step = (one_pose(model, model.pose("closed") if end is None else end) - q) / steps
    order = sorted(range(len(model.digits)), key=lambda d: model.digits[d].name == "thumb")
    for place, digit in enumerate(order):
        moving = list(model.digits[digit].joints)
        for _ in range(steps):
            trial = q.copy()
            trial[moving] += step[moving]
            trial = model.joints.clamp(trial)
            blocked = _blocked_link(
                model, field, posed_capsules(model, trial, local), digit, order[:place], clearance
            )
            if blocked is None:
                q = trial
                continue
            moving = [joint for joint in moving if joint >= blocked]
            if not moving:
                break
    return _lay_pads(model, field, q, local, pad_reach)


def _blocked_link(
    model: HandModel,
    field: Field,
    capsules: PosedCapsules,
    digit: int,
    closed: list[int],
    clearance: float,
) -> int | None:
    """Outermost link of a digit that touches the object or a closed digit."""
    blocked = None
    others = [c for c in range(len(model.capsules)) if model.capsules.digit[c] in closed]
    for c in np.flatnonzero(model.capsules.digit == digit):
        start, end, radius = capsules.start[c], capsules.end[c], capsules.radius[c]
        gap = capsule_gap(field, capsules, int(c))
        for other in others:
            between = capsule_capsule(
                start, end, radius, capsules.start[other], capsules.end[other],
                capsules.radius[other],
            )  # fmt: skip
            gap = min(gap, between[0])
        if gap < clearance:
            link = int(model.capsules.link[c])
            blocked = link if blocked is None else max(blocked, link)
    return blocked


def _lay_pads(
    model: HandModel, field: Field, q: np.ndarray, local: Pose, pad_reach: float
) -> ClosedHand:
    """Brings the pads that are near the surface onto it, without pushing anything in."""
    pads = posed_pads(model, q, local).position
    found = np.array([field_value_gradient(field, *pad) for pad in pads])
    gap, normal = found[:, 0], found[:, 1:]
    normal /= np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-9)
    targets = DigitTargets(pads - gap[:, None] * normal, normal, gap < pad_reach)
    weights = IkWeights(
        object=30.0, posture=1e-6, num_spheres=_SAMPLES, num_object_capsules=3, digit_margin=-1e-3
    )
    solved = solve_ik(model, q, targets, root=local, field=field, weights=weights)
    pads = posed_pads(model, solved.q, local).position
    gaps = np.array([field_value_gradient(field, *pad)[0] for pad in pads])
    capsules = posed_capsules(model, solved.q, local)
    depths = [-capsule_gap(field, capsules, c) for c in range(len(model.capsules))]
    return ClosedHand(solved.q, np.abs(gaps) < 1.5e-3, gaps, max(0.0, *depths))
