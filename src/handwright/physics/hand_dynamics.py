"""Mass matrix and velocity forces of a hand, with the root fixed or free."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.physics.engine import mujoco
from handwright.physics.mjcf.export import to_mjcf


class HandDynamics:
    """The equations of motion of one hand: ``M a + velocity forces = torques + contacts + weight``.

    Velocities are, for a free root, its linear velocity in the world and its angular velocity in
    its own axes, and then the rates of the joints in the order of the model.
    """

    def __init__(self, model: HandModel, *, is_free: bool) -> None:
        """Compiles the hand.

        Args:
            model: The hand; joints that follow others are taken as joints of their own.
            is_free: Whether the root moves freely; else it stays where it is.
        """
        self._model = mujoco.MjModel.from_xml_string(to_mjcf(model, fixed_root=not is_free))
        # The weight of a hand is left out: see "torques" in docs/derivations/interactive.md.
        self._model.opt.gravity[:] = 0.0
        self._data = mujoco.MjData(self._model)
        self._is_free = is_free
        names = model.joints.names
        ids = [mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_JOINT, name) for name in names]
        offset = 6 if is_free else 0
        # MuJoCo orders joints by bodies, depth first.
        self._position = self._model.jnt_qposadr[ids]
        self._velocity = np.concatenate([np.arange(offset), self._model.jnt_dofadr[ids]])
        self.num_velocities = len(self._velocity)
        self._block = np.ix_(self._velocity, self._velocity)
        self._full = np.zeros((self._model.nv, self._model.nv))

    def at(
        self,
        q: Float[np.ndarray, " J"],
        velocity: Float[np.ndarray, " N"],
        place: Float[np.ndarray, "3"],
        wxyz: Float[np.ndarray, "4"],
    ) -> tuple[Float[np.ndarray, "N N"], Float[np.ndarray, " N"]]:
        """Mass matrix (kg m^2 and the like) and centrifugal and Coriolis forces (N m).

        ``place``, m, and ``wxyz`` are the pose of a free root; for the velocity see the class.
        """
        model, data = self._model, self._data
        data.qpos[self._position] = q
        if self._is_free:
            data.qpos[:3] = place
            data.qpos[3:7] = wxyz
        data.qvel[self._velocity] = velocity
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_crb(model, data)
        mujoco.mj_comVel(model, data)
        forces = np.zeros(model.nv)
        mujoco.mj_rne(model, data, 0, forces)
        mujoco.mj_fullM(model, data, self._full)
        return self._full[self._block], forces[self._velocity]
