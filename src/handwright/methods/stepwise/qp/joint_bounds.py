"""What joints can do in a frame: how fast they may move, and what contacts may ask of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.methods.stepwise.frame import Frame
from handwright.methods.stepwise.world import World

# Share of the strength of joints that contacts may ask for, since fingers have a weight, and how
# near to its limit a joint is at it, rad.
_MUSCLE, _AT_LIMIT = 0.9, 2e-3
# Fastest joints and roots, rad/s and m/s: about what people can do.
_FASTEST = 7.5
# How hard joints brake before their limits, rad/s^2: what is stopped dead tears out of the hand.
_BRAKE = 15.0


class JointBounds(NamedTuple):
    """Lowest and highest of velocities and of torques, for all velocities of hands."""

    slowest: Float[np.ndarray, " H"]
    fastest: Float[np.ndarray, " H"]
    weakest: Float[np.ndarray, " H"]
    """Torques that contacts may ask for, N m."""
    strongest: Float[np.ndarray, " H"]


class JointRange(NamedTuple):
    """Limits of joint values, rad, and of torques, N m, for all velocities; roots have none."""

    lower: Float[np.ndarray, " H"]
    upper: Float[np.ndarray, " H"]
    weakest: Float[np.ndarray, " H"]
    strongest: Float[np.ndarray, " H"]


def joint_range(world: World) -> JointRange:
    """Limits of all hands."""
    lower, upper, weakest, strongest = (np.full(world.num_hand_velocities, s * np.inf) for s in
                                        (-1.0, 1.0, -1.0, 1.0))  # fmt: skip
    for hand in world.hands:
        own = slice(hand.first + hand.num_root, hand.first + hand.count)
        lower[own], upper[own] = hand.model.joints.lower, hand.model.joints.upper
        weakest[own], strongest[own] = hand.strength.lower, hand.strength.upper
    return JointRange(lower, upper, _MUSCLE * weakest, _MUSCLE * strongest)


def joint_bounds(limits: JointRange, frame: Frame) -> JointBounds:
    """Joints stay within their limits, or come back to them; ligaments hold them there."""
    world, step = frame.world, frame.step
    q = np.zeros(world.num_hand_velocities)
    for hand, state in zip(world.hands, frame.hands, strict=True):
        q[hand.first + hand.num_root : hand.first + hand.count] = state.q
    return JointBounds(
        -stoppable(q - limits.lower, step),
        stoppable(limits.upper - q, step),
        np.where(q >= limits.upper - _AT_LIMIT, -np.inf, limits.weakest),
        np.where(q <= limits.lower + _AT_LIMIT, np.inf, limits.strongest),
    )


def stoppable(room: Float[np.ndarray, " H"], step: float) -> Float[np.ndarray, " H"]:
    """Largest velocities towards limits that are so far away, rad/s; back to them where beyond.

    After a frame at ``v`` there is ``room - step v`` left, in which the brake must end it:
    ``v^2 / (2 brake) <= room - step v``.
    """
    slow = _BRAKE * step
    inside = np.sqrt(slow**2 + 2.0 * _BRAKE * np.maximum(room, 0.0)) - slow
    return np.minimum(np.where(room >= 0.0, inside, np.maximum(room / step, -_FASTEST)), _FASTEST)
