"""Problem files with tracks: what they make, and what they say when they cannot."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

from handwright.core.problem import usual_posture
from handwright.errors import FileFormatError
from handwright.io.goals.file import read_problem
from handwright.scenes.catalogue import TRACKS

TEXT = """
name: carried
fps: 30
hands:
  right: {model: human, side: right}
bodies:
  ball: {shape: sphere}
tracks: carried.npz
"""


def rows(count=5, lift=0.1):
    table = np.zeros((count, 7))
    table[:, 2], table[:, 3] = np.linspace(0.8, 0.8 + lift, count), 1.0
    return table


@pytest.fixture
def read(tmp_path):
    """Reads a problem file with tracks beside it."""

    def reader(text=TEXT, **tables):
        np.savez(tmp_path / "carried.npz", **(tables or {"right": rows(), "ball": rows(lift=0.2)}))
        (tmp_path / "carried.yaml").write_text(textwrap.dedent(text))
        return read_problem(tmp_path / "carried.yaml")

    return reader


def test_hands_and_bodies_follow_their_tracks(read):
    problem = read()
    assert np.array_equal(problem.times, np.arange(5) / 30.0)
    assert list(problem.tracks) == ["right", "ball"]
    assert problem.tracks["ball"].pose.position[-1].tolist() == [0.0, 0.0, 1.0]
    assert np.array_equal(problem.tracks["ball"].times, problem.times)
    assert not problem.start
    assert not problem.postures
    assert problem.goals == ()


def test_one_may_have_a_track_and_another_a_start_and_goals(read):
    text = TEXT.replace(
        "ball: {shape: sphere}", "ball: {shape: sphere, start: {position: [0, 0, 1]}}"
    )
    problem = read(text + "goals:\n  - {of: ball, at: 0.1, position: [0, 0, 1.1]}\n", right=rows())
    assert list(problem.tracks) == ["right"]
    assert list(problem.start) == ["ball"]
    assert len(problem.goals) == 1


def test_a_posture_is_that_of_the_file_alone(read):
    problem = read(TEXT.replace("side: right", "side: right, pose: closed"))
    assert np.array_equal(problem.postures["right"], problem.hands["right"].pose("closed"))
    assert not np.array_equal(problem.postures["right"], usual_posture(problem.hands["right"]))


def test_mass_properties_and_color_may_be_given(read):
    keys = "mass: 0.5, color: [0.1, 0.2, 0.3], center: [0.01, 0, 0], inertia: "
    inertia = "[[1e-4, 0, 0], [0, 2e-4, 0], [0, 0, 2e-4]]"
    body = read(TEXT.replace("sphere", f"sphere, {keys}{inertia}")).bodies["ball"]
    assert (body.mass, body.color, body.center.tolist()) == (0.5, (0.1, 0.2, 0.3), [0.01, 0.0, 0.0])
    assert np.array_equal(body.inertia, np.diag([1e-4, 2e-4, 2e-4]))


@pytest.mark.parametrize(
    ("tables", "told"),
    [
        ({"right": rows(), "bal": rows()}, r"line 8, tracks: Unknown hand or body.*mean 'ball'"),
        ({"right": rows(), "ball": rows(4)}, r"'right' 5, 'ball' 4; expected the same number"),
        ({"right": rows(), "ball": rows()[:, :6]}, r"'ball' is float64 of shape \(5, 6\)"),
        ({"right": rows().astype(np.float32)}, "'right' is float32"),
        ({"right": rows(), "ball": np.full((5, 7), np.nan)}, "line 8, tracks: .*finite"),
        ({"right": rows(1), "ball": rows(1)}, "from 2 to"),
        ({"right": rows()}, "line 7, bodies.ball.start: is missing, and there is no track"),
    ],
)
def test_wrong_tracks_are_refused(read, tables, told):
    with pytest.raises(FileFormatError, match=told):
        read(**tables)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("carried.npz", "gone.npz", r"line 8, tracks: 'gone.npz' cannot be read as tracks"),
        ("carried.npz", "carried.yaml", "cannot be read as tracks"),
        ("fps: 30", "fps: 30\nduration: 2", "expected duration or tracks, not both"),
        ("fps: 30", "fps: 0", "fps is 0.0; expected a number above zero"),
        ("side: right", "side: right, start: {position: [0, 0, 1]}", "a track and a start"),
        ("sphere", "sphere, center: [0, 0, 0]", "expected center and inertia together"),
        (
            "sphere",
            "sphere, center: [0, 0, 0], inertia: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]",
            "expected a mass with center and inertia",
        ),
        ("tracks: carried.npz", "", "line 2: expected tracks, or duration and goals"),
        (
            "side: right",
            "side: right, bvh: {file: a.bvh, joint: RightHand}",
            "line 5, hands.right.bvh: 'right' also has a track in 'carried.npz'",
        ),
    ],
)
def test_wrong_files_are_refused(read, old, new, told):
    with pytest.raises(FileFormatError, match=told):
        read(TEXT.replace(old, new))


def cook(tmp_path, count, fps=30, joint="RightHand"):
    np.savez(tmp_path / "ball.npz", ball=rows(count))
    bvh = f"{{file: {TRACKS / 'cooking.bvh'}, joint: {joint}, turn_deg: [0, 0, 180]}}"
    (tmp_path / "cook.yaml").write_text(
        TEXT.replace("side: right", f"side: right, bvh: {bvh}")
        .replace("carried.npz", "ball.npz")
        .replace("fps: 30", f"fps: {fps}")
    )
    return read_problem(tmp_path / "cook.yaml")


def test_a_wrist_may_be_a_joint_of_a_body(tmp_path):
    mine, packaged = cook(tmp_path, 310), read_problem(TRACKS / "cooking.yaml")
    assert np.array_equal(
        mine.tracks["right"].pose.position, packaged.tracks["right"].pose.position
    )
    turned = packaged.tracks["right"].pose.inverse() @ mine.tracks["right"].pose
    assert np.abs(np.abs(turned.wxyz) - [0.0, 0.0, 0.0, 1.0]).max() < 1e-12


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"count": 300}, r"'cooking.bvh' has 310 frames .* expected 300 frames"),
        ({"count": 310, "fps": 60}, r"0\.033\d+ s apart; expected 310 frames 0\.0166667 s apart"),
        ({"count": 310, "joint": "RightHnd"}, "Did you mean 'RightHand'"),
    ],
)
def test_a_body_with_other_frames_or_joints_is_refused(tmp_path, settings, told):
    with pytest.raises(FileFormatError, match=told):
        cook(tmp_path, **settings)
