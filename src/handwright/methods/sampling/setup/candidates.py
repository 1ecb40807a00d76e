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
from handwright.kinematics.ik.digit import count_of
from handwright.kinematics.ik.problem import IkWeights
from handwright.kinematics.ik.reach import ReachVolume, reachable_volume
from handwright.kinematics.tree import placed, turned
from handwright.methods.sampling.search.posing import (
    digit_depth,
    place_hands,
    pose_alone,
    set_touching_point,
)
from handwright.methods.sampling.search.workspace import Workspace
from handwright.methods.sampling.setup.hold_data import HoldData
from handwright.methods.sampling.setup.limits import CANDIDATE_DEPTH, CANDIDATE_MISS
from handwright.methods.sampling.setup.phalanges import near_points

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

    frame: Int[np.ndarray, " K"]
    point: Float[np.ndarray, "M 3"]
    normal: Float[np.ndarray, "M 3"]
    pad: Int[np.ndarray, " M"]
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
) -> tuple[np.ndarray, np.ndarray]:
    """Points spread evenly over a body's surface, m, and outward normals there.

    Args:
        body: The body.
        count: Number of points.
        rng: Draws the points.
        edge_clearance: Points nearer to a sharp edge are left out, m.
        holds: Says which points belong to the part of the surface that is wanted; all if None.
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


def key_frames(rotations: np.ndarray, step: int, most_rotation: float) -> np.ndarray:
    """Frames at which digits are asked what they can reach, the first and the last among them.

    Args:
        rotations: (T, H, 3, 3) of the hands in the body's frame.
        step: Frames from one to the next, at most.
        most_rotation: Angle by which a hand turns about the body from one to the next, rad, unless
            it does so within a frame.
    """
    trace = np.einsum("thij,thij->th", rotations[1:], rotations[:-1])
    turned = np.arccos(np.clip(0.5 * (trace - 1.0), -1.0, 1.0)).max(axis=1)
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
) -> Candidates:
    """Finds which digit can touch which point of the body at which key frame.

    Args:
        data: The hold.
        models: Its hands.
        surface: Points of the body, m, and outward normals there.
        frames: Key frames.
        work: Scratch memory.
        skin_depth: Depth to which soft skin may sink in, m.
    """
    variants = data.pads.shape[1]
    pad = np.repeat(np.arange(variants), len(surface[0]))
    point, normal = (np.ascontiguousarray(np.tile(rows, (variants, 1))) for rows in surface)
    weights = data.hold_weights._replace(digits=0.0, max_iterations=12, polish=1e-9)
    query = _ReachQuery(
        frame=frames,
        point=point,
        normal=normal,
        pad=pad,
        start=_starting_postures(data, models, point, frames),
        unobstructed=weights._replace(num_object_capsules=0, max_iterations=8),
        weights=weights,
        max_depth=CANDIDATE_DEPTH + skin_depth,
        buried_depth=_BURIED + skin_depth,
    )
    cost, q = np.full(query.start.shape[:3], np.inf), np.zeros(query.start.shape)
    _reach(Packed(data), Packed(work), Packed(query), cost, q)
    return Candidates(point, normal, pad, frames, cost, q, lifetimes(cost))


def _starting_postures(
    data: HoldData,
    models: Sequence[HandModel],
    point: Float[np.ndarray, "M 3"],
    frames: Int[np.ndarray, " K"],
) -> Float[np.ndarray, "D M K N"]:
    """Joint values of digits near candidates, from tables of what digits reach, rad.

    They are NaN where a candidate is out of a digit's reach.
    """
    num_points = len(point) // data.pads.shape[1]
    digits, width = data.table.free.shape[0], data.table.free.shape[1] - 1
    starts = np.full((digits, len(point), len(frames), width), np.nan)
    row = 0
    for h, model in enumerate(models):
        rotation, position = data.root_rotation[frames, h], data.root_position[frames, h]
        local = np.einsum("kji,kmj->kmi", rotation, point[None] - position[:, None])
        for d in range(len(model.digits)):
            free = data.table.free[row]
            own = free[free >= 0] - data.offset[h]
            # The points of the pad, which are near each other, share one volume.
            pads = int(np.count_nonzero(data.pad_links[row] == data.pad_link[row]))
            last = int(np.count_nonzero(data.pad_links[row] >= 0))
            edges = [0, *(num_points * variant for variant in range(pads, last + 1))]
            for n, block in enumerate(slice(*pair) for pair in pairwise(edges)):
                volume = _volume(model, d, n - 1 if n else None)
                here = local[:, block]
                found = volume.postures_at(here.reshape(-1, 3)).reshape(here.shape[:2])
                posture = np.where((found >= 0)[..., None], volume.q[found][..., own], np.nan)
                starts[row, block, :, : len(own)] = posture.transpose(1, 0, 2)
            row += 1
    return starts


def lifetimes(cost: np.ndarray) -> np.ndarray:
    """(D, M, K) number of key frames for which candidates stay within reach, by their costs."""
    life = np.zeros(cost.shape, dtype=np.int64)
    for k in range(cost.shape[2] - 1, -1, -1):
        later = life[:, :, k + 1] if k + 1 < cost.shape[2] else 0
        life[:, :, k] = np.where(np.isfinite(cost[:, :, k]), 1 + later, 0)
    return life


@compiled
def _reach(
    data: HoldData, work: Workspace, query: _ReachQuery, cost: np.ndarray, q: np.ndarray
) -> None:
    """Writes costs and joint values of the digits at the candidates that they can touch.

    Args:
        data: The hold.
        work: Scratch memory.
        query: What is asked.
        cost: (D, M, K) infinite; written where a digit can touch.
        q: (D, M, K, N) is written, rad.
    """
    point, normal, pad, starts = query.point, query.normal, query.pad, query.start
    table, values = data.table, work.spare
    for k in range(query.frame.shape[0]):
        t = query.frame[k]
        for j in range(values.shape[0]):
            values[j] = data.rest[j]
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
                local, link = data.pads[d, pad[m]], data.pad_links[d, pad[m]]
                set_touching_point(data, d, link, local)
                miss = cosine = 0.0
                for attempt in range(2):
                    weights = query.weights if attempt else query.unobstructed
                    pose_alone(data, t, d, point[m], normal[m], data.curled, weights, work)
                    x, y, z = placed(work.now, link, local[0], local[1], local[2])
                    miss = np.sqrt(
                        (x - point[m, 0]) ** 2 + (y - point[m, 1]) ** 2 + (z - point[m, 2]) ** 2
                    )
                    back = table.nail_normal
                    nx, ny, nz = turned(work.now, link, back[d, 0], back[d, 1], back[d, 2])
                    cosine = nx * normal[m, 0] + ny * normal[m, 1] + nz * normal[m, 2]
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
                    cost[d, m, k] = _discomfort(data, d, link, values) + 0.5 * (1.0 - cosine)


@inlined
def _discomfort(data: HoldData, d: int, link: int, values: np.ndarray) -> float:
    """How far a digit is bent from rest up to a link, in squared shares of its range."""
    table, total = data.table, 0.0
    for a in range(count_of(table.free, d)):
        joint = table.free[d, a]
        if joint >= link:
            continue
        reach = max(table.upper[joint] - table.lower[joint], 0.2)
        total += ((values[joint] - data.rest[joint]) / reach) ** 2
    return total
