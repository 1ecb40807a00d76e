"""Where a body touches the surroundings along its track, and whether it slides there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.contact.sliding import relative_velocity, standing_frames
from handwright.core.body import RigidBody
from handwright.core.problem import Problem
from handwright.geometry.distance.support import contacts_along
from handwright.math.pose import Pose
from handwright.methods.sampling.setup.limits import GROUND_GAP, TOLERANCES


class GroundContacts(NamedTuple):
    """Contacts in the body's frame; those of frame t are rows ``first[t]`` to ``first[t + 1]``."""

    first: Int[np.ndarray, " T_plus_1"]
    point: Float[np.ndarray, "E 3"]
    """m."""
    normal: Float[np.ndarray, "E 3"]
    """Into the body, of unit length."""
    friction: Float[np.ndarray, " E"]
    drag: Float[np.ndarray, "E 3"]
    """Unit direction of friction on the body where it slides, else zero."""
    surface: Int[np.ndarray, " E"]
    """Number of the surface in the problem's environment."""


def ground_contacts(
    problem: Problem, body: RigidBody, pose: Pose, times: np.ndarray
) -> GroundContacts:
    """Finds the contacts of a body with the surroundings in every frame.

    Args:
        problem: The problem, of which the surroundings are used.
        body: The body.
        pose: (T,) poses of the body in the world.
        times: (T,) times of the frames, s.
    """
    first, rows = np.zeros(len(times) + 1, dtype=np.int64), []
    along = [
        contacts_along(surface, body, pose, within=GROUND_GAP) for surface in problem.environment
    ]
    for t in range(len(times)):
        for number, surface in enumerate(problem.environment):
            found = along[number][t]
            near = found.gap <= GROUND_GAP
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
    drag = np.where(speed > TOLERANCES.static_speed, slip / np.maximum(speed, 1e-12), 0.0)
    back = pose[frame].inverse()
    point, normal, drag = (
        np.ascontiguousarray(part)
        for part in (back.apply(point), back.rotate(normal), back.rotate(drag))
    )
    return GroundContacts(first, point, normal, friction, drag, which)
