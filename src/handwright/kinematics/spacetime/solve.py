"""Levenberg-Marquardt for the motion of one digit after the other, over all frames at once."""

from __future__ import annotations

import numpy as np

from handwright.kernels.decorators import inlined, kernel
from handwright.kinematics.ik.digit import place_digit
from handwright.kinematics.ik.digit_table import count_of
from handwright.kinematics.spacetime.band import Band, bounded_step, solve_factor
from handwright.kinematics.spacetime.terms import (
    Motion,
    MotionProblem,
    MotionWorkspace,
    fill_band,
    fill_bend,
    keep_skins,
    motion_cost,
    put_digit,
    remember_anchors,
    take_parents,
)

_MOST_DAMPING = 1e6
# A longer step is not taken untested: what it leaves out is no longer small.
_SHORT_STEP = 1e-3
# The longest step that is tried at first, rad: skin that a longer one takes into the object, or
# through it, is not seen beforehand. Steps grow while they keep their promises; after one that
# fails they are shorter by this share.
_FIRST_STEP, _SHORTER = 0.2, 0.5
_LONGER, _KEPT = 2.0, 0.5
# A correction that is not much shorter than the step itself says that the step is too long.
_MOST_CORRECTION = 0.5
# Early steps need not know exactly which joints stop at a bound; a last step must.
_ROUNDS, _MOST_ROUNDS = 5, 50
_RISE = 5.0
# After so many evaluations the fall of the cost is looked at; a single step must promise this
# share of it to be worth trying.
_PATIENCE, _SMALL_SHARE = 4, 0.05
# Costs below this, m^2, are rounding: a tenth of a micrometre at a single contact.
_NOTHING = 1e-14


@kernel
def _take_step(
    problem: MotionProblem, digit: int, q: np.ndarray, before: np.ndarray, step: np.ndarray
) -> float:
    """Moves ``q`` from ``before`` by a step; returns the longest part, rad."""
    free, low, high = problem.rig.table.free, problem.low, problem.high
    count = count_of(free, digit)
    longest = 0.0
    for frame in range(q.shape[0]):
        for a in range(count):
            joint, change = free[digit, a], step[frame * count + a]
            longest = max(longest, abs(change))
            # Rounding must not carry a joint over the bound that it was stopped at.
            moved = max(before[frame, a] + change, low[frame, joint])
            q[frame, joint] = min(moved, high[frame, joint])
    return longest


@kernel
def _correct_step(
    problem: MotionProblem,
    motion: Motion,
    digit: int,
    room: MotionWorkspace,
    band: Band,
    longest: float,
) -> None:
    """Bends the step so that anchored points, whose paths are not straight, stay in place.

    Anchors weigh a million times as much as the rest: without this a step along what they leave
    free could be no longer than their bend allows. The factor of the step serves again, and the
    skin is not looked at, so it costs little. The motion must be at the end of the step.
    """
    size = motion.q.shape[0] * count_of(problem.rig.table.free, digit)
    fill_bend(problem, motion.links, digit, room, band)
    solve_factor(band, size, band.extra)
    most = 0.0
    for u in range(size):
        most = max(most, abs(band.extra[u]))
    if most <= _MOST_CORRECTION * longest:
        for u in range(size):
            band.step[u] += band.extra[u]


@kernel
def _place(problem: MotionProblem, motion: Motion, digit: int, room: MotionWorkspace) -> None:
    tree, chain, now = problem.rig.tree, problem.rig.table.chain, room.now
    for frame in range(motion.q.shape[0]):
        take_parents(tree, chain, motion.links, digit, frame, now)
        place_digit(problem.rig, now, digit, motion.q[frame])
        put_digit(chain, now, motion.links, digit, frame)


@kernel
def _copy_own(free: np.ndarray, digit: int, q: np.ndarray, before: np.ndarray) -> None:
    for frame in range(q.shape[0]):
        for a in range(count_of(free, digit)):
            before[frame, a] = q[frame, free[digit, a]]


@kernel
def _propose(band: Band, size: int, damping: float, least: float) -> tuple[float, bool, float]:
    """Finds a step that lowers the quadratic; returns its promise, its exactness, the damping."""
    rounds = _ROUNDS
    while True:
        promise, is_exact, _ = bounded_step(band, size, damping, rounds)
        if not is_exact and promise <= least and rounds < _MOST_ROUNDS:
            rounds = _MOST_ROUNDS
            continue
        if promise >= 0.0 or damping > _MOST_DAMPING:
            return promise, is_exact, damping
        damping *= _RISE


@inlined
def _next_damping(damping: float, share: float, failures: int) -> float:
    """Damping after a step, from the share of its promise that it kept."""
    if share < 0.0:
        return damping * (_RISE if failures == 0 else _RISE * _RISE)
    if share > 0.7:
        # Right after a failure a longer step would only fail again.
        return damping * (0.2 if failures == 0 else 0.7)
    return damping * 3.0 if share < 0.2 else damping


@kernel
def solve_motion(
    problem: MotionProblem, motion: Motion, digit: int, room: MotionWorkspace, band: Band
) -> tuple[float, float, int]:
    """Moves one digit to the least cost of its motion within the bounds.

    Args:
        problem: The problem.
        motion: Within the bounds, with links placed; they are again placed afterwards.
        digit: Which.
        room: Scratch memory.
        band: Room for T times the digit's free joints, with a guess of those that are held.

    Returns:
        The cost, the cost at the start, and the number of evaluations.
    """
    q, links, before = motion.q, motion.links, room.before
    weights, num_frames = problem.weights, q.shape[0]
    free = problem.rig.table.free
    size = num_frames * count_of(free, digit)
    cost, soft, promise, damping = np.inf, 0.0, np.inf, weights.damping
    half, iteration, failures = 1, 0, 0
    mark, marked = np.inf, 0
    longest, radius, at_start = 0.0, _FIRST_STEP, np.inf
    while True:
        iteration += 1
        trial, trial_soft = motion_cost(problem, motion, digit, room, 1 - half, cost)
        is_better = trial < cost
        if iteration > 1:
            share = (cost - trial) / promise if is_better else -1.0
            damping = _next_damping(damping, share, failures)
            if not is_better:
                radius = _SHORTER * longest
            elif share > _KEPT:
                radius = max(radius, _LONGER * longest)
        else:
            at_start = trial
        if is_better:
            half, failures = 1 - half, 0
            cost, soft = trial, trial_soft
            _copy_own(free, digit, q, before)
            fill_band(problem, digit, q, room.equations, half, band)
            keep_skins(problem, links, digit, room)
            remember_anchors(problem, links, digit, room)
        else:
            failures += 1
        least = weights.tolerance * soft + _NOTHING
        is_over = iteration >= weights.max_iterations
        if iteration - marked >= _PATIENCE:
            is_over = is_over or mark - cost < least
            mark, marked = cost, iteration
        least *= _SMALL_SHARE
        promise, is_exact, damping = _propose(band, size, damping, least)
        longest = _take_step(problem, digit, q, before, band.step)
        # After a refused step the damping makes promises small: they say nothing then.
        is_settled = is_better and is_exact and promise <= least
        while not is_settled and longest > radius and damping <= _MOST_DAMPING:
            promise, _, damping = _propose(band, size, _RISE * damping, least)
            longest = _take_step(problem, digit, q, before, band.step)
        if is_settled and longest < _SHORT_STEP:
            cost -= promise
            break
        if is_over or is_settled or damping > _MOST_DAMPING:
            for u in range(size):
                band.step[u] = 0.0
            _take_step(problem, digit, q, before, band.step)
            break
        if problem.first[digit, 0] < problem.first[digit, num_frames]:
            _place(problem, motion, digit, room)
            _correct_step(problem, motion, digit, room, band, longest)
            _take_step(problem, digit, q, before, band.step)
    _place(problem, motion, digit, room)
    return cost, at_start, iteration
