"""Where a body touches the surroundings along its track, and whether it slides there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.contact.sliding import relative_velocity, standing_frames
from handwright.core.body import RigidBody
from handwright.core.problem import Problem
from handwright.core.tolerances import STATIC_SPEED
from handwright.geometry.distance.support import contacts_along
from handwright.math.pose import Pose

# A little less than what a certificate calls a touch, m.
_TOUCHING = 9e-4


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
    first, rows = np.zeros(len(times) + 1, dtype=np.int64), []
    along = [
        contacts_along(surface, body, pose, within=_TOUCHING) for surface in problem.environment
    ]
    for t in range(len(times)):
        for number, surface in enumerate(problem.environment):
            found = along[number][t]
            near = found.gap <= _TOUCHING
            ones = np.ones(int(near.sum()), dtype=np.int64)
            rows.append(
                (t * ones, found.point[near], found.normal[near], surface.friction * ones,
                 number * ones)
            )  # fmt: skip
            first[t + 1 :] += len(ones)
    if first[-1] == 0:
        nothing, none = np.zeros((0, 3)), np.zeros(0, dtype=np.int64)
        return GroundContacts(first, nothing, nothing, np.zeros(0), nothing, none)
    frame, point, normal, friction, which = (
        np.concatenate(column) for column in zip(*rows, strict=True)
    )
    still = standing_frames(len(times))
    slip = relative_velocity(times, *still, pose, frame, np.zeros_like(frame), point)
    slip -= np.einsum("ni,ni->n", slip, normal)[:, None] * normal
    speed = np.linalg.norm(slip, axis=1, keepdims=True)
    # The surroundings drag the body along with them, which is against its motion.
    drag = np.where(speed > STATIC_SPEED, slip / np.maximum(speed, 1e-12), 0.0)
    back = pose[frame].inverse()
    point, normal, drag = (
        np.ascontiguousarray(part)
        for part in (back.apply(point), back.rotate(normal), back.rotate(drag))
    )
    return GroundContacts(first, point, normal, friction, drag, which)
