"""What hands must do to a body so that it moves as its track shows.

Contacts must give it the force that its acceleration takes beyond its weight. Moments are left to
the places of the contacts: what turning a thing of hand size faster takes is small beside the
moments of its weight about the fingers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.body import RigidBody
from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.geometry.distance.surface_distance import surface_distance
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.mechanics import required_wrench
from handwright.methods.neural.sensing.motion import RATE

_CUTOFF_HZ = 6.0
"""Of the low-pass for accelerations, which tracks of recordings need."""
_RESTING = 0.004
"""Gap to the surroundings up to which they may carry a body, m."""
_SOONER = 12
"""How long before they carry a body hands take hold of it, frames."""
# A body without known surroundings that moves less may stand on something: m/s and rad/s.
_SLOW, _SLOW_TURN = 0.03, 0.3
_USUAL_FRICTION = 0.6
"""Between skin and plastic, wood or glazed clay."""


class Load(NamedTuple):
    """The weight and inertia of a body as hands feel them, at 60 frames a second."""

    body: str
    """Its name: hands with the same body hold it together."""
    force: Float[np.ndarray, "T 3"]
    """What hands must give it, in its frame, in weights."""
    is_carried: Bool[np.ndarray, " T"]
    """Whether hands carry it, or are about to; else what it stands on may."""
    friction: float


def load_of(problem: Problem, name: str, pose: Pose, times: Float[np.ndarray, " T"]) -> Load:
    """The load of a body of a problem.

    Args:
        problem: Its gravity and surroundings count.
        name: Of the body.
        pose: (T,) poses of the body in the world.
        times: Of the poses, 60 a second.
    """
    body = problem.bodies[name]
    weight = body.mass * max(float(np.linalg.norm(problem.gravity)), 1.0)
    force = np.tile(-body.mass * problem.gravity, (len(times), 1))
    if len(times) >= 3:
        track = Track(times, pose)
        force = required_wrench(track, body, gravity=problem.gravity, cutoff_hz=_CUTOFF_HZ).force
    force = rotation.rotate(rotation.conjugate(pose.wxyz), force) / weight
    lifted = _lifted(problem, body, pose) if problem.environment else _moving(pose)
    return Load(name, force, _sooner(lifted), body.friction)


def plain_load(name: str, pose: Pose) -> Load:
    """The load of a body of which only its track is known, in a world with z up.

    It weighs, is taken to be carried while it moves, and has the friction of most things.

    Args:
        name: Of the body.
        pose: (T,) its poses in the world, 60 a second.
    """
    up = np.broadcast_to([0.0, 0.0, 1.0], pose.position.shape)
    force = rotation.rotate(rotation.conjugate(pose.wxyz), up)
    return Load(name, force, _sooner(_moving(pose)), _USUAL_FRICTION)


def _lifted(problem: Problem, body: RigidBody, pose: Pose) -> Bool[np.ndarray, " T"]:
    """Whether the body is off all surroundings."""
    gaps = [
        min(
            float(surface_distance(surface, one.apply(body.vertices))[0].min())
            for surface in problem.environment
        )
        for one in pose
    ]
    return np.array(gaps) > _RESTING


def _moving(pose: Pose) -> Bool[np.ndarray, " T"]:
    way = np.linalg.norm(np.diff(pose.position, axis=0), axis=1)
    turn = rotation.multiply(pose.wxyz[1:], rotation.conjugate(pose.wxyz[:-1]))
    angle = np.linalg.norm(rotation.log(turn), axis=1)
    moves = (RATE * way > _SLOW) | (RATE * angle > _SLOW_TURN)
    return np.append(moves, moves[-1:]) if len(moves) else np.zeros(len(pose.position), dtype=bool)


def _sooner(lifted: Bool[np.ndarray, " T"]) -> Bool[np.ndarray, " T"]:
    found = lifted.copy()
    for ahead in range(1, min(_SOONER, len(lifted) - 1) + 1):
        found[:-ahead] |= lifted[ahead:]
    return found
