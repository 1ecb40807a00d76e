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
from handwright.kinematics.ik.digit_table import Rig, capsule_axis, count_of
from handwright.kinematics.ik.problem import DigitWorkspace, IkWeights, add_row
from handwright.kinematics.obstacles import Around
from handwright.kinematics.skin.memory import recall, remember, skin_travel
from handwright.kinematics.skin.samples import MAX_BLEND, SkinSamples, sample_position
from handwright.kinematics.tree import Links, Tree, placed
from handwright.math.vec3 import Vec3, row3


@inlined
def _rate(
    tree: Tree, links: Links, joint: int, share: float, moment: Vec3, direction: Vec3
) -> float:
    """Speed along a direction of part of a skin point per unit speed of a joint that moves it.

    The part is what one link carries, with its ``share`` as weight. Its ``moment`` is the weighted
    position on that link x direction.
    """
    ax, ay, az = row3(links.axis, joint)
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
def _depth_rates(
    rig: Rig,
    links: Links,
    digit: int,
    samples: SkinSamples,
    row: int,
    inward: Vec3,
    rates: np.ndarray,
) -> None:
    """Rates at which a skin point goes inwards with each free joint of a digit."""
    tree, table = rig.tree, rig.table
    count, last = count_of(table.free, digit), table.chain[digit, count_of(table.chain, digit) - 1]
    for a in range(count):
        rates[a] = 0.0
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


@linked
def skin_terms(
    rig: Rig,
    links: Links,
    digit: int,
    around: Around,
    weights: IkWeights,
    work: DigitWorkspace,
    side: int,
    pose: int,
) -> float:
    """Cost of skin points of a digit's outer capsules that are in the object or surroundings.

    Adds to the normal equations of ``work`` at ``side``. What is seen of the skin, and how far its
    points have moved, is remembered in row ``pose`` of ``work.skin``.
    """
    samples, field, table, memory = around.samples, around.field, rig.table, work.skin
    margin = weights.object_margin
    has_environment = weights.environment > 0.0 and len(around.environment.frictions) > 0
    count, cost = count_of(table.free, digit), 0.0
    for number in range(min(weights.num_object_capsules, count_of(table.capsule, digit))):
        capsule = table.capsule[digit, number]
        # A distance changes by no more than one walks.
        until, moved = skin_travel(samples, memory, links, capsule, pose)
        known = recall(memory.least, pose, capsule)
        if known - until - moved > margin:
            continue
        _, (sx, sy, sz), (ex, ey, ez) = capsule_axis(table, links, capsule)
        half = 0.5 * np.sqrt((ex - sx) ** 2 + (ey - sy) ** 2 + (ez - sz) ** 2)
        mx, my, mz = 0.5 * (sx + ex), 0.5 * (sy + ey), 0.5 * (sz + ez)
        # The middle rules most capsules out.
        bound = half + samples.reach[capsule] + margin
        object_gap = field_value(field, mx, my, mz) if weights.object > 0.0 else np.inf
        ground_gap = np.inf
        if has_environment:
            ground_gap = environment_value_gradient(around.environment, mx, my, mz)[0]
        near_object, near_ground = object_gap < bound, ground_gap < bound
        if not (near_object or near_ground):
            clear = min(object_gap, ground_gap) - bound + margin
            remember(memory.least, pose, capsule, max(known, clear + until - moved))
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
            known = recall(memory.known, pose, row)
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
                    cost += weights.object * depth * depth
                    _depth_rates(rig, links, digit, samples, row, (-gx, -gy, -gz), work.row)
                    add_row(work, side, count, depth, weights.object)
            if near_ground:
                value, gx, gy, gz, _ = environment_value_gradient(around.environment, x, y, z)
                depth, clear = margin - value, min(clear, value)
                if depth > 0.0:
                    cost += weights.environment * depth * depth
                    _depth_rates(rig, links, digit, samples, row, (-gx, -gy, -gz), work.row)
                    add_row(work, side, count, depth, weights.environment)
            # At the kept pose it was no nearer than this.
            known = max(known, clear + until - moved)
            remember(memory.known, pose, row, known)
            least = min(least, known)
        remember(memory.least, pose, capsule, least)
    return cost
