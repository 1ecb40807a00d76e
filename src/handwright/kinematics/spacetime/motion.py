"""Smooth motion of digits through given contacts: spacetime optimisation.

With the wrist given, digits share no joint, so each digit is a problem of its own over all
frames (Ye & Liu 2012, equations 9 to 11): smooth joint values, evenly bent, with contacts held
and the skin kept out of the object, the surroundings and the other digits. Its normal equations
are banded, so that a step costs as much as a few hundred small ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.geometry.distance.environment import EnvironmentArrays, pack_environment
from handwright.geometry.distance.sdf import Field
from handwright.kernels.packed import Packed
from handwright.kinematics.fk import link_poses
from handwright.kinematics.ik.digit import IkWeights
from handwright.kinematics.ik.digit_table import digit_table
from handwright.kinematics.ik.workspace import DigitWorkspace, work_for
from handwright.kinematics.obstacles import Around, no_object, seen_over
from handwright.kinematics.skin.memory import make_skin_memory
from handwright.kinematics.skin.samples import SkinSamples, no_samples, skin_samples
from handwright.kinematics.spacetime.band import make_band
from handwright.kinematics.spacetime.checks import check_motion
from handwright.kinematics.spacetime.solve import solve_motion
from handwright.kinematics.spacetime.terms import (
    Anchors,
    MotionProblem,
    Slopes,
    SpacetimeWeights,
    motion_cost,
)
from handwright.kinematics.tree import Links, tree_of
from handwright.math.pose import Pose

# A digit is solved again if that, or the others, have changed its cost by more than this share.
_STIRRED = 0.01
# Axes of flexion along a digit are parallel but for a few degrees.
_PARALLEL = 0.9


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
    num_frames: int,
    anchors: Anchors,
    *,
    around: Around,
    reference: Float[np.ndarray, "T J"],
    low: Float[np.ndarray, "T J"],
    high: Float[np.ndarray, "T J"],
    weights: SpacetimeWeights,
) -> MotionProblem:
    """Packs a problem for the kernels; ``anchors`` must be sorted by digit and frame."""
    keys = anchors.digit * num_frames + anchors.frame
    starts = np.arange(len(model.digits))[:, None] * num_frames + np.arange(num_frames + 1)
    bend, bias = bending_rows(model)
    return MotionProblem(
        tree_of(model),
        digit_table(model),
        around,
        anchors,
        np.searchsorted(keys, starts),
        reference,
        low,
        high,
        bend,
        bias,
        weights,
        IkWeights(digits=weights.digits, digit_margin=weights.digit_margin),
    )


def frame_links(problem: MotionProblem) -> Links:
    """Room for the links of one frame."""
    count = problem.low.shape[1]
    return Links(np.zeros((count + 1, 3, 3)), np.zeros((count + 1, 3)), np.zeros((count, 3)))


def motion_work(problem: MotionProblem, links: Links) -> DigitWorkspace:
    """Room for the normal equations of one digit at all frames, at two motions.

    Args:
        problem: The problem.
        links: Placed, (T, ...); no skin has been looked at there.
    """
    num_frames, n = len(problem.low), problem.table.free.shape[1]
    samples = problem.around.samples
    skin = make_skin_memory(samples, num_frames)
    skin.rotation[:] = links.rotation[:, samples.carrier]
    skin.position[:] = links.position[:, samples.carrier]
    return work_for(2 * num_frames, n, skin)


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
    model: HandModel,
    num_frames: int,
    field: Field | None,
    environment: EnvironmentArrays | None,
    samples: SkinSamples | None,
    num_samples: int,
) -> Around:
    """Object and surroundings over all frames, for the kernels."""
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
    sweeps: int,
) -> tuple[Float[np.ndarray, " D"], int]:
    """Smooths digit after digit, each seeing how the others move; ``q`` and links are written.

    Returns:
        The cost of each digit, and the number of evaluations.
    """
    table, anchors, weights = problem.table, problem.anchors, problem.weights
    num_frames, num_digits = len(q), len(table.free)
    num_free = max(1, int((table.free >= 0).sum(axis=1).max(initial=0)))
    num_anchors = len(anchors.digit)
    band = make_band(num_frames * num_free, 2 * num_free)
    bands = [Packed(band._replace(held=np.zeros_like(band.held))) for _ in range(num_digits)]
    pull = np.zeros((num_anchors, 3))
    room = (
        Packed(Slopes(np.zeros((num_anchors, 3)), np.zeros((num_anchors, num_free, 3)))),
        Packed(frame_links(problem)),
        Packed(motion_work(problem, links)),
    )
    given, moved = Packed(problem), Packed(links)
    before = np.zeros((num_frames, num_free))
    cost, total = np.zeros(num_digits), 0
    is_hard = (anchors.weight >= weights.hard) & ~pinned[anchors.frame]
    # Digits with fewer contacts go first: they make room, and have it when the others are solved.
    turns = np.argsort(np.bincount(anchors.digit, minlength=num_digits), kind="stable")
    # Cost of each digit, pulls included, when solving it again no longer lowered it.
    settled = np.full(num_digits, -np.inf)
    for _ in range(sweeps):
        is_over = True
        for digit in turns:
            if settled[digit] > -np.inf:
                now, _ = motion_cost(given, moved, digit, q, pull, *room[1:], 0, np.inf)
                if now <= (1.0 + _STIRRED) * settled[digit]:
                    continue
            is_over = False
            own, first = slice(problem.first[digit, 0], problem.first[digit, -1]), np.inf
            for attempt in range(weights.pulls + 1):
                cost[digit], at_start, evaluations = solve_motion(
                    given, moved, digit, q, pull, *room, bands[digit], before
                )
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
    field: Field | None = None,
    environment: EnvironmentArrays | None = None,
    reference: Float[np.ndarray, "*T J"] | None = None,
    low: Float[np.ndarray, "T J"] | None = None,
    high: Float[np.ndarray, "T J"] | None = None,
    pinned: Bool[np.ndarray, " T"] | None = None,
    weights: SpacetimeWeights | None = None,
    samples: SkinSamples | None = None,
    sweeps: int = 4,
) -> SmoothResult:
    """Makes the motion of the digits smooth, through their contacts and out of everything else.

    Args:
        model: The hand.
        root: (T,) poses of the hand's root in the frame of the object.
        q: Joint values to start from, rad. Joints outside the digits stay as they are, followers
            go with their leaders, and values outside the bounds are brought inside.
        anchors: Contacts and hints, in any order.
        field: Signed distances of the object; None if there is none.
        environment: Surroundings in the frame of the object, from ``seen_over``.
        reference: Preferred joint values, rad, at each frame or at all; ``q`` by default.
        low: Lower bounds, rad, besides the joint limits. Those of followers are not looked at.
        high: Upper bounds likewise; equal to ``low`` where a joint is fixed.
        pinned: Frames that must stay as they are, such as joins.
        weights: Weights of the objective.
        samples: Skin points; those of ``skin_samples(model)`` by default.
        sweeps: How often the digits are gone through at most, so that they give way to each other.
    """
    weights = SpacetimeWeights() if weights is None else weights
    # One layout, so that the kernels are compiled once.
    q = np.array(q, dtype=np.float64, order="C")
    num_frames = len(q)
    pinned = np.zeros(num_frames, dtype=np.bool_) if pinned is None else np.asarray(pinned)
    reference = q if reference is None else np.asarray(reference, dtype=np.float64)
    low = model.joints.lower if low is None else np.maximum(low, model.joints.lower)
    high = model.joints.upper if high is None else np.minimum(high, model.joints.upper)
    check_motion(
        model, root, q, anchors, reference, low, high, pinned, environment, weights, sweeps
    )
    low, high = (np.ascontiguousarray(np.where(pinned[:, None], q, bound)) for bound in (low, high))
    order = np.lexsort((anchors.frame, anchors.digit))
    ordered = Anchors(
        *(np.ascontiguousarray(column[order], dtype=np.int64) for column in anchors[:3]),
        *(np.ascontiguousarray(column[order], dtype=np.float64) for column in anchors[3:]),
    )
    problem = make_problem(
        model,
        num_frames,
        ordered,
        around=motion_around(model, num_frames, field, environment, samples, weights.num_samples),
        reference=np.ascontiguousarray(np.broadcast_to(reference, q.shape)).copy(),
        low=low,
        high=high,
        weights=weights,
    )
    owned = problem.table.free[problem.table.free >= 0]
    q[:, owned] = np.clip(q, low, high)[:, owned]
    links = motion_links(model, root, q)
    cost, iterations = solve_motions(problem, links, q, pinned, sweeps)
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
