"""The equations of motion of a frame: mass matrices, velocity forces, and free motion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.methods.stepwise.body_turns import middle_turn
from handwright.methods.stepwise.world import BodyState, HandState, World


class Mechanics(NamedTuple):
    """The equations of motion of a frame."""

    mass: Float[np.ndarray, "H H"]
    """Of all hands."""
    bias: Float[np.ndarray, " H"]
    """Velocity forces of hands, N m."""
    inertia: Float[np.ndarray, "B B"]
    """Mass matrix of all bodies, kg and the like."""
    inverse: Float[np.ndarray, "B B"]
    """Its inverse; zero for bodies whose motion is known."""
    free: Float[np.ndarray, " B"]
    """Velocities of bodies after the frame if nothing touched them."""


def mechanics(
    world: World,
    hands: list[HandState],
    bodies: list[BodyState],
    external: Float[np.ndarray, "B 6"],
    step: float,
) -> Mechanics:
    """Mass matrices and free motion.

    Args:
        world: What does not change.
        hands: Now.
        bodies: Now.
        external: Force and moment about the centre of mass on every body, gravity left out.
        step: s.
    """
    count = world.num_hand_velocities
    mass, bias = np.zeros((count, count)), np.zeros(count)
    for hand, state in zip(world.hands, hands, strict=True):
        own = hand.slice
        mass[own, own], bias[own] = hand.dynamics.at(
            state.q, state.velocity, state.place, state.wxyz
        )
    inertia, inverse = np.zeros((2, 6 * len(bodies), 6 * len(bodies)))
    free = np.zeros(6 * len(bodies))
    for n, (body, now) in enumerate(zip(world.bodies, bodies, strict=True)):
        middle = middle_turn(now.wxyz, now.rate, step)
        at = 6 * n
        inertia[at : at + 3, at : at + 3] = np.eye(3) * body.body.mass
        turned = middle @ body.body.inertia @ middle.T
        inertia[at + 3 : at + 6, at + 3 : at + 6] = turned
        turned = middle @ body.inverse @ middle.T
        inverse[at : at + 3, at : at + 3] = np.eye(3) / body.body.mass
        inverse[at + 3 : at + 6, at + 3 : at + 6] = turned
        force = external[n, :3] / body.body.mass + world.gravity
        free[at : at + 3] = now.velocity + step * force
        free[at + 3 : at + 6] = turned @ (now.spin + step * external[n, 3:])
    return Mechanics(mass, bias, inertia, inverse, free)
