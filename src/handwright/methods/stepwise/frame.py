"""What is known of one frame when it begins: states, time, and velocities so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from handwright.methods.stepwise.world import BodyPoses, BodyState, HandState, World, body_poses


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The start of a frame. Everything that a frame computes is a function of it."""

    world: World
    hands: list[HandState]
    bodies: list[BodyState]
    time: float
    """Time at the start of the frame, s."""
    step: float
    """Length of the frame, s."""
    velocity: Float[np.ndarray, " N"]
    """Velocities of all hands and bodies in the last frame."""
    torque: Float[np.ndarray, " H"]
    """Joint torques of all hands in the last frame, without what carries the hands, N m."""
    poses: BodyPoses
    """Where all bodies are, as compiled code takes it."""

    @classmethod
    def begin(
        cls,
        world: World,
        hands: list[HandState],
        bodies: list[BodyState],
        *,
        time: float,
        step: float,
    ) -> Frame:
        """The frame that begins with these states."""
        velocity = np.concatenate(
            [np.zeros(0), *(hand.velocity for hand in hands), *(body.twist for body in bodies)]
        )
        torque = np.concatenate([np.zeros(0), *(hand.torque for hand in hands)])
        return cls(world, hands, bodies, time, step, velocity, torque, body_poses(bodies))
