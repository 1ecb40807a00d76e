"""Which corners carry a body, and impulses of surfaces on one that no hand touches; compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.kernels.decorators import compiled, kernel
from handwright.methods.stepwise.contacts.contact_limits import least_speed

TOUCHING = 5e-4
"""Gap below which a contact begins, m."""
# How much higher than the lowest corner others may be that carry with it, m.
_PATCH = 5e-4
# Corners of a body on a surface that carry it; more add nothing but unknowns.
_NUM_CARRYING = 6


@compiled
def is_lowest(gap: Float[np.ndarray, " V"]) -> np.ndarray:
    """(V,) corners that touch, and are not much higher than the lowest: those that can carry."""
    least = np.inf
    for v in range(len(gap)):
        least = min(least, gap[v])
    found = np.zeros(len(gap), dtype=np.bool_)
    for v in range(len(gap)):
        found[v] = gap[v] < TOUCHING and gap[v] < least + _PATCH
    return found


@compiled
def carrying_corners(
    arms: Float[np.ndarray, "V 3"], normals: Float[np.ndarray, "V 3"], gap: Float[np.ndarray, " V"]
) -> np.ndarray:
    """Rows of corners that carry a body: the outermost in a few directions, and the deepest."""
    if len(arms) <= _NUM_CARRYING:
        return np.arange(len(arms))
    x, y, z = normals[0, 0], normals[0, 1], normals[0, 2]
    axis = np.zeros(3)
    axis[np.argmin(np.abs(normals[0]))] = 1.0
    fx, fy, fz = y * axis[2] - z * axis[1], z * axis[0] - x * axis[2], x * axis[1] - y * axis[0]
    size = np.sqrt(fx * fx + fy * fy + fz * fz)
    fx, fy, fz = fx / size, fy / size, fz / size
    sx, sy, sz = y * fz - z * fy, z * fx - x * fz, x * fy - y * fx
    is_chosen = np.zeros(len(arms), dtype=np.bool_)
    is_chosen[np.argmin(gap)] = True
    for way in range(_NUM_CARRYING):
        angle = 2.0 * np.pi * way / _NUM_CARRYING
        c, s = np.cos(angle), np.sin(angle)
        wx, wy, wz = c * fx + s * sx, c * fy + s * sy, c * fz + s * sz
        best, farthest = 0, -np.inf
        for v in range(len(arms)):
            reach = arms[v, 0] * wx + arms[v, 1] * wy + arms[v, 2] * wz
            if reach > farthest:
                best, farthest = v, reach
        is_chosen[best] = True
    return np.flatnonzero(is_chosen)


# Sweeps end when no impulse changes by more than this share of the weight in a frame.
_SETTLED = 1e-7
# How often corners are taken in, sweeps over them each time, and what counts as deeper, m.
_NUM_ROUNDS, _NUM_SWEEPS, _SUNK = 12, 50, 1e-6


class InverseMass(NamedTuple):
    """How a body answers to impulses."""

    mass: float
    """kg."""
    inverse_inertia: Float[np.ndarray, "3 3"]
    """Inverse of the inertia in the world, 1/(kg m^2)."""


class SupportCorners(NamedTuple):
    """Corners of a body that surfaces may carry."""

    arm: Float[np.ndarray, "V 3"]
    """Vectors from the centre of mass, m."""
    gap: Float[np.ndarray, " V"]
    """Distances from the surfaces, m."""
    normal: Float[np.ndarray, "V 3"]
    """Unit normals into the body."""
    friction: Float[np.ndarray, " V"]
    """Coulomb coefficients."""


class PointResponse(NamedTuple):
    """What each corner that carries asks for, and how strongly it gives way to an impulse."""

    low: Float[np.ndarray, " K"]
    """Least normal velocities, m/s."""
    most: Float[np.ndarray, " K"]
    """Compliance, an upper bound over all directions, 1/kg."""
    along: Float[np.ndarray, " K"]
    """Compliance along the normal, 1/kg."""


@compiled
def resting_impulses(
    body: InverseMass,
    points: SupportCorners,
    velocity: Float[np.ndarray, "6"],
    impulse: Float[np.ndarray, "K 3"],
    scale: float,
    step: float,
) -> bool:
    """Impulses on a body that keep its points out of surfaces, within Coulomb's cones.

    Says whether they have settled.

    Args:
        body: How the body answers to impulses.
        points: Where the surfaces carry it.
        velocity: Linear and angular velocity with the impulses; changed along with them.
        impulse: Impulses of the points, N s; changed.
        scale: Impulse of the weight in a frame, N s.
        step: Length of the frame, s.
    """
    mass, inverse_inertia = body.mass, body.inverse_inertia
    arm, normal = points.arm, points.normal
    count = len(arm)
    give, along = np.zeros(count), np.zeros(count)
    size = np.sqrt((inverse_inertia**2).sum())
    for k in range(count):
        reach = arm[k, 0] ** 2 + arm[k, 1] ** 2 + arm[k, 2] ** 2
        give[k] = 1.0 / mass + reach * size
        lever = np.cross(arm[k], normal[k])
        along[k] = 1.0 / mass + lever @ (inverse_inertia @ lever)
    response = PointResponse(least_speed(points.gap, step), give, along)
    for _ in range(_NUM_SWEEPS):
        largest = 0.0
        for k in range(count):
            change = _settle_point(k, body, points, response, velocity, impulse)
            largest = max(largest, change)
        if largest < _SETTLED * scale:
            return True
    return False


@kernel
def _settle_point(
    k: int,
    body: InverseMass,
    points: SupportCorners,
    response: PointResponse,
    velocity: np.ndarray,
    impulse: np.ndarray,
) -> float:
    """Gives one point the impulse that it needs; returns the largest part of the change, N s."""
    arm, normal, mass, give = points.arm, points.normal, body.mass, response.most
    ax, ay, az = arm[k, 0], arm[k, 1], arm[k, 2]
    nx, ny, nz = normal[k, 0], normal[k, 1], normal[k, 2]
    # Velocity of the point.
    px = velocity[0] + velocity[4] * az - velocity[5] * ay
    py = velocity[1] + velocity[5] * ax - velocity[3] * az
    pz = velocity[2] + velocity[3] * ay - velocity[4] * ax
    was_x, was_y, was_z = impulse[k, 0], impulse[k, 1], impulse[k, 2]
    was, speed = was_x * nx + was_y * ny + was_z * nz, px * nx + py * ny + pz * nz
    push = max(was + (response.low[k] - speed) / response.along[k], 0.0)
    tx = was_x - was * nx - (px - speed * nx) / give[k]
    ty = was_y - was * ny - (py - speed * ny) / give[k]
    tz = was_z - was * nz - (pz - speed * nz) / give[k]
    size = np.sqrt(tx * tx + ty * ty + tz * tz)
    most = points.friction[k] * push
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
        row = body.inverse_inertia[i]
        velocity[3 + i] += row[0] * mx + row[1] * my + row[2] * mz
    return max(abs(cx), abs(cy), abs(cz))


@compiled
def support_impulses(
    body: InverseMass,
    free: Float[np.ndarray, "6"],
    corners: SupportCorners,
    guess: Float[np.ndarray, "V 3"],
    scale: float,
    step: float,
) -> tuple:
    """Velocity of a body with its supports, rows of corners that carry it, and their impulses.

    Corners are taken in until none that is left out would come to lie deeper; what the others do by
    then is where they go on from. Those that have a guess begin with it.

    Args:
        body: How the body answers to impulses.
        free: Velocity without contacts, linear and angular.
        corners: Corners near surfaces.
        guess: Impulses of the corners to begin with, N s; most of them zero.
        scale: Impulse of the weight in a frame, N s.
        step: Length of the frame, s.
    """
    arms, gap, normal = corners.arm, corners.gap, corners.normal
    velocity = free.copy()
    is_chosen = np.zeros(len(gap), dtype=np.bool_)
    for v in range(len(gap)):
        push = guess[v]
        is_chosen[v] = push.any()
        if is_chosen[v]:
            velocity[:3] += push / body.mass
            velocity[3:] += body.inverse_inertia @ np.cross(arms[v], push)
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
        points = SupportCorners(arms[chosen], gap[chosen], normal[chosen], corners.friction[chosen])
        is_settled = resting_impulses(body, points, velocity, impulse, scale, step)
    return velocity, chosen, impulse
