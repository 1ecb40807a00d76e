"""Throwing live: an arm that throws and catches as a page asks for it, 60 frames a second."""

from __future__ import annotations

import time

import numpy as np

from handwright.core.clip import Clip
from handwright.core.problem import Problem
from handwright.core.surface import HalfSpace
from handwright.errors import InvalidValueError
from handwright.math.pose import Pose
from handwright.studio.live.orders import ARMS, misdirected
from handwright.studio.live.posing import posed_body, posed_hand, rounded
from handwright.studio.live.throwing.aims import (
    HAND,
    HEIGHTS,
    Aim,
    box_room,
    changed,
    palm_at_rest,
    throwing_arm,
)
from handwright.studio.live.throwing.recording import Recording
from handwright.studio.live.throwing.things import BOX, box_body, thing_of, things
from handwright.studio.live.throwing.thrower import RATE, Thrower
from handwright.studio.live_messages import (
    LiveCommand,
    LiveFrame,
    ThrowingChoices,
    ThrowingState,
    ThrownThing,
)

# Share of the newest value in what is told of rates and times.
_FRESH = 0.05


class ThrowingScene:
    """An arm that throws, and what a page wants of it."""

    step_seconds = 1.0 / RATE

    def __init__(self, thing: str, *, seed: int = 0) -> None:
        """With a thing in the hand; the first throw of a process compiles.

        Args:
            thing: A name of ``things``.
            seed: Of what differs from throw to throw.
        """
        thing_of(thing)
        self._seed = seed
        self._thrower = Thrower(Aim.usual(thing), seed=seed)
        self._recording: Recording | None = None
        self._last_step = time.perf_counter()
        self._seconds, self._interval = 0.0, self.step_seconds
        self._shown = self._thrower.step()

    @property
    def is_full(self) -> bool:
        """Never: what is not recorded is not kept."""
        return False

    @property
    def problem(self) -> Problem:
        """The arm, all that can be thrown, and the box, for the page's first picture."""
        moment = self._shown.moment
        bodies = {name: thing.body for name, thing in things().items()}
        places = dict.fromkeys(bodies, moment.body)
        return Problem(
            name="throwing",
            times=np.array([0.0, 1.0]),
            hands={HAND: throwing_arm().model},
            bodies={**bodies, BOX: box_body()},
            start={HAND: throwing_arm().base, **places, BOX: _upright(self._thrower.aim.box)},
            postures={HAND: moment.q},
            environment=(HalfSpace(np.array([0.0, 0.0, 1.0]), 0.0),),
        )

    @property
    def choices(self) -> ThrowingChoices:
        """What a page may ask for."""
        low, high = box_room()
        return ThrowingChoices(
            things=[
                ThrownThing(
                    name=name,
                    size=rounded(np.ptp(thing.body.vertices, axis=0)),
                    mass=thing.body.mass,
                    half_turns=list(thing.flips),
                )
                for name, thing in things().items()
            ],
            heights=list(HEIGHTS),
            palm=rounded(palm_at_rest()),
            box_low=rounded(low),
            box_high=rounded(high),
        )

    def order(self, command: LiveCommand) -> None:
        """Does what a page asks for."""
        if command.kind == "aim":
            self._thrower.aim = changed(self._thrower.aim, command)
            self._thrower.note = ""
        elif command.kind == "record":
            self._recording = Recording(self._seed)
        else:
            raise misdirected(command.kind, ARMS)

    def step(self) -> LiveFrame:
        """Moves everything on by a frame."""
        begin = time.perf_counter()
        self._interval += _FRESH * (begin - self._last_step - self._interval)
        self._last_step = begin
        self._shown = self._thrower.step()
        self._seconds += _FRESH * (time.perf_counter() - begin - self._seconds)
        if self._recording is not None:
            self._recording.add(self._shown)
        return self.frame()

    def frame(self) -> LiveFrame:
        """The present frame, in the axes of .glb files."""
        shown = self._shown
        bodies = [posed_body(shown.thing, shown.moment.body)]
        if shown.box is not None:
            bodies.append(posed_body(BOX, _upright(shown.box)))
        arm = throwing_arm()
        return LiveFrame(
            kind="frame",
            time=round(shown.moment.time, 6),
            hands=[posed_hand(HAND, arm.model, arm.base, shown.moment.q)],
            bodies=bodies,
            fps=round(1.0 / max(self._interval, 1e-4), 1),
            throwing=self._state(),
        )

    def _state(self) -> ThrowingState:
        aim, tally = self._thrower.aim, self._thrower.tally
        recorded = None if self._recording is None else round(self._recording.seconds, 3)
        return ThrowingState(
            thing=aim.thing,
            target=aim.goal,
            height=aim.height,
            half_turns=aim.half_turns,
            box=rounded(aim.box),
            phase=self._thrower.phase,
            counted=tally.of[1],
            throws=tally.throws,
            in_a_row=tally.in_a_row,
            most_in_a_row=tally.most_in_a_row,
            dropped=tally.dropped,
            asked=tally.asked,
            reached=None if tally.reached is None else round(tally.reached, 4),
            milliseconds=round(1e3 * self._seconds, 3),
            recorded=recorded,
            note=self._thrower.note,
        )

    def clips(self) -> list[Clip]:
        """What was recorded; the recording ends."""
        if self._recording is None:
            raise InvalidValueError("Nothing is recorded. Start a recording first.")
        recording, self._recording = self._recording, None
        return recording.clips()


def _upright(place: np.ndarray) -> Pose:
    return Pose(place, Pose.identity().wxyz)
