"""Contact sampling (Ye & Liu 2012): many finger motions for given wrist and object tracks."""

from __future__ import annotations

from handwright.methods.sampling.constraints.preferences import (
    Ball,
    FixedJoint,
    ForbiddenBall,
    HeldBy,
    KeepOff,
    Pin,
    Preference,
)
from handwright.methods.sampling.method import ContactSampling

__all__ = [
    "Ball",
    "ContactSampling",
    "FixedJoint",
    "ForbiddenBall",
    "HeldBy",
    "KeepOff",
    "Pin",
    "Preference",
]
