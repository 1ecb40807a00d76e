"""Inverse kinematics of a whole hand whose wrist is given: every digit to its target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.geometry.distance.sdf import Field
from handwright.kernels.decorators import compiled
from handwright.kinematics.fk import posed_pads
from handwright.kinematics.ik.digit import solve_digit
from handwright.kinematics.ik.digit_table import Rig, digit_table, rig_of
from handwright.kinematics.ik.problem import (
    MAX_JOINTS,
    DigitProblem,
    DigitWorkspace,
    IkWeights,
    make_work,
)
from handwright.kinematics.obstacles import Around, capsules_around
from handwright.kinematics.tree import Links, forward, links_for
from handwright.math.pose import Pose


@dataclass(frozen=True, slots=True, eq=False)
class DigitTargets:
    """Where the pads should be, in the world."""

    points: Float[np.ndarray, "D 3"]
    """m; rows of idle digits are ignored."""
    normals: Float[np.ndarray, "D 3"]
    """Out of the touched object, so against the pad's own normal; zero if any will do."""
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


class HandGoals(NamedTuple):
    """What inverse kinematics asks of a hand, in the frame of the object."""

    targets: np.ndarray
    """(D, 3) of the pads, m."""
    normals: np.ndarray
    """(D, 3) out of the object there."""
    active: np.ndarray
    """(D,) digits that have a target."""
    reference: np.ndarray
    """(J,) preferred joint values, rad."""
    low: np.ndarray
    """(J,) rad."""
    high: np.ndarray
    """(J,) rad."""
    weights: IkWeights
    """For active digits."""
    idle: IkWeights
    """For the others; see ``idle_weights``."""


@compiled
def solve_hand(
    rig: Rig,
    around: Around,
    links: Links,
    q: np.ndarray,
    goals: HandGoals,
    sweeps: int,
    work: DigitWorkspace,
    cost: np.ndarray,
) -> int:
    """Solves digit after digit, each seeing where the others are; returns all iterations.

    ``links`` holds the root in the frame of the object; ``q``, ``links`` and ``cost`` are written.
    """
    table, active, num_digits = rig.table, goals.active, goals.targets.shape[0]
    forward(rig.tree, q, links)
    total = 0
    for sweep in range(sweeps):
        changed = False
        # Idle digits go first, so that they make room instead of standing in the way.
        for turn in range(2 * num_digits):
            digit = turn % num_digits
            if active[digit] == (turn < num_digits):
                continue
            problem = DigitProblem(
                rig, around, goals.targets[digit], goals.normals[digit], goals.reference,
                goals.low, goals.high, goals.weights if active[digit] else goals.idle,
            )  # fmt: skip
            before = cost[digit]
            cost[digit], iterations = solve_digit(problem, links, digit, q, work)
            total += iterations
            changed = changed or sweep == 0 or abs(before - cost[digit]) > 1e-3 * before
        if not changed:
            break
    # A digit that was solved early may hold followers of one that was solved late.
    is_stale = False
    for joint in range(q.shape[0]):
        leader = table.leader[joint]
        if leader >= 0:
            value = table.ratio[joint] * q[leader] + table.bias[joint]
            is_stale = is_stale or value != q[joint]
            q[joint] = value
    if is_stale:
        forward(rig.tree, q, links)
    return total


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
    sweeps: int = 6,
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
        max_step: Largest change of any joint from ``q``, rad, such as a speed limit times dt; a
            ``q`` outside the joint limits is brought back to them whatever it takes.
        weights: Weights of the objective.
        sweeps: How often the digits are gone through at most, so that they give way to each other.
    """
    count = len(model.digits)
    q = np.array(q, dtype=np.float64)
    start = q.copy() if reference is None else np.array(reference, dtype=np.float64)
    weights = IkWeights() if weights is None else weights
    used = targets.active
    _check_arrays(model, q, start, targets)
    _check_settings(model, weights, max_step, sweeps)
    root = Pose.identity() if root is None else root
    body = Pose.identity() if body is None else body
    to_body = body.inverse()
    links = links_for(model, to_body @ root)
    low, high = _bounds(model, q, max_step)
    points = np.where(used[:, None], targets.points, 0.0)
    normals = np.where(used[:, None], targets.normals, 0.0)
    cost = np.zeros(count)
    iterations = 0
    # First each digit goes where it should as if it were alone; then they give way to each other.
    # The other way round a digit that stands in the way at the start would block its neighbours.
    for stage, times in ((weights._replace(digits=0.0), 1), (weights, sweeps)):
        goals = HandGoals(
            to_body.apply(points), to_body.rotate(normals), used.copy(), start, low, high,
            stage, idle_weights(stage),
        )  # fmt: skip
        iterations += solve_hand(
            rig_of(model), capsules_around(model, field), links, q, goals, times, make_work(), cost
        )
    pads = posed_pads(model, q, root).position
    error = np.where(used, np.linalg.norm(pads - points, axis=-1), 0.0)
    return IkResult(q, error, cost, int(iterations))


def _bounds(
    model: HandModel, q: Float[np.ndarray, " J"], max_step: float | None
) -> tuple[Float[np.ndarray, " J"], Float[np.ndarray, " J"]]:
    """Joint limits, narrowed so that no joint and no follower moves by more than a step."""
    joints = model.joints
    low, high = joints.lower.copy(), joints.upper.copy()
    if max_step is None:
        return low, high
    room = np.full(len(joints), max_step)
    for follower in np.flatnonzero(joints.leader >= 0):
        leader = joints.leader[follower]
        room[leader] = min(room[leader], max_step / max(abs(joints.ratio[follower]), 1.0))
    return np.clip(q - room, low, high), np.clip(q + room, low, high)


def _check_arrays(
    model: HandModel,
    q: Float[np.ndarray, " ..."],
    reference: Float[np.ndarray, " ..."],
    targets: DigitTargets,
) -> None:
    count = len(model.digits)
    for name, given, expected in (
        ("q", q, (model.num_joints,)),
        ("reference", reference, (model.num_joints,)),
        ("targets.points", targets.points, (count, 3)),
        ("targets.normals", targets.normals, (count, 3)),
        ("targets.active", targets.active, (count,)),
    ):
        if given.shape != expected:
            raise InvalidValueError(
                f"Hand '{model.name}': {name} has shape {given.shape}; expected {expected}."
            )
    used = targets.active
    arrays = (q, reference, targets.points[used], targets.normals[used])
    if not all(np.isfinite(array).all() for array in arrays):
        raise InvalidValueError(
            f"Hand '{model.name}': joint values, reference and targets of active digits must be "
            "finite; some are NaN or infinite. Mark digits without a target as not active."
        )


def _check_settings(
    model: HandModel, weights: IkWeights, max_step: float | None, sweeps: int
) -> None:
    if max_step is not None and not max_step >= 0.0:
        raise InvalidValueError(
            f"max_step is {max_step!r}; expected rad, 0 or more, or None for no speed limit."
        )
    terms = (weights.pad, weights.nail, weights.object, weights.digits, weights.posture)
    if not all(0.0 <= term < np.inf for term in terms):
        raise InvalidValueError(f"{weights}: expected finite weights of 0 or more.")
    if min(weights.num_spheres, weights.max_iterations, sweeps) < 1:
        raise InvalidValueError(
            f"num_spheres is {weights.num_spheres}, max_iterations {weights.max_iterations} and "
            f"sweeps {sweeps}; expected 1 or more of each."
        )
    # The kernels write into room for so many joints, and do not look whether they leave it.
    most = digit_table(model).free.shape[1]
    if most > MAX_JOINTS:
        raise InvalidValueError(
            f"Hand '{model.name}' has a digit of {most - 1} free joints; expected fewer than "
            f"{MAX_JOINTS}. Couple some of them, or split the digit."
        )
