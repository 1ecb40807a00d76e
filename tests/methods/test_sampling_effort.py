"""Forces that fingers can and cannot give, held against the figures that strength is made from."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.core.tolerances import DIGIT_FORCE
from handwright.hands import human
from handwright.hands.human.strength import TIP_FORCE
from handwright.kinematics import link_poses
from handwright.math.pose import Pose
from handwright.methods.sampling.finish.exact_contacts import find_overload

HAND = human()
COUNT, AT = 3, 1
ROOT = Pose.normalized(
    np.tile([0.3, -0.1, 0.2], (COUNT, 1)), np.tile([0.8, 0.1, -0.5, 0.3], (COUNT, 1))
)


def pressed(digit: str, newton: float, *, along: bool = False) -> tuple[int, str] | None:
    """A straight digit that presses with its tip in one frame, towards the palm's side."""
    q = np.zeros((COUNT, HAND.num_joints))
    each = HAND.digit(digit)
    turns, places = link_poses(HAND, q, ROOT)
    tip = turns[AT, each.tip.link] @ each.tip.position + places[AT, each.tip.link]
    names = [HAND.joints.names[j] for j in each.joints]
    bend = each.joints[names.index(f"{digit}_mcp_flexion")] + 1
    arm = tip - places[AT, bend]
    axis = turns[AT, bend] @ HAND.joints.axis[bend - 1]
    way = arm if along else np.cross(axis, arm)
    way = newton * way / np.linalg.norm(way)
    capsule = HAND.capsules.names.index(f"{digit}_distal")
    posed = HAND, q, ROOT
    return find_overload(posed, np.array([AT]), np.array([capsule]), tip[None], way[None])


@pytest.mark.parametrize("digit", ["index", "middle", "ring", "little"])
def test_a_straight_finger_presses_as_hard_as_its_figure_says(digit):
    usable = 0.9 * TIP_FORCE[digit]
    assert pressed(digit, 0.97 * usable) is None
    frame, what = pressed(digit, 1.03 * usable)
    assert frame == AT
    assert what.startswith(digit)


def test_a_finger_pushes_along_itself_up_to_the_limit_of_a_digit():
    assert pressed("index", 0.89 * DIGIT_FORCE, along=True) is None
    assert pressed("index", 0.91 * DIGIT_FORCE, along=True) == (AT, "index")
