"""Equation (9) as residuals with slopes: handles on the surface, nothing inside, near a posture.

Everything is in the frame of the body. Lengths count in millimetres, angles in radians.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import HandModel
from handwright.geometry.capsules import capsule_pairs
from handwright.geometry.environment import EnvironmentArrays
from handwright.kinematics.tree import Links, forward, links_for, tree_of
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.stepwise.grasp_skin import (
    SkinPoints,
    add_slopes,
    add_turn_slopes,
    patch_nearest,
    place_points,
    sample_environment,
)
from handwright.methods.stepwise.handles import SkinHandle

_MM = 1e3
Distances = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(slots=True)
class Weights:
    """Prices of the residuals, per millimetre or radian."""

    contact: float = 1.0
    facing: float = 2.0
    depth: float = 2.0
    digits: float = 2.0
    posture: float = 1.0
    wrist: float = 0.0
    moment: float = 0.0
    bend: float = 0.5
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
    stiffness: Float[np.ndarray, " J"]
    is_root_free: bool
    wrist: Pose | None = None
    """Where the wrist would like to be."""
    links: Links = field(init=False)

    def __post_init__(self) -> None:
        self.links = links_for(self.model)


@dataclass(slots=True)
class Measured:
    """Distances of a posture."""

    place: Float[np.ndarray, "S 3"]
    gap: Float[np.ndarray, " S"]
    outward: Float[np.ndarray, "S 3"]
    contact: Int[np.ndarray, " H"]
    """Nearest skin point of every handle."""
    depth: float
    """Of the deepest skin point in the body, m."""
    ground_depth: float
    """The same in the surroundings."""
    pair_depth: float
    """The same for digits in each other."""


def digit_pairs(model: HandModel) -> tuple[np.ndarray, np.ndarray]:
    """Capsules that must stay apart, and how deep each pair may be in each other, m.

    Digits keep apart; the last phalanx also keeps out of the palm, whose capsules stand out of
    its skin.
    """
    digit, names = model.capsules.digit, model.capsules.names
    first, second = np.triu_indices(len(digit), 1)
    apart = (digit[first] >= 0) & (digit[second] >= 0) & (digit[first] != digit[second])
    last = np.array([d >= 0 and model.digits[d].pad.link == link
                     for d, link in zip(digit, model.capsules.link, strict=True)])  # fmt: skip
    own = np.array([names[a].split("_")[0] == names[b].split("_")[0]
                    for a, b in zip(first, second, strict=True)])  # fmt: skip
    palm = last[first] & (digit[second] < 0) & ~own
    keep = apart | palm
    slack = np.where(palm, 0.003, 0.0)
    return np.stack([first[keep], second[keep]], axis=1), slack[keep]


def pose_links(problem: GraspProblem, q: np.ndarray, root: Pose) -> None:
    """Forward kinematics in the frame of the body."""
    problem.links.rotation[0] = rotation.to_matrix(root.wxyz)
    problem.links.position[0] = root.position
    forward(tree_of(problem.model), q, problem.links)


class Rows:
    """Residuals and their slopes, added one after the other."""

    def __init__(self, num_joints: int) -> None:
        self.value: list[np.ndarray] = []
        self.slope: list[np.ndarray] = []
        self._width = num_joints + 6

    def add(self, value: np.ndarray, slope: np.ndarray) -> None:
        """Adds residuals (R,) with slopes (R, J + 6)."""
        self.value.append(value)
        self.slope.append(slope)

    def blank(self, count: int) -> np.ndarray:
        """Zero slopes."""
        return np.zeros((count, self._width))

    def stacked(self) -> tuple[np.ndarray, np.ndarray]:
        """All of them."""
        return np.concatenate(self.value), np.concatenate(self.slope)


def grasp_rows(
    problem: GraspProblem, q: np.ndarray, root: Pose, weights: Weights, forces: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, Measured]:
    """Residuals, slopes by joints and root, and what was measured on the way."""
    pose_links(problem, q, root)
    points, links, tree = problem.points, problem.links, tree_of(problem.model)
    place = np.zeros((len(points.link), 3))
    place_points(points, links, place)
    gap, outward = problem.distances(place)
    gap = gap - points.radius
    rows = Rows(problem.model.num_joints)
    contact = np.array([h.rows[gap[h.rows].argmin()] for h in problem.handles], dtype=np.int64)
    _contact_rows(problem, rows, weights, gap, outward, contact)
    if forces is not None and weights.moment > 0.0:
        _moment_rows(problem, rows, weights, place, contact, forces)
    depth = _depth_rows(problem, rows, weights.depth, gap, outward)
    ground_depth = 0.0
    if len(problem.environment.frictions):
        value, gradient = np.zeros(len(place)), np.zeros((len(place), 3))
        sample_environment(problem.environment, place, value, gradient)
        ground_depth = _depth_rows(problem, rows, weights.depth, value - points.radius, gradient)
    pair_depth = _pair_rows(problem, rows, weights)
    _posture_rows(problem, rows, weights, q)
    if problem.wrist is not None and weights.wrist > 0.0:
        _wrist_rows(problem, rows, weights.wrist)
    value, slope = rows.stacked()
    return value, slope, Measured(place, gap, outward, contact, depth, ground_depth, pair_depth)


def _contact_rows(
    problem: GraspProblem,
    rows: Rows,
    weights: Weights,
    gap: np.ndarray,
    outward: np.ndarray,
    contact: np.ndarray,
) -> None:
    count = len(contact)
    tree = tree_of(problem.model)
    off = _MM * gap[contact]
    needed = np.array([h.handle.is_needed for h in problem.handles])
    # Far optional handles are drawn gently: not every part of a hand fits every body.
    pull = np.where(needed, 1.0, 1.0 / (1.0 + (off / weights.near) ** 2))
    price = weights.contact * pull
    slope = rows.blank(count)
    add_slopes(
        problem.points, contact, outward[contact], np.arange(count), tree, problem.links, slope
    )
    rows.add(price * off, (_MM * price)[:, None] * slope)
    for k, handle in enumerate(problem.handles):
        link = int(problem.model.capsules.link[handle.capsule])
        normal = problem.links.rotation[link] @ handle.normal
        slope = rows.blank(3)
        add_turn_slopes(link, normal, 0, tree, problem.links, slope)
        away = -outward[contact[k]]
        price_k = weights.facing * pull[k]
        # Only what is more than a fifth of a radian off counts: pads are round.
        error = normal - away
        size = float(np.linalg.norm(error))
        share = max(size - 0.2, 0.0) / max(size, 1e-9)
        rows.add(price_k * share * error, price_k * share * slope)


def _moment_rows(
    problem: GraspProblem,
    rows: Rows,
    weights: Weights,
    place: np.ndarray,
    contact: np.ndarray,
    forces: np.ndarray,
) -> None:
    """Moments of the forces in hand, in newton millimetres over the largest force."""
    size = max(float(np.linalg.norm(forces, axis=1).max()), 1e-9)
    value = _MM * np.cross(place[contact], forces).sum(axis=0) / size
    slope = rows.blank(3)
    for axis in range(3):
        way = np.cross(forces, np.eye(3)[axis]) / size
        into = np.full(len(contact), axis)
        add_slopes(
            problem.points, contact, way, into, tree_of(problem.model), problem.links, slope
        )
    rows.add(weights.moment * value, weights.moment * _MM * slope)


def _depth_rows(
    problem: GraspProblem, rows: Rows, price: float, gap: np.ndarray, outward: np.ndarray
) -> float:
    nearest = np.zeros(len(problem.points.first) - 1, dtype=np.int64)
    patch_nearest(problem.points.first, gap, nearest)
    inside = nearest[gap[nearest] < 0.0]
    if not len(inside):
        return 0.0
    slope = rows.blank(len(inside))
    add_slopes(
        problem.points,
        inside,
        outward[inside],
        np.arange(len(inside)),
        tree_of(problem.model),
        problem.links,
        slope,
    )
    rows.add(price * _MM * gap[inside], price * _MM * slope)
    return float(-gap[inside].min())


def _pair_rows(problem: GraspProblem, rows: Rows, weights: Weights) -> float:
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
    both = _fixed_points(capsules.link[pairs].ravel(), local.reshape(-1, 3))
    way = np.stack([apart, -apart], axis=1).reshape(-1, 3)
    slope = rows.blank(len(close))
    into = np.repeat(np.arange(len(close)), 2)
    add_slopes(
        both, np.arange(len(into)), way, into, tree_of(problem.model), links, slope
    )
    rows.add(weights.digits * _MM * gaps[close], weights.digits * _MM * slope)
    return float(-gaps.min())


def _fixed_points(link: np.ndarray, local: np.ndarray) -> SkinPoints:
    """Points that follow one link each."""
    count = len(link)
    links = np.full((count, 4), -1)
    links[:, 0] = link
    weight = np.zeros((count, 4))
    weight[:, 0] = 1.0
    locals_ = np.zeros((count, 4, 3))
    locals_[:, 0] = local
    return SkinPoints(
        links, weight, locals_, np.zeros(count), links[:, 0].copy(), np.zeros((count, 3)),
        np.zeros(count, dtype=np.int64), np.zeros(1, dtype=np.int64),
    )  # fmt: skip


def _posture_rows(problem: GraspProblem, rows: Rows, weights: Weights, q: np.ndarray) -> None:
    price = weights.posture * problem.stiffness
    slope = rows.blank(len(q))
    slope[np.arange(len(q)), np.arange(len(q))] = price
    rows.add(price * (q - problem.target), slope)
    names = problem.model.joints.names
    for j, name in enumerate(names):
        middle = name.replace("_dip_", "_pip_")
        if middle == name or middle not in names:
            continue
        # The last two joints of a finger bend together.
        i = names.index(middle)
        slope = rows.blank(1)
        slope[0, j], slope[0, i] = weights.bend, -weights.bend * 2.0 / 3.0
        rows.add(np.array([weights.bend * (q[j] - 2.0 / 3.0 * q[i])]), slope)


def _wrist_rows(problem: GraspProblem, rows: Rows, price: float) -> None:
    model, links = problem.model, problem.links
    assert problem.wrist is not None
    wanted = problem.wrist
    link = model.wrist_link
    one = _fixed_points(np.array([link]), np.zeros((1, 3)))
    slope = rows.blank(3)
    add_slopes(
        one, np.zeros(3, dtype=np.int64), np.eye(3), np.arange(3), tree_of(model), links, slope
    )
    rows.add(price * _MM * (links.position[link] - wanted.position), price * _MM * slope)
    # A radian weighs as much as 60 mm.
    turn = rotation.to_matrix(wanted.wxyz)
    for axis in range(3):
        vector = links.rotation[link][:, axis]
        slope = rows.blank(3)
        add_turn_slopes(link, np.ascontiguousarray(vector), 0, tree_of(model), links, slope)
        rows.add(60.0 * price * (vector - turn[:, axis]), 60.0 * price * slope)
