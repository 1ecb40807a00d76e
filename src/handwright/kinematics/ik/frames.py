"""Damped least squares for several points and directions at once: arms, and whole skeletons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import HandModel, JointTree
from handwright.errors import InvalidValueError
from handwright.kernels.decorators import compiled
from handwright.kinematics.fk import checked_points, one_pose
from handwright.kinematics.tree import (
    Links,
    Tree,
    forward,
    links_for,
    placed,
    point_jacobian,
    tree_of,
)
from handwright.math import rotation
from handwright.math.pose import Pose


@dataclass(frozen=True, slots=True, eq=False)
class PointGoals:
    """Points of links that should be at given positions in the world."""

    link: Int[np.ndarray, " N"]
    local: Float[np.ndarray, "N 3"]
    """In the link's frame, m."""
    target: Float[np.ndarray, "N 3"]
    """In the world, m."""
    weight: Float[np.ndarray, " N"]


@dataclass(frozen=True, slots=True, eq=False)
class RotationGoals:
    """Links that should be oriented as given; an error of one radian counts as ``arm`` metres."""

    link: Int[np.ndarray, " M"]
    wxyz: Float[np.ndarray, "M 4"]
    """Wanted orientation of the link in the world."""
    weight: Float[np.ndarray, " M"]
    arm: float = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class FramesResult:
    """A solved pose."""

    q: Float[np.ndarray, " J"]
    """rad."""
    error: Float[np.ndarray, " N"]
    """Distance of each point from its target, m."""
    rotation_error: Float[np.ndarray, " M"]
    """Angle of each link from its wanted orientation, rad."""
    iterations: int


class _Goals(NamedTuple):
    """Goals as the kernels read them; weights are roots of the given ones."""

    point_link: Int[np.ndarray, " N"]
    local: Float[np.ndarray, "N 3"]
    target: Float[np.ndarray, "N 3"]
    point_weight: Float[np.ndarray, " N"]
    rotation_link: Int[np.ndarray, " M"]
    wanted: Float[np.ndarray, "M 3 3"]
    """Wanted orientations of the links, as matrices."""
    rotation_weight: Float[np.ndarray, " M"]
    """m/rad."""


class _Freedom(NamedTuple):
    """What may move, and within what."""

    free: Int[np.ndarray, " F"]
    """Joints that move on their own."""
    expand: Float[np.ndarray, "J F"]
    """How far every joint moves with each free one."""
    low: Float[np.ndarray, " J"]
    high: Float[np.ndarray, " J"]
    reference: Float[np.ndarray, " J"]
    """Preferred joint values, rad."""


@compiled
def _rotation_error(wanted: np.ndarray, actual: np.ndarray, out: np.ndarray) -> None:
    """Rotation vector, in the world, that takes the actual to the wanted orientation."""
    m = wanted @ actual.T
    out[0] = 0.5 * (m[2, 1] - m[1, 2])
    out[1] = 0.5 * (m[0, 2] - m[2, 0])
    out[2] = 0.5 * (m[1, 0] - m[0, 1])
    sine = np.sqrt(out[0] ** 2 + out[1] ** 2 + out[2] ** 2)
    cosine = 0.5 * (m[0, 0] + m[1, 1] + m[2, 2] - 1.0)
    angle = np.arctan2(sine, cosine)
    if sine > 1e-9:
        out *= angle / sine
    elif cosine < 0.0:
        # A half turn: the axis is the largest column of (M + 1) / 2.
        best = 0
        for i in range(1, 3):
            if m[i, i] > m[best, best]:
                best = i
        axis = m[:, best].copy()
        axis[best] += 1.0
        out[:] = np.pi * axis / np.sqrt(np.sum(axis**2))


@compiled
def _residuals(
    tree: Tree,
    links: Links,
    q: np.ndarray,
    goals: _Goals,
    residual: np.ndarray,
    jacobian: np.ndarray,
) -> float:
    """Weighted errors (target minus actual) and their Jacobians; returns the sum of squares."""
    forward(tree, q, links)
    jacobian[:] = 0.0
    linear = np.zeros((1, 3, q.shape[0]))
    angular = np.zeros((1, 3, q.shape[0]))
    row = 0
    for n in range(goals.point_link.shape[0]):
        link, local, weight = goals.point_link[n], goals.local[n], goals.point_weight[n]
        point = placed(links, link, local[0], local[1], local[2])
        linear[:] = 0.0
        point_jacobian(tree, links, link, point, 0, linear, angular)
        for i in range(3):
            residual[row + i] = weight * (goals.target[n, i] - point[i])
            for j in range(q.shape[0]):
                jacobian[row + i, j] = weight * linear[0, i, j]
        row += 3
    for n in range(goals.rotation_link.shape[0]):
        link, weight = goals.rotation_link[n], goals.rotation_weight[n]
        angular[:] = 0.0
        point_jacobian(tree, links, link, (0.0, 0.0, 0.0), 0, linear, angular)
        _rotation_error(goals.wanted[n], links.rotation[link], residual[row : row + 3])
        for i in range(3):
            residual[row + i] *= weight
            for j in range(q.shape[0]):
                jacobian[row + i, j] = weight * angular[0, i, j]
        row += 3
    return np.sum(residual**2)


@compiled
def _solve(
    tree: Tree,
    links: Links,
    q: np.ndarray,
    goals: _Goals,
    freedom: _Freedom,
    posture: float,
    max_iterations: int,
) -> int:
    free, expand, low, high, reference = freedom
    rows = 3 * (goals.point_link.shape[0] + goals.rotation_link.shape[0])
    residual = np.zeros(rows)
    jacobian = np.zeros((rows, q.shape[0]))
    damping = 1e-3
    cost = np.inf
    for iteration in range(max_iterations):
        cost = _residuals(tree, links, q, goals, residual, jacobian)
        cost += posture * np.sum((q[free] - reference[free]) ** 2)
        free_jacobian = jacobian @ expand
        gradient = free_jacobian.T @ residual - posture * (q[free] - reference[free])
        matrix = free_jacobian.T @ free_jacobian
        for a in range(free.shape[0]):
            matrix[a, a] += posture
        before = q.copy()
        accepted = False
        while damping < 1e8:
            lhs = matrix.copy()
            rhs = gradient.copy()
            for a in range(free.shape[0]):
                joint = free[a]
                lhs[a, a] += damping * (matrix[a, a] + 1e-9)
                stuck_low = before[joint] <= low[joint] and gradient[a] < 0.0
                stuck_high = before[joint] >= high[joint] and gradient[a] > 0.0
                if stuck_low or stuck_high:
                    lhs[a, :] = 0.0
                    lhs[:, a] = 0.0
                    lhs[a, a] = 1.0
                    rhs[a] = 0.0
            step = np.linalg.solve(lhs, rhs)
            for a in range(free.shape[0]):
                joint = free[a]
                q[joint] = min(max(before[joint] + step[a], low[joint]), high[joint])
            q += expand_followers(expand, free, q, before)
            trial = _residuals(tree, links, q, goals, residual, jacobian)
            trial += posture * np.sum((q[free] - reference[free]) ** 2)
            if trial < cost:
                accepted = True
                break
            q[:] = before
            damping *= 8.0
        if not accepted:
            return iteration
        damping = max(damping * 0.2, 1e-9)
        if np.max(np.abs(q - before)) < 1e-9:
            return iteration + 1
    return max_iterations


@compiled
def expand_followers(
    expand: np.ndarray, free: np.ndarray, q: np.ndarray, before: np.ndarray
) -> np.ndarray:
    """Change of the joints that follow free ones, given what these have done."""
    change = expand @ (q[free] - before[free])
    change[free] = 0.0
    return change


def solve_frames(
    model: HandModel,
    q: Float[np.ndarray, " J"],
    *,
    points: PointGoals | None = None,
    rotations: RotationGoals | None = None,
    joints: tuple[str, ...] | None = None,
    root: Pose | None = None,
    reference: Float[np.ndarray, " J"] | None = None,
    posture: float = 1e-8,
    max_iterations: int = 100,
) -> FramesResult:
    """Moves joints within their limits so that points and orientations come near their goals.

    Args:
        model: The hand, with or without an arm.
        q: Joint values to start from, rad.
        points: Points that should be somewhere.
        rotations: Links that should be oriented somehow.
        joints: Names of the joints that may move; all by default.
        root: Pose of the root in the world.
        reference: Posture preferred where the goals leave a choice; ``q`` by default.
        posture: Weight of that preference, m^2/rad^2.
        max_iterations: Upper bound.
    """
    if points is None and rotations is None:
        raise InvalidValueError(
            "solve_frames: neither points nor rotations were given; expected one."
        )
    if points is None:
        points = PointGoals(np.zeros(0, int), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0))
    if rotations is None:
        rotations = RotationGoals(np.zeros(0, int), np.zeros((0, 4)), np.zeros(0))
    _check_goals(model, points, rotations)
    tree_joints = model.joints
    q = tree_joints.clamp(one_pose(model, q))
    free, expand = _free_joints(tree_joints, tree_joints.names if joints is None else joints)
    wanted = rotation.to_matrix(rotations.wxyz).reshape(-1, 3, 3)
    tree, links = tree_of(model), links_for(model, root)
    start = q.copy() if reference is None else one_pose(model, reference)
    iterations = _solve(
        tree,
        links,
        q,
        _Goals(
            point_link=points.link.astype(np.int64),
            local=points.local.astype(np.float64),
            target=points.target.astype(np.float64),
            point_weight=np.sqrt(points.weight),
            rotation_link=rotations.link.astype(np.int64),
            wanted=wanted,
            rotation_weight=rotations.arm * np.sqrt(rotations.weight),
        ),
        _Freedom(free, expand, tree_joints.lower.copy(), tree_joints.upper.copy(), start),
        posture,
        max_iterations,
    )
    forward(tree, q, links)
    place = links.position[points.link] + np.einsum(
        "nij,nj->ni", links.rotation[points.link], points.local
    )
    turned = rotation.from_matrix(links.rotation[rotations.link].reshape(-1, 3, 3))
    return FramesResult(
        q,
        np.linalg.norm(place - points.target, axis=-1),
        rotation.angle(turned, rotations.wxyz.reshape(-1, 4)),
        int(iterations),
    )


def _free_joints(
    joints: JointTree, names: tuple[str, ...]
) -> tuple[Int[np.ndarray, " F"], Float[np.ndarray, "J F"]]:
    """Joints that move on their own, and how far every joint moves with each of them."""
    free = [j for j in map(joints.index, dict.fromkeys(names)) if joints.leader[j] < 0]
    if not free:
        raise InvalidValueError(
            f"solve_frames: none of the joints {', '.join(names) or '(none given)'} moves on its "
            "own; expected at least one that follows no other."
        )
    expand = np.zeros((len(joints), len(free)))
    expand[free, np.arange(len(free))] = 1.0
    for joint, leader in enumerate(joints.leader):
        if leader in free:
            expand[joint, free.index(leader)] = joints.ratio[joint]
    return np.array(free, dtype=np.int64), expand


def _check_goals(model: HandModel, points: PointGoals, rotations: RotationGoals) -> None:
    checked_points(model, points.link, points.local)
    checked_points(model, rotations.link, np.zeros((len(rotations.link), 3)))
    for name, values, expected in (
        ("points.target", points.target, (len(points.link), 3)),
        ("points.weight", points.weight, (len(points.link),)),
        ("rotations.wxyz", rotations.wxyz, (len(rotations.link), 4)),
        ("rotations.weight", rotations.weight, (len(rotations.link),)),
    ):
        if values.shape != expected:
            raise InvalidValueError(
                f"solve_frames: {name} has shape {values.shape}; expected {expected}."
            )
        if not np.isfinite(values).all():
            raise InvalidValueError(f"solve_frames: {name} holds NaN or infinity.")
        if name.endswith("weight") and (values < 0.0).any():
            raise InvalidValueError(f"solve_frames: {name} is negative; expected 0 or more.")
