"""What one arm is told from step to step: a planned path of its palm, and postures of its hand."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.physics.throwing.arm import ARM_JOINTS
from handwright.physics.throwing.arm_ik import PREFERRED, USUAL_IK, IkSettings
from handwright.physics.throwing.postures import posture
from handwright.physics.throwing.segments import PalmState, palm_path
from handwright.physics.throwing.simulation import Simulation

_COUNT = len(ARM_JOINTS)
# Iterations until an arm that is put somewhere is there.
_SETTLING = 400


class Servo:
    """Carries out paths of one palm and postures of one hand in a simulation.

    A path starts where the last one was planned to end, not where the arm is, so that velocities
    are continuous; the thesis starts it at the measured state.
    """

    def __init__(
        self,
        simulation: Simulation,
        hand: str,
        ik: IkSettings = USUAL_IK,
    ) -> None:
        self.simulation, self.hand = simulation, hand
        self._ik = ik
        self._index = simulation.arms[hand]
        self.chain = self._index.chain
        self._model = self._index.arm.model
        self._postures: dict[str, Float[np.ndarray, " 25"]] = {}
        self._ctrl = self._path = np.zeros((0, _COUNT))
        self._at = 0
        self._q = PREFERRED.copy()
        self._rate = np.zeros(_COUNT)
        self.planned = PalmState.resting(self._index.chain.palm(self._q))
        self._fingers_from = self._fingers_to = self.fingers("cup")
        self._finger_start, self._finger_end = 0.0, 0.0

    def fingers(self, name: str) -> Float[np.ndarray, " 25"]:
        """Values of the simulated joints of the digits in a posture, rad."""
        if name not in self._postures:
            self._postures[name] = posture(self._model, name)[self._index.joints[_COUNT:]]
        return self._postures[name]

    def rest_at(self, pose: Pose, fingers: Float[np.ndarray, " 25"]) -> None:
        """Puts the arm at rest with its palm somewhere, without any time passing."""
        self._q, _ = self.chain.reach(pose, _SETTLING, self._ik)
        self._rate = np.zeros(_COUNT)
        self.planned = PalmState.resting(pose)
        q = np.zeros(self._model.num_joints)
        q[self._index.joints[:_COUNT]] = self._q
        q[self._index.joints[_COUNT:]] = fingers
        self.simulation.place_arm(self.hand, q)
        self._fingers_from = self._fingers_to = fingers
        self._plan(np.tile(self._q, (2, 1)), 0.0)

    def go(self, end: PalmState, duration: float, *, load: float = 0.0) -> float:
        """Plans a path to a state of the palm; returns how long it takes, s.

        Args:
            end: Where the path ends.
            duration: s; rounded to steps of the simulation.
            load: Mass that sits in the palm, kg.
        """
        step = self.simulation.timestep
        count = max(2, round(duration / step))
        share = np.arange(1, count + 1) / count
        path = palm_path(self.planned, end, count * step, share)
        found, _ = self.chain.follow(self._q, path, self._ik)
        self.planned = end
        self._plan(found, load)
        return count * step

    def _plan(self, found: Float[np.ndarray, "S 7"], load: float) -> None:
        step, index = self.simulation.timestep, self._index
        before = np.concatenate([self._q[None], found])
        rate = np.diff(before, axis=0) / step
        acceleration = np.diff(np.concatenate([self._rate[None], rate]), axis=0) / step
        stiffness, damping = index.stiffness[:_COUNT], index.damping[:_COUNT]
        self._ctrl, self._path = found.copy(), before
        if self.simulation.gains.drive == "computed_torque":
            torque = index.dynamics.torques(found, rate, acceleration, load)
            self._ctrl += (damping * rate + torque) / stiffness
        self._q, self._rate, self._at = found[-1], rate[-1], 0

    def interrupt(self) -> None:
        """Ends the path where it is now; the next one goes on from there."""
        if self.is_done:
            return
        step = self.simulation.timestep
        last, now = self._path[self._at], self._path[min(self._at + 1, len(self._path) - 1)]
        before, here = self.chain.palm(last), self.chain.palm(now)
        turn = rotation.log(rotation.multiply(here.wxyz, rotation.conjugate(before.wxyz)))
        self.planned = PalmState(here, (here.position - before.position) / step, turn / step)
        self._q, self._rate = now.copy(), (now - last) / step

    @property
    def is_done(self) -> bool:
        """Whether the path is at its end."""
        return self._at >= len(self._ctrl)

    def close(self, target: Float[np.ndarray, " 25"], duration: float, delay: float = 0.0) -> None:
        """Moves the digits to a posture, from where they are told to be.

        Args:
            target: Joint values, rad.
            duration: s.
            delay: Until it starts, s; need not be a multiple of the step.
        """
        self._fingers_from = self._fingers_now()
        self._fingers_to = target
        self._finger_start = self.simulation.time + delay
        self._finger_end = self._finger_start + duration

    def _fingers_now(self) -> Float[np.ndarray, " 25"]:
        lasts = self._finger_end - self._finger_start
        if lasts <= 0.0:
            return self._fingers_to
        share = min(max((self.simulation.time - self._finger_start) / lasts, 0.0), 1.0)
        smooth = share * share * (3.0 - 2.0 * share)
        return self._fingers_from + smooth * (self._fingers_to - self._fingers_from)

    def command(self) -> None:
        """Tells the servos what to do in the next step."""
        ctrl, index = self.simulation.data.ctrl, self._index
        row = min(self._at, len(self._ctrl) - 1)
        ctrl[index.ctrl[:_COUNT]] = self._ctrl[row]
        ctrl[index.ctrl[_COUNT:]] = self._fingers_now()
        self._at += 1

    def seat_of(self, position: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
        """A point of the world in the frame of the palm's hollow, m."""
        palm = self.simulation.palm(self.hand)
        return rotation.rotate(rotation.conjugate(palm.wxyz), position - palm.position)
