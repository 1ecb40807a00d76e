"""The three tasks of the thesis, chapter 4.1, with its rewards.

(4.2) and (4.4) are printed with e^{+10 |error|}, which would reward errors; the minus is put back.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.surface import EnvironmentBox
from handwright.learning.throwing.environment import THING, ThrowingEnv
from handwright.physics.throwing.aiming import BoxAim, aim_at_box, throw_for_height
from handwright.physics.throwing.flips import Flip, flip_home, flip_throw, half_turns
from handwright.physics.throwing.machine import MachineSettings, Throw
from handwright.physics.throwing.targets import BoxPath
from handwright.physics.throwing.things import BOX_EDGE, ball, can, target_box

# Heights above the palm, m.
_LOW, _HIGH = 0.4, 1.0
# Middle of the places of the box from the palm at home, and how far from it at most, m.
_MIDDLE, _REGION = np.array([0.0, 0.42, 0.60]), np.array([0.30, 0.30, 0.25])
_SHARPNESS, _MISS = 10.0, 0.1


class ThrowHeight(ThrowingEnv):
    """Throws a ball to a height, (4.2)."""

    goal_size: ClassVar[int] = 1

    def thing(self) -> RigidBody:
        """The thesis' ball."""
        return ball()

    def draw_goal(self) -> Float[np.ndarray, " 1"]:
        """Another height above the palm, m."""
        return self.np_random.uniform(_LOW, _HIGH, 1)

    def nominal(self) -> Throw:
        """Straight up."""
        return throw_for_height(self.machine, float(self.goal[0]))

    def reward(self, top: float) -> float:
        """Up to 1 for the right height, if it is caught."""
        if not self.machine.has_caught:
            return -_MISS * self.lost_by()
        return float(np.exp(-_SHARPNESS * abs(top - self.goal[0])))

    def figures(self, top: float) -> dict[str, Any]:
        """The error of the height, m."""
        return {"error": top - float(self.goal[0])}


class HitBox(ThrowingEnv):
    """Throws a ball at a box and catches what comes back, (4.3)."""

    goal_size: ClassVar[int] = 3

    def thing(self) -> RigidBody:
        """The thesis' ball."""
        return ball()

    def box(self) -> EnvironmentBox:
        """The thesis' cube."""
        return target_box()

    def draw_goal(self) -> Float[np.ndarray, " 3"]:
        """The place of the box from the palm at its usual home, m; it stays for an episode."""
        if self.machine.simulation.time > 0.0:
            return self.goal
        while True:
            offset = _MIDDLE + self.np_random.uniform(-1.0, 1.0, 3) * _REGION
            self._path = BoxPath.still(self.machine.usual_home + offset)
            found = aim_at_box(self.machine, self._path, 0.5 * BOX_EDGE)
            if found is not None:
                self._aim: BoxAim = found
                return offset

    def prepare(self) -> None:
        """Puts up the box and lets the hand begin where its throw is easy."""
        machine = self.machine
        machine.simulation.place_box(self._path)
        machine.waits_for_box, machine.home = True, self._aim.home
        self._nearest = np.inf

    def nominal(self) -> Throw:
        """The planner's throw."""
        self._nearest = np.inf
        return self._aim.throw

    def watch(self) -> None:
        """Keeps the least distance of ball and box."""
        place = self.machine.simulation.body(THING).pose.position
        outside = np.maximum(np.abs(place - self._path.start) - 0.5 * BOX_EDGE, 0.0)
        distance = float(np.linalg.norm(outside)) - self.machine.reach
        self._nearest = min(self._nearest, max(distance, 0.0))

    def reward(self, top: float) -> float:
        """1 for a hit that is caught; else the less, the further it went past the box."""
        del top
        return 1.0 if self.machine.has_caught else -_MISS * self._nearest


class FlipCan(ThrowingEnv):
    """Turns a can end over end, (4.4)."""

    flip: ClassVar[Flip] = Flip()

    def thing(self) -> RigidBody:
        """The thesis' can."""
        return can()

    def settings(self) -> MachineSettings:
        """A hand that closes as the flip wants."""
        return self.flip.settings(MachineSettings())

    def draw_goal(self) -> Float[np.ndarray, " 0"]:
        """There is none."""
        return np.zeros(0)

    def prepare(self) -> None:
        """The hand begins rolled."""
        self.machine.home = flip_home(self.machine, self.flip)

    def nominal(self) -> Throw:
        """The same flip each time."""
        self._axis = self.machine.axis
        return flip_throw(self.machine, self.flip)

    def reward(self, top: float) -> float:
        """Up to 1 for a catch where the can belongs, and 1 more if it has turned."""
        del top
        if not self.machine.has_caught:
            return -_MISS * self.lost_by()
        off = float(np.linalg.norm(self.machine.off_seat))
        return float(np.exp(-_SHARPNESS * off)) + (1.0 if self._turns() >= 1 else 0.0)

    def figures(self, top: float) -> dict[str, Any]:
        """Half turns in free flight."""
        del top
        return {"half_turns": self._turns()}

    def _turns(self) -> int:
        return half_turns(self.machine, self._axis) or 0
