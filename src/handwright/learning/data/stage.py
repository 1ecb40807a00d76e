"""Where motions take place: a table, and a person who sits before it and has arms.

Z is up. The person is at the table's near edge, towards -y, and looks along +y, so that +x is to
the right. A wrist pose is natural if an arm from its shoulder reaches it within its joint limits.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from handwright.core.hand import HandModel
from handwright.core.problem import usual_posture
from handwright.core.surface import EnvironmentBox
from handwright.geometry.distance.environment import table
from handwright.grasping.carry import carrying_strain
from handwright.hands import human
from handwright.math import rotation
from handwright.math.pose import Pose

TABLE_HEIGHT = 0.75
"""m."""
SHOULDERS = {
    "right": np.array([0.19, -0.42, TABLE_HEIGHT + 0.36]),
    "left": np.array([-0.19, -0.42, TABLE_HEIGHT + 0.36]),
}
"""Of the person at the table, m."""
MOUTH = np.array([0.0, -0.33, TABLE_HEIGHT + 0.50])
"""Of the person at the table, m."""
MEETING = np.array([0.0, 0.06, TABLE_HEIGHT + 0.20])
"""Where things go from hand to hand, m."""
SIDES = ("right", "left")


class UnnaturalError(Exception):
    """A motion that no person could make."""


@cache
def hand_model(side: str) -> HandModel:
    """The hand of all taught motions; the same object each time."""
    return human(side)  # type: ignore[arg-type]


def work_table(friction: float = 0.6) -> EnvironmentBox:
    """The table: its near edge is 25 cm before the origin."""
    return table(TABLE_HEIGHT, size=(1.4, 0.8), center=(0.0, 0.15), friction=friction)


def arm_strain(side: str, *wrists: Pose) -> float:
    """0 if an arm reaches all of some wrist poses comfortably; else by how much it does not.

    Each joint at its limit counts as one, and so does a wrist that stays 5 mm or 3 degrees off.

    Args:
        side: ``right`` or ``left``.
        *wrists: Roots of a hand in the world, in the order in which it goes there.
    """
    model, shoulder = arm_of(side)
    return carrying_strain(model, usual_posture(model), shoulder, Pose.identity(), wrists)


@cache
def arm_of(side: str) -> tuple[HandModel, Pose]:
    """A hand with an arm, and the pose of its root, the shoulder, in the world."""
    # Along y (ahead), z (up) and x (to the right): at zero the arm points ahead, thumb up.
    axes = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    if side == "left":
        # The mirror image in x = 0, of an arm that is itself the mirror image in its own z = 0.
        axes = np.diag([-1.0, 1.0, 1.0]) @ axes @ np.diag([1.0, 1.0, -1.0])
    return human(side, arm=True), Pose(SHOULDERS[side], rotation.from_matrix(axes))  # type: ignore[arg-type]
