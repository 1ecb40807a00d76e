"""Places around a body from which a grasp of some style may be found.

A hand that is open as far as the body is thick is put around opposed points of the surface, turned
about their line at random; the most promising places are solved for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.hand import HandModel
from handwright.geometry.distance.environment import EnvironmentArrays
from handwright.geometry.distance.sdf import Field, sample_field
from handwright.geometry.mesh.normals import face_areas, face_normals
from handwright.grasping.grip_styles import GripStyle
from handwright.grasping.handles import SkinHandle, face_normal
from handwright.grasping.skin import SkinPoints, environment_distances, place_points
from handwright.kinematics import link_poses
from handwright.kinematics.tree import Links, links_for
from handwright.math import rotation
from handwright.math.pose import Pose

_LEVELS = 6
_DRAWS = 3000
# Places at which distances are measured: those that promise most without.
_LOOKED_AT = 400
_SURFACE_POINTS = 500
# Clearance that an open hand leaves around a body, m.
_CLEARANCE = 0.004
_MM = 1e3
_OUT_OF_PALM = np.array([0.0, 0.0, -1.0])
# How far an open hand goes back from a body, and how deep in it counts as free, m.
_RETREATS, _FREE = np.arange(0.0, 0.05, 0.004), 0.001


class StartPose(NamedTuple):
    """A place to begin at, in the frame of the body."""

    wrist: Pose
    opening: float
    """0 for the preferred posture, 1 for the open one."""
    score: float


class ArmReach(NamedTuple):
    """What the arm can do, in the frame of the body."""

    shoulder: Float[np.ndarray, "3"]
    upper_arm: float
    forearm: float


class StartProblem(NamedTuple):
    """Where start poses are looked for, in the frame of the body."""

    hand: HandModel
    body: RigidBody
    style: GripStyle
    points: SkinPoints
    """A few points of the hand's skin."""
    handles: list[SkinHandle]
    """Handles of the style on these points."""
    field: Field
    """Distance grid of the body."""
    environment: EnvironmentArrays
    near: Float[np.ndarray, "3"]
    """Where on the body the grip should be, m."""
    down: Float[np.ndarray, "3"]
    """Unit direction of gravity."""
    reach: ArmReach | None
    """What the arm can reach, if there is one."""


def style_posture(model: HandModel, style: GripStyle, opening: float) -> Float[np.ndarray, " J"]:
    """Joint values, rad, between the preferred posture and the open one; an arm is at rest."""
    q = np.array(model.poses["rest"]) if "rest" in model.poses else np.zeros(model.num_joints)
    for digit in model.digits:
        if digit.name not in style.posture or len(digit.joints) != len(style.posture[digit.name]):
            continue
        closed, opened = (np.radians(table[digit.name]) for table in (style.posture, style.opened))
        q[list(digit.joints)] = (1.0 - opening) * closed + opening * opened
    return model.joints.clamp(q)


def opposed_points(
    body: RigidBody,
    style: GripStyle,
    at: Float[np.ndarray, "3"],
    down: Float[np.ndarray, "3"],
    rng: np.random.Generator,
) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3"]]:
    """Pairs of surface points that a hand could press together; those near a place more often.

    For styles with one jaw the second points lie straight inside.
    """
    corners = body.vertices[body.faces]
    area = face_areas(corners)
    face = rng.choice(len(area), _SURFACE_POINTS, p=area / area.sum())
    share = rng.random((_SURFACE_POINTS, 2))
    flip = share.sum(axis=1) > 1.0
    share[flip] = 1.0 - share[flip]
    a, b, c = corners[face].transpose(1, 0, 2)
    points = a + share[:, :1] * (b - a) + share[:, 1:] * (c - a)
    normals = face_normals(corners[face])
    if not style.jaws[1]:
        below = np.flatnonzero(normals @ down > 0.8)
        if not len(below):
            return np.zeros((0, 3)), np.zeros((0, 3))
        spread = body.radius_of_gyration
        away = np.linalg.norm(points[below] - at - _along(points[below] - at, down), axis=1)
        chance = np.exp(-0.5 * (away / (0.4 * spread)) ** 2) + 1e-9
        rows = rng.choice(below, _DRAWS, p=chance / chance.sum())
        return points[rows], points[rows] - 0.02 * normals[rows]
    first, second = np.indices((_SURFACE_POINTS, _SURFACE_POINTS)).reshape(2, -1)
    line = points[second] - points[first]
    width = np.linalg.norm(line, axis=1)
    line = line / np.maximum(width, 1e-9)[:, None]
    facing = np.minimum(
        -np.einsum("ni,ni->n", normals[first], line), np.einsum("ni,ni->n", normals[second], line)
    )
    least, most = style.width
    fits = np.flatnonzero((facing > 0.85) & (width >= least) & (width <= most))
    if not len(fits):
        return np.zeros((0, 3)), np.zeros((0, 3))
    middle = 0.5 * (points[first[fits]] + points[second[fits]])
    away = np.linalg.norm(middle - at, axis=1)
    spread = max(0.5 * body.radius_of_gyration, 0.015)
    chance = np.exp(-0.5 * (away / spread) ** 2) * facing[fits] ** 4 + 1e-3
    rows = fits[rng.choice(len(fits), _DRAWS, p=chance / chance.sum())]
    return points[first[rows]], points[second[rows]]


def _along(points: np.ndarray, down: np.ndarray) -> np.ndarray:
    return (points @ down)[:, None] * down


def find_starts(problem: StartProblem, count: int, rng: np.random.Generator) -> list[StartPose]:
    """The most promising start poses, best first, no two alike; none if the body is too thick."""
    style = problem.style
    first, second = opposed_points(problem.body, style, problem.near, problem.down, rng)
    if not len(first):
        return []
    levels = [
        _open_hand(problem.hand, style, problem.points, k / (_LEVELS - 1)) for k in range(_LEVELS)
    ]
    level_of = _openings(levels, style, np.linalg.norm(second - first, axis=1))
    roll = rng.uniform(0.0, 2.0 * np.pi, len(first))
    wrists = _placed(
        levels, level_of, first, second, roll, between=bool(style.jaws[1]) and not style.wraps
    )
    position, turn = wrists.position.copy(), rotation.to_matrix(wrists.wxyz)
    scores = _pose_scores(problem, position, turn, 0.5 * (first + second))
    # Distances only where the rest is promising.
    for n in np.argsort(scores, kind="stable")[:_LOOKED_AT]:
        level = levels[level_of[n]]
        if style.wraps:
            position[n] += _backed_off(level, position[n], turn[n], problem.field) * turn[n][:, 2]
        scores[n] += _fit_cost(level, problem, level.points @ turn[n].T + position[n])
    scores[np.argsort(scores, kind="stable")[_LOOKED_AT:]] += 1e3
    starts: list[StartPose] = []
    for n in np.argsort(scores, kind="stable"):
        if len(starts) == count:
            break
        if not starts or _differ(wrists[n], Pose.stack([start.wrist for start in starts])):
            wrist = Pose(position[n], wrists[n].wxyz)
            starts.append(StartPose(wrist, level_of[n] / (_LEVELS - 1), float(scores[n])))
    return starts


def _openings(levels: list[_OpenHand], style: GripStyle, thickness: np.ndarray) -> np.ndarray:
    """How far the hand is open at each pair of points: the least that goes around the body."""
    apertures = np.array([level.aperture for level in levels])
    wide = apertures[None] >= thickness[:, None] + _CLEARANCE
    level_of = np.where(wide.any(axis=1), wide.argmax(axis=1), _LEVELS - 1)
    if not style.jaws[1]:
        level_of[:] = 0
    if style.wraps:
        level_of[:] = _LEVELS - 1
    return level_of


def _pose_scores(
    problem: StartProblem, position: np.ndarray, turn: np.ndarray, middle: np.ndarray
) -> np.ndarray:
    """What speaks against wrists apart from distances; ``middle`` is between the opposed points."""
    style, body = problem.style, problem.body
    scores = np.zeros(len(position))
    scores += _direction_cost(style, problem.hand, turn, problem.down)
    if style.wraps:
        scores += _length_cost(body, turn)
    scores += 8.0 * np.linalg.norm(middle - problem.near, axis=1) / body.radius_of_gyration
    if problem.reach is not None:
        scores += _arm_cost(problem.reach, position, turn, problem.down)
    return scores


class _OpenHand(NamedTuple):
    """A hand in one posture, in the frame of its wrist."""

    points: np.ndarray
    radius: np.ndarray
    middle: np.ndarray
    line: np.ndarray
    aperture: float


def _open_hand(model: HandModel, style: GripStyle, points: SkinPoints, opening: float) -> _OpenHand:
    q = style_posture(model, style, opening)
    turns, places = link_poses(model, q)
    wrist = model.wrist_link
    links = links_for(model)
    links.rotation[:] = np.einsum("ji,ljk->lik", turns[wrist], turns)
    links.position[:] = (places - places[wrist]) @ turns[wrist]
    where = np.zeros((len(points.link), 3))
    place_points(points, links, where)
    near = _jaw(model, style, style.jaws[0], links)
    if not style.jaws[1]:
        return _OpenHand(where, points.radius, near, _OUT_OF_PALM, 0.0)
    line = _jaw(model, style, style.jaws[1], links) - near
    aperture = float(np.linalg.norm(line))
    if style.wraps:
        return _OpenHand(where, points.radius, near, _OUT_OF_PALM, aperture)
    return _OpenHand(where, points.radius, near + 0.5 * line, line / aperture, aperture)


def _jaw(model: HandModel, style: GripStyle, parts: tuple[str, ...], links: Links) -> np.ndarray:
    """The middle between the working sides of some parts."""
    capsules, spots = model.capsules, []
    faces = {handle.part: handle.face for handle in style.handles}
    for part in parts:
        c = capsules.names.index(part)
        normal = face_normal(model, c, faces.get(part, "palm"))
        local = 0.5 * (capsules.start[c] + capsules.end[c]) + capsules.radius[c] * normal
        link = capsules.link[c]
        spots.append(links.rotation[link] @ local + links.position[link])
    return np.asarray(np.mean(spots, axis=0))


def _placed(
    levels: list[_OpenHand],
    level_of: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    roll: np.ndarray,
    *,
    between: bool,
) -> Pose:
    """(N,) wrists that bring the jaws of open hands to pairs of points."""
    line = (b - a) / np.linalg.norm(b - a, axis=1, keepdims=True)
    own = np.array([hand.line for hand in levels])[level_of]
    middle = np.array([hand.middle for hand in levels])[level_of]
    wxyz = rotation.multiply(rotation.from_axis_angle(line, roll), rotation.between(own, line))
    return Pose((0.5 * (a + b) if between else a) - rotation.rotate(wxyz, middle), wxyz)


def _backed_off(hand: _OpenHand, position: np.ndarray, turn: np.ndarray, field: Field) -> float:
    """How far a hand must go back from where its palm is, along its back, to be free, m."""
    places = hand.points @ turn.T + position
    for shift in _RETREATS:
        gap = sample_field(field, places + shift * turn[:, 2])[0] - hand.radius
        if gap.min() > -_FREE:
            return float(shift)
    return float(_RETREATS[-1])


def _length_cost(body: RigidBody, turn: np.ndarray) -> np.ndarray:
    """Fingers along a long body, which they cannot wrap."""
    moments, axes = np.linalg.eigh(body.inertia)
    slender = 1.0 - moments[0] / moments[1]
    return 30.0 * slender * (turn[:, :, 0] @ axes[:, 0]) ** 2


def _outside(value: np.ndarray, span: tuple[float, float]) -> np.ndarray:
    return np.maximum(np.maximum(span[0] - value, value - span[1]), 0.0)


def _direction_cost(
    style: GripStyle, model: HandModel, turn: np.ndarray, down: np.ndarray
) -> np.ndarray:
    palm = -turn[:, :, 2] @ -down
    thumb = (turn[:, :, 1] if model.side != "left" else -turn[:, :, 1]) @ -down
    return 60.0 * (_outside(palm, style.palm_up) + _outside(thumb, style.thumb_up))


def _arm_cost(
    reach: ArmReach, position: np.ndarray, turn: np.ndarray, down: np.ndarray
) -> np.ndarray:
    """Far places, and wrists that would have to bend much with the elbow hanging down."""
    line = position - reach.shoulder
    distance = np.linalg.norm(line, axis=1)
    most = reach.upper_arm + reach.forearm
    cost = 1e3 * np.maximum(distance - 0.97 * most, 0.0) + 1e3 * np.maximum(0.2 - distance, 0.0)
    unit = line / np.maximum(distance, 1e-9)[:, None]
    bounded = np.clip(distance, 0.2, 0.97 * most)
    along = (bounded**2 + reach.upper_arm**2 - reach.forearm**2) / (2.0 * bounded)
    aside = np.sqrt(np.maximum(reach.upper_arm**2 - along**2, 0.0))
    hang = down - np.einsum("ni,i->n", unit, down)[:, None] * unit
    hang /= np.maximum(np.linalg.norm(hang, axis=1, keepdims=True), 1e-9)
    elbow = reach.shoulder + along[:, None] * unit + aside[:, None] * hang
    forearm = position - elbow
    forearm /= np.linalg.norm(forearm, axis=1, keepdims=True)
    bend = np.arccos(np.clip(np.einsum("ni,ni->n", forearm, turn[:, :, 0]), -1.0, 1.0))
    return cost + 10.0 * bend**2 + 60.0 * np.maximum(bend - 1.1, 0.0)


def _fit_cost(hand: _OpenHand, problem: StartProblem, places: np.ndarray) -> float:
    """How badly an open hand with its skin at some places fits the body, in mm."""
    environment = problem.environment
    gap = sample_field(problem.field, places)[0] - hand.radius
    centers = np.array([h.center for h in problem.handles])
    needed = np.array([1.0 if h.handle.is_needed else 0.3 for h in problem.handles])
    cost = float(needed @ np.minimum(_MM * np.abs(gap[centers]), 30.0)) / float(needed.sum())
    depth = _MM * max(-float(gap.min()), 0.0)
    cost += min(depth, 30.0) * 0.7
    if len(environment.frictions):
        value, _ = environment_distances(environment, places, hand.radius.max())
        cost += 2.0 * _MM * max(-float((value - hand.radius).min()), 0.0)
    return cost


def _differ(one: Pose, others: Pose) -> bool:
    """Whether a wrist is not like any of the others."""
    away = np.linalg.norm(one.position - others.position, axis=1)
    return bool((away / 0.03 + rotation.angle(one.wxyz, others.wxyz) / 0.5 > 1.0).all())
