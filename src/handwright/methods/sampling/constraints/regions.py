"""Where digits shall hold a body: parts of its surface that an artist names.

They are the counterpart of forbidden regions. A part is found from the body's shape
(``geometry.regions.parts``) or is what lies in a ball. Digits that are told to hold the body there
are given no other candidates.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import igl
import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.body import RigidBody
from handwright.errors import InvalidValueError
from handwright.geometry.mesh.normals import face_normals
from handwright.geometry.regions.parts import BodyPart, faces_of_part
from handwright.methods.sampling.constraints.apply import digit_rows
from handwright.methods.sampling.constraints.preferences import Ball
from handwright.methods.sampling.setup.candidates import Candidates, lifetimes
from handwright.methods.sampling.setup.grasps import first_digits
from handwright.methods.sampling.setup.intervals import CarryInterval

if TYPE_CHECKING:
    from handwright.methods.sampling.method import ContactSampling

PART_TOLERANCE = 3e-3
"""A digit touches a part if one of its contacts is this near to it, m."""
# A point of the surface is on a part if it is this near to it, m.
_ON = 1e-5
# Faces of a part whose normals are this much against that of a contact are on the other side of a
# thin wall; at a rim they are at right angles.
_OTHER_SIDE = -0.5
# Fingers that a thumb needs across from it.
_FINGERS = 2


class Region:
    """A part of a body's surface."""

    def __init__(self, body: RigidBody, where: BodyPart | Ball) -> None:
        """Finds a part that a body's shape tells, or a ball.

        Raises:
            InvalidValueError: The body has no such part.
        """
        self.where = where
        if isinstance(where, Ball):
            return
        faces = faces_of_part(body, where)
        self._vertices = np.ascontiguousarray(body.vertices, dtype=np.float64)
        self._faces = np.ascontiguousarray(body.faces[faces], dtype=np.int64)
        self._normals = face_normals(body.vertices[self._faces])
        self._tree: Any = igl.AABB()
        self._tree.init(self._vertices, self._faces)

    def distance(
        self, points: Float[np.ndarray, "N 3"], outward: Float[np.ndarray, "N 3"] | None = None
    ) -> Float[np.ndarray, " N"]:
        """How far points of the surface, m, are from the region, m.

        With outward normals, what is on the other side of a wall is infinitely far away, however
        thin that is.
        """
        if isinstance(self.where, Ball):
            away = np.linalg.norm(points - np.array(self.where.center), axis=1)
            return np.maximum(away - self.where.radius, 0.0)
        if len(points) == 0:
            return np.zeros(0)
        squared, face, _ = self._tree.squared_distance(
            self._vertices, self._faces, np.ascontiguousarray(points, dtype=np.float64)
        )
        distance = np.sqrt(np.atleast_1d(squared))
        if outward is None:
            return distance
        cosine = np.einsum("ni,ni->n", self._normals[np.atleast_1d(face)], outward)
        return np.where(cosine > _OTHER_SIDE, distance, np.inf)

    def holds(self, points: Float[np.ndarray, "N 3"]) -> Bool[np.ndarray, " N"]:
        """Which points of the surface belong to the region."""
        return self.distance(points) <= _ON


@lru_cache(maxsize=32)
def region_of(body: RigidBody, where: BodyPart | Ball) -> Region:
    """The region of a body; it is cached, since many digits may ask for the same."""
    return Region(body, where)


class HeldParts(NamedTuple):
    """Regions for the D digits of a hold."""

    regions: tuple[tuple[Region, ...], ...]
    """For each digit where it may hold the body; anywhere if it has none."""
    split: tuple[int, ...] = ()
    """Digits of which thumbs or fingers go into a hollow, whichever reach it; the rest of them
    stays outside. Their regions are inside and outside."""

    def all_regions(self) -> tuple[Region, ...]:
        """Every region once."""
        return tuple(dict.fromkeys(region for row in self.regions for region in row))

    def is_anywhere(self) -> bool:
        """Whether some digit may hold the body anywhere."""
        return any(not row for row in self.regions)

    def strays(
        self, digit: int, points: Float[np.ndarray, "N 3"], outward: Float[np.ndarray, "N 3"]
    ) -> bool:
        """Whether a digit that touches the body at some points, m, does so beside its regions only.

        Points come with the body's outward normals there.
        """
        row = self.regions[digit]
        if not row or len(points) == 0:
            return False
        nearest = min(region.distance(points, outward).min() for region in row)
        return bool(nearest > PART_TOLERANCE)


def find_held_parts(body: RigidBody, interval: CarryInterval, method: ContactSampling) -> HeldParts:
    """Where the digits of a hold are told to hold the body.

    Raises:
        InvalidValueError: The body has no such part, or settings contradict each other.
    """
    rows: list[list[Region]] = [[] for _ in digit_rows(interval, ())]
    for region in method.grasp_regions:
        if region.body in (None, interval.body):
            for d in digit_rows(interval, region.digits):
                rows[d].append(region_of(body, region.where))
    # What is said of a digit goes before what is said of all; a part that nobody is left to hold
    # need not exist.
    untold = tuple(d for d, row in enumerate(rows) if not row)
    wanted: tuple[BodyPart, ...] = ()
    if method.grasp_region != "anywhere":
        wanted = (
            ("inside", "outside") if method.grasp_region == "inside" else (method.grasp_region,)
        )
    for d in untold:
        rows[d] = [region_of(body, where) for where in wanted]
    inside = any(region.where == "inside" for row in rows for region in row)
    if inside and method.treat_as_solid:
        raise InvalidValueError(
            f"Body '{interval.body}' is to be held from inside, and treat_as_solid takes it as "
            "solid. Leave treat_as_solid off."
        )
    split = untold if method.grasp_region == "inside" else ()
    return HeldParts(tuple(tuple(row) for row in rows), split)


def keep_to_parts(
    parts: HeldParts, candidates: Candidates, hand_of_digit: Int[np.ndarray, " D"]
) -> tuple[HeldParts, Candidates]:
    """Leaves digits only candidates in their regions, and decides which go into a hollow."""
    regions = parts.all_regions()
    if not regions:
        return parts, candidates
    holds = {region: region.holds(candidates.point) for region in regions}
    if parts.split:
        parts = _split(parts, candidates, holds, hand_of_digit)
    cost = candidates.cost.copy()
    for d, row in enumerate(parts.regions):
        if row:
            cost[d, ~np.any([holds[region] for region in row], axis=0)] = np.inf
    return parts, candidates._replace(cost=cost, life=lifetimes(cost))


def _split(
    parts: HeldParts,
    candidates: Candidates,
    holds: dict[Region, Bool[np.ndarray, " M"]],
    hand_of_digit: Int[np.ndarray, " D"],
) -> HeldParts:
    """Chooses what suits best: the thumb inside, the fingers inside, or all of them."""
    rows = list(parts.regions)
    is_thumb = first_digits(hand_of_digit)
    for hand in np.unique(hand_of_digit).tolist():
        own = np.flatnonzero(hand_of_digit == hand).tolist()
        free = [d for d in own if d in parts.split]
        if not free:
            continue
        inside, outside = rows[free[0]]
        best, most = None, -1.0
        for thumb_in, fingers_in in ((True, False), (False, True), (True, True)):
            chosen = {
                d: inside if (thumb_in if is_thumb[d] else fingers_in) else outside for d in free
            }
            ease = {d: _ease(candidates, d, holds[region]) for d, region in chosen.items()}
            fingers = sorted((ease[d] for d in free if not is_thumb[d]), reverse=True)
            thumbs = [ease[d] for d in free if is_thumb[d]]
            score = float(np.prod(thumbs) * np.prod(fingers[:_FINGERS]))
            if score > most:
                best, most = chosen, score
        assert best is not None
        for d, region in best.items():
            rows[d] = (region,)
    return parts._replace(regions=tuple(rows))


def _ease(candidates: Candidates, digit: int, holds: Bool[np.ndarray, " M"]) -> float:
    """How easily a digit holds one of some candidates from the first frame on, 0 to 1."""
    cost = np.where(holds, candidates.cost[digit, :, 0], np.inf)
    share = candidates.life[digit, :, 0] / len(candidates.frame)
    return float((np.exp(-cost) * share).max(initial=0.0))
