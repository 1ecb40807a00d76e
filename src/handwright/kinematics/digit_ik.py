"""Inverse kinematics of one digit: projected Levenberg-Marquardt in its own few joints.

With the wrist given, digits share no joint, so a hand is five small problems instead of a large
one. Each minimises, in the frame of the object (Ye & Liu 2012, equations 1 to 3),

    w_p |pad(q) - target|^2                       the pad at its place, equation (1)
  + w_n max(0, c - nail(q) . normal)^2            nail away from the surface, equation (2)
  + w_o sum max(0, depth into the object)^2       spheres along the capsules of the digit
  + w_d sum max(0, overlap with other digits)^2   capsule against capsule
  + w_q |q - reference|^2                         stay near a posture

inside the box of joint limits and the speed limit of equation (3). The paper replaces targets by
the deepest contact in a second problem; as hinges in the same problem both are met at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from handwright.geometry.capsules import segment_segment
from handwright.geometry.sdf import Field, field_value_gradient
from handwright.kinematics.digits import DigitTable
from handwright.kinematics.tree import Links, Tree, forward_chain, joint_velocity_of_point

MAX_JOINTS = 16


class IkWeights(NamedTuple):
    """Weights of the objective; lengths in metres, angles in radians."""

    pad: float = 1.0
    nail: float = 1e-4
    object: float = 4.0
    digits: float = 4.0
    posture: float = 1e-7
    least_nail_cosine: float = 0.0
    """The cosine between nail and surface normal that the hinge asks for."""
    object_margin: float = 0.0
    """Clearance kept from the object, m; negative lets the soft pad sink in."""
    digit_margin: float = 0.0
    """Clearance kept between digits, m; negative allows as much overlap."""
    num_spheres: int = 4
    """Samples along each capsule's axis."""
    num_object_capsules: int = 2
    """How many capsules of a digit avoid the object, counted from the tip."""
    max_iterations: int = 30
    least_decrease: float = 1e-12
    """Stop when the next step promises to lower the cost by less, m^2."""
    damping: float = 1e-6
    """Of the first iteration, relative to the diagonal of the normal equations."""


class Work(NamedTuple):
    """Room for the normal equations of one digit, at two poses: the present and a tried one."""

    matrix: np.ndarray
    """(2, N, N), lower triangles."""
    gradient: np.ndarray
    """(2, N), half the derivative of the cost."""
    factor: np.ndarray
    step: np.ndarray
    row: np.ndarray
    column: np.ndarray
    """(N, 3) velocity of the pad by each free joint."""
    before: np.ndarray
    held: np.ndarray
    shift: np.ndarray


def make_work() -> Work:
    """Room for the normal equations of one digit."""
    n = MAX_JOINTS
    return Work(
        np.zeros((2, n, n)),
        np.zeros((2, n)),
        np.zeros((n, n)),
        np.zeros(n),
        np.zeros(n),
        np.zeros((n, 3)),
        np.zeros(n),
        np.zeros(n, dtype=np.bool_),
        np.zeros(n),
    )


@njit(cache=True, error_model="numpy", forceinline=True)
def _add_row(work: Work, side: int, count: int, residual: float, weight: float) -> None:
    """Adds weight * residual^2, with its derivatives in ``work.row``, to the normal equations."""
    for a in range(count):
        scaled = weight * work.row[a]
        work.gradient[side, a] += scaled * residual
        for b in range(a + 1):
            work.matrix[side, a, b] += scaled * work.row[b]


@njit(cache=True, error_model="numpy", forceinline=True)
def _point_row(
    tree: Tree,
    table: DigitTable,
    links: Links,
    digit: int,
    link: int,
    point: tuple[float, float, float],
    direction: tuple[float, float, float],
    work: Work,
) -> int:
    """Derivative of ``direction . point`` by the digit's free joints; returns their number."""
    count = 0
    for joint in table.free[digit]:
        if joint < 0:
            break
        value = 0.0
        if joint < link:
            vx, vy, vz = joint_velocity_of_point(tree, links, joint, point[0], point[1], point[2])
            value = direction[0] * vx + direction[1] * vy + direction[2] * vz
        follower = table.own_follower[joint]
        if follower >= 0 and follower < link:
            vx, vy, vz = joint_velocity_of_point(
                tree, links, follower, point[0], point[1], point[2]
            )
            value += table.ratio[follower] * (
                direction[0] * vx + direction[1] * vy + direction[2] * vz
            )
        work.row[count] = value
        count += 1
    return count


@njit(cache=True, error_model="numpy", forceinline=True)
def _world(links: Links, link: int, local: np.ndarray) -> tuple[float, float, float]:
    turn = links.rotation[link]
    place = links.position[link]
    return (
        place[0] + turn[0, 0] * local[0] + turn[0, 1] * local[1] + turn[0, 2] * local[2],
        place[1] + turn[1, 0] * local[0] + turn[1, 1] * local[1] + turn[1, 2] * local[2],
        place[2] + turn[2, 0] * local[0] + turn[2, 1] * local[1] + turn[2, 2] * local[2],
    )


@njit(cache=True, error_model="numpy", forceinline=True)
def _pad_terms(
    tree: Tree,
    table: DigitTable,
    links: Links,
    digit: int,
    target: np.ndarray,
    weight: float,
    work: Work,
    side: int,
) -> float:
    """Cost of the pad's place."""
    x, y, z = _world(links, table.tip_link[digit], table.pad[digit])
    rx, ry, rz = x - target[0], y - target[1], z - target[2]
    for a in range(table.free.shape[1]):
        joint = table.free[digit, a]
        if joint < 0:
            break
        vx, vy, vz = joint_velocity_of_point(tree, links, joint, x, y, z)
        follower = table.own_follower[joint]
        if follower >= 0:
            share = table.ratio[follower]
            ux, uy, uz = joint_velocity_of_point(tree, links, follower, x, y, z)
            vx, vy, vz = vx + share * ux, vy + share * uy, vz + share * uz
        work.column[a, 0], work.column[a, 1], work.column[a, 2] = vx, vy, vz
        vx, vy, vz = weight * vx, weight * vy, weight * vz
        work.gradient[side, a] += vx * rx + vy * ry + vz * rz
        for b in range(a + 1):
            work.matrix[side, a, b] += (
                vx * work.column[b, 0] + vy * work.column[b, 1] + vz * work.column[b, 2]
            )
    return weight * (rx * rx + ry * ry + rz * rz)


@njit(cache=True, error_model="numpy", forceinline=True)
def _nail_terms(
    tree: Tree,
    table: DigitTable,
    links: Links,
    digit: int,
    normal: np.ndarray,
    weights: IkWeights,
    work: Work,
    side: int,
) -> float:
    """Cost of a nail that faces the surface instead of looking away from it."""
    turn, local = links.rotation[table.tip_link[digit]], table.nail_normal[digit]
    nx = turn[0, 0] * local[0] + turn[0, 1] * local[1] + turn[0, 2] * local[2]
    ny = turn[1, 0] * local[0] + turn[1, 1] * local[1] + turn[1, 2] * local[2]
    nz = turn[2, 0] * local[0] + turn[2, 1] * local[1] + turn[2, 2] * local[2]
    missing = weights.least_nail_cosine - (nx * normal[0] + ny * normal[1] + nz * normal[2])
    if not missing > 0.0:
        return 0.0
    # d(nail)/dq_j = axis_j x nail, so the derivative along the normal is axis_j . c.
    c = (
        ny * normal[2] - nz * normal[1],
        nz * normal[0] - nx * normal[2],
        nx * normal[1] - ny * normal[0],
    )
    count = 0
    for joint in table.free[digit]:
        if joint < 0:
            break
        value = _turn_rate(tree, links, joint, c)
        follower = table.own_follower[joint]
        if follower >= 0:
            value += table.ratio[follower] * _turn_rate(tree, links, follower, c)
        work.row[count] = -value
        count += 1
    _add_row(work, side, count, missing, weights.nail)
    return weights.nail * missing * missing


@njit(cache=True, error_model="numpy", forceinline=True)
def _turn_rate(tree: Tree, links: Links, joint: int, c: tuple[float, float, float]) -> float:
    if tree.is_slide[joint]:
        return 0.0
    axis = links.axis[joint]
    return axis[0] * c[0] + axis[1] * c[1] + axis[2] * c[2]


@njit(cache=True, error_model="numpy", forceinline=True)
def _object_terms(
    tree: Tree,
    table: DigitTable,
    links: Links,
    digit: int,
    field: Field,
    weights: IkWeights,
    work: Work,
    side: int,
) -> float:
    """Cost of the digit's outer capsules inside the object."""
    cost = 0.0
    for number in range(weights.num_object_capsules):
        capsule = table.capsule[digit, number]
        if capsule < 0:
            break
        link = table.capsule_link[capsule]
        a = _world(links, link, table.capsule_start[capsule])
        b = _world(links, link, table.capsule_end[capsule])
        reach = table.capsule_radius[capsule] + weights.object_margin
        for sphere in range(weights.num_spheres):
            s = (sphere + 0.5) / weights.num_spheres
            point = (a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), a[2] + s * (b[2] - a[2]))
            value, gx, gy, gz = field_value_gradient(field, point[0], point[1], point[2])
            depth = reach - value
            if depth > 0.0:
                cost += weights.object * depth * depth
                count = _point_row(tree, table, links, digit, link, point, (-gx, -gy, -gz), work)
                _add_row(work, side, count, depth, weights.object)
    return cost


@njit(cache=True, error_model="numpy")
def _digit_terms(
    tree: Tree,
    table: DigitTable,
    links: Links,
    digit: int,
    weights: IkWeights,
    work: Work,
    side: int,
) -> float:
    """Cost of the digit's capsules inside those of the other digits."""
    cost = 0.0
    for own in table.capsule[digit]:
        if own < 0:
            break
        link = table.capsule_link[own]
        a = _world(links, link, table.capsule_start[own])
        b = _world(links, link, table.capsule_end[own])
        for other_digit in range(table.capsule.shape[0]):
            if other_digit == digit:
                continue
            for other in table.capsule[other_digit]:
                if other < 0:
                    break
                c = _world(links, table.capsule_link[other], table.capsule_start[other])
                d = _world(links, table.capsule_link[other], table.capsule_end[other])
                reach = (
                    table.capsule_radius[own] + table.capsule_radius[other] + weights.digit_margin
                )
                if _apart(a, b, c, d, reach):
                    continue
                distance, s, t = segment_segment(a, b, c, d)
                overlap = reach - distance
                if overlap > 0.0 and distance > 1e-9:
                    cost += weights.digits * overlap * overlap
                    p = (
                        a[0] + s * (b[0] - a[0]),
                        a[1] + s * (b[1] - a[1]),
                        a[2] + s * (b[2] - a[2]),
                    )
                    away = (
                        (c[0] + t * (d[0] - c[0]) - p[0]) / distance,
                        (c[1] + t * (d[1] - c[1]) - p[1]) / distance,
                        (c[2] + t * (d[2] - c[2]) - p[2]) / distance,
                    )
                    count = _point_row(tree, table, links, digit, link, p, away, work)
                    _add_row(work, side, count, overlap, weights.digits)
    return cost


@njit(cache=True, error_model="numpy", forceinline=True)
def _apart(
    a: tuple[float, float, float],
    b: tuple[float, float, float],
    c: tuple[float, float, float],
    d: tuple[float, float, float],
    reach: float,
) -> bool:
    """Whether boxes around two segments are further apart than ``reach``: a quick way out."""
    for i in range(3):
        if min(a[i], b[i]) - max(c[i], d[i]) > reach or min(c[i], d[i]) - max(a[i], b[i]) > reach:
            return True
    return False


@njit(cache=True, error_model="numpy", forceinline=True)
def digit_cost(
    tree: Tree,
    table: DigitTable,
    field: Field,
    links: Links,
    digit: int,
    q: np.ndarray,
    target: np.ndarray,
    normal: np.ndarray,
    reference: np.ndarray,
    weights: IkWeights,
    work: Work,
    side: int,
) -> float:
    """Objective of one digit, with its normal equations in ``work`` at ``side`` (0 or 1).

    The gradient is half the derivative of the cost, the matrix its Gauss-Newton part, both in the
    order of the digit's free joints. Sets the followers of ``q`` and the digit's links.
    """
    place_digit(tree, table, links, digit, q)
    count = _count(table.free[digit])
    for a in range(count):
        joint = table.free[digit, a]
        work.gradient[side, a] = weights.posture * (q[joint] - reference[joint])
        for b in range(a):
            work.matrix[side, a, b] = 0.0
        work.matrix[side, a, a] = weights.posture
    cost = 0.0
    for a in range(count):
        joint = table.free[digit, a]
        cost += weights.posture * (q[joint] - reference[joint]) ** 2
    if weights.pad > 0.0:
        cost += _pad_terms(tree, table, links, digit, target, weights.pad, work, side)
    if weights.nail > 0.0:
        cost += _nail_terms(tree, table, links, digit, normal, weights, work, side)
    if weights.object > 0.0:
        cost += _object_terms(tree, table, links, digit, field, weights, work, side)
    if weights.digits > 0.0:
        cost += _digit_terms(tree, table, links, digit, weights, work, side)
    return cost


@njit(cache=True, error_model="numpy", forceinline=True)
def _count(row: np.ndarray) -> int:
    count = 0
    while row[count] >= 0:
        count += 1
    return count


@njit(cache=True, error_model="numpy", forceinline=True)
def place_digit(tree: Tree, table: DigitTable, links: Links, digit: int, q: np.ndarray) -> None:
    """Sets the followers of a digit and places its links."""
    chain = table.chain[digit]
    count = _count(chain)
    for n in range(count):
        follower = table.follower[chain[n]]
        if follower >= 0:
            q[follower] = table.ratio[follower] * q[chain[n]] + table.bias[follower]
    forward_chain(tree, chain[:count], q, links)


@njit(cache=True, error_model="numpy", forceinline=True)
def _solve_free(work: Work, side: int, count: int, damping: float) -> None:
    """Step of the damped normal equations, by Cholesky; held joints move by ``shift``."""
    factor, step, held = work.factor, work.step, work.held
    for a in range(count):
        if held[a]:
            step[a] = work.shift[a]
            continue
        total = -work.gradient[side, a]
        for b in range(count):
            if held[b]:
                total -= work.matrix[side, max(a, b), min(a, b)] * work.shift[b]
        pivot = work.matrix[side, a, a] * (1.0 + damping) + 1e-15
        for b in range(a):
            if held[b]:
                continue
            entry = work.matrix[side, a, b]
            for k in range(b):
                if not held[k]:
                    entry -= factor[a, k] * factor[b, k]
            factor[a, b] = entry * factor[b, b]
            total -= factor[a, b] * step[b]
            pivot -= factor[a, b] * factor[a, b]
        # The diagonal holds reciprocals: divisions are the slow part of so small a solve.
        factor[a, a] = 1.0 / np.sqrt(max(pivot, 1e-18))
        step[a] = total * factor[a, a]
    for a in range(count - 1, -1, -1):
        if held[a]:
            continue
        total = step[a]
        for k in range(a + 1, count):
            if not held[k]:
                total -= factor[k, a] * step[k]
        step[a] = total * factor[a, a]


@njit(cache=True, error_model="numpy")
def _bounded_step(
    work: Work,
    side: int,
    free: np.ndarray,
    count: int,
    q: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    damping: float,
) -> float:
    """Step within the bounds: a joint that would cross one stops there and the rest is re-solved.

    Returns:
        How much the step should lower the cost if it were quadratic.
    """
    for a in range(count):
        joint, slope = free[a], work.gradient[side, a]
        down, up = q[joint] <= low[joint], q[joint] >= high[joint]
        work.held[a] = (down and slope > 0.0) or (up and slope < 0.0)
        work.shift[a] = 0.0
    for _ in range(count):
        _solve_free(work, side, count, damping)
        crossed = False
        for a in range(count):
            if work.held[a]:
                continue
            joint = free[a]
            moved = q[joint] + work.step[a]
            if moved < low[joint] or moved > high[joint]:
                work.held[a] = True
                work.shift[a] = (low[joint] if moved < low[joint] else high[joint]) - q[joint]
                crossed = True
        if not crossed:
            break
    # With A s = -g the model falls by g.s and A s.s together: by -g.s.
    promise = 0.0
    for a in range(count):
        if work.held[a]:
            work.step[a] = work.shift[a]
        promise -= work.gradient[side, a] * work.step[a]
    return promise


@njit(cache=True, error_model="numpy")
def solve_digit(
    tree: Tree,
    table: DigitTable,
    field: Field,
    links: Links,
    digit: int,
    q: np.ndarray,
    target: np.ndarray,
    normal: np.ndarray,
    reference: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    weights: IkWeights,
    work: Work,
) -> tuple[float, int]:
    """Moves one digit of ``q`` and its links to the least cost within ``low`` and ``high``.

    Returns:
        The cost, and the number of evaluations.
    """
    free = table.free[digit]
    count = _count(free)
    for a in range(count):
        joint = free[a]
        q[joint] = min(max(q[joint], low[joint]), high[joint])
        work.before[a] = q[joint]
    damping = 10.0 * weights.damping
    side = 1
    cost = np.inf
    iteration = 0
    while iteration < weights.max_iterations:
        iteration += 1
        trial = digit_cost(
            tree, table, field, links, digit, q, target, normal, reference, weights, work, 1 - side
        )
        if trial < cost:
            side = 1 - side
            damping *= 0.1
            cost = trial
            for a in range(count):
                work.before[a] = q[free[a]]
        else:
            for a in range(count):
                q[free[a]] = work.before[a]
            damping = max(damping * 100.0, 1e-5)
        promise = _bounded_step(work, side, free, count, q, low, high, damping)
        if not promise > weights.least_decrease:
            break
        for a in range(count):
            q[free[a]] += work.step[a]
    for a in range(count):
        q[free[a]] = work.before[a]
    place_digit(tree, table, links, digit, q)
    return cost, iteration
