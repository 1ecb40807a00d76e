"""Digits that have goals of their own, and when such a goal puts them on the body."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool

from handwright.core.body import RigidBody
from handwright.core.goal import Goal
from handwright.core.problem import Problem
from handwright.geometry.distance.capsules import point_segment
from handwright.kernels.packed import Packed
from handwright.math import rotation
from handwright.methods.trajopt.model.model import Model
from handwright.methods.trajopt.terms.contact_state import body_distance

if TYPE_CHECKING:
    from handwright.methods.trajopt.model.hands import TranscribedHand

# Skin that a goal puts this near to the surface of the body is meant to touch it, m.
_TOUCHING_GAP = 2e-3


def digit_of(goal: Goal, hands: tuple[TranscribedHand, ...]) -> str | None:
    """Name of the contact of the digit that carries a goal's frame; None if none does."""
    hand = next((h for h in hands if h.name == goal.feature.owner), None)
    if hand is None or goal.feature.frame is None:
        return None
    frames, capsules = hand.model.frames, hand.model.capsules
    link = frames.link[frames.index(goal.feature.frame)]
    digits = {int(d) for d in capsules.digit[capsules.link == link] if d >= 0}
    return f"{hand.name}.{hand.model.digits[digits.pop()].name}" if len(digits) == 1 else None


def has_goal(
    problem: Problem, hands: tuple[TranscribedHand, ...], names: tuple[str, ...]
) -> Bool[np.ndarray, " N"]:
    """Which contacts are digits that have a goal."""
    wanted = {digit_of(goal, hands) for goal in problem.goals}
    return np.array([name in wanted for name in names])


def must_touch(
    problem: Problem,
    hands: tuple[TranscribedHand, ...],
    body: RigidBody,
    names: tuple[str, ...],
    model: Model,
) -> Bool[np.ndarray, "P N"]:
    """Contacts that goals require, by phase: a fingertip on the body for a whole phase."""
    phases = model.num_phases
    begin = problem.times[0] + model.phase_time * np.arange(phases)
    slack = 1e-6 + 0.01 * model.phase_time
    must = np.zeros((phases, len(names)), dtype=bool)
    for goal in problem.goals:
        name = digit_of(goal, hands)
        if name not in names or goal.relative_to is None or goal.position is None:
            continue
        inside = (begin >= goal.start - slack) & (begin + model.phase_time <= goal.end + slack)
        j = names.index(name)
        gap = body_distance(Packed(model), tuple(goal.position - body.center))[0]
        if abs(gap + _height(goal, hands, model, j)) < _TOUCHING_GAP:
            must[inside, j] = True
    return must


def _height(goal: Goal, hands: tuple[TranscribedHand, ...], model: Model, j: int) -> float:
    """Height of a goal's point over the skin of the digit of contact ``j``, m; negative inside."""
    hand = next(h for h in hands if h.name == goal.feature.owner)
    frames, s, c = hand.model.frames, model.skeleton, model.contacts
    k = frames.index(str(goal.feature.frame))
    joint = hand.joint_of_link(int(frames.link[k]))
    point = np.zeros(3) if goal.feature.point is None else goal.feature.point
    position = frames.position[k] + rotation.to_matrix(frames.wxyz[k]) @ point
    heights = [np.inf]
    for n in c.capsules[c.first[j] : c.last[j]]:
        if s.joint[n] == joint:
            heights.append(point_segment(position, s.start[n], s.end[n])[0] - s.radius[n])
    return float(min(heights))
