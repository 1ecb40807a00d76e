"""Reading BVH, and writing what was read; a second reader of a few lines is the oracle."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handwright.errors import FileFormatError, HandwrightError, InvalidValueError, UnknownNameError
from handwright.io.bvh import parse as bvh_parse
from handwright.io.bvh.files import BvhMotion, read_bvh, write_motion
from handwright.math import rotation
from handwright.math.pose import Pose

_spec = importlib.util.spec_from_file_location(
    "bvh_oracle", Path(__file__).with_name("bvh_oracle.py")
)
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)
BODY = oracle.BODY


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
        expected = oracle.evaluate(BODY.replace("Right Arm", "RightArm"))
        for name in ("Hips", "RightHand", "Head"):
            pose = body.joint_track(name).pose
            for t in range(3):
                np.testing.assert_allclose(
                    pose.position[t], change @ expected[t][name] * unit, atol=1e-9
                )
        row = body.values[2]
        turns = [
            oracle.turn(axis, angle)[:3, :3]
            for axis, angle in zip("ZXYYZXZXY", row[3:12], strict=True)
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
        with pytest.raises(InvalidValueError, match=message):
            replace(read_bvh(body_file), **{field: value})
