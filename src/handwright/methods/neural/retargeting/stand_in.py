"""The human hand that a network poses in the place of a robot's.

Wrist alignment: the axes of the stand-in's wrist are parallel to those of the robot's root, which
are x to the fingers and z out of the back for both. It is as long as the robot hand, and lies so
that the pads of the open hands have the same middle, over all digits that both have.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Int

from handwright.core.hand import HandModel, Side
from handwright.errors import InvalidValueError
from handwright.hands.human.model import human
from handwright.hands.registry import straight_length
from handwright.hands.scaled import scaled
from handwright.kinematics.fk import posed_pads
from handwright.math.pose import Pose
from handwright.methods.neural.fitting.joint_table import DIGITS
from handwright.methods.neural.sensing.joints import JOINTS, NUM_SITES

_OPEN = "open"


@dataclass(frozen=True, slots=True, eq=False)
class StandIn:
    """A human hand, and how it lies over a robot's."""

    model: HandModel
    """As long as the robot hand."""
    wrist: Pose
    """Of the human wrist in the frame of the robot's root."""
    own: Int[np.ndarray, " N"]
    """Digits of the robot that follow one of the human hand."""
    led_by: Int[np.ndarray, " N"]
    """The digits of the human hand that they follow."""


def needs_stand_in(model: HandModel) -> bool:
    """Whether a hand is not a human one, so that a network cannot pose it as it is."""
    return len(model.sites) != NUM_SITES or any(name not in model.frames.names for name in JOINTS)


def unfit(model: HandModel) -> str:
    """Why no human hand can stand in for a robot's, with the remedy; empty if one can."""
    names = [digit.name for digit in model.digits]
    if "thumb" not in names or not set(names) & set(DIGITS[1:]):
        return (
            f"the digits of '{model.name}' are {', '.join(names)}, and a human hand that stands in "
            f"for it needs a thumb and one or more of {', '.join(DIGITS[1:])}. Name digits so in "
            "the mapping of the hand, or use --method sampling."
        )
    if model.wrist_link != 0:
        return f"'{model.name}' has an arm, and its wrist is wanted. Give the hand without the arm."
    return ""


@lru_cache(maxsize=16)
def stand_in(model: HandModel) -> StandIn:
    """The human hand that stands in for a robot's.

    Args:
        model: A hand without an arm that has a thumb and fingers with the names of a human's, and
            whose root has x to the fingers and z out of the back.
    """
    why = unfit(model)
    if why:
        raise InvalidValueError(f"Learned fingers cannot be given to a robot hand: {why}")
    side: Side = "left" if model.side == "left" else "right"
    bare = human(side)
    hand = scaled(bare, straight_length(model) / straight_length(bare))
    names = [digit.name for digit in hand.digits]
    own = [n for n, digit in enumerate(model.digits) if digit.name in names]
    led_by = [names.index(model.digits[n].name) for n in own]
    there = posed_pads(model, model.pose(_OPEN)).position[own].mean(axis=0)
    here = posed_pads(hand, hand.pose(_OPEN)).position[led_by].mean(axis=0)
    wrist = Pose(there - here, np.array([1.0, 0.0, 0.0, 0.0]))
    return StandIn(hand, wrist, np.array(own), np.array(led_by))
