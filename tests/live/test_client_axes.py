from __future__ import annotations

import numpy as np
import pytest

from handwright.hands.human.model import human
from handwright.io.axes import to_y_up, world_to_y_up, world_to_z_up
from handwright.kinematics.fk import frame_poses
from handwright.live.client_axes import joints_for, object_for, object_from, wrist_from
from handwright.math import rotation
from handwright.math.pose import Pose

RNG = np.random.default_rng(0)


def any_pose() -> Pose:
    return Pose(RNG.normal(size=3), rotation.normalize(RNG.normal(size=4)))


def read(out) -> Pose:
    return Pose.normalized(np.array(out["position"]), np.roll(out["xyzw"], 1))


@pytest.mark.parametrize("axes", ["z_up", "y_up"])
@pytest.mark.parametrize("side", ["right", "left"])
def test_a_wrist_goes_in_as_it_comes_out(axes, side):
    model, root = human(side), any_pose()
    poses = frame_poses(model, model.pose("rest"), root)
    out = joints_for(poses, model.frames.names, axes)
    assert list(out) == list(model.frames.names)
    back = wrist_from(read(out["wrist"]), model, axes)
    np.testing.assert_allclose(back.position, root.position, atol=2e-6)
    np.testing.assert_allclose(
        rotation.to_matrix(back.wxyz), rotation.to_matrix(root.wxyz), atol=1e-6
    )


@pytest.mark.parametrize("axes", ["z_up", "y_up"])
def test_an_object_goes_in_as_it_comes_out(axes):
    pose = any_pose()
    back = object_from(read(object_for(pose, axes)), axes)
    np.testing.assert_allclose(back.position, pose.position, atol=2e-6)
    np.testing.assert_allclose(
        rotation.to_matrix(back.wxyz), rotation.to_matrix(pose.wxyz), atol=1e-6
    )


def test_with_y_up_joints_keep_their_axes_and_the_object_turns_with_its_world():
    joint = any_pose()
    seen = read(joints_for(Pose.stack([joint]), ("wrist",), "y_up")["wrist"])
    for axis in np.eye(3):
        np.testing.assert_allclose(seen.rotate(axis), to_y_up(joint.rotate(axis)), atol=1e-6)
    thing = any_pose()
    turned = read(object_for(thing, "y_up"))
    for point in np.eye(3):
        wanted = to_y_up(thing.apply(point))
        np.testing.assert_allclose(turned.apply(to_y_up(point)), wanted, atol=2e-6)


def test_worlds_turn_there_and_back():
    pose = any_pose()
    back = world_to_z_up(world_to_y_up(pose))
    np.testing.assert_allclose(back.position, pose.position, atol=1e-12)
    np.testing.assert_allclose(back.wxyz, pose.wxyz, atol=1e-12)
    np.testing.assert_allclose(
        world_to_y_up(pose).apply([1.0, 2.0, 3.0]), to_y_up(pose.apply([1.0, 2.0, 3.0])), atol=1e-12
    )
