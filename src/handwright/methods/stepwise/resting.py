"""Bodies that no hand touches: they fall, land, slide and rest, by impulses one after another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.contact import ENVIRONMENT, Contact, ContactMode
from handwright.math.compiled import compiled, kernel
from handwright.math.vectors import cross
from handwright.mechanics.sliding import STATIC_SPEED
from handwright.methods.stepwise.laws import Mechanics
from handwright.methods.stepwise.meeting import (
    BodyMeeting,
    NearCorners,
    carrying_corners,
    joined_corners,
)
from handwright.methods.stepwise.touch_limits import least_speed
from handwright.methods.stepwise.world import BodyState, World

_NUM_SWEEPS = 400
# Sweeps end when no impulse changes by more than this share of the weight in a frame.
_SETTLED = 1e-7
# How often corners are taken in, and what counts as deeper, m.
_NUM_ROUNDS, _SUNK = 12, 1e-6


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
) -> Float[np.ndarray, "K 3"]:
    """Impulses on a body, N s, that keep its points out of surfaces, within Coulomb's cones.

    Args:
        mass: kg.
        inverse_inertia: In the world, 1/(kg m^2).
        velocity: Linear and angular, without contacts; becomes that with them.
        arm: Points from the centre of mass, m.
        normal: Into the body.
        low: Least normal velocities of the points, m/s.
        friction: Coulomb coefficients.
        scale: Impulse of the weight in a frame, N s.
    """
    count = len(arm)
    impulse = np.zeros((count, 3))
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
            break
    return impulse


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


class Support(NamedTuple):
    """Forces of surfaces on one body in a frame; K points."""

    body: int
    surface: Float[np.ndarray, " K"]
    """Numbers in the problem."""
    point: Float[np.ndarray, "K 3"]
    normal: Float[np.ndarray, "K 3"]
    gap: Float[np.ndarray, " K"]
    force: Float[np.ndarray, "K 3"]
    slip: Float[np.ndarray, "K 3"]
    """Of the surface over the body, m/s."""


class Resting(NamedTuple):
    """What surfaces do to bodies that no hand touches."""

    supports: tuple[Support, ...]
    wrench: Float[np.ndarray, "B 6"]
    """Force and moment about the centre of mass."""

    def contacts(self, world: World, frame: int) -> list[Contact]:
        """As a clip lists them."""
        return [
            Contact(
                frame=frame,
                toucher=ENVIRONMENT,
                part=int(support.surface[k]),
                body=world.bodies[support.body].name,
                point=support.point[k],
                normal=support.normal[k],
                gap=float(support.gap[k]),
                force=support.force[k],
                mode=ContactMode.SLIDING
                if np.linalg.norm(support.slip[k]) > STATIC_SPEED
                else ContactMode.STATIC,
            )
            for support in self.supports
            for k in range(len(support.gap))
            if support.force[k].any()
        ]


def rest_bodies(
    world: World,
    bodies: list[BodyState],
    between: list[BodyMeeting],
    active: set[int],
    laws: Mechanics,
    step: float,
) -> Resting:
    """Solves bodies that no hand touches; their motion is known to the hands from then on.

    Args:
        world: What does not change.
        bodies: Now.
        between: Corners near surfaces.
        active: Bodies that are left to the step.
        laws: Their velocities and inverse masses are replaced.
        step: s.
    """
    supports, wrench = [], np.zeros((len(bodies), 6))
    for n, now in enumerate(bodies):
        if n in active:
            continue
        own = slice(6 * n, 6 * n + 6)
        near = [meeting for meeting in between if meeting.body == n and meeting.other < 0]
        if near:
            support, velocity = _support(world, n, now, joined_corners(near), laws, step)
            supports.append(support)
            wrench[n, :3] = support.force.sum(axis=0)
            wrench[n, 3:] = np.cross(support.point - now.center, support.force).sum(axis=0)
            laws.free[own] = velocity
        laws.inverse[own, own] = 0.0
    return Resting(tuple(supports), wrench)


def _support(
    world: World, n: int, now: BodyState, near: NearCorners, laws: Mechanics, step: float
) -> tuple[Support, Float[np.ndarray, "6"]]:
    """Forces of surfaces on a body, and its velocity with them.

    Corners are taken in until none that is left out would come to lie deeper.
    """
    body = world.bodies[n]
    own = slice(6 * n, 6 * n + 6)
    arms = body.corners[near.corner] @ now.turn.T
    inverse = np.ascontiguousarray(laws.inverse[own, own][3:, 3:])
    scale = step * body.body.mass * float(np.linalg.norm(world.gravity))
    velocity = laws.free[own].copy()
    chosen = np.zeros(0, dtype=np.int64)
    impulse = np.zeros((0, 3))
    for _ in range(_NUM_ROUNDS):
        moved = velocity[:3] + cross(velocity[3:], arms)
        ending = near.gap + step * np.einsum("vi,vi->v", moved, near.normal)
        sunk = np.setdiff1d(np.flatnonzero(ending < np.minimum(near.gap, 0.0) - _SUNK), chosen)
        if len(sunk) == 0:
            break
        chosen = np.concatenate(
            [chosen, sunk[carrying_corners(arms[sunk], near.normal[sunk], ending[sunk])]]
        )
        velocity = laws.free[own].copy()
        impulse = resting_impulses(
            body.body.mass,
            inverse,
            velocity,
            arms[chosen],
            near.normal[chosen],
            least_speed(near.gap[chosen], step),
            world.surfaces.frictions[near.surface[chosen]],
            scale,
        )
    arm, normal = arms[chosen], near.normal[chosen]
    moved = velocity[:3] + cross(velocity[3:], arm)
    slip = -(moved - np.einsum("ki,ki->k", moved, normal)[:, None] * normal)
    numbers = np.array(world.surface_number)[near.surface[chosen]]
    support = Support(n, numbers, now.center + arm, normal, near.gap[chosen], impulse / step, slip)
    return support, velocity
