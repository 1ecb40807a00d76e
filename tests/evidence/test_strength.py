"""Joint torques and digit forces against what a human hand can give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scripted_clips import lift_clip, make_clip

from handwright.evidence import Tolerances, certify
from handwright.evidence.certificate.strength import HandStrength
from handwright.evidence.contacts.hand_probe import probe_hand
from handwright.evidence.contacts.slip import Slips
from handwright.evidence.contacts.table import FoundContacts, contact_table
from handwright.geometry import table
from handwright.geometry.shapes import make_shape
from handwright.hands import human, trident
from handwright.hands.human.strength import TIP_FORCE, joint_strength
from handwright.kinematics import posed_tips
from handwright.math.pose import Pose
from handwright.mechanics import gravity_torques, joint_torques

UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def weighing(clip, mass):
    heavy = {"ball": clip.problem.bodies["ball"].with_mass(mass)}
    return replace(clip, problem=replace(clip.problem, bodies=heavy))


def test_a_straight_finger_can_just_press_with_its_quoted_force():
    model = human()
    q = np.zeros(model.num_joints)
    strength = joint_strength(model)
    for number, digit in enumerate(model.digits[1:], start=1):
        tip = posed_tips(model, q)
        point, along = tip.position[number], tip.normal[number]
        joints = [j for j in digit.joints if model.joints.names[j].endswith("mcp_flexion")]
        axis = model.joints.axis[joints[0]]
        press = np.cross(axis, along)
        press *= TIP_FORCE[digit.name] / np.linalg.norm(press)
        torque = -joint_torques(
            model, q, np.array([digit.tip.link]), point[None], press[None], None
        )
        share = torque[joints[0]] / strength.upper[joints[0]]
        assert share == pytest.approx(1.0, abs=0.03)


def test_limits_are_signed_and_closing_is_stronger_than_opening():
    for model in (human(), human("left"), human(percentile=5, sex="female")):
        strength = joint_strength(model)
        known = strength.is_known
        assert np.all(strength.upper > 0.0)
        assert np.all(strength.lower < 0.0)
        bends = [
            n.endswith(("mcp_flexion", "pip_flexion", "ip_flexion")) for n in model.joints.names
        ]
        assert np.all(strength.upper[bends] > -strength.lower[bends])
        assert known.sum() == 21
    # A smaller hand has shorter levers.
    small, large = human(percentile=5), human(percentile=95)
    index = small.joints.index("index_mcp_flexion")
    assert joint_strength(small).upper[index] < joint_strength(large).upper[index]


def test_a_robot_hand_has_no_known_strength_and_the_certificate_says_so():
    assert not joint_strength(trident()).is_known.any()


def test_torques_of_the_record_are_those_of_virtual_work():
    clip = lift_clip(frames=11)
    certificate = certify(clip)
    hand = probe_hand(clip, "hand")
    strength = joint_strength(hand.model)
    for record in certificate.frames:
        contacts = record.bodies["ball"].contacts
        part = [hand.model.capsules.names.index(c.part) for c in contacts]
        t = record.frame
        torque = -joint_torques(
            hand.model, hand.motion.q[t], hand.model.capsules.link[part],
            np.array([c.point for c in contacts]), np.array([c.force for c in contacts]),
            hand.motion.root[t],
        )  # fmt: skip
        torque += gravity_torques(
            hand.model, hand.motion.q[t][None], clip.problem.gravity, hand.motion.root[t][None]
        )[0]
        at_limit = (hand.motion.q[t] >= hand.model.joints.upper - 0.01) | (
            hand.motion.q[t] <= hand.model.joints.lower + 0.01
        )
        share = np.where(torque > 0.0, torque / strength.upper, torque / strength.lower)
        worst = share[~at_limit].max()
        assert record.torque_share >= worst - 1e-9
        assert record.torque_share <= share.max() + 1e-9
        size = [np.linalg.norm(c.force) for c in contacts]
        digit = hand.model.capsules.digit[part]
        total = max(sum(s for s, d in zip(size, digit, strict=True) if d == k) for k in range(5))
        assert record.digit_force == pytest.approx(total)


def test_a_ball_of_lead_is_too_heavy_and_the_reason_names_joint_frame_and_number():
    certificate = certify(weighing(lift_clip(), 60.0))
    assert certificate.reasons == ("strength",)
    check = certificate.check("strength")
    assert check.worst > 1.0
    assert "hand." in check.detail
    assert "in frame" in check.detail
    assert "allowed" in check.detail
    assert certificate.check("force_residual").worst < 0.01


def test_forces_are_shared_out_so_that_no_joint_gives_more_than_it_can():
    """Between a light and a hopeless weight there is one that only other forces can hold."""
    clip = lift_clip(frames=11)
    plain = certify(clip)
    free = max(frame.torque_share for frame in plain.frames)
    digit = max(frame.digit_force for frame in plain.frames) / Tolerances().strength
    mass = clip.problem.bodies["ball"].mass
    just_too_heavy = 1.1 * mass / max(free, digit)
    certificate = certify(weighing(clip, just_too_heavy))
    assert certificate.reasons == (), str(certificate)
    assert certificate.check("strength").worst <= 1.0 + 1e-6
    assert certificate.check("strength").worst > 0.95
    assert certificate.check("force_residual").worst < 0.01
    for frame in certificate.frames:
        for c in frame.bodies["ball"].contacts:
            normal = c.force @ c.normal
            across = np.linalg.norm(c.force - normal * c.normal)
            assert across <= 0.7 * normal + 1e-3


def test_the_limit_of_a_digit_is_a_setting():
    clip = lift_clip(frames=11)
    pressed = max(frame.digit_force for frame in certify(clip).frames)
    weak = certify(clip, tolerances=Tolerances(strength=0.05 * pressed))
    assert weak.reasons == ("strength",)
    assert "presses with" in weak.check("strength").detail


def test_a_hand_that_only_hovers_is_not_tired_by_its_own_weight():
    """The weight of the fingers alone is far from what their muscles can hold."""
    count = 3
    root = Pose(np.tile([0.0, 0.0, 1.5], (count, 1)), UPRIGHT)
    q = np.tile(human().pose("open"), (count, 1))
    body = make_shape("box")
    pose = Pose(np.tile([0.0, 0.0, 0.75 - body.vertices[:, 2].min()], (count, 1)), UPRIGHT)
    clip = make_clip(np.arange(count) / 30.0, root, q, pose, body=body, environment=(table(),))
    assert certify(clip).check("strength").worst == 0.0


def test_forces_of_one_digit_add_up_over_its_contacts():
    clip = lift_clip(frames=5)
    hand = probe_hand(clip, "hand")
    capsules = hand.model.capsules
    digit = int(capsules.digit.max())
    parts = np.flatnonzero(capsules.digit == digit)[:2]
    none = np.zeros((2, 3))
    up = np.tile([0.0, 0.0, 1.0], (2, 1))
    frame = np.array([2, 2])
    found = FoundContacts(
        frame, parts, none, up, np.zeros(2), np.full(2, -1), np.ones(2, dtype=bool), np.ones(2)
    )
    contacts = contact_table("hand", found, Slips(none, none, none), 0.005)
    strength = HandStrength(clip, [hand], contacts, Tolerances())
    effort = strength.effort(40.0 * up)
    assert effort.digit_force[2] == pytest.approx(80.0)
    assert effort.is_over[2]
    assert effort.digit_force[[0, 1, 3, 4]].max() == 0.0
