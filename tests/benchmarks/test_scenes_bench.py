"""The benchmark of all scenes: what is returned is judged once more, and a fault is seen."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from corpus import solved

from benchmarks import scenes as bench
from handwright.core.result import Result, Status
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.math.pose import Pose
from handwright.methods import ContactInvariant
from handwright.scenes import goal_scenes, load_scene, track_scenes

SCENE = "pick_ball"


@pytest.fixture(scope="module")
def clip():
    return solved(SCENE, ContactInvariant(time_budget=600.0)).best


def lifted(clip):
    """The same motion with the body a hand's breadth above the fingers."""
    up = np.array([0.0, 0.0, 0.1])
    bodies = {name: Pose(pose.position + up, pose.wxyz) for name, pose in clip.bodies.items()}
    return replace(clip, bodies=bodies)


def returning(monkeypatch, *clips, **changes):
    result = Result(tuple(clips), Status.SOLVED, **changes)
    monkeypatch.setattr(bench, "synthesize", lambda *_, **__: result)


def test_every_scene_is_run_by_the_method_that_suits_it_unless_some_are_chosen():
    assert bench.scene_names() == (*track_scenes(), *goal_scenes())
    method = bench.default_settings(load_scene(SCENE), 12.0)
    assert (method.name, method.num_solutions, method.time_budget) == ("trajopt", 1, 12.0)
    assert bench.default_settings(load_scene("lift_cup"), 12.0).name == "stepwise"
    with pytest.raises(UnknownNameError, match="pick_ball"):
        bench.run(scenes="pick_bal")
    with pytest.raises(InvalidValueError, match="--seeds is 0 and --budget 60"):
        bench.run(scenes=SCENE, seeds=0)
    with pytest.raises(InvalidValueError, match="--seeds is 3 and --budget 0"):
        bench.run(scenes=SCENE, budget=0.0)


def test_a_motion_that_passes_meets_the_bar(monkeypatch, clip):
    from rich.console import Console

    returning(monkeypatch, clip, refused={"gap": 2})
    result = bench.run(scenes=SCENE, seeds=2)
    row = result["scenes"][SCENE]
    assert (row["method"], row["runs"], row["returned"], row["refused_by_verify"]) == (
        "trajopt", 2, 2, 0,
    )  # fmt: skip
    assert row["refused"] == {"gap": 4}
    assert result["judged"] == {"refused_by_verify": 0.0}
    assert result["bars_met"] is True
    assert (result["returned"], result["seeds"]) == (2, [1000, 1001])
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    console = Console(width=200, file=io.StringIO())
    console.print(bench.describe(result))
    assert "gap 4" in console.file.getvalue()


def test_a_returned_motion_with_a_fault_is_counted_and_named(monkeypatch, clip):
    returning(monkeypatch, lifted(clip))
    result = bench.run(scenes=SCENE, seeds=1)
    row = result["scenes"][SCENE]
    assert (row["returned"], row["refused_by_verify"]) == (1, 1)
    assert row["verdicts"][0].startswith("seed 1000: ")
    assert "force" in row["verdicts"][0]
    assert result["bars_met"] is False


def test_ctrl_c_ends_the_benchmark(monkeypatch):
    monkeypatch.setattr(bench, "synthesize", lambda *_, **__: Result((), Status.CANCELLED))
    with pytest.raises(KeyboardInterrupt):
        bench.run(scenes=SCENE)
