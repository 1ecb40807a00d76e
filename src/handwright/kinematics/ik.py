"""Inverse kinematics of a whole hand whose wrist is given: every digit to its target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.geometry.sdf import Field, make_field
from handwright.kinematics.digit_ik import IkWeights, Work, make_work, solve_digit
from handwright.kinematics.digits import DigitTable, digit_table
from handwright.kinematics.fk import posed_pads
from handwright.kinematics.tree import Links, Tree, forward, links_for, tree_of
from handwright.math import rotation
from handwright.math.compiled import compiled
from handwright.math.pose import Pose


@dataclass(frozen=True, slots=True, eq=False)
class DigitTargets:
    """Where the pads should be, in the world."""

    points: Float[np.ndarray, "D 3"]
    """m; rows of idle digits are ignored."""
    normals: Float[np.ndarray, "D 3"]
    """Outward normals of the surface touched; zero where the nail may point anywhere."""
    active: Bool[np.ndarray, " D"]
    """Digits that have a target; the others stay near the reference and out of the way."""


@dataclass(frozen=True, slots=True, eq=False)
class IkResult:
    """A solved pose with what is left over."""

    q: Float[np.ndarray, " J"]
    """Joint values, rad."""
    error: Float[np.ndarray, " D"]
    """Distance of each pad from its target, m; zero for idle digits."""
    cost: Float[np.ndarray, " D"]
    """Objective of each digit."""
    iterations: int
    """Over all digits and sweeps."""


@compiled
def solve_hand(
    tree: Tree,
    table: DigitTable,
    field: Field,
    links: Links,
    q: np.ndarray,
    targets: np.ndarray,
    normals: np.ndarray,
    active: np.ndarray,
    reference: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    weights: IkWeights,
    idle: IkWeights,
    sweeps: int,
    work: Work,
    cost: np.ndarray,
) -> int:
    """Solves digit after digit, each seeing where the others are; returns all iterations.

    ``links`` holds the root in the frame of the field; ``q``, ``links`` and ``cost`` are written.
    """
    forward(tree, q, links)
    total = 0
    for sweep in range(sweeps):
        changed = False
        for digit in range(targets.shape[0]):
            used = weights if active[digit] else idle
            before = cost[digit]
            cost[digit], iterations = solve_digit(
                tree,
                table,
                field,
                links,
                digit,
                q,
                targets[digit],
                normals[digit],
                reference,
                low,
                high,
                used,
                work,
            )
            total += iterations
            changed = changed or sweep == 0 or abs(before - cost[digit]) > 1e-3 * before
        if not changed:
            break
    # A digit that was solved early may hold followers of one that was solved late.
    for joint in range(q.shape[0]):
        leader = table.leader[joint]
        if leader >= 0:
            q[joint] = table.ratio[joint] * q[leader] + table.bias[joint]
    forward(tree, q, links)
    return total


def no_object() -> Field:
    """A field with nothing in it: every point is a kilometre from the surface."""
    return make_field(np.full((2, 2, 2), 1e3), np.zeros(3), 1.0)


def idle_weights(weights: IkWeights) -> IkWeights:
    """Weights for a digit without a target: keep out of the way, near the reference."""
    return weights._replace(pad=0.0, nail=0.0, posture=max(weights.posture, 1e-4))


def solve_ik(
    model: HandModel,
    q: Float[np.ndarray, " J"],
    targets: DigitTargets,
    *,
    root: Pose | None = None,
    field: Field | None = None,
    body: Pose | None = None,
    reference: Float[np.ndarray, " J"] | None = None,
    max_step: float | None = None,
    weights: IkWeights | None = None,
    sweeps: int = 3,
) -> IkResult:
    """Bends the digits so that their pads meet the targets without touching anything else.

    Args:
        model: The hand.
        q: Joint values to start from, rad. Joints outside the digits stay as they are.
        targets: Where the pads should be, in the world.
        root: Pose of the hand's root in the world.
        field: Signed distances of the object, in its own frame; None if there is none.
        body: Pose of that object in the world.
        reference: Posture that is preferred where targets leave a choice; ``q`` by default.
        max_step: Largest change of any joint from ``q``, rad, such as a speed limit times dt.
        weights: Weights of the objective.
        sweeps: How often the digits are gone through at most, so that they give way to each other.
    """
    count = len(model.digits)
    q = np.array(q, dtype=np.float64)
    for name, shape, expected in (
        ("q", q.shape, (model.num_joints,)),
        ("targets.points", targets.points.shape, (count, 3)),
        ("targets.normals", targets.normals.shape, (count, 3)),
        ("targets.active", targets.active.shape, (count,)),
    ):
        if shape != expected:
            raise InvalidValueError(
                f"Hand '{model.name}': {name} has shape {shape}; expected {expected}."
            )
    used = targets.active
    finite = np.isfinite(q).all() and np.isfinite(targets.points[used]).all()
    if not finite or not np.isfinite(targets.normals[used]).all():
        raise InvalidValueError("Joint values and targets of active digits must be finite.")
    weights = IkWeights() if weights is None else weights
    root = Pose.identity() if root is None else root
    body = Pose.identity() if body is None else body
    to_body = body.inverse()
    links = links_for(model)
    local_root = to_body @ root
    links.rotation[0] = rotation.to_matrix(local_root.wxyz)
    links.position[0] = local_root.position
    low, high = model.joints.lower.copy(), model.joints.upper.copy()
    if max_step is not None:
        low = np.maximum(low, q - max_step)
        high = np.maximum(np.minimum(high, q + max_step), low)
    points = np.where(used[:, None], targets.points, 0.0)
    normals = np.where(used[:, None], targets.normals, 0.0)
    cost = np.zeros(count)
    start = q.copy() if reference is None else np.array(reference, dtype=np.float64)
    iterations = solve_hand(
        tree_of(model),
        digit_table(model),
        no_object() if field is None else field,
        links,
        q,
        to_body.apply(points),
        to_body.rotate(normals),
        used.copy(),
        start,
        low,
        high,
        weights,
        idle_weights(weights),
        sweeps,
        make_work(),
        cost,
    )
    pads = posed_pads(model, q, root).position
    error = np.where(used, np.linalg.norm(pads - points, axis=-1), 0.0)
    return IkResult(q, error, cost, int(iterations))
