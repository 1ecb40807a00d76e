"""Hands that handle one thing after another."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="the extra neural is not installed")

from handwright.core.problem import Problem
from handwright.errors import InvalidValueError
from handwright.methods.neural.motion import learned_motion
from handwright.methods.neural.network.runtime import load_network
from handwright.methods.neural.stretches import sensed_stretches
from handwright.scenes import load_scene

TINY = Path(__file__).parents[2] / "fixtures" / "tiny_fingers"


def test_a_hand_senses_one_thing_after_another():
    problem = load_scene("cooking")
    stretches = sensed_stretches(problem)
    assert [stretch.objects["right"] for stretch in stretches] == ["milk_box", "wine_pot", "spice"]
    assert stretches[0].first == 0
    assert all(one.end == other.first for one, other in pairwise(stretches))
    made = learned_motion(problem, load_network(TINY))
    q = made.hands["right"].q
    assert q.shape == (len(problem.times), problem.hands["right"].num_joints)
    # Fingers go on from stretch to stretch, no faster than they are elsewhere.
    steps = np.abs(np.diff(q, axis=0)).max(axis=1)
    is_border = np.zeros(len(steps), dtype=bool)
    for stretch in stretches[1:]:
        is_border[np.searchsorted(problem.times, stretch.first / 60.0) - 1] = True
    assert steps[is_border].max() <= 1.2 * steps[~is_border].max()


def test_a_single_thing_is_one_stretch():
    (only,) = sensed_stretches(load_scene("milk_box_turn"))
    assert only.objects == {"right": "milk_box"}


def test_without_a_body_it_says_what_is_missing():
    scene = load_scene("milk_box_turn")
    tracks = {"right": scene.tracks["right"]}
    alone = Problem("alone", scene.times, scene.hands, {}, tracks=tracks)
    with pytest.raises(InvalidValueError, match="no body with a track"):
        sensed_stretches(alone)
