"""The benchmark of styles: spreads of sets of motions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="the extra neural is not installed")

from taught_grasps import taught_grasp

from benchmarks.neural.figures import with_fingers
from benchmarks.neural.styles import describe, forgotten_after, mean_spread, run, spread_of
from handwright.errors import InvalidValueError
from handwright.learning.data import TaughtMotion, save_motion
from handwright.learning.data.shapes import Thing

TINY = Path(__file__).parents[1] / "fixtures" / "tiny_fingers"


def bent(teacher, angles):
    """The teacher's motion with all knuckles bent further by an angle in each frame, rad."""
    hand = teacher.problem.hands["right"]
    rows = [n for n, name in enumerate(hand.joints.names) if name.endswith("mcp_flexion")]
    q = np.array(teacher.hands["right"].q)
    q[:, rows] += np.asarray(angles)[:, None]
    return with_fingers(teacher, {"right": hand.joints.clamp(q)})


def test_what_lasts_is_told_from_what_trembles():
    teacher = taught_grasp(2)
    ones = np.ones(teacher.num_frames)
    wave = 0.1 * np.sin(np.arange(teacher.num_frames))
    styles = spread_of([bent(teacher, 0.1 * ones), bent(teacher, 0.2 * ones)], teacher)
    tremble = spread_of([bent(teacher, 0.1 + wave), bent(teacher, 0.1 - wave)], teacher)
    assert styles.lasting > 0.8
    assert tremble.lasting < 0.3
    assert styles.pose > 1.0
    assert spread_of([teacher, teacher], teacher).pose == 0.0
    both = mean_spread([styles, tremble])
    assert both.pose == pytest.approx(0.5 * (styles.pose + tremble.pose))


def test_a_start_is_forgotten_when_motions_are_the_same_from_then_on():
    teacher = taught_grasp(2)
    early = np.where(np.arange(teacher.num_frames) < 12, 0.3, 0.0)
    assert forgotten_after([teacher, bent(teacher, early)]) == pytest.approx(12 / 60.0)
    assert forgotten_after([teacher, teacher]) == 0.0


def test_sets_of_all_kinds_are_measured(tmp_path):
    clip = taught_grasp(2)
    thing = Thing("sphere", {"radius": 0.035})
    body = replace(clip.problem, environment=())
    motion = TaughtMotion(
        "primitives_s0_000000", replace(clip, problem=body), ("carry",) * clip.num_frames,
        {"ball": thing}, "test",
    )  # fmt: skip
    save_motion(motion, tmp_path / "primitives_s0_000000.npz")
    result = run(tmp_path, model=f"{TINY},{TINY}", num=2)
    assert result["cases"] == 1
    ways = result["ways"]
    assert ways["networks"]["pose"] == 0.0
    assert ways["noise of 0.15 rad"]["pose"] > ways["floor: noise of 0.001 rad"]["pose"] > 0.0
    assert describe(result).row_count == len(ways)


def test_without_motions_it_says_what_to_give():
    with pytest.raises(InvalidValueError, match="--motions"):
        run()
