"""Torques that a planned motion of an arm takes, for computed-torque control."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
from jaxtyping import Float

from handwright.physics.engine import mujoco
from handwright.physics.throwing.arm import ARM_JOINTS, Arm
from handwright.physics.throwing.arm_ik import PREFERRED
from handwright.physics.throwing.world import arm_element


class ArmDynamics:
    """The equations of motion of shoulder, elbow, forearm and wrist with a stiff flat hand."""

    def __init__(self, arm: Arm) -> None:
        names = arm.model.joints.names
        locked = [name for name in names if name not in ARM_JOINTS]
        xml = ElementTree.tostring(arm_element(arm, locked=locked), encoding="unicode")
        self._model = mujoco.MjModel.from_xml_string(xml)
        self._data = mujoco.MjData(self._model)
        wrist = f"{arm.name}/" + names[arm.model.wrist_link - 1]
        self._wrist = mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_BODY, wrist)
        self._hollow = arm.hollow
        self._linear = np.zeros((3, self._model.nv))
        self._torque = np.zeros(self._model.nv)
        self.moments = self._moments()

    def _moments(self) -> Float[np.ndarray, " 7"]:
        """Diagonal of the mass matrix in the preferred posture, kg m^2."""
        model, data = self._model, self._data
        data.qpos[:] = PREFERRED
        mujoco.mj_forward(model, data)
        full = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, full)
        return np.diag(full).copy()

    def torques(
        self,
        q: Float[np.ndarray, "S 7"],
        rate: Float[np.ndarray, "S 7"],
        acceleration: Float[np.ndarray, "S 7"],
        load: float = 0.0,
    ) -> Float[np.ndarray, "S 7"]:
        """What joints must give, N m.

        Args:
            q: Joint values, rad.
            rate: rad/s.
            acceleration: rad/s^2.
            load: Mass in the hollow of the palm, kg.
        """
        model, data = self._model, self._data
        found = np.zeros_like(q)
        # What sits in the palm is sped up with it, and weighs.
        for s in range(len(q)):
            data.qpos[:], data.qvel[:], data.qacc[:] = q[s], rate[s], acceleration[s]
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_comVel(model, data)
            mujoco.mj_crb(model, data)
            mujoco.mj_rne(model, data, 1, self._torque)
            found[s] = self._torque
            if load > 0.0:
                point = data.xpos[self._wrist] + data.xmat[self._wrist].reshape(3, 3) @ self._hollow
                mujoco.mj_jac(model, data, self._linear, None, point, self._wrist)
                pull = load * (self._linear @ acceleration[s] - model.opt.gravity)
                found[s] += self._linear.T @ pull
        found += model.dof_armature * acceleration + model.dof_damping * rate
        return found
