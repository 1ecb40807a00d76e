"""The state machine that catches and throws: CATCH, MIDDLE, THROW, GOBACK."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from math import acos
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.physics.throwing.catching import (
    Catch,
    best_catch,
    catch_at,
    long_catch,
    palm_up,
)
from handwright.physics.throwing.flight import Flight
from handwright.physics.throwing.segments import PalmState
from handwright.physics.throwing.servo import Servo
from handwright.physics.throwing.simulation import Simulation
from handwright.physics.throwing.spinning import Tumble, long_axis

# How often a hand that waits looks for its catch again, and the shortest way to one, s.
_LOOK_AGAIN, _SHORTEST = 0.03, 0.05
# Time that a hand needs to get to what has come off the box, at least, s.
_HURRY = 0.12
LONGEST = 4.0
"""Of a loop, s."""
# How far below the palm a thing is lost, and how far from its seat it is still in the hand, m.
_LOST, _IN_HAND = 0.35, 0.05
# Cosine of the largest angle between a long thing in the hand and what lies across the palm.
_ACROSS = 0.6


class State(Enum):
    """What a hand is about."""

    CATCH = "catch"
    MIDDLE = "middle"
    THROW = "throw"
    GOBACK = "goback"


@dataclass(frozen=True, slots=True)
class MachineSettings:
    """Constants of the nominal controller."""

    home: tuple[float, float, float] = (-0.08, 0.38, -0.39)
    """Where the palm's hollow is between catch and throw, from the shoulder: to the arm's own side,
    ahead, and up, m."""
    stroke: float = 0.20
    """How far a throw at a box moves the thing before it is let go, m."""
    long_stroke: float = 0.26
    """The same for a throw straight up, m: what is sped up gently is let go more evenly."""
    throw_time: float = 2.3
    """Duration of a throw over stroke / end speed: 2 for even acceleration."""
    opening: float = 0.05
    """How long before the end of a throw the hand starts to open, s."""
    lift: float = 0.16
    """By how much a throw raises the fingers, so that nothing rolls off the opening hand, rad."""
    opens_in: float = 0.09
    """How long it takes to open, s."""
    seat_ahead: float = 0.0
    """How far towards the fingers things sit from the hollow's middle, m."""
    closes_in: float = 0.11
    """How long it takes to close, s."""
    grip: float = 0.75
    """How far hands close, from the cup (0) to the closed posture (1)."""
    held: float = 0.3
    """How far the hand is closed when the next throw begins, on the same scale."""
    eases_in: float = 0.25
    """How long it takes to ease from the one to the other, s: the thing rolls into the hollow."""
    goback_time: float = 0.32
    """s."""
    rest_height: float = -0.21
    """Of the plane on which a hand waits, from the shoulder, m."""
    catch_height: float = -0.23
    """Of the plane on which things are met, from the shoulder, m."""
    catch_time: float = 0.34
    """How long before a catch the hand sets out, s."""
    short_catch_time: float = 0.22
    """The same for things that come back from the box, s."""
    shortest_goback: float = 0.18
    """s."""
    give: float = 0.7
    """Share of the thing's velocity with which the palm meets it."""
    middle_time: float = 0.5
    """s."""
    settle_time: float = 0.12
    """Between the end of MIDDLE and the next throw, s."""


def varied(settings: MachineSettings, rng: np.random.Generator) -> MachineSettings:
    """Constants of a hand that does not throw twice alike.

    Args:
        settings: To vary.
        rng: Source of the differences.
    """
    opening, grip, held, give, later = rng.normal(size=5)
    return replace(
        settings,
        opening=settings.opening + 0.003 * float(np.clip(opening, -2.0, 2.0)),
        grip=settings.grip + 0.05 * float(np.clip(grip, -2.0, 2.0)),
        held=settings.held + 0.03 * float(np.clip(held, -2.0, 2.0)),
        give=settings.give + 0.03 * float(np.clip(give, -2.0, 2.0)),
        middle_time=settings.middle_time + 0.03 * float(np.clip(later, -2.0, 2.0)),
    )


@dataclass(frozen=True, slots=True)
class Throw:
    """What a throw is to be: parameters of the THROW state."""

    velocity: Float[np.ndarray, "3"]
    """Of the palm when it lets go, m/s."""
    turn: Float[np.ndarray, "3"] = field(default_factory=lambda: np.zeros(3))
    """Turn of the palm during the throw, a rotation vector in the world, rad."""
    rate: Float[np.ndarray, "3"] = field(default_factory=lambda: np.zeros(3))
    """Angular velocity of the palm when it lets go, rad/s."""
    opening: float = 0.05
    """How long before the end the hand starts to open, s."""
    stroke: float = 0.20
    """How far the thing is moved before it is let go, m."""
    catch: Catch | None = None
    """Where the thing is expected, with the time since the end of the throw; where it comes through
    the plane of catches by default."""


class MachineSnapshot(NamedTuple):
    """A moment of a machine and its simulation; arrays of both are replaced, never written into."""

    simulation: Float[np.ndarray, " N"]
    machine: dict[str, Any]
    servo: dict[str, Any]


class Machine:
    """One hand with one thing: holds it, throws it, waits, catches it."""

    def __init__(
        self,
        simulation: Simulation,
        hand: str,
        name: str,
        settings: MachineSettings | None = None,
        *,
        believed: RigidBody | None = None,
    ) -> None:
        """A machine at rest.

        Args:
            simulation: Of the arm and the thing.
            hand: Name of the arm.
            name: Of the thing.
            settings: Constants of the controller.
            believed: What it takes the thing for; for what it is if left out.
        """
        settings = MachineSettings() if settings is None else settings
        self.simulation, self.hand, self.name, self.settings = simulation, hand, name, settings
        self.servo = Servo(simulation, hand)
        body = simulation.bodies[name] if believed is None else believed
        self._mass = body.mass
        self.reach = float(0.5 * np.min(np.ptp(body.bounds, axis=0)))
        """From the thing's centre to the skin of the palm, m."""
        self.arm = self.servo.chain.arm
        self.usual_home = self.arm.beside(settings.home)
        self.home = Pose(self.usual_home, palm_up(self.arm, self.usual_home))
        """Where the palm goes between catch and throw."""
        self.state = State.MIDDLE
        self._since = self._until = 0.0
        self._has_touched = False
        self._eases_at = np.inf
        self.waits_for_box = False
        """Whether the thing is to come back from the box."""
        self.has_hit_box = self._touched_box = False
        self._expected: Catch | None = None
        self._body = simulation.bodies[name]
        self._own_axis = long_axis(self._body)
        self._axis_was: Float[np.ndarray, "3"] | None = None
        self.turned = 0.0
        """By how much a long thing has turned end over end since the throw while nothing touched
        it, rad."""
        cup, closed = self.servo.fingers("cup"), self.servo.fingers("closed")
        self._gripping = cup + settings.grip * (closed - cup)
        self._holding = cup + settings.held * (closed - cup)

    @property
    def seat(self) -> Float[np.ndarray, "3"]:
        """Where the thing's centre is when it sits in the palm, in the frame of the hollow, m."""
        return np.array([self.settings.seat_ahead, 0.0, -self.reach])

    def take(self) -> None:
        """Starts with the thing in the hand, at rest at home."""
        self.servo.rest_at(self.home, self._holding)
        place = self.home.position + rotation.rotate(self.home.wxyz, self.seat)
        wxyz = self.home.wxyz
        if self._own_axis is not None:
            # It lies across the palm.
            across = rotation.between(self._own_axis, np.array([0.0, 1.0, 0.0]))
            wxyz = rotation.multiply(wxyz, across)
        self.simulation.place_body(self.name, Pose(place, wxyz))
        self.simulation.settle()
        # It is held already: nothing that happened before matters any more.
        self._has_touched, self._eases_at = True, np.inf
        self.has_hit_box = self._touched_box = False
        self.turned, self._axis_was = 0.0, None
        self.state, self._until = State.MIDDLE, self.simulation.time + 0.25

    @property
    def is_ready(self) -> bool:
        """Whether the hand holds still at home, so that a throw can begin."""
        return self.state is State.MIDDLE and self.simulation.time >= self._until

    def throw(self, throw: Throw) -> None:
        """Begins a throw."""
        s = self.settings
        self.has_hit_box = self._touched_box = False
        self.turned = 0.0
        self._axis_was = None
        self._expected = throw.catch
        speed = float(np.linalg.norm(throw.velocity))
        duration = s.throw_time * throw.stroke / speed
        # The path is straight: the palm moves on along the velocity that it shall have.
        end = self.home.position + throw.stroke / speed * throw.velocity
        pose = Pose.normalized(end, rotation.multiply(rotation.exp(throw.turn), self.home.wxyz))
        lasts = self.servo.go(
            PalmState(pose, throw.velocity, throw.rate), duration, load=self._mass
        )
        self.servo.close(self.servo.fingers("open"), s.opens_in, max(lasts - throw.opening, 0.0))
        self._enter(State.THROW, lasts)

    def _enter(self, state: State, lasts: float) -> None:
        self.state = state
        self._since = self.simulation.time
        self._until = self._since + lasts

    def update(self) -> None:
        """Moves on to the next state where it is time, and tells the servos what to do."""
        now, half = self.simulation.time, 0.5 * self.simulation.timestep
        if self.waits_for_box and not self.has_hit_box:
            # It has come back when it has left the box again.
            touches = self.simulation.hits_box(self.name)
            self.has_hit_box = self._touched_box and not touches
            self._touched_box = self._touched_box or touches
        if self._own_axis is not None:
            self._count_turn()
        if self.state is State.THROW and now >= self._until - half:
            self._go_back()
        elif self.state is State.GOBACK and (now >= self._until - half or self._is_called()):
            self._plan_catch()
        elif self.state is State.CATCH:
            self._watch()
            if self.servo.is_done and now >= self._until - half:
                self._to_middle()
        elif self.state is State.MIDDLE:
            self._watch()
            if now >= self._eases_at:
                self._eases_at = np.inf
                self.servo.close(self._holding, self.settings.eases_in)
        self.servo.command()

    @property
    def axis(self) -> Float[np.ndarray, "3"]:
        """Direction of the long axis of the thing in the world."""
        assert self._own_axis is not None
        return self.simulation.direction(self.name, self._own_axis)

    def _count_turn(self) -> None:
        """Adds up how far the long axis turns in free flight."""
        is_free = self.state is not State.MIDDLE and not self.simulation.touches(
            self.hand, self.name
        )
        axis = self.axis if is_free else None
        if axis is not None and self._axis_was is not None:
            self.turned += acos(min(max(float(axis @ self._axis_was), -1.0), 1.0))
        self._axis_was = axis

    def _is_called(self) -> bool:
        """Whether the thing has just come off the box, so that there is no time to lose."""
        return self.waits_for_box and self.has_hit_box

    def _go_back(self) -> None:
        s = self.settings
        lasts = s.goback_time
        expected = self._expected
        if expected is None:
            place = self.servo.planned.pose.position.copy()
            place[2] = self.arm.base.position[2] + s.rest_height
            end = Pose(place, self.home.wxyz)
        else:
            # A third of the way that a path with this end velocity takes: it then never turns back.
            ahead = s.give * s.short_catch_time / 3.0 * expected.velocity
            end = Pose(expected.palm.position - ahead, expected.palm.wxyz)
            lasts = min(lasts, max(expected.time - s.short_catch_time, s.shortest_goback))
        lasts = self.servo.go(PalmState.resting(end), lasts)
        self._has_touched = False
        self._enter(State.GOBACK, lasts)

    def _plan_catch(self) -> None:
        """Meets the thing where it comes through the plane of catches, or waits for that."""
        s, now = self.settings, self.simulation.time
        catch = self._found_catch()
        if catch is None:
            # Nothing comes yet, as while it is on its way to the box.
            self._until = now + _LOOK_AGAIN
            return
        wait = catch.time - now
        if wait > s.catch_time + 2.0 * self.simulation.timestep:
            self._until = now + min(wait - s.catch_time, _LOOK_AGAIN)
            return
        self.servo.interrupt()
        end = PalmState(catch.palm, s.give * catch.velocity, np.zeros(3))
        self._enter(State.CATCH, self.servo.go(end, max(wait, _SHORTEST)))

    def _found_catch(self) -> Catch | None:
        now, state = self.simulation.time, self.simulation.body(self.name)
        flight = Flight(now, state.pose.position, state.velocity)
        if self.waits_for_box:
            if not self.has_hit_box or self._expected is None:
                return None
            return best_catch(
                self.servo.chain,
                flight,
                self.seat,
                earliest=now + _HURRY,
                favourite=self._expected.palm.position,
            )
        height = float(self.arm.base.position[2]) + self.settings.catch_height
        if self._own_axis is not None:
            tumble = Tumble.of(self._body, self._own_axis, state.pose.wxyz, state.rate, now)
            return long_catch(
                self.servo.chain, flight, tumble, self.seat, now + _SHORTEST, height + self.reach
            )
        time = flight.falls_through(height + self.reach)
        return None if time is None else catch_at(self.arm, flight, time, self.seat)

    def _watch(self) -> None:
        """Closes the hand at the first touch."""
        if not self._has_touched and self.simulation.touches(self.hand, self.name):
            self._has_touched = True
            self.servo.close(self._gripping, self.settings.closes_in)

    def _to_middle(self) -> None:
        s = self.settings
        lasts = self.servo.go(PalmState.resting(self.home), s.middle_time, load=self._mass)
        self._enter(State.MIDDLE, lasts + s.settle_time)
        self._eases_at = self._since + lasts - s.eases_in

    def run(self, before_step: Callable[[], None] | None = None) -> float:
        """Goes on until the hand is ready again, or has lost the thing; returns how high it was, m.

        Args:
            before_step: Called before each step of the simulation.
        """
        simulation, top = self.simulation, -np.inf
        begin = simulation.time
        while not self.is_ready and simulation.time - begin < LONGEST:
            if before_step is not None:
                before_step()
            self.update()
            simulation.step()
            top = max(top, simulation.height(self.name))
            if self.has_lost_it:
                break
        return top

    @property
    def has_lost_it(self) -> bool:
        """Whether the thing has fallen past the hand."""
        return self.simulation.height(self.name) < float(self.home.position[2]) - _LOST

    @property
    def has_caught(self) -> bool:
        """Whether the thing is back in the hand, by way of the box if it was thrown there."""
        return self.is_ready and self.has_it and (self.has_hit_box or not self.waits_for_box)

    def move_home(self, home: Pose) -> None:
        """Carries the thing to another place to throw from."""
        s = self.settings
        self.home = home
        lasts = self.servo.go(PalmState.resting(home), s.middle_time, load=self._mass)
        self._enter(State.MIDDLE, lasts + s.settle_time)

    def give_up(self) -> None:
        """Goes home without the thing, with the hand as it holds one."""
        s = self.settings
        self.servo.interrupt()
        lasts = self.servo.go(PalmState.resting(self.home), s.middle_time)
        self.servo.close(self._holding, s.eases_in)
        self._has_touched, self._eases_at = True, np.inf
        self._enter(State.MIDDLE, lasts)

    def snapshot(self) -> MachineSnapshot:
        """All that ``restore`` needs to go on from here again."""
        return MachineSnapshot(self.simulation.snapshot(), dict(vars(self)), dict(vars(self.servo)))

    def restore(self, saved: MachineSnapshot) -> None:
        """Goes back to where a snapshot was taken."""
        self.simulation.restore(saved.simulation)
        vars(self).update(saved.machine)
        vars(self.servo).update(saved.servo)

    @property
    def off_seat(self) -> Float[np.ndarray, "3"]:
        """Where the thing is from where it should sit, in the frame of the hollow, m."""
        at = self.servo.seat_of(self.simulation.body(self.name).pose.position)
        return np.asarray(at - self.seat)

    @property
    def has_it(self) -> bool:
        """Whether the thing is in the hand."""
        if float(np.linalg.norm(self.off_seat)) > _IN_HAND:
            return False
        if self._own_axis is None:
            return True
        palm = self.simulation.palm(self.hand)
        across = rotation.rotate(palm.wxyz, np.array([0.0, 1.0, 0.0]))
        return abs(float(self.axis @ across)) > _ACROSS
