"""Where a hand takes a prop: the hold that its arm reaches best and that leaves the other room."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.learning.data.activities import yawed
from handwright.learning.data.holds import Hold
from handwright.learning.data.stage import SHOULDERS, arm_strain
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.studio.live.fingers.props import HandledProp
from handwright.studio.live.fingers.reaching import ReachingHand, hold_points

# What a grip costs beside the strain of the arm: whole hands look surer than fingertips.
_DISLIKE = {"handle": 0.0, "wrap": 0.0, "side": 0.3, "above": 0.6, "pinch": 1.2}
_YAWS = 12
# Holds whose strain is looked at; a look takes most of a millisecond.
_MOST_LOOKS = 14
# Room between two hands, m.
_ROOM = 0.004
# What a turn counts beside a way, m for each rad.
_TURN_WEIGHT = 0.08


def comfortable_yaw(prop: HandledProp, side: str, place: Float[np.ndarray, "3"]) -> Pose:
    """How a prop stands at a place so that a hand takes it with ease."""
    poses = [Pose(place, yawed(2.0 * np.pi * n / _YAWS)) for n in range(_YAWS)]
    return min(
        poses,
        key=lambda pose: min(_cost(side, pose, hold) for hold in prop.holds[side]),
    )


def best_hold(
    prop: HandledProp, side: str, carrier: Pose, other: ReachingHand | None = None
) -> Hold | None:
    """The hold that an arm reaches best; None if the other hand leaves no room.

    Args:
        prop: What is taken.
        side: The hand.
        carrier: Where the prop is.
        other: The hand that holds it already.
    """
    free = _free_holds(prop, side, other)
    # Fingers that point away from the shoulder promise an easy arm.
    free.sort(key=lambda hold: -_outwards(side, carrier @ hold.wrist))
    return min(free[:_MOST_LOOKS], key=lambda hold: _cost(side, carrier, hold), default=None)


def nearest_hold(
    prop: HandledProp, side: str, wrist: Pose, other: ReachingHand | None = None
) -> Hold | None:
    """The hold of another prop that a hand has the least way to; None if there is no room.

    Args:
        prop: What comes into the hand.
        side: The hand.
        wrist: In the carrier, where it holds what it holds now.
        other: The hand that holds it already.
    """
    free = _free_holds(prop, side, other)
    return min(free, key=lambda hold: _distance(wrist, hold), default=None)


def _free_holds(prop: HandledProp, side: str, other: ReachingHand | None) -> list[Hold]:
    """All holds of a hand, or those that another hand leaves room for."""
    holds = prop.holds_around[side]
    if other is None or other.hold is None:
        return list(holds)
    free = [hold for hold in holds if _are_apart(side, hold, other)]
    partner = prop.partner(other.side, other.hold)
    return free if partner is None else [partner, *free]


def _cost(side: str, carrier: Pose, hold: Hold) -> float:
    return arm_strain(side, carrier @ hold.wrist) + _DISLIKE.get(hold.grip, 0.0)


def _distance(wrist: Pose, hold: Hold) -> float:
    way = float(np.linalg.norm(wrist.position - hold.wrist.position))
    return way + _TURN_WEIGHT * float(rotation.angle(wrist.wxyz, hold.wrist.wxyz))


def _outwards(side: str, wrist: Pose) -> float:
    arm = wrist.position - SHOULDERS[side]
    return float(wrist.rotate([1.0, 0.0, 0.0]) @ arm / np.linalg.norm(arm))


def _are_apart(side: str, hold: Hold, other: ReachingHand) -> bool:
    own, own_radius = hold_points(side, hold)
    far, far_radius = other.points
    gaps = np.linalg.norm(own[:, None] - far[None], axis=-1) - own_radius[:, None] - far_radius
    return bool(gaps.min() > _ROOM)
