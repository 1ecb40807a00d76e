"""From the network's output to the joint values of a hand."""

from __future__ import annotations

from handwright.methods.neural.fitting.algorithm1 import Blend
from handwright.methods.neural.fitting.body_view import BodyView, body_view
from handwright.methods.neural.fitting.hand import FittedHand, fit_posture
from handwright.methods.neural.fitting.posture import FitSettings

__all__ = ["Blend", "BodyView", "FitSettings", "FittedHand", "body_view", "fit_posture"]
