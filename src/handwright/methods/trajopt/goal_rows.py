"""Goals as residuals at moments of the motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from handwright.core.body import RigidBody
from handwright.core.goal import Goal
from handwright.core.problem import Problem
from handwright.math import rotation
from handwright.methods.trajopt.model import DIRECTION_GOAL, POINT_GOAL, GoalRows, Model, Samples

if TYPE_CHECKING:
    from handwright.methods.trajopt.build import HandPart

POSITION_TOLERANCE = 5e-3
"""m."""
ANGLE_TOLERANCE = 0.05
"""rad."""


def goal_samples(
    problem: Problem,
    hands: tuple[HandPart, ...],
    body: RigidBody,
    num_phases: int,
    phase_time: float,
    samples_per_phase: int,
) -> tuple[Samples, GoalRows]:
    """Moments at which costs are taken, and the goals of each.

    Costs are taken at the middles of equal parts of each phase: accelerations leap at keys. Goals
    of a moment get a sample of their own.
    """
    begin = float(problem.times[0])
    duration = num_phases * phase_time
    part = phase_time / samples_per_phase
    moments = [(begin + (n + 0.5) * part, part, True) for n in range(num_phases * samples_per_phase)]
    moments += [(t, phase_time, False) for t in sorted({g.start for g in problem.goals if g.start == g.end})]
    moments.sort()
    rows: list[tuple] = []
    columns: list[tuple] = []
    for time, weight, is_full in moments:
        first = len(rows)
        for goal in problem.goals:
            is_moment = goal.start == goal.end
            if is_moment != (not is_full):
                continue
            if goal.start - 1e-9 <= time <= goal.end + 1e-9:
                rows += _rows(goal, time, hands, body)
        since = min(time - begin, duration)
        phase = min(int(since / phase_time), num_phases - 1)
        columns.append(
            (phase, since / phase_time - phase, time - begin, weight, is_full, first, len(rows))
        )
    phases, fraction, times, weights, full, firsts, lasts = zip(*columns, strict=True)
    samples = Samples(
        phase=np.array(phases, dtype=np.int64),
        fraction=np.array(fraction),
        time=np.array(times),
        weight=np.array(weights),
        is_full=np.array(full, dtype=np.bool_),
        goal_first=np.array(firsts, dtype=np.int64),
        goal_last=np.array(lasts, dtype=np.int64),
    )
    kind, joint, local, on_body, target, weight = zip(*rows, strict=True) if rows else ((),) * 6
    return samples, GoalRows(
        kind=np.array(kind, dtype=np.int64),
        joint=np.array(joint, dtype=np.int64),
        local=np.array(local, dtype=np.float64).reshape(-1, 3),
        is_on_body=np.array(on_body, dtype=np.bool_),
        target=np.array(target, dtype=np.float64).reshape(-1, 3),
        weight=np.array(weight, dtype=np.float64),
    )


def _rows(goal: Goal, time: float, hands: tuple[HandPart, ...], body: RigidBody) -> list[tuple]:
    """Residuals of one goal at one time: a place, and three directions for an orientation."""
    feature = goal.feature
    point = np.zeros(3) if feature.point is None else np.array(feature.point)
    hand = next((h for h in hands if h.name == feature.owner), None)
    if hand is None:
        joint, turn = -1, np.eye(3)
        local = point - body.center
    else:
        frames = hand.model.frames
        link, place, turn = hand.model.wrist_link, np.zeros(3), np.eye(3)
        if feature.frame is not None:
            k = frames.index(feature.frame)
            link, place = int(frames.link[k]), frames.position[k]
            turn = rotation.to_matrix(frames.wxyz[k])
        joint, local = hand.joint_of_link(link), place + turn @ point
    is_relative = goal.relative_to is not None
    weight = np.sqrt(goal.weight)
    rows: list[tuple] = []
    if goal.position is not None:
        target = goal.position - body.center if is_relative else goal.position
        rows.append(
            (POINT_GOAL, joint, local, is_relative, target, weight / POSITION_TOLERANCE)
        )
    if goal.wxyz is not None:
        axes = rotation.to_matrix(goal.wxyz_at(np.array([time]))[0])
        # Three axes that are off by a small angle are off by its root-two-fold in all.
        stiff = weight / (np.sqrt(2.0) * ANGLE_TOLERANCE)
        rows += [
            (DIRECTION_GOAL, joint, turn[:, i], is_relative, axes[:, i], stiff) for i in range(3)
        ]
    return rows


_FINE = 3
"""Moments of measuring for each at which costs are taken."""


def fine_samples(model: Model) -> Model:
    """The same model with more moments, for measuring; goals stay at theirs."""
    s = model.samples
    full = np.flatnonzero(s.is_full)
    part = s.weight[full[0]] / _FINE
    first = s.time[full] - 0.5 * s.weight[full]
    times = (first[:, None] + (np.arange(_FINE) + 0.5) * part).ravel()
    rows = np.repeat(full, _FINE)
    is_old = np.tile(np.arange(_FINE) == _FINE // 2, len(full))
    alone = np.flatnonzero(~s.is_full)
    order = np.concatenate([rows, alone])
    time = np.concatenate([times, s.time[alone]])
    phase = s.phase[order]
    last = np.where(np.concatenate([is_old, np.ones(len(alone), bool)]), s.goal_last[order], s.goal_first[order])
    return model._replace(
        samples=Samples(
            phase=phase,
            fraction=time / model.phase_time - phase,
            time=time,
            weight=s.weight[order],
            is_full=s.is_full[order],
            goal_first=s.goal_first[order],
            goal_last=last,
        )
    )
