"""The benchmark on windows of recordings: figures of made-up results, wiring, and the real list."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.recordings import bench
from benchmarks.recordings import windows as recorded_windows
from benchmarks.recordings.windows import (
    Window,
    correction_figures,
    fingers_in_contact,
    fingertip_distance,
    plain_cause,
    read_windows,
    window_figures,
)
from benchmarks.verify import carried_ball
from handwright.cli import main as cli
from handwright.conditioning import Corrected, Correction
from handwright.core.clip import HandMotion
from handwright.core.result import Result, Status
from handwright.errors import FileFormatError, HandwrightError, InvalidValueError
from handwright.evidence import Tolerances
from handwright.math.pose import Pose
from handwright.scenes import from_recording

TOLERANCES = Tolerances(soft_tissue=0.004, skin_stretch=0.002, smoothing_hz=8.0)


@pytest.fixture(scope="module")
def ball():
    return carried_ball(30)


def lifted(clip, height):
    motion = clip.hands["hand"]
    root = Pose(motion.root.position + np.array([0.0, 0.0, height]), motion.root.wxyz)
    return replace(clip, hands={"hand": HandMotion(root, motion.q)})


def test_fingertips_of_a_shifted_hand_are_as_far_as_the_shift(ball):
    assert fingertip_distance(ball, ball) == 0.0
    assert fingertip_distance(lifted(ball, 0.03), ball) == pytest.approx(0.03)


def test_fingers_are_counted_where_they_touch(ball):
    assert fingers_in_contact(ball) == pytest.approx(5.0)
    assert fingers_in_contact(lifted(ball, 0.3)) == 0.0


def test_the_best_certified_motion_stands_beside_the_recording(ball):
    far = lifted(ball, 0.3)
    result = Result((far, ball), Status.SOLVED, "", {}, {"total": 1.0})
    row = window_figures(result, ball, 1.5, TOLERANCES)
    assert row["is_solved"]
    assert (row["clips"], row["certified"], row["seconds"]) == (2, 1, 1.5)
    assert row["fingertip_mm"] == pytest.approx(0.0, abs=1e-9)
    assert row["acceleration"] == row["acceleration_recorded"] > 0.0
    assert row["acceleration_ratio"] == pytest.approx(1.0)
    assert row["fingers"] == row["fingers_recorded"] == pytest.approx(5.0)
    assert 0.0 <= row["pen_mm_p95"] <= row["pen_mm_max"] <= 5.0
    assert "soft_tissue 4 mm" in row["verdict"]
    assert "skin_stretch 2 mm" in row["verdict"]
    assert "smoothing_hz 8 Hz" in row["verdict"]


def test_a_motion_without_certificate_does_not_solve(ball):
    result = Result((lifted(ball, 0.3),), Status.SOLVED, "", {}, {"total": 1.0})
    row = window_figures(result, ball, 1.5, TOLERANCES)
    assert not row["is_solved"]
    assert row["cause"].startswith("the certificate refused: ")
    assert "force_residual" in row["cause"]
    assert row["fingertip_mm"] is None


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        (
            "0 of 10 motions after 7 attempts. Most often (3 times): around frame 31, fingers "
            "would cross. Leave more of them free.",
            "fingers would cross. Leave more of them free.",
        ),
        (
            "0 of 10 motions after 7 attempts. Most often (3 times): after smoothing, at frame 3, "
            "fingers would cross.",
            "after smoothing, fingers would cross.",
        ),
        (
            "0 of 10 motions after 1 attempt. Most often (once): at frame 3, fingers would cross.",
            "fingers would cross.",
        ),
        ("Body 'mug' has friction 0.", "Body 'mug' has friction 0."),
    ],
)
def test_causes_lose_their_frames(message, cause):
    assert plain_cause(message) == cause


def row(kind, *, solved, cause="", **figures):
    empty = dict.fromkeys((*bench._MEANS, "acceleration_ratio"))
    known = {"kind": kind, "is_solved": solved, "cause": cause, "seconds": 10.0}
    extra = {"clips": 1, "certified": int(solved), "verdict": "certified" if solved else None}
    moved = {"wrist_mm": 4.0, "wrist_deg": 2.0, "smoothed_mm": 1.0, "smoothed_deg": 0.5}
    return {**empty, **known, **extra, **moved, **figures}


def test_shares_are_by_kind_and_means_over_what_was_solved():
    calm = {"acceleration": 40.0, "acceleration_recorded": 2.0, "acceleration_ratio": 20.0}
    brisk = {"acceleration": 100.0, "acceleration_recorded": 98.0, "acceleration_ratio": 1.02}
    rows = [
        row("single", solved=True, fingertip_mm=10.0, pen_mm_p95=1.0, **calm),
        row("single", solved=True, fingertip_mm=30.0, pen_mm_p95=2.0, wrist_mm=7.0, **brisk),
        row("single", solved=False, cause="fingers would cross."),
        row("both", solved=False, cause="fingers would cross."),
        row("both", solved=False, cause="other"),
    ]
    result = bench.summary(rows)
    assert result["solved"] == pytest.approx(0.4)
    assert result["solved_single"] == pytest.approx(2 / 3)
    assert result["solved_both"] == 0.0
    assert result["solved_single_even"] == 0.5
    assert result["solved_single_odd"] == 1.0
    assert result["wrist_mm"] == 7.0
    assert result["smoothed_deg"] == 0.5
    assert result["certified"] == pytest.approx(0.4)
    assert result["fingertip_mm"] == pytest.approx(20.0)
    assert result["fingers"] is None
    assert result["acceleration_ratio"] == pytest.approx(1.4)
    assert result["acceleration_ratio_median"] == pytest.approx(10.51)
    assert result["acceleration_ratio_max"] == 20.0
    assert bench.frequent_cause(rows) == "fingers would cross. (2 of 3 windows)"
    assert bench.frequent_cause(rows[:2]) is None


def test_corrections_are_given_in_millimetres_and_degrees(ball):
    given = ball.problem
    made = (
        Correction("hand", "wrist", 0.004, np.radians(2.0), 30),
        Correction("hand", "smoothed", 0.001, np.radians(1.0), 30),
        Correction("ball", "smoothed", 0.002, np.radians(0.5), 30),
    )
    figures = correction_figures(Corrected(given, given, made))
    assert figures == pytest.approx(
        {"wrist_mm": 4.0, "wrist_deg": 2.0, "smoothed_mm": 2.0, "smoothed_deg": 1.0}
    )
    assert set(correction_figures(Corrected(given, given, ())).values()) == {0.0}


def test_a_switch_that_is_off_is_not_given_to_other_benchmarks(capsys):
    assert cli.main(["bench", "verify", "--corrected"]) == 1
    assert "was given --corrected" in capsys.readouterr().err


def test_a_window_of_help_has_both_hands():
    assert Window("cup1", "assisted", "left", 0, 240).sides == ("left", "right")
    assert Window("cup1", "single", "left", 0, 240).sides == ("left",)
    assert Window("cup1", "staggered", "right", 0, 240).name == "cup1 0-240 right"


@pytest.mark.parametrize("text", ["{", "[]", '{"windows": {"cup1": [{"kind": "single"}]}}'])
def test_a_list_that_cannot_be_read_is_named(text, tmp_path):
    (tmp_path / "windows.json").write_text(text)
    with pytest.raises(FileFormatError, match=r"windows\.json"):
        read_windows(tmp_path)


def test_missing_recordings_and_wrong_numbers_are_named(tmp_path, capsys):
    assert cli.main(["bench", "recordings"]) == 1
    assert "Pass --data FOLDER" in capsys.readouterr().err
    with pytest.raises(HandwrightError, match="there is no such file"):
        bench.run(tmp_path)
    with pytest.raises(InvalidValueError, match="--budget is 0"):
        bench.run(tmp_path, budget=0.0)
    with pytest.raises(InvalidValueError, match="--windows is 0"):
        bench._spread([], 0)


def test_the_summary_becomes_a_table():
    from rich.console import Console

    rows = {"a": row("single", solved=False, cause="fingers would cross.")}
    result = {
        **bench.summary(list(rows.values())),
        "windows": rows,
        "frequent_cause": bench.frequent_cause(list(rows.values())),
        "budget_s": 3.0,
    }
    json.dumps(result, allow_nan=False)
    console = Console(width=250)
    with console.capture() as caught:
        console.print(bench.describe(result))
    assert "Most frequent cause of failure: fingers would cross. (1 of 1 windows)" in caught.get()


@pytest.mark.data
def test_the_list_has_26_windows_of_two_seconds(manipnet_data):
    windows = read_windows(manipnet_data)
    assert len(windows) == 26
    assert {window.stop - window.start for window in windows} == {240}
    assert {window.kind for window in windows} == {"single", "assisted"}
    few = bench._spread(windows, 4)
    assert len({window.recording for window in few}) > 2


@pytest.mark.data
def test_a_recording_gives_a_problem_without_its_fingers(manipnet_data):
    file = manipnet_data / "sequences" / "mug1.npz"
    problem = from_recording(file, 1010, 1250, sides=("right",))
    recording = recorded_windows._recording(file)
    same = recording.problem(1010, 1250, sides=("right",), fps=30.0)
    assert list(problem.hands) == ["right"]
    assert len(problem.times) == 60
    for name in ("right", *problem.bodies):
        np.testing.assert_array_equal(
            problem.track(name).pose.position, same.track(name).pose.position
        )
