"""The test of one frame beside SLSQP and Clarabel: the same frames, the same verdicts."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.sampling.peer import measure_frames, solved_path
from handwright.errors import InvalidValueError
from handwright.scenes import load_scene


def test_both_come_to_the_same_verdict_on_frames_of_a_solved_path():
    one, path = solved_path(load_scene("milk_box_turn"), seed=0, budget=600.0)
    kept = path.q.copy()
    figures = measure_frames(one, path, num_frames=3)
    assert figures.frames == 3
    assert figures.agree == 1.0
    assert figures.feasible > 0.5
    limit = 1e3 * one.searched.limits.anchor
    assert figures.ours_miss_mm <= limit
    assert figures.peer_miss_mm <= limit
    assert figures.peer_ms == pytest.approx(figures.peer_ik_ms + figures.peer_forces_ms)
    assert figures.ratio == pytest.approx(1e3 * figures.peer_ms / figures.ours_us)
    # The path itself is only read.
    np.testing.assert_array_equal(path.q, kept)


def test_a_scene_that_is_not_solved_says_so():
    with pytest.raises(InvalidValueError, match="was not solved in 1e-06 s"):
        solved_path(load_scene("milk_box_turn"), seed=0, budget=1e-6)
