"""Poses of the wrists if hands moved with the body as its goals rotate it.

This is a first guess for the search. Hands that take hold of a body with wrists that have been
rotated so can rotate with it, whereas hands from a static start often grip it in ways from which
they cannot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from handwright.core.problem import Problem
from handwright.math import rotation

if TYPE_CHECKING:
    from handwright.methods.trajopt.model.hands import TranscribedHand


def wrists_following_body(
    problem: Problem,
    hands: Sequence[TranscribedHand],
    body: str,
    times: Float[np.ndarray, " K"],
    begin: float,
) -> Float[np.ndarray, "H K 6"]:
    """Positions (m) and hinge angles (rad) of each wrist at some times; zero for fixed bases.

    Args:
        problem: Its goals say how the body is rotated.
        hands: All hands of the problem.
        body: Name of the body that is moved.
        times: Times of the keys, s.
        begin: Time at which the body begins to move, s.
    """
    center = problem.start[body].apply(problem.bodies[body].center)
    turned = _body_rotations(problem, body, times, begin)
    wrists = np.zeros((len(hands), len(times), 6))
    for h, hand in enumerate(hands):
        if not hand.is_free:
            continue
        base = hand.root.wxyz
        arm = hand.root.position - center
        moved = rotation.rotate(turned, arm) - arm
        wrists[h, :, :3] = rotation.rotate(rotation.conjugate(base), moved)
        own = rotation.multiply(rotation.multiply(rotation.conjugate(base), turned), base)
        wrists[h, :, 3:] = wrist_angles(rotation.to_matrix(own))
    return wrists


def wrist_angles(matrix: Float[np.ndarray, "K 3 3"]) -> Float[np.ndarray, "K 3"]:
    """Hinge angles of the wrist for a rotation, rad: about y, then z, then x."""
    second = np.arcsin(np.clip(matrix[:, 1, 0], -1.0, 1.0))
    first = np.arctan2(-matrix[:, 2, 0], matrix[:, 0, 0])
    third = np.arctan2(-matrix[:, 1, 2], matrix[:, 1, 1])
    return np.stack([first, second, third], axis=1)


def _body_rotations(
    problem: Problem, body: str, times: Float[np.ndarray, " K"], begin: float
) -> Float[np.ndarray, "K 4"]:
    """Rotation of the body from its start to its goals, at a constant rate between them."""
    start = problem.start[body].wxyz
    at, rotated = [begin], [np.zeros(3)]
    for goal in sorted(problem.goals, key=lambda one: one.start):
        is_whole = goal.feature.owner == body and goal.relative_to is None and goal.spin is None
        if is_whole and goal.wxyz is not None and goal.start > at[-1]:
            at.append(goal.start)
            rotated.append(rotation.log(rotation.multiply(goal.wxyz, rotation.conjugate(start))))
    vectors = np.stack([np.interp(times, at, np.array(rotated)[:, i]) for i in range(3)], axis=1)
    return rotation.exp(vectors)
