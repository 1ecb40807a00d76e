"""Learned fingers live: a prop is moved by a page, and a network gives the hands their fingers."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from handwright.core.clip import Clip
from handwright.core.problem import Problem
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.learning.data.stage import hand_model, work_table
from handwright.math.pose import Pose
from handwright.methods.neural.live import LiveFingers
from handwright.methods.neural.live import LiveFrame as Shown
from handwright.methods.neural.live.network_fingers import finger_model
from handwright.methods.neural.network.runtime import load_network
from handwright.methods.neural.sensing.body import SensedBody, sensed_body
from handwright.methods.neural.sensing.motion import RATE
from handwright.studio.live.fingers.handling import Handling
from handwright.studio.live.fingers.props import HandledProp, handled_prop, prop_kinds
from handwright.studio.live.fingers.recording import Recording
from handwright.studio.live.orders import FINGERS, misdirected
from handwright.studio.live.posing import posed_body, posed_hand
from handwright.studio.live_messages import FingersState, HandState, LiveCommand, LiveFrame

# Share of the newest value in what is told of rates and times.
_FRESH = 0.05


class FingersScene:
    """Hands that handle a prop; all that is shown lies as far back as the network looks ahead."""

    step_seconds = 1.0 / RATE

    def __init__(self, sides: Sequence[str], prop: str, model: str) -> None:
        """Loads the network and the prop, which takes seconds the first time on a machine.

        Args:
            sides: Of the hands, the one that takes the prop first.
            prop: A name of ``prop_kinds``.
            model: Folder of a network, or ``shipped``.
        """
        if not sides or len(set(sides)) != len(sides):
            raise InvalidValueError(f"The hands are {list(sides)}; expected one or two sides.")
        self._model = model
        fingers = finger_model(load_network(model))
        handled = handled_prop(prop)
        self._shown_prop = handled
        self._handling = Handling(handled, sides)
        self._live = LiveFingers(
            fingers,
            {side: hand_model(side) for side in sides},
            sensed_body(handled.body),
            environment=(work_table(),),
            clock=lambda: self._handling.time,
        )
        self._loader = ThreadPoolExecutor(1)
        self._loading: Future[tuple[HandledProp, SensedBody]] | None = None
        self._sensed: SensedBody | None = None
        """Of the prop that was swapped in last."""
        self._swaps: deque[tuple[float, HandledProp, SensedBody]] = deque()
        """When props were swapped; they are shown as much later as everything."""
        self._recording: Recording | None = None
        self._last_step = time.perf_counter()
        self._seconds, self._interval = 0.0, self.step_seconds
        self._shown: Shown | None = None
        # The first frame of a process compiles, which a page should not take for a frozen scene.
        while self._shown is None:
            self._advance()

    @property
    def is_full(self) -> bool:
        """Never: what is not recorded is not kept."""
        return False

    @property
    def problem(self) -> Problem:
        """Hands and prop as they are now, for the page's first picture."""
        shown = self._at()
        return Problem(
            name="learned_fingers",
            times=np.array([0.0, 1.0]),
            hands=self._live.hands,
            bodies={self._shown_prop.name: self._shown_prop.body},
            start={
                **{side: hand.wrist for side, hand in shown.hands.items()},
                self._shown_prop.name: shown.object_pose,
            },
            environment=(work_table(),),
        )

    @property
    def choices(self) -> None:
        """Nothing: props are listed by the server."""
        return None

    def order(self, command: LiveCommand) -> None:
        """Does what a page asks for."""
        handling = self._handling
        if command.kind == "move":
            handling.move(
                place=_array(command.place), shift=_array(command.shift), turn=_array(command.turn)
            )
        elif command.kind == "take":
            handling.take(command.hand)
        elif command.kind == "let_go":
            handling.let_go(command.hand)
        elif command.kind == "swap":
            self._load(command.prop or "")
        elif command.kind == "record":
            self._recording = Recording(self._model)
        else:
            raise misdirected(command.kind, FINGERS)

    def _load(self, name: str) -> None:
        if name not in prop_kinds():
            raise UnknownNameError("prop", name, prop_kinds())

        def load() -> tuple[HandledProp, SensedBody]:
            prop = handled_prop(name)
            return prop, sensed_body(prop.body)

        self._loading = self._loader.submit(load)

    def step(self) -> LiveFrame:
        """Moves everything on by a frame."""
        begin = time.perf_counter()
        self._interval += _FRESH * (begin - self._last_step - self._interval)
        self._last_step = begin
        self._advance()
        self._seconds += _FRESH * (time.perf_counter() - begin - self._seconds)
        if self._recording is not None:
            self._recording.add(self._shown_prop, self._at())
        return self.frame()

    def _advance(self) -> None:
        if self._loading is not None and self._loading.done():
            # What could not be loaded is said once.
            loading, self._loading = self._loading, None
            prop, self._sensed = loading.result()
            self._handling.swap(prop)
        before = self._handling.prop
        seen = self._handling.step()
        if self._handling.prop is not before:
            assert self._sensed is not None
            self._swaps.append((seen.time, self._handling.prop, self._sensed))
        self._live.feed(seen.time, wrists=seen.wrists, object=seen.body)
        if self._swaps and self._swaps[0][0] <= seen.time - self._live.delay:
            _, self._shown_prop, sensed = self._swaps.popleft()
            self._live.swap(sensed)
        for frame in self._live.frames():
            self._shown = frame

    def _at(self) -> Shown:
        assert self._shown is not None
        return self._shown

    def frame(self) -> LiveFrame:
        """The frame that is shown, in the axes of .glb files."""
        shown = self._at()
        hands = self._handling.hands
        return LiveFrame(
            kind="frame",
            time=round(shown.time, 6),
            hands=[
                posed_hand(side, self._live.hands[side], hand.wrist, hand.q)
                for side, hand in shown.hands.items()
            ],
            bodies=[posed_body(self._shown_prop.name, shown.object_pose)],
            fps=round(1.0 / max(self._interval, 1e-4), 1),
            fingers=FingersState(
                wish=posed_body(self._handling.next_prop.name, self._wished()),
                hands=[
                    HandState(name=side, phase=hands[side].phase, touching=list(hand.touching))
                    for side, hand in shown.hands.items()
                ],
                delay=round(self._live.delay, 6),
                milliseconds=round(1e3 * self._seconds, 3),
                counts={name: count for name, count in self._live.counts.items() if count},
                recorded=None if self._recording is None else round(self._recording.seconds, 3),
                note=self._handling.note,
            ),
        )

    def _wished(self) -> Pose:
        return self._handling.wish @ self._handling.next_prop.rest

    def clips(self) -> list[Clip]:
        """What was recorded; the recording ends."""
        if self._recording is None:
            raise InvalidValueError("Nothing is recorded. Start a recording first.")
        recording, self._recording = self._recording, None
        return recording.clips()


def _array(values: list[float] | None) -> np.ndarray | None:
    return None if values is None else np.array(values)
