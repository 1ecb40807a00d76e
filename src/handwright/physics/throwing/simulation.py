"""A simulated scene of arms and things: what is commanded, what is seen, and steps in time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.body import RigidBody
from handwright.core.surface import EnvironmentBox
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.physics.engine import mujoco
from handwright.physics.mjcf.free_bodies import BODY
from handwright.physics.throwing.arm import ARM_JOINTS, LOCKED, Arm, Gains
from handwright.physics.throwing.arm_ik import ArmChain
from handwright.physics.throwing.targets import BoxPath
from handwright.physics.throwing.torques import ArmDynamics
from handwright.physics.throwing.world import (
    TARGET,
    Contacting,
    driven_masses,
    throwing_mjcf,
)


class BodyState(NamedTuple):
    """How a thing moves, in the world."""

    pose: Pose
    velocity: Float[np.ndarray, "3"]
    """Of its centre of mass, m/s."""
    rate: Float[np.ndarray, "3"]
    """Angular velocity, rad/s."""


@dataclass(slots=True)
class ArmIndex:
    """Where an arm is in the arrays of the simulation."""

    arm: Arm
    chain: ArmChain
    dynamics: ArmDynamics
    joints: Int[np.ndarray, " 32"]
    """Of the hand model, those that are simulated."""
    qpos: Int[np.ndarray, " 32"]
    dof: Int[np.ndarray, " 32"]
    ctrl: Int[np.ndarray, " 32"]
    stiffness: Float[np.ndarray, " 32"]
    damping: Float[np.ndarray, " 32"]


class Simulation:
    """Arms on fixed shoulders, free bodies, perhaps a box to hit and a floor to fall on."""

    def __init__(
        self,
        arms: Sequence[Arm],
        bodies: Mapping[str, RigidBody],
        *,
        gains: Gains | None = None,
        contacting: Contacting | None = None,
        box: EnvironmentBox | None = None,
        has_floor: bool = False,
    ) -> None:
        gains = Gains() if gains is None else gains
        contacting = Contacting() if contacting is None else contacting
        self.gains, self.bodies = gains, dict(bodies)
        self.model = mujoco.MjModel.from_xml_string(
            throwing_mjcf(arms, bodies, contacting, box=box, has_floor=has_floor)
        )
        self.data = mujoco.MjData(self.model)
        self.timestep = contacting.timestep
        self.arms = {arm.name: self._index(arm, gains) for arm in arms}
        self._body_geom = {self._id("GEOM", BODY + name): name for name in bodies}
        self._free = {
            name: int(self.model.jnt_qposadr[self._id("JOINT", BODY + name)]) for name in bodies
        }
        self._free_dof = {
            name: int(self.model.jnt_dofadr[self._id("JOINT", BODY + name)]) for name in bodies
        }
        self._target = self._id("GEOM", TARGET) if box is not None else -1
        self._box = BoxPath.still(np.zeros(3))
        if box is not None:
            first = self._id("JOINT", f"{TARGET}/x")
            self._box_at = int(self.model.jnt_qposadr[first])
            self._box_dof = int(self.model.jnt_dofadr[first])
            self.place_box(BoxPath.still(box.pose.position))
        self._geom_of_body = {name: geom for geom, name in self._body_geom.items()}
        self._of_hand = {name: self._has_geom(index.arm) for name, index in self.arms.items()}

    def _has_geom(self, arm: Arm) -> Bool[np.ndarray, " G"]:
        """Which geoms are an arm's."""
        found = np.zeros(self.model.ngeom, dtype=bool)
        for part in arm.model.capsules.names:
            found[self._id("GEOM", f"{arm.name}/{part}")] = True
        return found

    def _id(self, kind: str, name: str) -> int:
        return int(mujoco.mj_name2id(self.model, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), name))

    def _index(self, arm: Arm, gains: Gains) -> ArmIndex:
        hand = arm.model
        names = [name for name in hand.joints.names if name not in LOCKED]
        ids = [self._id("JOINT", f"{arm.name}/{name}") for name in names]
        ctrl = np.array([self._id("ACTUATOR", f"{arm.name}/{name}") for name in names])
        joints = np.array([hand.joints.index(name) for name in names])
        dynamics = ArmDynamics(arm)
        stiffness, damping = _spring(gains, joints, driven_masses(hand), dynamics)
        self.model.actuator_gainprm[ctrl, 0] = stiffness
        self.model.actuator_biasprm[ctrl, 1] = -stiffness
        self.model.actuator_biasprm[ctrl, 2] = -damping
        return ArmIndex(
            arm,
            ArmChain(arm),
            dynamics,
            joints,
            self.model.jnt_qposadr[ids].astype(np.int64),
            self.model.jnt_dofadr[ids].astype(np.int64),
            ctrl,
            stiffness,
            damping,
        )

    @property
    def time(self) -> float:
        """Since the start, s."""
        return float(self.data.time)

    def body(self, name: str) -> BodyState:
        """How a thing moves."""
        at, dof = self._free[name], self._free_dof[name]
        wxyz = rotation.normalize(self.data.qpos[at + 3 : at + 7])
        pose = Pose(self.data.qpos[at : at + 3].copy(), wxyz)
        rate = rotation.rotate(wxyz, self.data.qvel[dof + 3 : dof + 6])
        return BodyState(pose, self.data.qvel[dof : dof + 3].copy(), rate)

    def direction(self, name: str, own: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
        """A direction of a thing's own frame, in the world.

        Cheap enough for every step.

        Args:
            name: Of the thing.
            own: The direction in its frame.
        """
        at = self._free[name]
        w, *v = self.data.qpos[at + 3 : at + 7].tolist()
        x, y, z = v
        a, b, c = own.tolist()
        # Twice v times own, then own + w t + v times t, of a unit quaternion (w, v).
        scale = 2.0 / (w * w + x * x + y * y + z * z)
        p, q, r = scale * (y * c - z * b), scale * (z * a - x * c), scale * (x * b - y * a)
        return np.array(
            [a + w * p + y * r - z * q, b + w * q + z * p - x * r, c + w * r + x * q - y * p]
        )

    def height(self, name: str) -> float:
        """Of a thing, m."""
        return float(self.data.qpos[self._free[name] + 2])

    def place_body(self, name: str, pose: Pose) -> None:
        """Puts a thing somewhere, at rest."""
        at, dof = self._free[name], self._free_dof[name]
        self.data.qpos[at : at + 3], self.data.qpos[at + 3 : at + 7] = pose.position, pose.wxyz
        self.data.qvel[dof : dof + 6] = 0.0

    def place_box(self, path: BoxPath) -> None:
        """Puts the box somewhere, or lets it move from now on."""
        self._box = path
        self._move_box()

    def _move_box(self) -> None:
        place, velocity = self._box.at(np.array([self.time]))
        self.data.qpos[self._box_at : self._box_at + 3] = place[0]
        self.data.qvel[self._box_dof : self._box_dof + 3] = velocity[0]

    def joints(self, hand: str) -> Float[np.ndarray, " J"]:
        """Joint values of the hand model, rad; locked ones are zero."""
        index = self.arms[hand]
        q = np.zeros(index.arm.model.num_joints)
        q[index.joints] = self.data.qpos[index.qpos]
        return q

    def place_arm(self, hand: str, q: Float[np.ndarray, " J"]) -> None:
        """Puts an arm at rest into a posture, and its servos too."""
        index = self.arms[hand]
        self.data.qpos[index.qpos] = q[index.joints]
        self.data.qvel[index.dof] = 0.0
        self.data.ctrl[index.ctrl] = q[index.joints]

    def palm(self, hand: str) -> Pose:
        """Where the hollow of a palm is, oriented as the wrist is."""
        index = self.arms[hand]
        return index.chain.palm(self.data.qpos[index.qpos[: len(ARM_JOINTS)]])

    def restart(self) -> None:
        """Goes back to time 0 with nothing placed and all that solvers remember forgotten."""
        mujoco.mj_resetData(self.model, self.data)

    def settle(self) -> None:
        """Takes over what was placed."""
        mujoco.mj_forward(self.model, self.data)

    def snapshot(self) -> Float[np.ndarray, " N"]:
        """All that ``restore`` needs to go on from here again, with what servos are told."""
        kind = mujoco.mjtState.mjSTATE_INTEGRATION
        physics = np.zeros(mujoco.mj_stateSize(self.model, kind))
        mujoco.mj_getState(self.model, self.data, physics, kind)
        return physics

    def restore(self, saved: Float[np.ndarray, " N"]) -> None:
        """Goes back to where a snapshot was taken."""
        kind = mujoco.mjtState.mjSTATE_INTEGRATION
        mujoco.mj_setState(self.model, self.data, saved, kind)
        mujoco.mj_forward(self.model, self.data)

    def step(self) -> None:
        """One step in time."""
        if not self._box.is_still:
            self._move_box()
        mujoco.mj_step(self.model, self.data)

    def touches(self, hand: str, name: str) -> bool:
        """Whether a hand touches a thing now."""
        pairs = self.data.contact.geom
        if len(pairs) == 0:
            return False
        of_hand, thing = self._of_hand[hand], self._geom_of_body[name]
        one, two = pairs[:, 0], pairs[:, 1]
        return bool(np.any((one == thing) & of_hand[two] | (two == thing) & of_hand[one]))

    def hits_box(self, name: str) -> bool:
        """Whether a thing touches the box now."""
        for k in range(self.data.ncon):
            pair = {int(g) for g in self.data.contact.geom[k]}
            if self._target in pair and any(self._body_geom.get(g) == name for g in pair):
                return True
        return False


def _spring(
    gains: Gains,
    joints: Int[np.ndarray, " 32"],
    driven: Float[np.ndarray, " J"],
    dynamics: ArmDynamics,
) -> tuple[Float[np.ndarray, " 32"], Float[np.ndarray, " 32"]]:
    """Stiffness and damping of every servo."""
    count = len(ARM_JOINTS)
    stiffness = np.full(len(joints), gains.finger_stiffness)
    # Fingers weigh next to nothing: what damps them is mostly the flesh.
    damping = np.full(len(joints), 0.02)
    if gains.drive == "pd":
        stiffness[:count] = gains.mass_stiffness * driven[:count] ** 2 + gains.base_stiffness
        damping[:count] = gains.mass_damping * driven[:count]
    else:
        stiffness[:count] = gains.stiffness
        damping[:count] = 2.0 * np.sqrt(stiffness[:count] * dynamics.moments)
    return stiffness, damping
