"""Moments of a motion: samples with the goals of each as residuals, and keys with given times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool

from handwright.core.body import RigidBody
from handwright.core.goal import Goal
from handwright.core.problem import Problem
from handwright.math import rotation
from handwright.methods.trajopt.model.model import (
    DIRECTION_GOAL,
    POINT_GOAL,
    GoalRows,
    Model,
    Samples,
)

if TYPE_CHECKING:
    from handwright.methods.trajopt.model.hands import TranscribedHand

POSITION_TOLERANCE = 5e-3
"""Position error that counts as one in the cost, m."""
ANGLE_TOLERANCE = 0.05
"""Angle that counts as one in the cost, rad."""
# Errors up to which a goal counts as met, whatever its weight, in m and rad.
_MET_POSITION, _MET_ANGLE = 5e-3, np.radians(5.0)
# Times this near to a key count as its own, in phases.
_AT = 1e-6


def goal_samples(
    problem: Problem,
    hands: tuple[TranscribedHand, ...],
    body: RigidBody,
    num_phases: int,
    phase_time: float,
    fractions: Sequence[float],
) -> tuple[Samples, GoalRows]:
    """Moments at which costs are evaluated, and the goals of each.

    Costs are evaluated within phases, never at keys, where accelerations are discontinuous. Goals
    that last for a moment, or for less time than lies between two samples, get their own samples.
    """
    begin = float(problem.times[0])
    duration = num_phases * phase_time
    part = phase_time / len(fractions)
    moments = [
        (begin + (k + s) * phase_time, part, True) for k in range(num_phases) for s in fractions
    ]
    sampled = [time for time, *_ in moments]
    brief = [goal for goal in problem.goals if not _is_sampled(goal, sampled)]
    alone = {time for goal in brief for time in (goal.start, goal.end)}
    moments += [(time, phase_time, False) for time in alone]
    moments.sort()
    rows: list[tuple] = []
    listed: list[tuple] = []
    for time, weight, is_full in moments:
        first = len(rows)
        for goal in problem.goals:
            if (goal in brief) == is_full:
                continue
            if goal.start - 1e-9 <= time <= goal.end + 1e-9:
                rows += _rows(goal, time, hands, body)
        since = min(time - begin, duration)
        phase = min(int(since / phase_time), num_phases - 1)
        listed.append(
            (phase, since / phase_time - phase, time - begin, weight, is_full, first, len(rows))
        )
    samples = Samples(*(np.array(part) for part in zip(*listed, strict=True)))
    kind, joint, local, on_body, target, stiff = zip(*rows, strict=True) if rows else ((),) * 6
    return samples, GoalRows(
        kind=np.array(kind, dtype=np.int64),
        joint=np.array(joint, dtype=np.int64),
        local=np.array(local, dtype=np.float64).reshape(-1, 3),
        is_on_body=np.array(on_body, dtype=np.bool_),
        target=np.array(target, dtype=np.float64).reshape(-1, 3),
        weight=np.array(stiff, dtype=np.float64),
    )


def _is_sampled(goal: Goal, times: Sequence[float]) -> bool:
    """Whether a goal lasts long enough to contain one of these times."""
    return goal.start < goal.end and any(goal.start <= time <= goal.end for time in times)


def _rows(
    goal: Goal, time: float, hands: tuple[TranscribedHand, ...], body: RigidBody
) -> list[tuple]:
    """Residuals of one goal at one time: its position, and three directions for its rotation."""
    feature = goal.feature
    point = np.zeros(3) if feature.point is None else np.array(feature.point)
    hand = next((h for h in hands if h.name == feature.owner), None)
    if hand is None:
        joint, frame = -1, np.eye(3)
        local = point - body.center
    else:
        frames = hand.model.frames
        link, position, frame = hand.model.wrist_link, np.zeros(3), np.eye(3)
        if feature.frame is not None:
            k = frames.index(feature.frame)
            link, position = int(frames.link[k]), frames.position[k]
            frame = rotation.to_matrix(frames.wxyz[k])
        joint, local = hand.joint_of_link(link), position + frame @ point
    is_relative = goal.relative_to is not None
    weight = np.sqrt(goal.weight)
    rows: list[tuple] = []
    if goal.position is not None:
        target = goal.position - body.center if is_relative else goal.position
        rows.append((POINT_GOAL, joint, local, is_relative, target, weight / POSITION_TOLERANCE))
    if goal.wxyz is not None:
        axes = rotation.to_matrix(goal.wxyz_at(np.array([time]))[0])
        # A small rotation error moves the three axes by sqrt(2) times its angle in total.
        own, stiff = np.eye(3), weight / (np.sqrt(2.0) * ANGLE_TOLERANCE)
        if goal.axis is not None:
            own = goal.axis[:, None] / np.linalg.norm(goal.axis)
            stiff = weight / ANGLE_TOLERANCE
        rows += [
            (DIRECTION_GOAL, joint, frame @ one, is_relative, axes @ one, stiff) for one in own.T
        ]
    return rows


_MEASURED = np.linspace(0.005, 0.995, 13)
"""Fractions of each phase at which motions are measured, besides the moments of goals."""


def fine_samples(model: Model) -> Model:
    """The same model with many samples, for measuring; goals keep theirs and have equal weights."""
    s = model.samples
    phases = model.num_phases
    more = phases * len(_MEASURED)
    phase = np.concatenate([s.phase, np.repeat(np.arange(phases), len(_MEASURED))])
    fraction = np.concatenate([s.fraction, np.tile(_MEASURED, phases)])
    none = np.zeros(more, dtype=np.int64)
    # The residual of a direction is the chord of its angle.
    met = np.where(model.goals.kind == POINT_GOAL, _MET_POSITION, 2.0 * np.sin(0.5 * _MET_ANGLE))
    return model._replace(
        goals=model.goals._replace(weight=1.0 / met),
        samples=Samples(
            phase=phase,
            fraction=fraction,
            time=(phase + fraction) * model.phase_time,
            weight=np.concatenate([s.weight, np.ones(more)]),
            is_full=np.concatenate([s.is_full, np.ones(more, dtype=np.bool_)]),
            goal_first=np.concatenate([s.goal_first, none]),
            goal_last=np.concatenate([s.goal_last, none]),
        ),
    )


def with_samples_at(model: Model, is_wanted: Bool[np.ndarray, " S"]) -> Model:
    """The same model with some of the samples of ``fine_samples`` besides its own."""
    more, s = fine_samples(model).samples, model.samples
    chosen = np.flatnonzero(is_wanted & (np.arange(len(more.phase)) >= len(s.phase)))
    added = Samples(*(part[chosen] for part in more))
    # The added samples have no goals: those are evaluated at samples of their own.
    added = added._replace(weight=np.full(len(chosen), s.weight[s.is_full].min()))
    return model._replace(
        samples=Samples(*(np.concatenate(pair) for pair in zip(s, added, strict=True)))
    )


def pinned_keys(problem: Problem, num_phases: int, *, is_free: bool) -> Bool[np.ndarray, " K"]:
    """Keys that must keep their unshifted times.

    Goals, strokes and touch spans have given times. A key at such a time is pinned to it; a given
    time between two keys pins both, and with them their phase. Phases between two pinned keys share
    the time between them. All keys are pinned unless ``is_free``, and where a body spins, because
    its rotation is prescribed at every moment.
    """
    begin, end = float(problem.times[0]), float(problem.times[-1])
    pinned = np.ones(num_phases + 1, dtype=bool)
    if is_free and all(goal.spin is None for goal in problem.goals):
        pinned[1:-1] = False
        spans = [(one.start, one.end) for one in problem.goals]
        spans += [(one.start, one.end) for one in problem.touches]
        spans += [(one.start, one.end) for one in problem.strokes]
        given = np.array(spans).ravel()
        at = np.clip((given - begin) / (end - begin), 0.0, 1.0) * num_phases
        pinned[np.floor(at + _AT).astype(int)] = True
        pinned[np.ceil(at - _AT).astype(int)] = True
    return pinned[:-1] if problem.is_cyclic else pinned
