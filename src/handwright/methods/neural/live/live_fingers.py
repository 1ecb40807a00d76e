"""Fingers of hands whose wrists are tracked while they move.

Poses come with time stamps of the sender's clock, in any order and with holes. Frames lie evenly on
that clock, 60 a second from the first message on. A frame is given once messages reach as far ahead
as the model looks, or when they should have by the receiver's clock and some patience is over.
"""

from __future__ import annotations

import math
import time as time_module
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.hand import HandModel
from handwright.core.surface import Surface
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.geometry.distance.environment import pack_environment, resized
from handwright.math.pose import Pose
from handwright.methods.neural.live.counts import no_counts
from handwright.methods.neural.live.finger_model import FingerModel
from handwright.methods.neural.live.frames import LiveFrame, LiveHand
from handwright.methods.neural.live.pose_numbers import GivenPose, pose_numbers
from handwright.methods.neural.live.pose_stream import EvenPoses, PoseStream
from handwright.methods.neural.live.posed_hand import PosedHand
from handwright.methods.neural.live.sender_clock import LostMessages, SenderClock
from handwright.methods.neural.live.settings import LiveSettings
from handwright.methods.neural.sensing.body import SensedBody, sensed_body, shrunk
from handwright.methods.neural.sensing.load import plain_load
from handwright.methods.neural.sensing.motion import RATE
from handwright.methods.neural.sensing.taught_size import at_taught_size, size_of
from handwright.methods.neural.sensing.view import HandView

MOST_AT_ONCE = 12
"""Frames that may be due at the same time; earlier ones are skipped."""
LATEST = 1e12
"""Largest time stamp that is believed, s."""
START_POSE = "neutral"
"""Named pose that hands start from."""
# How far a message may be short of what a frame looks ahead to and still count as there, s.
_SAME = 1e-4


class LiveFingers:
    """Takes timed poses of wrists and of an object, gives postures of the hands; see ``feed``."""

    def __init__(
        self,
        model: FingerModel,
        hands: Mapping[str, HandModel],
        body: RigidBody | SensedBody,
        *,
        environment: Sequence[Surface] = (),
        settings: LiveSettings | None = None,
        clock: Callable[[], float] = time_module.monotonic,
    ) -> None:
        """Makes ready, with all hands in their neutral pose.

        Args:
            model: Says the fingers.
            hands: One or two, without arms, by name.
            body: The object.
            environment: Tables, walls and floors that fingers stay out of, in the world.
            settings: How to bear with imperfect tracking.
            clock: The receiver's clock, s; never goes back.
        """
        if not 1 <= len(hands) <= 2:
            raise InvalidValueError(f"LiveFingers was given {len(hands)} hands; expected 1 or 2.")
        for name, hand in hands.items():
            if hand.wrist_link != 0:
                raise InvalidValueError(
                    f"Hand '{name}' has an arm, and wrists are tracked; expected a hand without."
                )
        self.hands, self.settings = dict(hands), settings or LiveSettings()
        self._model, self._clock = model, clock
        surfaces = pack_environment(environment)
        self._surroundings = {
            name: resized(surfaces, 1.0 / size_of(hand)) for name, hand in hands.items()
        }
        self._posed = {name: PosedHand(hand) for name, hand in hands.items()}
        self._wrists = {name: PoseStream() for name in hands}
        self._object = PoseStream()
        self._take(body)
        self._sender = SenderClock(self.settings.longest_silence)
        self._lost = LostMessages()
        self._counts = no_counts()
        self._origin = 0.0
        """Time of the first message by the sender's clock; all others are reckoned from it, s."""
        self._next = 0
        """Number of the next frame."""
        self._looked_at = -math.inf
        """Time up to which the last frame has looked, by the sender's clock, s."""
        self._postures = {name: np.array(hand.pose(START_POSE)) for name, hand in hands.items()}
        model.reset(self.hands)

    @property
    def delay(self) -> float:
        """How much later than its wrists a posture comes at the soonest, s."""
        return self._model.look_ahead / RATE

    @property
    def counts(self) -> dict[str, int]:
        """What has happened so far, by the names of ``COUNTS``."""
        return dict(self._counts)

    @property
    def is_running(self) -> bool:
        """Whether messages come; if not, no frame will be due before the next one."""
        return self._sender.is_running

    def feed(
        self,
        time: float,
        *,
        wrists: Mapping[str, GivenPose | None],
        object: GivenPose | None = None,
    ) -> None:
        """Takes the poses of a moment; what was not tracked may be left out.

        Poses are taken as they come: bad ones are dropped and counted, never refused.

        Args:
            time: By the sender's clock, s.
            wrists: Poses of wrist frames in the world, by the names of the hands.
            object: Pose of the object in the world.
        """
        unknown = set(wrists) - set(self.hands)
        if unknown:
            raise UnknownNameError("hand", min(unknown), self.hands)
        now = self._clock()
        self._counts["messages"] += 1
        self._watch(now)
        numbers = {name: self._numbers(pose) for name, pose in wrists.items()}
        moved = self._numbers(object)
        # Not "above", so that NaN is refused too.
        if not abs(time) <= LATEST:
            self._counts["invalid"] += 1
            return
        if moved is None and all(row is None for row in numbers.values()):
            return
        if self._admit(time, now):
            streams = [(self._object, moved), *((self._wrists[n], r) for n, r in numbers.items())]
            is_new = [
                stream.add(time - self._origin, row) for stream, row in streams if row is not None
            ]
            self._counts["doubled"] += is_new.count(False)
            self._counts["late"] += any(is_new) and time < self._looked_at

    def _numbers(self, pose: GivenPose | None) -> Float[np.ndarray, "7"] | None:
        if pose is None:
            return None
        numbers = pose_numbers(pose)
        self._counts["invalid"] += numbers is None
        return numbers

    def _admit(self, time: float, now: float) -> bool:
        """Whether a message is of use, by its time."""
        arrival = self._sender.admit(time, now)
        if arrival in ("first", "jump"):
            self._counts["jumps"] += arrival == "jump"
            self._begin(time)
        if arrival == "astray":
            self._counts["astray"] += 1
            return False
        if RATE * (time - self._origin) < self._next - self._model.look_back:
            self._counts["stale"] += 1
            return False
        self._counts["earlier"] += arrival == "earlier"
        self._lost.add(time)
        self._counts["lost"] += self._lost.settle(self._sender.newest - _window(self._model))
        return True

    def _begin(self, time: float) -> None:
        """Follows a clock from here on; fingers stay as they are."""
        self._origin, self._next, self._looked_at = time, 0, -math.inf
        self._lost.restart()
        for stream in (self._object, *self._wrists.values()):
            stream.clear()
        self._model.reset(self.hands)

    def _watch(self, now: float) -> None:
        """Stops where messages have stopped."""
        if self._sender.is_silent(now):
            self._counts["pauses"] += 1
            self._sender.forget()

    def restart(self) -> None:
        """Waits for another sender, or for the same one to come back; fingers stay as they are."""
        self._counts["restarts"] += 1
        self._sender.forget()

    def swap(self, body: RigidBody | SensedBody) -> None:
        """Puts another object in the place of the present one, from the next frame on.

        Args:
            body: Sensed already, or else its distance grids are made first if they are not in the
                cache, which takes seconds.
        """
        self._take(body)
        self._counts["swaps"] += 1

    def frames(self) -> Iterator[LiveFrame]:
        """Computes the frames that are due, one by one."""
        while self._is_due():
            yield self._frame()

    def _is_due(self) -> bool:
        now = self._clock()
        self._watch(now)
        if not (self._sender.is_running and len(self._object)):
            return False
        reached = max(
            self._sender.newest + _SAME, self._sender.sent_by(now) - self.settings.patience
        )
        last = math.floor(RATE * (reached - self._origin)) - self._model.look_ahead
        if last - self._next >= MOST_AT_ONCE:
            self._counts["skipped"] += last + 1 - MOST_AT_ONCE - self._next
            self._next = last + 1 - MOST_AT_ONCE
        return last >= self._next

    def _frame(self) -> LiveFrame:
        """The next frame."""
        begin = time_module.perf_counter()
        present = self._next / RATE
        first = present - self._model.look_back / RATE
        settings, middle = self.settings, self._model.look_back
        count = self._model.look_back + 1 + self._model.look_ahead
        gap = settings.longest_gap
        wrists = {name: stream for name, stream in self._wrists.items() if len(stream)}
        even = {
            name: stream.at_even_times(first, 1.0 / RATE, count, longest_gap=gap)
            for name, stream in wrists.items()
        }
        thing = self._object.at_even_times(first, 1.0 / RATE, count, longest_gap=gap)
        times = self._origin + first + np.arange(count) / RATE
        self._move_fingers(self._views(times, even, thing))
        held = {name: stream.is_held(present, gap) for name, stream in wrists.items()}
        is_held = self._object.is_held(present, gap) or any(held.values())
        for stream in (self._object, *wrists.values()):
            stream.forget(first)
        self._next += 1
        self._looked_at = self._origin + present + self.delay - _SAME
        self._counts["held"] += is_held
        self._counts["frames"] += 1
        hands = {name: self._hand(name, even[name], thing, held[name]) for name in even}
        object_pose = _pose(thing, middle)
        seconds = time_module.perf_counter() - begin
        return LiveFrame(self._origin + present, hands, object_pose, is_held, seconds)

    def _take(self, body: RigidBody | SensedBody) -> None:
        """Has a body in the place of the one before, and as hands of their sizes see it."""
        self._body = body if isinstance(body, SensedBody) else sensed_body(body)
        self._seen = {
            name: shrunk(body, size_of(hand))
            if isinstance(body, SensedBody)
            else sensed_body(body, size_of(hand))
            for name, hand in self.hands.items()
        }

    def _views(
        self, times: Float[np.ndarray, " T"], even: Mapping[str, EvenPoses], thing: EvenPoses
    ) -> dict[str, HandView]:
        views = {}
        # Of what is shown live only the track is known.
        load = plain_load("object", Pose(thing.position, thing.wxyz))
        for name, wrist in even.items():
            other = [one.position for key, one in even.items() if key != name]
            size = size_of(self.hands[name])
            views[name] = HandView(
                at_taught_size(self.hands[name]),
                self._seen[name],
                times,
                wrist.rotation,
                wrist.position / size,
                thing.rotation,
                thing.position / size,
                other_position=other[0] / size if other else None,
                load=load,
                surroundings=self._surroundings[name],
            )
        return views

    def _move_fingers(self, views: Mapping[str, HandView]) -> None:
        before = {name: self._postures[name] for name in views}
        wanted = self._model.step(views, before)
        settings, is_short, is_failed = self.settings, False, False
        for name in views:
            if not np.isfinite(wanted[name]).all():
                is_failed = True
                continue
            self._postures[name], is_limited = self._posed[name].limited(
                before[name],
                wanted[name],
                joint_step=settings.joint_step,
                tip_step=settings.tip_step,
            )
            is_short = is_short or is_limited
        self._counts["failed"] += is_failed
        self._counts["limited"] += is_short

    def _hand(self, name: str, wrist: EvenPoses, thing: EvenPoses, is_held: bool) -> LiveHand:
        middle = self._model.look_back
        back = thing.rotation[middle].T
        turn = np.ascontiguousarray(back @ wrist.rotation[middle])
        shift = back @ (wrist.position[middle] - thing.position[middle])
        q = self._postures[name]
        distance = self.settings.touch_distance
        touching = self._posed[name].touching(q, self._body.near, (turn, shift), distance=distance)
        return LiveHand(_pose(wrist, middle), q.copy(), touching, is_held)


def _window(model: FingerModel) -> float:
    """Length of time that a model sees, s."""
    return (model.look_back + model.look_ahead) / RATE


def _pose(even: EvenPoses, frame: int) -> Pose:
    return Pose(even.position[frame], even.wxyz[frame])
