"""Forward kinematics written a second time, in the plainest way, to check everything against."""

from __future__ import annotations

from pathlib import Path

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


def load_as_written(path: Path) -> mujoco.MjModel:
    spec = mujoco.MjSpec.from_file(str(path))
    spec.compiler.fusestatic = False
    return spec.compile()


def check_against_file(hand, path, base, prefix, root_turn, num_poses):
    """All bodies of the file and of the model coincide in random poses, frame for frame.

    ``root_turn`` is the model's root orientation in the base body's frame at the zero pose.
    """
    mj = load_as_written(path)
    data = mujoco.MjData(mj)
    address = [mj.joint(prefix + name).qposadr[0] for name in hand.joints.names]
    frames = [name for name in hand.frames.names if name != "wrist"]
    rows = [hand.frames.index(name) for name in frames]
    body = [mj.body(prefix + name).id for name in frames]
    local = Rotation.from_quat(hand.frames.wxyz[rows][:, [1, 2, 3, 0]]).as_matrix()
    rng = np.random.default_rng(4)
    q = hand.joints.random(rng, (num_poses,))
    # The base stays where it is, so one root pose serves all joint values.
    mujoco.mj_kinematics(mj, data)
    root = np.tile(np.eye(4), (num_poses, 1, 1))
    root[:, :3, :3] = data.body(base).xmat.reshape(3, 3) @ root_turn
    root[:, :3, 3] = data.body(base).xpos
    links = oracle_link_poses(hand, q, root)[:, hand.frames.link[rows]]
    place = links[..., :3, 3] + np.einsum(
        "bnij,nj->bni", links[..., :3, :3], hand.frames.position[rows]
    )
    turn = links[..., :3, :3] @ local
    worst = 0.0
    for k in range(num_poses):
        data.qpos[address] = q[k]
        mujoco.mj_kinematics(mj, data)
        worst = max(
            worst,
            np.abs(data.xpos[body] - place[k]).max(),
            np.abs(data.xmat[body].reshape(-1, 3, 3) - turn[k]).max(),
        )
    assert worst < 1e-9


# Axes of the model's root in the palm body's frame: x distal, y to the thumb, z dorsal.
SHADOW_TURN = np.column_stack([[0, 0, 1.0], [1.0, 0, 0], [0, 1.0, 0]])
