"""Post-processing as published (Zhang et al. 2021, appendix B): blended distances, then CCD.

Each joint that the network puts near the body is moved along the surface normal until its distance
is a blend of the distance predicted and the distance measured; cyclic coordinate descent within the
joint limits then brings the joints of each digit to these places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from handwright.errors import InvalidValueError
from handwright.kernels.decorators import inlined, kernel
from handwright.kinematics.ik.ccd import ChainGoals, descend_chain
from handwright.kinematics.ik.digit_table import Rig
from handwright.kinematics.tree import Links
from handwright.math.vec3 import Vec3
from handwright.methods.neural.fitting.body_view import BodyView, distance_from

class PublishedWeights(NamedTuple):
    """Numbers of Algorithm 1."""

    gate: float = 0.028
    """Joints that are predicted to be further from the body stay where they are, m."""
    inside: float = 0.8
    """Share of the predicted distance for joints inside the body; the rest is measured."""
    outside: float = 0.2
    """The same for joints outside."""
    sweeps: int = 8
    """How often cyclic descent goes through the joints of a digit."""
