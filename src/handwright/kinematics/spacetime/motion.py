"""Smooth motion of digits through given contacts: spacetime optimisation.

With the wrist given, digits share no joint, so each digit is a problem of its own over all
frames (Ye & Liu 2012, equations 9 to 11): smooth joint values, evenly bent, with contacts held
and the skin kept out of the object, the surroundings and the other digits. Its normal equations
are banded, so that a step costs as much as a few hundred small ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.geometry.distance.environment import EnvironmentArrays, pack_environment
from handwright.kernels.packed import Packed
from handwright.kinematics.fk import link_poses
from handwright.kinematics.ik.digit_table import digit_table, rig_of
from handwright.kinematics.ik.problem import IkWeights, work_for
from handwright.kinematics.obstacles import Around, Obstacles, no_object, seen_over
from handwright.kinematics.skin.memory import make_skin_memory
from handwright.kinematics.skin.samples import no_samples, skin_samples
from handwright.kinematics.spacetime.band import make_band
from handwright.kinematics.spacetime.checks import (
    check_anchors,
    check_environment,
    check_frames,
    check_settings,
)
from handwright.kinematics.spacetime.solve import solve_motion
from handwright.kinematics.spacetime.terms import (
    Anchors,
    Motion,
    MotionProblem,
    MotionWorkspace,
    SpacetimeWeights,
    motion_cost,
)
from handwright.kinematics.tree import Links, empty_links
from handwright.math.pose import Pose

# A digit is solved again if that, or the others, have changed its cost by more than this share.
_STIRRED = 0.01
# Axes of flexion along a digit are parallel but for a few degrees.
_PARALLEL = 0.9
# Weights of terms that inverse kinematics has too.
_SHARED = (
    *("object", "environment", "digits"),
    *("object_margin", "digit_margin", "num_object_capsules"),
)


@dataclass(frozen=True, slots=True, eq=False)
class SmoothResult:
    """A smoothed motion with what is left over."""

    q: Float[np.ndarray, "T J"]
    """Joint values, rad."""
    anchor_error: Float[np.ndarray, " N"]
    """Distance of each anchored point from its target, m, in the order of the anchors given."""
    cost: Float[np.ndarray, " D"]
    """Objective of each digit."""
    iterations: int
    """Evaluations of a digit's whole motion, over all digits and sweeps."""


class JointBounds(NamedTuple):
    """Between what joint values may be, besides the joint limits; None leaves all free."""

    low: Float[np.ndarray, "T J"] | None = None
    """rad. Bounds of followers are not looked at."""
    high: Float[np.ndarray, "T J"] | None = None
    """rad; equal to ``low`` where a joint is fixed."""
    pinned: Bool[np.ndarray, " T"] | None = None
    """Frames that must stay as they are, such as joins."""


def no_anchors() -> Anchors:
    """Nothing to hold on to."""
    row = np.zeros(0, dtype=np.int64)
    return Anchors(row, row, row, np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0))


def bending_rows(model: HandModel) -> tuple[np.ndarray, np.ndarray]:
    """How unevenly each digit is bent, as a linear function of its free joints.

    The three last hinges of a digit that turn about parallel axes are its flexions; they are bent
    evenly if the last one differs from the middle one as much as this does from the first.

    Returns:
        (D, N) factors of the free joints, and (D,) constants, rad. Zero for digits with fewer
        than three such hinges.
    """
    table, joints = digit_table(model), model.joints
    factor, constant = np.zeros(table.free.shape), np.zeros(len(model.digits))
    for row, digit in enumerate(model.digits):
        hinges = [j for j in sorted(digit.joints) if not joints.is_slide[j]]
        if not hinges:
            continue
        alike = joints.axis[hinges] @ joints.axis[hinges[-1]]
        flexions = [
            (j, np.sign(c)) for j, c in zip(hinges, alike, strict=True) if abs(c) > _PARALLEL
        ]
        if len(flexions) < 3:
            continue
        own = [j for j in table.free[row] if j >= 0]
        for (joint, sign), share in zip(flexions[-3:], (1.0, -2.0, 1.0), strict=True):
            leader = joints.leader[joint]
            if leader < 0:
                factor[row, own.index(joint)] += share * sign
            elif leader in own:
                factor[row, own.index(leader)] += share * sign * joints.ratio[joint]
                constant[row] += share * sign * joints.bias[joint]
    return factor, constant


def make_problem(
    model: HandModel,
    anchors: Anchors,
    *,
    around: Around,
    reference: Float[np.ndarray, "T J"],
    low: Float[np.ndarray, "T J"],
    high: Float[np.ndarray, "T J"],
    weights: SpacetimeWeights,
) -> MotionProblem:
    """Packs a problem for the kernels; ``anchors`` must be sorted by digit and frame."""
    num_frames = len(reference)
    keys = anchors.digit * num_frames + anchors.frame
    starts = np.arange(len(model.digits))[:, None] * num_frames + np.arange(num_frames + 1)
    shared = {name: getattr(weights, name) for name in _SHARED}
    return MotionProblem(
        rig_of(model), around, anchors, np.searchsorted(keys, starts), reference, low, high,
        *bending_rows(model), weights, IkWeights(**shared),
    )  # fmt: skip


def motion_workspace(problem: MotionProblem, links: Links) -> MotionWorkspace:
    """Room for smoothing, in which no skin of the placed ``links`` (T, ...) has been looked at."""
    (num_frames, num_joints), free = problem.low.shape, problem.rig.table.free
    num_free = max(1, int((free >= 0).sum(axis=1).max(initial=0)))
    num_anchors, samples = len(problem.anchors.digit), problem.around.samples
    skin = make_skin_memory(samples, num_frames)
    skin.rotation[:] = links.rotation[:, samples.carrier]
    skin.position[:] = links.position[:, samples.carrier]
    return MotionWorkspace(
        equations=work_for(2 * num_frames, free.shape[1], skin),
        now=empty_links(num_joints),
        before=np.zeros((num_frames, num_free)),
        miss=np.zeros((num_anchors, 3)),
        velocity=np.zeros((num_anchors, num_free, 3)),
    )


def motion_links(model: HandModel, root: Pose, q: Float[np.ndarray, "T J"]) -> Links:
    """All links at all frames, (T, ...)."""
    turns, places = link_poses(model, q, root)
    axes = np.einsum("tjab,jb->tja", turns[:, model.joints.parent], model.joints.axis)
    return Links(turns, places, np.ascontiguousarray(axes))


def anchor_misses(anchors: Anchors, links: Links) -> Float[np.ndarray, "N 3"]:
    """How far anchored points are from their targets, m."""
    at = anchors.frame, anchors.link
    points = links.position[at] + np.einsum("nij,nj->ni", links.rotation[at], anchors.local)
    return points - anchors.target


def motion_around(
    model: HandModel, num_frames: int, obstacles: Obstacles, num_samples: int
) -> Around:
    """Object and surroundings over all frames, for the kernels."""
    field, environment, samples = obstacles
    is_empty = field is None and (environment is None or len(environment.frictions) == 0)
    if environment is None:
        environment = seen_over(pack_environment(()), Pose.identity(num_frames))
    environment = EnvironmentArrays(*(np.ascontiguousarray(array) for array in environment))
    if is_empty or num_samples == 0:
        samples, num_samples = no_samples(model), 0
    elif samples is None:
        samples = skin_samples(model)
    return Around(no_object() if field is None else field, environment, samples, num_samples)


def solve_motions(
    problem: MotionProblem,
    links: Links,
    q: Float[np.ndarray, "T J"],
    pinned: Bool[np.ndarray, " T"],
) -> tuple[Float[np.ndarray, " D"], int]:
    """Smooths digit after digit, each seeing how the others move; ``q`` and links are written.

    Returns:
        The cost of each digit, and the number of evaluations.
    """
    anchors, weights = problem.anchors, problem.weights
    num_digits, pull = len(problem.rig.table.free), np.zeros((len(anchors.digit), 3))
    room = motion_workspace(problem, links)
    num_frames, num_free = room.before.shape
    band = make_band(num_frames * num_free, 2 * num_free)
    bands = [Packed(band._replace(held=np.zeros_like(band.held))) for _ in range(num_digits)]
    given = Packed(problem), Packed(Motion(q, links, pull))
    work = Packed(room)
    cost, total = np.zeros(num_digits), 0
    is_hard = (anchors.weight >= weights.hard) & ~pinned[anchors.frame]
    # Digits with fewer contacts go first: they make room, and have it when the others are solved.
    turns = np.argsort(np.bincount(anchors.digit, minlength=num_digits), kind="stable")
    # Cost of each digit, pulls included, when solving it again no longer lowered it.
    settled = np.full(num_digits, -np.inf)
    for _ in range(weights.sweeps):
        is_over = True
        for digit in turns:
            if settled[digit] > -np.inf:
                now, _ = motion_cost(*given, digit, work, 0, np.inf)
                if now <= (1.0 + _STIRRED) * settled[digit]:
                    continue
            is_over = False
            own, first = slice(problem.first[digit, 0], problem.first[digit, -1]), np.inf
            for attempt in range(weights.pulls + 1):
                cost[digit], at_start, evaluations = solve_motion(*given, digit, work, bands[digit])
                first = at_start if attempt == 0 else first
                total += evaluations
                settled[digit] = cost[digit]
                miss = anchor_misses(Anchors(*(column[own] for column in anchors)), links)
                # Without what pulling adds to it.
                more = np.einsum("ni,ni->n", pull[own], 2.0 * miss + pull[own])
                cost[digit] -= (anchors.weight[own] * ~pinned[anchors.frame[own]]) @ more
                pulled = pull_contacts(pull[own], miss, is_hard[own], weights)
                if attempt == weights.pulls or np.allclose(
                    pulled, pull[own], rtol=0.0, atol=0.1 * weights.anchor_tolerance
                ):
                    break
                pull[own] = pulled
            if settled[digit] < (1.0 - _STIRRED) * first:
                settled[digit] = -np.inf
        if is_over:
            break
    return cost, total


def pull_contacts(
    pull: Float[np.ndarray, "N 3"],
    miss: Float[np.ndarray, "N 3"],
    is_hard: Bool[np.ndarray, " N"],
    weights: SpacetimeWeights,
) -> Float[np.ndarray, "N 3"]:
    """Contacts that miss their targets are pulled beyond these by as much.

    These are the steps of the multipliers of an augmented Lagrangian, and bounded: contacts that
    cannot be met must not pull for ever. What misses by much is out of reach or in conflict, and
    pulling would only press.
    """
    distance = np.linalg.norm(miss, axis=-1)
    is_near = (distance > weights.anchor_tolerance) & (distance <= weights.most_pull)
    pulled = pull + np.where((is_hard & is_near)[:, None], miss, 0.0)
    length = np.linalg.norm(pulled, axis=-1, keepdims=True)
    return pulled * np.minimum(1.0, weights.most_pull / np.maximum(length, 1e-12))


def smooth_digits(
    model: HandModel,
    root: Pose,
    q: Float[np.ndarray, "T J"],
    anchors: Anchors,
    *,
    obstacles: Obstacles | None = None,
    reference: Float[np.ndarray, "*T J"] | None = None,
    bounds: JointBounds | None = None,
    weights: SpacetimeWeights | None = None,
) -> SmoothResult:
    """Makes the motion of the digits smooth, through their contacts and out of everything else.

    Args:
        model: The hand.
        root: (T,) poses of the hand's root in the frame of the object.
        q: Joint values to start from, rad. Joints outside the digits stay as they are, followers
            go with their leaders, and values outside the bounds are brought inside.
        anchors: Contacts and hints, in any order.
        obstacles: What the skin keeps out of besides the other digits.
        reference: Preferred joint values, rad, at each frame or at all; ``q`` by default.
        bounds: Of the joint values, besides the joint limits.
        weights: Weights of the objective and settings of the search.
    """
    weights = SpacetimeWeights() if weights is None else weights
    obstacles = Obstacles() if obstacles is None else obstacles
    low, high, pinned = JointBounds() if bounds is None else bounds
    # One layout, so that the kernels are compiled once.
    q = np.array(q, dtype=np.float64, order="C")
    pinned = np.zeros(len(q), dtype=np.bool_) if pinned is None else np.asarray(pinned)
    reference = q if reference is None else np.asarray(reference, dtype=np.float64)
    low = model.joints.lower if low is None else np.maximum(low, model.joints.lower)
    high = model.joints.upper if high is None else np.minimum(high, model.joints.upper)
    check_frames(model, root, q, reference=reference, low=low, high=high, pinned=pinned)
    check_anchors(model, len(q), anchors)
    check_environment(len(q), obstacles.environment)
    check_settings(weights)
    low, high = (np.ascontiguousarray(np.where(pinned[:, None], q, bound)) for bound in (low, high))
    order = np.lexsort((anchors.frame, anchors.digit))
    ordered = Anchors(
        *(np.ascontiguousarray(column[order], dtype=np.int64) for column in anchors[:3]),
        *(np.ascontiguousarray(column[order], dtype=np.float64) for column in anchors[3:]),
    )
    problem = make_problem(
        model,
        ordered,
        around=motion_around(model, len(q), obstacles, weights.num_samples),
        reference=np.ascontiguousarray(np.broadcast_to(reference, q.shape)).copy(),
        low=low,
        high=high,
        weights=weights,
    )
    free = problem.rig.table.free
    owned = free[free >= 0]
    q[:, owned] = np.clip(q, low, high)[:, owned]
    links = motion_links(model, root, q)
    cost, iterations = solve_motions(problem, links, q, pinned)
    # A digit that was solved early may hold followers of one that was solved late.
    follows = np.flatnonzero(model.joints.leader >= 0)
    leaders = model.joints.leader[follows]
    q[:, follows] = model.joints.ratio[follows] * q[:, leaders] + model.joints.bias[follows]
    if not np.isfinite(q).all():
        raise InvalidValueError(
            f"Hand '{model.name}': smoothing ended with NaN. Use weights nearer to the defaults; "
            f"given were {weights}."
        )
    unsorted = np.zeros(len(order))
    unsorted[order] = np.linalg.norm(anchor_misses(ordered, motion_links(model, root, q)), axis=-1)
    return SmoothResult(q, unsorted, cost, int(iterations))
