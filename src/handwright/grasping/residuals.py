"""Equation (9) as residuals with a Jacobian: handles on the surface, nothing inside, a posture.

Everything is in the frame of the body. Lengths count in millimetres, angles in radians.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import HandModel
from handwright.geometry.distance.capsules import capsule_pairs
from handwright.geometry.distance.environment import EnvironmentArrays
from handwright.grasping.balance import Load, balance
from handwright.grasping.handles import SkinHandle
from handwright.grasping.skin import (
    SkinPoints,
    add_gradients,
    add_rotation_gradients,
    environment_distances,
    fixed_points,
    patch_nearest,
    place_points,
)
from handwright.kinematics.tree import Links, forward, links_for, tree_of
from handwright.math.one_turn import matrix_of
from handwright.math.pose import Pose

_MM = 1e3
_ROUND = 0.2
Distances = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(slots=True)
class GraspWeights:
    """Weights of the residuals, per millimetre or radian."""

    contact: float = 1.0
    facing: float = 2.0
    depth: float = 2.0
    digits: float = 2.0
    posture: float = 1.0
    wrist: float = 0.0
    balance: float = 0.0
    """Per weight."""
    goal: float = 0.0
    margin: float = 0.0
    """Distance from the body and the environment that is kept, m."""
    near: float = 6.0
    """Optional handles farther from the surface than this are drawn only weakly, mm."""


@dataclass(slots=True)
class GraspProblem:
    """What a grasp is solved against, in the frame of the body."""

    model: HandModel
    points: SkinPoints
    handles: list[SkinHandle]
    distances: Distances
    environment: EnvironmentArrays
    pairs: Int[np.ndarray, "M 2"]
    pair_slack: Float[np.ndarray, " M"]
    """Depth that is allowed to a pair of capsules, m."""
    target: Float[np.ndarray, " J"]
    """The preferred posture."""
    posture_matrix: Float[np.ndarray, "R J"]
    """What departures from the target cost; see ``posture_cost``."""
    is_root_free: bool
    wrist: Pose | None = None
    """Where the wrist should be; None if that does not count."""
    load: Load | None = None
    """What the contacts must bear."""
    goals: tuple[SkinPoints, Float[np.ndarray, "N 3"]] | None = None
    """Points of the hand, and where each should be, m."""
    links: Links = field(init=False)

    def __post_init__(self) -> None:
        self.links = links_for(self.model)


@dataclass(slots=True)
class GraspMeasures:
    """Distances of a posture."""

    place: Float[np.ndarray, "S 3"]
    gap: Float[np.ndarray, " S"]
    outward: Float[np.ndarray, "S 3"]
    contact: Int[np.ndarray, " H"]
    """Nearest skin point of every handle."""
    depth: float
    """Depth of the deepest skin point in the body, m."""
    ground_depth: float
    """Depth of the deepest skin point in the environment, m."""
    pair_depth: float
    """Depth of digits in each other, m."""


def pose_links(problem: GraspProblem, q: np.ndarray, root: Pose) -> None:
    """Forward kinematics in the frame of the body."""
    problem.links.rotation[0] = matrix_of(root.wxyz)
    problem.links.position[0] = root.position
    forward(tree_of(problem.model), q, problem.links)


def deepest(problem: GraspProblem, q: Float[np.ndarray, " J"], root: Pose) -> float:
    """Depth of the deepest point in the body or the environment, m; 0 if all are free."""
    pose_links(problem, q, root)
    place = np.zeros((len(problem.points.link), 3))
    place_points(problem.points, problem.links, place)
    least = float((problem.distances(place)[0] - problem.points.radius).min())
    if len(problem.environment.frictions):
        radius = problem.points.radius
        value, _ = environment_distances(problem.environment, place, radius.max())
        least = min(least, float((value - radius).min()))
    return max(-least, 0.0)


class Residuals:
    """Residuals and their Jacobian, added one after the other."""

    def __init__(self, num_joints: int) -> None:
        self.value: list[np.ndarray] = []
        self.jacobian: list[np.ndarray] = []
        self._width = num_joints + 6

    def add(self, value: np.ndarray, jacobian: np.ndarray) -> None:
        """Adds residuals (R,) with their Jacobian (R, J + 6)."""
        self.value.append(value)
        self.jacobian.append(jacobian)

    def blank(self, count: int) -> np.ndarray:
        """Zero rows of a Jacobian."""
        return np.zeros((count, self._width))

    def stacked(self) -> tuple[np.ndarray, np.ndarray]:
        """All of them."""
        return np.concatenate(self.value), np.concatenate(self.jacobian)


def grasp_residuals(
    problem: GraspProblem, q: np.ndarray, root: Pose, weights: GraspWeights
) -> tuple[np.ndarray, np.ndarray, GraspMeasures]:
    """Residuals, their Jacobian by joints and root, and what was measured on the way."""
    pose_links(problem, q, root)
    points, links = problem.points, problem.links
    place = np.zeros((len(points.link), 3))
    place_points(points, links, place)
    gap, outward = problem.distances(place)
    gap = gap - points.radius
    rows = Residuals(problem.model.num_joints)
    contact = np.array([h.rows[gap[h.rows].argmin()] for h in problem.handles], dtype=np.int64)
    if problem.handles:
        _add_contact(problem, rows, weights, gap, outward, contact)
    if problem.goals is not None:
        _add_point_goals(problem, rows, weights.goal, *problem.goals)
    if problem.load is not None and weights.balance > 0.0:
        on_surface = place[contact] - gap[contact][:, None] * outward[contact]
        share = _attraction(problem, _MM * gap[contact], weights.near)
        found = balance(problem.load, on_surface, outward[contact], share)
        _add_balance(problem, rows, weights.balance, contact, *found)
    depth = _add_depth(problem, rows, weights, gap, outward)
    ground_depth = 0.0
    if len(problem.environment.frictions):
        reach = weights.margin + points.radius.max()
        value, gradient = environment_distances(problem.environment, place, reach)
        ground_depth = _add_depth(problem, rows, weights, value - points.radius, gradient)
    pair_depth = _add_pairs(problem, rows, weights)
    _add_posture(problem, rows, weights, q)
    if problem.wrist is not None and weights.wrist > 0.0:
        _add_wrist(problem, rows, weights.wrist)
    value, jacobian = rows.stacked()
    return (
        value,
        jacobian,
        GraspMeasures(place, gap, outward, contact, depth, ground_depth, pair_depth),
    )


def _add_contact(
    problem: GraspProblem,
    rows: Residuals,
    weights: GraspWeights,
    gap: np.ndarray,
    outward: np.ndarray,
    contact: np.ndarray,
) -> None:
    count = len(contact)
    tree = tree_of(problem.model)
    off = _MM * gap[contact]
    pull = _attraction(problem, off, weights.near)
    weight = weights.contact
    jacobian = rows.blank(count)
    add_gradients(
        problem.points, contact, outward[contact], np.arange(count), tree, problem.links, jacobian
    )
    # The square of the residual levels off where a handle is far.
    rows.add(weight * np.sqrt(pull) * off, (_MM * weight * pull**1.5)[:, None] * jacobian)
    link = problem.model.capsules.link[[h.capsule for h in problem.handles]].astype(np.int64)
    local = np.array([h.normal for h in problem.handles])
    normal = np.einsum("nij,nj->ni", problem.links.rotation[link], local)
    jacobian = rows.blank(3 * count)
    add_rotation_gradients(link, normal, tree, problem.links, jacobian)
    error = normal + outward[contact]
    size = np.linalg.norm(error, axis=1)
    # Only what is more than a fifth of a radian off counts: pads are round.
    share = weights.facing * pull * np.maximum(size - _ROUND, 0.0) / np.maximum(size, 1e-9)
    rows.add((share[:, None] * error).ravel(), np.repeat(share, 3)[:, None] * jacobian)


def _add_point_goals(
    problem: GraspProblem, rows: Residuals, weight: float, points: SkinPoints, wanted: np.ndarray
) -> None:
    count = len(wanted)
    place = np.zeros((count, 3))
    place_points(points, problem.links, place)
    jacobian = rows.blank(3 * count)
    way = np.tile(np.eye(3), (count, 1))
    add_gradients(
        points, np.repeat(np.arange(count), 3), way, np.arange(3 * count),
        tree_of(problem.model), problem.links, jacobian,
    )  # fmt: skip
    rows.add(weight * _MM * (place - wanted).ravel(), weight * _MM * jacobian)


def _add_balance(
    problem: GraspProblem,
    rows: Residuals,
    weight: float,
    contact: np.ndarray,
    value: np.ndarray,
    by_point: np.ndarray,
) -> None:
    """Adds what forces leave over of the load; ``by_point`` is its Jacobian by the contacts."""
    jacobian = rows.blank(len(value))
    into = np.tile(np.arange(len(value)), len(contact))
    add_gradients(
        problem.points, np.repeat(contact, len(value)), by_point.reshape(-1, 3), into,
        tree_of(problem.model), problem.links, jacobian,
    )  # fmt: skip
    rows.add(weight * value, weight * jacobian)


def _attraction(problem: GraspProblem, off: np.ndarray, near: float) -> np.ndarray:
    """Far optional handles are drawn gently: not every part of a hand fits every body."""
    needed = np.array([h.handle.is_needed for h in problem.handles])
    return np.where(needed, 1.0, 1.0 / (1.0 + (off / near) ** 2))


def _add_depth(
    problem: GraspProblem,
    rows: Residuals,
    weights: GraspWeights,
    gap: np.ndarray,
    outward: np.ndarray,
) -> float:
    nearest = np.zeros(len(problem.points.first) - 1, dtype=np.int64)
    patch_nearest(problem.points.first, gap, nearest)
    inside = nearest[gap[nearest] < weights.margin]
    if not len(inside):
        return 0.0
    weight = _MM * weights.depth
    jacobian = rows.blank(len(inside))
    add_gradients(
        problem.points,
        inside,
        outward[inside],
        np.arange(len(inside)),
        tree_of(problem.model),
        problem.links,
        jacobian,
    )
    rows.add(weight * (gap[inside] - weights.margin), weight * jacobian)
    return max(float(-gap[inside].min()), 0.0)


def _add_pairs(problem: GraspProblem, rows: Residuals, weights: GraspWeights) -> float:
    capsules, links = problem.model.capsules, problem.links
    turn = links.rotation[capsules.link]
    start = links.position[capsules.link] + np.einsum("cij,cj->ci", turn, capsules.start)
    end = links.position[capsules.link] + np.einsum("cij,cj->ci", turn, capsules.end)
    gaps, share = np.zeros(len(problem.pairs)), np.zeros((len(problem.pairs), 2))
    radii = np.repeat(capsules.radius[:, None], 2, axis=1)
    capsule_pairs(start, end, radii, problem.pairs, gaps, share)
    gaps = gaps + problem.pair_slack
    close = np.flatnonzero(gaps < 0.0)
    if not len(close):
        return 0.0
    pairs = problem.pairs[close]
    axis = capsules.end - capsules.start
    local = capsules.start[pairs] + share[close][..., None] * axis[pairs]
    world = start[pairs] + share[close][..., None] * (end - start)[pairs]
    apart = world[:, 0] - world[:, 1]
    apart /= np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), 1e-9)
    both = fixed_points(capsules.link[pairs].ravel(), local.reshape(-1, 3))
    way = np.stack([apart, -apart], axis=1).reshape(-1, 3)
    jacobian = rows.blank(len(close))
    into = np.repeat(np.arange(len(close)), 2)
    add_gradients(both, np.arange(len(into)), way, into, tree_of(problem.model), links, jacobian)
    rows.add(weights.digits * _MM * gaps[close], weights.digits * _MM * jacobian)
    return float(-gaps.min())


def _add_posture(
    problem: GraspProblem, rows: Residuals, weights: GraspWeights, q: np.ndarray
) -> None:
    jacobian = rows.blank(len(problem.posture_matrix))
    jacobian[:, : len(q)] = weights.posture * problem.posture_matrix
    rows.add(jacobian[:, : len(q)] @ (q - problem.target), jacobian)


def _add_wrist(problem: GraspProblem, rows: Residuals, weight: float) -> None:
    model, links = problem.model, problem.links
    assert problem.wrist is not None
    wanted = problem.wrist
    link = model.wrist_link
    one = fixed_points(np.array([link]), np.zeros((1, 3)))
    jacobian = rows.blank(3)
    add_gradients(
        one, np.zeros(3, dtype=np.int64), np.eye(3), np.arange(3), tree_of(model), links, jacobian
    )
    rows.add(weight * _MM * (links.position[link] - wanted.position), weight * _MM * jacobian)
    # A radian weighs as much as 60 mm.
    axes = np.ascontiguousarray(links.rotation[link].T)
    jacobian = rows.blank(9)
    add_rotation_gradients(np.full(3, link), axes, tree_of(model), links, jacobian)
    error = axes - matrix_of(wanted.wxyz).T
    rows.add(60.0 * weight * error.ravel(), 60.0 * weight * jacobian)
