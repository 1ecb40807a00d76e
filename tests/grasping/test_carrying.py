"""What grasps must be good for: loads, ways, and other bodies."""

from __future__ import annotations

import numpy as np
import pytest

import handwright as hw
from handwright.geometry.distance.surface_distance import surface_distance
from handwright.grasping.carry import carrying_strain
from handwright.grasping.forces import strength_share
from handwright.grasping.planner import obstacles
from handwright.kinematics import link_poses
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.mechanics import force_contacts


def test_the_share_of_strength_is_that_of_a_pinch_by_hand():
    """Two pads bear half of 1 N each by friction 1; one of them turns a joint by 0.1 m."""
    points = np.array([[-0.02, 0.0, 0.0], [0.02, 0.0, 0.0]])
    inward = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    contacts = force_contacts(points, inward, center=np.zeros(3), friction=1.0)
    maps = np.zeros((2, 1, 3))
    maps[0, 0, 0] = 0.1
    load = np.array([[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]])
    share = strength_share(contacts, load, maps, np.array([-1.0]), np.array([1.0]))
    # A pyramid of eight edges lies within the cone by up to 8 %.
    assert 0.05 - 1e-9 <= share <= 0.055
    weak = strength_share(contacts, load, maps, np.array([-1.0]), np.array([0.5]))
    assert weak == pytest.approx(2.0 * share)
    push = np.array([[0.0, 0.0, 1.0, 0.0, 0.0, 1.0]])
    assert strength_share(contacts, push, maps, np.array([-1.0]), np.array([1.0])) > 10.0 * share
    # Of several loads the worst counts, wherever it stands.
    for loads in ([2.0 * load[0], load[0]], [load[0], 2.0 * load[0]]):
        worst = strength_share(contacts, np.array(loads), maps, np.array([-1.0]), np.array([1.0]))
        assert worst == pytest.approx(2.0 * share)


def test_an_arm_knows_where_it_can_carry_a_body():
    model = hw.make_hand("human_right_arm")
    q = model.joints.clamp(model.pose("rest"))
    root = Pose.identity()
    turns, places = link_poses(model, q, root)
    link = model.wrist_link
    wrist = Pose(places[link], rotation.from_matrix(turns[link]))
    here, far = Pose.identity(), Pose(np.array([0.0, 0.0, 3.0]), Pose.identity().wxyz)
    turned = Pose.normalized(np.zeros(3), rotation.exp(np.array([0.0, 0.0, np.pi])))
    easy = carrying_strain(model, q, root, wrist, [here])
    assert easy < 1.0
    assert carrying_strain(model, q, root, wrist, [here, far]) > 100.0
    assert carrying_strain(model, q, root, wrist, [here, turned]) > 1.0


def test_a_hammer_is_in_the_way_of_the_hand_at_the_nail_where_it_will_strike():
    problem = hw.load_scene("hammer_nail")
    boxes = obstacles(problem, "nail")
    blow = problem.goals[1]
    pose = Pose(blow.position, blow.wxyz)
    body = problem.bodies["hammer"]
    head = body.vertices[body.vertices[:, 2] < -0.03]
    inside = np.array([surface_distance(box, pose.apply(head))[0] for box in boxes]).min(axis=0)
    assert (inside < 1e-9).all()
    assert not obstacles(hw.load_scene("lift_cup"), "cup")
