"""Learned fingers on hands that are not human."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from stand_in_networks import TrackNetwork
from taught_grasps import taught_grasp

from handwright.core.hand import Frames, HandModel
from handwright.core.track import Track
from handwright.errors import InvalidValueError
from handwright.evidence.metrics.realism import capsule_contacts
from handwright.hands import human, trident
from handwright.hands.scaled import scaled
from handwright.kinematics import posed_pads
from handwright.methods import NeuralFingers
from handwright.methods.neural.motion import learned_motion
from handwright.methods.neural.retargeting import needs_stand_in, stand_in, unfit


def bare(model: HandModel) -> HandModel:
    """A hand without the names of a human one, as a robot's file would give it."""
    none = np.zeros(0, dtype=np.int64)
    frames = Frames((), none, np.zeros((0, 3)), np.zeros((0, 4)))
    return replace(model, name="robot", frames=frames, skin=None)


def with_robot(robot: HandModel):
    """A taught grasp with a robot hand in the place of the human one."""
    problem = taught_grasp(3).problem
    track = problem.track("right")
    root = track.pose @ stand_in(robot).wrist.inverse()
    return replace(
        problem,
        hands={"right": robot},
        tracks={**problem.tracks, "right": Track(track.times, root)},
    )


def shadow() -> HandModel:
    found = find_spec("gymnasium_robotics")
    if found is None or found.origin is None:
        pytest.skip("gymnasium-robotics, which carries the Shadow hand, is not installed")
    from handwright.physics import SHADOW_HAND, from_mjcf

    path = Path(found.origin).parent / "envs" / "assets" / "hand" / "reach.xml"
    return from_mjcf(path, SHADOW_HAND, name="shadow")


def test_a_hand_stands_in_for_its_own_copy_where_it_is():
    model = scaled(human("left"), 1.1)
    stand = stand_in(bare(model))
    np.testing.assert_allclose(stand.wrist.position, 0.0, atol=1e-12)
    assert stand.model.side == "left"
    q = model.pose("pinch")
    np.testing.assert_allclose(
        posed_pads(stand.model, q).position, posed_pads(model, q).position, atol=1e-9
    )


def test_a_copy_follows_its_stand_in():
    robot = bare(human())
    assert needs_stand_in(robot)
    made = learned_motion(with_robot(robot), TrackNetwork()).hands["right"].q
    led = learned_motion(taught_grasp(3).problem, TrackNetwork()).hands["right"].q
    away = np.linalg.norm(
        posed_pads(robot, made).position - posed_pads(robot, led).position, axis=2
    )
    # Smoothing and the surface of the ball take pads a little off their way.
    assert away.mean() < 0.004
    assert np.ptp(posed_pads(robot, made).position, axis=0).max() > 0.01


@pytest.mark.parametrize("make", [lambda: bare(human()), shadow], ids=["copy", "shadow"])
def test_robot_hands_touch_smoothly_within_their_limits_and_stay_out(make):
    robot = make()
    problem = with_robot(robot)
    made = learned_motion(problem, TrackNetwork())
    q, tree = made.hands["right"].q, robot.joints
    assert (q >= tree.lower - 1e-9).all()
    assert (q <= tree.upper + 1e-9).all()
    np.testing.assert_allclose(q, tree.clamp(q), atol=1e-9)
    assert np.abs(np.diff(q, axis=0)).max() < 9.0 / 60.0 * 1.2
    gap = capsule_contacts(made, "ball", reach=0.005).gap
    digit = robot.capsules.digit
    assert gap[:, digit >= 0].min() > -0.003
    assert sum((gap[:, digit == n].min() < 0.001) for n in range(5)) >= 3


def test_what_cannot_be_given_learned_fingers_is_told():
    assert "finger1" in unfit(trident())
    with pytest.raises(InvalidValueError, match="thumb"):
        stand_in(trident())
    problem = taught_grasp(3).problem
    for hand, word in ((trident(), "finger1"), (human(arm=True), "arm")):
        asked = replace(problem, hands={"right": hand})
        assert word in NeuralFingers().lacks(asked)
        assert NeuralFingers.suits(asked) == 0.0
    robot = replace(problem, hands={"right": bare(human())})
    assert NeuralFingers.suits(robot) == NeuralFingers.suits(problem) > 0.0
    assert NeuralFingers(finish="plain").lacks(robot) == ""
