"""The quadratic program of a frame as the solver takes it, put together by compiled code.

Unknown are coefficients of contact forces ``λ``, velocities of hands ``v`` and a few slacks. With
forces on bodies and on hands by coefficient, ``B`` and ``F``, velocities of bodies are

    u = u_free + S λ,   S = h M⁻¹ B,

and changes of torque are ``M_h v / h - F λ + start``. Put into the cost to go, with its blocks V of
hands (h) and bodies (b), and into the price P of changes of torque, this gives the blocks

    λλ: S' V_bb S + F' P F,   λv: S' V_bh - F' P M_h / h,   vv: V_hh + M_h P M_h / h².

All is scaled so that the diagonal is one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.kernels.decorators import compiled

NUM_SLACKS = 3
"""Limits give way all together, by kind, where they must: a frame can then always be solved."""
# Price of a slack, s^2/m^2; far above all others.
_SLACK_PRICE = 1e9


class Program(NamedTuple):
    """``x' H x / 2 + g' x`` where ``lower <= (x, A x) <= upper``, in scaled unknowns."""

    hessian: Float[np.ndarray, "X X"]
    slope: Float[np.ndarray, " X"]
    matrix: Float[np.ndarray, "M X"]
    upper: Float[np.ndarray, " X+M"]
    lower: Float[np.ndarray, " X+M"]
    scale: Float[np.ndarray, " X"]
    """By which scaled unknowns are multiplied."""
    to_hand: Float[np.ndarray, "H L"]
    """Forces and moments on hands by coefficient, with the sign of those on bodies."""
    spread: Float[np.ndarray, "B L"]
    """Velocities of bodies by coefficient."""


@compiled
def _pushes(
    relative: np.ndarray, edges: np.ndarray, owner: np.ndarray, begin: int, end: int
) -> np.ndarray:
    """Forces along velocities ``begin`` to ``end`` by coefficient: transposed velocities."""
    push = np.zeros((end - begin, len(owner)))
    for c in range(len(owner)):
        k = owner[c]
        x, y, z = -edges[c, 0], -edges[c, 1], -edges[c, 2]
        for n in range(begin, end):
            push[n - begin, c] = (
                relative[k, 0, n] * x + relative[k, 1, n] * y + relative[k, 2, n] * z
            )
    return push


@compiled
def _objective(
    to_hand: np.ndarray,
    spread: np.ndarray,
    mass: np.ndarray,
    free: np.ndarray,
    start: np.ndarray,
    price: np.ndarray,
    value_hessian: np.ndarray,
    value_gradient: np.ndarray,
    step: float,
) -> tuple:
    """Second and first derivatives by coefficients and velocities of hands."""
    nh, nl = to_hand.shape
    v_hb = np.ascontiguousarray(value_hessian[:nh, nh:])
    v_bb = np.ascontiguousarray(value_hessian[nh:, nh:])
    by_speed = mass / step
    priced = by_speed.copy()
    paid = to_hand.copy()
    owed = price * start
    for i in range(nh):
        priced[i] *= price[i]
        paid[i] *= price[i]
    hessian = np.zeros((nl + nh, nl + nh))
    hessian[:nl, :nl] = spread.T @ (v_bb @ spread) + to_hand.T @ paid
    mixed = v_hb @ spread - by_speed.T @ paid
    hessian[nl:, :nl] = mixed
    hessian[:nl, nl:] = mixed.T
    hessian[nl:, nl:] = value_hessian[:nh, :nh] + by_speed.T @ priced
    gradient = np.zeros(nl + nh)
    gradient[:nl] = spread.T @ (v_bb @ free + value_gradient[nh:]) - to_hand.T @ owed
    gradient[nl:] = v_hb @ free + value_gradient[:nh] + by_speed.T @ owed
    return hessian, gradient


@compiled
def _add_wishes(
    hessian: np.ndarray,
    gradient: np.ndarray,
    edges: np.ndarray,
    owner: np.ndarray,
    counts: np.ndarray,
    totals: np.ndarray,
    prices: np.ndarray,
) -> None:
    """Adds prices of sums of forces that differ from what is wished for."""
    for w in range(len(prices)):
        for a in range(len(owner)):
            if not counts[w, owner[a]]:
                continue
            x, y, z = prices[w] * edges[a, 0], prices[w] * edges[a, 1], prices[w] * edges[a, 2]
            gradient[a] -= x * totals[w, 0] + y * totals[w, 1] + z * totals[w, 2]
            for b in range(len(owner)):
                if counts[w, owner[b]]:
                    hessian[a, b] += x * edges[b, 0] + y * edges[b, 1] + z * edges[b, 2]


@compiled
def _limits(
    spread: np.ndarray,
    owner: np.ndarray,
    scale: np.ndarray,
    free: np.ndarray,
    caps: np.ndarray,
    limits: np.ndarray,
    low: np.ndarray,
    kind: np.ndarray,
    to_hand: np.ndarray,
    slowest: np.ndarray,
    fastest: np.ndarray,
    weakest: np.ndarray,
    strongest: np.ndarray,
) -> tuple:
    """Rows for caps, for limits and for torques, and bounds of all unknowns and rows."""
    nh, nl, whole = len(slowest), len(owner), len(scale)
    capped = [k for k in range(len(caps)) if 0.0 < caps[k] < np.inf]
    matrix = np.zeros((len(capped) + len(low) + nh, whole))
    upper, lower = np.full(whole + len(matrix), np.inf), np.zeros(whole + len(matrix))
    for c in range(nl):
        if not caps[owner[c]] > 0.0:
            upper[c] = 0.0
    for i in range(nh):
        lower[nl + i], upper[nl + i] = slowest[i] / scale[nl + i], fastest[i] / scale[nl + i]
    for row, k in enumerate(capped):
        # Every edge has a unit along the normal.
        for c in range(nl):
            if owner[c] == k:
                matrix[row, c] = scale[c]
        upper[whole + row] = caps[k]
    on_bodies = np.ascontiguousarray(limits[:, nh:])
    by_force, drift = on_bodies @ spread, on_bodies @ free
    for m in range(len(low)):
        row = len(capped) + m
        for c in range(nl):
            matrix[row, c] = by_force[m, c] * scale[c]
        for i in range(nh):
            matrix[row, nl + i] = limits[m, i] * scale[nl + i]
        slack = nl + nh + kind[m]
        matrix[row, slack] = scale[slack]
        lower[whole + row] = low[m] - drift[m]
    # Forces that are none ask nothing of joints, so these can always be met.
    first = len(capped) + len(low)
    for i in range(nh):
        for c in range(nl):
            matrix[first + i, c] = -to_hand[i, c] * scale[c]
        lower[whole + first + i], upper[whole + first + i] = weakest[i], strongest[i]
    return matrix, upper, lower


@compiled
def put_together(
    relative: Float[np.ndarray, "K 3 N"],
    edges: Float[np.ndarray, "L 3"],
    owner: np.ndarray,
    mass: Float[np.ndarray, "H H"],
    inverse: Float[np.ndarray, "B B"],
    free: Float[np.ndarray, " B"],
    start: Float[np.ndarray, " H"],
    torque_price: Float[np.ndarray, " H"],
    value_hessian: Float[np.ndarray, "N N"],
    value_gradient: Float[np.ndarray, " N"],
    force_price: Float[np.ndarray, " K"],
    speed_price: float,
    counts: np.ndarray,
    totals: Float[np.ndarray, "W 3"],
    wish_price: Float[np.ndarray, " W"],
    caps: Float[np.ndarray, " K"],
    limits: Float[np.ndarray, "M N"],
    low: Float[np.ndarray, " M"],
    kind: np.ndarray,
    slowest: Float[np.ndarray, " H"],
    fastest: Float[np.ndarray, " H"],
    weakest: Float[np.ndarray, " H"],
    strongest: Float[np.ndarray, " H"],
    step: float,
) -> tuple:
    """The fields of ``Program``.

    Args:
        relative: Velocities of what touches over the bodies, by all velocities.
        edges: Forces on bodies by coefficient.
        owner: (L,) contact of each coefficient.
        mass: Of hands.
        inverse: Of the mass matrix of bodies.
        free: Velocities of bodies that nothing touches.
        start: Changes of torque without forces and velocities, N m.
        torque_price: Of squared changes of torque.
        value_hessian: Of the cost to go, by all velocities.
        value_gradient: Likewise.
        force_price: Of the coefficients of each contact.
        speed_price: Of velocities of hands.
        counts: (W, K) which contacts count for each wish.
        totals: Sums of forces that are wished for, N.
        wish_price: Of squared differences from them.
        caps: Largest normal forces, N.
        limits: Rows of velocities that may not be too low.
        low: How low.
        kind: (M,) which slack gives way.
        slowest: Lowest velocities of hands.
        fastest: Highest ones.
        weakest: Lowest torques that contacts may ask for, N m.
        strongest: Highest ones.
        step: s.
    """
    nh, nl = len(mass), len(owner)
    to_hand = _pushes(relative, edges, owner, 0, nh)
    to_body = _pushes(relative, edges, owner, nh, nh + len(free))
    spread = step * (inverse @ to_body)
    hessian, gradient = _objective(
        to_hand, spread, mass, free, start, torque_price, value_hessian, value_gradient, step
    )
    for c in range(nl):
        hessian[c, c] += force_price[owner[c]]
    for i in range(nl, nl + nh):
        hessian[i, i] += speed_price
    _add_wishes(hessian, gradient, edges, owner, counts, totals, wish_price)
    size = nl + nh
    whole = size + NUM_SLACKS
    scale = np.full(whole, 1.0 / np.sqrt(_SLACK_PRICE))
    for i in range(size):
        scale[i] = 1.0 / np.sqrt(hessian[i, i])
    scaled, slope = np.eye(whole), np.zeros(whole)
    for i in range(size):
        slope[i] = gradient[i] * scale[i]
        for j in range(size):
            scaled[i, j] = hessian[i, j] * (scale[i] * scale[j])
    matrix, upper, lower = _limits(
        spread,
        owner,
        scale,
        free,
        caps,
        limits,
        low,
        kind,
        to_hand,
        slowest,
        fastest,
        weakest,
        strongest,
    )
    return scaled, slope, matrix, upper, lower, scale, to_hand, spread


@compiled
def read_answer(
    found: Float[np.ndarray, " X"],
    scale: Float[np.ndarray, " X"],
    to_hand: Float[np.ndarray, "H L"],
    spread: Float[np.ndarray, "B L"],
    mass: Float[np.ndarray, "H H"],
    free: Float[np.ndarray, " B"],
    start: Float[np.ndarray, " H"],
    edges: Float[np.ndarray, "L 3"],
    owner: np.ndarray,
    num_contacts: int,
    step: float,
) -> tuple:
    """Velocities of all, forces of contacts, and changes of torque.

    Args:
        found: Scaled unknowns.
        scale: See ``Program``, and for the next two.
        to_hand: Of hands.
        spread: Of bodies.
        mass: Of hands.
        free: Velocities of bodies that nothing touches.
        start: Changes of torque without forces and velocities, N m.
        edges: Forces on bodies by coefficient.
        owner: (L,) contact of each coefficient.
        num_contacts: K.
        step: s.
    """
    nh, nl = to_hand.shape
    amount = found[:nl] * scale[:nl]
    own = found[nl : nl + nh] * scale[nl : nl + nh]
    velocity = np.concatenate((own, spread @ amount + free))
    force = np.zeros((num_contacts, 3))
    for c in range(nl):
        for i in range(3):
            force[owner[c], i] += amount[c] * edges[c, i]
    return velocity, force, mass @ own / step + start - to_hand @ amount
