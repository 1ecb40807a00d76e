"""Bodies that cross each other with no point of the one deep in the other: rods, plates, blades.

Solids whose surfaces cross have an edge of the one that goes through a face of the other. How deep
they are in each other is bounded from below in two ways. A ball that fits into both parts them by
its diameter at least. And an edge that goes in and out again is still in the solid if it is moved
to any side, up to some distance. Bodies that rest on each other, a little sunk, are neither.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.clip import Clip
from handwright.evidence.contacts.ray_casters import is_crossed, lines_beside, ray_caster
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.farthest_first import farthest_first
from handwright.geometry.mesh.edges import unique_edges
from handwright.math.pose import Pose

_MOVED = 2e-5
"""Bodies that have moved less than this on each other since they were last looked at are as deep
in each other as then, m."""
_MOST_PLACES = 12
"""Places where edges go through faces that stand for all."""
_ASIDE = (1.5e-3, 3e-3, 6e-3, 12e-3)
"""How far edges are moved to the sides, m."""


def bodies_cross(
    clip: Clip, first: str, second: str, exact: dict[str, ExactDistance]
) -> Float[np.ndarray, " T"]:
    """How deep two bodies are in each other at least, m, where an edge goes through a face.

    Args:
        clip: The motion.
        first: One of the bodies.
        second: The other.
        exact: Distances of both.
    """
    bodies, poses = clip.problem.bodies, clip.bodies
    there = poses[first].inverse() @ poses[second]
    here = there.inverse()
    depth = np.zeros(clip.num_frames)
    one = _Edges.of(bodies[first], bodies[second], exact[second])
    two = _Edges.of(bodies[second], bodies[first], exact[first])
    corners = there[:, None].apply(np.array(list(product(*bodies[second].bounds.T))))
    back = here[:, None].apply(np.array(list(product(*bodies[first].bounds.T))))
    travel = [_travel(path) for path in (back, corners)]
    since = np.inf
    for t in range(clip.num_frames):
        since += max(travel[0][t], travel[1][t])
        one.memory.moved[:] += travel[0][t]
        two.memory.moved[:] += travel[1][t]
        if since <= _MOVED and t > 0:
            depth[t] = depth[t - 1]
            continue
        since = 0.0
        if not _bounds_meet(corners[t], bodies[first]) or not _bounds_meet(back[t], bodies[second]):
            continue
        lines, others = one.crossing(here[t]), two.crossing(there[t])
        places = np.concatenate([there[t].apply(lines.places), others.places])
        if len(places) == 0:
            continue
        middles = _between(places)
        inside = np.minimum(
            -exact[first].signed_distance(middles)[0],
            -exact[second].signed_distance(here[t].apply(middles))[0],
        )
        depth[t] = max(2.0 * float(inside.max()), lines.aside, others.aside, 0.0)
    return depth


def _travel(path: Float[np.ndarray, "T K 3"]) -> Float[np.ndarray, " T"]:
    """How far the farthest of some points moves since the last frame, m."""
    travel = np.zeros(len(path))
    travel[1:] = np.linalg.norm(np.diff(path, axis=0), axis=-1).max(axis=-1)
    return travel


def _bounds_meet(corners: Float[np.ndarray, "K 3"], body: RigidBody) -> bool:
    low, high = body.bounds
    return bool(((corners.min(axis=0) <= high) & (corners.max(axis=0) >= low)).all())


def _between(places: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "M 3"]:
    """The middle of some places, and those of pairs of them: one lies deep in both bodies."""
    rows = farthest_first(
        lambda row: np.linalg.norm(places - places[row], axis=1), first=0, count=_MOST_PLACES
    )
    chosen = places[rows]
    pairs = [0.5 * (a + b) for a, b in combinations(chosen, 2)]
    return np.array([places.mean(axis=0), *pairs])


class _Memory(NamedTuple):
    """What is known of the middles of edges from earlier frames."""

    known: Float[np.ndarray, " E"]
    """Distance from the other body's surface when last looked at, m."""
    moved: Float[np.ndarray, " E"]
    """How far they have moved since at most, m."""


class _Crossing(NamedTuple):
    """Edges of one body that go through faces of another, in the other's frame."""

    places: Float[np.ndarray, "N 3"]
    """Where they enter and leave, m."""
    aside: float
    """How far an edge that goes in and out can be moved to any side and still does, m."""


class _Edges(NamedTuple):
    """Edges of a body against another one."""

    start: Float[np.ndarray, "E 3"]
    end: Float[np.ndarray, "E 3"]
    half: Float[np.ndarray, " E"]
    """Half their length, m."""
    other: RigidBody
    exact: ExactDistance
    memory: _Memory

    @staticmethod
    def of(body: RigidBody, other: RigidBody, exact: ExactDistance) -> _Edges:
        start, end = _edges(body)
        half = 0.5 * np.linalg.norm(end - start, axis=1)
        memory = _Memory(np.zeros(len(half)), np.full(len(half), np.inf))
        return _Edges(start, end, half, other, exact, memory)

    def crossing(self, pose: Pose) -> _Crossing:
        """Where edges go through the other body, seen from which this one has a pose."""
        known, moved = self.memory
        due = np.flatnonzero(known - moved <= self.half)
        start, end = pose.apply(self.start[due]), pose.apply(self.end[due])
        known[due] = np.abs(self.exact.signed_distance(0.5 * (start + end))[0])
        moved[due] = 0.0
        near = (known[due] <= self.half[due]) & (self.half[due] > 0.0)
        start, end = start[near], end[near]
        if len(start) == 0:
            return _Crossing(np.zeros((0, 3)), 0.0)
        caster, length = ray_caster(self.other), 2.0 * self.half[due[near]]
        unit = (end - start) / length[:, None]
        enters, leaves = caster.cast(start, unit)[0], caster.cast(end, -unit)[0]
        hit = np.flatnonzero((enters <= length) & (leaves <= length))
        entry = start[hit] + enters[hit, None] * unit[hit]
        exit_ = end[hit] - leaves[hit, None] * unit[hit]
        # Of those that go in and come out again, how far they do so to the sides.
        through = self.exact.signed_distance(0.5 * (entry + exit_))[0] < 0.0
        for tip in (start[hit], end[hit]):
            through &= self.exact.signed_distance(tip)[0] > 0.0
        places = np.concatenate([entry, exit_])
        return _Crossing(places, self._aside(entry[through], exit_[through]))

    def _aside(self, entry: Float[np.ndarray, "N 3"], exit_: Float[np.ndarray, "N 3"]) -> float:
        """The largest of the distances that lines can be moved by to all sides, m."""
        best = 0.0
        for shift in _ASIDE:
            if len(entry) == 0:
                break
            way = exit_ - entry
            length = np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-12)
            before, after = entry - shift * way / length, exit_ + shift * way / length
            still = np.ones(len(entry), dtype=bool)
            for side in lines_beside(way):
                still &= is_crossed(self.other, before + shift * side, after + shift * side)
            entry, exit_ = entry[still], exit_[still]
            if still.any():
                best = shift
        return best


@lru_cache(maxsize=8)
def _edges(body: RigidBody) -> tuple[Float[np.ndarray, "E 3"], Float[np.ndarray, "E 3"]]:
    edges = unique_edges(body.faces)[0]
    return body.vertices[edges[:, 0]], body.vertices[edges[:, 1]]
