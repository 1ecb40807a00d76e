"""The upper body of pictures: closed, behind the arms that it belongs to, and one for a person."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.hands import human, trident
from handwright.hands.figure import bust, figures
from handwright.hands.scaled import scaled
from handwright.math import rotation
from handwright.math.pose import Pose
from tests.hands.test_skin import assert_closed_ball

# A person who looks along +Y.
RIGHT = Pose(
    np.array([0.18, -0.38, 1.1]),
    rotation.from_matrix(np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])),
)
LEFT = Pose(
    np.array([-0.18, -0.38, 1.1]),
    rotation.from_matrix(np.array([[0.0, 0, -1], [1, 0, 0], [0, -1, 0]])),
)


def test_the_bust_is_closed_and_as_large_as_a_person():
    vertices, faces = bust()
    assert_closed_ball(vertices, faces)
    assert np.ptp(vertices[:, 1]) == pytest.approx(0.44, abs=0.05)
    # From the shoulder joints to the crown.
    assert vertices[:, 2].max() == pytest.approx(0.35, abs=0.03)


@pytest.mark.parametrize(("side", "root"), [("right", RIGHT), ("left", LEFT)])
def test_an_arm_has_a_body_that_sits_upright_and_looks_ahead(side, root):
    ((size, pose),) = figures({side: (human(side, arm=True), root)})
    assert size == pytest.approx(1.0, abs=0.01)
    axes = rotation.to_matrix(pose.wxyz)
    np.testing.assert_allclose(axes, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-9)
    np.testing.assert_allclose(pose.position, [0.0, -0.38, 1.1], atol=2e-3)


def test_two_arms_of_one_person_share_a_body():
    right, left = human("right", arm=True), human("left", arm=True)
    ((_, pose),) = figures({"r": (right, RIGHT), "l": (left, LEFT)})
    np.testing.assert_allclose(pose.position, [0.0, -0.38, 1.1], atol=2e-3)
    assert len(figures({"r": (right, RIGHT), "another": (right, RIGHT)})) == 2


def test_a_body_grows_with_its_arm():
    ((size, _),) = figures({"r": (scaled(human(arm=True), 0.5), RIGHT)})
    assert size == pytest.approx(0.5, abs=0.01)


def test_frames_are_taken_together():
    turned = Pose(np.zeros(3), rotation.exp([0.0, 0.0, 0.5])) @ RIGHT
    ((_, poses),) = figures({"r": (human(arm=True), Pose.stack([RIGHT, turned]))})
    assert poses.shape == (2,)


def test_hands_alone_and_shoulders_that_lie_have_no_body():
    lying = Pose(np.zeros(3), rotation.exp([np.pi / 2, 0.0, 0.0])) @ RIGHT
    assert figures({"r": (human(), RIGHT), "t": (trident(), RIGHT)}) == []
    assert figures({"r": (human(arm=True), lying)}) == []
