"""The state machine that catches and throws: CATCH, MIDDLE, THROW, GOBACK."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from jaxtyping import Float

from handwright.core.hand import Side
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.physics.throwing.arm import Drive
from handwright.physics.throwing.segments import PalmState
from handwright.physics.throwing.servo import Servo
from handwright.physics.throwing.simulation import BodyState, Simulation

GRAVITY = 9.81
"""m/s^2."""


class State(Enum):
    """What a hand is about."""

    CATCH = "catch"
    MIDDLE = "middle"
    THROW = "throw"
    GOBACK = "goback"


@dataclass(frozen=True, slots=True)
class MachineSettings:
    """Constants of the nominal controller."""

    home: tuple[float, float, float] = (0.12, 0.38, 1.04)
    """Where the palm's hollow is between catch and throw, m; x is mirrored for a left hand."""
    rise: float = 0.20
    """How far a throw goes up before the thing is let go, m."""
    throw_time: float = 2.3
    """Duration of a throw over rise / end speed: 2 for even acceleration."""
    opening: float = 0.05
    """How long before the end of a throw the hand starts to open, s."""
    lift: float = 0.16
    """By how much a throw raises the fingers, so that nothing rolls off the opening hand, rad."""
    opens_in: float = 0.09
    """How long it takes to open, s."""
    closes_in: float = 0.11
    """How long it takes to close, s."""
    grip: float = 0.6
    """How far hands close, from the cup (0) to the closed posture (1)."""
    held: float = 0.3
    """How far the hand is closed when the next throw begins, on the same scale."""
    eases_in: float = 0.25
    """How long it takes to ease from the one to the other, s: the thing rolls into the hollow."""
    goback_time: float = 0.32
    """s."""
    rest_height: float = 1.22
    """Of the plane on which a hand waits, m."""
    catch_height: float = 1.20
    """Of the plane on which things are met, m."""
    catch_time: float = 0.34
    """How long before a catch the hand sets out, s."""
    give: float = 0.7
    """Share of the thing's velocity with which the palm meets it."""
    middle_time: float = 0.5
    """s."""
    settle_time: float = 0.12
    """Between the end of MIDDLE and the next throw, s."""
    drive: Drive = "computed_torque"


@dataclass(frozen=True, slots=True)
class Throw:
    """What a throw is to be: parameters of the THROW state."""

    velocity: Float[np.ndarray, "3"]
    """Of the palm when it lets go, m/s."""
    tilt: Float[np.ndarray, "2"] = field(default_factory=lambda: np.zeros(2))
    """Turn of the palm during the throw about the world's x and y, rad."""
    opening: float = 0.08
    """How long before the end the hand starts to open, s."""


class Machine:
    """One hand with one thing: holds it, throws it, waits, catches it."""

    def __init__(
        self,
        simulation: Simulation,
        side: Side,
        name: str,
        settings: MachineSettings = MachineSettings(),
    ) -> None:
        self.simulation, self.side, self.name, self.settings = simulation, side, name, settings
        self.servo = Servo(simulation, side, drive=settings.drive)
        body = simulation.bodies[name]
        self._mass = body.mass
        self._reach = float(0.5 * np.min(np.ptp(body.bounds, axis=0)))
        sign = 1.0 if side == "right" else -1.0
        self.home = Pose(np.array(settings.home) * (sign, 1.0, 1.0), palm_up(side))
        self.state = State.MIDDLE
        self._since = self._until = 0.0
        self._has_touched = False
        self._eases_at = np.inf
        self.hit_time = np.inf
        """When the thing is to be met, s."""
        cup, closed = self.servo.fingers("cup"), self.servo.fingers("closed")
        self._gripping = cup + settings.grip * (closed - cup)
        self._holding = cup + settings.held * (closed - cup)

    @property
    def seat(self) -> Float[np.ndarray, "3"]:
        """Where the thing's centre is when it sits in the palm, in the frame of the hollow, m."""
        return np.array([0.0, 0.0, -self._reach])

    def take(self) -> None:
        """Starts with the thing in the hand, at rest at home."""
        self.servo.rest_at(self.home, self._holding)
        place = self.home.position + rotation.rotate(self.home.wxyz, self.seat)
        self.simulation.place_body(self.name, Pose(place, self.home.wxyz))
        self.simulation.settle()
        self.state, self._until = State.MIDDLE, self.simulation.time + 0.25

    @property
    def is_ready(self) -> bool:
        """Whether the hand holds still at home, so that a throw can begin."""
        return self.state is State.MIDDLE and self.simulation.time >= self._until

    def throw(self, throw: Throw) -> None:
        """Begins a throw."""
        s = self.settings
        speed = float(throw.velocity[2])
        duration = s.throw_time * s.rise / speed
        # The path is straight: the palm moves on along the velocity that it shall have.
        end = self.home.position + s.rise / speed * throw.velocity
        tilt = rotation.exp(np.array([throw.tilt[0], throw.tilt[1], 0.0]))
        pose = Pose.normalized(end, rotation.multiply(tilt, self.home.wxyz))
        lasts = self.servo.go(
            PalmState(pose, throw.velocity, np.zeros(3)), duration, load=self._mass
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
        if self.state is State.THROW and now >= self._until - half:
            self._go_back()
        elif self.state is State.GOBACK and now >= self._until - half:
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

    def _go_back(self) -> None:
        s = self.settings
        place = self.servo.planned.pose.position.copy()
        place[2] = s.rest_height
        lasts = self.servo.go(PalmState.resting(Pose(place, self.home.wxyz)), s.goback_time)
        self._has_touched = False
        self._enter(State.GOBACK, lasts)

    def _plan_catch(self) -> None:
        """Meets the thing where it comes through the plane of catches, or waits for that."""
        s = self.settings
        state = self.simulation.body(self.name)
        met = interception(state, s.catch_height + self._reach)
        if met is None:
            self.hit_time = np.inf
            self._enter(State.CATCH, np.inf)
            return
        wait, place, velocity = met
        self.hit_time = self.simulation.time + wait
        if wait > s.catch_time + 2.0 * self.simulation.timestep:
            self._until = self.simulation.time + (wait - s.catch_time)
            return
        facing = facing_flight(self.side, velocity)
        hollow = place - rotation.rotate(facing, self.seat)
        end = PalmState(Pose(hollow, facing), s.give * velocity, np.zeros(3))
        self._enter(State.CATCH, self.servo.go(end, max(wait, 0.05)))

    def _watch(self) -> None:
        """Closes the hand at the first touch."""
        if not self._has_touched and self.simulation.touches(self.side, self.name):
            self._has_touched = True
            self.servo.close(self._gripping, self.settings.closes_in)

    def _to_middle(self) -> None:
        s = self.settings
        lasts = self.servo.go(PalmState.resting(self.home), s.middle_time, load=self._mass)
        self._enter(State.MIDDLE, lasts + s.settle_time)
        self._eases_at = self._since + lasts - s.eases_in

    @property
    def has_it(self) -> bool:
        """Whether the thing is in the hand."""
        at = self.servo.seat_of(self.simulation.body(self.name).pose.position)
        return bool(np.linalg.norm(at - self.seat) < 0.05)


def palm_up(side: Side) -> Float[np.ndarray, "4"]:
    """Orientation of a wrist with the palm up and the fingers ahead."""
    del side
    along, back = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, -1.0])
    return rotation.from_matrix(np.stack([along, np.cross(back, along), back], axis=-1))


def facing_flight(side: Side, velocity: Float[np.ndarray, "3"]) -> Float[np.ndarray, "4"]:
    """Orientation of a wrist whose palm faces what comes with a velocity."""
    speed = float(np.linalg.norm(velocity))
    turn = rotation.between(np.array([0.0, 0.0, -1.0]), velocity / speed)
    return rotation.multiply(turn, palm_up(side))


def interception(
    state: BodyState, height: float
) -> tuple[float, Float[np.ndarray, "3"], Float[np.ndarray, "3"]] | None:
    """When, where and how fast a flying thing comes down through a height; None if it does not.

    Args:
        state: Of the thing now.
        height: m.
    """
    up, drop = float(state.velocity[2]), float(state.pose.position[2]) - height
    inside = up * up + 2.0 * GRAVITY * drop
    if inside < 0.0:
        return None
    wait = (up + np.sqrt(inside)) / GRAVITY
    if wait < 0.0:
        return None
    fall = np.array([0.0, 0.0, -GRAVITY])
    place = state.pose.position + wait * state.velocity + 0.5 * wait**2 * fall
    return float(wait), place, state.velocity + wait * fall


def throw_for_height(settings: MachineSettings, seat: float, height: float) -> Throw:
    """The throw that takes a thing's centre up to a height above the hollow of the palm at home.

    Args:
        settings: Of the machine.
        seat: Height of the thing's centre above the hollow, m.
        height: m.
    """
    rest = height - settings.rise - seat
    velocity = np.array([0.0, 0.0, np.sqrt(2.0 * GRAVITY * max(rest, 0.02))])
    return Throw(velocity, np.array([settings.lift, 0.0]), settings.opening)


Watcher = Callable[[], None]
