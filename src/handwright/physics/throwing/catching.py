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
from handwright.physics.throwing.spinning import Tumble, laid_across

# Errors of inverse kinematics above this are out of reach, m, and how often it is asked.
_OUT_OF_REACH, _ITERATIONS = 0.01, 40
# How far the hand turns with the forearm, from straight ahead (0) to in line with it (1).
_IN_LINE = 0.7
LOOK = 0.02
"""Steps in which a flight is looked at, s."""
COMFORTABLE = 0.53
"""From the shoulder to the hollow of a palm that still has room to give, m."""
# Beyond, a metre counts as so many; and an arm that is stretched as far as it goes, m.
_STRAIN, _STRETCHED = 4.0, 0.62
# Lowest and highest place of a catch from the shoulder, m, and the most that a palm is tilted
# towards a flight, rad.
_LOWEST, _HIGHEST, _MOST_TILT = -0.48, 0.12, 0.8

# A long thing may be met so much sooner or later than where a ball is, s; a metre from there counts
# as much as so many radians that it does not lie across the palm, beyond those that do not matter;
# and the most that the hand is turned for it, rad.
_SOONER, _LATER, _AWAY, _WITHIN, _MOST_TURN = 0.12, 0.06, 1.0, 0.6, 0.5


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
    times = earliest + LOOK * np.arange(60)
    cost = discomfort(chain.arm, *flight.along(times), -float(seat[2]), favourite)
    for number in np.argsort(cost):
        if not np.isfinite(cost[number]):
            return None
        found = catch_at(chain.arm, flight, float(times[number]), seat)
        if is_in_reach(chain, found.palm):
            return found
    return None


def is_in_reach(chain: ArmChain, palm: Pose) -> bool:
    """Whether an arm can hold its palm there."""
    return chain.reach(palm, _ITERATIONS)[1] < _OUT_OF_REACH


def discomfort(
    arm: Arm,
    place: Float[np.ndarray, "*N 3"],
    velocity: Float[np.ndarray, "*N 3"],
    reach: float,
    favourite: Float[np.ndarray, "*N 3"],
) -> Float[np.ndarray, "*N"]:
    """How little an arm likes to catch at places of a flight, m; infinite where it cannot.

    Args:
        arm: That catches.
        place: Of the thing, m.
        velocity: Of the thing, m/s.
        reach: From its centre to the skin of the palm, m.
        favourite: Where the hollow likes to catch, m.
    """
    speed = np.linalg.norm(velocity, axis=-1, keepdims=True)
    palm = place + reach * velocity / np.maximum(speed, 1e-6)
    away = np.linalg.norm(palm - favourite, axis=-1)
    stretch = np.linalg.norm(palm - arm.base.position, axis=-1)
    height = place[..., 2] - arm.base.position[2]
    found = away + _STRAIN * np.maximum(stretch - COMFORTABLE, 0.0)
    is_good = (height > _LOWEST) & (height < _HIGHEST) & (velocity[..., 2] < -0.3)
    return np.where(is_good & (stretch < _STRETCHED), found, np.inf)


def long_catch(
    chain: ArmChain,
    flight: Flight,
    tumble: Tumble,
    seat: Float[np.ndarray, "3"],
    earliest: float,
    height: float,
) -> Catch | None:
    """The catch of a can, rod or club, where it lies across the palm; None if none is in reach.

    Args:
        chain: The arm that catches.
        flight: Of the thing.
        tumble: How it turns.
        seat: Where the thing's centre shall be in the frame of the hollow, m.
        earliest: When the hand can be there, s.
        height: Where it is met if it can be chosen freely, m.
    """
    usual = flight.falls_through(height)
    if usual is None:
        return None
    times = np.arange(max(earliest, usual - _SOONER), usual + _LATER, 0.5 * LOOK)
    axes = tumble.at(times)
    places, _ = flight.along(times)
    cost = []
    for time, axis, place in zip(times, axes, places, strict=True):
        level = catch_at(chain.arm, flight, float(time), seat).palm.wxyz
        across = rotation.rotate(level, np.array([0.0, 1.0, 0.0]))
        off = float(np.arccos(np.clip(abs(axis @ across), 0.0, 1.0)))
        cost.append(max(off - _WITHIN, 0.0) + _AWAY * abs(float(place[2]) - height))
    for number in np.argsort(cost):
        time = float(times[number])
        found = catch_at(chain.arm, flight, time, seat)
        wxyz = laid_across(found.palm.wxyz, axes[number], _MOST_TURN)
        place = flight.at(time)[0] - rotation.rotate(wxyz, seat)
        palm = Pose(place, wxyz)
        if is_in_reach(chain, palm):
            return Catch(time, palm, found.velocity)
    return None
