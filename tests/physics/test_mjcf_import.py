from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import kinematics_oracle as oracle
import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from handwright.errors import FileFormatError, InvalidValueError, UnknownNameError
from handwright.hands.trident import trident
from handwright.kinematics import link_poses, posed_pads
from handwright.math.pose import Pose
from handwright.physics import (
    Coupling,
    DigitMapping,
    HandMapping,
    from_mjcf,
    link_body_names,
    to_mjcf,
)
from tools.fuzz.robots import MJCF

NUM_POSES = 1000

# A gripper with odd frames: a slide finger, a hinge finger, a mimic, visuals and a fixed tip.
URDF = """
<robot name="gripper">
  <link name="mount"/>
  <joint name="mount_joint" type="fixed"><parent link="mount"/><child link="palm"/>
    <origin xyz="0.1 0.2 0.3" rpy="0.3 -0.2 0.5"/></joint>
  <link name="palm">{inertial}
    <collision><origin xyz="0.02 0 0"/><geometry><box size="0.04 0.08 0.03"/></geometry></collision>
  </link>
  <joint name="jaw" type="prismatic"><parent link="palm"/><child link="jaw_link"/>
    <origin xyz="0.05 0.04 0" rpy="0.1 0.7 -0.4"/><axis xyz="0 -1 0"/>
    <limit lower="0" upper="0.03" effort="10" velocity="1"/></joint>
  <link name="jaw_link">{inertial}
    <visual><geometry><sphere radius="0.5"/></geometry></visual>
    <collision><origin xyz="0.02 0 0" rpy="0 1.5707963 0"/>
      <geometry><cylinder radius="0.008" length="0.06"/></geometry></collision></link>
  <joint name="knuckle" type="revolute"><parent link="palm"/><child link="knuckle_link"/>
    <origin xyz="0.05 -0.04 0" rpy="0 0 0.3"/><axis xyz="0 0 1"/>
    <limit lower="-0.2" upper="1.4" effort="1" velocity="1"/></joint>
  <link name="knuckle_link">{inertial}
    <collision><origin xyz="0.02 0 0" rpy="0 1.5707963 0"/>
      <geometry><cylinder radius="0.008" length="0.04"/></geometry></collision></link>
  <joint name="end" type="revolute"><parent link="knuckle_link"/><child link="end_link"/>
    <origin xyz="0.04 0 0" rpy="0.2 0 0"/><axis xyz="0 0 2"/>
    <mimic joint="knuckle" multiplier="0.5" offset="0.1"/>
    <limit lower="0" upper="0.6" effort="1" velocity="1"/></joint>
  <link name="end_link">{inertial}</link>
  <joint name="tip_joint" type="fixed"><parent link="end_link"/><child link="tip_link"/>
    <origin xyz="0.02 0 0" rpy="0 0.1 0"/></joint>
  <link name="tip_link">
    <collision><geometry><sphere radius="0.007"/></geometry></collision></link>
</robot>
""".replace(
    "{inertial}",
    '<inertial><origin xyz="0.01 0.002 0"/><mass value="0.05"/>'
    '<inertia ixx="1e-5" iyy="2e-5" izz="2e-5" ixy="1e-6" ixz="0" iyz="0"/></inertial>',
)
GRIPPER = HandMapping(
    root="palm", digits={"jaw": "jaw_link", "finger": DigitMapping("tip_link")}, num_sites=40
)


@pytest.fixture
def urdf(tmp_path) -> Path:
    path = tmp_path / "gripper.urdf"
    path.write_text(URDF)
    return path


class TestUrdf:
    def test_all_links_move_as_in_the_file(self, urdf):
        hand = from_mjcf(urdf, GRIPPER)
        assert hand.name == "gripper"
        assert hand.joints.names == ("jaw", "knuckle", "end")
        assert hand.joints.is_slide.tolist() == [True, False, False]
        oracle.check_against_file(hand, urdf, "palm", "", np.eye(3), 200)

    def test_export_of_the_import_moves_alike(self, urdf):
        hand = from_mjcf(urdf, GRIPPER)
        exported = oracle.ExportedHand(hand, to_mjcf(hand))
        body = [exported.mj.body(name).id for name in link_body_names(hand)]
        rng = np.random.default_rng(6)
        for q in hand.joints.random(rng, (200,)):
            _, position, wxyz = oracle.random_root(rng)
            data = exported.pose(q, position, wxyz)
            _, places = link_poses(hand, q, Pose(position, wxyz))
            np.testing.assert_allclose(data.xpos[body], places, atol=1e-9)

    def test_mimic_joint_follows_and_narrows_its_leader(self, urdf):
        joints = from_mjcf(urdf, GRIPPER).joints
        assert joints.leader.tolist() == [-1, -1, 1]
        assert (joints.ratio[2], joints.bias[2]) == (0.5, 0.1)
        np.testing.assert_allclose([joints.lower[1], joints.upper[1]], [-0.2, 1.0])

    def test_mimic_joint_that_can_never_follow_is_refused(self, urdf):
        limits = {"knuckle": (2.0, 2.5)}
        with pytest.raises(InvalidValueError, match="no place for both within their limits"):
            from_mjcf(urdf, replace(GRIPPER, limits=limits))

    def test_visuals_are_left_out_where_there_are_collision_shapes(self, urdf):
        hand = from_mjcf(urdf, GRIPPER)
        assert hand.capsules.radius.max() < 0.05
        assert hand.capsules.digit.tolist().count(0) == 1

    def test_cylinder_becomes_a_flush_capsule(self, urdf):
        hand = from_mjcf(urdf, GRIPPER)
        row = int(np.flatnonzero(hand.capsules.link == 1)[0])
        ends = hand.capsules.end[row] - hand.capsules.start[row]
        assert hand.capsules.radius[row] == pytest.approx(0.008)
        assert np.linalg.norm(ends) == pytest.approx(0.06 - 2 * 0.008)

    def test_slide_finger_closes_towards_the_other(self, urdf):
        hand = from_mjcf(urdf, GRIPPER)
        closed, opened = hand.pose("closed"), hand.pose("open")
        assert closed[0] == pytest.approx(0.75 * 0.03)

        def span(q):
            pads = posed_pads(hand, q).position
            return np.linalg.norm(pads[0] - pads[1])

        assert span(closed) < span(opened)
        pads = posed_pads(hand, opened)
        assert pads.normal[0] @ (pads.position[1] - pads.position[0]) > 0

    def test_fixed_tip_rides_on_the_last_moving_link(self, urdf):
        hand = from_mjcf(urdf, GRIPPER)
        finger = hand.digit("finger")
        assert finger.tip.link == 3
        assert np.linalg.norm(finger.tip.position) == pytest.approx(0.02 + 0.007)

    def test_given_directions_limits_and_poses_are_used(self, urdf):
        mapping = replace(
            GRIPPER,
            digits={"jaw": "jaw_link", "finger": DigitMapping("tip_link", closing=(0, 0, 1))},
            limits={"jaw": (0.001, 0.02)},
            poses={"pinch": {"jaw": 0.01, "knuckle": 0.4}},
            couplings={"end": Coupling("knuckle", -0.25, 0.3)},
        )
        hand = from_mjcf(urdf, mapping)
        assert (hand.joints.lower[0], hand.joints.upper[0]) == (0.001, 0.02)
        np.testing.assert_allclose(hand.pose("pinch"), [0.01, 0.4, 0.2])
        up = hand.frames.wxyz[hand.frames.index("tip_link")]
        axis = Rotation.from_quat(up[[1, 2, 3, 0]]).as_matrix()[:, 2]
        assert hand.digit("finger").pad.normal @ axis > 0.9

    def test_missing_mesh_is_named(self, tmp_path):
        path = tmp_path / "meshy.urdf"
        path.write_text(URDF.replace('<sphere radius="0.007"/>', '<mesh filename="gone.stl"/>'))
        with pytest.raises(FileFormatError, match=r"(?s)meshy.urdf.*gone\.stl.*meshes must lie"):
            from_mjcf(path, GRIPPER)


# Every kind of shape and joint of MJCF, none of it aligned with anything.
ODD_MJCF = MJCF.decode()
ODD = HandMapping(root="base", digits={"first": "c", "second": "d"}, num_sites=30)


@pytest.fixture
def odd_path(tmp_path) -> Path:
    path = tmp_path / "odd.xml"
    path.write_text(ODD_MJCF)
    return path


class TestOddMjcf:
    def test_several_joints_anchors_and_references_agree(self, odd_path):
        hand = from_mjcf(odd_path, ODD)
        assert hand.joints.names == ("a1", "a2", "a3", "b1", "d1")
        oracle.check_against_file(hand, odd_path, "base", "", np.eye(3), 300)

    def test_export_puts_the_joints_of_one_body_back_into_one(self, odd_path):
        hand = from_mjcf(odd_path, ODD)
        assert link_body_names(hand) == ("root", None, None, "a3", "b1", "d1")
        exported = oracle.ExportedHand(hand, to_mjcf(hand))
        real = [0, 3, 4, 5]
        body = [exported.mj.body(link_body_names(hand)[link]).id for link in real]
        rng = np.random.default_rng(8)
        for q in hand.joints.random(rng, (300,)):
            root, position, wxyz = oracle.random_root(rng)
            data = exported.pose(q, position, wxyz)
            expected = oracle.oracle_link_poses(hand, q, root)[real]
            np.testing.assert_allclose(data.xpos[body], expected[:, :3, 3], atol=1e-9)
            np.testing.assert_allclose(
                data.xmat[body].reshape(-1, 3, 3), expected[:, :3, :3], atol=1e-9
            )

    def test_equality_with_references_becomes_a_follower(self, odd_path):
        """MuJoCo's own residual of the equality vanishes on the imported line."""
        hand = from_mjcf(odd_path, ODD)
        mj = oracle.load_as_written(odd_path)
        data = mujoco.MjData(mj)
        address = [mj.joint(name).qposadr[0] for name in hand.joints.names]
        for q in hand.joints.random(np.random.default_rng(9), (50,)):
            data.qpos[address] = q
            mujoco.mj_forward(mj, data)
            is_equality = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY.value
            assert is_equality.sum() == 1
            assert np.abs(data.efc_pos[is_equality]).max() < 1e-12

    def test_inertia_of_the_whole_agrees(self, odd_path):
        """The joint-space inertia matrix sees every mass, centre and moment."""
        hand = from_mjcf(odd_path, ODD)
        exported = oracle.ExportedHand(hand, to_mjcf(hand))
        theirs = oracle.load_as_written(odd_path)
        data = mujoco.MjData(theirs)
        address = [theirs.joint(name).qposadr[0] for name in hand.joints.names]
        dof = [theirs.joint(name).dofadr[0] for name in hand.joints.names]
        for q in hand.joints.random(np.random.default_rng(10), (20,)):
            matrices = []
            data.qpos[address] = q
            own = exported.pose(q, np.zeros(3), np.array([1.0, 0, 0, 0]))
            for mj, state, rows in ((theirs, data, dof), (exported.mj, own, exported.dof)):
                mj.dof_armature[:] = 0.0
                mujoco.mj_forward(mj, state)
                full = np.zeros((mj.nv, mj.nv))
                mujoco.mj_fullM(mj, state, full)
                matrices.append(full[np.ix_(rows, rows)])
            np.testing.assert_allclose(matrices[1], matrices[0], rtol=1e-6, atol=1e-10)

    def test_all_kinds_of_shape_are_covered(self, odd_path):
        hand = from_mjcf(odd_path, ODD)
        assert set(np.unique(hand.capsules.link)) == {0, 3, 4, 5}
        # The ball at the end of the first digit is its tip.
        ball = int(np.argmin(np.abs(hand.capsules.radius - 0.008)))
        assert hand.capsules.radius[ball] == pytest.approx(0.008)
        np.testing.assert_array_equal(hand.capsules.start[ball], hand.capsules.end[ball])

    def test_curved_coupling_is_refused_unless_a_line_is_given(self, odd_path):
        odd_path.write_text(ODD_MJCF.replace("0.05 0.4 0 0 0", "0.05 0.4 0.1 0 0"))
        with pytest.raises(InvalidValueError, match=r"'b1' follows 'a1' by a curve"):
            from_mjcf(odd_path, ODD)
        hand = from_mjcf(odd_path, replace(ODD, couplings={"b1": Coupling("a1", 0.4)}))
        assert hand.joints.ratio[hand.joints.index("b1")] == 0.4

    def test_ball_joint_is_refused_with_its_body(self, odd_path):
        odd_path.write_text(
            ODD_MJCF.replace(
                '<joint name="d1" axis="1 0 0" range="-0.2 1.5"/>', '<joint name="d1" type="ball"/>'
            )
        )
        with pytest.raises(InvalidValueError, match=r"body 'd' has a ball joint; a hand is made"):
            from_mjcf(odd_path, ODD)

    def test_unlimited_hinge_gets_half_a_turn_and_a_note(self, odd_path):
        odd_path.write_text(ODD_MJCF.replace('range="-0.2 1.5"', ""))
        with pytest.warns(UserWarning, match="no limits for d1"):
            hand = from_mjcf(odd_path, ODD)
        assert hand.joints.upper[-1] == pytest.approx(np.pi)
        given = from_mjcf(odd_path, replace(ODD, limits={"d1": (-0.1, 0.2)}))
        assert given.joints.upper[-1] == 0.2

    def test_unlimited_slide_is_refused_with_the_remedy(self, odd_path):
        odd_path.write_text(ODD_MJCF.replace('range="-0.01 0.02"', ""))
        with pytest.raises(InvalidValueError, match=r"slide 'a2' has no limits.*limits=\{'a2'"):
            from_mjcf(odd_path, ODD)

    def test_endless_chain_of_followers_is_refused(self, odd_path):
        loop = {"a1": Coupling("a3"), "a3": Coupling("a1")}
        with pytest.raises(InvalidValueError, match="joints follow each other"):
            from_mjcf(odd_path, replace(ODD, couplings=loop))

    def test_follower_of_a_follower_follows_the_first(self, odd_path):
        line = {"a1": Coupling("d1", 0.5, 0.1)}
        joints = from_mjcf(odd_path, replace(ODD, couplings=line)).joints
        b1, d1 = joints.index("b1"), joints.index("d1")
        assert joints.leader[b1] == d1
        assert joints.ratio[b1] == pytest.approx(0.4 * 0.5)


def test_round_trip_of_a_hand_of_ours(tmp_path):
    """Export and import return the same kinematics, capsules, masses and couplings."""
    hand = trident()
    path = tmp_path / "trident.xml"
    path.write_text(to_mjcf(hand))
    mapping = HandMapping(
        root="root",
        digits={d.name: hand.joints.names[d.joints[-1]] for d in hand.digits},
        poses={
            name: dict(zip(hand.joints.names, q.tolist(), strict=True))
            for name, q in hand.poses.items()
        },
    )
    back = from_mjcf(path, mapping)
    for field in ("parent", "offset", "axis", "lower", "upper", "leader", "ratio", "bias"):
        np.testing.assert_allclose(
            getattr(back.joints, field), getattr(hand.joints, field), atol=1e-12
        )
    assert back.joints.names == hand.joints.names
    np.testing.assert_array_equal(back.capsules.link, hand.capsules.link)
    np.testing.assert_allclose(back.capsules.radius, hand.capsules.radius)
    np.testing.assert_array_equal(back.capsules.digit, hand.capsules.digit)
    np.testing.assert_allclose(back.masses.mass, hand.masses.mass)
    np.testing.assert_allclose(back.masses.inertia, hand.masses.inertia, atol=1e-10)
    for name, q in hand.poses.items():
        np.testing.assert_allclose(back.pose(name), q)
    for ours, theirs in zip(hand.digits, back.digits, strict=True):
        np.testing.assert_allclose(theirs.tip.position, ours.tip.position, atol=1e-9)
        np.testing.assert_allclose(theirs.pad.normal, ours.pad.normal, atol=1e-9)


class TestMistakes:
    def test_missing_file(self, tmp_path):
        with pytest.raises(InvalidValueError, match=r"No file .*none\.xml'; expected the path"):
            from_mjcf(tmp_path / "none.xml", ODD)

    @pytest.mark.parametrize("text", ["<mujoco><worldbody>", "", "not xml at all"])
    def test_broken_xml(self, tmp_path, text):
        path = tmp_path / "broken.xml"
        path.write_text(text)
        with pytest.raises(FileFormatError, match=r"broken\.xml' is not XML"):
            from_mjcf(path, ODD)

    def test_binary_file(self, tmp_path):
        path = tmp_path / "picture.xml"
        path.write_bytes(bytes(range(256)))
        with pytest.raises(FileFormatError, match="is not XML"):
            from_mjcf(path, ODD)

    def test_other_xml(self, tmp_path):
        path = tmp_path / "page.xml"
        path.write_text("<html/>")
        with pytest.raises(FileFormatError, match=r"starts with <html>; expected <mujoco>"):
            from_mjcf(path, ODD)

    def test_xml_that_mujoco_refuses(self, tmp_path):
        path = tmp_path / "odd.xml"
        path.write_text(ODD_MJCF.replace('<joint name="a1"', '<joint nmae="a1"'))
        with pytest.raises(FileFormatError, match=r"MuJoCo cannot compile .*nmae"):
            from_mjcf(path, ODD)

    def test_unknown_root_lists_near_names(self, odd_path):
        with pytest.raises(
            UnknownNameError,
            match=r"Unknown body of 'odd.xml' 'bse'. Did you mean"
            r" 'base'\? Known: .*base",
        ):
            from_mjcf(odd_path, replace(ODD, root="bse"))

    def test_unknown_last_body_and_site_and_joint(self, odd_path):
        with pytest.raises(UnknownNameError, match=r"body of 'odd\.xml' 'cc'"):
            from_mjcf(odd_path, replace(ODD, digits={"first": "cc"}))
        with pytest.raises(UnknownNameError, match=r"site of 'odd\.xml' 'tip'"):
            from_mjcf(odd_path, replace(ODD, digits={"first": DigitMapping("c", tip="tip")}))
        with pytest.raises(UnknownNameError, match=r"joint of 'odd\.xml' 'a9'"):
            from_mjcf(odd_path, replace(ODD, poses={"rest": {"a9": 0.1}}))

    def test_follower_whose_leader_is_left_out(self, odd_path):
        with pytest.raises(
            InvalidValueError, match=r"'b1' follows 'a1', which is no joint .*arm_r"
        ):
            from_mjcf(odd_path, replace(ODD, root="a", digits={"x": "c"}))

    def test_digit_off_the_palm_and_without_joints(self, odd_path):
        odd_path.write_text(ODD_MJCF.replace('joint1="b1" joint2="a1"', 'joint1="b1"'))
        with pytest.raises(InvalidValueError, match="'d' of digit 'x' does not hang on the palm"):
            from_mjcf(odd_path, replace(ODD, root="a", digits={"x": "d"}))
        with pytest.raises(InvalidValueError, match="digit 'x' has no joint of its own"):
            from_mjcf(odd_path, replace(ODD, digits={"x": "base"}))

    def test_arm_root_beyond_the_palm(self, odd_path):
        with pytest.raises(InvalidValueError, match="does not hang on arm_root 'd'"):
            from_mjcf(odd_path, replace(ODD, arm_root="d"))

    def test_free_joint_within_the_arm(self, odd_path):
        with pytest.raises(InvalidValueError, match="body 'base' has a free joint"):
            from_mjcf(odd_path, replace(ODD, arm_root="world"))

    def test_pose_outside_the_limits_is_named(self, odd_path):
        with pytest.raises(InvalidValueError, match="pose 'rest' breaks the limits of d1"):
            from_mjcf(odd_path, replace(ODD, poses={"rest": {"d1": 3.0}}))

    def test_mapping_without_digits_or_with_half_a_frame(self):
        with pytest.raises(InvalidValueError, match="names no digits"):
            HandMapping(root="palm", digits={})
        with pytest.raises(InvalidValueError, match="give both, or neither"):
            HandMapping(root="palm", digits={"a": "b"}, distal=(1, 0, 0))

    def test_parallel_directions(self, odd_path):
        bad = replace(ODD, distal=(1, 0, 0), palmar=(2, 0, 0))
        with pytest.raises(InvalidValueError, match="two different directions"):
            from_mjcf(odd_path, bad)
