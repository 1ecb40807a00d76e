"""From the network's output to the joint values of a hand."""

from __future__ import annotations

from handwright.methods.neural.fitting.algorithm1 import Blend
from handwright.methods.neural.fitting.body_view import BodyView, body_view, seen_at
from handwright.methods.neural.fitting.contact import ContactSettings
from handwright.methods.neural.fitting.grip import GripSettings
from handwright.methods.neural.fitting.grips import Grips
from handwright.methods.neural.fitting.hand import (
    Correction,
    FittedHand,
    Fitter,
    corrected,
    fit_posture,
)
from handwright.methods.neural.fitting.holds import Asked, HoldSettings
from handwright.methods.neural.fitting.posture import FitSettings
from handwright.methods.neural.fitting.touches import Touches

__all__ = [
    "Asked",
    "Blend",
    "BodyView",
    "ContactSettings",
    "Correction",
    "FitSettings",
    "FittedHand",
    "Fitter",
    "GripSettings",
    "Grips",
    "HoldSettings",
    "Touches",
    "body_view",
    "corrected",
    "fit_posture",
    "seen_at",
]
