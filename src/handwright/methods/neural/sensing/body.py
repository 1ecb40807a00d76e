"""What of a body takes part in sensing: two distance grids, and its centre of mass.

The near grid is the one that all methods share: fine, and a little larger than the body. Beyond its
border a grid only knows a lower bound of the distance, and that bound depends on how the body lies
in its frame. Sensors reach further; so a coarse grid around the near one holds true distances as
far as any sensor looks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from handwright.core.body import RigidBody
from handwright.geometry.distance.sdf import Field, make_field
from handwright.geometry.distance.sdf_build import signed_distance_field

REACH = 0.10
"""Largest distance that a sensor tells apart, m (section 5.2)."""
FAR_SPACING = 0.004
"""Between the nodes of the far grid of a hand-size body, m."""
_MOST_FAR_NODES = 1_000_000
# Bodies whose grids are kept in memory: a problem has one or two, a training set a few dozen.
_NUM_KEPT = 32


class SensedBody(NamedTuple):
    """A body for the sensing kernels, in its own frame."""

    near: Field
    far: Field
    low: np.ndarray
    """(3,) lowest corner of the box around the surface, m."""
    high: np.ndarray
    """(3,) highest corner of that box, m."""
    center: np.ndarray
    """(3,) centre of mass, m."""


@dataclass(frozen=True, slots=True)
class _Surface:
    """A body that equals another one with the same surface."""

    digest: str
    body: RigidBody = field(compare=False)


def sensed_body(body: RigidBody, size: float = 1.0) -> SensedBody:
    """The grids and the centre of mass of a body; grids come from the cache if they can.

    Args:
        body: The body.
        size: Of the hand that senses it, beside the taught one; see ``shrunk``.
    """
    near, far = _grids(_Surface(body.content_hash, body), size)
    low, high = body.bounds
    # By one spacing larger, so that a ray that leaves the body there is seen to leave it.
    return shrunk(
        SensedBody(near, far, low - near.spacing, high + near.spacing, np.array(body.center)), size
    )


def shrunk(body: SensedBody, size: float) -> SensedBody:
    """The body as a hand of this size sees it, with all lengths divided by the size.

    Args:
        body: In metres. Of one that was made for the taught hand, larger hands sense less far.
        size: Of the hand, beside the taught one.
    """
    if size == 1.0:
        return body
    near, far = (
        make_field(one.values / size, one.origin / size, one.spacing / size, one.margin / size)
        for one in (body.near, body.far)
    )
    return SensedBody(near, far, body.low / size, body.high / size, body.center / size)


@lru_cache(maxsize=_NUM_KEPT)
def _grids(surface: _Surface, size: float) -> tuple[Field, Field]:
    """The near grid, and a far one that reaches as far as hands of this size do."""
    body, reach = surface.body, size * REACH
    box = np.ptp(body.bounds, axis=0) + 2.0 * reach
    spacing = max(size * FAR_SPACING, float(np.cbrt(np.prod(box) / _MOST_FAR_NODES)))
    return (
        signed_distance_field(body),
        signed_distance_field(body, spacing=spacing, padding=reach),
    )
