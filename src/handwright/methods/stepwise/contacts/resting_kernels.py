"""Impulses of surfaces on a body that no hand touches, compiled."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.kernels.decorators import compiled, kernel
from handwright.methods.stepwise.contacts.touch_limits import least_speed
from handwright.methods.stepwise.objectives.carrying import carrying_corners

# Sweeps end when no impulse changes by more than this share of the weight in a frame.
_SETTLED = 1e-7
# How often corners are taken in, sweeps over them each time, and what counts as deeper, m.
_NUM_ROUNDS, _NUM_SWEEPS, _SUNK = 12, 50, 1e-6


@compiled
def resting_impulses(
    mass: float,
    inverse_inertia: Float[np.ndarray, "3 3"],
    velocity: Float[np.ndarray, "6"],
    arm: Float[np.ndarray, "K 3"],
    normal: Float[np.ndarray, "K 3"],
    low: Float[np.ndarray, " K"],
    friction: Float[np.ndarray, " K"],
    scale: float,
    impulse: Float[np.ndarray, "K 3"],
) -> bool:
    """Impulses on a body that keep its points out of surfaces, within Coulomb's cones.

    Says whether they have settled.

    Args:
        mass: kg.
        inverse_inertia: In the world, 1/(kg m^2).
        velocity: Linear and angular, with the impulses; changed along with them.
        arm: Points from the centre of mass, m.
        normal: Into the body.
        low: Least normal velocities of the points, m/s.
        friction: Coulomb coefficients.
        scale: Impulse of the weight in a frame, N s.
        impulse: N s; changed.
    """
    count = len(arm)
    # How strongly a point gives way to an impulse: at most, over all directions, and along the
    # normal.
    give, along = np.zeros(count), np.zeros(count)
    size = np.sqrt((inverse_inertia**2).sum())
    for k in range(count):
        reach = arm[k, 0] ** 2 + arm[k, 1] ** 2 + arm[k, 2] ** 2
        give[k] = 1.0 / mass + reach * size
        lever = np.cross(arm[k], normal[k])
        along[k] = 1.0 / mass + lever @ (inverse_inertia @ lever)
    for _ in range(_NUM_SWEEPS):
        largest = 0.0
        for k in range(count):
            change = _settle_point(
                k, mass, inverse_inertia, velocity, arm, normal, low, friction, give, along, impulse
            )
            largest = max(largest, change)
        if largest < _SETTLED * scale:
            return True
    return False


@kernel
def _settle_point(
    k: int,
    mass: float,
    inverse_inertia: np.ndarray,
    velocity: np.ndarray,
    arm: np.ndarray,
    normal: np.ndarray,
    low: np.ndarray,
    friction: np.ndarray,
    give: np.ndarray,
    along: np.ndarray,
    impulse: np.ndarray,
) -> float:
    """Gives one point the impulse that it needs; the largest part of the change, N s."""
    ax, ay, az = arm[k, 0], arm[k, 1], arm[k, 2]
    nx, ny, nz = normal[k, 0], normal[k, 1], normal[k, 2]
    # Velocity of the point.
    px = velocity[0] + velocity[4] * az - velocity[5] * ay
    py = velocity[1] + velocity[5] * ax - velocity[3] * az
    pz = velocity[2] + velocity[3] * ay - velocity[4] * ax
    was_x, was_y, was_z = impulse[k, 0], impulse[k, 1], impulse[k, 2]
    was, speed = was_x * nx + was_y * ny + was_z * nz, px * nx + py * ny + pz * nz
    push = max(was + (low[k] - speed) / along[k], 0.0)
    tx = was_x - was * nx - (px - speed * nx) / give[k]
    ty = was_y - was * ny - (py - speed * ny) / give[k]
    tz = was_z - was * nz - (pz - speed * nz) / give[k]
    size = np.sqrt(tx * tx + ty * ty + tz * tz)
    most = friction[k] * push
    if size > most:
        share = most / max(size, 1e-300)
        tx, ty, tz = share * tx, share * ty, share * tz
    impulse[k, 0], impulse[k, 1], impulse[k, 2] = push * nx + tx, push * ny + ty, push * nz + tz
    cx, cy, cz = impulse[k, 0] - was_x, impulse[k, 1] - was_y, impulse[k, 2] - was_z
    velocity[0] += cx / mass
    velocity[1] += cy / mass
    velocity[2] += cz / mass
    mx, my, mz = ay * cz - az * cy, az * cx - ax * cz, ax * cy - ay * cx
    for i in range(3):
        row = inverse_inertia[i]
        velocity[3 + i] += row[0] * mx + row[1] * my + row[2] * mz
    return max(abs(cx), abs(cy), abs(cz))


@compiled
def support_impulses(
    mass: float,
    inverse_inertia: Float[np.ndarray, "3 3"],
    free: Float[np.ndarray, "6"],
    arms: Float[np.ndarray, "V 3"],
    gap: Float[np.ndarray, " V"],
    normal: Float[np.ndarray, "V 3"],
    friction: Float[np.ndarray, " V"],
    scale: float,
    step: float,
    guess: Float[np.ndarray, "V 3"],
) -> tuple:
    """Velocity of a body with its supports, rows of corners that carry it, and their impulses.

    Corners are taken in until none that is left out would come to lie deeper; what the others do by
    then is where they go on from. Those that have a guess begin with it.

    Args:
        mass: kg.
        inverse_inertia: In the world, 1/(kg m^2).
        free: Velocity without contacts, linear and angular.
        arms: Corners from the centre of mass, m.
        gap: Of corners, m.
        normal: Into the body.
        friction: Coulomb coefficients.
        scale: Impulse of the weight in a frame, N s.
        step: s.
        guess: Impulses, N s, most of them none.
    """
    velocity = free.copy()
    is_chosen = np.zeros(len(gap), dtype=np.bool_)
    for v in range(len(gap)):
        push = guess[v]
        is_chosen[v] = push.any()
        if is_chosen[v]:
            velocity[:3] += push / mass
            velocity[3:] += inverse_inertia @ np.cross(arms[v], push)
    chosen = np.flatnonzero(is_chosen)
    impulse = guess[chosen]
    is_settled = len(chosen) == 0
    for _ in range(_NUM_ROUNDS):
        ending = np.zeros(len(gap))
        is_sunk = np.zeros(len(gap), dtype=np.bool_)
        for v in range(len(gap)):
            x = velocity[0] + velocity[4] * arms[v, 2] - velocity[5] * arms[v, 1]
            y = velocity[1] + velocity[5] * arms[v, 0] - velocity[3] * arms[v, 2]
            z = velocity[2] + velocity[3] * arms[v, 1] - velocity[4] * arms[v, 0]
            ending[v] = gap[v] + step * (x * normal[v, 0] + y * normal[v, 1] + z * normal[v, 2])
            is_sunk[v] = not is_chosen[v] and ending[v] < min(gap[v], 0.0) - _SUNK
        sunk = np.flatnonzero(is_sunk)
        if len(sunk) == 0 and is_settled:
            break
        sunk = sunk[carrying_corners(arms[sunk], normal[sunk], ending[sunk])]
        is_chosen[sunk] = True
        chosen = np.concatenate((chosen, sunk))
        impulse = np.concatenate((impulse, np.zeros((len(sunk), 3))))
        is_settled = resting_impulses(
            mass,
            inverse_inertia,
            velocity,
            arms[chosen],
            normal[chosen],
            least_speed(gap[chosen], step),
            friction[chosen],
            scale,
            impulse,
        )
    return velocity, chosen, impulse
