"""Forward kinematics written a second time, in the plainest way, to check everything against."""

from __future__ import annotations

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from handwright.core.hand import HandModel


def oracle_link_poses(model: HandModel, q: np.ndarray, root: np.ndarray) -> np.ndarray:
    """(..., L, 4, 4) world poses of all links, with scipy's rotations."""
    poses = [root]
    joints = model.joints
    for j in range(len(joints)):
        value = np.asarray(q)[..., j, None]
        step = np.zeros((*np.shape(root)[:-2], 4, 4))
        step[...] = np.eye(4)
        step[..., :3, 3] = joints.offset[j]
        if joints.is_slide[j]:
            step[..., :3, 3] += joints.axis[j] * value
        else:
            step[..., :3, :3] = Rotation.from_rotvec(joints.axis[j] * value).as_matrix()
        poses.append(poses[joints.parent[j]] @ step)
    return np.stack(poses, axis=-3)


def random_root(
    rng: np.random.Generator, shape: tuple[int, ...] = ()
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Poses as 4x4 matrices, and the same as positions and wxyz."""
    position, xyzw = rng.normal(size=(*shape, 3)), rng.normal(size=(*shape, 4))
    xyzw /= np.linalg.norm(xyzw, axis=-1, keepdims=True)
    pose = np.zeros((*shape, 4, 4))
    pose[..., :3, :3] = Rotation.from_quat(xyzw).as_matrix()
    pose[..., :3, 3] = position
    pose[..., 3, 3] = 1.0
    return pose, position, xyzw[..., [3, 0, 1, 2]]


class ExportedHand:
    """The compiled export of a hand, posed from the model's own joint values."""

    def __init__(self, model: HandModel, text: str) -> None:
        self.mj = mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.mj)
        self.address = np.array([self.mj.joint(name).qposadr[0] for name in model.joints.names])
        self.dof = np.array([self.mj.joint(name).dofadr[0] for name in model.joints.names])

    def pose(self, q: np.ndarray, position: np.ndarray, wxyz: np.ndarray) -> mujoco.MjData:
        if self.mj.nq > len(self.address):
            self.data.qpos[:3] = position
            self.data.qpos[3:7] = wxyz
        else:
            # A fixed root is moved by moving where it is fixed.
            self.mj.body_pos[1] = position
            self.mj.body_quat[1] = wxyz
        self.data.qpos[self.address] = q
        mujoco.mj_kinematics(self.mj, self.data)
        mujoco.mj_comPos(self.mj, self.data)
        return self.data
