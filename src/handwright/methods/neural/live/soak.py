"""Minutes of live use in simulated time, with messages that are lost, late, doubled and broken."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.hand import HandModel
from handwright.core.settings import check_settings, setting
from handwright.errors import InvalidValueError
from handwright.kinematics.fk import posed_tips
from handwright.methods.neural.live.finger_model import FingerModel
from handwright.methods.neural.live.frames import LiveFrame
from handwright.methods.neural.live.live_fingers import LiveFingers
from handwright.methods.neural.live.pose_numbers import GivenPose
from handwright.methods.neural.live.prop_motion import PropMotion
from handwright.methods.neural.sensing.body import sensed_body
from handwright.methods.neural.sensing.motion import RATE

_NO_POSE = (math.nan,) * 3, (math.nan,) * 4
_PERCENTILES = 50, 95, 99, 100


@dataclass(frozen=True, slots=True)
class Trouble:
    """What happens to messages on their way."""

    lost: float = setting(0.02, at_least=0.0, at_most=1.0, help="Share that never comes.")
    late: float = setting(0.02, at_least=0.0, at_most=1.0, help="Share that comes late.")
    latest: float = setting(0.2, unit="s", at_least=0.02, help="Longest that one is late.")
    doubled: float = setting(0.002, at_least=0.0, at_most=1.0, help="Share that comes twice.")
    broken: float = setting(0.002, at_least=0.0, at_most=1.0, help="Share with NaN in a wrist.")
    jitter: float = setting(0.004, unit="s", at_least=0.0, help="How much delays differ.")

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, slots=True)
class SoakReport:
    """How it went."""

    duration: float
    """Simulated, s."""
    counts: dict[str, int]
    """By the names of ``COUNTS``."""
    computing_ms: dict[int, float]
    """Processor time of a frame by percentile, ms."""
    elapsed_ms: dict[int, float]
    """Time that passed meanwhile, ms: the same on a machine with nothing else to do."""
    largest_tip_step: float
    """Longest way of a fingertip between two frames, seen from the wrist, m."""
    largest_tip_step_in_world: float
    """The same with the way of the wrist, m."""
    seconds_to_grasp: list[float]
    """For each object swapped in while the hand was to hold it: time until thumb and another digit
    touched it, s; infinity if they did not within a second."""


@dataclass(frozen=True, slots=True)
class _Message:
    time: float
    wrists: dict[str, GivenPose]
    object_pose: GivenPose


def soak(
    model: FingerModel,
    hands: Mapping[str, HandModel],
    bodies: Sequence[RigidBody],
    *,
    duration: float,
    seed: int = 0,
    trouble: Trouble | None = None,
    swap_every: float = 5.0,
) -> SoakReport:
    """Feeds scripted motion of a prop through a bad line; no exception is caught.

    Args:
        model: Says the fingers.
        hands: By name, ``right`` and ``left`` or one of them.
        bodies: Objects that take the place of each other.
        duration: Simulated, s.
        seed: Of the motion and of the line.
        trouble: What happens to messages.
        swap_every: Time between two swaps, s.
    """
    if not (bodies and duration > 0.0 and swap_every > 0.0):
        raise InvalidValueError(
            f"soak was given {len(bodies)} bodies, {duration} s and a swap every {swap_every} s; "
            "expected one or more, and times above 0."
        )
    motion = PropMotion(seed=seed)
    sensed = [sensed_body(body) for body in bodies]
    now = 0.0
    live = LiveFingers(model, hands, sensed[0], clock=lambda: now)
    watch = _Watch(hands, motion)
    swaps = 0
    for now, message in _line(motion, tuple(hands), duration, seed, trouble or Trouble()):
        if message is not None:
            live.feed(message.time, wrists=message.wrists, object=message.object_pose)
        if now >= (swaps + 1) * swap_every and len(bodies) > 1:
            swaps += 1
            live.swap(sensed[swaps % len(sensed)])
            watch.swapped()
        frames = live.frames()
        begin = time.thread_time()
        while (frame := next(frames, None)) is not None:
            watch.see(frame, time.thread_time() - begin)
            begin = time.thread_time()
    return watch.report(duration, live.counts)


def _line(
    motion: PropMotion, hands: tuple[str, ...], duration: float, seed: int, trouble: Trouble
) -> Iterator[tuple[float, _Message | None]]:
    """Messages in the order in which they come, and moments without one, with their times, s."""
    rng, order = np.random.default_rng(seed), count()
    on_the_way: list[tuple[float, int, _Message]] = []
    for number in range(round(duration * RATE)):
        sent = number / RATE
        while on_the_way and on_the_way[0][0] <= sent:
            arrival, _, message = heapq.heappop(on_the_way)
            yield arrival, message
        yield sent, None
        lost, late, doubled, broken = rng.random(4)
        if lost < trouble.lost:
            continue
        wrists: dict[str, GivenPose] = {
            side: _NO_POSE if broken < trouble.broken else pose
            for side, pose in motion.wrists(sent).items()
            if side in hands
        }
        message = _Message(sent, wrists, motion.object_pose(sent))
        for _ in range(1 + (doubled < trouble.doubled)):
            arrival = sent + trouble.jitter * rng.random()
            if late < trouble.late:
                arrival += rng.uniform(0.02, trouble.latest)
            heapq.heappush(on_the_way, (arrival, next(order), message))


class _Watch:
    """Looks at every frame."""

    def __init__(self, hands: Mapping[str, HandModel], motion: PropMotion) -> None:
        self._hands, self._motion = hands, motion
        self._main = "right" if "right" in hands else next(iter(hands))
        self._seconds: list[tuple[float, float]] = []
        self._tips: dict[str, tuple[Float[np.ndarray, "D 3"], Float[np.ndarray, "D 3"]]] = {}
        self._largest = [0.0, 0.0]
        self._is_swapped, self._since = False, math.inf
        self._grasps: list[float] = []

    def swapped(self) -> None:
        """From the next frame on there is another object."""
        self._is_swapped = True

    def see(self, frame: LiveFrame, busy: float) -> None:
        """Takes in a frame that took some processor time, s."""
        self._seconds.append((busy, frame.seconds))
        for name, hand in frame.hands.items():
            local = posed_tips(self._hands[name], hand.q).position
            tips = local, hand.wrist.apply(local)
            for n, before in enumerate(self._tips.get(name, tips)):
                way = float(np.linalg.norm(tips[n] - before, axis=-1).max())
                self._largest[n] = max(self._largest[n], way)
            self._tips[name] = tips
        self._see_grasp(frame)

    def _see_grasp(self, frame: LiveFrame) -> None:
        if self._is_swapped:
            self._is_swapped = False
            lasts = self._motion.is_carried(frame.time) and self._motion.is_carried(frame.time + 1)
            self._since = frame.time if lasts else math.inf
        passed = frame.time - self._since
        if passed < 0.0 or self._main not in frame.hands:
            return
        touching = frame.hands[self._main].touching
        digits = [name for name in touching if name not in ("thumb", "palm")]
        if ("thumb" in touching and digits) or passed > 1.0:
            self._grasps.append(passed if passed <= 1.0 else math.inf)
            self._since = math.inf

    def report(self, duration: float, counts: dict[str, int]) -> SoakReport:
        """All of it."""
        ms = 1e3 * np.array(self._seconds or [(0.0, 0.0)])
        busy, elapsed = np.percentile(ms, _PERCENTILES, axis=0).T.tolist()
        return SoakReport(
            duration,
            counts,
            dict(zip(_PERCENTILES, busy, strict=True)),
            dict(zip(_PERCENTILES, elapsed, strict=True)),
            self._largest[0],
            self._largest[1],
            self._grasps,
        )
