"""The skin of the hand that was recorded: linear blending on the recorded skeleton.

The recorded skeleton ends at the last joint of each digit; where the fingertips are, and with
that which way the last phalanges point, only the skin tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from handwright.core.frozen import freeze_arrays
from handwright.core.hand import Side
from handwright.errors import FileFormatError
from handwright.hands.names import joint_names
from handwright.io.manipnet.arrays import check_shape, load_arrays

_CHUNK = 64


@dataclass(frozen=True, slots=True, eq=False)
class RecordedSkin:
    """A skin over the joints of the recorded skeleton."""

    side: Side
    joints: tuple[str, ...]
    """Names in the data set."""
    vertices: Float[np.ndarray, "V 3"]
    """In the bind pose, m."""
    faces: Int[np.ndarray, "F 3"]
    weights: Float[np.ndarray, "V N"]
    """Share of each joint in each vertex; rows sum to one."""
    inverse_bind: Float[np.ndarray, "N 4 4"]
    """From the bind pose to the frame of each joint."""

    def __post_init__(self) -> None:
        freeze_arrays(self)

    def posed(
        self, rotations: Float[np.ndarray, "T N 3 3"], positions: Float[np.ndarray, "T N 3"]
    ) -> Float[np.ndarray, "T V 3"]:
        """Vertices in the world.

        Args:
            rotations: Orientations of the joints.
            positions: Their positions, m.
        """
        linear, offset = self.inverse_bind[:, :3, :3], self.inverse_bind[:, :3, 3]
        out = np.zeros((len(rotations), len(self.vertices), 3))
        for first in range(0, len(rotations), _CHUNK):
            part = slice(first, first + _CHUNK)
            turn = np.einsum("tnij,njk->tnik", rotations[part], linear)
            shift = np.einsum("tnij,nj->tni", rotations[part], offset) + positions[part]
            blended = np.einsum("vn,tnik->tvik", self.weights, turn, optimize=True)
            out[part] = np.einsum("tvik,vk->tvi", blended, self.vertices)
            out[part] += np.einsum("vn,tni->tvi", self.weights, shift, optimize=True)
        return out

    def fingertips(self) -> dict[str, tuple[int, Float[np.ndarray, "3"]]]:
        """For each digit its last joint, and the fingertip in that joint's frame, m.

        The tip is the vertex farthest from the joint among those that follow it most.
        """
        tips = {}
        main = self.weights.argmax(axis=1)
        names = joint_names("manipnet", self.side)
        for name, theirs in names.items():
            if not name.endswith("_distal"):
                continue
            joint = self.joints.index(theirs)
            bind = self.inverse_bind[joint]
            local = self.vertices[main == joint] @ bind[:3, :3].T + bind[:3, 3]
            farthest = int(np.linalg.norm(local, axis=1).argmax())
            tips[name.removesuffix("_distal")] = (joint, local[farthest])
        return tips


def read_skin(path: str | Path, side: Side) -> RecordedSkin:
    """Reads the skin of a recorded hand.

    Args:
        path: ``hand_skin_right.npz`` or ``hand_skin_left.npz`` of the data set.
        side: Whose it is.
    """
    path = Path(path)
    arrays = load_arrays(
        path,
        ["vertices", "faces", "weights", "inv_bind", "joint_names"],
        kind="the skin of a ManipNet hand",
    )
    joints = tuple(str(name) for name in np.atleast_1d(arrays["joint_names"]))
    vertices = check_shape(path, arrays, "vertices", (None, 3))
    faces = check_shape(path, arrays, "faces", (None, 3))
    weights = check_shape(path, arrays, "weights", (len(vertices), len(joints)))
    bind = check_shape(path, arrays, "inv_bind", (len(joints), 4, 4))
    problems = []
    if faces.dtype.kind != "i" or faces.size == 0:
        problems.append("faces are not vertex numbers")
    elif faces.min() < 0 or faces.max() >= len(vertices):
        problems.append(f"faces point to vertices {faces.min()} to {faces.max()}")
    if weights.min() < -1e-6 or np.any(np.abs(weights.sum(axis=1) - 1.0) > 1e-3):
        problems.append("the weights of a vertex are negative or do not sum to 1")
    main = set(weights.argmax(axis=1).tolist())
    for name, theirs in joint_names("manipnet", side).items():
        if theirs not in joints:
            problems.append(f"joint {theirs} is missing")
        elif name.endswith("_distal") and joints.index(theirs) not in main:
            problems.append(f"no vertex follows joint {theirs}")
    if problems:
        raise FileFormatError(f"{path}: " + "; ".join(problems) + ".")
    return RecordedSkin(
        side, joints, vertices, faces, weights / weights.sum(axis=1, keepdims=True), bind
    )
