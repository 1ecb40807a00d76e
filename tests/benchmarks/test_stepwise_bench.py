"""The benchmark of stepping: the form of its result, what is judged, scenes without a motion."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import handwright as hw
from benchmarks.bars import bars_met
from benchmarks.stepwise import bench, figures
from handwright.methods import Session
from handwright.methods.stepwise.objectives.planned_grasps import NoGripError


@pytest.fixture(scope="module")
def result() -> dict:
    """One short scene with a push, measured in full; the hold after it is cut short."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "HOLD", 0.5)
        patch.setattr(bench, "_warm_up", lambda problem: None)
        return bench.run(scenes="gift_box_pushed")


def test_a_result_is_numbers_by_scene_that_json_can_write(result):
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert set(result) == {"scenes", "judged", "bars", "bars_met", "seed", "fps_measured"}
    assert "processor time of one thread" in result["fps_measured"]
    (row,) = result["scenes"].values()
    for key in (
        "fps",
        "contacts_max",
        "infeasible_steps",
        "goal_error",
        "drift_um_s",
        "energy_gain_J",
        "displaced_mm",
        "peer_displaced_mm",
    ):
        assert math.isfinite(row[key])
    assert row["fps"] > 0.0
    assert row["hands"] == 1
    assert isinstance(row["certified"], bool)


def test_the_push_shows_beside_the_servo_hand(result):
    (row,) = result["scenes"].values()
    assert row["displaced_mm"] > 1.0
    assert not row["dropped"]
    assert isinstance(row["peer_dropped"], bool)


def test_tables_name_every_scene_and_bar(result, capsys):
    from rich.console import Console

    Console(width=200).print(bench.describe(result))
    told = capsys.readouterr().out
    assert "gift_box_pushed" in told
    for name in result["judged"]:
        assert name in told


def row(**changes) -> dict:
    good = {
        "hands": 1,
        "fps": 400.0,
        "contacts_max": 8,
        "infeasible_steps": 0,
        "goal_error": 0.1,
        "drift_um_s": 1.0,
        "energy_gain_J": 0.0,
        "certified": True,
        "verdict": "certified",
    }
    return good | changes


def met(rows) -> bool:
    judged = bench.judged_figures(rows)
    return bars_met(judged, {name: bench.BARS[name] for name in judged})


def test_bars_are_met_by_the_slowest_and_worst_scene():
    assert met({"one": row(), "two": row(hands=2, fps=130.0)})
    judged = bench.judged_figures({"one": row(), "slow": row(fps=310.0, drift_um_s=3.0)})
    assert judged["fps_one_hand"] == 310.0
    assert judged["drift_um_s"] == 3.0
    assert "fps_two_hands" not in judged


@pytest.mark.parametrize(
    "worse",
    [
        {"fps": 299.0},
        {"hands": 2, "fps": 119.0},
        {"fps": None},
        {"infeasible_steps": 1},
        {"drift_um_s": 11.0},
        {"energy_gain_J": 1e-5},
        {"certified": False},
        {"infeasible_steps": None},
    ],
)
def test_every_bar_can_fail(worse):
    assert not met({"good": row(), "bad": row(**worse)})


def test_a_scene_without_a_motion_says_why_and_meets_no_bar(monkeypatch):
    def fails(problem, *, seed):
        raise NoGripError("the hand cannot reach")

    monkeypatch.setattr(bench, "measure_scene", fails)
    monkeypatch.setattr(bench, "_warm_up", lambda problem: None)
    result = bench.run(scenes="lift_cup")
    found = result["scenes"]["lift_cup"]
    assert found["verdict"] == "the hand cannot reach"
    assert found["fps"] is None
    assert not found["certified"]
    assert not result["bars_met"]
    json.dumps(result, allow_nan=False)


def test_speed_is_the_least_time_of_frames_that_are_all_the_same(monkeypatch):
    problem = hw.load_scene("lift_expected")
    problem = replace(problem, times=problem.times[:6], goals=())
    clock = iter(np.cumsum([0.0, 9.0, 0.0, 1.0] * 5 + [0.0, 2.0] * 10).tolist())
    monkeypatch.setattr(figures, "NUM_PASSES", 4)
    monkeypatch.setattr(figures.time, "thread_time", lambda: next(clock))
    session, seconds = figures.timed(problem, 0)
    assert isinstance(session, Session)
    assert session.tally.frames == 5
    # Passes take 9, 1, 9, 1, 9 s, then 1, 9, 1, 9, 1 s, then 2 s a frame: the least of each is 1 s.
    assert seconds == pytest.approx(5.0)


def test_frames_without_a_solution_give_no_speed(monkeypatch):
    def timed(problem, seed):
        session, seconds = real(problem, seed)
        session.tally.infeasible = 1
        return session, seconds

    real = figures.timed
    monkeypatch.setattr(figures, "timed", timed)
    monkeypatch.setattr(figures, "NUM_PASSES", 1)
    monkeypatch.setattr(figures, "hold_drift", lambda session: 0.0)
    found = figures.measure_scene(hw.load_scene("lift_expected"), seed=0)
    assert found["fps"] is None
    assert found["infeasible_steps"] == 1
