"""Rotations, poses and splines: pure, batched over leading axes, float64.

Rotations are a module of functions, used qualified: ``rotation.exp``, ``rotation.log``.
"""

from __future__ import annotations

from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.math.spline import CubicHermite, MinimumJerk, PoseSpline

__all__ = ["CubicHermite", "MinimumJerk", "Pose", "PoseSpline", "rotation"]
