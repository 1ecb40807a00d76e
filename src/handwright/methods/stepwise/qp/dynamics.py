"""The equations of motion of a frame: mass matrices, velocity forces, and free motion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.kernels.decorators import compiled
from handwright.methods.stepwise.frame import Frame
from handwright.methods.stepwise.objectives.body_rotation import midpoint_rotation
from handwright.methods.stepwise.world import BodyMasses


class FrameDynamics(NamedTuple):
    """The equations of motion of a frame."""

    mass: Float[np.ndarray, "H H"]
    """Mass matrix of all hands."""
    bias: Float[np.ndarray, " H"]
    """Velocity forces of hands, N m."""
    inertia: Float[np.ndarray, "B B"]
    """Mass matrix of all bodies, kg and the like."""
    inverse: Float[np.ndarray, "B B"]
    """Inverse of the mass matrix of bodies; zero for bodies whose motion is known."""
    free: Float[np.ndarray, " B"]
    """Velocities of bodies after the frame if nothing touched them."""


class BodyDynamics(NamedTuple):
    """Equations of motion of all bodies, in arrays that a kernel fills."""

    inertia: Float[np.ndarray, "6*B 6*B"]
    """Mass matrix; must hold zeros."""
    inverse: Float[np.ndarray, "6*B 6*B"]
    """Inverse of the mass matrix; must hold zeros."""
    free: Float[np.ndarray, "B 6"]
    """Velocities after the frame if nothing touched the bodies."""


def frame_dynamics(frame: Frame, external: Float[np.ndarray, "B 6"]) -> FrameDynamics:
    """Mass matrices and free motion.

    External are force and moment about the centre of mass, gravity left out.
    """
    world, bodies = frame.world, frame.bodies
    count = world.num_hand_velocities
    mass, bias = np.zeros((count, count)), np.zeros(count)
    for hand, state in zip(world.hands, frame.hands, strict=True):
        own = hand.slice
        mass[own, own], bias[own] = hand.dynamics.at(
            state.q, state.velocity, state.position, state.wxyz
        )
    free = np.zeros((len(bodies), 6))
    inertia, inverse = np.zeros((2, 6 * len(bodies), 6 * len(bodies)))
    if bodies:
        body_dynamics(
            world.masses,
            np.array([now.wxyz for now in bodies]),
            np.array(
                [(now.angular_velocity, now.velocity, now.angular_momentum) for now in bodies]
            ),
            external,
            world.gravity,
            frame.step,
            BodyDynamics(inertia, inverse, free),
        )
    return FrameDynamics(mass, bias, inertia, inverse, free.reshape(-1))


@compiled
def body_dynamics(
    masses: BodyMasses,
    wxyz: Float[np.ndarray, "B 4"],
    motion: Float[np.ndarray, "B 3 3"],
    external: Float[np.ndarray, "B 6"],
    gravity: Float[np.ndarray, "3"],
    step: float,
    out: BodyDynamics,
) -> None:
    """Mass matrices and free velocities of bodies.

    Motion holds angular velocities, velocities and angular momenta; gravity is no external force.
    """
    mass, inertia, inverse, free = masses.mass, out.inertia, out.inverse, out.free
    for n in range(len(mass)):
        at = 6 * n
        middle = midpoint_rotation(wxyz[n], motion[n, 0], step)
        back = np.ascontiguousarray(middle.T)
        turned = middle @ masses.inverse[n] @ back
        inertia[at + 3 : at + 6, at + 3 : at + 6] = middle @ masses.inertia[n] @ back
        inverse[at + 3 : at + 6, at + 3 : at + 6] = turned
        for i in range(3):
            inertia[at + i, at + i], inverse[at + i, at + i] = mass[n], 1.0 / mass[n]
            rate = external[n, i] / mass[n] + gravity[i]
            free[n, i] = motion[n, 1, i] + step * rate
        free[n, 3:] = turned @ (motion[n, 2] + step * external[n, 3:])
