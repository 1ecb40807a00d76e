"""An arm that throws and catches without end, frame by frame, as it was last asked to.

What falls is put back into the hand after a second. All that is asked for is done while the hand
holds the thing at rest, so that no throw is spoilt.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.events import Toss
from handwright.math.pose import Pose
from handwright.methods.throwing.moments import Moment, moment_of, motion_at
from handwright.physics.throwing.aiming import throw_for_height
from handwright.physics.throwing.catching import palm_up
from handwright.physics.throwing.experience import Experience
from handwright.physics.throwing.flips import Flip, flip_home, flip_throw, half_turns
from handwright.physics.throwing.machine import LONGEST, Machine, MachineSettings, State
from handwright.physics.throwing.rally import aim_from_elsewhere, aim_from_hand
from handwright.physics.throwing.simulation import Simulation
from handwright.physics.throwing.targets import BoxPath
from handwright.physics.throwing.things import BOX_EDGE, target_box
from handwright.studio.live.throwing.aims import HAND, Aim, in_words, throwing_arm
from handwright.studio.live.throwing.tally import Tally
from handwright.studio.live.throwing.things import thing_of

RATE = 60
"""Frames a second."""
Phase = Literal["holding", "throwing", "going_back", "catching", "lost"]
_PHASES: dict[State, Phase] = {
    State.MIDDLE: "holding",
    State.THROW: "throwing",
    State.GOBACK: "going_back",
    State.CATCH: "catching",
}
# How long what fell stays where it is, and by how much at most a throw waits for no reason, s:
# throws that follow one another evenly look like those of an engine.
_PUT_BACK, _PAUSE = 1.0, 0.12
# How fast the box moves, m/s, and where it is while nobody throws at it, m.
_BOX_SPEED, _AWAY = 1.5, np.array([0.0, 0.0, -50.0])
# From how far a box is thrown at from another place, m.
_ELSEWHERE = 0.04


class Seen(NamedTuple):
    """A frame."""

    moment: Moment
    thing: str
    box: Float[np.ndarray, "3"] | None
    """Where the box is, m; None while it is away."""
    piece: int
    """Grows whenever something is put elsewhere, so that the motion before is at an end."""
    is_lost: bool
    """Whether the thing has fallen."""
    toss: Toss | None
    """The throw that begins with this frame, as a problem has it; turns it cannot say."""


class _Throw(NamedTuple):
    """What is under way."""

    begin: float
    """s."""
    axis: Float[np.ndarray, "3"] | None = None
    """Of the thing before it is turned end over end."""
    half_turns: int = 0
    """That were asked for."""
    height: float | None = None
    """That was asked for, m."""
    trained: float = 0.0
    """What the machine was asked for instead, by experience, m."""
    seat: Float[np.ndarray, "3"] | None = None
    """Where the thing was in the palm, from where it should be, m."""


class Thrower:
    """The arm, what it throws, and how it goes."""

    def __init__(self, aim: Aim, *, seed: int = 0) -> None:
        """With the thing in the hand.

        Args:
            aim: What its throws are for.
            seed: Of what differs from throw to throw.
        """
        self.aim = aim
        """May be changed at any time."""
        self.tally = Tally((_key(aim), aim.goal))
        """Another thing or goal begins a new one."""
        self.note = ""
        """Why the last wish was not fulfilled; empty if it was."""
        self._rng = np.random.default_rng(seed)
        self._machines: dict[tuple[str, int], Machine] = {}
        self._experience: dict[str, Experience] = {}
        self._box: Float[np.ndarray, "3"] | None = None
        self._good_box = aim.box
        """The last place of the box that could be thrown at."""
        self._home_for: Float[np.ndarray, "3"] | None = None
        """The place of the box for which the hand's home was chosen."""
        self._throw: _Throw | None = None
        self._toss: Toss | None = None
        self._lost_at: float | None = None
        self._top, self._due, self._next = -np.inf, 0.0, 0.0
        self._frames = self._piece = 0
        self._machine = self._machine_for(aim)
        self._take()

    @property
    def machine(self) -> Machine:
        """The hand with what is in it."""
        return self._machine

    @property
    def phase(self) -> Phase:
        """What the hand is about."""
        return _PHASES[self._machine.state] if self._lost_at is None else "lost"

    def step(self) -> Seen:
        """Goes on by a frame."""
        self._toss = None
        self._move_box()
        self._decide()
        machine, simulation = self._machine, self._machine.simulation
        self._due += 1.0 / RATE
        self._frames += 1
        before = moment_of(machine)
        while simulation.time < self._due:
            if simulation.time + simulation.timestep >= self._due:
                before = moment_of(machine)
            machine.update()
            simulation.step()
            self._top = max(self._top, simulation.height(machine.name))
        q, body = motion_at((before, moment_of(machine)), np.array([self._due]))
        moment = Moment(self._frames / RATE, machine.arm.model.joints.clamp(q[0]), body[0])
        is_lost = self._lost_at is not None
        return Seen(moment, machine.name, self._box, self._piece, is_lost, self._toss)

    def _decide(self) -> None:
        """Ends what is over and begins what is next."""
        machine, now = self._machine, self._machine.simulation.time
        if self._lost_at is not None:
            if now >= self._lost_at + _PUT_BACK and machine.is_ready:
                self._take()
            return
        has_missed = machine.is_ready and not machine.has_it
        lasts = 0.0 if self._throw is None else now - self._throw.begin
        is_gone = machine.has_lost_it or has_missed or lasts > LONGEST
        if self._throw is not None and (is_gone or machine.is_ready):
            self._count(self._throw)
            self._throw = None
            self._next = now + float(self._rng.uniform(0.0, _PAUSE))
        if is_gone:
            self.tally.drop()
            self._lost_at = now
            machine.give_up()
        elif machine.is_ready and now >= self._next:
            self._begin()

    def _count(self, throw: _Throw) -> None:
        machine = self._machine
        is_success = machine.has_caught
        if throw.axis is not None:
            is_success = half_turns(machine, throw.axis) == throw.half_turns
        reached = None
        if throw.height is not None and throw.seat is not None:
            reached = self._top - float(machine.home.position[2])
            if is_success:
                error = reached - throw.trained
                self._experience[machine.name].learn(throw.trained, throw.seat, error)
        self.tally.add(is_success, throw.height, reached)

    def _begin(self) -> None:
        """The next throw, or what must be done before it."""
        aim, machine = self.aim, self._machine
        flip = aim.flip
        if self.tally.of != (_key(aim), aim.goal):
            self.tally = Tally((_key(aim), aim.goal))
        if aim.goal != "box":
            self._home_for = None
        if machine is not self._machines.get(_key(aim)):
            # What comes next is put where this is held.
            if self._is_home(_home(machine, flip)):
                self._take()
        elif aim.goal == "box":
            self._throw_at_box()
        elif self._is_home(_home(machine, flip)):
            if flip is None:
                self._throw_up(aim.height)
            else:
                self._throw = _Throw(machine.simulation.time, machine.axis, aim.half_turns)
                machine.throw(flip_throw(machine, flip))

    def _throw_up(self, height: float) -> None:
        machine = self._machine
        machine.waits_for_box = False
        now, seat = machine.simulation.time, machine.off_seat
        trained = self._experience[machine.name].asked(height, seat)
        self._throw = _Throw(now, height=height, trained=trained, seat=seat)
        self._toss, self._top = Toss(HAND, machine.name, height=height), -np.inf
        machine.throw(throw_for_height(machine, trained))

    def _throw_at_box(self) -> None:
        machine, box = self._machine, self._box
        if box is None:
            return
        path, half = BoxPath.still(box), 0.5 * BOX_EDGE
        if self._home_for is None or np.linalg.norm(box - self._home_for) > _ELSEWHERE:
            best = aim_from_elsewhere(machine, path, half)
            self._home_for = box
            if best is not None and not self._is_home(best.home):
                return
        aim = aim_from_hand(machine, path, half)
        if aim is None:
            self.note = (
                f"No throw at the box at {in_words(box)} m comes back into the hand. It goes back "
                f"to {in_words(self._good_box)} m."
            )
            self.aim, self._home_for = replace(self.aim, box=self._good_box), None
            return
        machine.waits_for_box = True
        self._good_box = box
        self._throw = _Throw(machine.simulation.time)
        self._toss = Toss(HAND, machine.name, surface=0)
        machine.throw(aim.throw)

    def _is_home(self, home: Pose) -> bool:
        """Whether the hand is at a home; it goes there if not."""
        now = self._machine.home
        is_there = np.allclose(now.position, home.position) and np.allclose(now.wxyz, home.wxyz)
        if not is_there:
            self._machine.move_home(home)
        return is_there

    def _take(self) -> None:
        """Starts anew with what is asked for in the hand, where the hand is."""
        home = self._machine.home
        self._machine = machine = self._machine_for(self.aim)
        machine.home = home
        machine.take()
        self._due = self._next = machine.simulation.time
        self._throw, self._lost_at = None, None
        self._piece += 1

    def _machine_for(self, aim: Aim) -> Machine:
        key = _key(aim)
        if key not in self._machines:
            self._machines[key] = _machine(aim)
            known = next(iter(self._experience.values()), None)
            new = Experience() if known is None else known.of_another_thing()
            self._experience.setdefault(aim.thing, new)
        return self._machines[key]

    def _move_box(self) -> None:
        """Brings the box to where it is wanted, or away, while that does no harm."""
        if self.phase not in ("holding", "lost"):
            return
        place = self._next_box()
        is_moved = (
            place is not self._box
            if place is None or self._box is None
            else not np.array_equal(place, self._box)
        )
        self._piece += int(is_moved)
        self._box = place
        where = _AWAY if place is None else place
        self._machine.simulation.place_box(BoxPath.still(where))

    def _next_box(self) -> Float[np.ndarray, "3"] | None:
        wish, now = self.aim.box, self._box
        if self.aim.goal != "box":
            return None
        way = np.zeros(3) if now is None else wish - now
        length, most = float(np.linalg.norm(way)), _BOX_SPEED / RATE
        return wish if now is None or length <= most else now + way * (most / length)


def _key(aim: Aim) -> tuple[str, int]:
    """Hands hold a thing alike, whatever it is thrown to, unless it is turned end over end."""
    return aim.thing, 0 if aim.flip is None else aim.half_turns


def _machine(aim: Aim) -> Machine:
    bodies, flip = {aim.thing: thing_of(aim.thing).body}, aim.flip
    simulation = Simulation([throwing_arm()], bodies, box=target_box(), has_floor=True)
    simulation.place_box(BoxPath.still(_AWAY))
    settings = MachineSettings()
    machine = Machine(
        simulation, HAND, aim.thing, settings if flip is None else flip.settings(settings)
    )
    machine.home = _home(machine, flip)
    return machine


def _home(machine: Machine, flip: Flip | None) -> Pose:
    """Where throws begin and end that are not at a box."""
    if flip is not None:
        return flip_home(machine, flip)
    return Pose(machine.usual_home, palm_up(machine.arm, machine.usual_home))
