"""Learned fingers of hands that are larger or smaller than the taught one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="the extra neural is not installed")

from stand_in_networks import TrackNetwork
from taught_grasps import taught_grasp

from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.evidence.metrics.realism import capsule_contacts
from handwright.hands import human
from handwright.hands.scaled import scaled
from handwright.math.pose import Pose
from handwright.methods.neural.motion import learned_motion
from handwright.methods.neural.network.runtime import load_network
from handwright.methods.neural.rollout import rolled_out
from handwright.methods.neural.sensing.body import sensed_body
from handwright.methods.neural.sensing.features import FEATURES, fixed_features
from handwright.methods.neural.sensing.taught_size import at_taught_size, size_of
from handwright.methods.neural.sensing.view import hand_view, hand_views

TINY = Path(__file__).parents[2] / "fixtures" / "tiny_fingers"


def grown(problem: Problem, scale: float) -> Problem:
    """The whole scene in another size: hands, bodies, and the ways of all."""
    tracks = {
        name: Track(track.times, Pose(scale * track.pose.position, track.pose.wxyz))
        for name, track in problem.tracks.items()
    }
    return Problem(
        problem.name,
        problem.times,
        {name: scaled(model, scale) for name, model in problem.hands.items()},
        {name: body.scaled(scale) for name, body in problem.bodies.items()},
        tracks=tracks,
    )


def with_hand(problem: Problem, scale: float) -> Problem:
    """The same tracks for a hand of another size, whose palm stays where the taught one's was."""
    palm = np.array([0.09, 0.0, -0.02])
    track = problem.track("right")
    shift = Pose((1.0 - scale) * palm, np.array([1.0, 0.0, 0.0, 0.0]))
    tracks = {**problem.tracks, "right": Track(track.times, track.pose @ shift)}
    return replace(problem, hands={"right": scaled(human(), scale)}, tracks=tracks)


@pytest.mark.parametrize("scale", [0.75, 1.3])
def test_with_the_same_grids_a_scene_that_grows_with_the_hand_changes_nothing_at_all(scale):
    problem, network = taught_grasp(3).problem, load_network(TINY)
    found = []
    for one in (problem, grown(problem, scale)):
        tracks = (one.track(name).pose for name in ("right", "ball"))
        # These grids are those that a hand of any size sees in a scene of its size.
        body = sensed_body(problem.bodies["ball"])
        view = hand_view(one.hands["right"], body, one.times, *tracks)
        found.append(rolled_out(network, {"right": view})["right"])
    assert np.ptp(found[0], axis=0).max() > 0.05
    np.testing.assert_allclose(*found, atol=1e-4)


@pytest.mark.parametrize("scale", [0.75, 1.3])
def test_a_scene_that_grows_with_the_hand_changes_nothing(scale):
    """Joint values are the same to 0.02 rad: grids of bodies are made anew in each size.

    That is so without weights, for gravity does not grow with the scene.
    """
    problem, network = taught_grasp(3).problem, load_network(TINY)
    q = learned_motion(problem, network, "contact").hands["right"].q
    other = learned_motion(grown(problem, scale), network, "contact").hands["right"].q
    assert np.ptp(q, axis=0).max() > 0.05
    np.testing.assert_allclose(other, q, atol=0.02)


@pytest.mark.parametrize("scale", [0.75, 1.3])
def test_sensors_read_the_same_in_a_scene_that_grows_with_the_hand(scale):
    problem = taught_grasp(3).problem
    taught, other = (
        fixed_features(hand_views(one)["right"]) for one in (problem, grown(problem, scale))
    )
    ambient = next(one.slice for one in FEATURES if one.name == "ambient")
    begin = ambient.start - 198
    np.testing.assert_allclose(other[:, :begin], taught[:, :begin], atol=1e-6)
    # A cell that is just touched can go either way.
    assert (np.abs(other[:, begin:] - taught[:, begin:]) < 0.05).mean() > 0.998


@pytest.mark.parametrize("scale", [0.8, 1.0, 1.2])
def test_hands_of_all_sizes_touch_what_is_there_and_stay_out_of_it(scale):
    problem = with_hand(taught_grasp(3).problem, scale)
    made = learned_motion(problem, TrackNetwork())
    gap = capsule_contacts(made, "ball", reach=0.005).gap
    assert gap.min() > -0.002
    nearest = gap.min(axis=0)
    digit = problem.hands["right"].capsules.digit
    assert sum((nearest[digit == n] < 0.001).any() for n in range(5)) >= 2


def test_a_taught_hand_is_taken_as_it_is():
    for side in ("right", "left"):
        assert size_of(human(side)) == 1.0
    model = human()
    assert at_taught_size(model) is model
    assert size_of(scaled(model, 1.25)) == pytest.approx(1.25)
    assert size_of(at_taught_size(human(sex="female", percentile=5.0))) == 1.0
