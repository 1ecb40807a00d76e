"""What positions and changes of acceleration cost, as matrices; the cost to go is made of them."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.kernels.decorators import compiled
from handwright.methods.stepwise.contacts.contact_kernels import ContactKinematics

# Cost of any coordinate, so that each has some.
_LEAST_STIFFNESS = 1e-3
# Added to the inertia of every joint in the weight of accelerations, kg m^2; like a rotor's.
_ROTOR = 3e-3


@compiled
def kept_rows(contacts: ContactKinematics, share: Float[np.ndarray, " K"], step: float) -> tuple:
    """Rows that keep contacts (eq. 6), and by how much they are off, m.

    Args:
        contacts: How they move.
        share: How much of it is kept across the normal; contacts with -1 are not kept at all.
        step: Length of the frame, s.
    """
    relative, offset, normal, curve = (
        contacts.relative,
        contacts.offset,
        contacts.normal,
        contacts.curve,
    )
    width = relative.shape[2]
    count = 3 * int((share >= 0.0).sum())
    rows, error = np.zeros((count, width)), np.zeros(count)
    first = 0
    for k in range(len(share)):
        if share[k] < 0.0:
            continue
        for i in range(3):
            for j in range(3):
                one = 1.0 if i == j else 0.0
                along = normal[k, i] * normal[k, j]
                squash = along + share[k] * (one - along)
                if share[k] == 1.0:
                    squash = one
                if squash == 0.0:
                    continue
                error[first + i] += squash * (offset[k, j] + step * curve[k, j])
                for n in range(width):
                    rows[first + i, n] += squash * relative[k, j, n]
        first += 3
    return rows, error


@compiled
def position_cost(
    kept: Float[np.ndarray, "L N"],
    keep: float,
    matrix: Float[np.ndarray, "M N"],
    weight: Float[np.ndarray, " M"],
) -> Float[np.ndarray, "N N"]:
    """Second derivatives of the cost of positions."""
    cost = keep * (kept.T @ kept)
    width = len(cost)
    for m in range(len(weight)):
        # Most rows are of single joints.
        first, last = 0, width
        while first < last and matrix[m, first] == 0.0:
            first += 1
        while last > first and matrix[m, last - 1] == 0.0:
            last -= 1
        for i in range(first, last):
            share = weight[m] * matrix[m, i]
            if share != 0.0:
                for j in range(first, last):
                    cost[i, j] += share * matrix[m, j]
    for n in range(width):
        cost[n, n] += _LEAST_STIFFNESS
    return cost


@compiled
def weighted_errors(
    kept: Float[np.ndarray, "L N"],
    off: Float[np.ndarray, " L"],
    keep: float,
    matrix: Float[np.ndarray, "M N"],
    error: Float[np.ndarray, " M"],
    weight: Float[np.ndarray, " M"],
    target_velocity: Float[np.ndarray, " M"],
) -> tuple:
    """Gradients of half the squared costs of positions and of wanted velocities.

    Args:
        kept: Rows of contacts.
        off: Errors of these rows, m.
        keep: Weight of these rows.
        matrix: Rows of objectives.
        error: Error of each objective.
        weight: Weight of each objective.
        target_velocity: Velocities that are wanted.
    """
    position = keep * (off @ kept)
    velocity = np.zeros(matrix.shape[1])
    for m in range(len(weight)):
        wrong, wanted = weight[m] * error[m], weight[m] * target_velocity[m]
        for n in range(len(velocity)):
            position[n] += wrong * matrix[m, n]
            velocity[n] += wanted * matrix[m, n]
    return position, velocity


@compiled
def block(matrix: Float[np.ndarray, "N N"], own: np.ndarray) -> np.ndarray:
    """Rows and columns of some coordinates."""
    found = np.zeros((len(own), len(own)))
    for i in range(len(own)):
        for j in range(len(own)):
            found[i, j] = matrix[own[i], own[j]]
    return found


@compiled
def put_block(matrix: Float[np.ndarray, "N N"], own: np.ndarray, part: np.ndarray) -> None:
    """Writes rows and columns of some coordinates."""
    for i in range(len(own)):
        for j in range(len(own)):
            matrix[own[i], own[j]] = part[i, j]


@compiled
def acceleration_cost(
    held: Float[np.ndarray, "K 3 N"],
    mass: Float[np.ndarray, "H H"],
    inertia: Float[np.ndarray, "B B"],
    weight: float,
) -> Float[np.ndarray, "N N"]:
    """Cost of changes of acceleration: the changes of torque that they take.

    Contact forces are chosen so that bodies accelerate as asked and torques change least.

    Args:
        held: Velocities of hands over bodies where they touch, by all velocities.
        mass: Mass matrix of hands.
        inertia: Mass matrix of bodies.
        weight: Weight of squared changes of torque.
    """
    nh, n = len(mass), held.shape[2]
    count = 3 * len(held)
    to_hand, to_body = np.zeros((count, nh)), np.zeros((count, n - nh))
    for k in range(len(held)):
        for i in range(3):
            to_hand[3 * k + i] = held[k, i, :nh]
            to_body[3 * k + i] = -held[k, i, nh:]
    size = count + n - nh
    system = np.zeros((size, size))
    system[:count, :count] = to_hand @ to_hand.T
    system[:count, count:] = to_body
    system[count:, :count] = to_body.T
    for i in range(count):
        system[i, i] += 1e-6
    # Bodies that nobody holds accelerate for nothing.
    for i in range(count, size):
        system[i, i] -= 1e-9
    wanted = np.zeros((size, n))
    wanted[:count, :nh] = -(to_hand @ mass)
    wanted[count:, nh:] = inertia
    force = np.linalg.solve(system, wanted)[:count]
    torque = to_hand.T @ np.ascontiguousarray(force)
    torque[:, :nh] += mass
    effort = torque.T @ torque
    for i in range(n):
        effort[i, i] += _ROTOR**2
    return weight * effort
