"""What arms throw, and what they throw at: the thesis' ball, can and cube."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from handwright.core.body import RigidBody
from handwright.core.surface import EnvironmentBox
from handwright.geometry.shapes import make_shape
from handwright.math.pose import Pose

BOX_EDGE = 0.1
"""Of the cube, m."""
_FRICTION, _BOX_FRICTION = 0.8, 0.3


def ball(radius: float = 0.03, mass: float = 0.1, friction: float = _FRICTION) -> RigidBody:
    """A ball; that of the thesis by default."""
    return replace(make_shape("sphere", radius=radius, mass=mass), friction=friction)


def can() -> RigidBody:
    """The thesis' can."""
    return replace(make_shape("cylinder", radius=0.03, height=0.1, mass=0.1), friction=_FRICTION)


def target_box() -> EnvironmentBox:
    """The thesis' cube."""
    return EnvironmentBox(Pose.identity(), np.full(3, 0.5 * BOX_EDGE), _BOX_FRICTION)
