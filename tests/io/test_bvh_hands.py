"""Hands written as BVH, alone and on a body, where a second reader of a few lines finds them."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.problem import Problem
from handwright.errors import HandwrightError, InvalidValueError
from handwright.hands import human, trident
from handwright.io.bvh.files import BvhMotion, read_bvh, write_bvh, write_motion
from handwright.io.formats import export, load
from handwright.kinematics import frame_poses
from handwright.math import rotation
from handwright.math.pose import Pose

_spec = importlib.util.spec_from_file_location(
    "bvh_oracle", Path(__file__).with_name("bvh_oracle.py")
)
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)
BODY = oracle.BODY


def to_world(place, unit=0.01):
    """A Y-up point of the file in our world, m."""
    x, y, z = place
    return np.array([x, -z, y]) * unit


def clip_of(models, count=40, seed=0, fps=30.0, start=0.0):
    rng = np.random.default_rng(seed)
    times = start + np.arange(count) / fps
    hands = {}
    for name, model in models.items():
        phase = rng.uniform(0.0, 6.0, model.num_joints)
        share = 0.5 + 0.5 * np.sin(phase + 3.0 * times[:, None])
        q = model.joints.clamp(
            model.joints.lower + share * (model.joints.upper - model.joints.lower)
        )
        turns = rotation.exp(times[:, None] * rng.normal(size=3) * 3.0)
        wrist = rotation.multiply(turns, rotation.random(rng))
        root = Pose(rng.normal(size=3) + 0.3 * np.sin(phase[:3] + times[:, None]), wrist)
        hands[name] = HandMotion(root, q)
    problem = Problem("waving", times, models, {})
    return Clip(problem, times, hands, {}, ContactTrack.empty(), Provenance("waving", "test"))


def check_hand(text, clip, name, *, to_world=to_world, frames=None):
    """Every frame of the hand that the file names is where forward kinematics puts it."""
    model, motion = clip.problem.hands[name], clip.hands[name]
    ours = frame_poses(model, motion.q, motion.root).position
    theirs = oracle.evaluate(text)
    seen = 0
    for t in range(clip.num_frames) if frames is None else frames:
        for k, frame in enumerate(model.frames.names):
            label = f"{name}_{frame}"
            if frame.endswith("_tip"):
                link = model.frames.link[k]
                base = next(
                    n
                    for n, place in enumerate(model.frames.position)
                    if model.frames.link[n] == link and not place.any()
                )
                label = f"{name}_{model.frames.names[base]}_end"
            elif frame == "palm":
                continue
            place = to_world(theirs[t][label])
            np.testing.assert_allclose(place, ours[t, k], atol=1e-6, err_msg=f"{label} in {t}")
            seen += 1
    return seen


class TestHandsAlone:
    @pytest.mark.parametrize(
        ("model", "joints_seen"),
        [
            (human(), 25),
            (human("left", coupled=True, percentile=5.0), 25),
            (human(arm=True), 25),
            (trident(), 10),
        ],
        ids=["right", "left", "arm", "trident"],
    )
    def test_joints_are_where_forward_kinematics_puts_them(self, tmp_path, model, joints_seen):
        clip = clip_of({"hand": model})
        write_bvh(clip, tmp_path / "a.bvh")
        text = (tmp_path / "a.bvh").read_text()
        assert check_hand(text, clip, "hand") == joints_seen * clip.num_frames

    def test_a_joint_that_slides_gets_position_channels(self, tmp_path):
        model = trident()
        slides = np.array([name == "finger1_distal" for name in model.joints.names])
        model = replace(model, joints=replace(model.joints, is_slide=slides))
        clip = clip_of({"hand": model})
        write_bvh(clip, tmp_path / "a.bvh")
        assert check_hand((tmp_path / "a.bvh").read_text(), clip, "hand") == 10 * clip.num_frames
        motion = read_bvh(tmp_path / "a.bvh")
        moving = [
            name
            for name, channels in zip(motion.names, motion.channels, strict=True)
            if len(channels) == 6
        ]
        assert moving == ["hand_wrist", "hand_finger1_distal"]

    def test_turns_at_which_the_angles_lock(self, tmp_path):
        clip = clip_of({"right": human()}, count=12)
        turns = rotation.multiply(
            rotation.from_axis_angle([0.0, 1.0, 0.0], np.arange(12.0)),
            rotation.from_axis_angle([1.0, 0.0, 0.0], np.pi / 2.0 * np.resize([1.0, -1.0], 12)),
        )
        motion = HandMotion(Pose(clip.hands["right"].root.position, turns), clip.hands["right"].q)
        clip = replace(clip, hands={"right": motion})
        write_bvh(clip, tmp_path / "a.bvh")
        check_hand((tmp_path / "a.bvh").read_text(), clip, "right")

    def test_two_hands_share_one_root(self, tmp_path):
        clip = clip_of({"right": human(), "left": human("left")})
        write_bvh(clip, tmp_path / "a.bvh")
        text = (tmp_path / "a.bvh").read_text()
        assert text.count("ROOT") == 1
        for name in clip.hands:
            check_hand(text, clip, name)

    def test_the_layout_that_other_programs_expect(self, tmp_path):
        clip = clip_of({"right": human()}, fps=120.0)
        write_bvh(clip, tmp_path / "a.bvh")
        motion = read_bvh(tmp_path / "a.bvh")
        assert motion.names[0] == "right_wrist"
        assert len(motion.channels[0]) == 6
        assert {len(channels) for channels in motion.channels[1:]} == {3}
        leaves = set(range(len(motion.names))) - set(motion.parent.tolist())
        assert set(motion.end_joint.tolist()) == leaves
        assert len(leaves) == 5
        assert len(motion.names) == 20
        assert motion.frame_time == pytest.approx(1.0 / 120.0, rel=1e-12)

    def test_the_wrist_read_back_is_the_root_of_the_hand(self, tmp_path):
        clip = clip_of({"right": human()})
        write_bvh(clip, tmp_path / "a.bvh")
        track = read_bvh(tmp_path / "a.bvh").joint_track("right_wrist")
        root = clip.hands["right"].root
        np.testing.assert_allclose(track.pose.position, root.position, atol=1e-7)
        np.testing.assert_allclose(rotation.angle(track.pose.wxyz, root.wxyz), 0.0, atol=1e-7)
        np.testing.assert_allclose(track.times, clip.times, atol=1e-9)

    def test_angles_do_not_jump_when_the_hand_turns_round(self, tmp_path):
        model = human()
        times = np.arange(200) / 60.0
        turns = rotation.from_axis_angle([0.1, 0.2, 1.0], 6.0 * times)
        root = Pose(np.zeros(3), turns)
        q = np.tile(model.pose("rest"), (200, 1))
        problem = Problem("turns", times, {"right": model}, {})
        clip = Clip(
            problem,
            times,
            {"right": HandMotion(root, q)},
            {},
            ContactTrack.empty(),
            Provenance("turns", "test"),
        )
        write_bvh(clip, tmp_path / "a.bvh")
        values = read_bvh(tmp_path / "a.bvh").values
        assert np.abs(np.diff(values, axis=0)).max() < 20.0
        assert np.ptp(values[:, 3:6], axis=0).max() > 1000.0

    def test_frames_are_evenly_spaced_at_any_rate(self, tmp_path, tiny_clip):
        write_bvh(tiny_clip, tmp_path / "a.bvh", fps=50.0)
        motion = read_bvh(tmp_path / "a.bvh")
        assert len(motion) == 26
        # Frames of the clip that are frames of the file too.
        root = tiny_clip.hands["claw"].root
        track = motion.joint_track("claw_wrist").pose
        for ours, theirs in ((0, 0), (1, 5), (3, 15), (4, 25)):
            np.testing.assert_allclose(track.position[theirs], root.position[ours], atol=1e-7)
        write_bvh(tiny_clip, tmp_path / "b.bvh")
        assert len(read_bvh(tmp_path / "b.bvh")) == 5

    def test_the_suffix_chooses_the_format(self, tmp_path):
        clip = clip_of({"right": human()}, count=3)
        export(clip, tmp_path / "a.BVH", fps=60.0)
        motion = load(tmp_path / "a.BVH")
        assert isinstance(motion, BvhMotion)
        assert len(motion) == 5

    def test_one_frame(self, tmp_path):
        clip = clip_of({"right": human()}, count=1)
        write_bvh(clip, tmp_path / "a.bvh")
        check_hand((tmp_path / "a.bvh").read_text(), clip, "right")

    def test_the_same_clip_gives_the_same_bytes_and_reading_keeps_them(self, tmp_path):
        clip = clip_of({"right": human()})
        write_bvh(clip, tmp_path / "a.bvh")
        write_bvh(clip, tmp_path / "b.bvh")
        write_motion(read_bvh(tmp_path / "a.bvh"), tmp_path / "c.bvh")
        one, two, three = ((tmp_path / f"{n}.bvh").read_bytes() for n in "abc")
        assert one == two == three

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"fps": 0.0}, "fps is 0"),
            ({"fps": 1e9}, "Lower fps"),
            ({"wrist_joint": "RightHand"}, "without a body"),
        ],
    )
    def test_options_that_make_no_sense(self, tmp_path, options, message):
        clip = clip_of({"right": human()}, count=3)
        with pytest.raises(InvalidValueError, match=message):
            write_bvh(clip, tmp_path / "a.bvh", **options)
        assert list(tmp_path.iterdir()) == []


class TestHandsOnABody:
    """A body of 41 frames of 1/30 s, and clips within it."""

    @staticmethod
    def body(tmp_path, unit=0.01, up="y"):
        rng = np.random.default_rng(1)
        values = np.cumsum(rng.normal(size=(41, 13)), axis=0) * 3.0
        head = BODY[: BODY.index("Frames")].replace("Right Arm", "RightArm")
        rows = "\n".join(" ".join(f"{v:.4f}" for v in row) for row in values)
        path = tmp_path / "body.bvh"
        path.write_text(f"{head}Frames: 41\nFrame Time: {1 / 30!r}\n{rows}\n")
        return read_bvh(path, unit=unit, up=up)

    @staticmethod
    def follow(clip, track):
        motion = clip.hands["right"]
        hands = {"right": HandMotion(track.at(clip.times), motion.q)}
        return Clip(clip.problem, clip.times, hands, {}, ContactTrack.empty(), clip.provenance)

    def test_fingers_below_the_wrist_and_an_unchanged_body(self, tmp_path):
        body = self.body(tmp_path)
        correction = Pose(
            np.array([-0.01, 0.002, 0.003]), rotation.from_axis_angle([0.1, 0.2, 1.0], 2.5)
        )
        clip = self.follow(
            clip_of({"right": human()}, count=41), body.joint_track("RightHand", correction)
        )
        write_bvh(clip, tmp_path / "a.bvh", body=body, wrist_joint="RightHand")
        text = (tmp_path / "a.bvh").read_text()
        assert check_hand(text, clip, "right") == 25 * 41
        out = read_bvh(tmp_path / "a.bvh")
        for name in body.names:
            columns, old = (
                [
                    sum(len(c) for c in motion.channels[: motion.index(name)]) + n
                    for n in range(len(motion.channels[motion.index(name)]))
                ]
                for motion in (out, body)
            )
            np.testing.assert_array_equal(out.values[:, columns], body.values[:, old])
        wrist = out.index("right_wrist")
        assert out.names[out.parent[wrist]] == "RightHand"
        # The wrist keeps its place in the body's hand, so it needs no position channels.
        assert len(out.channels[wrist]) == 3
        assert out.index("RightHand") not in out.end_joint

    def test_units_and_axes_are_the_bodys(self, tmp_path):
        body = self.body(tmp_path, unit=1.0, up="z")
        clip = self.follow(clip_of({"right": human()}, count=41), body.joint_track("RightHand"))
        write_bvh(clip, tmp_path / "a.bvh", body=body, wrist_joint={"right": "RightHand"})
        check_hand((tmp_path / "a.bvh").read_text(), clip, "right", to_world=lambda place: place)

    def test_a_wrist_that_leaves_the_bodys_keeps_its_place_in_the_world(self, tmp_path):
        body = self.body(tmp_path)
        clip = clip_of({"right": human()}, count=41)
        write_bvh(clip, tmp_path / "a.bvh", body=body, wrist_joint="RightHand")
        text = (tmp_path / "a.bvh").read_text()
        assert check_hand(text, clip, "right") == 25 * 41

    def test_a_shorter_clip_is_held_before_and_after(self, tmp_path):
        body = self.body(tmp_path)
        clip = self.follow(
            clip_of({"right": human()}, count=11, start=10.0 / 30.0), body.joint_track("RightHand")
        )
        write_bvh(clip, tmp_path / "a.bvh", body=body, wrist_joint="RightHand")
        out = read_bvh(tmp_path / "a.bvh")
        assert len(out) == 41
        start = sum(len(c) for c in out.channels[: out.index("right_wrist")])
        fingers = out.values[:, start : start + 60]
        assert np.ptp(fingers[:11], axis=0).max() == 0.0
        assert np.ptp(fingers[20:], axis=0).max() == 0.0
        assert np.abs(np.diff(fingers[10:21], axis=0)).max(axis=1).min() > 0.01
        theirs = out.joint_track("right_index_distal").pose.position[10:21]
        motion = clip.hands["right"]
        model = clip.problem.hands["right"]
        ours = frame_poses(model, motion.q, motion.root).position
        np.testing.assert_allclose(theirs, ours[:, model.frames.index("index_distal")], atol=1e-6)

    @pytest.mark.parametrize(
        ("models", "options", "message"),
        [
            (("right",), {}, "without wrist_joint"),
            (("right",), {"wrist_joint": "Hand"}, "Unknown joint"),
            (("right",), {"wrist_joint": {"left": "RightHand"}}, "Unknown hand"),
            (("right", "left"), {"wrist_joint": "RightHand"}, "for 2 hands"),
            (
                ("right", "left"),
                {"wrist_joint": {"left": "Head"}},
                "no joint of the body for right",
            ),
            (("right",), {"wrist_joint": "RightHand", "fps": 30.0}, "fps"),
        ],
    )
    def test_what_does_not_fit_together(self, tmp_path, models, options, message):
        body = self.body(tmp_path)
        clip = clip_of({side: human(side) for side in models}, count=3)
        with pytest.raises(HandwrightError, match=message):
            write_bvh(clip, tmp_path / "a.bvh", body=body, **options)
        assert not (tmp_path / "a.bvh").exists()

    def test_a_clip_outside_the_body_or_already_on_it(self, tmp_path):
        body = self.body(tmp_path)
        late = clip_of({"right": human()}, count=3, start=2.0)
        with pytest.raises(InvalidValueError, match="within the body's time"):
            write_bvh(late, tmp_path / "a.bvh", body=body, wrist_joint="RightHand")
        clip = clip_of({"right": human()}, count=3)
        write_bvh(clip, tmp_path / "a.bvh", body=body, wrist_joint="RightHand")
        twice = read_bvh(tmp_path / "a.bvh")
        with pytest.raises(InvalidValueError, match="'right_wrist' already"):
            write_bvh(clip, tmp_path / "b.bvh", body=twice, wrist_joint="RightHand")
        between = clip_of({"right": human()}, count=2, fps=1000.0, start=0.01)
        with pytest.raises(InvalidValueError, match="No frame of the body"):
            write_bvh(between, tmp_path / "b.bvh", body=body, wrist_joint="RightHand")
