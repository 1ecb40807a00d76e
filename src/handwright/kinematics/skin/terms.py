"""Skin points of a digit against an object and the surroundings, for least squares.

A point that several links carry moves with the joint j at the rate

    d(sum_k w_k p_k) / dq_j = axis_j x (P_j - W_j o_j),   W_j = sum of w_k,  P_j = sum of w_k p_k

over the links k that the joint moves; o_j is the joint's place.
"""

from __future__ import annotations

import numpy as np

from handwright.geometry.distance.environment import environment_value_gradient
from handwright.geometry.distance.sdf import field_value, field_value_gradient
from handwright.kernels.decorators import inlined, kernel, linked
from handwright.kinematics.ik.digit_table import DigitTable
from handwright.kinematics.obstacles import Around
from handwright.kinematics.skin.memory import (
    SkinMemory,
    know_capsule,
    know_point,
    known_of_capsule,
    known_of_point,
    skin_travel,
)
from handwright.kinematics.skin.samples import MAX_BLEND, SkinSamples, sample_position
from handwright.kinematics.tree import Links, Tree, placed


@inlined
def _rate(
    tree: Tree,
    links: Links,
    joint: int,
    share: float,
    moment: tuple[float, float, float],
    direction: tuple[float, float, float],
) -> float:
    """Speed along a direction of part of a skin point per unit speed of a joint that moves it.

    Args:
        tree: Of the hand.
        links: Placed.
        joint: Which.
        share: Weight of a link in the point.
        moment: Weighted position on that link x direction.
        direction: Unit.
    """
    ax, ay, az = links.axis[joint, 0], links.axis[joint, 1], links.axis[joint, 2]
    dx, dy, dz = direction
    if tree.is_slide[joint]:
        return share * (ax * dx + ay * dy + az * dz)
    p = links.position
    ox, oy, oz = share * p[joint + 1, 0], share * p[joint + 1, 1], share * p[joint + 1, 2]
    # direction . (axis x arm) = axis . (arm x direction)
    return (
        ax * (moment[0] - (oy * dz - oz * dy))
        + ay * (moment[1] - (oz * dx - ox * dz))
        + az * (moment[2] - (ox * dy - oy * dx))
    )


@kernel
def _add_depth(
    tree: Tree,
    table: DigitTable,
    links: Links,
    samples: SkinSamples,
    row: int,
    digit: int,
    depth: float,
    inward: tuple[float, float, float],
    weight: float,
    rates: np.ndarray,
    matrix: np.ndarray,
    gradient: np.ndarray,
    side: int,
) -> None:
    """Adds weight * depth^2 to the normal equations of a digit."""
    count, last = 0, -1
    while table.free[digit, count] >= 0:
        rates[count] = 0.0
        count += 1
    for n in range(table.chain.shape[1]):
        if table.chain[digit, n] < 0:
            break
        last = table.chain[digit, n]
    for k in range(MAX_BLEND):
        link = samples.link[row, k]
        if link < 0:
            break
        # Links of a digit are numbered from the palm outwards, one after the other.
        if link > last + 1:
            continue
        w, local = samples.weight[row, k], samples.local
        x, y, z = placed(
            links, link, w * local[row, k, 0], w * local[row, k, 1], w * local[row, k, 2]
        )
        p = links.position
        x -= (1.0 - w) * p[link, 0]
        y -= (1.0 - w) * p[link, 1]
        z -= (1.0 - w) * p[link, 2]
        moment = (
            y * inward[2] - z * inward[1],
            z * inward[0] - x * inward[2],
            x * inward[1] - y * inward[0],
        )
        for a in range(count):
            joint = table.free[digit, a]
            if joint >= link:
                break
            rates[a] += _rate(tree, links, joint, w, moment, inward)
        for n in range(table.follower.shape[1]):
            joint = table.follower[digit, n]
            if joint < 0 or joint >= link:
                break
            rate = _rate(tree, links, joint, w, moment, inward)
            rates[table.column[digit, n]] += table.share[digit, n] * rate
    for a in range(count):
        scaled = weight * rates[a]
        gradient[side, a] += scaled * depth
        for b in range(a + 1):
            matrix[side, a, b] += scaled * rates[b]


@linked
def skin_terms(
    tree: Tree,
    table: DigitTable,
    links: Links,
    digit: int,
    around: Around,
    object_weight: float,
    environment_weight: float,
    margin: float,
    num_capsules: int,
    rates: np.ndarray,
    matrix: np.ndarray,
    gradient: np.ndarray,
    side: int,
    memory: SkinMemory,
    pose: int,
) -> float:
    """Cost of skin points of a digit's outer capsules that are in the object or surroundings.

    Args:
        tree: Of the hand.
        table: Of the hand.
        links: Placed.
        digit: Which.
        around: Object and surroundings.
        object_weight: 1; of squared depths.
        environment_weight: 1; the same for the surroundings.
        margin: Clearance that is kept, m; negative lets the skin sink in.
        num_capsules: How many capsules are looked at, counted from the tip.
        rates: Room for a row.
        matrix: (2, N, N) normal equations, lower triangles; added to at ``side``.
        gradient: (2, N) half the derivative; added to at ``side``.
        side: 0 or 1.
        memory: Of the skin; what is seen is remembered, and how far points have moved.
        pose: Its row.
    """
    samples, field = around.samples, around.field
    has_environment = environment_weight > 0.0 and len(around.environment.frictions) > 0
    cost = 0.0
    for number in range(min(num_capsules, table.capsule.shape[1])):
        capsule = table.capsule[digit, number]
        if capsule < 0:
            break
        # A distance changes by no more than one walks.
        until, moved = skin_travel(samples, memory, links, capsule, pose)
        known = known_of_capsule(memory, capsule, pose)
        if known - until - moved > margin:
            continue
        link = table.capsule_link[capsule]
        a, b = table.capsule_start, table.capsule_end
        sx, sy, sz = placed(links, link, a[capsule, 0], a[capsule, 1], a[capsule, 2])
        ex, ey, ez = placed(links, link, b[capsule, 0], b[capsule, 1], b[capsule, 2])
        half = 0.5 * np.sqrt((ex - sx) ** 2 + (ey - sy) ** 2 + (ez - sz) ** 2)
        mx, my, mz = 0.5 * (sx + ex), 0.5 * (sy + ey), 0.5 * (sz + ez)
        # The middle rules most capsules out.
        bound = half + samples.reach[capsule] + margin
        object_gap = field_value(field, mx, my, mz) if object_weight > 0.0 else np.inf
        ground_gap = (
            environment_value_gradient(around.environment, mx, my, mz)[0]
            if has_environment
            else np.inf
        )
        near_object, near_ground = object_gap < bound, ground_gap < bound
        if not (near_object or near_ground):
            clear = min(object_gap, ground_gap) - bound + margin
            know_capsule(memory, capsule, pose, max(known, clear + until - moved))
            continue
        first = samples.first[capsule]
        last = min(samples.first[capsule + 1], first + around.max_samples)
        # What is not near leaves at least this much room.
        far = np.inf
        if not near_object:
            far = object_gap - bound + margin
        elif not near_ground:
            far = ground_gap - bound + margin
        least = np.inf
        for row in range(first, last):
            known = known_of_point(memory, row, pose)
            if known - until - moved > margin:
                least = min(least, known)
                continue
            clear = far
            x, y, z = sample_position(samples, row, links)
            if near_object:
                value = field_value(field, x, y, z)
                depth, clear = margin - value, min(clear, value)
                if depth > 0.0:
                    _, gx, gy, gz = field_value_gradient(field, x, y, z)
                    cost += object_weight * depth * depth
                    inward = (-gx, -gy, -gz)
                    _add_depth(
                        tree, table, links, samples, row, digit, depth, inward, object_weight,
                        rates, matrix, gradient, side,
                    )  # fmt: skip
            if near_ground:
                value, gx, gy, gz, _ = environment_value_gradient(around.environment, x, y, z)
                depth, clear = margin - value, min(clear, value)
                if depth > 0.0:
                    cost += environment_weight * depth * depth
                    inward = (-gx, -gy, -gz)
                    _add_depth(
                        tree, table, links, samples, row, digit, depth, inward,
                        environment_weight, rates, matrix, gradient, side,
                    )  # fmt: skip
            # At the kept pose it was no nearer than this.
            known = max(known, clear + until - moved)
            know_point(memory, row, pose, known)
            least = min(least, known)
        know_capsule(memory, capsule, pose, least)
    return cost
