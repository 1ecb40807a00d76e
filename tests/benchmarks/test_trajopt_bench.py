"""The benchmark of contact-invariant optimisation: figures of made-up runs, bars, times."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.bars import bars_met
from benchmarks.scene_choice import chosen_scenes
from benchmarks.trajopt import bench
from benchmarks.trajopt.figures import (
    EXACT,
    SceneRun,
    judged_run,
    percentile_95,
    scene_row,
)
from handwright.core.result import Result, Status
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.scenes import goal_scenes, load_scene


def made_run(seed=1000, *, seconds=2.0, **changes):
    samples = {name: [np.full(20, 0.1), np.full(5, 0.2)] for name in EXACT}
    good = SceneRun(
        seed, seconds, 1, False, "", has_clip=True, is_certified=True,
        goal_mm=1.0, goal_deg=0.0, touch_s=0.0, samples=samples,
    )  # fmt: skip
    return replace(good, **changes)


def failed_run(seconds=60.0):
    return SceneRun(1001, seconds, 7, False, "0 motions after 7 attempts.")


@pytest.mark.parametrize(
    ("changes", "is_success"),
    [
        ({}, True),
        ({"goal_mm": 5.0, "goal_deg": 5.0}, True),
        ({"goal_mm": 5.01}, False),
        ({"goal_deg": 5.01}, False),
        ({"goal_mm": math.nan}, False),
        ({"touch_s": 0.05}, False),
        ({"is_certified": False}, False),
        ({"has_clip": False}, False),
    ],
)
def test_success_needs_goals_touches_and_the_certificate(changes, is_success):
    assert made_run(**changes).is_success is is_success


def test_figures_of_a_scene():
    runs = [
        made_run(seconds=1.0),
        made_run(seconds=3.0, goal_mm=7.0, is_certified=False, refused=("gap", "slip")),
        failed_run(),
    ]
    row = scene_row(runs)
    assert row["success"] == pytest.approx(1.0 / 3.0)
    assert row["seconds"] == 3.0
    assert (row["runs"], row["clips"], row["certified"], row["attempts"]) == (3, 2, 1, 1.0)
    assert row["goal_mm_max"] == 7.0
    assert row["refused"] == {"gap": 1, "slip": 1}
    assert row["messages"] == ["0 motions after 7 attempts."]
    assert row["cut_short"] == 0
    assert json.loads(json.dumps(row, allow_nan=False)) == row


def test_pushes_count_where_they_were_asked_for():
    held, lost = made_run(is_held=True), replace(failed_run(), is_held=False)
    assert scene_row([held, lost, lost, held, held])["pushes"] == pytest.approx(0.6)
    assert scene_row([made_run()])["pushes"] is None


def test_a_clip_is_replayed_with_pushes_and_no_clip_holds_nothing():
    none = Result((), Status.TIME_BUDGET, "none")
    asked = judged_run(none, seed=1000, seconds=1.0, is_cut=False, is_pushed=True)
    assert asked.is_held is False
    assert judged_run(none, seed=1000, seconds=1.0, is_cut=False).is_held is None


def test_a_scene_without_clips_has_no_figures_of_clips():
    row = scene_row([failed_run(), replace(failed_run(), is_cut=True)])
    assert [row[name] for name in EXACT] == [None] * len(EXACT)
    assert (row["success"], row["goal_mm_max"], row["cut_short"]) == (0.0, None, 1)


def test_percentiles_are_of_the_worse_group_over_all_clips():
    hands, table = np.linspace(0.0, 1.0, 101), np.full(1000, 0.3)
    one = made_run(samples={"gap_mm": [hands, table]})
    none = made_run(samples={"gap_mm": [np.zeros(0), table]})
    assert percentile_95([one, none, failed_run()], "gap_mm") == pytest.approx(0.95)
    doubled = made_run(samples={"gap_mm": [np.full(101, 2.0), table]})
    assert percentile_95([one, doubled], "gap_mm") == pytest.approx(2.0)
    assert percentile_95([none], "gap_mm") == pytest.approx(0.3)


PEER = {
    "keys": 11, "variables": 1208, "ms_per_iteration": 9.0, "start_cost": 8e3, "cost": 300.0,
    "ours_s": 0.2, "peer_s": 30.0, "ratio": 150.0, "ours_end": 8.0, "peer_end": 300.0,
    "peer_reached": False, "ratio_to_end": 60.0, "peer_ran_s": 40.0,
}  # fmt: skip


def test_bars_take_the_worst_scene_of_their_group():
    rows = {
        "pick_ball": scene_row([made_run(is_held=True)]),
        "pick_pen_free": scene_row([made_run(seconds=4.0, is_held=True), made_run(is_held=False)]),
        "pick_pen_vertical": scene_row([made_run(seconds=9.0), failed_run(15.0)]),
        "twirl_x": scene_row([failed_run()]),
        "pick_box": scene_row([made_run(samples={name: [np.full(9, 3.0)] for name in EXACT})]),
    }
    judged = bench.judged_figures(rows, PEER)
    assert (judged["success_ball"], judged["seconds_ball"]) == (1.0, 2.0)
    assert (judged["success_pens"], judged["seconds_pens"]) == (0.5, 12.0)
    assert (judged["success_others"], judged["seconds_others"]) == (0.0, 60.0)
    assert judged["gap_mm"] == 3.0
    assert judged["pushes"] == 0.5
    assert (judged["ms_per_iteration"], judged["peer_ratio"]) == (9.0, 150.0)
    assert list(judged) == list(bench.BARS)
    assert not bars_met(judged, bench.BARS)


def test_bars_of_scenes_that_were_not_run_are_not_judged():
    judged = bench.judged_figures({"pick_ball": scene_row([failed_run(10.0)])}, None)
    assert "success_pens" not in judged
    assert "peer_ratio" not in judged
    assert math.isnan(judged["gap_mm"])


def test_every_scene_with_goals_is_run_unless_some_are_chosen():
    known = bench.scene_names()
    assert set(known) == {name for name in goal_scenes() if not load_scene(name).grips}
    assert chosen_scenes(None, known) == known
    assert chosen_scenes(" twirl_x, pick_ball,twirl_x", known) == ("twirl_x", "pick_ball")
    with pytest.raises(UnknownNameError, match="pick_ball"):
        chosen_scenes("milk_box_turn", known)
    with pytest.raises(InvalidValueError, match="names no scene"):
        chosen_scenes(" , ", known)
    with pytest.raises(InvalidValueError, match="--seeds is 0"):
        bench.run(seeds=0)


def test_runs_get_what_they_are_due_while_there_is_time_for_all():
    names = list(bench.scene_names())
    plan = sorted(map(bench.budget_of, names * 3))
    assert set(plan) == {10.0, 15.0, 60.0}
    assert bench.fair_budget(60.0, [60.0] * 3, 1000.0) == 60.0
    assert bench.fair_budget(60.0, [], 40.0) < 40.0
    # All fail and take what they are given: even so, the whole ends in its time.
    left = 1080.0
    for number, due in enumerate(plan):
        given = bench.fair_budget(due, plan[number + 1 :], left)
        assert 0.25 * due <= given <= due
        left -= given + 6.0
    assert left >= 0.0


def test_a_run_becomes_json_and_a_table(monkeypatch):
    from rich.console import Console

    asked = []

    def measure_run(name, *, seed, budget):
        asked.append((name, seed, budget))
        return made_run(seed) if name == "pick_ball" else failed_run()

    monkeypatch.setattr(bench, "warm_up", lambda _name: None)
    monkeypatch.setattr(bench, "measure_run", measure_run)
    result = bench.run(scenes="twirl_x,pick_ball", seeds=2)
    first = bench.FIRST_SEED
    assert asked == [
        ("pick_ball", first, 10.0), ("twirl_x", first, 60.0),
        ("pick_ball", first + 1, 10.0), ("twirl_x", first + 1, 60.0),
    ]  # fmt: skip
    assert result["seeds"] == [first, first + 1]
    assert list(result["scenes"]) == ["twirl_x", "pick_ball"]
    assert result["bars_met"] is False
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    console = Console(width=240, file=io.StringIO())
    console.print(bench.describe({**result, "peer": PEER}))
    text = console.file.getvalue()
    assert "twirl_x: 0 motions after 7 attempts." in text
    assert "ratio to the former at least 60" in text


def test_ctrl_c_ends_the_benchmark(monkeypatch):
    cancelled = Result((), Status.CANCELLED)
    monkeypatch.setattr(bench, "synthesize", lambda *_, **__: cancelled)
    with pytest.raises(KeyboardInterrupt):
        bench.measure_run("pick_ball", seed=1000, budget=60.0)


@pytest.mark.slow
def test_one_scene_one_seed():
    result = bench.run(scenes="pick_ball", seeds=1)
    row = result["scenes"]["pick_ball"]
    assert result["peer"] is None
    assert row["runs"] == 1
    assert row["clips"] == 1
    assert row["success"] == 1.0
    assert 0.0 <= row["goal_mm_max"] <= 5.0
    assert all(math.isfinite(row[name]) and row[name] >= 0.0 for name in EXACT)
    assert json.loads(json.dumps(result, allow_nan=False)) == result
