"""Contact sampling (Ye & Liu 2012): many finger motions for given wrist and object tracks."""

from __future__ import annotations

from handwright.methods.sampling.contact_sampling import ContactSampling
from handwright.methods.sampling.preferences import (
    Ball,
    FixedJoint,
    ForbiddenBall,
    HeldBy,
    KeepOff,
    Pin,
    Preference,
)

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
