"""Where a body touches the surroundings along its track, and whether it slides there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull

from handwright.core.body import RigidBody
from handwright.core.problem import Problem
from handwright.core.surface import HalfSpace
from handwright.geometry.surface_distance import surface_distance
from handwright.math import rotation
from handwright.math.pose import Pose

# Points this much higher than the lowest one still belong to the side that a body lies on, m.
_FLAT = 2e-4
_TOUCHING = 9e-4
_STATIC_SPEED = 5e-3


class GroundContacts(NamedTuple):
    """Contacts by frame, in the body's frame; rows ``first[t]`` to ``first[t + 1]``."""

    first: np.ndarray
    point: np.ndarray
    """(E, 3), m."""
    normal: np.ndarray
    """(E, 3), unit length, into the body."""
    friction: np.ndarray
    drag: np.ndarray
    """(E, 3), unit direction of friction on the body where it slides, else zero."""
    surface: np.ndarray
    """(E,) number in the problem's environment."""


def ground_contacts(
    problem: Problem, body: RigidBody, pose: Pose, times: np.ndarray
) -> GroundContacts:
    """Finds the contacts of a body with the surroundings in every frame.

    Args:
        problem: Surroundings.
        body: The body.
        pose: (T,) of the body in the world.
        times: s.
    """
    hull = body.vertices[ConvexHull(body.vertices).vertices]
    count = len(times)
    velocity, spin = _velocities(pose, times)
    first, rows = [0], []
    angle = np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)
    for t in range(count):
        here = pose[t]
        for number, surface in enumerate(problem.environment):
            # A box may touch within a hollow of the body, a plane may not.
            corners = hull if isinstance(surface, HalfSpace) else body.vertices
            world = here.apply(corners)
            distance, normal = surface_distance(surface, world)
            lowest = int(distance.argmin())
            if distance[lowest] > _TOUCHING:
                continue
            level = np.flatnonzero(distance <= distance[lowest] + _FLAT)
            up = normal[lowest]
            across = np.cross(up, np.eye(3)[np.abs(up).argmin()])
            across /= np.linalg.norm(across)
            directions = np.cos(angle)[:, None] * across + np.sin(angle)[:, None] * np.cross(
                up, across
            )
            chosen = np.unique(level[(world[level] @ directions.T).argmax(axis=0)])
            moves = velocity[t] + np.cross(spin[t], world[chosen] - here.position)
            moves -= (moves @ up)[:, None] * up
            speed = np.linalg.norm(moves, axis=1, keepdims=True)
            drag = np.where(speed > _STATIC_SPEED, -moves / np.maximum(speed, 1e-12), 0.0)
            back = here.inverse()
            rows.append(
                (
                    corners[chosen],
                    np.tile(back.rotate(up[None]), (len(chosen), 1)),
                    np.full(len(chosen), surface.friction),
                    back.rotate(drag),
                    np.full(len(chosen), number),
                )
            )
        first.append(sum(len(row[0]) for row in rows))
    if not rows:
        nothing = np.zeros((0, 3))
        none = np.zeros(0, dtype=np.int64)
        return GroundContacts(np.array(first), nothing, nothing, np.zeros(0), nothing, none)
    point, normal, friction, drag, surface_number = (
        np.ascontiguousarray(np.concatenate(column)) for column in zip(*rows, strict=True)
    )
    return GroundContacts(np.array(first), point, normal, friction, drag, surface_number)


def _velocities(pose: Pose, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Velocity of the origin, m/s, and angular velocity, rad/s, by central differences."""
    count = len(times)
    if count < 2:
        return np.zeros((count, 3)), np.zeros((count, 3))
    before, after = np.maximum(np.arange(count) - 1, 0), np.minimum(np.arange(count) + 1, count - 1)
    span = (times[after] - times[before])[:, None]
    turn = rotation.log(rotation.multiply(pose.wxyz[after], rotation.conjugate(pose.wxyz[before])))
    return (pose.position[after] - pose.position[before]) / span, turn / span
