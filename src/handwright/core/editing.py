"""Problems with another body, friction or mass, or with the hand nearer to the body."""

from __future__ import annotations

import dataclasses

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.math.pose import Pose


def with_body(problem: Problem, name: str, body: RigidBody, *, stand: bool = False) -> Problem:
    """The problem with another body on the track of the one of this name: a mesh swapped.

    Args:
        problem: With a track of the body, if it is to stand.
        name: Of the body that is replaced; the new one answers to it.
        body: The new one.
        stand: Shift it in its own frame so that its lowest point in the first frame is as high as
            that of the old one. Bodies of different heights would otherwise hover, or be sunk in.
    """
    old = _known_body(problem, name)
    if stand:
        down = np.asarray(problem.gravity, dtype=np.float64)
        if not down.any():
            raise InvalidValueError(
                f"'{name}' cannot stand: the problem has no gravity. Leave stand out."
            )
        first = problem.track(name).at(problem.times[:1])[0]
        low = first.inverse().rotate(down / np.linalg.norm(down))
        shift = ((old.vertices @ low).max() - (body.vertices @ low).max()) * low
        body = dataclasses.replace(body, vertices=body.vertices + shift, center=body.center + shift)
    return dataclasses.replace(problem, bodies={**problem.bodies, name: body})


def with_friction(problem: Problem, name: str, friction: float) -> Problem:
    """The problem with another Coulomb coefficient of a body against skin."""
    return with_body(problem, name, _known_body(problem, name).with_friction(friction))


def with_mass(problem: Problem, name: str, mass: float) -> Problem:
    """The problem with a body that is heavier or lighter, kg."""
    return with_body(problem, name, _known_body(problem, name).with_mass(mass))


def with_hand_offset(problem: Problem, hand: str, shift: Float[np.ndarray, "3"]) -> Problem:
    """The problem with a hand that is moved relative to all bodies.

    Args:
        problem: With a track of the hand.
        hand: Its name.
        shift: In the frame of the hand's root, m; the same in every frame of the motion.
    """
    if hand not in problem.hands:
        raise UnknownNameError("hand", hand, problem.hands)
    shift = np.asarray(shift, dtype=np.float64)
    if shift.shape != (3,) or not np.isfinite(shift).all():
        raise InvalidValueError(
            f"The offset of '{hand}' is {shift.tolist()}; expected three finite numbers in m."
        )
    track = problem.track(hand)
    moved = Pose(track.pose.apply(np.tile(shift, (len(track.times), 1))), track.pose.wxyz)
    return dataclasses.replace(problem, tracks={**problem.tracks, hand: Track(track.times, moved)})


def _known_body(problem: Problem, name: str) -> RigidBody:
    if name not in problem.bodies:
        raise UnknownNameError("body", name, problem.bodies)
    return problem.bodies[name]
