"""Points of a body that digits can touch, and for how long: contact patches over the frames.

Ye & Liu 2012, section 4.2, "initial case": points spread evenly over the surface, kept for the
digits whose reachable volume holds them and whose pad can lie there without penetration. Past the
paper, reachability is computed over all coming frames at once, because the tracks are known: a
candidate that stays within reach is worth more than one that is about to be left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.contact.edges import edge_distance
from handwright.core.body import RigidBody
from handwright.core.hand import HandModel
from handwright.geometry.farthest_first import farthest_first
from handwright.geometry.mesh.normals import face_areas, face_normals
from handwright.kernels.decorators import compiled, inlined
from handwright.kernels.packed import Packed
from handwright.kinematics.ik.digit_table import count_of
from handwright.kinematics.ik.problem import IkWeights
from handwright.kinematics.ik.reach import ReachVolume, reachable_volume
from handwright.kinematics.tree import turned
from handwright.methods.sampling.search import vec3
from handwright.methods.sampling.search.posing import (
    digit_depth,
    place_hands,
    pose_alone,
    set_touching_point,
)
from handwright.methods.sampling.search.workspace import Workspace
from handwright.methods.sampling.setup.guidance import (
    GUIDE_PADS,
    GuideContacts,
    write_guided_starts,
)
from handwright.methods.sampling.setup.hold_data import HoldData
from handwright.methods.sampling.setup.limits import CANDIDATE_DEPTH, CANDIDATE_MISS
from handwright.methods.sampling.setup.palms import near_points

_VOLUME_SPACING = 0.008
_VOLUME_SAMPLES = 12_000
# A digit that is deeper than this in the body, m, when it reaches a candidate as if nothing were in
# the way, does not come free there: hardly one in three hundred did.
_BURIED = 5e-3
_MIN_NAIL_COSINE = -0.1
# Number of points that are drawn for each that is wanted on a part, which may be a small one.
_CROWD_OF_PART = 60


class Candidates(NamedTuple):
    """M points of the body that digits may touch, for D digits with up to N joints each.

    What digits can reach is known at K key frames.
    """

    point: Float[np.ndarray, "M 3"]
    """In the body's frame, m."""
    normal: Float[np.ndarray, "M 3"]
    """Outward normal of the body."""
    pad: Int[np.ndarray, " M"]
    """The point of a digit that touches there, as a column of ``HoldData.pads``."""
    frame: Int[np.ndarray, " K"]
    """Key frames."""
    cost: Float[np.ndarray, "D M K"]
    """Discomfort of the digit there; infinite where it cannot be."""
    q: Float[np.ndarray, "D M K N"]
    """Joint values of the digit there, rad."""
    life: Int[np.ndarray, "D M K"]
    """Number of key frames, this one included, until the candidate is out of reach."""


class _ReachQuery(NamedTuple):
    """What the compiled search for reachable candidates is asked."""

    start: Float[np.ndarray, "D M K N"]
    """Joint values from which inverse kinematics starts, rad; NaN where none is known."""
    unobstructed: IkWeights
    """Weights of the inverse kinematics if nothing is in the way. Most candidates are out of reach,
    which is then soon seen."""
    weights: IkWeights
    """Weights of the inverse kinematics with the body in the way."""
    max_depth: float
    """Largest depth of a digit that touches, m."""
    buried_depth: float
    """Depth, m, from which a digit posed as if nothing were in the way does not come free."""


@lru_cache(maxsize=256)
def _volume(model: HandModel, digit: int, near: int | None) -> ReachVolume:
    """Where a digit's pad can go, or a point of its near phalanges."""
    return reachable_volume(
        model,
        model.digits[digit].name,
        point=None if near is None else near_points(model, digit)[near],
        spacing=_VOLUME_SPACING,
        num_samples=_VOLUME_SAMPLES,
    )


def surface_points(
    body: RigidBody,
    count: int,
    rng: np.random.Generator,
    *,
    edge_clearance: float,
    holds: Callable[[np.ndarray], np.ndarray] | None = None,
) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3"]]:
    """Points spread evenly over a body's surface, m, and outward normals there.

    Those nearer to a sharp edge than the clearance, m, are left out. ``holds`` says which points
    belong to the part of the surface that is wanted; all if None.
    """
    corners = body.vertices[body.faces]
    area = face_areas(corners)
    crowd = (6 if holds is None else _CROWD_OF_PART) * count
    face = rng.choice(len(area), crowd, p=area / area.sum())
    first, second = rng.random((2, crowd))
    flip = first + second > 1.0
    first, second = np.where(flip, 1.0 - first, first), np.where(flip, 1.0 - second, second)
    point = (
        corners[face, 0]
        + first[:, None] * (corners[face, 1] - corners[face, 0])
        + second[:, None] * (corners[face, 2] - corners[face, 0])
    )
    if holds is not None:
        is_there = holds(point)
        point, face = point[is_there], face[is_there]
    inner = edge_distance(point, body) >= edge_clearance
    # A thin body may be all edge.
    if inner.sum() >= max(1, min(count, len(point)) // 4):
        point, face = point[inner], face[inner]
    if len(point) == 0:
        return np.zeros((0, 3)), np.zeros((0, 3))
    chosen = _spread(point, count)
    normal = face_normals(corners[face[chosen]])
    return np.ascontiguousarray(point[chosen]), np.ascontiguousarray(normal)


def _spread(point: Float[np.ndarray, "N 3"], count: int) -> Int[np.ndarray, " K"]:
    """Rows of points that are far from each other, from the first on."""
    x, y, z = np.ascontiguousarray(point.T)

    def squared_distances(row: int) -> Float[np.ndarray, " N"]:
        return np.asarray((x - x[row]) ** 2 + (y - y[row]) ** 2 + (z - z[row]) ** 2)

    return farthest_first(squared_distances, first=0, count=count)


def rotation_steps(rotations: Float[np.ndarray, "T H 3 3"]) -> Float[np.ndarray, " T_minus_1"]:
    """Largest angles by which hands turn about the body from each frame to the next, rad."""
    trace = np.einsum("thij,thij->th", rotations[1:], rotations[:-1])
    return np.arccos(np.clip(0.5 * (trace - 1.0), -1.0, 1.0)).max(axis=1)


def key_frames(
    rotations: Float[np.ndarray, "T H 3 3"], step: int, most_rotation: float
) -> Int[np.ndarray, " K"]:
    """Frames at which digits are asked what they can reach, the first and the last among them.

    From one to the next it is ``step`` frames at most; and ``most_rotation``, rad, is the angle by
    which a hand turns about the body, unless it does so within a frame.
    """
    turned = rotation_steps(rotations)
    keys, way = [0], 0.0
    for t, angle in enumerate(turned.tolist()):
        if t > keys[-1] and (t - keys[-1] >= step or way + angle > most_rotation):
            keys.append(t)
            way = 0.0
        way += angle
    return np.unique([*keys, len(turned)])


def make_candidates(
    data: HoldData,
    models: Sequence[HandModel],
    surface: tuple[Float[np.ndarray, "P 3"], Float[np.ndarray, "P 3"]],
    frames: Int[np.ndarray, " K"],
    work: Workspace,
    *,
    skin_depth: float = 0.0,
    guide: GuideContacts | None = None,
) -> Candidates:
    """Finds which digit can touch which point of the body at which key frame.

    The surface is points of the body, m, and outward normals there; soft skin may sink in to a
    depth, m. With a guide, the last points of digits are those that touch in it.
    """
    variants = data.pads.shape[1]
    pad = np.repeat(np.arange(variants), len(surface[0]))
    point, normal = (np.ascontiguousarray(np.tile(rows, (variants, 1))) for rows in surface)
    weights = data.hold_weights._replace(digits=0.0, max_iterations=12, polish=1e-9)
    start = _starting_postures(data, models, point, frames, GUIDE_PADS if guide else 0)
    if guide is not None:
        write_guided_starts(start, data, guide, point, frames)
    query = _ReachQuery(
        start=start,
        unobstructed=weights._replace(num_object_capsules=0, max_iterations=8),
        weights=weights,
        max_depth=CANDIDATE_DEPTH + skin_depth,
        buried_depth=_BURIED + skin_depth,
    )
    cost = np.full(start.shape[:3], np.inf)
    found = Candidates(point, normal, pad, frames, cost, np.zeros(start.shape), lifetimes(cost))
    _reach(Packed(data), Packed(work), Packed(query), Packed(found))
    return found._replace(life=lifetimes(cost))


def _starting_postures(
    data: HoldData,
    models: Sequence[HandModel],
    point: Float[np.ndarray, "M 3"],
    frames: Int[np.ndarray, " K"],
    guided: int,
) -> Float[np.ndarray, "D M K N"]:
    """Joint values of digits near candidates, from tables of what digits reach, rad.

    They are NaN where a candidate is out of a digit's reach, and for the last ``guided`` points of
    each digit.
    """
    known = data.pad_links[:, : data.pad_links.shape[1] - guided]
    num_points = len(point) // data.pads.shape[1]
    digits, width = data.hands.table.free.shape[0], data.hands.table.free.shape[1] - 1
    starts = np.full((digits, len(point), len(frames), width), np.nan)
    row = 0
    for h, model in enumerate(models):
        rotation, position = data.root_rotation[frames, h], data.root_position[frames, h]
        local = np.einsum("kji,kmj->kmi", rotation, point[None] - position[:, None])
        for d in range(len(model.digits)):
            free = data.hands.table.free[row]
            own = free[free >= 0] - data.hands.offset[h]
            # The points of the pad, which are near each other, share one volume.
            pads = int(np.count_nonzero(known[row] == data.pad_link[row]))
            last = int(np.count_nonzero(known[row] >= 0))
            edges = [0, *(num_points * variant for variant in range(pads, last + 1))]
            for n, block in enumerate(slice(*pair) for pair in pairwise(edges)):
                volume = _volume(model, d, n - 1 if n else None)
                here = local[:, block]
                found = volume.postures_at(here.reshape(-1, 3)).reshape(here.shape[:2])
                posture = np.where((found >= 0)[..., None], volume.q[found][..., own], np.nan)
                starts[row, block, :, : len(own)] = posture.transpose(1, 0, 2)
            row += 1
    return starts


def lifetimes(cost: Float[np.ndarray, "D M K"]) -> Int[np.ndarray, "D M K"]:
    """Number of key frames for which candidates stay within reach, by their costs."""
    life = np.zeros(cost.shape, dtype=np.int64)
    for k in range(cost.shape[2] - 1, -1, -1):
        later = life[:, :, k + 1] if k + 1 < cost.shape[2] else 0
        life[:, :, k] = np.where(np.isfinite(cost[:, :, k]), 1 + later, 0)
    return life


@compiled
def _reach(data: HoldData, work: Workspace, query: _ReachQuery, found: Candidates) -> None:
    """Writes costs and joint values of the digits at the candidates that they can touch.

    Other costs must be infinite already.
    """
    point, normal, pad, starts = found.point, found.normal, found.pad, query.start
    table, values, cost, q = data.hands.table, work.spare, found.cost, found.q
    for k in range(found.frame.shape[0]):
        t = found.frame[k]
        for j in range(values.shape[0]):
            values[j] = data.hands.rest[j]
        place_hands(data, t, values, work.now)
        for d in range(starts.shape[0]):
            if not data.may_touch[t, d]:
                continue
            count = count_of(table.free, d)
            for m in range(point.shape[0]):
                if np.isnan(starts[d, m, k, 0]):
                    continue
                # Where the digit was at the last key frame is nearer than any posture of the table.
                was_there = k > 0 and cost[d, m, k - 1] < np.inf
                for a in range(count):
                    joint = table.free[d, a]
                    values[joint] = q[d, m, k - 1, a] if was_there else starts[d, m, k, a]
                link = data.pad_links[d, pad[m]]
                set_touching_point(data, d, link, data.pads[d, pad[m]])
                miss = cosine = 0.0
                for attempt in range(2):
                    weights = query.weights if attempt else query.unobstructed
                    miss = pose_alone(
                        data, t, d, point[m], normal[m], data.curled[t], weights, work
                    )
                    x, y, z = vec3.read(table.nail_normal[d])
                    cosine = vec3.dot(turned(work.now, link, x, y, z), vec3.read(normal[m]))
                    if miss > 3.0 * CANDIDATE_MISS or cosine < _MIN_NAIL_COSINE:
                        break
                    if attempt == 0 and digit_depth(data, t, d, work) > query.buried_depth:
                        miss = np.inf
                        break
                if miss > CANDIDATE_MISS or cosine < _MIN_NAIL_COSINE:
                    continue
                for a in range(count):
                    q[d, m, k, a] = values[table.free[d, a]]
                if digit_depth(data, t, d, work) < query.max_depth:
                    cost[d, m, k] = _discomfort(data, t, d, link, values) + 0.5 * (1.0 - cosine)


@inlined
def _discomfort(
    data: HoldData, t: int, d: int, link: int, values: Float[np.ndarray, " J"]
) -> float:
    """How far a digit is bent from comfort up to a link, in squared shares of its range."""
    table, total = data.hands.table, 0.0
    for a in range(count_of(table.free, d)):
        joint = table.free[d, a]
        if joint >= link:
            continue
        reach = max(table.upper[joint] - table.lower[joint], 0.2)
        total += ((values[joint] - data.comfortable[t, joint]) / reach) ** 2
    return total
