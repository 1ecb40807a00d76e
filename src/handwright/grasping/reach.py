"""Reaching for a grasp: the hand opens around a virtual body that grows and comes closer.

From the grasp outwards, contact points are those of a body whose surface has moved out along its
normals and which has come towards the hand; each posture is solved near the one before it. Played
backwards the hand closes onto the body without touching it early. A blend from where the hand is
leads to the first of these postures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float
from scipy.interpolate import PchipInterpolator

from handwright.core.body import RigidBody
from handwright.core.frozen import freeze_arrays
from handwright.core.hand import HandModel
from handwright.core.surface import Surface
from handwright.errors import InvalidValueError
from handwright.geometry.distance.environment import pack_environment
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.grasping.descent import descend
from handwright.grasping.grasp import DEPTH, Grasp
from handwright.grasping.posture_cost import joint_stiffness, posture_matrix, separation_pairs
from handwright.grasping.residuals import (
    GraspProblem,
    GraspWeights,
    deepest,
)
from handwright.grasping.search import gridded_distances
from handwright.grasping.skin import fixed_points, skin_points
from handwright.grasping.start_poses import style_posture
from handwright.kinematics import PointGoals, RotationGoals, link_poses, solve_frames
from handwright.kinematics.fk import one_pose
from handwright.kinematics.obstacles import seen_from
from handwright.math import rotation
from handwright.math.pose import Pose

_COARSE = 0.005
# Steps in which the hand opens, and as many in which it goes back.
_STEPS = 6
# The largest virtual body: this many times the true one, and with at least this much room, m.
_GROWN, _ROOM = 1.6, 0.02
# How far it comes towards the hand, m.
_CLOSER = 0.07
# Points of the wrist that say where it is, m.
_MARKS = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]])
# Distance that the hand keeps from things on its way, m.
_MARGIN = 0.002
# Heights of a detour, m, which are tried one after the other.
_DETOURS = (0.0, 0.06, 0.12, 0.2)
_PARTS = np.linspace(0.0, 1.0, 80)
# Keys that are added at most, and how far they stay away from things, m.
_REPAIRS, _REPAIR_MARGIN = 4, 5e-4


@dataclass(frozen=True, slots=True, eq=False)
class ReachPath:
    """Postures from where a hand is to its grasp."""

    share: Float[np.ndarray, " K"]
    """Share of the way, from 0 at the start to 1 at the grasp; even in distance."""
    q: Float[np.ndarray, "K J"]
    root: Pose
    """(K,) in the world."""
    depth: float
    """Depth of the deepest skin in the body or the environment on the way, m."""

    def __post_init__(self) -> None:
        freeze_arrays(self)

    def at(self, share: float) -> tuple[Float[np.ndarray, " J"], Pose]:
        """Joint values, rad, and the root's pose at a share of the way."""
        found = _curve(self)(float(np.clip(share, 0.0, 1.0)))
        wxyz = rotation.multiply(rotation.exp(found[-3:]), self.root.wxyz[-1])
        return found[:-6], Pose(found[-6:-3], wxyz)


@lru_cache(maxsize=16)
def _curve(path: ReachPath) -> PchipInterpolator:
    """Joint values, place and turn over the share; monotone, an overshoot could go into things."""
    last = rotation.conjugate(path.root.wxyz[-1])
    turn = rotation.log(rotation.multiply(path.root.wxyz, last))
    both = np.concatenate([path.q, path.root.position, turn], axis=1)
    return PchipInterpolator(path.share, both)


@dataclass(frozen=True, slots=True)
class NoReach:
    """Why a hand does not come to its grasp."""

    reason: str


def reach_path(
    model: HandModel,
    grasp: Grasp,
    body: RigidBody,
    pose: Pose,
    start_q: Float[np.ndarray, " J"],
    *,
    start_root: Pose | None = None,
    environment: Sequence[Surface] = (),
) -> ReachPath | NoReach:
    """A way from a posture to a grasp that stays out of the body and the environment.

    Args:
        model: The hand.
        grasp: Where it should come to.
        body: What is grasped.
        pose: Pose of the body in the world, as it was for the grasp.
        start_q: Joint values to start from, rad.
        start_root: Root of the hand in the world; the grasp's by default, and always with an arm.
        environment: What the hand keeps out of, beside the body.
    """
    start_q = one_pose(model, start_q)
    has_arm = model.wrist_link != 0
    if has_arm and start_root is not None and not _same(start_root, grasp.root):
        raise InvalidValueError(
            "reach_path: start_root differs from the grasp's root, but the shoulder of a hand with "
            "an arm stays where it is; leave start_root out."
        )
    way = _Way(model, grasp, body, pose, tuple(environment))
    start = pose.inverse() @ (grasp.root if start_root is None else start_root)
    depth = deepest(way.fine, start_q, start)
    if depth > DEPTH:
        return NoReach(
            f"Hand '{model.name}' starts {1e3 * depth:.1f} mm inside {body.name} or the "
            "environment. Start from another posture."
        )
    opened = way.opened()
    least = np.inf
    for height in _DETOURS:
        keys = [(start_q, start), *way.detour(start_q, start, opened[-1], height), *opened[::-1]]
        path = way.repaired(keys)
        if path.depth <= DEPTH:
            return path
        least = min(least, path.depth)
    return NoReach(
        f"Hand '{model.name}' does not come to its grip on {body.name} without going "
        f"{1e3 * least:.1f} mm into it or the environment. Start from farther away."
    )


Key = tuple[np.ndarray, Pose]


class _Way:
    """The search for a path, in the frame of the body."""

    def __init__(
        self,
        model: HandModel,
        grasp: Grasp,
        body: RigidBody,
        pose: Pose,
        environment: tuple[Surface, ...],
    ) -> None:
        self.model, self.grasp, self.pose = model, grasp, pose
        distances = gridded_distances(signed_distance_field(body))
        pairs, slack = separation_pairs(model)
        obstacles = seen_from(pack_environment(environment), pose)
        posture = posture_matrix(model, joint_stiffness(model))

        def problem(spacing: float) -> GraspProblem:
            return GraspProblem(
                model, skin_points(model, spacing), [], distances, obstacles, pairs, slack,
                grasp.q, posture, model.wrist_link == 0,
            )  # fmt: skip

        self.coarse, self.fine = problem(_COARSE), problem(0.0)

    def opened(self) -> list[Key]:
        """Postures around the growing virtual body, from the grasp outwards."""
        grasp, problem = self.grasp, self.coarse
        q, root = np.array(grasp.q), self.pose.inverse() @ grasp.root
        contacts = grasp.contacts
        held = fixed_points(
            np.array([c.link for c in contacts]), np.array([c.hand_point for c in contacts])
        )
        on = np.array([c.body_point for c in contacts])
        outward = -np.array([c.inward for c in contacts])
        middle = on.mean(axis=0)
        size = float(np.linalg.norm(on - middle, axis=1).mean())
        away = self._retreat(middle, root)
        room = max((_GROWN - 1.0) * size, _ROOM)
        wide = style_posture(self.model, grasp.style, 1.0)
        digits = np.arange(self.model.num_joints) >= self.model.wrist_link
        keys: list[Key] = [(q, root)]
        for k in range(1, 2 * _STEPS + 1):
            if k == _STEPS + 1:
                # Wide open: now the hand goes back as it is, away from the body.
                turns, places = link_poses(self.model, q, root)
                wrist = self.model.wrist_link
                held = fixed_points(np.full(4, wrist), _MARKS)
                on, outward = places[wrist] + _MARKS @ turns[wrist].T, np.tile(away, (4, 1))
                room = _CLOSER
            share = (k - 1) % _STEPS + 1
            problem.goals = (held, on + share / _STEPS * room * outward)
            problem.target = np.where(digits, q + 0.3 * (wide - q), q)
            weights = GraspWeights(
                goal=0.3,
                posture=6.0,
                depth=4.0,
                digits=4.0,
                margin=_MARGIN * min(0.4 + 0.2 * k, 1.0),
            )
            state = descend(problem, q, root, weights, iterations=12)
            q, root = state.q, state.root
            keys.append((q, root))
        return keys

    def _retreat(self, middle: np.ndarray, root: Pose) -> np.ndarray:
        """Unit direction in which a hand leaves its grasp."""
        turns, places = link_poses(self.model, self.grasp.q, root)
        wrist = self.model.wrist_link
        back = places[wrist] - middle
        back = back / np.linalg.norm(back)
        if self.grasp.style.wraps:
            # Fingers that go around a body clear it best where the palm faces it.
            way = turns[wrist][:, 2] + 0.3 * back
        else:
            way = 0.5 * back - np.mean([contact.inward for contact in self.grasp.contacts], axis=0)
        return np.asarray(way / max(float(np.linalg.norm(way)), 1e-9))

    def detour(self, q: np.ndarray, root: Pose, goal: Key, height: float) -> list[Key]:
        """A key half way, higher by so much; none for height zero."""
        if height == 0.0:
            return []
        up = self.pose.inverse().rotate(np.array([0.0, 0.0, height]))
        middle = root.interpolate(goal[1], 0.5)
        half = 0.5 * (q + goal[0])
        if self.model.wrist_link == 0:
            return [(half, Pose(middle.position + up, middle.wxyz))]
        turns, places = link_poses(self.model, half, root)
        link = np.array([self.model.wrist_link])
        target = places[link] + up
        solved = solve_frames(
            self.model,
            half,
            points=PointGoals(link, np.zeros((1, 3)), target, np.ones(1)),
            rotations=RotationGoals(link, rotation.from_matrix(turns[link]), np.full(1, 0.1)),
            root=root,
            joints=self.model.joints.names[: self.model.wrist_link],
        )
        return [(solved.q, root)]

    def through(self, keys: list[Key]) -> tuple[ReachPath, Float[np.ndarray, " P"]]:
        """The path through some keys, and its depths by every point of the skin, m."""
        q = np.array([key[0] for key in keys])
        root = Pose.stack([key[1] for key in keys])
        _, places = link_poses(self.model, q, root)
        tips = np.array([digit.tip.link for digit in self.model.digits])
        marks = places[:, [self.model.wrist_link, *tips]]
        step = np.linalg.norm(np.diff(marks, axis=0), axis=-1).mean(axis=1)
        share = np.append(0.0, np.cumsum(np.maximum(step, 1e-4)))
        share = share / share[-1]
        path = ReachPath(share, q, root, 0.0)
        depths = [deepest(self.fine, *path.at(part)) for part in _PARTS]
        return ReachPath(share, q, root, max(depths)), np.array(depths)

    def repaired(self, keys: list[Key]) -> ReachPath:
        """A path through keys and through more of them where it would go into anything."""
        path, depths = self.through(keys)
        for _ in range(_REPAIRS):
            if path.depth <= DEPTH:
                break
            worst = float(_PARTS[int(depths.argmax())])
            q, root = path.at(worst)
            problem = self.coarse
            problem.goals, problem.target = None, q
            weights = GraspWeights(posture=3.0, depth=10.0, digits=4.0, margin=_REPAIR_MARGIN)
            state = descend(problem, q, root, weights, iterations=10)
            place = int(np.searchsorted(path.share, worst))
            keys = [*keys[:place], (state.q, state.root), *keys[place:]]
            path, depths = self.through(keys)
        return ReachPath(path.share, path.q, self.pose @ path.root, path.depth)


def _same(a: Pose, b: Pose) -> bool:
    return bool(np.allclose(a.matrix(), b.matrix(), rtol=0.0, atol=1e-9))
