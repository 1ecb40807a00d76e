"""Where wrists would be if hands moved with the body as its goals turn it.

A start for the search: a body that has to be turned is then met by hands that can turn with it,
where hands from a static start often grip it in ways from which they cannot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from handwright.core.problem import Problem
from handwright.math import rotation

if TYPE_CHECKING:
    from handwright.methods.trajopt.model.transcribe import HandPart


def carried_wrists(
    problem: Problem,
    hands: Sequence[HandPart],
    body: str,
    times: Float[np.ndarray, " K"],
    begin: float,
) -> Float[np.ndarray, "H K 6"]:
    """Slides (m) and hinges (rad) of each wrist at some times; zero for fixed bases.

    Args:
        problem: With goals.
        hands: Of the problem.
        body: Name of the body that is moved.
        times: Of the keys, s.
        begin: When the body begins to move, s.
    """
    center = problem.start[body].apply(problem.bodies[body].center)
    turn = _turns(problem, body, times, begin)
    wrists = np.zeros((len(hands), len(times), 6))
    for h, hand in enumerate(hands):
        if not hand.is_free:
            continue
        base = hand.root.wxyz
        arm = hand.root.position - center
        moved = rotation.rotate(turn, arm) - arm
        wrists[h, :, :3] = rotation.rotate(rotation.conjugate(base), moved)
        own = rotation.multiply(rotation.multiply(rotation.conjugate(base), turn), base)
        wrists[h, :, 3:] = wrist_angles(rotation.to_matrix(own))
    return wrists


def wrist_angles(turn: Float[np.ndarray, "K 3 3"]) -> Float[np.ndarray, "K 3"]:
    """Angles about y, then z, then x that make a rotation: the wrist's hinges, rad."""
    second = np.arcsin(np.clip(turn[:, 1, 0], -1.0, 1.0))
    first = np.arctan2(-turn[:, 2, 0], turn[:, 0, 0])
    third = np.arctan2(-turn[:, 1, 2], turn[:, 1, 1])
    return np.stack([first, second, third], axis=1)


def _turns(
    problem: Problem, body: str, times: Float[np.ndarray, " K"], begin: float
) -> Float[np.ndarray, "K 4"]:
    """How goals turn the body from its start, with even turning between them."""
    start = problem.start[body].wxyz
    at, turned = [begin], [np.zeros(3)]
    for goal in sorted(problem.goals, key=lambda one: one.start):
        is_whole = goal.feature.owner == body and goal.relative_to is None and goal.spin is None
        if is_whole and goal.wxyz is not None and goal.start > at[-1]:
            at.append(goal.start)
            turned.append(rotation.log(rotation.multiply(goal.wxyz, rotation.conjugate(start))))
    vectors = np.stack([np.interp(times, at, np.array(turned)[:, i]) for i in range(3)], axis=1)
    return rotation.exp(vectors)
