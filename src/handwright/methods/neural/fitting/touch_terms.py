"""Least-squares terms that keep the capsules of a digit out of a body, on it, and in place there.

They also keep the far ends of capsules out of tables and walls.

The gap of a capsule is the least distance of its axis from the body, less its radius. By a joint it
changes as fast as the point of the axis that is nearest to the body moves away from it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import HandModel
from handwright.geometry.distance.sdf_chains import capsule_depth
from handwright.kernels.decorators import inlined, kernel
from handwright.kinematics.ik.digit import point_row
from handwright.kinematics.ik.digit_table import Rig, count_of
from handwright.kinematics.ik.problem import DigitWorkspace, add_row
from handwright.kinematics.tree import Links, placed_row
from handwright.math.vec3 import Vec3, along, minus, row3, unit
from handwright.methods.neural.fitting.body_view import (
    BodyView,
    from_body,
    to_body,
    turned_back,
)
from handwright.methods.neural.fitting.joint_table import JointTable
from handwright.methods.neural.fitting.surroundings import clearance

# Of an axis, before the neighbourhood of the nearest is searched.
SAMPLES = 4


class TouchTable(NamedTuple):
    """Capsules that the digits of a hand move, and what is asked of them in one posture."""

    first: Int[np.ndarray, " D+1"]
    """Capsules of a digit follow each other: the first of each digit, and the number of all."""
    link: Int[np.ndarray, " C"]
    start: Float[np.ndarray, "C 3"]
    """On the link, m."""
    end: Float[np.ndarray, "C 3"]
    """On the link, m."""
    radius: Float[np.ndarray, " C"]
    """m."""
    capsule: Int[np.ndarray, " C"]
    """Its row among all of the hand's."""
    joint: Int[np.ndarray, " C"]
    """Which of the network's joints is at the start of the capsule's bone; the next is at its
    end."""
    pull: Float[np.ndarray, " C"]
    """Weight of lying on the body; 0 for capsules that need not touch."""
    stay: Float[np.ndarray, " C"]
    """Weight of staying at a place of the body; 0 for capsules that do not hold it."""
    on_link: Float[np.ndarray, "C 3"]
    """The place of the skin that is to stay, m."""
    on_body: Float[np.ndarray, "C 3"]
    """Where it is to be, in the frame of the body, m."""
    push: float
    """Weight of depth in the body and in what stands around it; 0 if there is none."""
    depth: float
    """How deep soft skin may sink in, m: where pushing ends and what pulling aims at."""


def touch_table(model: HandModel, joints: JointTable, *, push: float, depth: float) -> TouchTable:
    """Capsules on the bones that the network poses; metacarpals of fingers are not among them.

    Args:
        model: The hand.
        joints: The network's joints on it.
        push: Weight of depth in the body; 0 if there is none.
        depth: How deep soft skin may sink in, m.
    """
    rows: list[int] = []
    first, bone = [0], []
    for digit in range(len(model.digits)):
        for n in range(joints.first[digit], joints.first[digit + 1] - 1):
            on_bone = np.flatnonzero(model.capsules.link == joints.link[n]).tolist()
            rows += on_bone
            bone += [n] * len(on_bone)
        first.append(len(rows))
    capsules = model.capsules
    return TouchTable(
        np.array(first),
        capsules.link[rows].astype(np.int64),
        np.array(capsules.start[rows]),
        np.array(capsules.end[rows]),
        np.array(capsules.radius[rows]),
        np.array(rows),
        np.array(bone),
        np.zeros(len(rows)),
        np.zeros(len(rows)),
        np.zeros((len(rows), 3)),
        np.zeros((len(rows), 3)),
        push,
        depth,
    )


@inlined
def gap_of(
    touch: TouchTable, links: Links, view: BodyView, row: int, c: int
) -> tuple[float, float, Vec3, Vec3]:
    """Gap of a capsule, m, the share of its axis where it is, that point and the way out there."""
    a = placed_row(links, touch.link[c], touch.start, c)
    b = placed_row(links, touch.link[c], touch.end, c)
    ax, ay, az = to_body(view, row, a)
    bx, by, bz = to_body(view, row, b)
    r = touch.radius[c]
    gap, share, gx, gy, gz = capsule_depth(view.field, ax, ay, az, bx, by, bz, r, r, SAMPLES)
    return gap, share, along(a, b, share), turned_back(view, row, gx, gy, gz)


@inlined
def clearance_of(
    touch: TouchTable, links: Links, view: BodyView, row: int, c: int
) -> tuple[float, Vec3, Vec3]:
    """Gap of a capsule's far end to all surroundings, m, its middle, and the way out there."""
    end = placed_row(links, touch.link[c], touch.end, c)
    gap, outward = clearance(view.around, row, end)
    return gap - touch.radius[c], end, outward


@inlined
def _point_term(
    rig: Rig,
    links: Links,
    digit: int,
    link: int,
    point: Vec3,
    direction: Vec3,
    miss: float,
    weight: float,
    work: DigitWorkspace,
    side: int,
) -> float:
    """Adds the term of a point that is off by so much in a direction; returns its cost."""
    point_row(rig, links, digit, link, point, direction, work.row)
    add_row(work, side, count_of(rig.table.free, digit), miss, weight)
    return weight * miss * miss


@inlined
def _push_out(
    rig: Rig,
    touch: TouchTable,
    links: Links,
    digit: int,
    view: BodyView,
    row: int,
    c: int,
    work: DigitWorkspace,
    side: int,
) -> float:
    """Cost of the far end of a capsule that is too deep in the surroundings."""
    gap, end, outward = clearance_of(touch, links, view, row, c)
    miss = gap + touch.depth
    if not miss < 0.0:
        return 0.0
    link, weight = touch.link[c], touch.push
    return _point_term(rig, links, digit, link, end, outward, miss, weight, work, side)


@inlined
def _stay_terms(
    rig: Rig,
    touch: TouchTable,
    links: Links,
    digit: int,
    view: BodyView,
    row: int,
    c: int,
    outward: Vec3,
    work: DigitWorkspace,
    side: int,
) -> float:
    """Cost of skin that is not where it holds the body; only along the body, so it may roll."""
    link, cost = touch.link[c], 0.0
    outward = unit(outward)
    skin = placed_row(links, link, touch.on_link, c)
    way = minus(skin, from_body(view, row, row3(touch.on_body, c)))
    for i in range(3):
        # What the i-th axis is along the body: of a way across it nothing is left.
        along_body = (
            (1.0 if i == 0 else 0.0) - outward[i] * outward[0],
            (1.0 if i == 1 else 0.0) - outward[i] * outward[1],
            (1.0 if i == 2 else 0.0) - outward[i] * outward[2],
        )
        miss = along_body[0] * way[0] + along_body[1] * way[1] + along_body[2] * way[2]
        weight = touch.stay[c]
        cost += _point_term(rig, links, digit, link, skin, along_body, miss, weight, work, side)
    return cost


@kernel
def touch_terms(
    rig: Rig,
    touch: TouchTable,
    links: Links,
    digit: int,
    view: BodyView,
    row: int,
    work: DigitWorkspace,
    side: int,
) -> float:
    """Cost of capsules too deep in solids, off the body, or not where they hold it."""
    cost = 0.0
    for c in range(touch.first[digit], touch.first[digit + 1]):
        gap, _, point, outward = gap_of(touch, links, view, row, c)
        miss = gap + touch.depth
        weight = touch.push if miss < 0.0 else touch.pull[c]
        if weight > 0.0:
            link = touch.link[c]
            cost += _point_term(rig, links, digit, link, point, outward, miss, weight, work, side)
        cost += _push_out(rig, touch, links, digit, view, row, c, work, side)
        if touch.stay[c] > 0.0:
            cost += _stay_terms(rig, touch, links, digit, view, row, c, outward, work, side)
    return cost
