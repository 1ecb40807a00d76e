"""Poses of hands in one frame: digits bent to their guiding points, and how deep their skin is."""

from __future__ import annotations

import numpy as np

from handwright.geometry.distance.environment import environment_value_gradient
from handwright.geometry.distance.sdf import field_value
from handwright.kernels.decorators import inlined, kernel, linked
from handwright.kinematics.ik.digit import place_digit, solve_digit
from handwright.kinematics.ik.digit_table import Rig
from handwright.kinematics.ik.problem import DigitProblem, IkWeights
from handwright.kinematics.obstacles import Around, environment_at
from handwright.kinematics.skin.samples import sample_position
from handwright.kinematics.tree import Links, placed
from handwright.methods.sampling.search.workspace import FREE, Workspace
from handwright.methods.sampling.setup.hold_data import HoldData


@inlined
def surroundings_at(data: HoldData, t: int) -> Around:
    """The body and its surroundings in one frame.

    This is for kernels only: what it returns does not own its arrays, and other compiled code would
    free them.
    """
    world = environment_at(data.environment, t)
    return Around(data.field, world, data.samples, data.limits.max_samples)


@kernel
def place_hands(data: HoldData, t: int, q: np.ndarray, links: Links) -> None:
    """Places the links of all hands for one frame."""
    for h in range(data.offset.shape[0]):
        root = data.offset[h]
        for i in range(3):
            links.position[root, i] = data.root_position[t, h, i]
            for j in range(3):
                links.rotation[root, i, j] = data.root_rotation[t, h, i, j]
    for digit in range(data.hand_of_digit.shape[0]):
        place_digit(Rig(data.tree, data.table), links, digit, q)


@inlined
def set_touching_point(data: HoldData, d: int, link: int, local: np.ndarray) -> None:
    """Chooses the point of a digit that inverse kinematics brings to its target."""
    data.table.tip_link[d] = link
    for i in range(3):
        data.table.pad[d, i] = local[i]


@linked
def pose_digits(data: HoldData, t: int, q: np.ndarray, work: Workspace) -> None:
    """Bends the digits of ``q``, within ``work.low`` and ``work.high``, to their guiding points."""
    rig, around, guide = Rig(data.tree, data.table), surroundings_at(data, t), work.guide
    digits = data.hand_of_digit.shape[0]
    for d in range(digits):
        if guide.mode[d] != FREE:
            set_touching_point(data, d, guide.link[d], guide.local[d])
    place_hands(data, t, q, work.now)
    # Free digits come first, so that they make way for the others.
    for count in range(2 * digits):
        d = count % digits
        is_free = guide.mode[d] == FREE
        if is_free == (count >= digits):
            continue
        problem = DigitProblem(
            rig, around, guide.target[d], guide.normal[d], work.reference, work.low, work.high,
            data.idle_weights if is_free else data.hold_weights,
        )  # fmt: skip
        solve_digit(problem, work.now, d, q, work.ik)


@kernel
def pose_alone(
    data: HoldData,
    t: int,
    d: int,
    target: np.ndarray,
    normal: np.ndarray,
    reference: np.ndarray,
    weights: IkWeights,
    work: Workspace,
) -> float:
    """Brings the touching point of one digit to a target within the limits of frame ``t``.

    The joint values are those of ``work.spare``, which is changed. Roots must have been placed and
    the touching point chosen. Returns the cost.

    Args:
        data: The hold.
        t: Frame.
        d: Digit.
        target: (3,) point of the body, m.
        normal: (3,) outward normal of the body there.
        reference: (J,) joint values that are preferred, rad.
        weights: Weights of the inverse kinematics.
        work: Scratch memory.
    """
    rig = Rig(data.tree, data.table)
    place_digit(rig, work.now, d, work.spare)
    problem = DigitProblem(
        rig, surroundings_at(data, t), target, normal, reference, data.low[t], data.high[t], weights
    )
    cost, _ = solve_digit(problem, work.now, d, work.spare, work.ik)
    return cost


@inlined
def capsule_ends(data: HoldData, links: Links, c: int) -> tuple:
    """Both ends of a capsule's axis, in the body's frame, m."""
    table = data.table
    link = table.capsule_link[c]
    a = placed(
        links,
        link,
        table.capsule_start[c, 0],
        table.capsule_start[c, 1],
        table.capsule_start[c, 2],
    )
    b = placed(
        links, link, table.capsule_end[c, 0], table.capsule_end[c, 1], table.capsule_end[c, 2]
    )
    return a, b


@kernel
def skin_distance(
    data: HoldData, around: Around, links: Links, c: int, bound: float
) -> tuple[float, int, float]:
    """Measures how near the skin over a capsule is to the body and to the surroundings.

    Returns:
        The least distance of its skin points from the body, m; the row of that point; and the
        least distance from the surroundings, m. Distances are infinite where all points are
        farther away than ``bound``.
    """
    a, b = capsule_ends(data, links, c)
    half = 0.5 * np.sqrt((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2 + (b[2] - a[2]) ** 2)
    x, y, z = 0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2])
    reach = half + data.samples.reach[c] + bound
    near_body = field_value(data.field, x, y, z) < reach
    near_ground = False
    if len(around.environment.frictions) > 0:
        near_ground = environment_value_gradient(around.environment, x, y, z)[0] < reach
    least, nearest, ground = np.inf, -1, np.inf
    if not (near_body or near_ground):
        return least, nearest, ground
    first = data.samples.first[c]
    last = min(data.samples.first[c + 1], first + around.max_samples)
    for row in range(first, last):
        x, y, z = sample_position(data.samples, row, links)
        if near_body:
            value = field_value(data.field, x, y, z)
            if value < least:
                least, nearest = value, row
        if near_ground:
            ground = min(ground, environment_value_gradient(around.environment, x, y, z)[0])
    return least, nearest, ground


@kernel
def digit_depth(data: HoldData, t: int, d: int, work: Workspace) -> float:
    """Depth of the skin of one placed digit in the body or the surroundings, m."""
    around = surroundings_at(data, t)
    deepest = 0.0
    for m in range(data.table.capsule.shape[1]):
        c = data.table.capsule[d, m]
        if c < 0:
            break
        skin, _, ground = skin_distance(data, around, work.now, c, 0.0)
        deepest = max(deepest, -min(skin, ground))
    return deepest
