"""Learned fingers on robot hands: a human hand stands in for the robot's, which follows it."""

from __future__ import annotations

from handwright.methods.neural.retargeting.following import followed
from handwright.methods.neural.retargeting.problem import followed_by_robots, with_stand_ins
from handwright.methods.neural.retargeting.stand_in import (
    StandIn,
    needs_stand_in,
    stand_in,
    unfit,
)

__all__ = [
    "StandIn",
    "followed",
    "followed_by_robots",
    "needs_stand_in",
    "stand_in",
    "unfit",
    "with_stand_ins",
]
