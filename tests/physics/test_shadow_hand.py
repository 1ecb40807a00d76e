from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from handwright.core.hand import HandModel
from handwright.hands.capsules import distances_to_axes
from handwright.kinematics import link_poses, point_jacobians, posed_capsules, posed_pads
from handwright.math.pose import Pose
from handwright.physics import (
    SHADOW_HAND,
    from_mjcf,
    link_body_names,
    to_mjcf,
)

# Tests are imported one by one, without packages, so a shared oracle is loaded by its path.
_spec = importlib.util.spec_from_file_location(
    "kinematics_oracle", Path(__file__).with_name("kinematics_oracle.py")
)
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)

NUM_POSES = 1000
# Axes of the model's root in the palm body's frame: x distal, y to the thumb, z dorsal.
SHADOW_TURN = np.column_stack([[0, 0, 1.0], [1.0, 0, 0], [0, 1.0, 0]])


def shadow_path() -> Path:
    found = importlib.util.find_spec("gymnasium_robotics")
    if found is None or found.origin is None:
        pytest.skip("gymnasium-robotics, which carries the Shadow hand, is not installed")
    return Path(found.origin).parent / "envs" / "assets" / "hand" / "reach.xml"


@pytest.fixture(scope="module")
def shadow() -> HandModel:
    return from_mjcf(shadow_path(), SHADOW_HAND, name="shadow")


class TestShadowHand:
    def test_all_bodies_move_as_in_the_file(self, shadow):
        oracle.check_against_file(
            shadow, shadow_path(), "robot0:palm", "robot0:", SHADOW_TURN, NUM_POSES
        )

    def test_kept_arm_moves_as_in_the_file(self):
        mapping = replace(SHADOW_HAND, arm_root="robot0:forearm")
        hand = from_mjcf(shadow_path(), mapping)
        assert hand.joints.names[:2] == ("WRJ1", "WRJ0")
        assert hand.wrist_link == 2
        assert not np.isin(hand.sites.link, [0, 1]).any()
        oracle.check_against_file(
            hand, shadow_path(), "robot0:forearm", "robot0:", SHADOW_TURN, 100
        )

    def test_export_agrees_in_a_thousand_random_poses(self, shadow):
        exported = oracle.ExportedHand(shadow, to_mjcf(shadow))
        names = link_body_names(shadow)
        body = [exported.mj.body(name).id for name in names]
        assert None not in names
        link = np.array([digit.tip.link for digit in shadow.digits])
        local = np.array([digit.tip.position for digit in shadow.digits])
        site = [exported.mj.site(f"tip:{digit.name}").id for digit in shadow.digits]
        rng = np.random.default_rng(5)
        linear, angular = np.zeros((2, 3, exported.mj.nv))
        worst = 0.0
        for q in shadow.joints.random(rng, (NUM_POSES,)):
            _, position, wxyz = oracle.random_root(rng)
            data = exported.pose(q, position, wxyz)
            turns, places = link_poses(shadow, q, Pose(position, wxyz))
            tips, jacobian, _ = point_jacobians(shadow, q, link, local, Pose(position, wxyz))
            worst = max(
                worst,
                np.abs(data.xpos[body] - places).max(),
                np.abs(data.xmat[body].reshape(-1, 3, 3) - turns).max(),
                np.abs(data.site_xpos[site] - tips).max(),
            )
            for k in range(len(site)):
                mujoco.mj_jacSite(exported.mj, data, linear, angular, site[k])
                worst = max(worst, np.abs(linear[:, exported.dof] - jacobian[k]).max())
        assert worst < 1e-9

    def test_digits_have_the_joints_of_the_hand(self, shadow):
        chains = {d.name: [shadow.joints.names[joint] for joint in d.joints] for d in shadow.digits}
        assert chains == {
            "thumb": ["THJ4", "THJ3", "THJ2", "THJ1", "THJ0"],
            "index": ["FFJ3", "FFJ2", "FFJ1", "FFJ0"],
            "middle": ["MFJ3", "MFJ2", "MFJ1", "MFJ0"],
            "ring": ["RFJ3", "RFJ2", "RFJ1", "RFJ0"],
            "little": ["LFJ4", "LFJ3", "LFJ2", "LFJ1", "LFJ0"],
        }
        assert (shadow.side, shadow.num_joints, shadow.wrist_link) == ("right", 22, 0)

    def test_root_frame_is_distal_and_dorsal_with_the_thumb_at_the_left(self, shadow):
        _, places = link_poses(shadow, np.zeros(shadow.num_joints))
        tips = {d.name: places[d.tip.link] + d.tip.position for d in shadow.digits}
        np.testing.assert_allclose(
            tips["middle"], [0.099 + 0.045 + 0.025 + 0.031, 0.011, 0], atol=2e-4
        )
        assert tips["thumb"][1] > tips["index"][1] > tips["middle"][1] > tips["little"][1]
        for digit in shadow.digits:
            if digit.name != "thumb":
                np.testing.assert_allclose(digit.pad.normal, [0, 0, -1], atol=1e-9)

    def test_pads_lie_in_the_middle_of_the_files_touch_sensors(self, shadow):
        """The file's own touch boxes say independently where and on which side the pads are."""
        mj = oracle.load_as_written(shadow_path())
        data = mujoco.MjData(mj)
        mujoco.mj_kinematics(mj, data)
        palm = data.body("robot0:palm")
        axes = palm.xmat.reshape(3, 3) @ SHADOW_TURN
        pads = posed_pads(shadow, np.zeros(shadow.num_joints)).position
        for digit, pad, code in zip(
            shadow.digits, pads, ("th", "ff", "mf", "rf", "lf"), strict=True
        ):
            site = data.site(f"robot0:Tch_{code}tip")
            world = palm.xpos + axes @ pad
            inside = site.xmat.reshape(3, 3).T @ (world - site.xpos)
            size = mj.site(f"robot0:Tch_{code}tip").size
            assert np.all(np.abs(inside) <= size + 1e-9), digit.name

    def test_capsule_geoms_are_kept_and_boxes_are_covered_flush(self, shadow):
        capsules = shadow.capsules
        row = capsules.names.index("C_ffproximal")
        np.testing.assert_allclose(
            np.sort([capsules.start[row, 0], capsules.end[row, 0]]), [0.0, 0.045], atol=1e-9
        )
        assert capsules.radius[row] == pytest.approx(0.01)
        palm = [k for k, name in enumerate(capsules.names) if name.startswith("C_palm0")]
        assert len(palm) == 3
        np.testing.assert_allclose(capsules.radius[palm], 0.0111)
        assert np.all(capsules.digit[palm] == -1)
        assert not any(name.startswith("V_") for name in capsules.names)

    def test_tendon_couplings_narrow_their_leaders(self, shadow):
        joints = shadow.joints
        follower, leader = joints.index("FFJ0"), joints.index("FFJ1")
        assert joints.leader[follower] == leader
        assert joints.upper[leader] * joints.ratio[follower] == pytest.approx(
            joints.upper[follower]
        )
        mj = oracle.load_as_written(shadow_path())
        data = mujoco.MjData(mj)
        for q in joints.random(np.random.default_rng(1), (20,)):
            data.qpos[[mj.joint("robot0:" + name).qposadr[0] for name in joints.names]] = q
            mujoco.mj_forward(mj, data)
            for code in ("FF", "MF", "RF", "LF"):
                assert abs(data.tendon(f"robot0:T_{code}J1c").length[0]) < 1e-12

    def test_masses_are_those_of_the_file(self, shadow):
        mj = oracle.load_as_written(shadow_path())
        data = mujoco.MjData(mj)
        mujoco.mj_forward(mj, data)
        palm = mj.body("robot0:palm").id
        assert shadow.masses.mass.sum() == pytest.approx(mj.body_subtreemass[palm])
        _, places = link_poses(shadow, np.zeros(shadow.num_joints))
        center = shadow.masses.mass @ (places + shadow.masses.center) / shadow.masses.mass.sum()
        axes = data.xmat[palm].reshape(3, 3) @ SHADOW_TURN
        np.testing.assert_allclose(
            data.xpos[palm] + axes @ center, data.subtree_com[palm], atol=1e-9
        )

    def test_every_shipped_pose_is_there_and_the_pinch_is_one(self, shadow):
        assert set(shadow.poses) == {"rest", "open", "closed", "pinch", "neutral"}
        pads = posed_pads(shadow, shadow.pose("pinch"))
        assert np.linalg.norm(pads.position[0] - pads.position[1]) < 0.008
        assert pads.normal[0] @ pads.normal[1] < -0.75
        palm_ward = posed_pads(shadow, shadow.pose("closed")).normal[1:, 2]
        assert np.all(palm_ward > 0.5)  # the fingers have curled right round

    @pytest.mark.parametrize("name", ["rest", "open", "closed", "pinch", "neutral"])
    def test_digits_stay_out_of_each_other(self, shadow, name):
        posed = posed_capsules(shadow, shadow.pose(name))
        digit = shadow.capsules.digit
        steps = np.linspace(0.0, 1.0, 60)[:, None]
        for one in np.flatnonzero(digit >= 0):
            points = posed.start[one] + steps * (posed.end[one] - posed.start[one])
            gap = distances_to_axes(points, posed.start, posed.end).min(axis=0)
            gap -= posed.radius + posed.radius[one]
            others = (digit >= 0) & (digit != digit[one])
            assert gap[others].min() > -5e-4, shadow.capsules.names[one]

    def test_sites_cover_all_digits_and_the_palm(self, shadow):
        assert len(shadow.sites) == 100
        tips = [digit.tip.link for digit in shadow.digits]
        assert all(np.sum(shadow.sites.link == link) >= 3 for link in tips)
        assert np.sum(shadow.sites.link == 0) >= 15
