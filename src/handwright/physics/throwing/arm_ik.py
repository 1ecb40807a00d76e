"""Joint values of an arm whose palm follows a path: damped least squares, (3.2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.kernels.decorators import compiled
from handwright.kinematics.tree import Links, Tree, empty_links, forward, placed, point_jacobian
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.physics.throwing.arm import ARM_JOINTS, Arm
from handwright.physics.throwing.segments import PalmPath


class IkSettings(NamedTuple):
    """How joints are found."""

    damping: float = 3e-5
    """lambda^2 of (3.2), m^2."""
    turn_weight: float = 0.1
    """By how many metres an error of one radian counts."""
    posture_pull: float = 0.02
    """Share of the way to the preferred posture, where the palm leaves a choice, that is gone in
    each iteration."""
    iterations: int = 2
    """For each sample of a path."""
    largest_step: float = 0.05
    """Of a joint in an iteration, rad."""


USUAL_IK = IkSettings()
"""As good as any in reach."""
PREFERRED = np.radians([-72.0, 8.0, 0.0, 80.0, -70.0, 5.0, 0.0])
"""Posture that is kept to where the palm leaves a choice: elbow at the side, palm up, rad."""


class ArmChain:
    """The seven joints from shoulder to wrist, with the palm's hollow at their end."""

    def __init__(self, arm: Arm) -> None:
        self.arm, joints = arm, arm.model.joints
        count = len(ARM_JOINTS)
        assert joints.names[:count] == ARM_JOINTS
        self.tree = Tree(
            joints.parent[:count].astype(np.int64),
            joints.offset[:count].astype(np.float64),
            joints.axis[:count].astype(np.float64),
            joints.is_slide[:count].astype(np.bool_),
        )
        self.lower, self.upper = joints.lower[:count].copy(), joints.upper[:count].copy()
        self.links = empty_links(count)
        self.links.rotation[0] = rotation.to_matrix(arm.base.wxyz)
        self.links.position[0] = arm.base.position
        self.hollow = arm.hollow

    def palm(self, q: Float[np.ndarray, " 7"]) -> Pose:
        """Where the hollow of the palm is, oriented as the wrist is."""
        forward(self.tree, q, self.links)
        point = placed(self.links, len(q), *self.hollow)
        return Pose(np.array(point), rotation.from_matrix(self.links.rotation[len(q)].copy()))

    def reach(
        self, pose: Pose, iterations: int, settings: IkSettings = USUAL_IK
    ) -> tuple[Float[np.ndarray, " 7"], float]:
        """Joint values that bring the palm to a pose, and how far the hollow is from it, m.

        Args:
            pose: Of the hollow, oriented as the wrist is.
            iterations: As many samples of a path that stays there.
            settings: How joints are found.
        """
        still = PalmPath(
            np.tile(pose.position, (iterations, 1)), np.tile(pose.wxyz, (iterations, 1))
        )
        found, error = self.follow(PREFERRED, still, settings)
        return found[-1], float(error[-1])

    def follow(
        self,
        q: Float[np.ndarray, " 7"],
        path: PalmPath,
        settings: IkSettings = USUAL_IK,
        preferred: Float[np.ndarray, " 7"] = PREFERRED,
    ) -> tuple[Float[np.ndarray, "S 7"], Float[np.ndarray, " S"]]:
        """Joint values along a path and how far the hollow is from it, m.

        Args:
            q: Joint values to start from, rad.
            path: Of the hollow, with the orientation of the wrist.
            settings: How joints are found.
            preferred: Posture that is kept to where the palm leaves a choice, rad.
        """
        found = np.zeros((len(path.position), len(q)))
        error = np.zeros(len(path.position))
        _follow(
            self.tree,
            self.links,
            self.hollow,
            self.lower,
            self.upper,
            np.ascontiguousarray(q, dtype=np.float64),
            path.position,
            rotation.to_matrix(path.wxyz),
            preferred,
            np.array(settings, dtype=np.float64),
            found,
            error,
        )
        return found, error


@compiled
def _follow(
    tree: Tree,
    links: Links,
    hollow: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    start: np.ndarray,
    position: np.ndarray,
    matrix: np.ndarray,
    preferred: np.ndarray,
    settings: np.ndarray,
    found: np.ndarray,
    error: np.ndarray,
) -> None:
    damping, turn_weight, pull = settings[0], settings[1], settings[2]
    iterations, largest = int(settings[3]), settings[4]
    count = start.shape[0]
    q = start.copy()
    linear, angular = np.zeros((1, 3, count)), np.zeros((1, 3, count))
    jacobian, e = np.zeros((6, count)), np.zeros(6)
    for s in range(position.shape[0]):
        for _ in range(iterations):
            forward(tree, q, links)
            point = placed(links, count, hollow[0], hollow[1], hollow[2])
            point_jacobian(tree, links, count, point, 0, linear, angular)
            m = matrix[s] @ links.rotation[count].T
            for i in range(3):
                e[i] = position[s, i] - point[i]
            # For the small turns between samples the sine will do.
            e[3] = 0.5 * turn_weight * (m[2, 1] - m[1, 2])
            e[4] = 0.5 * turn_weight * (m[0, 2] - m[2, 0])
            e[5] = 0.5 * turn_weight * (m[1, 0] - m[0, 1])
            for i in range(3):
                for j in range(count):
                    jacobian[i, j] = linear[0, i, j]
                    jacobian[3 + i, j] = turn_weight * angular[0, i, j]
            square = jacobian @ jacobian.T
            for i in range(6):
                square[i, i] += damping
            wish = pull * (preferred - q)
            step = jacobian.T @ np.linalg.solve(square, e - jacobian @ wish) + wish
            scale = largest / max(largest, np.max(np.abs(step)))
            for j in range(count):
                q[j] = min(max(q[j] + scale * step[j], lower[j]), upper[j])
        forward(tree, q, links)
        point = placed(links, count, hollow[0], hollow[1], hollow[2])
        error[s] = np.sqrt(
            (position[s, 0] - point[0]) ** 2
            + (position[s, 1] - point[1]) ** 2
            + (position[s, 2] - point[2]) ** 2
        )
        found[s] = q
