from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree

import kinematics_oracle as oracle
import mujoco
import numpy as np
import pytest

from handwright.core import hand as parts
from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.hands.human.model import human
from handwright.hands.trident import trident
from handwright.kinematics import link_poses, point_jacobians
from handwright.math.pose import Pose
from handwright.physics import link_body_names, to_mjcf

NUM_POSES = 1000


def stepped_hand(seed: int = 5) -> HandModel:
    """A hand of odd axes: a universal joint with skew anchors, a slide in a chain, a follower."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=(7, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    offset = rng.uniform(-0.05, 0.05, (7, 3))
    offset[1] = 0.0
    # Links 1, 2 and 5 are bare steps; link 3 carries two chains.
    joints = parts.JointTree(
        tuple(f"j{k}" for k in range(7)),
        np.array([0, 1, 2, 3, 3, 5, 6]),
        offset,
        axis,
        np.full(7, -1.0),
        np.full(7, 1.5),
        np.array([False, False, False, True, False, True, False]),
        np.array([-1, -1, -1, -1, -1, -1, 4]),
        np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -0.5]),
        np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1]),
    )
    mass = np.array([0.3, 0.0, 0.0, 0.2, 0.1, 0.0, 0.0, 0.1])
    inertia = np.where(mass > 0, 1e-4, 0.0)[:, None, None] * np.diag([1.0, 1.2, 1.4])
    quat = rng.normal(size=(3, 4))
    tip = parts.SurfacePoint(7, np.array([0.02, 0.0, 0.01]), np.array([0.6, 0.0, 0.8]))
    pad = parts.SurfacePoint(4, np.array([0.02, 0.0, 0.01]), np.array([0.0, 0.0, -1.0]))
    return HandModel(
        name="stepped",
        side="none",
        joints=joints,
        frames=parts.Frames(
            ("a", "b", "c"),
            np.array([0, 3, 7]),
            rng.normal(size=(3, 3)),
            quat / np.linalg.norm(quat, axis=1, keepdims=True),
        ),
        digits=(parts.Digit("d", (3,), tip, pad, None),),
        capsules=parts.Capsules(
            ("palm", "rod", "ball"),
            np.array([0, 4, 7]),
            np.zeros((3, 3)),
            np.array([[0.05, 0.0, 0.0], [0.0, 0.04, 0.0], [0.0, 0.0, 0.0]]),
            np.array([0.02, 0.01, 0.012]),
            np.array([-1, 0, -1]),
        ),
        sites=parts.Sites(
            np.array([0, 7]), np.zeros((2, 3)), np.array([[0, 0, 1.0], [0, 0, -1.0]])
        ),
        masses=parts.Masses(mass, rng.uniform(-0.01, 0.01, (8, 3)), inertia),
        wrist_link=0,
    )


HANDS: dict[str, Callable[[], HandModel]] = {
    "trident": trident,
    "large trident": lambda: trident(scale=1.7),
    "stepped": stepped_hand,
    "human right": lambda: human("right"),
    "human left": lambda: human("left"),
    "human right with arm": lambda: human("right", arm=True),
    "human left with arm": lambda: human("left", arm=True),
}


@pytest.fixture(scope="module", params=HANDS)
def hand(request) -> HandModel:
    return HANDS[request.param]()


def export(hand: HandModel, **settings) -> str:
    # The shoulder of an arm has no mass of its own, so it cannot float.
    return to_mjcf(hand, fixed_root=hand.masses.mass[0] == 0.0, **settings)


def test_links_frames_and_tips_agree_in_a_thousand_random_poses(hand):
    exported = oracle.ExportedHand(hand, export(hand))
    names = link_body_names(hand)
    real = [link for link, name in enumerate(names) if name is not None]
    body = [exported.mj.body(names[link]).id for link in real]
    marks = [
        (f"frame:{name}", hand.frames.link[k], hand.frames.position[k])
        for k, name in enumerate(hand.frames.names)
    ]
    for digit in hand.digits:
        marks += [(f"tip:{digit.name}", digit.tip.link, digit.tip.position)]
        marks += [(f"pad:{digit.name}", digit.pad.link, digit.pad.position)]
    site = [exported.mj.site(name).id for name, _, _ in marks]
    mark_link = np.array([link for _, link, _ in marks])
    mark_position = np.array([position for _, _, position in marks])
    rng = np.random.default_rng(11)
    q = hand.joints.random(rng, (NUM_POSES,))
    root, position, wxyz = oracle.random_root(rng, (NUM_POSES,))
    expected = oracle.oracle_link_poses(hand, q, root)[:, real]
    turns, places = link_poses(hand, q, Pose(position, wxyz))
    points = places[:, mark_link] + np.einsum("bnij,nj->bni", turns[:, mark_link], mark_position)
    worst = 0.0
    for k in range(NUM_POSES):
        data = exported.pose(q[k], position[k], wxyz[k])
        turned = data.xmat[body].reshape(-1, 3, 3)
        worst = max(
            worst,
            np.abs(data.xpos[body] - expected[k, :, :3, 3]).max(),
            np.abs(turned - expected[k, :, :3, :3]).max(),
            np.abs(data.xpos[body] - places[k, real]).max(),
            np.abs(turned - turns[k, real]).max(),
            np.abs(data.site_xpos[site] - points[k]).max(),
        )
    assert worst < 1e-9


def test_tip_jacobians_agree_in_random_poses(hand):
    exported = oracle.ExportedHand(hand, export(hand))
    link = np.array([digit.tip.link for digit in hand.digits])
    local = np.array([digit.tip.position for digit in hand.digits])
    rng = np.random.default_rng(12)
    linear, angular = np.zeros((2, 3, exported.mj.nv))
    worst = 0.0
    for q in hand.joints.random(rng, (NUM_POSES // 4,)):
        _, position, wxyz = oracle.random_root(rng)
        data = exported.pose(q, position, wxyz)
        _, own_linear, own_angular = point_jacobians(hand, q, link, local, Pose(position, wxyz))
        for k, digit in enumerate(hand.digits):
            site = exported.mj.site(f"tip:{digit.name}").id
            mujoco.mj_jacSite(exported.mj, data, linear, angular, site)
            worst = max(
                worst,
                np.abs(linear[:, exported.dof] - own_linear[k]).max(),
                np.abs(angular[:, exported.dof] - own_angular[k]).max(),
            )
    assert worst < 1e-9


def test_orientations_of_frames_and_normals_of_pads_arrive(hand):
    exported = oracle.ExportedHand(hand, export(hand, sites=True))
    rng = np.random.default_rng(13)
    q = hand.joints.random(rng)
    root, position, wxyz = oracle.random_root(rng)
    data = exported.pose(q, position, wxyz)
    turns = oracle.oracle_link_poses(hand, q, root)[:, :3, :3]
    for k, name in enumerate(hand.frames.names):
        local = np.zeros(9)
        mujoco.mju_quat2Mat(local, hand.frames.wxyz[k])
        got = data.site(f"frame:{name}").xmat.reshape(3, 3)
        np.testing.assert_allclose(got, turns[hand.frames.link[k]] @ local.reshape(3, 3), atol=1e-9)
    marks = [(f"pad:{d.name}", d.pad.link, d.pad.normal) for d in hand.digits]
    marks += [(f"tip:{d.name}", d.tip.link, d.tip.normal) for d in hand.digits]
    marks += [
        (f"site:{k:03d}", hand.sites.link[k], hand.sites.normal[k]) for k in range(len(hand.sites))
    ]
    for name, link, normal in marks:
        got = data.site(name).xmat.reshape(3, 3)[:, 2]
        np.testing.assert_allclose(got, turns[link] @ normal, atol=1e-9)


def test_masses_centres_and_inertias_arrive(hand):
    mj = mujoco.MjModel.from_xml_string(export(hand))
    assert mj.body_mass.sum() == pytest.approx(hand.masses.mass.sum())
    for link, name in enumerate(link_body_names(hand)):
        if name is None:
            assert hand.masses.mass[link] == 0.0
        if hand.masses.mass[link] == 0.0:
            continue
        body = mj.body(name)
        np.testing.assert_allclose(body.ipos, hand.masses.center[link], atol=1e-12)
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, body.iquat)
        turn = turn.reshape(3, 3)
        full = turn @ np.diag(body.inertia) @ turn.T
        np.testing.assert_allclose(full, hand.masses.inertia[link], rtol=1e-6, atol=1e-12)


def test_capsules_limits_and_couplings_arrive(hand):
    exported = oracle.ExportedHand(hand, export(hand))
    mj, data = exported.mj, exported.data
    exported.pose(np.zeros(hand.num_joints), np.zeros(3), np.array([1.0, 0, 0, 0]))
    origins = oracle.oracle_link_poses(hand, np.zeros(hand.num_joints), np.eye(4))[:, :3, 3]
    assert mj.ngeom == len(hand.capsules)
    for k, name in enumerate(hand.capsules.names):
        geom = mj.geom(name)
        ends = np.array([hand.capsules.start[k], hand.capsules.end[k]])
        middle = origins[hand.capsules.link[k]] + ends.mean(axis=0)
        np.testing.assert_allclose(data.geom(name).xpos, middle, atol=1e-9)
        assert geom.size[0] == pytest.approx(hand.capsules.radius[k])
        half = data.geom(name).xmat.reshape(3, 3)[:, 2] * geom.size[1]
        np.testing.assert_allclose(
            np.outer(half, half), np.outer(*[ends[1] - ends[0]] * 2) / 4, atol=1e-9
        )
    for j, name in enumerate(hand.joints.names):
        assert mj.joint(name).limited
        np.testing.assert_array_equal(
            mj.joint(name).range, [hand.joints.lower[j], hand.joints.upper[j]]
        )
    followers = np.flatnonzero(hand.joints.leader >= 0)
    assert mj.neq == len(followers)
    for k, j in enumerate(followers):
        assert mj.joint(mj.eq_obj1id[k]).name == hand.joints.names[j]
        assert mj.joint(mj.eq_obj2id[k]).name == hand.joints.names[hand.joints.leader[j]]
        np.testing.assert_array_equal(
            mj.eq_data[k, :5], [hand.joints.bias[j], hand.joints.ratio[j], 0, 0, 0]
        )


def test_bare_steps_share_one_body():
    hand = stepped_hand()
    assert link_body_names(hand, prefix="left/") == (
        *("left/root", None, None, "left/j2", "left/j3", None, None, "left/j6"),
    )
    mj = mujoco.MjModel.from_xml_string(to_mjcf(hand, prefix="left/"))
    assert [mj.body(k).name for k in range(1, mj.nbody)] == [
        *("left/root", "left/j2", "left/j3", "left/j6"),
    ]
    assert mj.body("left/j6").jntnum[0] == 3
    assert mj.body("left/j2").jntnum[0] == 3
    assert mj.body("left/j3").jntnum[0] == 1


def test_two_prefixed_hands_fit_into_one_scene():
    scene = ElementTree.fromstring(to_mjcf(trident(), prefix="left/", actuators=True))
    other = ElementTree.fromstring(to_mjcf(trident(), prefix="right/", actuators=True))
    for section in ("worldbody", "contact", "equality", "actuator"):
        scene.find(section).extend(other.find(section))
    mj = mujoco.MjModel.from_xml_string(ElementTree.tostring(scene, encoding="unicode"))
    assert mj.njnt == 2 * (8 + 1)
    assert mj.joint("right/thumb_distal").id != mj.joint("left/thumb_distal").id


def test_fixed_root_has_no_free_joint_and_may_be_without_mass():
    hand = trident()
    masses = replace(hand.masses, mass=np.where(np.arange(9) > 0, hand.masses.mass, 0.0))
    mj = mujoco.MjModel.from_xml_string(to_mjcf(replace(hand, masses=masses), fixed_root=True))
    assert (mj.nq, mj.nv) == (8, 8)


def test_moving_body_without_mass_is_refused_with_its_name():
    hand = trident()
    mass = hand.masses.mass.copy()
    mass[4] = 0.0
    light = replace(hand, masses=replace(hand.masses, mass=mass))
    with pytest.raises(InvalidValueError, match=r"link 4 \('finger1_proximal'\) has mass 0 kg"):
        to_mjcf(light)


def test_locked_joint_still_compiles():
    hand = trident().with_limits({"thumb_distal": (0.3, 0.3)})
    mj = mujoco.MjModel.from_xml_string(to_mjcf(hand))
    np.testing.assert_allclose(mj.joint("thumb_distal").range, [0.3, 0.3], atol=1e-5)


@pytest.mark.parametrize("timestep", [0.0, -0.1, np.nan])
def test_time_step_must_be_positive(timestep):
    with pytest.raises(InvalidValueError, match="timestep is"):
        to_mjcf(trident(), timestep=timestep)


def test_text_is_stable_and_plain():
    text = to_mjcf(trident())
    assert text == to_mjcf(trident())
    root = ElementTree.fromstring(text)
    assert root.find("compiler").get("angle") == "radian"
    assert float(root.find("option").get("timestep")) == 0.002


@pytest.mark.parametrize("fixed_root", [True, False])
def test_relaxed_hand_has_no_contacts_of_its_own(fixed_root):
    """Joined shapes overlap by design; none of that may reach the solver."""
    hand = trident()
    exported = mujoco.MjModel.from_xml_string(to_mjcf(hand, fixed_root=fixed_root))
    data = mujoco.MjData(exported)
    for name in ("neutral", "rest", "open", "pinch"):
        data.qpos[-hand.num_joints :] = hand.pose(name)
        mujoco.mj_forward(exported, data)
        assert data.ncon == 0, name


@pytest.mark.parametrize("name", ["rest", "open", "pinch"])
def test_servos_hold_a_pose_against_gravity(name):
    hand = trident()
    text = to_mjcf(hand, fixed_root=True, actuators=True)
    mj = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(mj)
    assert mj.nu == 7  # the second spread joint follows the first
    target = hand.pose(name)
    for k in range(mj.nu):
        data.ctrl[k] = target[hand.joints.index(mj.actuator(k).name)]
    mujoco.mj_step(mj, data, nstep=1500)
    np.testing.assert_allclose(data.qpos, target, atol=0.02)
    assert np.abs(data.qvel).max() < 1e-3
