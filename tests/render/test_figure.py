"""Upper bodies in pictures of clips: seen, but neither framed nor in front of the hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.problem import Problem
from handwright.hands import human
from handwright.hands.colors import FIGURE_COLOR
from handwright.kinematics import link_poses
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.render.camera import Camera
from handwright.render.clip_scene import ClipScene, Overlay
from handwright.render.film import film_reach

TIMES = np.array([0.0, 0.5, 1.0])


@pytest.fixture(scope="module")
def clip():
    """A person who looks along +Y and holds a forearm out ahead."""
    model = human(arm=True)
    q = model.pose("rest").copy()
    q[model.joints.index("shoulder_flexion")] = np.radians(-70)
    q[model.joints.index("elbow_flexion")] = np.radians(70)
    turn = rotation.from_matrix(np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]))
    root = Pose(np.tile([0.18, -0.38, 1.1], (3, 1)), np.tile(turn, (3, 1)))
    return Clip(
        Problem("p", TIMES, {"right": model}, {}),
        TIMES,
        {"right": HandMotion(root, np.tile(q, (3, 1)))},
        {},
        ContactTrack.empty(),
        Provenance("p", "test", {}, 0, "1"),
    )


def bodies(scene, frame):
    return [item for item in scene.items(frame) if item.color == FIGURE_COLOR]


def test_a_body_is_seen_and_can_be_left_out(clip):
    scene = ClipScene(clip)
    (body,) = bodies(scene, 0)
    assert bodies(scene, 2)[0] is body, "a body that sits still is not drawn anew"
    assert not bodies(ClipScene(clip, Overlay(figure=False)), 0)


def test_a_body_goes_along_with_a_shoulder_that_moves(clip):
    motion = clip.hands["right"]
    moved = Pose(motion.root.position + TIMES[:, None] * [0.0, 0.1, 0.0], motion.root.wxyz)
    scene = ClipScene(replace(clip, hands={"right": HandMotion(moved, motion.q)}))
    shift = bodies(scene, 2)[0].vertices - bodies(scene, 0)[0].vertices
    np.testing.assert_allclose(shift, np.tile([0.0, 0.1, 0.0], (len(shift), 1)), atol=1e-12)


def test_the_camera_frames_what_it_would_without_a_body(clip):
    reach = film_reach(clip, ClipScene(clip))
    assert np.array_equal(reach, film_reach(clip, ClipScene(clip, Overlay(figure=False))))


def test_a_person_is_seen_from_the_front_and_does_not_hide_the_hand(clip):
    scene = ClipScene(clip)
    axes = scene.camera.axes()
    assert axes[2, 1] > 0.5
    model, motion = clip.problem.hands["right"], clip.hands["right"]
    _, places = link_poses(model, motion.q[0], motion.root[0])
    hand, body = places[model.wrist_link :] @ axes.T, bodies(scene, 0)[0].vertices @ axes.T
    apart = np.linalg.norm(hand[:, None, :2] - body[None, :, :2], axis=-1)
    assert not ((apart < 0.03) & (body[None, :, 2] > hand[:, None, 2])).any()


def test_other_hands_are_seen_as_ever(clip):
    bare = human()
    motion = clip.hands["right"]
    problem = replace(clip.problem, hands={"right": bare})
    hand = HandMotion(motion.root, np.zeros((3, bare.num_joints)))
    scene = ClipScene(replace(clip, problem=problem, hands={"right": hand}))
    assert scene.camera == Camera()
    assert not bodies(scene, 0)
