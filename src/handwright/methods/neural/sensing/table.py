"""The feature table: names, places, shapes and units of what a network is given and answers."""

from __future__ import annotations

import math
from typing import NamedTuple

from handwright.methods.neural.sensing.joints import NUM_JOINTS, NUM_SITES
from handwright.methods.neural.sensing.sensors import FINGER_SIZE, GRID, NUM_MOMENTS, POSE_SIZE
from handwright.methods.neural.sensing.trajectory import NUM_SAMPLES, TRAJECTORY_SIZE

FARTHEST_TARGET = 0.035
"""Largest distance to the object that a network is to predict, m (section 6.4)."""
FIXED_SIZE = TRAJECTORY_SIZE + GRID**3
"""Numbers that do not depend on the fingers."""
NUM_FEATURES = FIXED_SIZE + FINGER_SIZE
NUM_OUTPUTS = POSE_SIZE + NUM_JOINTS


class Feature(NamedTuple):
    """A row of the feature table."""

    name: str
    slice: slice
    """Where it stands among all numbers."""
    shape: tuple[int, ...]
    unit: str
    what: str


def _table(*rows: tuple[str, tuple[int, ...], str, str]) -> tuple[Feature, ...]:
    begin, table = 0, []
    for name, shape, unit, what in rows:
        end = begin + math.prod(shape)
        table.append(Feature(name, slice(begin, end), shape, unit, what))
        begin = end
    return tuple(table)


_POSE = (
    ("joint_position", (NUM_JOINTS, 3), "m", "places of the joints"),
    ("joint_rotation", (NUM_JOINTS, 6), "1", "directions along each bone and out of its back"),
)
FEATURES: tuple[Feature, ...] = _table(
    *_POSE,
    ("wrist_position", (NUM_SAMPLES, 3), "m", "places of the wrist over one second"),
    ("wrist_rotation", (NUM_SAMPLES, 6), "1", "its x and z axes"),
    ("other_distance", (NUM_SAMPLES,), "m", "from the other wrist to where this one is now"),
    ("object_center", (NUM_SAMPLES, 3), "m", "places of the object's centre of mass"),
    ("object_spin", (NUM_SAMPLES, 3), "rad/s", "angular velocities of the object"),
    ("ambient", (GRID, GRID, GRID), "1", "how much of each cell before the palm is filled"),
    ("proximity", (NUM_MOMENTS, NUM_SITES), "m", "signed lengths of rays out of the skin"),
    ("signed_distance", (NUM_MOMENTS, NUM_JOINTS), "m", "of the joints to the object"),
    ("normal", (NUM_JOINTS, 3), "1", "out of the object where it is nearest to each joint"),
)
"""All features, in their order."""
OUTPUTS: tuple[Feature, ...] = _table(
    *_POSE, ("distance", (NUM_JOINTS,), "m", "of the joints to the object, 0 to 0.035")
)
"""What a network answers with, in its order."""
