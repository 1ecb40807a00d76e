"""Inverse kinematics of one digit: projected Levenberg-Marquardt in its own few joints.

With the wrist given, digits share no joint, so a hand is five small problems instead of a large
one. Each minimises, in the frame of the object (Ye & Liu 2012, equations 1 to 3),

    w_p |pad(q) - target|^2                       the pad at its place, equation (1)
  + w_n max(0, c - nail(q) . normal)^2            nail away from the surface, equation (2)
  + w_o sum max(0, depth into the object)^2       skin points, or spheres along the capsules
  + w_e sum max(0, depth in the surroundings)^2   skin points
  + w_d sum max(0, overlap with other digits)^2   capsule against capsule
  + w_q |q - reference|^2                         stay near a posture

inside the box of joint limits and the speed limit of equation (3). The paper replaces targets by
the deepest contact in a second problem; as hinges in the same problem both are met at once.
"""

from __future__ import annotations

import numpy as np

from handwright.geometry.distance.capsules import segment_segment
from handwright.geometry.distance.sdf import field_value_gradient
from handwright.kernels.decorators import inlined, inlined_loose, kernel, linked
from handwright.kinematics.ik.bounded_step import bounded_step, largest_step
from handwright.kinematics.ik.digit_table import Rig, capsule_axis, count_of
from handwright.kinematics.ik.problem import DigitProblem, DigitWorkspace, IkWeights, add_row
from handwright.kinematics.skin.memory import forget_skin, keep_skin
from handwright.kinematics.skin.terms import skin_terms
from handwright.kinematics.tree import (
    Links,
    Tree,
    forward_chain,
    joint_velocity_of_point,
    placed_row,
    turned,
)
from handwright.math.vec3 import Vec3, along, minus

_MOST_DAMPING = 1e6
_SHORT_STEP = 3e-3


@inlined
def point_row(
    rig: Rig, links: Links, digit: int, link: int, point: Vec3, direction: Vec3, row: np.ndarray
) -> None:
    """Derivative of ``direction . point`` by the digit's free joints, in ``row``."""
    tree, table = rig.tree, rig.table
    for a in range(table.free.shape[1]):
        joint = table.free[digit, a]
        if joint < 0:
            break
        row[a] = 0.0
        if joint < link:
            vx, vy, vz = joint_velocity_of_point(tree, links, joint, point)
            row[a] = direction[0] * vx + direction[1] * vy + direction[2] * vz
    for n in range(table.follower.shape[1]):
        joint = table.follower[digit, n]
        if joint < 0 or joint >= link:
            break
        vx, vy, vz = joint_velocity_of_point(tree, links, joint, point)
        rate = direction[0] * vx + direction[1] * vy + direction[2] * vz
        row[table.column[digit, n]] += table.share[digit, n] * rate


@inlined_loose
def point_velocities(
    rig: Rig, links: Links, digit: int, link: int, point: Vec3, velocity: np.ndarray
) -> None:
    """Velocity (N, 3) of a point of one of the digit's links by each of its free joints."""
    tree, table = rig.tree, rig.table
    for a in range(count_of(table.free, digit)):
        joint = table.free[digit, a]
        velocity[a, 0] = velocity[a, 1] = velocity[a, 2] = 0.0
        if joint < link:
            velocity[a, 0], velocity[a, 1], velocity[a, 2] = joint_velocity_of_point(
                tree, links, joint, point
            )
    for n in range(table.follower.shape[1]):
        joint = table.follower[digit, n]
        if joint < 0 or joint >= link:
            break
        a, share = table.column[digit, n], table.share[digit, n]
        vx, vy, vz = joint_velocity_of_point(tree, links, joint, point)
        velocity[a, 0] += share * vx
        velocity[a, 1] += share * vy
        velocity[a, 2] += share * vz


@inlined_loose
def add_point(work: DigitWorkspace, side: int, count: int, miss: Vec3, weight: float) -> float:
    """Cost of the distance of a point from its target; its velocities are in ``work.column``."""
    rx, ry, rz = miss
    velocity = work.column
    for a in range(count):
        vx, vy, vz = weight * velocity[a, 0], weight * velocity[a, 1], weight * velocity[a, 2]
        work.gradient[side, a] += vx * rx + vy * ry + vz * rz
        for b in range(a + 1):
            work.matrix[side, a, b] += (
                vx * velocity[b, 0] + vy * velocity[b, 1] + vz * velocity[b, 2]
            )
    return weight * (rx * rx + ry * ry + rz * rz)


@inlined
def _turn_rate(tree: Tree, links: Links, joint: int, c: Vec3) -> float:
    """Part along ``c`` of the rate at which a joint turns what it moves."""
    if tree.is_slide[joint]:
        return 0.0
    axis = links.axis
    return axis[joint, 0] * c[0] + axis[joint, 1] * c[1] + axis[joint, 2] * c[2]


@inlined
def _nail_terms(
    problem: DigitProblem, links: Links, digit: int, work: DigitWorkspace, side: int
) -> float:
    """Cost of a nail that faces the surface instead of looking away from it."""
    tree, table, weights = problem.rig.tree, problem.rig.table, problem.weights
    local, normal = table.nail_normal, problem.normal
    nx, ny, nz = turned(
        links, table.tip_link[digit], local[digit, 0], local[digit, 1], local[digit, 2]
    )
    missing = weights.least_nail_cosine - (nx * normal[0] + ny * normal[1] + nz * normal[2])
    if not missing > 0.0:
        return 0.0
    # d(nail)/dq_j = axis_j x nail, so the derivative along the normal is axis_j . c.
    c = (
        ny * normal[2] - nz * normal[1],
        nz * normal[0] - nx * normal[2],
        nx * normal[1] - ny * normal[0],
    )
    count = count_of(table.free, digit)
    for a in range(count):
        work.row[a] = -_turn_rate(tree, links, table.free[digit, a], c)
    for n in range(count_of(table.follower, digit)):
        joint = table.follower[digit, n]
        rate = _turn_rate(tree, links, joint, c)
        work.row[table.column[digit, n]] -= table.share[digit, n] * rate
    add_row(work, side, count, missing, weights.nail)
    return weights.nail * missing * missing


@inlined
def _object_terms(
    problem: DigitProblem, links: Links, digit: int, work: DigitWorkspace, side: int
) -> float:
    """Cost of the digit's outer capsules inside the object."""
    table, weights, field = problem.rig.table, problem.weights, problem.around.field
    cost = 0.0
    count = count_of(table.free, digit)
    for number in range(min(weights.num_object_capsules, count_of(table.capsule, digit))):
        capsule = table.capsule[digit, number]
        link, a, b = capsule_axis(table, links, capsule)
        reach = table.capsule_radius[capsule] + weights.object_margin
        for sphere in range(weights.num_spheres):
            point = along(a, b, (sphere + 0.5) / weights.num_spheres)
            value, gx, gy, gz = field_value_gradient(field, point[0], point[1], point[2])
            depth = reach - value
            if depth > 0.0:
                cost += weights.object * depth * depth
                point_row(problem.rig, links, digit, link, point, (-gx, -gy, -gz), work.row)
                add_row(work, side, count, depth, weights.object)
    return cost


@kernel
def digit_terms(
    rig: Rig, links: Links, digit: int, weights: IkWeights, work: DigitWorkspace, side: int
) -> float:
    """Cost of the digit's capsules inside those of the other digits."""
    cost, table = 0.0, rig.table
    count = count_of(table.free, digit)
    for m in range(count_of(table.capsule, digit)):
        own = table.capsule[digit, m]
        link, a, b = capsule_axis(table, links, own)
        for other_digit in range(table.capsule.shape[0]):
            if other_digit == digit:
                continue
            for n in range(table.capsule.shape[1]):
                other = table.capsule[other_digit, n]
                if other < 0:
                    break
                _, c, d = capsule_axis(table, links, other)
                reach = (
                    table.capsule_radius[own] + table.capsule_radius[other] + weights.digit_margin
                )
                if _apart(a, b, c, d, reach):
                    continue
                distance, s, t = segment_segment(a, b, c, d)
                overlap = reach - distance
                if overlap > 0.0 and distance > 1e-9:
                    cost += weights.digits * overlap * overlap
                    p = along(a, b, s)
                    x, y, z = minus(along(c, d, t), p)
                    away = (x / distance, y / distance, z / distance)
                    point_row(rig, links, digit, link, p, away, work.row)
                    add_row(work, side, count, overlap, weights.digits)
    return cost


@inlined
def _apart(a: Vec3, b: Vec3, c: Vec3, d: Vec3, reach: float) -> bool:
    """Whether boxes around two segments are further apart than ``reach``: a quick way out."""
    for i in range(3):
        if min(a[i], b[i]) - max(c[i], d[i]) > reach or min(c[i], d[i]) - max(a[i], b[i]) > reach:
            return True
    return False


@inlined
def digit_cost(
    problem: DigitProblem,
    links: Links,
    digit: int,
    q: np.ndarray,
    work: DigitWorkspace,
    side: int,
    allowed: float,
) -> float:
    """Objective of one digit, with its normal equations in ``work`` at ``side`` (0 or 1).

    The gradient is half the derivative of the cost, the matrix its Gauss-Newton part, both in the
    order of the digit's free joints. The digit's links must be placed: see ``place_digit``.
    Infinity as soon as the cost is seen to reach ``allowed``; the rest is then not computed.
    """
    rig, weights, reference = problem.rig, problem.weights, problem.reference
    table = rig.table
    count = count_of(table.free, digit)
    cost = 0.0
    for a in range(count):
        joint = table.free[digit, a]
        away = q[joint] - reference[joint]
        cost += weights.posture * away**2
        work.gradient[side, a] = weights.posture * away
        for b in range(a):
            work.matrix[side, a, b] = 0.0
        work.matrix[side, a, a] = weights.posture
    if weights.pad > 0.0:
        link, target = table.tip_link[digit], problem.target
        point = placed_row(links, link, table.pad, digit)
        point_velocities(rig, links, digit, link, point, work.column)
        miss = minus(point, (target[0], target[1], target[2]))
        cost += add_point(work, side, count, miss, weights.pad)
    if weights.nail > 0.0:
        cost += _nail_terms(problem, links, digit, work, side)
    if cost >= allowed:
        return np.inf
    if problem.around.max_samples > 0:
        cost += skin_terms(rig, links, digit, problem.around, weights, work, side, 0)
    elif weights.object > 0.0:
        cost += _object_terms(problem, links, digit, work, side)
    if cost >= allowed:
        return np.inf
    if weights.digits > 0.0:
        cost += digit_terms(rig, links, digit, weights, work, side)
    return cost


@inlined
def place_digit(rig: Rig, links: Links, digit: int, q: np.ndarray) -> None:
    """Sets the followers of a digit and places its links."""
    table = rig.table
    for n in range(table.chain.shape[1]):
        joint = table.chain[digit, n]
        if joint < 0:
            break
        leader = table.leader[joint]
        if leader >= 0:
            q[joint] = table.ratio[joint] * q[leader] + table.bias[joint]
    forward_chain(rig.tree, table.chain, digit, q, links)


@linked
def solve_digit(
    problem: DigitProblem, links: Links, digit: int, q: np.ndarray, work: DigitWorkspace
) -> tuple[float, int]:
    """Moves one digit of ``q`` and its links to the least cost within the problem's bounds.

    All links must be placed for ``q`` beforehand; they are again afterwards.

    Returns:
        The cost, and the number of evaluations.
    """
    rig, samples, weights = problem.rig, problem.around.samples, problem.weights
    table, low, high = rig.table, problem.low, problem.high
    count = count_of(table.free, digit)
    is_placed = True
    for a in range(count):
        joint = table.free[digit, a]
        allowed = min(max(q[joint], low[joint]), high[joint])
        is_placed = is_placed and allowed == q[joint]
        q[joint] = allowed
        work.before[a] = allowed
    damping = 10.0 * weights.damping
    side = 1
    cost = np.inf
    iteration = 0
    forget_skin(table, samples, work.skin, links, digit, 0)
    while iteration < weights.max_iterations:
        iteration += 1
        if not is_placed:
            place_digit(rig, links, digit, q)
        trial = digit_cost(problem, links, digit, q, work, 1 - side, cost)
        is_placed = is_better = trial < cost
        if is_better:
            side = 1 - side
            damping *= 0.1
            cost = trial
            keep_skin(table, samples, work.skin, links, digit, 0)
            for a in range(count):
                work.before[a] = q[table.free[digit, a]]
        else:
            for a in range(count):
                q[table.free[digit, a]] = work.before[a]
            damping = max(damping * 100.0, 1e-5)
        # A joint stopped at one bound can drag the others uphill; with enough damping each joint
        # follows its own slope. One call, not two: it is copied in wherever it stands.
        while True:
            promise = bounded_step(rig.table, digit, q, (low, high), work, side, damping)
            if promise >= -weights.polish or damping > _MOST_DAMPING:
                break
            damping = max(damping * 100.0, 1e-5)
        # After a refused step the damping makes promises small: they say nothing then.
        is_last = is_better and not promise > weights.polish
        if damping > _MOST_DAMPING or (iteration == weights.max_iterations and not is_last):
            break
        # A long last step slides along the posture's valley, whose bend it does not see.
        if not is_last or largest_step(work, count) < _SHORT_STEP:
            for a in range(count):
                joint = table.free[digit, a]
                # Rounding must not carry a joint over the bound that it was stopped at.
                q[joint] = min(max(q[joint] + work.step[a], low[joint]), high[joint])
            is_placed = False
        if is_last:
            break
    if not is_placed:
        place_digit(rig, links, digit, q)
    return cost, iteration
