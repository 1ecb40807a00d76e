"""What a grasp asks of the muscles of a hand: fingers press well, and bear little from the side."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy.optimize import linprog

from handwright.mechanics import ForceContacts, edge_wrenches

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
