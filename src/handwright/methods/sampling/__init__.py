"""Contact sampling (Ye & Liu 2012): many finger motions for given wrist and object tracks."""

from __future__ import annotations

from handwright.deprecated import renamed_attributes
from handwright.methods.sampling.constraints.preferences import (
    Ball,
    FixedJoint,
    ForbiddenBall,
    GraspRegion,
    NoContact,
    Pin,
    Preference,
)
from handwright.methods.sampling.method import ContactSampling

__all__ = [
    "Ball",
    "ContactSampling",
    "FixedJoint",
    "ForbiddenBall",
    "GraspRegion",
    "NoContact",
    "Pin",
    "Preference",
]

__getattr__ = renamed_attributes(
    __name__,
    {
        "HeldBy": "handwright.methods.sampling.GraspRegion",
        "KeepOff": "handwright.methods.sampling.NoContact",
    },
)
