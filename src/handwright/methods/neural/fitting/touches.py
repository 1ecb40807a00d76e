"""Where the capsules of a posed hand are nearest to a body."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.hand import HandModel
from handwright.geometry.distance.sdf_chains import capsule_depth
from handwright.kernels.decorators import kernel
from handwright.kernels.packed import Packed
from handwright.kinematics.tree import Links, Tree, forward, links_for, placed_row, tree_of
from handwright.math.vec3 import row3
from handwright.methods.neural.fitting.body_view import BodyView, to_body
from handwright.methods.neural.fitting.touch_terms import SAMPLES, TouchTable


class Touches(NamedTuple):
    """Of one hand, in the body's frame."""

    gap: Float[np.ndarray, " C"]
    """m."""
    point: Float[np.ndarray, "C 3"]
    """On the body, m."""
    outward: Float[np.ndarray, "C 3"]
    """Out of the body there."""
    can_move: Bool[np.ndarray, " C"]
    """Whether a digit can bring the capsule to the body; those of the palm touch or do not."""
    rotation: Float[np.ndarray, "C 3 3"]
    """Of the capsule's link."""
    position: Float[np.ndarray, "C 3"]
    """Of the capsule's link, m."""


class _Hand(NamedTuple):
    tree: Tree
    links: Links
    """Room for a pose; the root is at the origin."""
    link: np.ndarray
    start: np.ndarray
    end: np.ndarray
    radius: np.ndarray


class CapsuleTouches:
    """Measures one hand; holds room to compute in, so one thread may use it."""

    __slots__ = ("_can_move", "_hand")

    def __init__(self, model: HandModel, touch: TouchTable) -> None:
        """Makes ready.

        Args:
            model: The hand.
            touch: Which of its capsules digits can bring to the body.
        """
        capsules = model.capsules
        self._can_move = np.zeros(len(capsules.link), dtype=bool)
        self._can_move[touch.capsule] = True
        self._hand = Packed(
            _Hand(
                tree_of(model),
                links_for(model),
                capsules.link.astype(np.int64),
                np.array(capsules.start),
                np.array(capsules.end),
                np.array(capsules.radius),
            )
        )

    def __call__(self, view: BodyView, q: Float[np.ndarray, " J"]) -> Touches:
        """Of one posture, rad, from the only pose of the view."""
        count = len(self._can_move)
        found = Touches(
            np.zeros(count),
            np.zeros((count, 3)),
            np.zeros((count, 3)),
            self._can_move,
            np.zeros((count, 3, 3)),
            np.zeros((count, 3)),
        )
        _measure(self._hand, Packed(view), np.array(q), found)
        return found


@kernel
def _measure(
    hand: _Hand,
    view: BodyView,
    q: np.ndarray,
    found: Touches,
) -> None:
    """Poses the hand and measures all of its capsules."""
    forward(hand.tree, q, hand.links)
    gap, outward, point, links = found.gap, found.outward, found.point, hand.links
    for c in range(gap.shape[0]):
        link = hand.link[c]
        ax, ay, az = to_body(view, 0, placed_row(links, link, hand.start, c))
        bx, by, bz = to_body(view, 0, placed_row(links, link, hand.end, c))
        r = hand.radius[c]
        gap[c], s, gx, gy, gz = capsule_depth(view.field, ax, ay, az, bx, by, bz, r, r, SAMPLES)
        off = gap[c] + r
        outward[c, 0], outward[c, 1], outward[c, 2] = gx, gy, gz
        point[c, 0] = ax + s * (bx - ax) - off * gx
        point[c, 1] = ay + s * (by - ay) - off * gy
        point[c, 2] = az + s * (bz - az) - off * gz
        x, y, z = to_body(view, 0, row3(links.position, link))
        found.position[c, 0], found.position[c, 1], found.position[c, 2] = x, y, z
        for i in range(3):
            for j in range(3):
                turn = 0.0
                for k in range(3):
                    turn += view.rotation[0, i, k] * links.rotation[link, k, j]
                found.rotation[c, i, j] = turn
