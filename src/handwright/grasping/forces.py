"""Whether contacts can hold a body, with a margin: the shared force solver decides."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.tolerances import DIGIT_FORCE
from handwright.mechanics import LeastForces, force_contacts

FRICTION_SHARE = 0.9
"""Share of the friction that a grasp may count on."""
# Moments that a grasp must bear, in weights times the radius of gyration.
_TWIST = 0.15


class HoldCheck(NamedTuple):
    """Whether contacts hold a body, and what that takes."""

    forces: Float[np.ndarray, "N 3"]
    """Against the weight alone, N."""
    is_balanced: bool
    """Whether they bear the weight."""
    resists_disturbances: bool
    """Whether they also bear every disturbance."""
    effort: float
    """Largest of the least sums of normal forces, in weights."""


def disturbances(
    body: RigidBody, gravity: Float[np.ndarray, "3"], push: float
) -> Float[np.ndarray, "W 6"]:
    """Wrenches that contacts must give: against the weight, then with pushes and twists too.

    Args:
        body: What is held.
        gravity: In the frame of the forces, m/s^2.
        push: Size of the pushes, in weights.
    """
    weight = body.mass * float(np.linalg.norm(gravity))
    ways = np.concatenate([np.eye(3), -np.eye(3)])
    lift = np.concatenate([-body.mass * gravity, np.zeros(3)])
    rows = np.tile(lift, (13, 1))
    rows[1:7, :3] += push * weight * ways
    rows[7:, 3:] += min(push, 1.0) * _TWIST * weight * body.radius_of_gyration * ways
    return rows


def check_hold(
    body: RigidBody,
    points: Float[np.ndarray, "N 3"],
    inward: Float[np.ndarray, "N 3"],
    *,
    gravity: Float[np.ndarray, "3"],
    friction: float,
    push: float,
) -> HoldCheck:
    """Solves for forces against the weight and every disturbance.

    Args:
        body: What is held; all is in its frame.
        points: Where it is touched, m.
        inward: Unit normals into the body.
        gravity: m/s^2.
        friction: Coulomb coefficient.
        push: Of disturbances, in weights.
    """
    contacts = force_contacts(
        points, inward, center=body.center, friction=FRICTION_SHARE * friction, cap=DIGIT_FORCE
    )
    solver = LeastForces(len(points))
    weight = max(body.mass * float(np.linalg.norm(gravity)), 1e-6)
    forces, effort = np.zeros((len(points), 3)), 0.0
    for row, wrench in enumerate(disturbances(body, gravity, push)):
        solved = solver.solve(
            contacts, wrench, force_scale=weight, length_scale=body.radius_of_gyration
        )
        if row == 0:
            forces = np.array(solved.forces)
        if not solved.is_feasible:
            return HoldCheck(forces, row > 0, False, np.inf)
        effort = max(effort, solved.objective / weight)
    return HoldCheck(forces, True, True, effort)
