"""A stage without a network, and a client that sends a scripted motion."""

from __future__ import annotations

import json

import numpy as np
import pytest
from stand_in_fingers import Clock, ClosingFingers

from handwright.geometry.shapes import make_shape
from handwright.hands.human.model import human
from handwright.live.conversation import Conversation
from handwright.live.stage import LiveStage
from handwright.math.pose import Pose
from handwright.methods.neural.live.prop_motion import PropMotion

MOTION = PropMotion(seed=1)
BODIES = {name: make_shape(name) for name in ("cylinder", "sphere")}
HELLO = {"type": "hello", "protocol": 1, "axes": "z_up"}


def wrist_joint(side: str) -> Pose:
    """The OpenXR joint in the wrist frame."""
    frames = human(side).frames
    number = frames.index("wrist")
    return Pose(frames.position[number], frames.wxyz[number])


WRIST_JOINTS = {side: wrist_joint(side) for side in ("right", "left")}


def written(pose) -> dict:
    return {"position": pose.position.tolist(), "xyzw": np.roll(pose.wxyz, -1).tolist()}


def poses(time: float, sides=("right", "left")) -> dict:
    """The message of a tracker with Z up."""
    seen = MOTION.wrists(time)
    wrists = {side: written(seen[side] @ WRIST_JOINTS[side]) for side in sides}
    thing = written(MOTION.object_pose(time))
    return {"type": "poses", "time": time, "wrists": wrists, "object": thing}


class Client:
    """A conversation with a clock that is set by hand."""

    def __init__(self, stage: LiveStage, clock: Clock, **hello) -> None:
        self.clock = clock
        self.talk = Conversation(stage, clock)
        self.frames = []
        self.welcome = self.say(HELLO | hello)

    def say(self, message):
        text = message if isinstance(message, str | bytes) else json.dumps(message)
        answer = self.talk.hear(text)
        self.frames += self.talk.frames()
        return answer

    def run(self, begin: float, end: float, **changed) -> None:
        start = self.clock.now
        for n in range(round(60 * begin), round(60 * end)):
            self.clock.now = start + n / 60 - begin
            assert self.say(poses(n / 60) | changed) is None


@pytest.fixture
def stage() -> LiveStage:
    return LiveStage(ClosingFingers(), BODIES)


@pytest.fixture
def enter(stage):
    """Makes clients of one stage, one after another."""
    clock = Clock()
    return lambda **hello: Client(stage, clock, **hello)
