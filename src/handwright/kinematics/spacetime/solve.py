"""Levenberg-Marquardt for the motion of one digit after the other, over all frames at once."""

from __future__ import annotations

import numpy as np

from handwright.kernels.decorators import inlined, kernel
from handwright.kinematics.ik.digit import count_of, place_digit
from handwright.kinematics.ik.digit_table import DigitTable
from handwright.kinematics.ik.workspace import DigitWorkspace
from handwright.kinematics.spacetime.band import Band, bounded_step, solve_factor
from handwright.kinematics.spacetime.terms import (
    MotionProblem,
    Slopes,
    fill_band,
    fill_bend,
    keep_skins,
    motion_cost,
    put_digit,
    remember_anchors,
    take_parents,
)
from handwright.kinematics.tree import Links, Tree

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
    free: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    digit: int,
    q: np.ndarray,
    before: np.ndarray,
    step: np.ndarray,
) -> float:
    """Moves ``q`` from ``before`` by a step; returns the longest part, rad."""
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
    links: Links,
    digit: int,
    q: np.ndarray,
    gradients: Slopes,
    band: Band,
    longest: float,
) -> None:
    """Bends the step so that anchored points, whose paths are not straight, stay in place.

    Anchors weigh a million times as much as the rest: without this a step along what they leave
    free could be no longer than their bend allows. The factor of the step serves again, and the
    skin is not looked at, so it costs little. ``q`` and the links must be at the end of the step.
    """
    free = problem.table.free
    size = q.shape[0] * count_of(free, digit)
    fill_bend(free, problem.anchors, problem.first, links, digit, gradients, band)
    solve_factor(band, size, band.extra)
    most = 0.0
    for u in range(size):
        most = max(most, abs(band.extra[u]))
    if most <= _MOST_CORRECTION * longest:
        for u in range(size):
            band.step[u] += band.extra[u]


@kernel
def _place(
    tree: Tree, table: DigitTable, links: Links, digit: int, q: np.ndarray, now: Links
) -> None:
    for frame in range(q.shape[0]):
        take_parents(tree, table.chain, links, digit, frame, now)
        place_digit(tree, table, now, digit, q[frame])
        put_digit(table.chain, now, links, digit, frame)


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
    problem: MotionProblem,
    links: Links,
    digit: int,
    q: np.ndarray,
    pull: np.ndarray,
    gradients: Slopes,
    now: Links,
    work: DigitWorkspace,
    band: Band,
    before: np.ndarray,
) -> tuple[float, float, int]:
    """Moves one digit to the least cost of its motion within the bounds.

    Args:
        problem: The problem.
        links: Stacked and placed for ``q``; again placed afterwards.
        digit: Which.
        q: (T, J) within the bounds, rad.
        pull: (N, 3) how far beyond its target each anchor is pulled, m.
        gradients: Room.
        now: Room for the links of one frame.
        work: Room for 2 T frames.
        band: Room for T times the digit's free joints, with a guess of those that are held.
        before: (T, N) room.

    Returns:
        The cost, the cost at the start, and the number of evaluations.
    """
    weights, num_frames = problem.weights, q.shape[0]
    free, low, high = problem.table.free, problem.low, problem.high
    size = num_frames * count_of(problem.table.free, digit)
    cost, soft, promise, damping = np.inf, 0.0, np.inf, weights.damping
    half, iteration, failures = 1, 0, 0
    mark, marked = np.inf, 0
    longest, radius, at_start = 0.0, _FIRST_STEP, np.inf
    while True:
        iteration += 1
        trial, trial_soft = motion_cost(problem, links, digit, q, pull, now, work, 1 - half, cost)
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
            fill_band(problem, digit, q, work, half, band)
            keep_skins(problem, links, digit, now, work)
            remember_anchors(
                problem.tree, problem.table, problem.anchors, problem.first, links, digit,
                gradients, now,
            )  # fmt: skip
        else:
            failures += 1
        least = weights.tolerance * soft + _NOTHING
        is_over = iteration >= weights.max_iterations
        if iteration - marked >= _PATIENCE:
            is_over = is_over or mark - cost < least
            mark, marked = cost, iteration
        least *= _SMALL_SHARE
        promise, is_exact, damping = _propose(band, size, damping, least)
        longest = _take_step(free, low, high, digit, q, before, band.step)
        # After a refused step the damping makes promises small: they say nothing then.
        is_settled = is_better and is_exact and promise <= least
        while not is_settled and longest > radius and damping <= _MOST_DAMPING:
            promise, _, damping = _propose(band, size, _RISE * damping, least)
            longest = _take_step(free, low, high, digit, q, before, band.step)
        if is_settled and longest < _SHORT_STEP:
            cost -= promise
            break
        if is_over or is_settled or damping > _MOST_DAMPING:
            for u in range(size):
                band.step[u] = 0.0
            _take_step(free, low, high, digit, q, before, band.step)
            break
        if problem.first[digit, 0] < problem.first[digit, num_frames]:
            _place(problem.tree, problem.table, links, digit, q, now)
            _correct_step(problem, links, digit, q, gradients, band, longest)
            _take_step(free, low, high, digit, q, before, band.step)
    _place(problem.tree, problem.table, links, digit, q, now)
    return cost, at_start, iteration
