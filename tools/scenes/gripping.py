"""Where a wrist has to be so that its hand can hold a body: found by fitting, then checked.

The contact forces of the pads must be able to hold the body, and the last phalanges must be at
their places in every key pose of the wrist relative to the body, without pushing anything in.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.hand import HandModel
from handwright.geometry.distance.sdf import sample_field
from handwright.kinematics import PosedCapsules, posed_capsules, posed_pads
from handwright.kinematics.ik.closing import capsule_gap
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.mechanics import force_contacts, least_forces
from tools.scenes.fitting import fit_wrist
from tools.scenes.task import Hold, Task, is_free

# What it costs to leave a digit out.
_MISSING = (9.0, 2.5, 2.5, 2.0, 1.0)
# A fitted pad is laid onto the surface from so far, m.
_NEAR = 0.006
# How far the last phalanx may miss its place, m.
_MISS = 0.004
_LEAST_FINGERS = 2
_TOUCH = 0.0012

Triple = tuple[float, float, float]


def find_hold(task: Task, wrists: Sequence[Pose]) -> Hold:
    """The best hold from some wrist poses, each fitted and then checked."""
    return min((hold_from(task, wrist) for wrist in wrists), key=lambda hold: hold.cost)


def hold_from(task: Task, start: Pose) -> Hold:
    """Fits from one wrist pose in the body's frame, and checks what comes out."""
    wrist, q, fit_cost = fit_wrist(task, start)
    middle = len(q) // 2
    pads = posed_pads(task.model, q[middle], wrist).position
    value, outward = sample_field(task.distances, pads)
    outward = outward / np.maximum(np.linalg.norm(outward, axis=1, keepdims=True), 1e-9)
    points = pads - value[:, None] * outward
    used = np.array(task.digits) & (np.abs(value) < _NEAR)
    misses, depth = np.zeros(len(points)), 0.0
    for k in range(len(q)):
        capsules = posed_capsules(task.model, q[k], task.relative[k] @ wrist)
        misses = np.maximum(misses, tip_gaps(task.model, capsules, points))
        depth = max(depth, deepest(task, capsules))
    kept = used & (misses < _MISS)
    force = np.inf
    if kept[0] and np.count_nonzero(kept[1:]) >= _LEAST_FINGERS:
        force = holding_force(task, *_touched(task, wrist, q[middle]))
    cost = (
        float(np.array(_MISSING)[np.array(task.digits) & ~kept].sum())
        + _discomfort(task.model, q, kept)
        + 1e3 * float(misses[kept].mean() if kept.any() else np.inf)
        + 0.4 * max(force - 2.0, 0.0)
        + 4e3 * max(depth - 3e-4, 0.0)
        + 0.01 * fit_cost
    )
    return Hold(wrist, np.array(task.pivot), points, kept, q, float(cost))


def _touched(task: Task, wrist: Pose, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points of the body that any part of the hand touches, and their outward normals."""
    capsules = posed_capsules(task.model, q, wrist)
    share = np.linspace(0.0, 1.0, 9)[:, None]
    axis = capsules.start[:, None] + share * (capsules.end - capsules.start)[:, None]
    value, outward = sample_field(task.distances, axis.reshape(-1, 3))
    nearest = value.reshape(axis.shape[:2]).argmin(axis=1) + 9 * np.arange(len(axis))
    value, outward, points = value[nearest], outward[nearest], axis.reshape(-1, 3)[nearest]
    outward = outward / np.maximum(np.linalg.norm(outward, axis=1, keepdims=True), 1e-9)
    near = value - capsules.radius < _TOUCH
    return (points - value[:, None] * outward)[near], outward[near]


def carrying_wrenches(
    body: RigidBody, push: float = 2.0, *, every_way: bool = False
) -> Float[np.ndarray, "W 6"]:
    """Forces, N, that hold a body against gravity and acceleration, without a moment.

    Args:
        body: What is carried.
        push: Acceleration in every direction, m/s^2.
        every_way: Whether the body is turned over; else it stays upright.
    """
    ways = np.array([(0, 0, 1), (0, 0, -1), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)])
    up = np.array([0.0, 0.0, 9.81])
    force = body.mass * ((9.81 + push) * ways if every_way else up + push * ways)
    return np.concatenate([force, np.zeros_like(force)], axis=1)


def deepest(task: Task, capsules: PosedCapsules) -> float:
    """Depth of the deepest capsule in the body, m."""
    return max(-capsule_gap(task.distances, capsules, c) for c in range(len(capsules.radius)))


def holding_force(task: Task, points: np.ndarray, outward: np.ndarray) -> float:
    """Largest of the least total normal forces, in weights, that give the wrenches."""
    contacts = force_contacts(
        points, -outward, center=task.body.center, friction=0.8 * task.body.friction
    )
    weight, length = 9.81 * task.body.mass, task.body.radius_of_gyration
    worst = 0.0
    for wrench in task.wrenches:
        solved = least_forces(contacts, wrench, force_scale=weight, length_scale=length)
        if not solved.is_feasible:
            return np.inf
        worst = max(worst, solved.objective / weight)
    return worst


def tip_gaps(model: HandModel, capsules: PosedCapsules, points: np.ndarray) -> np.ndarray:
    """Distance of each point from the last phalanx of its digit, whichever side touches it, m."""
    gaps = np.zeros(len(points))
    for d, digit in enumerate(model.digits):
        own = np.flatnonzero(model.capsules.digit == d)
        c = own[model.capsules.link[own] == digit.pad.link][0]
        along = capsules.end[c] - capsules.start[c]
        share = np.clip((points[d] - capsules.start[c]) @ along / (along @ along), 0.0, 1.0)
        nearest = capsules.start[c] + share * along
        gaps[d] = abs(np.linalg.norm(points[d] - nearest) - capsules.radius[c])
    return gaps


def _discomfort(model: HandModel, q: np.ndarray, used: np.ndarray) -> float:
    """Large near joint limits: mean over the joints in use of the worst key pose."""
    lower, upper = model.joints.lower, model.joints.upper
    main = np.zeros(model.num_joints, dtype=bool)
    for digit, is_used in zip(model.digits, used, strict=True):
        main[list(digit.joints)] = is_used
    main &= is_free(model)
    share = np.abs(2.0 * (q[:, main] - lower[main]) / (upper - lower)[main] - 1.0)
    return float(20.0 * (share**6).mean(axis=1).max()) if main.any() else 0.0


def wrists_around(
    axes: tuple[Triple, Triple],
    *,
    grip: tuple[Triple, Triple],
    at: tuple[Triple, Triple],
    tilt: tuple[Triple, Triple] = ((-12.0, -10.0, -16.0), (12.0, 10.0, 8.0)),
    count: int = 16,
    seed: int = 1,
) -> list[Pose]:
    """Wrist poses in a body's frame to start from.

    Args:
        axes: Where the hand's x (to the fingers) and z (out of its back) point, body axes.
        grip: Lowest and highest place of the grip point in the hand's frame, m.
        at: Lowest and highest place of the grip point on the body, m.
        tilt: Lowest and highest turn about the hand's own axes, degrees.
        count: Number of poses.
        seed: Of the draws.
    """
    rng = np.random.default_rng(seed)
    x, z = (np.asarray(axis, dtype=np.float64) for axis in axes)
    x = x / np.linalg.norm(x)
    z = z - (z @ x) * x
    z = z / np.linalg.norm(z)
    square = rotation.from_matrix(np.stack([x, np.cross(z, x), z], axis=1))
    wrists = []
    for _ in range(count):
        wxyz = rotation.multiply(square, rotation.exp(np.radians(rng.uniform(*tilt))))
        wrists.append(Pose(rng.uniform(*at) - rotation.rotate(wxyz, rng.uniform(*grip)), wxyz))
    return wrists
