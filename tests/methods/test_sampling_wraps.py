"""Power grips: a hand whose palm is at the body closes around it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import handwright as hw
from benchmarks.sampling.preferences import CLOSER, towards_body
from handwright.core.editing import with_hand_offset
from handwright.core.track import Track
from handwright.kinematics.fk import link_poses
from handwright.kinematics.spacetime.motion import no_anchors
from handwright.math.pose import Pose
from handwright.methods.sampling.finish.anchors import HandPath, lifted_anchors
from handwright.methods.sampling.finish.check import make_checked_motion
from handwright.methods.sampling.finish.exact_contacts import CreepingContact
from handwright.methods.sampling.setup.palms import near_points
from handwright.methods.sampling.setup.prepare import prepare
from handwright.methods.sampling.warm_up import warm_up
from handwright.scenes import load_scene

FRAMES = 24
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def lifted_rod(drop: float) -> hw.Problem:
    """A rod across the palm, lifted by 60 mm with the hand.

    Args:
        drop: From the wrist's height down to the rod's axis, m.
    """
    times = np.arange(FRAMES) / 30.0
    height = 0.03 * (1.0 - np.cos(np.pi * times / times[-1]))
    hand = np.stack([np.zeros(FRAMES), np.zeros(FRAMES), 0.5 + height], axis=1)
    rod = hw.make_shape("cylinder", radius=0.014, height=0.16, mass=0.15)
    # Its axis lies along y, across the fingers.
    across = np.tile(np.array([np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0]), (FRAMES, 1))
    at = hand + np.array([0.088, 0.0, -drop])
    return hw.Problem(
        "rod in the hand",
        times,
        {"right": hw.human("right")},
        {"rod": rod},
        tracks={
            "right": Track(times, Pose(hand, np.tile(UPRIGHT, (FRAMES, 1)))),
            "rod": Track(times, Pose(at, across)),
        },
    )


def test_near_points_are_on_the_palmar_side_of_near_phalanges():
    model = hw.human("right")
    turns, _ = link_poses(model, np.zeros(model.num_joints))
    for d, digit in enumerate(model.digits):
        points = near_points(model, d)
        assert len(points) == (2 if digit.name == "thumb" else 4)
        for point in points:
            assert point.link in model.capsules.link[model.capsules.digit == d]
            assert point.link != digit.pad.link
            if digit.name != "thumb":
                assert (turns[point.link] @ point.normal)[2] < -0.9
                assert (turns[point.link] @ point.position)[2] < 0.0


def test_hands_wrap_what_is_at_their_palm_and_pinch_what_is_not():
    spatula = load_scene("spatula")
    (hand,), (body,) = spatula.hands, spatula.bodies
    closer = with_hand_offset(spatula, hand, CLOSER * towards_body(spatula, hand, body))
    method = hw.ContactSampling(1, 1.0)
    assert [hold.policy.wraps for hold in prepare(spatula, method)] == [False]
    assert [hold.policy.wraps for hold in prepare(closer, method)] == [True]
    precise = hw.ContactSampling(1, 1.0, grip="precision")
    assert [hold.policy.wraps for hold in prepare(closer, precise)] == [False]


@pytest.mark.parametrize("drop", [0.034, 0.038])
def test_a_rod_at_the_palm_is_held_by_all_fingers_with_all_their_phalanges(drop):
    result = hw.synthesize(lifted_rod(drop), hw.ContactSampling(1, 60.0), seed=0)
    (clip,) = result.clips
    verdict = hw.certify(clip)
    assert verdict.passed, verdict
    model, contacts = clip.problem.hands["right"], clip.contacts
    parts = np.unique(contacts.part[contacts.frame == FRAMES // 2])
    digit = model.capsules.digit[parts]
    last = np.array([digit.pad.link for digit in model.digits])
    is_near = model.capsules.link[parts] != last[np.maximum(digit, 0)]
    assert {1, 2, 3, 4} <= set(digit.tolist())
    assert np.count_nonzero((digit > 0) & is_near) >= 3


def test_a_ball_at_the_palm_that_nothing_touches_at_rest_is_prepared_for():
    rod = lifted_rod(0.034)
    at = rod.tracks["rod"]
    ball = Track(at.times, Pose(at.pose.position - np.array([0.028, 0.0, 0.0]), at.pose.wxyz))
    problem = replace(
        rod,
        bodies={"ball": hw.make_shape("sphere", radius=0.01)},
        tracks={"right": rod.tracks["right"], "ball": ball},
    )
    (hold,) = prepare(problem, hw.ContactSampling(1, 1.0))
    assert hold.policy.wraps
    warm_up(hold, None)


def test_a_phalanx_that_had_no_anchor_is_lifted_off_as_part_of_its_digit():
    checked = make_checked_motion(2, 3)
    checked.num[0] = 1
    checked.frame[0], checked.capsule[0] = 1, 7
    checked.point[0], checked.normal[0] = (0.1, 0.0, 0.0), (0.0, 0.0, 1.0)
    rotations, positions = np.tile(np.eye(3), (2, 20, 1, 1)), np.zeros((2, 20, 3))
    hand = HandPath(None, 0, np.arange(5), 0, rotations, positions)
    creeping = CreepingContact(7, 1, np.array([1]))
    lifted = lifted_anchors(no_anchors(), hand, checked, creeping, 2, 10)
    assert (lifted.digit.tolist(), lifted.link.tolist(), lifted.frame.tolist()) == ([2], [10], [1])
    # Off the body, into which the normal points.
    assert lifted.target[0, 2] < 0.0
