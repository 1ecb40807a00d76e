"""What the three environments share: one step is one throw, from ready to ready or lost."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.surface import EnvironmentBox
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.physics.throwing.arm import Drive, Gains, standing_arm
from handwright.physics.throwing.machine import Machine, MachineSettings, Throw
from handwright.physics.throwing.simulation import Simulation

HAND, THING = "right", "thing"
_POSE_SIZE = 12


@dataclass(frozen=True, slots=True)
class ActionScale:
    """What an action of one means; an action of zero is the nominal controller's throw."""

    offset: float = 0.4
    """d_offset: added to the velocity with which the palm lets go, m/s along each axis."""
    turn: float = 0.2
    """r_target: added to the turn of the palm, rad about each axis."""
    opening: float = 0.03
    """t_open: by how much earlier the hand opens, s."""


class ThrowingEnv(gymnasium.Env[Float[np.ndarray, " O"], Float[np.ndarray, " 7"]]):
    """A hand that throws and catches; the thesis' 3.1.8.

    The state is the place of the hand and its rotation vector in the world, the place of the thing
    in the frame of the palm and its rotation vector in the world, and the goal. The action changes
    the throw of the nominal controller. An episode ends when the thing is lost.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  # as gymnasium has it
    goal_size: ClassVar[int] = 0
    """How many numbers say what is wanted."""

    def __init__(
        self, drive: Drive = "computed_torque", *, scale: ActionScale | None = None
    ) -> None:
        """An environment with an arm of its own.

        Args:
            drive: How joints follow their targets; ``pd`` are the springs of the thesis.
            scale: What actions of one mean.
        """
        self._scale = ActionScale() if scale is None else scale
        simulation = Simulation(
            [standing_arm()], {THING: self.thing()}, gains=Gains(drive=drive), box=self.box()
        )
        self.machine = Machine(simulation, HAND, THING, self.settings())
        self.observation_space = spaces.Box(-np.inf, np.inf, (_POSE_SIZE + self.goal_size,))
        self.action_space = spaces.Box(-1.0, 1.0, (7,))

    @abstractmethod
    def thing(self) -> RigidBody:
        """What is thrown."""

    def box(self) -> EnvironmentBox | None:
        """What is thrown at."""
        return None

    def settings(self) -> MachineSettings:
        """Constants of the nominal controller."""
        return MachineSettings()

    @abstractmethod
    def draw_goal(self) -> Float[np.ndarray, " G"]:
        """What the next throw shall do."""

    @abstractmethod
    def nominal(self) -> Throw:
        """The throw of the nominal controller."""

    @abstractmethod
    def reward(self, top: float) -> float:
        """What a throw that has ended is worth.

        Args:
            top: Greatest height of the thing above the palm at home, m.
        """

    def prepare(self) -> None:
        """Puts up what an episode needs besides the thing in the hand."""

    def watch(self) -> None:
        """Looks at the thing in each step of the simulation."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Float[np.ndarray, " O"], dict[str, Any]]:
        """Starts with the thing in the hand."""
        super().reset(seed=seed, options=options)
        self.machine.simulation.restart()
        self.goal = self.draw_goal()
        self.prepare()
        self.machine.take()
        self.machine.run()
        return self._observation(), {}

    def step(
        self, action: Float[np.ndarray, " 7"]
    ) -> tuple[Float[np.ndarray, " O"], float, bool, bool, dict[str, Any]]:
        """One throw and what comes of it."""
        machine = self.machine
        machine.throw(self._changed(self.nominal(), np.clip(action, -1.0, 1.0)))
        top = machine.run(self.watch) - float(machine.home.position[2])
        worth, is_caught = self.reward(top), machine.has_caught
        info = {"is_caught": is_caught, "top": top, **self.figures(top)}
        self.goal = self.draw_goal()
        return self._observation(), worth, not is_caught, False, info

    def figures(self, top: float) -> dict[str, Any]:
        """More that is known of a throw that has ended.

        Args:
            top: Greatest height of the thing above the palm at home, m.
        """
        del top
        return {}

    def _changed(self, throw: Throw, action: Float[np.ndarray, " 7"]) -> Throw:
        a, s = np.asarray(action, dtype=np.float64), self._scale
        return replace(
            throw,
            velocity=throw.velocity + s.offset * a[:3],
            turn=throw.turn + s.turn * a[3:6],
            opening=throw.opening + s.opening * float(a[6]),
        )

    def lost_by(self) -> float:
        """How far the thing is from where the palm has its home, m: p_p - p_d of the thesis."""
        place = self.machine.simulation.body(THING).pose.position
        return float(np.linalg.norm(place - self.machine.home.position))

    def _observation(self) -> Float[np.ndarray, " O"]:
        machine = self.machine
        palm: Pose = machine.simulation.palm(HAND)
        thing = machine.simulation.body(THING).pose
        parts = (
            palm.position,
            rotation.log(palm.wxyz),
            machine.servo.seat_of(thing.position),
            rotation.log(thing.wxyz),
            self.goal,
        )
        return np.concatenate(parts).astype(np.float32)
