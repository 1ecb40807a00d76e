"""Throws that turn a can, rod or club end over end, by fourteen constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from jaxtyping import Float, Int

from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.physics.throwing.catching import palm_up
from handwright.physics.throwing.machine import Machine, MachineSettings, Throw

# Free turns may differ from whole half turns by so much, rad.
_OFF_TURN = 0.7


@dataclass(frozen=True, slots=True)
class Flip:
    """Constants of a flip; their defaults turn the thesis' can by half a turn.

    They were found by CMA-ES on chains of eight throws that differed a little. Rolls are about the
    forearm's direction ahead, the thumb going up.
    """

    aside: float = 0.131
    """Velocity when the palm lets go, to the arm's own side, m/s."""
    ahead: float = -0.14
    """The same, ahead, m/s."""
    up: float = 3.24
    """The same, upwards, m/s."""
    roll_from: float = 0.122
    """Roll of the palm at home, rad."""
    roll_by: float = 0.489
    """Roll of the palm during the throw, rad."""
    roll_rate: float = 7.277
    """Rate of that roll when the palm lets go, rad/s."""
    pitch: float = 0.025
    """By how much the throw raises the fingers, rad."""
    yaw: float = -0.103
    """By how much it turns them to the arm's own side, rad."""
    opening: float = 0.058
    """How long before the end of the throw the hand starts to open, s."""
    stroke: float = 0.244
    """How far the throw moves the thing before it is let go, m."""
    grip: float = 0.61
    """How far the hand closes when it catches."""
    held: float = 0.182
    """How far it is closed when the next throw begins."""
    seat_ahead: float = 0.013
    """How far towards the fingers the thing is caught, m."""
    closes_in: float = 0.031
    """How fast the hand closes, s."""

    @property
    def vector(self) -> Float[np.ndarray, " 14"]:
        """The constants in their order."""
        return np.array([getattr(self, item.name) for item in fields(self)])

    @classmethod
    def of(cls, vector: Float[np.ndarray, " 14"]) -> Flip:
        """Constants in their order."""
        return cls(*(float(value) for value in vector))

    def settings(self, usual: MachineSettings) -> MachineSettings:
        """Those of a machine that flips."""
        return replace(
            usual,
            grip=self.grip,
            held=self.held,
            seat_ahead=self.seat_ahead,
            closes_in=max(self.closes_in, 0.03),
        )


SCALES = np.array([0.15, 0.15, 0.3, 0.15, 0.15, 1.2, 0.1, 0.1, 0.015, 0.03, 0.1, 0.1, 0.008, 0.02])
"""By how much each constant of a flip is tried differently; noise of a throw is a share of it."""


def flip_index(names: Sequence[str]) -> Int[np.ndarray, " N"]:
    """Where constants are in the vector of a flip.

    Args:
        names: Of the constants.
    """
    known = [item.name for item in fields(Flip)]
    return np.array([known.index(name) for name in names])


def flip_home(machine: Machine, flip: Flip) -> Pose:
    """Where a flip begins and ends."""
    place = machine.usual_home
    roll = rotation.exp(np.array([0.0, -machine.arm.across * flip.roll_from, 0.0]))
    return Pose.normalized(place, rotation.multiply(roll, palm_up(machine.arm, place)))


def flip_throw(machine: Machine, flip: Flip) -> Throw:
    """The throw of a flip."""
    side = machine.arm.across
    return Throw(
        np.array([side * flip.aside, flip.ahead, flip.up]),
        np.array([flip.pitch, -side * flip.roll_by, -side * flip.yaw]),
        np.array([0.0, -side * flip.roll_rate, 0.0]),
        opening=flip.opening,
        stroke=flip.stroke,
    )


def half_turns(machine: Machine, axis_before: Float[np.ndarray, "3"]) -> int | None:
    """Half turns of the last throw in free flight; None if there was no whole number of them.

    The ends of the thing in the hand must agree with it, and it must have been caught.

    Args:
        machine: That has thrown.
        axis_before: Direction of the thing's axis before the throw.
    """
    if not machine.has_caught:
        return None
    count = round(machine.turned / np.pi)
    is_whole = abs(machine.turned - count * np.pi) < _OFF_TURN
    has_changed_ends = float(machine.axis @ axis_before) < 0.0
    return count if is_whole and has_changed_ends == (count % 2 == 1) else None
