"""Levenberg-Marquardt for the motion of one digit after the other, over all frames at once."""

from __future__ import annotations

import numpy as np

from handwright.kinematics.digit_ik import Work, count_of, place_digit
from handwright.kinematics.spacetime_band import Band, bounded_step, solve_factor, with_held
from handwright.kinematics.spacetime_terms import (
    MotionProblem,
    SkinMemory,
    Slopes,
    anchor_miss,
    fill_band,
    fill_bend,
    is_pinned,
    links_at,
    motion_cost,
    remember_anchors,
)
from handwright.kinematics.tree import Links, forward
from handwright.math.compiled import inlined, kernel

_MOST_DAMPING = 1e6
# A longer step is not taken untested: what it leaves out is no longer small.
_SHORT_STEP = 1e-3
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
    problem: MotionProblem, digit: int, q: np.ndarray, before: np.ndarray, band: Band
) -> float:
    """Moves ``q`` from ``before`` by the step of the band; returns the longest part, rad."""
    count = count_of(problem.table.free, digit)
    longest = 0.0
    for frame in range(q.shape[0]):
        for a in range(count):
            joint, step = problem.table.free[digit, a], band.step[frame * count + a]
            longest = max(longest, abs(step))
            # Rounding must not carry a joint over the bound that it was stopped at.
            low, high = problem.low[frame, joint], problem.high[frame, joint]
            q[frame, joint] = min(max(before[frame, a] + step, low), high)
    return longest


@kernel
def _correct_step(
    problem: MotionProblem,
    links: Links,
    digit: int,
    q: np.ndarray,
    slopes: Slopes,
    band: Band,
    longest: float,
) -> None:
    """Bends the step so that anchored points, whose paths are not straight, stay in place.

    Anchors weigh a million times as much as the rest: without this a step along what they leave
    free could be no longer than their bend allows. The factor of the step serves again, and the
    skin is not looked at, so it costs little. ``q`` and the links must be at the end of the step.
    """
    size = q.shape[0] * count_of(problem.table.free, digit)
    fill_bend(problem, links, digit, slopes, band)
    solve_factor(band, size, band.extra)
    most = 0.0
    for u in range(size):
        most = max(most, abs(band.extra[u]))
    if most <= _MOST_CORRECTION * longest:
        for u in range(size):
            band.step[u] += band.extra[u]


@kernel
def _place(problem: MotionProblem, links: Links, digit: int, q: np.ndarray) -> None:
    for frame in range(q.shape[0]):
        place_digit(problem.tree, problem.table, links_at(links, frame), digit, q[frame])


@kernel
def _accept(
    problem: MotionProblem,
    links: Links,
    digit: int,
    q: np.ndarray,
    slopes: Slopes,
    work: Work,
    half: int,
    band: Band,
    before: np.ndarray,
) -> None:
    """Makes ``q``, just evaluated, the start of the next step."""
    for frame in range(q.shape[0]):
        for a in range(count_of(problem.table.free, digit)):
            before[frame, a] = q[frame, problem.table.free[digit, a]]
    fill_band(problem, digit, q, work, half, band)
    remember_anchors(problem, links, digit, slopes)


@kernel
def _propose(band: Band, size: int, damping: float, least: float) -> tuple[float, bool, float]:
    """Finds a step that lowers the quadratic; returns its promise, its exactness, the damping."""
    while True:
        promise, is_exact, _ = bounded_step(band, size, damping, _ROUNDS)
        if not is_exact and promise <= least:
            promise, is_exact, _ = bounded_step(band, size, damping, _MOST_ROUNDS)
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
    slopes: Slopes,
    memory: SkinMemory,
    work: Work,
    band: Band,
    before: np.ndarray,
) -> tuple[float, int]:
    """Moves one digit to the least cost of its motion within the bounds.

    Args:
        problem: The problem.
        links: Stacked and placed for ``q``; again placed afterwards.
        digit: Which.
        q: (T, J) within the bounds, rad.
        pull: (N, 3) how far beyond its target each anchor is pulled, m.
        slopes: Room.
        memory: Of the skin.
        work: Room for 2 T frames.
        band: Room for T times the digit's free joints, with a guess of those that are held.
        before: (T, N) room.

    Returns:
        The cost, and the number of evaluations.
    """
    weights, num_frames = problem.weights, q.shape[0]
    size = num_frames * count_of(problem.table.free, digit)
    cost, soft, promise, damping = np.inf, 0.0, np.inf, weights.damping
    half, iteration, failures = 1, 0, 0
    mark, marked = np.inf, 0
    while True:
        iteration += 1
        trial, trial_soft = motion_cost(problem, links, digit, q, pull, memory, work, 1 - half)
        is_better = trial < cost
        if iteration > 1:
            share = (cost - trial) / promise if is_better else -1.0
            damping = _next_damping(damping, share, failures)
        if is_better:
            half, failures = 1 - half, 0
            cost, soft = trial, trial_soft
            _accept(problem, links, digit, q, slopes, work, half, band, before)
        else:
            failures += 1
        least = weights.tolerance * soft + _NOTHING
        is_over = iteration >= weights.max_iterations
        if iteration - marked >= _PATIENCE:
            is_over = is_over or mark - cost < least
            mark, marked = cost, iteration
        least *= _SMALL_SHARE
        promise, is_exact, damping = _propose(band, size, damping, least)
        longest = _take_step(problem, digit, q, before, band)
        # After a refused step the damping makes promises small: they say nothing then.
        if is_better and is_exact and promise <= least and longest < _SHORT_STEP:
            cost -= promise
            break
        if is_over or damping > _MOST_DAMPING or (is_better and is_exact and promise <= least):
            for u in range(size):
                band.step[u] = 0.0
            _take_step(problem, digit, q, before, band)
            break
        if problem.first[digit, 0] < problem.first[digit, num_frames]:
            _place(problem, links, digit, q)
            _correct_step(problem, links, digit, q, slopes, band, longest)
            _take_step(problem, digit, q, before, band)
    _place(problem, links, digit, q)
    return cost, iteration


@kernel
def _pull_contacts(problem: MotionProblem, links: Links, digit: int, pull: np.ndarray) -> bool:
    """Pulls contacts of a digit that miss their targets beyond these; whether any was.

    These are the steps of the multipliers of an augmented Lagrangian, and bounded: contacts that
    cannot be met must not pull for ever.
    """
    weights, weight = problem.weights, problem.anchors.weight
    is_changed = False
    num_frames = problem.low.shape[0]
    for row in range(problem.first[digit, 0], problem.first[digit, num_frames]):
        if weight[row] < weights.hard or is_pinned(problem, digit, problem.anchors.frame[row]):
            continue
        _, _, _, mx, my, mz = anchor_miss(problem, links, row)
        miss = np.sqrt(mx * mx + my * my + mz * mz)
        # What misses by much is out of reach or in conflict: pulling would only press.
        if miss <= weights.anchor_tolerance or miss > weights.most_pull:
            continue
        x, y, z = pull[row, 0] + mx, pull[row, 1] + my, pull[row, 2] + mz
        length = np.sqrt(x * x + y * y + z * z)
        share = min(1.0, weights.most_pull / length)
        x, y, z = share * x, share * y, share * z
        moved = abs(x - pull[row, 0]) + abs(y - pull[row, 1]) + abs(z - pull[row, 2])
        is_changed = is_changed or moved > 0.1 * weights.anchor_tolerance
        pull[row, 0], pull[row, 1], pull[row, 2] = x, y, z
    return is_changed


@kernel
def _cost_of_pull(problem: MotionProblem, links: Links, digit: int, pull: np.ndarray) -> float:
    """What pulling adds to the cost of a digit."""
    total = 0.0
    for row in range(problem.first[digit, 0], problem.first[digit, problem.low.shape[0]]):
        if not is_pinned(problem, digit, problem.anchors.frame[row]):
            _, _, _, mx, my, mz = anchor_miss(problem, links, row)
            more = pull[row, 0] * (2.0 * mx + pull[row, 0])
            more += pull[row, 1] * (2.0 * my + pull[row, 1])
            more += pull[row, 2] * (2.0 * mz + pull[row, 2])
            total += problem.anchors.weight[row] * more
    return total


@kernel
def solve_motions(
    problem: MotionProblem,
    links: Links,
    q: np.ndarray,
    order: np.ndarray,
    sweeps: int,
    pull: np.ndarray,
    slopes: Slopes,
    memory: SkinMemory,
    work: Work,
    band: Band,
    held: np.ndarray,
    before: np.ndarray,
    cost: np.ndarray,
    error: np.ndarray,
) -> int:
    """Smooths digit after digit, each seeing how the others move; returns all evaluations.

    ``links`` holds the roots, ``pull`` and ``held`` (D, U) zeros, ``memory`` nothing; ``q``,
    ``links``, ``cost`` (D,) and ``error`` (N,) are written.
    """
    for frame in range(q.shape[0]):
        forward(problem.tree, q[frame], links_at(links, frame))
    total = 0
    for sweep in range(sweeps):
        is_changed = False
        for turn in range(len(order)):
            digit = order[turn]
            old = cost[digit]
            own = with_held(band, held[digit])
            for attempt in range(problem.weights.pulls + 1):
                cost[digit], evaluations = solve_motion(
                    problem, links, digit, q, pull, slopes, memory, work, own, before
                )
                total += evaluations
                if attempt < problem.weights.pulls and not _pull_contacts(
                    problem, links, digit, pull
                ):
                    break
            cost[digit] -= _cost_of_pull(problem, links, digit, pull)
            is_changed = is_changed or sweep == 0 or abs(old - cost[digit]) > 0.01 * old
        if not is_changed:
            break
    # A digit that was solved early may hold followers of one that was solved late.
    for frame in range(q.shape[0]):
        for joint in range(q.shape[1]):
            leader = problem.table.leader[joint]
            if leader >= 0:
                q[frame, joint] = (
                    problem.table.ratio[joint] * q[frame, leader] + problem.table.bias[joint]
                )
        forward(problem.tree, q[frame], links_at(links, frame))
    for row in range(len(error)):
        _, _, _, mx, my, mz = anchor_miss(problem, links, row)
        error[row] = np.sqrt(mx * mx + my * my + mz * mz)
    return total
