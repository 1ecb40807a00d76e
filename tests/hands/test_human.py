"""The human hand: figures, sizes, names and masses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handwright.errors import InvalidValueError, UnknownNameError
from handwright.hands import OPENXR_JOINTS, OPENXR_PARENTS, bones_of_size, human, joint_names
from handwright.hands.human.measured import bones_from_joints
from handwright.kinematics import frame_poses, posed_pads


def frame(model, name, pose="neutral"):
    return frame_poses(model, model.pose(pose)).position[model.frames.index(name)]


def test_it_has_six_joints_for_each_digit_and_the_frames_of_openxr():
    model = human()
    assert model.num_joints == 30
    assert all(len(digit.joints) == 6 for digit in model.digits)
    assert model.frames.names == OPENXR_JOINTS
    assert len(OPENXR_JOINTS) == 26
    assert {"rest", "open", "closed", "pinch", "neutral"} <= set(model.poses)


def test_every_phalanx_and_the_palm_have_a_capsule():
    names = set(human().capsules.names)
    for finger in ("index", "middle", "ring", "little"):
        assert {f"{finger}_{part}" for part in ("proximal", "intermediate", "distal")} <= names
        assert f"{finger}_metacarpal" in names
    assert {"thumb_metacarpal", "thumb_proximal", "thumb_distal"} <= names


@given(length=st.floats(0.15, 0.22), breadth=st.floats(0.07, 0.10))
def test_length_and_breadth_are_as_asked(length, breadth):
    model = human(length=length, breadth=breadth)
    tip = frame(model, "middle_tip")
    assert tip[0] == pytest.approx(length, rel=0.01)
    span = frame(model, "index_proximal")[1] - frame(model, "little_proximal")[1]
    reference = human(length=length, breadth=0.08)
    wide = frame(reference, "index_proximal")[1] - frame(reference, "little_proximal")[1]
    assert span / wide == pytest.approx(breadth / 0.08)


def test_percentiles_order_the_sizes_and_agree_with_the_survey():
    # Means and deviations of the 1988 survey, in millimetres, for independent comparison.
    assert frame(human(), "middle_tip")[0] * 1e3 == pytest.approx(193.8, abs=1.5)
    assert frame(human(sex="female"), "middle_tip")[0] * 1e3 == pytest.approx(180.5, abs=1.5)
    ranks = [frame(human(percentile=p), "middle_tip")[0] for p in (5, 50, 95)]
    assert ranks[0] < ranks[1] < ranks[2]
    assert (ranks[2] - ranks[0]) * 1e3 == pytest.approx(2 * 1.645 * 9.8, rel=0.02)


def test_the_pinch_brings_thumb_and_index_together():
    model = human()
    pads = posed_pads(model, model.pose("pinch"))
    assert np.linalg.norm(pads.position[0] - pads.position[1]) < 0.004
    assert pads.normal[0] @ pads.normal[1] < -0.3


def test_the_thumb_can_oppose_every_finger():
    from handwright.kinematics import reachable_volume

    model = human()
    thumb = reachable_volume(model, "thumb")
    for finger in ("index", "middle", "ring", "little"):
        other = reachable_volume(model, finger)
        centres = np.argwhere(other.posture >= 0) * other.spacing + other.origin
        assert thumb.contains(centres + 0.5 * other.spacing).sum() > 50, finger


def test_masses_are_those_of_the_share_of_the_body():
    hand, arm = human(), human(arm=True)
    # 0.6, 1.6 and 2.8 per cent of 78.5 kg, and a gram for each link between crossing axes.
    assert hand.masses.mass.sum() == pytest.approx(0.006 * 78.5, rel=0.05)
    assert arm.masses.mass.sum() == pytest.approx((0.006 + 0.016 + 0.028) * 78.5, rel=0.02)
    for inertia in arm.masses.inertia:
        moments = np.linalg.eigvalsh(inertia)
        assert moments[0] > 0
        assert moments[2] <= moments[0] + moments[1] + 1e-12


@pytest.mark.parametrize("side", ["right", "left"])
def test_arm_segments_balance_and_swing_as_measured(side):
    """Winter 2009: centre and gyration of upper arm and forearm, as shares of their lengths."""
    model = human(side, arm=True)
    for link, joint, share, center, gyration in (
        (3, "elbow_flexion", 0.028, 0.436, 0.322),
        (5, "wrist_flexion", 0.016, 0.430, 0.303),
    ):
        length = model.joints.offset[model.joints.index(joint), 0]
        mass, inertia = model.masses.mass[link], model.masses.inertia[link]
        assert mass == pytest.approx(share * 78.5)
        np.testing.assert_allclose(model.masses.center[link], [center * length, 0.0, 0.0])
        assert np.sqrt(inertia[1, 1] / mass) == pytest.approx(gyration * length)
        assert np.sqrt(inertia[2, 2] / mass) == pytest.approx(gyration * length)
        assert 0.0 < inertia[0, 0] < 0.2 * inertia[1, 1]


def test_the_arm_has_eight_joints_before_the_hand():
    model = human("left", arm=True)
    assert model.num_joints == 38
    assert model.wrist_link == 8
    assert frame(model, "wrist", "rest") is not None
    assert model.joints.names[:8] == (
        "shoulder_flexion",
        "shoulder_horizontal_abduction",
        "shoulder_rotation",
        "elbow_flexion",
        "forearm_pronation",
        "wrist_flexion",
        "wrist_deviation",
        "wrist_twist",
    )


def test_bones_of_a_synthetic_recording_are_found_again():
    model, rng = human(length=0.2, breadth=0.09), np.random.default_rng(0)
    fixed = [j for j, name in enumerate(model.joints.names) if "_cmc_" in name]
    q = model.joints.random(rng, (400,))
    q[:, fixed] = 0.0
    frames = frame_poses(model, q).position
    found = bones_from_joints({name: frames[:, n] for n, name in enumerate(model.frames.names)})
    true = bones_of_size(0.2, 0.09)
    np.testing.assert_allclose(found.knuckle, true.knuckle, atol=1e-9)
    np.testing.assert_allclose(found.phalanges[1:, :2], true.phalanges[1:, :2], atol=1e-9)
    np.testing.assert_allclose(found.base[0], true.base[0], atol=1e-9)
    with pytest.raises(InvalidValueError, match="no positions for thumb_metacarpal"):
        bones_from_joints({})


@pytest.mark.parametrize("side", ["right", "left"])
def test_names_of_other_systems(side):
    hand = side.capitalize()
    assert joint_names("webxr", side)["little_tip"] == "pinky-finger-tip"
    assert len(joint_names("webxr", side)) == 25
    assert joint_names("unity", side)["ring_intermediate"] == f"{hand}RingIntermediate"
    assert len(joint_names("unity", side)) == 16
    assert joint_names("unreal", side)["index_proximal"] == f"index_01_{side[0]}"
    assert joint_names("manipnet", side)["little_distal"] == "PINKY_DIP_FE"
    assert joint_names("openxr", side)["wrist"] == "XR_HAND_JOINT_WRIST_EXT"
    for scheme in ("webxr", "unity", "unreal", "manipnet", "openxr"):
        names = joint_names(scheme, side)
        assert len(set(names.values())) == len(names)
        assert set(names) <= set(OPENXR_JOINTS)
    assert set(OPENXR_PARENTS) == set(OPENXR_JOINTS)


def test_mistakes_are_explained():
    with pytest.raises(InvalidValueError, match=r"Hand length 19 m; expected 0.08 to 0.3 m"):
        human(length=19.0)
    with pytest.raises(InvalidValueError, match=r"Percentile 100; expected 0\.1 to 99\.9"):
        human(percentile=100.0)
    with pytest.raises(UnknownNameError, match=r"Unknown side 'rihgt'\. Did you mean 'right'"):
        human("rihgt")
    with pytest.raises(UnknownNameError, match="Unknown naming scheme 'unty'"):
        joint_names("unty", "right")
    with pytest.raises(UnknownNameError, match="Did you mean 'pinch'"):
        human().pose("pinsh")
