"""The equations of motion of a frame: mass matrices, velocity forces, and free motion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.kernels.decorators import compiled
from handwright.methods.stepwise.objectives.body_turns import middle_turn
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
    masses = world.masses
    free = np.zeros((len(bodies), 6))
    inertia, inverse = np.zeros((2, 6 * len(bodies), 6 * len(bodies)))
    if bodies:
        body_laws(
            masses.mass,
            masses.inertia,
            masses.inverse,
            np.array([now.wxyz for now in bodies]),
            np.array([(now.rate, now.velocity, now.spin) for now in bodies]),
            external,
            world.gravity,
            step,
            inertia,
            inverse,
            free,
        )
    return Mechanics(mass, bias, inertia, inverse, free.reshape(-1))


@compiled
def body_laws(
    mass: np.ndarray,
    body_inertia: np.ndarray,
    body_inverse: np.ndarray,
    wxyz: np.ndarray,
    motion: np.ndarray,
    external: np.ndarray,
    gravity: np.ndarray,
    step: float,
    inertia: np.ndarray,
    inverse: np.ndarray,
    free: np.ndarray,
) -> None:
    """Mass matrices and free velocities of bodies.

    Args:
        mass: (B,) kg.
        body_inertia: (B, 3, 3) in the bodies' axes, kg m^2.
        body_inverse: (B, 3, 3) its inverse.
        wxyz: (B, 4) orientations.
        motion: (B, 3, 3) angular velocities, velocities and angular momenta.
        external: (B, 6) forces and moments, gravity left out.
        gravity: (3,) m/s^2.
        step: s.
        inertia: (6 B, 6 B) zeros; filled.
        inverse: Likewise.
        free: (B, 6) filled.
    """
    for n in range(len(mass)):
        at = 6 * n
        middle = middle_turn(wxyz[n], motion[n, 0], step)
        back = np.ascontiguousarray(middle.T)
        turned = middle @ body_inverse[n] @ back
        inertia[at + 3 : at + 6, at + 3 : at + 6] = middle @ body_inertia[n] @ back
        inverse[at + 3 : at + 6, at + 3 : at + 6] = turned
        for i in range(3):
            inertia[at + i, at + i], inverse[at + i, at + i] = mass[n], 1.0 / mass[n]
            rate = external[n, i] / mass[n] + gravity[i]
            free[n, i] = motion[n, 1, i] + step * rate
        free[n, 3:] = turned @ (motion[n, 2] + step * external[n, 3:])
