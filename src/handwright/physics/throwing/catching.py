"""Where a hand meets what flies towards it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.physics.throwing.arm import Arm
from handwright.physics.throwing.arm_ik import ArmChain
from handwright.physics.throwing.flight import Flight

# Errors of inverse kinematics above this are out of reach, m, and how often it is asked.
_OUT_OF_REACH, _ITERATIONS = 0.01, 40
# How far the hand turns with the forearm, from straight ahead (0) to in line with it (1).
_IN_LINE = 0.7
# Steps in which a flight is looked at, s.
_LOOK = 0.02
# Lowest and highest place of a catch from the shoulder, m, and the most that a palm is tilted
# towards a flight, rad.
_LOWEST, _HIGHEST, _MOST_TILT = -0.48, 0.12, 0.8


class Catch(NamedTuple):
    """A meeting of palm and thing."""

    time: float
    """s."""
    palm: Pose
    """Of the hollow, oriented as the wrist is."""
    velocity: Float[np.ndarray, "3"]
    """Of the thing, m/s."""


def palm_up(arm: Arm, place: Float[np.ndarray, "3"]) -> Float[np.ndarray, "4"]:
    """Orientation of a wrist with the palm up, the hand in line with the forearm.

    Args:
        arm: That catches.
        place: Of the palm, m: the forearm points there from beside the body.
    """
    base = arm.base.position
    yaw = _IN_LINE * float(np.arctan2(base[0] - place[0], max(place[1] - base[1], 0.1)))
    along = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
    back = np.array([0.0, 0.0, -1.0])
    return rotation.from_matrix(np.stack([along, np.cross(back, along), back], axis=-1))


def facing(
    arm: Arm, place: Float[np.ndarray, "3"], velocity: Float[np.ndarray, "3"]
) -> Float[np.ndarray, "4"]:
    """Orientation of a wrist whose palm faces what comes with a velocity, as far as it can."""
    down = np.array([0.0, 0.0, -1.0])
    turn = rotation.log(rotation.between(down, velocity / float(np.linalg.norm(velocity))))
    angle = float(np.linalg.norm(turn))
    if angle > _MOST_TILT:
        turn = turn * (_MOST_TILT / angle)
    return rotation.multiply(rotation.exp(turn), palm_up(arm, place))


def catch_at(arm: Arm, flight: Flight, time: float, seat: Float[np.ndarray, "3"]) -> Catch:
    """The catch at a time of a flight.

    Args:
        arm: That catches.
        flight: Of the thing.
        time: s.
        seat: Where the thing's centre shall be in the frame of the hollow, m.
    """
    place, velocity = flight.at(time)
    wxyz = facing(arm, place, velocity)
    return Catch(time, Pose(place - rotation.rotate(wxyz, seat), wxyz), velocity)


def best_catch(
    chain: ArmChain,
    flight: Flight,
    seat: Float[np.ndarray, "3"],
    *,
    earliest: float,
    favourite: Float[np.ndarray, "3"],
) -> Catch | None:
    """The most comfortable place of a flight to catch it; None if none is in reach.

    Args:
        chain: The arm that catches.
        flight: Of the thing.
        seat: Where the thing's centre shall be in the frame of the hollow, m.
        earliest: When the hand can be there, s.
        favourite: Where the hollow likes to catch, m.
    """
    best, least = None, np.inf
    shoulder = float(chain.arm.base.position[2])
    for time in earliest + _LOOK * np.arange(60):
        place, velocity = flight.at(float(time))
        if place[2] < shoulder + _LOWEST:
            break
        if place[2] > shoulder + _HIGHEST or velocity[2] > -0.3:
            continue
        found = catch_at(chain.arm, flight, float(time), seat)
        _, error = chain.reach(found.palm, _ITERATIONS)
        if error > _OUT_OF_REACH:
            continue
        cost = float(np.linalg.norm(found.palm.position - favourite)) + 10.0 * error
        if cost < least:
            best, least = found, cost
    return best
