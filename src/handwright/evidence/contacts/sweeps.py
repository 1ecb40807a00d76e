"""Things that pass through each other between two frames.

Both frames may show a ball outside a shelf, first above and then below it. So the way of points
from frame to frame is looked at: of points all over a body, and along the axes of a hand's
capsules. What bends the way in between, an impact or a turn, shows in the speeds before and after;
a way is held against a clip only if all ways beside it, that much farther to any side, lead through
the solid too.

Steps that are shorter than the solid is thick, or that lead past it, are left out first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.body import RigidBody
from handwright.core.clip import Clip
from handwright.core.surface import EnvironmentBox
from handwright.evidence.contacts.body_contacts import surface_samples
from handwright.evidence.contacts.flesh import flesh_rods
from handwright.evidence.contacts.hand_probe import HandProbe
from handwright.evidence.contacts.probes import capsule_gaps, exact_distance
from handwright.evidence.contacts.ray_casters import is_crossed, lines_beside
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.farthest_first import farthest_first
from handwright.kinematics.skin.samples import CAPSULE_BULGE
from handwright.math.pose import Pose

# Points that stand for the surface of a body.
_MOST_POINTS = 160
# Places along the axis of a capsule, as shares of its length.
_ALONG = (0.0, 0.25, 0.5, 0.75, 1.0)
# Frames may show things this deep in each other; ways beside a point's are at least that far, m.
_SLACK = 2e-3
# No body that is thinner than this is told from one that lets things through, m.
_THIN = 5e-4
# A hand's bones are looked at again after so much of their way, m, at most so many times a step.
_BONE_STEP = 3e-3
_MOST_BONE_STEPS = 48
# Steps, or bones in a step, that are looked at together.
_BATCH = 512


def swept_through(
    clip: Clip, hands: Mapping[str, HandProbe]
) -> tuple[Bool[np.ndarray, " T"], list[str]]:
    """Frames before which something has passed through something else, and what through what.

    Bodies and hands are held against the boxes of the surroundings and against bodies.

    Args:
        clip: The motion.
        hands: Its hands, posed.
    """
    passed, names = np.zeros(clip.num_frames, dtype=bool), [""] * clip.num_frames
    if clip.num_frames < 2:
        return passed, names
    for steps, text in _passages(clip, hands):
        passed[steps + 1] = True
        for step in steps:
            names[step + 1] = names[step + 1] or text
    return passed, names


def _passages(
    clip: Clip, hands: Mapping[str, HandProbe]
) -> Iterator[tuple[Int[np.ndarray, " S"], str]]:
    """Steps in which one thing passes through another, with both named."""
    problem, times = clip.problem, clip.times
    movers: list[_Mover] = [
        _MovingBody(name, problem.bodies[name], pose) for name, pose in clip.bodies.items()
    ]
    movers += [_MovingHand(hand) for hand in hands.values()]
    for number, surface in enumerate(problem.environment):
        if isinstance(surface, EnvironmentBox):
            for mover in movers:
                steps = _tunnels(mover, _Box(surface), times)
                yield steps, f"{mover.name} through surface {number} of the surroundings"
    for name, pose in clip.bodies.items():
        body = problem.bodies[name]
        for mover in movers:
            if mover.name != name or isinstance(mover, _MovingHand):
                yield _tunnels(mover, _Mesh(body, pose), times), f"{mover.name} through {name}"
        for hand in hands.values():
            yield _bones_through(hand, body, pose, times), f"{hand.name} through {name}"


class _MovingBody(NamedTuple):
    """A body and points of its surface."""

    name: str
    body: RigidBody
    pose: Pose

    def hull(self, back: Pose) -> Float[np.ndarray, "T K 3"]:
        """Points whose convex hull holds the body, in another frame, m."""
        corners = np.array(list(product(*self.body.bounds.T)))
        return (back @ self.pose)[:, None].apply(corners)

    def points(self, back: Pose, frames: Int[np.ndarray, " S"]) -> Float[np.ndarray, "S N 3"]:
        """Its points in some frames of the clip, in another frame, m."""
        local = back[frames] @ self.pose[frames]
        return local[:, None].apply(_spread_points(self.body))


class _MovingHand(NamedTuple):
    """A hand and points along the axes of its capsules."""

    hand: HandProbe

    @property
    def name(self) -> str:
        return self.hand.name

    def hull(self, back: Pose) -> Float[np.ndarray, "T K 3"]:
        """Ends of the axes, in another frame, m."""
        return back[:, None].apply(np.concatenate(flesh_rods(self.hand)[:2], axis=1))

    def points(self, back: Pose, frames: Int[np.ndarray, " S"]) -> Float[np.ndarray, "S N 3"]:
        """Places along the axes in some frames of the clip, in another frame, m."""
        start, end = (ends[frames] for ends in flesh_rods(self.hand)[:2])
        return back[frames][:, None].apply(
            np.concatenate([start + share * (end - start) for share in _ALONG], axis=1)
        )


_Mover = _MovingBody | _MovingHand


@lru_cache(maxsize=8)
def _spread_points(body: RigidBody) -> Float[np.ndarray, "N 3"]:
    points = surface_samples(body)[0]
    rows = farthest_first(
        lambda row: np.linalg.norm(points - points[row], axis=1), first=0, count=_MOST_POINTS
    )
    return np.asarray(points[rows])


class _Box(NamedTuple):
    """A box of the surroundings."""

    surface: EnvironmentBox

    @property
    def thickness(self) -> float:
        return 2.0 * float(self.surface.half_extents.min())

    @property
    def bounds(self) -> Float[np.ndarray, "2 3"]:
        return np.stack([-self.surface.half_extents, self.surface.half_extents])

    def back(self, count: int) -> Pose:
        """Turns world coordinates into the box's, for each frame."""
        pose = self.surface.pose.inverse()
        return Pose(np.tile(pose.position, (count, 1)), pose.wxyz)

    def is_outside(self, points: Float[np.ndarray, "N 3"]) -> Bool[np.ndarray, " N"]:
        return np.asarray((np.abs(points) > self.surface.half_extents).any(axis=1))

    def is_crossed(
        self, start: Float[np.ndarray, "N 3"], end: Float[np.ndarray, "N 3"]
    ) -> Bool[np.ndarray, " N"]:
        """Whether straight ways lead through it."""
        way = end - start
        way = np.where(np.abs(way) < 1e-15, 1e-15, way)
        near = (-np.sign(way) * self.surface.half_extents - start) / way
        far = (np.sign(way) * self.surface.half_extents - start) / way
        enters, leaves = np.maximum(near.max(axis=1), 0.0), np.minimum(far.min(axis=1), 1.0)
        return np.asarray(enters < leaves)


class _Mesh(NamedTuple):
    """A body that others may pass through."""

    body: RigidBody
    pose: Pose

    @property
    def thickness(self) -> float:
        return _THIN

    @property
    def bounds(self) -> Float[np.ndarray, "2 3"]:
        return self.body.bounds

    def back(self, count: int) -> Pose:
        """Turns world coordinates into the body's, for each of ``count`` frames."""
        assert count == len(self.pose)
        return self.pose.inverse()

    def is_outside(self, points: Float[np.ndarray, "N 3"]) -> Bool[np.ndarray, " N"]:
        return exact_distance(self.body).signed_distance(points)[0] > 0.0

    def is_crossed(
        self, start: Float[np.ndarray, "N 3"], end: Float[np.ndarray, "N 3"]
    ) -> Bool[np.ndarray, " N"]:
        """Whether straight ways meet its surface."""
        return is_crossed(self.body, start, end)


def _tunnels(
    mover: _Mover, solid: _Box | _Mesh, times: Float[np.ndarray, " T"]
) -> Int[np.ndarray, " S"]:
    """Steps in which points of a mover go into a solid and out of it again."""
    back = solid.back(len(times))
    steps = _long_steps(mover.hull(back), solid)
    return np.concatenate(
        [_tunnels_among(some, mover, solid, back, times) for some in _batches(steps)]
    )


def _batches(rows: Int[np.ndarray, " N"]) -> list[Int[np.ndarray, " K"]]:
    """Parts of all rows, each so small that what is made of them takes little memory."""
    return np.array_split(rows, -(-max(len(rows), 1) // _BATCH))


def _tunnels_among(
    steps: Int[np.ndarray, " S"],
    mover: _Mover,
    solid: _Box | _Mesh,
    back: Pose,
    times: Float[np.ndarray, " T"],
) -> Int[np.ndarray, " K"]:
    """Those of some steps in which points of a mover go into a solid and out of it again."""
    if steps.size == 0:
        return steps
    around = np.clip(steps[:, None] + np.arange(-1, 3), 0, len(times) - 1)
    unique, index = np.unique(around, return_inverse=True)
    place = mover.points(back, unique)[index.reshape(around.shape)]
    bend = _bends(place, times[around])
    start, end = place[:, 1], place[:, 2]
    # A way that does not cross the box around the solid does not cross the solid.
    low, high = solid.bounds
    row, point = np.nonzero(
        ((np.minimum(start, end) <= high) & (np.maximum(start, end) >= low)).all(axis=2)
    )
    start, end, bend = start[row, point], end[row, point], bend[row, point]
    kept = solid.is_crossed(start, end)
    row, start, end, bend = row[kept], start[kept], end[kept], bend[kept]
    kept = solid.is_outside(start) & solid.is_outside(end)
    row, start, end, bend = row[kept], start[kept], end[kept], bend[kept]
    through = np.ones(len(row), dtype=bool)
    for side in lines_beside(end - start):
        some = np.flatnonzero(through)
        shift = (_SLACK + bend[some])[:, None] * side[some]
        through[some] = solid.is_crossed(start[some] + shift, end[some] + shift)
    return np.unique(steps[row[through]])


def _long_steps(hull: Float[np.ndarray, "T K 3"], solid: _Box | _Mesh) -> Int[np.ndarray, " S"]:
    """Steps that are longer than a solid is thick and may lead through it."""
    travel = np.linalg.norm(np.diff(hull, axis=0), axis=2).max(axis=1)
    low, high = hull.min(axis=1), hull.max(axis=1)
    near = np.minimum(low[:-1], low[1:]) <= solid.bounds[1]
    near &= np.maximum(high[:-1], high[1:]) >= solid.bounds[0]
    return np.flatnonzero((travel > solid.thickness) & near.all(axis=1))


def _bends(
    place: Float[np.ndarray, "S 4 N 3"], times: Float[np.ndarray, "S 4"]
) -> Float[np.ndarray, "S N"]:
    """How far the way of points in a step may lie from the straight line, m.

    With the speeds u before and w after the step, both times its length, a single kink at the
    share s of its time lies s (1 - s) |w - u| off the line, and a smooth bend half as far. Where
    one of the two is not known, the kink may be as far as the other differs from the step's own.
    """
    way, time = np.diff(place, axis=1), np.diff(times, axis=1)
    known = time > 0.0
    way = way * (time[:, 1:2] / np.where(known, time, 1.0))[..., None, None]
    before, own, after = (way[:, k] for k in range(3))
    whole = 0.25 * np.linalg.norm(after - before, axis=2)
    first = np.linalg.norm(after - own, axis=2)
    last = np.linalg.norm(before - own, axis=2)
    starts, ends = known[:, :1], known[:, 2:]
    bend = np.where(starts & ends, whole, np.where(ends, first, np.where(starts, last, np.inf)))
    return np.asarray(np.minimum(bend, np.linalg.norm(own, axis=2)))


def _bones_through(
    hand: HandProbe, body: RigidBody, pose: Pose, times: Float[np.ndarray, " T"]
) -> Int[np.ndarray, " S"]:
    """Steps in which a body passes through the flesh of a hand, deeper than frames may show it."""
    back = pose.inverse()[:, None]
    start, end = (back.apply(ends) for ends in flesh_rods(hand)[:2])
    travel = np.maximum(*(np.linalg.norm(np.diff(ends, axis=0), axis=2) for ends in (start, end)))
    step, part = np.nonzero(travel > 2.0 * _BONE_STEP)
    if step.size == 0:
        return step
    around = np.clip(step[:, None] + np.arange(-1, 3), 0, len(times) - 1)
    ends = np.stack([start[around, part[:, None]], end[around, part[:, None]]], axis=2)
    allowed = CAPSULE_BULGE + _SLACK + _bends(ends, times[around]).max(axis=1)
    radius, travel = hand.model.capsules.radius[part], travel[step, part]
    kept = _may_be_deep(exact_distance(body), body, ends[:, 1:3], travel, radius - allowed)
    passing: list[int] = []
    for some in _batches(kept):
        count = np.clip(np.ceil(travel[some] / _BONE_STEP), 2, _MOST_BONE_STEPS).astype(np.int64)
        row = np.repeat(some, count - 1)
        share = np.concatenate([np.arange(1, n) / n for n in count] or [np.zeros(0)])
        axis = ends[row, 1] + share[:, None, None] * (ends[row, 2] - ends[row, 1])
        found = capsule_gaps(
            exact_distance(body), axis[:, 0], axis[:, 1], radius[row], reach=-allowed[row]
        )
        passing += step[row[np.isfinite(found.gap)]].tolist()
    return np.unique(np.array(passing, dtype=np.int64))


def _may_be_deep(
    exact: ExactDistance,
    body: RigidBody,
    ends: Float[np.ndarray, "N 2 2 3"],
    travel: Float[np.ndarray, " N"],
    within: Float[np.ndarray, " N"],
) -> Int[np.ndarray, " K"]:
    """Axes, from one frame to the next, that may come within a distance (m) of a body."""
    middle = ends.mean(axis=2)
    half = 0.5 * np.linalg.norm(ends[:, :, 1] - ends[:, :, 0], axis=2).max(axis=1)
    reach = within + half + 0.5 * travel
    low, high = body.bounds
    near = (middle.min(axis=1) <= high + reach[:, None]).all(axis=1)
    near &= (middle.max(axis=1) >= low - reach[:, None]).all(axis=1)
    rows = np.flatnonzero(near)
    # A distance changes by no more than its point moves.
    both = exact.signed_distance(middle[rows].reshape(-1, 3))[0].reshape(-1, 2)
    return rows[0.5 * both.sum(axis=1) <= reach[rows]]
