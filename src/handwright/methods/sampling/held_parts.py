"""Where digits shall hold a body: parts of its surface that an artist names, as places to draw.

The counterpart of forbidden regions. A part is found from the body's shape (``geometry.parts``) or
is what lies in a ball. Digits that are told to hold it there are given no other places.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import igl
import numpy as np
from jaxtyping import Bool, Float

from handwright.core.body import RigidBody
from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.geometry.parts import BodyPart, faces_of_part
from handwright.methods.sampling.candidates import Candidates, lifetimes
from handwright.methods.sampling.control import digit_rows
from handwright.methods.sampling.grasps import first_digits
from handwright.methods.sampling.holdings import Holding
from handwright.methods.sampling.preferences import Ball

if TYPE_CHECKING:
    from handwright.methods.sampling.contact_sampling import ContactSampling

PART_TOLERANCE = 3e-3
"""A digit touches a part that it is told to hold if a contact of it is this near to it, m."""
# A point of the surface is on a part if it is this near to it, m.
_ON = 1e-5
# Fingers that a thumb needs across from it.
_FINGERS = 2


class Region:
    """A part of a body's surface."""

    def __init__(self, body: RigidBody, where: BodyPart | Ball) -> None:
        """Finds it.

        Args:
            body: The body.
            where: A part that its shape tells, or a ball.

        Raises:
            InvalidValueError: The body has no such part.
        """
        self.where = where
        if isinstance(where, Ball):
            return
        faces = faces_of_part(body, where)
        self._vertices = np.ascontiguousarray(body.vertices, dtype=np.float64)
        self._faces = np.ascontiguousarray(body.faces[faces], dtype=np.int64)
        self._tree: Any = igl.AABB()
        self._tree.init(self._vertices, self._faces)

    def distance(self, points: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, " N"]:
        """How far points of the surface are from it, m."""
        if isinstance(self.where, Ball):
            away = np.linalg.norm(points - np.array(self.where.center), axis=1)
            return np.maximum(away - self.where.radius, 0.0)
        if len(points) == 0:
            return np.zeros(0)
        squared, _, _ = self._tree.squared_distance(
            self._vertices, self._faces, np.ascontiguousarray(points, dtype=np.float64)
        )
        return np.sqrt(np.atleast_1d(squared))

    def holds(self, points: Float[np.ndarray, "N 3"]) -> Bool[np.ndarray, " N"]:
        """Which points of the surface belong to it."""
        return self.distance(points) <= _ON


@lru_cache(maxsize=32)
def region_of(body: RigidBody, where: BodyPart | Ball) -> Region:
    """The region; kept, since many digits may ask for the same."""
    return Region(body, where)


class HeldParts(NamedTuple):
    """Regions for the D digits of a holding."""

    regions: tuple[tuple[Region, ...], ...]
    """(D,) where each digit may hold the body; anywhere if it has none."""
    is_split: bool
    """Whether thumbs or fingers go into a hollow, whichever reach it: the rest stays outside."""

    def all_regions(self) -> tuple[Region, ...]:
        """Every region once."""
        return tuple(dict.fromkeys(region for row in self.regions for region in row))

    def is_anywhere(self) -> bool:
        """Whether some digit may hold the body anywhere."""
        return any(not row for row in self.regions)

    def strays(self, digit: int, points: Float[np.ndarray, "N 3"]) -> bool:
        """Whether a digit that touches the body at some points does so only beside its regions."""
        row = self.regions[digit]
        if not row or len(points) == 0:
            return False
        return bool(min(region.distance(points).min() for region in row) > PART_TOLERANCE)


def find_held_parts(
    body: RigidBody,
    holding: Holding,
    models: tuple[HandModel, ...],
    method: ContactSampling,
) -> HeldParts:
    """What the wishes of an artist say about the digits of a holding.

    Raises:
        InvalidValueError: The body has no such part, or wishes contradict each other.
    """
    count = sum(len(model.digits) for model in models)
    rows: list[list[Region]] = [[] for _ in range(count)]
    is_split = method.hold == "inside"
    if method.hold == "inside":
        both = [region_of(body, "inside"), region_of(body, "outside")]
        rows = [list(both) for _ in range(count)]
    elif method.hold != "anywhere":
        rows = [[region_of(body, method.hold)] for _ in range(count)]
    told: set[int] = set()
    for wish in method.held_by:
        if wish.body not in (None, holding.body):
            continue
        for d in digit_rows(holding, models, wish.digits):
            # What is said of a digit goes before what is said of all.
            rows[d] = [*(rows[d] if d in told else ()), region_of(body, wish.where)]
            told.add(d)
    inside = any(region.where == "inside" for row in rows for region in row)
    if inside and method.fills_hollows:
        raise InvalidValueError(
            f"Body '{holding.body}' is to be held from inside, and fills_hollows takes it as "
            "solid. Leave fills_hollows off."
        )
    return HeldParts(tuple(tuple(row) for row in rows), is_split)


def keep_to_parts(
    parts: HeldParts, places: Candidates, hand_of_digit: np.ndarray
) -> tuple[HeldParts, Candidates]:
    """Leaves digits only places in their regions, and settles who goes into a hollow.

    Args:
        parts: What digits are told.
        places: Candidates.
        hand_of_digit: (D,)
    """
    regions = parts.all_regions()
    if not regions:
        return parts, places
    holds = {region: region.holds(places.point) for region in regions}
    if parts.is_split:
        parts = _split(parts, places, holds, hand_of_digit)
    cost = places.cost.copy()
    for d, row in enumerate(parts.regions):
        if row:
            cost[d, ~np.any([holds[region] for region in row], axis=0)] = np.inf
    return parts, places._replace(cost=cost, life=lifetimes(cost))


def _split(
    parts: HeldParts,
    places: Candidates,
    holds: dict[Region, np.ndarray],
    hand_of_digit: np.ndarray,
) -> HeldParts:
    """Thumb inside and fingers outside, the other way round, or all inside: what suits best."""
    rows = list(parts.regions)
    is_thumb = first_digits(hand_of_digit)
    for hand in np.unique(hand_of_digit).tolist():
        own = np.flatnonzero(hand_of_digit == hand).tolist()
        # Digits that were told their own region keep it.
        free = [d for d in own if len(rows[d]) == 2]
        if not free:
            continue
        inside, outside = rows[free[0]]
        best, most = None, -1.0
        for thumb_in, fingers_in in ((True, False), (False, True), (True, True)):
            chosen = {
                d: inside if (thumb_in if is_thumb[d] else fingers_in) else outside for d in free
            }
            ease = {d: _ease(places, d, holds[region]) for d, region in chosen.items()}
            fingers = sorted((ease[d] for d in free if not is_thumb[d]), reverse=True)
            thumbs = [ease[d] for d in free if is_thumb[d]]
            worth = float(np.prod(thumbs) * np.prod(fingers[:_FINGERS]))
            if worth > most:
                best, most = chosen, worth
        assert best is not None
        for d, region in best.items():
            rows[d] = (region,)
    return parts._replace(regions=tuple(rows))


def _ease(places: Candidates, digit: int, holds: np.ndarray) -> float:
    """How easily a digit holds one of some places from the first frame on, 0 to 1."""
    cost = np.where(holds, places.cost[digit, :, 0], np.inf)
    share = places.life[digit, :, 0] / len(places.frame)
    return float((np.exp(-cost) * share).max(initial=0.0))
