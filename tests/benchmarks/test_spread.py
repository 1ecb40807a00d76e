"""The spread of explored postures: its measure, its picture, and where the postures come from."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from benchmarks.sampling import spread
from benchmarks.sampling.spread import Explored, compare, covered_width, explore, frame_spread
from benchmarks.sampling.spread_figure import Band, draw_bands, strokes
from handwright.errors import InvalidValueError
from handwright.methods import ContactSampling
from handwright.methods.sampling.setup.prepare import prepare
from handwright.scenes import load_scene


def test_spread_is_the_distance_from_the_mean_posture():
    frame = np.array([0, 0, 2, 2, 2, 2])
    q = np.array([[0.3, -0.4], [-0.3, 0.4], [1.0, 5.0], [1.0, 5.0], [1.0, 5.0], [1.0, 5.0]])
    np.testing.assert_allclose(frame_spread(frame, q, 4), [0.5, np.nan, 0.0, np.nan], atol=1e-12)


@given(st.integers(0, 10_000), st.floats(0.1, 10.0))
def test_spread_scales_and_does_not_depend_on_the_middle_or_the_axes(seed, scale):
    rng = np.random.default_rng(seed)
    frame, q = rng.integers(0, 5, 40), rng.normal(size=(40, 6))
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    moved = scale * (q @ turn) + rng.normal(size=6)
    np.testing.assert_allclose(
        frame_spread(frame, moved, 5), scale * frame_spread(frame, q, 5), rtol=1e-9
    )


def test_the_width_of_the_band_counts_each_value_once():
    frame = np.array([0, 0, 0, 1])
    q = np.radians([[10.2, -0.5], [10.7, -3.5], [12.5, -3.1], [10.2, 7.5]])
    # Joint 0: two cells and one; joint 1: two and one; over two frames, and four that are empty.
    assert covered_width(frame, q, 2) == pytest.approx(1.5)
    assert covered_width(frame, q, 6) == pytest.approx(0.5)
    assert covered_width(frame[:0], q[:0], 6) == 0.0


def printed(what):
    console = Console(width=300)
    with console.capture() as caught:
        console.print(what)
    return caught.get()


def explored(frames, width, length=10):
    frame = np.repeat(np.arange(frames), 2)
    q = width * np.tile([[1.0], [-1.0]], (frames, 1))
    return Explored(frame, q, length, solutions=int(frames == length), first=3)


def test_frames_that_were_never_reached_count_as_nothing():
    result = compare(explored(10, 0.6), explored(5, 0.4))
    assert result["spread"] == pytest.approx(0.6)
    assert result["spread_baseline"] == pytest.approx(0.2)
    assert result["ratio"] == pytest.approx(3.0)
    assert result["ratio_common"] == pytest.approx(1.5)
    assert (result["reached"], result["reached_baseline"]) == (1.0, 0.5)
    assert (result["solutions"], result["solutions_baseline"]) == (1.0, 0.0)


def test_no_spread_at_all_is_no_gain():
    nothing = explored(0, 0.0)
    assert compare(nothing, nothing)["ratio"] == 0.0
    assert not spread.bars_met(compare(nothing, nothing), spread.BARS)
    assert compare(explored(3, 1.0), nothing)["ratio"] == 1e9


def test_curves_branch_where_the_search_went_back_to():
    frame, value = np.array([0, 1, 2, 2, 3, 1, 2]), np.array([0.0, 1.0, 2.0, 2.5, 3.5, 1.2, 2.2])
    assert strokes(frame, value) == [
        [(0, 0.0), (1, 1.0), (2, 2.0)],
        [(1, 1.0), (2, 2.5), (3, 3.5)],
        [(0, 0.0), (1, 1.2), (2, 2.2)],
    ]


def test_the_wider_search_fills_more_of_the_picture():
    rng = np.random.default_rng(0)
    frame = np.tile(np.arange(50), 20)
    wide, narrow = (np.repeat(rng.uniform(-w, w, 20), 50) for w in (1.0, 0.1))
    image = draw_bands([Band("narrow", frame, narrow), Band("wide", frame, wide)], last=49)
    assert image.dtype == np.uint8
    is_blue = (image[..., 2].astype(int) - image[..., 0]) > 60
    narrow_rows, wide_rows = (np.flatnonzero(part.any(axis=1)) for part in np.split(is_blue, 2))
    assert np.ptp(wide_rows) > 5 * np.ptp(narrow_rows) > 0


def test_a_run_writes_its_figure_and_its_figures(monkeypatch, tmp_path):
    joints = load_scene("spatula").hands["right"].num_joints

    def made_up(problem, method, *, frames, seed):
        one = explored(6 if method.baseline else 9, 0.1 if method.baseline else 0.5)
        return one._replace(q=np.tile(one.q, (1, joints)))

    monkeypatch.setattr(spread, "explore", made_up)
    result = spread.run(figure=tmp_path / "roaming.png")
    assert result["ratio"] == pytest.approx(7.5)
    assert result["bars_met"] is True
    assert json.loads(json.dumps(result))["scene"] == "spatula"
    assert (tmp_path / "roaming.png").read_bytes().startswith(b"\x89PNG")
    assert result["message"] == ""
    assert "7.5" in printed(spread.describe(result))


def test_a_scene_that_nobody_can_grasp_says_so(monkeypatch):
    monkeypatch.setattr(spread, "explore", lambda *_, **__: explored(0, 0.0))
    result = spread.run(scene="milk_box_turn")
    assert result["bars_met"] is False
    assert "the improved and the baseline search, not even a first grasp" in result["message"]
    assert result["message"] in printed(spread.describe(result))


def test_wrong_requests_are_refused_before_the_work(tmp_path):
    with pytest.raises(InvalidValueError, match="png"):
        spread.run(figure=tmp_path / "roaming.svg")
    with pytest.raises(InvalidValueError, match="--frames is 0"):
        spread.run(frames=0)


def test_explored_postures_are_those_of_the_search():
    problem, method = load_scene("milk_box_turn"), ContactSampling()
    found = explore(problem, method, frames=60, seed=0)
    again = explore(problem, method, frames=30, seed=0)
    hold = prepare(problem, method)[0]
    assert 10 < len(found.frame) <= 60
    assert found.length == hold.stop - hold.start
    assert found.first == hold.start
    # From one frame to the next by what a joint may do in one, or back to an earlier frame.
    step = np.diff(found.frame)
    assert step.max() == 1
    forth = step == 1
    assert np.abs(np.diff(found.q, axis=0))[forth].max() <= hold.searched.limits.step + 1e-9
    assert np.all(found.q >= hold.searched.low.min(axis=0) - 1e-9)
    assert np.all(found.q <= hold.searched.high.max(axis=0) + 1e-9)
    # A shorter run sees the same, as far as it gets.
    np.testing.assert_array_equal(again.q, found.q[: len(again.q)])
    assert len(again.q) < len(found.q)
