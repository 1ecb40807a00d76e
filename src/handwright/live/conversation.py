"""What is said to a client, without the line that carries it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version

from handwright.errors import HandwrightError, InvalidValueError, UnknownNameError
from handwright.hands.names import OPENXR_JOINTS
from handwright.kinematics.fk import frame_poses
from handwright.live.client_axes import joints_for, object_for, object_from, wrist_from
from handwright.live.messages import (
    PROTOCOL,
    Answer,
    Axes,
    Error,
    FrameOut,
    GivenPose,
    HandOut,
    Hello,
    Poses,
    Swap,
    Swapped,
    Welcome,
    read_command,
)
from handwright.live.stage import LiveStage
from handwright.math.pose import Pose
from handwright.methods.neural.live import LiveFingers, LiveFrame
from handwright.methods.neural.live.pose_numbers import GivenPose as TakenPose
from handwright.methods.neural.live.pose_numbers import pose_numbers
from handwright.methods.neural.sensing.motion import RATE

MOST_MISTAKES = 20
"""Messages in a row that cannot be used, after which a client is sent away."""
MOST_A_SECOND = 500
"""Messages that are read; what comes beyond is dropped and counted."""
MOST_ASTRAY = 60
"""Messages whose times make no sense, after which the client is told."""
_VALUE_DIGITS = 6


class Conversation:
    """Hears the messages of one client and says what to answer."""

    def __init__(self, stage: LiveStage, clock: Callable[[], float] = time.monotonic) -> None:
        """Waits for a hello.

        Args:
            stage: Model and objects, and the hands that were there before.
            clock: The server's, s.
        """
        self._stage, self._clock = stage, clock
        self._hello: Hello | None = None
        self._live: LiveFingers | None = None
        self._mistakes = 0
        self._second, self._heard = -1, 0
        self._astray = 0
        self.counts = {"refused": 0, "flooded": 0, "unsent": 0}
        """Messages that could not be used; that were too many; frames that a slow client missed."""

    @property
    def is_running(self) -> bool:
        """Whether frames may be due without another message."""
        return self._live is not None and self._live.is_running

    @property
    def is_greeted(self) -> bool:
        """Whether there was a hello that could be answered."""
        return self._live is not None

    def hear(self, text: str | bytes) -> Answer | None:
        """The answer to a message, if it needs one.

        Args:
            text: As it came.
        """
        second = int(self._clock())
        self._second, self._heard = second, 1 + (self._heard if second == self._second else 0)
        if self._heard > MOST_A_SECOND:
            self.counts["flooded"] += 1
            return None
        try:
            if isinstance(text, bytes):
                raise InvalidValueError("The message is binary; expected a text of JSON.")
            answer = self._answer(text)
        except HandwrightError as error:
            self.counts["refused"] += 1
            self._mistakes += 1
            told: Error = {"type": "error", "message": str(error)}
            if self._mistakes >= MOST_MISTAKES or not self.is_greeted:
                told["closing"] = True
            return told
        self._mistakes = 0
        return answer

    def _answer(self, text: str) -> Answer | None:
        command = read_command(text)
        if isinstance(command, Hello):
            return self._welcome(command)
        if self._live is None or self._hello is None:
            raise InvalidValueError(f"'{command.type}' came first; expected 'hello'.")
        if isinstance(command, Swap):
            return self._swapped(self._live, command)
        self._take(self._live, command, self._hello.axes)
        return None

    def _welcome(self, hello: Hello) -> Welcome:
        if self._hello is not None:
            raise InvalidValueError("'hello' came twice; expected it once. Connect anew.")
        if hello.protocol != PROTOCOL:
            raise InvalidValueError(
                f"The client speaks protocol {hello.protocol}, the server {PROTOCOL}; expected "
                "the same. Use a client for this version of handwright."
            )
        if len(set(hello.hands)) != len(hello.hands):
            raise InvalidValueError("'hands' names one twice; expected each once.")
        self._live = self._stage.enter(
            hello.hands,
            length=hello.hand_length,
            breadth=hello.hand_breadth,
            table=hello.table,
            clock=self._clock,
        )
        self._hello, self._astray = hello, self._live.counts["astray"]
        return {
            "type": "welcome",
            "protocol": PROTOCOL,
            "server": f"handwright {version('handwright')}",
            "axes": hello.axes,
            "rate": RATE,
            "delay": self._live.delay,
            "joints": list(OPENXR_JOINTS),
            "joint_values": list(next(iter(self._live.hands.values())).joints.names),
            "objects": list(self._stage.objects),
            "object": self._stage.shown,
        }

    def _swapped(self, live: LiveFingers, command: Swap) -> Swapped:
        if command.object not in self._stage.objects:
            raise UnknownNameError("object", command.object, self._stage.objects)
        live.swap(self._stage.objects[command.object])
        self._stage.shown = command.object
        return {"type": "swapped", "object": command.object}

    def _take(self, live: LiveFingers, command: Poses, axes: Axes) -> None:
        wrists: dict[str, TakenPose] = {
            side: _taken(given, partial(wrist_from, hand=live.hands[side], axes=axes))
            for side, given in command.wrists.items()
            if given is not None and side in live.hands
        }
        thing = command.object
        taken = None if thing is None else _taken(thing, partial(object_from, axes=axes))
        moment = math.nan if command.time is None else command.time
        live.feed(moment, wrists=wrists, object=taken)
        astray = live.counts["astray"]
        if astray >= self._astray + MOST_ASTRAY:
            self._astray = astray
            raise InvalidValueError(
                f"{MOST_ASTRAY} messages had a 'time' that does not follow on those before; the "
                f"last is {moment}. Expected seconds of one clock, at most 1 s apart."
            )

    def frames(self) -> Iterator[FrameOut]:
        """Computes the frames that are due, one by one."""
        live, hello = self._live, self._hello
        if live is None or hello is None:
            return
        for frame in live.frames():
            yield self._shown(live, frame, hello.axes)

    def _shown(self, live: LiveFingers, frame: LiveFrame, axes: Axes) -> FrameOut:
        hands: dict[str, HandOut] = {}
        for side, hand in frame.hands.items():
            model = live.hands[side]
            poses = frame_poses(model, hand.q, hand.wrist)
            hands[side] = {
                "joints": joints_for(poses, model.frames.names, axes),
                "values": hand.q.round(_VALUE_DIGITS).tolist(),
                "touching": list(hand.touching),
                "held": hand.is_held,
            }
        return {
            "type": "frame",
            "time": frame.time,
            "hands": hands,
            "object": object_for(frame.object_pose, axes),
            "object_name": self._stage.shown,
            "held": frame.is_held,
            "counts": live.counts | self.counts,
        }


def _taken(given: GivenPose, turned: Callable[[Pose], Pose]) -> TakenPose:
    """A pose in our axes; what is no pose is handed on as it is, to be counted."""
    place, xyzw = given.numbers()
    raw = place, [xyzw[3], *xyzw[:3]]
    numbers = pose_numbers(raw)
    return raw if numbers is None else turned(Pose(numbers[:3], numbers[3:]))
