"""BVH in and out; the written text is evaluated by a second reader of a few lines."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.problem import Problem
from handwright.errors import (
    FileFormatError,
    HandwrightError,
    InvalidValueError,
    UnknownNameError,
)
from handwright.hands import human, trident
from handwright.io import bvh_parse
from handwright.io.bvh import BvhMotion, read_bvh, write_bvh, write_motion
from handwright.io.formats import export, load
from handwright.kinematics import frame_poses
from handwright.math import rotation
from handwright.math.pose import Pose

BODY = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Right Arm
  {
    OFFSET -20 45 0
    CHANNELS 3 Yrotation Zrotation Xrotation
    JOINT RightHand {
      OFFSET -50 0 1
      CHANNELS 3 Zrotation Xrotation Yrotation
      End Site
      {
        OFFSET -15 0 0
      }
    }
  }
  JOINT Head
  {
    OFFSET 0 60 0
    CHANNELS 1 Xrotation
  }
}
MOTION
Frames: 3
Frame Time: 0.0333333
1 90 3 10 20 30 5 6 7 40 50 60 1
2 91 4 11 22 33 15 -6 8 44 55 66 2
3 92 5 12 24 36 25 16 -9 48 -60 72 3
"""


def turn(axis, degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    i, j = {"X": (1, 2), "Y": (2, 0), "Z": (0, 1)}[axis]
    matrix = np.eye(4)
    matrix[i, i] = matrix[j, j] = c
    matrix[i, j], matrix[j, i] = -s, s
    return matrix


def evaluate(text):
    """World positions, in file units and axes, of joints and ends: one dict for each frame."""
    head, tail = text.split("MOTION\n")
    words = re.findall(r"\S+", head)
    rows = [[float(w) for w in line.split()] for line in tail.strip().split("\n")[2:]]
    frames = []
    for row in rows:
        stack, places, at, n = [np.eye(4)], {}, iter(row), 1
        name = None
        while n < len(words):
            word = words[n]
            if word in ("ROOT", "JOINT", "End"):
                name = words[n + 1] if word != "End" else name + "_end"
                n += 2
            elif word == "OFFSET":
                move = np.eye(4)
                move[:3, 3] = [float(w) for w in words[n + 1 : n + 4]]
                stack[-1] = stack[-1] @ move
                places[name] = stack[-1][:3, 3]
                n += 4
            elif word == "CHANNELS":
                count = int(words[n + 1])
                for channel in words[n + 2 : n + 2 + count]:
                    value = next(at)
                    if channel.endswith("position"):
                        step = np.eye(4)
                        step["XYZ".index(channel[0]), 3] = value
                    else:
                        step = turn(channel[0], value)
                    stack[-1] = stack[-1] @ step
                places[name] = stack[-1][:3, 3]
                n += 2 + count
            elif word == "{":
                stack.append(stack[-1].copy())
                n += 1
            else:
                stack.pop()
                n += 1
        assert next(at, None) is None
        frames.append(places)
    return frames


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
    theirs = evaluate(text)
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


@pytest.fixture
def body_file(tmp_path):
    path = tmp_path / "body.bvh"
    path.write_text(BODY)
    return path


class TestReading:
    def test_skeleton_channels_and_values(self, body_file):
        body = read_bvh(body_file)
        assert body.names == ("Hips", "Right Arm", "RightHand", "Head")
        assert body.parent.tolist() == [-1, 0, 1, 0]
        assert body.channels[1] == ("Yrotation", "Zrotation", "Xrotation")
        assert body.end_joint.tolist() == [2]
        np.testing.assert_array_equal(body.end_offset, [[-15.0, 0.0, 0.0]])
        np.testing.assert_array_equal(body.values[1, :3], [2.0, 91.0, 4.0])
        np.testing.assert_allclose(body.times, [0.0, 0.0333333, 0.0666666], atol=1e-12)

    @pytest.mark.parametrize(("unit", "up"), [(0.01, "y"), (0.0254, "y"), (1.0, "z")])
    def test_joint_tracks_agree_with_matrices(self, body_file, unit, up):
        body = read_bvh(body_file, unit=unit, up=up)
        # Our axes in the file's: z up, x kept.
        change = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]) if up == "y" else np.eye(3)
        oracle = evaluate(BODY.replace("Right Arm", "RightArm"))
        for name in ("Hips", "RightHand", "Head"):
            pose = body.joint_track(name).pose
            for t in range(3):
                np.testing.assert_allclose(
                    pose.position[t], change @ oracle[t][name] * unit, atol=1e-9
                )
        row = body.values[2]
        turns = [
            turn(axis, angle)[:3, :3] for axis, angle in zip("ZXYYZXZXY", row[3:12], strict=True)
        ]
        expected = change @ np.linalg.multi_dot(turns) @ change.T
        got = rotation.to_matrix(body.joint_track("RightHand").pose.wxyz[2])
        np.testing.assert_allclose(got, expected, atol=1e-12)

    def test_a_correction_turns_their_wrist_frame_to_ours(self, body_file):
        body = read_bvh(body_file)
        # Their right hand points along -x, thumb forward (+z of the file), back up.
        ours = Pose(np.zeros(3), rotation.from_axis_angle([0.0, 0.0, 1.0], np.pi))
        plain, turned = body.joint_track("RightHand"), body.joint_track("RightHand", ours)
        end = plain.pose.apply(np.array([-0.15, 0.0, 0.0]))
        np.testing.assert_allclose(turned.pose.apply(np.array([0.15, 0.0, 0.0])), end, atol=1e-12)
        np.testing.assert_allclose(
            turned.pose.rotate(np.array([0.0, 0.0, 1.0])),
            plain.pose.rotate(np.array([0.0, 0.0, 1.0])),
            atol=1e-12,
        )

    def test_position_channels_take_the_place_of_the_offset(self, tmp_path):
        path = tmp_path / "a.bvh"
        path.write_text(
            "HIERARCHY\nROOT a\n{\nOFFSET 1 2 3\nCHANNELS 2 Yposition Xrotation\n}\n"
            "MOTION\nFrames: 1\nFrame Time: 0.1\n7 0\n"
        )
        position = read_bvh(path, unit=1.0, up="z").joint_track("a").pose.position
        np.testing.assert_array_equal(position, [[1.0, 7.0, 3.0]])

    @pytest.mark.parametrize("ending", ["\r\n", "\r", "\n\n"])
    def test_line_ends_case_marks_and_old_encodings(self, tmp_path, ending):
        path = tmp_path / "a.bvh"
        text = BODY.replace("Head", "Köpf").replace("ROOT", "Root").replace("Xpos", "XPos")
        path.write_bytes(text.replace("\n", ending).encode("latin-1"))
        one = read_bvh(path)
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())
        two = read_bvh(path)
        assert one.names == two.names
        assert one.names[-1] == "Köpf"
        np.testing.assert_array_equal(one.values, two.values)

    def test_two_roots_and_a_skeleton_of_a_thousand_generations(self, tmp_path):
        deep = "".join(
            f"{'ROOT' if n == 0 else 'JOINT'} j{n} {{ OFFSET 0 1 0\nCHANNELS 1 Xrotation\n"
            for n in range(1200)
        )
        path = tmp_path / "deep.bvh"
        path.write_text(
            "HIERARCHY\nROOT b { OFFSET 1 1 1 }\n"
            + deep
            + "}" * 1200
            + "\nMOTION\nFrames: 1\nFrame Time: 0.1\n"
            + "0 " * 1200
        )
        motion = read_bvh(path)
        assert motion.parent[:3].tolist() == [-1, -1, 1]
        np.testing.assert_allclose(
            motion.joint_track("j1199").pose.position, [[0.0, 0.0, 12.0]], atol=1e-9
        )

    def test_unknown_and_ambiguous_joints(self, body_file):
        body = read_bvh(body_file)
        with pytest.raises(UnknownNameError, match="Did you mean 'RightHand'"):
            body.joint_track("RightHnad")
        body_file.write_text(BODY.replace("Head", "Hips"))
        with pytest.raises(InvalidValueError, match="2 joints called 'Hips'"):
            read_bvh(body_file).joint_track("Hips")

    def test_options_that_make_no_sense(self, body_file):
        with pytest.raises(InvalidValueError, match="unit"):
            read_bvh(body_file, unit=0.0)
        with pytest.raises(InvalidValueError, match="up"):
            read_bvh(body_file, up="x")


class TestFaults:
    @pytest.mark.parametrize(
        ("old", "new", "line", "message"),
        [
            ("HIERARCHY", "HIERARCHIE", 1, "expected 'HIERARCHY'"),
            ("OFFSET -20 45 0", "OFFSET -20 45", 9, "CHANNELS.*expected a finite number"),
            ("OFFSET -20 45 0", "OFFSET -20 nan 0", 8, "nan"),
            ("OFFSET -20 45 0", "", 18, "'Right Arm' has no OFFSET"),
            ("OFFSET -50 0 1", "OFFSET 1 1 1\nOFFSET 1 1 1", 12, "second OFFSET"),
            ("CHANNELS 3 Y", "CHANNELS 2 Y", 9, "Xrotation.*expected OFFSET"),
            ("CHANNELS 3 Y", "CHANNELS -3 Y", 9, "number of CHANNELS"),
            ("CHANNELS 1 Xrotation", "CHANNELS 1 Xscale", 22, "Xscale"),
            ("CHANNELS 1 Xr", "CHANNELS 2 Xposition Xposition Xr", 22, "each position once"),
            ("JOINT Head", "JOINT", 20, "no name"),
            ("JOINT Head", "ROOT Head", 19, "ROOT inside"),
            ("Frames: 3", "Frames: 4", 30, "after 3 of 4 frames"),
            ("Frames: 3", "Frames: 2", 30, "more than the 2 frames"),
            ("Frames: 3", "Frames: 1000000", 26, "1 to 100000"),
            ("Frames: 3", "Frames: 0", 26, "number of frames"),
            ("Frames: 3", "Frames: -3", 26, "number of frames"),
            ("0.0333333", "0", 27, "frame time"),
            ("0.0333333", "inf", 27, "frame time"),
            ("0.0333333", "0.1 7", 27, "after the end"),
            ("44 55 66 2", "44 55 66", 29, "12 values; expected 13"),
            ("44 55 66 2", "44 55 NaN 2", 29, "NaN"),
            ("44 55 66 2", "44 55 1e400 2", 29, "1e400"),
            ("44 55 66 2", "44 5,5 66 2", 29, "5,5"),
            ("44 55 66 2", "44 5_5 66 2", 29, "5_5"),
        ],
    )
    def test_a_fault_is_named_with_its_line(self, tmp_path, old, new, line, message):
        assert BODY.count(old) == 1
        path = tmp_path / "bad.bvh"
        path.write_text(BODY.replace(old, new))
        with pytest.raises(FileFormatError, match=f"line {line}: .*{message}"):
            read_bvh(path)

    def test_no_truncated_file_is_read_but_for_a_cut_in_the_last_number(self, tmp_path):
        path = tmp_path / "cut.bvh"
        whole = len(BODY.rstrip())
        for length in range(0, whole - 1, 7):
            path.write_text(BODY[:length])
            with pytest.raises(FileFormatError, match=r"cut\.bvh: line \d+: "):
                read_bvh(path)

    def test_missing_files_folders_and_binaries(self, tmp_path):
        with pytest.raises(FileFormatError, match="no such file"):
            read_bvh(tmp_path / "nothing.bvh")
        with pytest.raises(FileFormatError, match="no such file"):
            read_bvh(tmp_path)
        path = tmp_path / "binary.bvh"
        path.write_bytes(BODY[:200].encode() + b"\0\1\2")
        with pytest.raises(FileFormatError, match="zero byte"):
            read_bvh(path)

    def test_too_large_files_and_skeletons(self, body_file, monkeypatch):
        monkeypatch.setattr(bvh_parse, "MAX_JOINTS", 3)
        with pytest.raises(FileFormatError, match="line 20: more than 3 joints"):
            read_bvh(body_file)
        monkeypatch.setattr(bvh_parse, "MAX_BYTES", 100)
        with pytest.raises(FileFormatError, match="expected at most 100"):
            read_bvh(body_file)

    def test_mutated_files_give_a_motion_or_a_clean_error(self, tmp_path):
        rng = np.random.default_rng(20)
        path = tmp_path / "mutated.bvh"
        source, lines = BODY.encode(), BODY.split("\n")
        words = re.findall(r"\S+", BODY)
        refused = 0
        for round_ in range(600):
            if round_ % 3 == 0:
                mutated = bytearray(source)
                for _ in range(rng.integers(1, 6)):
                    at = rng.integers(len(mutated))
                    if rng.random() < 0.5:
                        mutated[at] = rng.integers(256)
                    else:
                        del mutated[at : at + rng.integers(1, 40)]
                content = bytes(mutated)
            elif round_ % 3 == 1:
                shuffled = list(lines)
                for _ in range(rng.integers(1, 4)):
                    a, b = rng.integers(len(shuffled), size=2)
                    shuffled[a], shuffled[b] = shuffled[b], shuffled[a]
                content = "\n".join(shuffled).encode()
            else:
                # Words put in the place of others.
                content = source
                for _ in range(rng.integers(1, 4)):
                    one, other = rng.choice(words, 2)
                    content = content.replace(one.encode(), other.encode(), 1)
            path.write_bytes(content)
            try:
                motion = read_bvh(path)
                for name in motion.names:
                    assert np.isfinite(motion.joint_track(name).pose.position).all()
            except HandwrightError:
                refused += 1
        assert 200 < refused < 600


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


class TestWritingSkeletons:
    @settings(max_examples=40)
    @given(seed=st.integers(0, 2**32 - 1))
    def test_any_tree_with_any_channels_survives(self, tmp_path_factory, seed):
        rng = np.random.default_rng(seed)
        count = int(rng.integers(1, 9))
        parent = np.array([-1] + [int(rng.integers(-1, j)) for j in range(1, count)])
        every = np.array(["Xposition", "Yposition", "Zposition"])
        turns = np.array(["Xrotation", "Yrotation", "Zrotation"])
        channels = tuple(
            (
                *rng.permutation(every)[: rng.integers(0, 4)].tolist(),
                *rng.choice(turns, rng.integers(1, 4)).tolist(),
            )
            for _ in range(count)
        )
        ends = np.flatnonzero(rng.random(count) < 0.5)
        width = sum(len(one) for one in channels)
        motion = BvhMotion(
            tuple(f"j{n}" for n in range(count)),
            parent,
            rng.normal(size=(count, 3)),
            channels,
            ends,
            rng.normal(size=(len(ends), 3)),
            rng.normal(size=(3, width)) * 200.0,
            float(rng.uniform(0.001, 0.1)),
        )
        path = tmp_path_factory.mktemp("tree") / "a.bvh"
        write_motion(motion, path)
        again = read_bvh(path)
        assert sorted(again.names) == sorted(motion.names)
        assert again.frame_time == motion.frame_time
        assert len(again.end_joint) == len(ends)
        for name in motion.names:
            one, two = motion.joint_pose(name), again.joint_pose(name)
            np.testing.assert_array_equal(one.position, two.position)
            np.testing.assert_array_equal(one.wxyz, two.wxyz)

    @pytest.mark.usefixtures("user_view")
    @pytest.mark.parametrize(
        ("field", "value", "message"),
        [
            ("parent", np.array([0, 0, 1, 0]), "parents must come before"),
            ("parent", np.array([-1, 0]), "parent has shape"),
            ("values", np.zeros((2, 5)), "values has shape"),
            ("values", np.zeros((0, 13)), "no frames"),
            ("values", np.full((1, 13), np.nan), "NaN"),
            ("end_joint", np.array([9]), "outside 0..3"),
            ("channels", ((), (), (), ("Wrotation",) * 13), "unknown channels"),
            ("frame_time", 0.0, "frame_time"),
            ("unit", -1.0, "unit"),
            ("up", "x", "up is"),
        ],
    )
    def test_a_skeleton_that_cannot_be(self, body_file, field, value, message):
        from dataclasses import replace

        with pytest.raises(InvalidValueError, match=message):
            replace(read_bvh(body_file), **{field: value})
