"""Hands that take several bodies, one after the other.

A network senses one body for each hand. Where a hand lets go of one and reaches for another, the
motion is cut: each part is moved for itself, with what comes before and after as far as the network
looks, and fingers go over from one part to the next while the hand is in the air.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.clip import Clip, HandMotion
from handwright.core.problem import Problem
from handwright.geometry.distance.sdf import sample_field
from handwright.kinematics.fk import frame_poses
from handwright.methods.neural.sensing.body import sensed_body

# A palm is at a body up to this distance, m: held ones are nearer, those reached for are farther.
_AT = 0.06
# How much of the motion before and after a part is looked at, and how long fingers go over, s.
_CONTEXT, _BLEND = 1.0, 0.2


class Turn(NamedTuple):
    """A part of a problem in which every hand has to do with one body."""

    first: int
    """Frame of the problem at which it begins."""
    last: int
    """Its last frame."""
    bodies: tuple[str, ...]
    """What the hands have to do with."""


def turns_of(problem: Problem) -> list[Turn]:
    """Parts of a problem by what its hands reach for; one if they never change.

    Args:
        problem: With tracks of all wrists and bodies.
    """
    chosen = np.stack([_taken(problem, hand) for hand in problem.hands])
    names = tuple(problem.bodies)
    cuts = [0, *(1 + np.flatnonzero((chosen[:, 1:] != chosen[:, :-1]).any(axis=0))).tolist()]
    ends = [*(cut - 1 for cut in cuts[1:]), chosen.shape[1] - 1]
    return [
        Turn(first, last, tuple(names[row] for row in np.unique(chosen[:, first])))
        for first, last in zip(cuts, ends, strict=True)
    ]


def _taken(problem: Problem, hand: str) -> Int[np.ndarray, " T"]:
    """Row of the body that a hand has to do with in each frame.

    It stays with the one that its palm has come to, until the palm is away from that and nearer to
    the next that it comes to.
    """
    distance = _palm_distances(problem, hand)
    count = len(distance)
    visits: list[tuple[int, int, int]] = []
    nearest, is_at = distance.argmin(axis=1), distance.min(axis=1) < _AT
    for first, last in _runs(nearest, is_at):
        row = int(nearest[first])
        if visits and visits[-1][2] == row:
            visits[-1] = (visits[-1][0], last, row)
        else:
            visits.append((first, last, row))
    taken = np.full(count, visits[0][2] if visits else int(distance.mean(axis=0).argmin()))
    for (_, left, before), (reached, _, row) in pairwise(visits):
        between = np.arange(left + 1, reached + 1)
        nearer = between[distance[between, row] < distance[between, before]]
        taken[nearer[0] if len(nearer) else reached :] = row
    return taken


def _runs(
    value: Int[np.ndarray, " T"], is_counted: Bool[np.ndarray, " T"]
) -> list[tuple[int, int]]:
    """First and last frames of the stretches of one value, where it counts."""
    found: list[tuple[int, int]] = []
    for frame in np.flatnonzero(is_counted).tolist():
        if found and found[-1][1] == frame - 1 and value[frame] == value[frame - 1]:
            found[-1] = (found[-1][0], frame)
        else:
            found.append((frame, frame))
    return found


def _palm_distances(problem: Problem, hand: str) -> Float[np.ndarray, "T B"]:
    """Of the middle of a palm from every body, m."""
    model, times = problem.hands[hand], problem.times
    flat = frame_poses(model, np.zeros(model.num_joints))
    palm = problem.track(hand).at(times).apply(flat.position[model.frames.index("palm")])
    return np.stack(
        [
            sample_field(
                sensed_body(body).far, problem.track(name).at(times).inverse().apply(palm)
            )[0]
            for name, body in problem.bodies.items()
        ],
        axis=1,
    )


def moved_in_turn(
    problem: Problem, turns: Sequence[Turn], learned: Callable[[Problem], Clip]
) -> Clip:
    """The motion of a problem out of the motions of its turns.

    Args:
        problem: With tracks of all wrists and bodies.
        turns: Its parts, two or more.
        learned: Moves the fingers of a part.
    """
    times = problem.times
    fingers: dict[str, Float[np.ndarray, "T J"]] = {}
    for turn in turns:
        early, late = times[turn.first] - _CONTEXT, times[turn.last] + _CONTEXT
        shown = np.flatnonzero((times >= early) & (times <= late))
        clip = learned(_part(problem, turn, shown))
        for hand, motion in clip.hands.items():
            made = np.full((len(times), motion.q.shape[1]), np.nan)
            made[shown] = motion.q
            fingers[hand] = _gone_over(fingers.get(hand), made, times, times[turn.first])
    moved = {
        hand: HandMotion(problem.track(hand).at(times), fingers[hand]) for hand in problem.hands
    }
    bodies = {name: problem.track(name).at(times) for name in problem.bodies}
    return replace(clip, problem=problem, times=times, hands=moved, bodies=bodies)


def _part(problem: Problem, turn: Turn, frames: Int[np.ndarray, " N"]) -> Problem:
    names: Mapping[str, object] = {**problem.hands, **dict.fromkeys(turn.bodies)}
    return Problem(
        problem.name,
        problem.times[frames],
        problem.hands,
        {name: problem.bodies[name] for name in turn.bodies},
        tracks={name: problem.track(name) for name in names},
    )


def _gone_over(
    before: Float[np.ndarray, "T J"] | None,
    after: Float[np.ndarray, "T J"],
    times: Float[np.ndarray, " T"],
    cut: float,
) -> Float[np.ndarray, "T J"]:
    """Fingers that go over from one motion to another around a time; NaN where one is not known."""
    if before is None:
        return after
    share = np.clip((times - cut) / _BLEND + 0.5, 0.0, 1.0)
    share = (share * share * (3.0 - 2.0 * share))[:, None]
    share = np.where(np.isnan(after), 0.0, np.where(np.isnan(before), 1.0, share))
    return (1.0 - share) * np.nan_to_num(before) + share * np.nan_to_num(after)
