"""The objective of one digit's motion over all frames, with its banded normal equations.

Written out in docs/derivations/spacetime.md. Everything is in the frame of the object.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.kernels.decorators import inlined, kernel, linked
from handwright.kinematics.ik.digit import add_point, digit_terms, place_digit, point_velocities
from handwright.kinematics.ik.digit_table import Rig, count_of
from handwright.kinematics.ik.problem import DigitWorkspace, IkWeights
from handwright.kinematics.obstacles import Around, environment_at
from handwright.kinematics.skin.memory import keep_skin
from handwright.kinematics.skin.terms import skin_terms
from handwright.kinematics.spacetime.band import Band
from handwright.kinematics.tree import Links, Tree, placed_row
from handwright.math.vec3 import Vec3, minus, row3


class Anchors(NamedTuple):
    """Points of the hand that should be somewhere at some frame; several a digit and frame."""

    digit: np.ndarray
    """(N,)"""
    frame: np.ndarray
    """(N,)"""
    link: np.ndarray
    """(N,) one of the digit's links."""
    local: np.ndarray
    """(N, 3) the point in the link's frame, m."""
    target: np.ndarray
    """(N, 3) in the object's frame, m."""
    weight: np.ndarray
    """(N,) of squared distances: 1 for a contact, little for a hint such as an arc in the air."""


class SpacetimeWeights(NamedTuple):
    """Weights of the objective and settings of the search; lengths in metres, angles in radians."""

    acceleration: float = 1e-6
    """Of squared second differences of joint values, rad per frame^2: equation (10)."""
    coupling: float = 1e-9
    """Of squared unevenness of bending along a digit, rad: equation (11)."""
    posture: float = 1e-9
    """Of squared distances of joint values from the reference, rad."""
    object: float = 0.3
    """Of squared depths of skin points in the object."""
    environment: float = 0.3
    """Of squared depths of skin points in the surroundings."""
    digits: float = 0.3
    """Of squared overlaps of capsules with those of other digits."""
    object_margin: float = 0.0
    """Clearance of the skin from object and surroundings, m; negative lets it sink in."""
    digit_margin: float = -1e-3
    """Clearance between digits, m; negative allows as much overlap."""
    num_samples: int = 60
    """Skin points that are looked at for each capsule, at most; 0 to look at none."""
    num_object_capsules: int = 16
    """How many capsules of a digit keep out of object and surroundings, counted from the tip."""
    hard: float = 0.5
    """Anchors of this weight or more are contacts, which must be met."""
    anchor_tolerance: float = 1e-5
    """A contact that misses by more, m, is pulled harder."""
    most_pull: float = 3e-4
    """How far beyond its target a contact may be pulled at most, m."""
    pulls: int = 4
    """How often at most."""
    max_iterations: int = 40
    """For each digit, sweep and pull."""
    sweeps: int = 4
    """How often the digits are gone through at most, so that they give way to each other."""
    tolerance: float = 0.02
    """The search ends when some evaluations lower the cost by less than this share of the costs of
    acceleration, coupling and posture."""
    damping: float = 1e-4
    """Of the first iteration, relative to the diagonal of the normal equations."""


class MotionProblem(NamedTuple):
    """What the motion of a hand is judged by, in the form that numba takes."""

    rig: Rig
    around: Around
    """The arrays of its surroundings, but for sizes and frictions, have a leading frame axis."""
    anchors: Anchors
    """Sorted by digit and frame."""
    first: np.ndarray
    """(D, T + 1) rows first[d, t] to first[d, t + 1] are the anchors of a digit and frame."""
    reference: np.ndarray
    """(T, J) rad."""
    low: np.ndarray
    """(T, J) rad."""
    high: np.ndarray
    """(T, J) rad."""
    bend: np.ndarray
    """(D, N) unevenness of bending is ``bend . free joints + bend_bias``."""
    bend_bias: np.ndarray
    """(D,)"""
    weights: SpacetimeWeights
    ik: IkWeights
    """The weights again, for the terms that are shared with inverse kinematics."""


class Motion(NamedTuple):
    """The motion of a hand, which kernels change digit by digit."""

    q: np.ndarray
    """(T, J) rad; followers are set when a digit is placed."""
    links: Links
    """Stacked, (T, ...)."""
    pull: np.ndarray
    """(N, 3) how far beyond its target each anchor is pulled, m."""


class MotionWorkspace(NamedTuple):
    """Room for the smoothing of one digit after the other."""

    equations: DigitWorkspace
    """For 2 T poses: row ``half * T + t`` is frame t of one of two motions."""
    now: Links
    """Links of one frame, in the form that other kernels are compiled for."""
    before: np.ndarray
    """(T, F) free joints of the digit at the start of a step, rad."""
    miss: np.ndarray
    """(N, 3) how far anchored points were from their targets then, m."""
    velocity: np.ndarray
    """(N, F, 3) how they moved then by the free joints of their digits, m."""


@inlined
def take_links(links: Links, frame: int, now: Links) -> None:
    """Copies one frame of stacked links, in which form other kernels are compiled for them."""
    for link in range(now.position.shape[0]):
        _take_link(links, frame, now, link)
    for joint in range(now.axis.shape[0]):
        for i in range(3):
            now.axis[joint, i] = links.axis[frame, joint, i]


@inlined
def _take_link(links: Links, frame: int, now: Links, link: int) -> None:
    for i in range(3):
        now.position[link, i] = links.position[frame, link, i]
        for j in range(3):
            now.rotation[link, i, j] = links.rotation[frame, link, i, j]


@inlined
def take_parents(
    tree: Tree, chain: np.ndarray, links: Links, digit: int, frame: int, now: Links
) -> None:
    """Copies what a digit is placed from."""
    for n in range(count_of(chain, digit)):
        _take_link(links, frame, now, tree.parent[chain[digit, n]])


@inlined
def put_digit(chain: np.ndarray, now: Links, links: Links, digit: int, frame: int) -> None:
    """Copies the links of a digit back."""
    for n in range(count_of(chain, digit)):
        joint = chain[digit, n]
        link = joint + 1
        for i in range(3):
            links.axis[frame, joint, i] = now.axis[joint, i]
            links.position[frame, link, i] = now.position[link, i]
            for j in range(3):
                links.rotation[frame, link, i, j] = now.rotation[link, i, j]


@inlined
def _is_pinned(problem: MotionProblem, digit: int, frame: int) -> bool:
    """Whether no joint of a digit may move at a frame."""
    free, low, high = problem.rig.table.free, problem.low, problem.high
    for a in range(count_of(free, digit)):
        joint = free[digit, a]
        if low[frame, joint] < high[frame, joint]:
            return False
    return True


@inlined
def _joint_terms(
    problem: MotionProblem, digit: int, frame: int, q: np.ndarray, work: DigitWorkspace, side: int
) -> float:
    """Sets the normal equations to those of posture and coupling; returns their cost."""
    free, reference = problem.rig.table.free, problem.reference
    bend, weights = problem.bend, problem.weights
    count = count_of(free, digit)
    uneven = problem.bend_bias[digit]
    for a in range(count):
        uneven += bend[digit, a] * q[frame, free[digit, a]]
    cost = weights.coupling * uneven * uneven
    for a in range(count):
        joint = free[digit, a]
        away = q[frame, joint] - reference[frame, joint]
        pull = weights.coupling * bend[digit, a]
        cost += weights.posture * away * away
        work.gradient[side, a] = weights.posture * away + pull * uneven
        for b in range(a + 1):
            work.matrix[side, a, b] = pull * bend[digit, b]
        work.matrix[side, a, a] += weights.posture
    return cost


@inlined
def _anchored_point(anchors: Anchors, links: Links, row: int) -> Vec3:
    """Where an anchored point is, m."""
    frame = anchors.frame[row]
    one = Links(links.rotation[frame], links.position[frame], links.axis[frame])
    return placed_row(one, anchors.link[row], anchors.local, row)


@kernel
def remember_anchors(
    problem: MotionProblem, links: Links, digit: int, room: MotionWorkspace
) -> None:
    """Writes misses and velocities of a digit's anchors, where the links are now."""
    anchors, first, miss = problem.anchors, problem.first, room.miss
    for row in range(first[digit, 0], first[digit, first.shape[1] - 1]):
        point = _anchored_point(anchors, links, row)
        miss[row, 0], miss[row, 1], miss[row, 2] = minus(point, row3(anchors.target, row))
        take_links(links, anchors.frame[row], room.now)
        velocity = room.velocity[row]
        point_velocities(problem.rig, room.now, digit, anchors.link[row], point, velocity)


@kernel
def fill_bend(
    problem: MotionProblem, links: Links, digit: int, room: MotionWorkspace, band: Band
) -> None:
    """Writes into ``band.extra`` what the bend of the anchors' paths along a step asks to undo.

    The bend is what the misses changed by, less what their velocities say: the links are at the
    end of the step that ``band`` holds, misses and velocities are those of its start.
    """
    free, anchors, first = problem.rig.table.free, problem.anchors, problem.first
    velocity, count = room.velocity, count_of(free, digit)
    num_frames = first.shape[1] - 1
    for u in range(num_frames * count):
        band.extra[u] = 0.0
    for row in range(first[digit, 0], first[digit, num_frames]):
        start = anchors.frame[row] * count
        x, y, z = _anchored_point(anchors, links, row)
        bx = x - anchors.target[row, 0] - room.miss[row, 0]
        by = y - anchors.target[row, 1] - room.miss[row, 1]
        bz = z - anchors.target[row, 2] - room.miss[row, 2]
        for a in range(count):
            bx -= velocity[row, a, 0] * band.step[start + a]
            by -= velocity[row, a, 1] * band.step[start + a]
            bz -= velocity[row, a, 2] * band.step[start + a]
        for a in range(count):
            if band.held[start + a] == 0:
                along = velocity[row, a, 0] * bx + velocity[row, a, 1] * by
                along += velocity[row, a, 2] * bz
                band.extra[start + a] -= anchors.weight[row] * along


@kernel
def _frame_terms(
    problem: MotionProblem, motion: Motion, digit: int, frame: int, room: MotionWorkspace, side: int
) -> float:
    """Cost of anchors, skin and other digits at one frame; adds to its normal equations."""
    rig, anchors, one, work = problem.rig, problem.anchors, room.now, room.equations
    take_links(motion.links, frame, one)
    place_digit(rig, one, digit, motion.q[frame])
    put_digit(rig.table.chain, one, motion.links, digit, frame)
    cost, count = 0.0, count_of(rig.table.free, digit)
    for row in range(problem.first[digit, frame], problem.first[digit, frame + 1]):
        point = _anchored_point(anchors, motion.links, row)
        miss = minus(point, row3(anchors.target, row))
        goal = minus(minus(point, miss), row3(motion.pull, row))
        point_velocities(rig, one, digit, anchors.link[row], point, work.column)
        cost += add_point(work, side, count, minus(point, goal), anchors.weight[row])
    if problem.around.max_samples > 0:
        whole = problem.around
        world = environment_at(whole.environment, frame)
        around = Around(whole.field, world, whole.samples, whole.max_samples)
        cost += skin_terms(rig, one, digit, around, problem.ik, work, side, frame)
    if problem.weights.digits > 0.0:
        cost += digit_terms(rig, one, digit, problem.ik, work, side)
    return cost


@linked
def motion_cost(
    problem: MotionProblem,
    motion: Motion,
    digit: int,
    room: MotionWorkspace,
    half: int,
    allowed: float,
) -> tuple[float, float]:
    """Objective of one digit's motion; places the digit and writes its normal equations.

    Frames in which nothing may move count with their accelerations only. Other digits must be
    placed. The equations of frame t go to row ``half * T + t``, with 0 or 1 as ``half``. A cost
    that is seen to reach ``allowed`` is infinite; the rest is then not computed.

    Returns:
        The cost, and the part of it that acceleration, coupling and posture have.
    """
    free, weights, work = problem.rig.table.free, problem.weights, room.equations
    q = motion.q
    num_frames, count = q.shape[0], count_of(free, digit)
    start = half * num_frames
    cost = soft = 0.0
    for frame in range(num_frames):
        if _is_pinned(problem, digit, frame):
            for a in range(count):
                work.gradient[start + frame, a] = 0.0
                for b in range(a + 1):
                    work.matrix[start + frame, a, b] = 0.0
        else:
            soft += _joint_terms(problem, digit, frame, q, work, start + frame)
            cost += _frame_terms(problem, motion, digit, frame, room, start + frame)
            if cost + soft >= allowed:
                return np.inf, soft
    for a in range(count):
        joint = free[digit, a]
        for frame in range(1, num_frames - 1):
            bent = q[frame + 1, joint] - 2.0 * q[frame, joint] + q[frame - 1, joint]
            soft += weights.acceleration * bent * bent
            bent *= weights.acceleration
            work.gradient[start + frame - 1, a] += bent
            work.gradient[start + frame, a] -= 2.0 * bent
            work.gradient[start + frame + 1, a] += bent
    return cost + soft, soft


@kernel
def keep_skins(problem: MotionProblem, links: Links, digit: int, room: MotionWorkspace) -> None:
    """Keeps the motion of a digit at which its skin has just been looked at."""
    samples, skin = problem.around.samples, room.equations.skin
    for frame in range(links.position.shape[0]):
        take_links(links, frame, room.now)
        keep_skin(problem.rig.table, samples, skin, room.now, digit, frame)


@kernel
def fill_band(
    problem: MotionProblem, digit: int, q: np.ndarray, work: DigitWorkspace, half: int, band: Band
) -> None:
    """Writes matrix, gradient and bounds of a digit's step from the frames' normal equations.

    Unknown ``frame * count + a`` is the change of the digit's a-th free joint.
    """
    free, low, high = problem.rig.table.free, problem.low, problem.high
    acceleration = problem.weights.acceleration
    num_frames, count = q.shape[0], count_of(free, digit)
    for frame in range(num_frames):
        side = half * num_frames + frame
        # How the second differences around a frame couple it with itself and with the next two.
        own = after = later = 0.0
        for middle in range(max(1, frame - 1), min(num_frames - 1, frame + 2)):
            own += 4.0 if middle == frame else 1.0
            if middle == frame:
                after -= 2.0
            elif middle > frame:
                after -= 2.0
                later += 1.0
        for a in range(count):
            u, joint = frame * count + a, free[digit, a]
            for k in range(band.matrix.shape[1]):
                band.matrix[u, k] = 0.0
            for b in range(a, count):
                band.matrix[u, b - a] = work.matrix[side, b, a]
            band.matrix[u, 0] += own * acceleration
            band.matrix[u, count] += after * acceleration
            band.matrix[u, 2 * count] += later * acceleration
            band.gradient[u] = work.gradient[side, a]
            band.low[u] = min(low[frame, joint] - q[frame, joint], 0.0)
            band.high[u] = max(high[frame, joint] - q[frame, joint], 0.0)
