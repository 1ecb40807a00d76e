"""Bodies with distances in closed form, hands closed around them, and what a network would say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from handwright.core.hand import HandModel
from handwright.geometry.distance.sdf import Field, make_field
from handwright.hands import human
from handwright.hands.mirror import mirror
from handwright.kinematics import close_around, posed_capsules
from handwright.kinematics.fk import frame_poses
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.neural.fitting import BodyView, body_view
from handwright.methods.neural.sensing.features import pose_of
from handwright.methods.neural.sensing.joints import JOINTS


def _ball(points):
    return np.linalg.norm(points, axis=-1) - 0.035


def _rod(points):
    """Along y, 16 cm long."""
    across = np.hypot(points[..., 0], points[..., 2]) - 0.028
    beyond = np.abs(points[..., 1]) - 0.08
    outside = np.hypot(np.maximum(across, 0.0), np.maximum(beyond, 0.0))
    return outside + np.minimum(np.maximum(across, beyond), 0.0)


def _box(points):
    over = np.abs(points) - np.array([0.03, 0.06, 0.025])
    return np.linalg.norm(np.maximum(over, 0.0), axis=-1) + np.minimum(over.max(axis=-1), 0.0)


DISTANCES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "ball": _ball, "rod": _rod, "box": _box,
}  # fmt: skip


_HEIGHTS = {"ball": 0.053, "rod": 0.048, "box": 0.054}


@dataclass(frozen=True)
class Held:
    """A hand that touches a body at the origin without entering it."""

    model: HandModel
    distance: Callable[[np.ndarray], np.ndarray]
    field: Field
    wrist: Pose
    q: np.ndarray

    def view(self, count: int | None = None) -> BodyView:
        """The body from the wrist, once or for a batch."""
        turn = rotation.to_matrix(self.wrist.wxyz)
        if count is None:
            return body_view(self.field, turn, self.wrist.position)
        return body_view(
            self.field, np.tile(turn, (count, 1, 1)), np.tile(self.wrist.position, (count, 1))
        )

    def joint_distances(self, q: np.ndarray) -> np.ndarray:
        """Of the 22 joints, clamped as a network is taught them, m."""
        rows = [self.model.frames.index(name) for name in JOINTS]
        places = frame_poses(self.model, q, self.wrist).position[..., rows, :]
        return np.clip(self.distance(places), 0.0, 0.035)

    def output(self, pose: np.ndarray, meant: np.ndarray) -> np.ndarray:
        """What a network gives that poses the hand so, but means to be as far as that."""
        given = np.atleast_2d(pose)
        numbers = np.concatenate(
            [pose_of(self.model, given), np.atleast_2d(self.joint_distances(meant))], axis=1
        )
        return numbers.astype(np.float64).reshape(*pose.shape[:-1], -1)

    def gaps(self, q: np.ndarray) -> np.ndarray:
        """Of all capsules, by samples of their axes, m."""
        capsules = posed_capsules(self.model, q, self.wrist)
        share = np.linspace(0.0, 1.0, 101)[:, None, None]
        axis = capsules.start + share * (capsules.end - capsules.start)
        return self.distance(axis).min(axis=0) - capsules.radius

    def digit_gaps(self, q: np.ndarray, digit: int) -> np.ndarray:
        """Of the capsules that are moved by a digit, m."""
        return self.gaps(q)[self.model.capsules.digit == digit]


@lru_cache(maxsize=8)
def held(shape: str, side: str = "right") -> Held:
    """A hand of one side closed around a body; the left one is the image of the right one."""
    model, distance = human(), DISTANCES[shape]
    nodes = np.stack(np.meshgrid(*[np.linspace(-0.1, 0.1, 161)] * 3, indexing="ij"), axis=-1)
    field = make_field(distance(nodes), np.full(3, -0.1), 0.00125, 0.02)
    wrist = Pose(np.array([-0.092, 0.0, _HEIGHTS[shape]]), np.array([1.0, 0.0, 0.0, 0.0]))
    q = close_around(model, field, root=wrist).q
    # All three bodies are their own mirror images in y.
    return Held(model if side == "right" else mirror(model), distance, field, wrist, q)


def bent(model: HandModel, q: np.ndarray, angle: float, digits: tuple[str, ...]) -> np.ndarray:
    """The posture with the flexion joints of some digits bent further, rad."""
    bends = np.zeros(model.num_joints)
    for joint, name in enumerate(model.joints.names):
        if name.startswith(digits) and ("mcp_flexion" in name or "ip_flexion" in name):
            bends[joint] = angle
    return model.joints.clamp(q + bends)
