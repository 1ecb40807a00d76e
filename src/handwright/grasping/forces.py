"""Whether contacts can hold a body, with a margin: the shared force solver decides."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.optimize import linprog

from handwright.core.body import RigidBody
from handwright.core.tolerances import DIGIT_FORCE
from handwright.mechanics import ForceContacts, LeastForces, edge_wrenches, force_contacts

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

    Gravity is in the frame of the forces, m/s^2; the size of pushes in weights.
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
        push: Size of the pushes, in weights.
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


_NUM_EDGES = 8


def strength_share(
    contacts: ForceContacts,
    wrenches: Float[np.ndarray, "W 6"],
    maps: Float[np.ndarray, "N J 3"],
    lower: Float[np.ndarray, " J"],
    upper: Float[np.ndarray, " J"],
) -> float:
    """Largest share of its strength that any joint needs for the worst of some loads.

    Forces are chosen so that this share is least; infinite if none would do.

    Args:
        contacts: Contacts of a hand with a body.
        wrenches: Wrenches that contacts must give the body about its centre, N and N m.
        maps: Torques of joints by forces on the body.
        lower: Least torques of joints, N m; joints without limits have -inf.
        upper: Largest torques of joints, N m; joints without limits have inf.
    """
    push, owner = edge_wrenches(contacts, _NUM_EDGES)
    torque = np.einsum("cji,ic->jc", maps[owner], push[:3])
    rows, limit = [], []
    for sign, bound in ((1.0, upper), (-1.0, -lower)):
        known = np.isfinite(bound)
        rows.append(sign * torque[known])
        limit.append(bound[known])
    most = np.concatenate(limit)
    if not len(most):
        return 0.0
    above = np.hstack([np.concatenate(rows), -most[:, None]])
    cost = np.append(np.full(len(owner), 1e-6), 1.0)
    worst = 0.0
    for wrench in wrenches:
        found = linprog(
            cost,
            A_ub=above,
            b_ub=np.zeros(len(above)),
            A_eq=np.hstack([push, np.zeros((6, 1))]),
            b_eq=wrench,
            method="highs",
        )
        if found.x is None:
            return np.inf
        worst = max(worst, float(found.x[-1]))
    return worst
