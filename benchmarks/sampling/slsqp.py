"""Digits bent to guiding points by SLSQP; inequalities keep skin out of a body, digits apart."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.optimize import minimize

from handwright.core.hand import HandModel
from handwright.geometry.distance.capsules import capsule_pairs
from handwright.geometry.distance.sdf import Field, sample_field
from handwright.kinematics import link_poses, point_jacobians, posed_capsules
from handwright.kinematics.ik.digit_table import digit_pairs
from handwright.kinematics.skin.samples import SkinSamples
from handwright.math import rotation
from handwright.math.pose import Pose

# Millimetres rather than metres: SLSQP stops by absolute changes of its objective.
_UNIT = 1e3
_POSTURE = 3e-6
_ENOUGH = 1e-6
_MAX_ITERATIONS = 100
# Capsules whose skin is farther from the body than this are left out, m.
_NEAR = 0.03
_NEAR_DIGIT = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class DigitProblem:
    """Guiding points of a frame, in the body's frame."""

    model: HandModel
    root_rotation: Float[np.ndarray, "3 3"]
    root_position: Float[np.ndarray, "3"]
    digit: Int[np.ndarray, " D"]
    """Numbers of the digits that have one."""
    link: Int[np.ndarray, " D"]
    """That the guiding points are fixed to."""
    local: Float[np.ndarray, "D 3"]
    """On these links, m."""
    target: Float[np.ndarray, "D 3"]
    """m."""
    is_held: Bool[np.ndarray, " D"]
    """Whether the target must be met; else it is only a hint."""
    start: Float[np.ndarray, " J"]
    reference: Float[np.ndarray, " J"]
    """Posture that is preferred a little, rad."""
    low: Float[np.ndarray, " J"]
    high: Float[np.ndarray, " J"]
    field: Field
    """Distances from the body."""
    samples: SkinSamples
    max_samples: int
    """Skin points of a capsule that are looked at."""
    margin: float
    """Least distance of the skin from the body, m."""
    digit_margin: float
    """Least gap between digits, m."""

    @property
    def root(self) -> Pose:
        """Of the hand in the body's frame."""
        return Pose(self.root_position, rotation.from_matrix(self.root_rotation))

    def misses(self, q: Float[np.ndarray, " J"]) -> Float[np.ndarray, " H"]:
        """Distances of the held guiding points from their targets, m."""
        place = point_jacobians(self.model, q, self.link, self.local, self.root)[0]
        return np.linalg.norm(place - self.target, axis=1)[self.is_held]


class _Skin:
    """Least distance of the skin over each near capsule, and its derivative."""

    def __init__(self, problem: DigitProblem) -> None:
        first = problem.samples.first
        self.problem, self.root = problem, problem.root
        rows = [np.arange(a, min(b, a + problem.max_samples)) for a, b in itertools.pairwise(first)]
        distance = self._distances(problem.start, np.concatenate(rows))[0]
        ends = np.cumsum([0, *(len(row) for row in rows)])
        near = [
            row
            for row, a, b in zip(rows, ends[:-1], ends[1:], strict=True)
            if b > a and distance[a:b].min() < _NEAR
        ]
        self.rows = np.concatenate([np.zeros(0, dtype=np.int64), *near])
        self.ends = np.cumsum([0, *(len(row) for row in near)])

    def _distances(self, q: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        samples = self.problem.samples
        turns, places = link_poses(self.problem.model, q, self.root)
        link = np.maximum(samples.link[rows], 0)
        at = np.einsum("skij,skj->ski", turns[link], samples.local[rows]) + places[link]
        return sample_field(self.problem.field, np.einsum("sk,ski->si", samples.weight[rows], at))

    def _nearest(self, distance: np.ndarray) -> np.ndarray:
        pairs = itertools.pairwise(self.ends)
        return np.array([a + distance[a:b].argmin() for a, b in pairs], dtype=np.int64)

    def values(self, q: np.ndarray) -> np.ndarray:
        """(C,) least distances over the margin, mm."""
        distance, _ = self._distances(q, self.rows)
        return np.asarray(_UNIT * (distance[self._nearest(distance)] - self.problem.margin))

    def derivative(self, q: np.ndarray) -> np.ndarray:
        """(C, J) how these change with the joints."""
        distance, gradient = self._distances(q, self.rows)
        chosen = self._nearest(distance)
        samples, rows = self.problem.samples, self.rows[chosen]
        link, weight = np.maximum(samples.link[rows], 0), samples.weight[rows]
        _, linear, _ = point_jacobians(
            self.problem.model, q, link.ravel(), samples.local[rows].reshape(-1, 3), self.root
        )
        linear = linear.reshape(*link.shape, 3, linear.shape[-1])
        return np.asarray(_UNIT * np.einsum("sk,si,skij->sj", weight, gradient[chosen], linear))


class _Digits:
    """Gaps between capsules of different digits that are near each other, and their derivative."""

    def __init__(self, problem: DigitProblem) -> None:
        self.problem, self.root = problem, problem.root
        self.pairs = digit_pairs(problem.model)
        gaps, _, _ = self._gaps(problem.start)
        self.pairs = self.pairs[gaps < _NEAR_DIGIT]

    def _gaps(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Gaps, m; and both nearest points of the axes, (P, 2, 3)."""
        model = self.problem.model
        posed = posed_capsules(model, q, self.root)
        gaps, share = np.zeros(len(self.pairs)), np.zeros((len(self.pairs), 2))
        radii = np.repeat(posed.radius[:, None], 2, axis=1)
        capsule_pairs(posed.start, posed.end, radii, self.pairs, gaps, share)
        start, end = posed.start[self.pairs], posed.end[self.pairs]
        return gaps, start + share[..., None] * (end - start), share

    def values(self, q: np.ndarray) -> np.ndarray:
        """(P,) gaps over the margin, mm."""
        return _UNIT * (self._gaps(q)[0] - self.problem.digit_margin)

    def derivative(self, q: np.ndarray) -> np.ndarray:
        """(P, J) how these change with the joints."""
        _, point, share = self._gaps(q)
        capsules = self.problem.model.capsules
        start, end = capsules.start[self.pairs], capsules.end[self.pairs]
        local = start + share[..., None] * (end - start)
        _, linear, _ = point_jacobians(
            self.problem.model,
            q,
            capsules.link[self.pairs].ravel(),
            local.reshape(-1, 3),
            self.root,
        )
        linear = linear.reshape(-1, 2, 3, linear.shape[-1])
        apart = point[:, 1] - point[:, 0]
        apart = apart / np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), 1e-12)
        return np.asarray(_UNIT * np.einsum("pi,pij->pj", apart, linear[:, 1] - linear[:, 0]))


def bend_by_slsqp(problem: DigitProblem) -> Float[np.ndarray, " J"]:
    """Joint values that bring the guiding points to their targets, within the limits, rad."""
    joints = problem.model.joints
    free = np.flatnonzero(joints.leader < 0)
    column = {int(joint): k for k, joint in enumerate(free)}
    spread = np.zeros((len(joints.leader), len(free)))
    constant = np.zeros(len(joints.leader))
    for j, leader in enumerate(joints.leader):
        follows = leader >= 0
        spread[j, column[int(leader) if follows else j]] = joints.ratio[j] if follows else 1.0
        constant[j] = joints.bias[j] if follows else 0.0
    skin, digits, root = _Skin(problem), _Digits(problem), problem.root

    def cost(x: np.ndarray) -> tuple[float, np.ndarray]:
        q = spread @ x + constant
        place, linear, _ = point_jacobians(problem.model, q, problem.link, problem.local, root)
        miss, bend = place - problem.target, q - problem.reference
        value = np.sum(miss**2) + _POSTURE * np.sum(bend**2)
        slope = 2.0 * np.einsum("di,dij->j", miss, linear) + 2.0 * _POSTURE * bend
        return float(_UNIT**2 * value), _UNIT**2 * slope @ spread

    answer = minimize(
        cost,
        problem.start[free],
        jac=True,
        method="SLSQP",
        bounds=list(zip(problem.low[free], problem.high[free], strict=True)),
        constraints=[
            {
                "type": "ineq",
                "fun": lambda x, part=part: part.values(spread @ x + constant),
                "jac": lambda x, part=part: part.derivative(spread @ x + constant) @ spread,
            }
            for part in (skin, digits)
        ],
        options={"maxiter": _MAX_ITERATIONS, "ftol": _ENOUGH},
    )
    return np.asarray(spread @ answer.x + constant)
