"""Pieces of the surface of overlapping parts, for what is outside of all of them.

Triangles near another part are halved until each is clear of it or small, and a piece is kept if
there is outside in front of it and inside behind it. This takes any closed parts, also those that
touch almost, at the cost of many small pieces along every seam.
"""

from __future__ import annotations

import igl
import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.geometry.mesh.normals import face_normals

PROBE = 5e-6
"""Metres: half the thickness of surface that one winding-number probe looks through. This is far
above the rounding of the single-precision tree behind it, and far below any wall."""

# Metres. A piece below this size that lies on a face of another part at its corners and its middle
# lies on it altogether; without this rule, flush faces would be cut to dust.
_FLUSH_SIZE = 2e-3
# More pieces than this would slow every later query; the seams are then cut more coarsely.
_MAX_PIECES = 100_000


def cut_near(
    corners: Float[np.ndarray, "N 3 3"],
    source: Int[np.ndarray, "N"],
    others: tuple[np.ndarray, np.ndarray],
    tolerance: float,
) -> tuple[Float[np.ndarray, "M 3 3"], Int[np.ndarray, "M"]]:
    """Halves triangles until each is clear of the other parts or small.

    Args:
        corners: Triangles of one part, metres.
        source: A number of each, which its pieces keep.
        others: Vertices and faces of the other parts.
        tolerance: Size of the smallest pieces, metres.
    """
    tree = igl.AABB()
    tree.init(*others)
    done, done_source, num_done = [], [], 0
    while len(corners):
        center = corners.mean(axis=1)
        radius = np.linalg.norm(corners - center[:, None], axis=2).max(axis=1)
        squared, _, _ = tree.squared_distance(*others, np.ascontiguousarray(center))
        finished = (squared > radius**2) | (radius <= tolerance)
        flush = np.flatnonzero(~finished & (radius <= _FLUSH_SIZE) & (squared <= PROBE**2))
        if len(flush):
            at_corners, _, _ = tree.squared_distance(*others, corners[flush].reshape(-1, 3))
            finished[flush] = at_corners.reshape(-1, 3).max(axis=1) <= PROBE**2
        if num_done + len(corners) > _MAX_PIECES:
            finished[:] = True
        done.append(corners[finished])
        done_source.append(source[finished])
        num_done += int(finished.sum())
        corners, source = corners[~finished], np.tile(source[~finished], 2)
        corners = _halved(corners)
    return np.concatenate(done), np.concatenate(done_source)


def _halved(corners: Float[np.ndarray, "N 3 3"]) -> Float[np.ndarray, "M 3 3"]:
    """Splits triangles in two at the middle of their longest edges; all first halves first."""
    lengths = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
    rows = np.arange(len(corners))
    start = lengths.argmax(axis=1)
    a, b = corners[rows, start], corners[rows, (start + 1) % 3]
    c = corners[rows, (start + 2) % 3]
    middle = 0.5 * (a + b)
    return np.concatenate([np.stack([a, middle, c], 1), np.stack([middle, b, c], 1)])


def is_boundary(
    corners: Float[np.ndarray, "N 3 3"], others: tuple[np.ndarray, np.ndarray], *, is_solid: bool
) -> Bool[np.ndarray, "N"]:
    """Whether there is outside in front of each piece of a part and inside behind it.

    Args:
        corners: Pieces of one part, metres.
        others: Vertices and faces of the other parts.
        is_solid: Whether the part is a solid, and not a cavity.
    """
    tree = igl.FastWindingNumberBVH()
    tree.init(*others)
    center = corners.mean(axis=1)
    normal = face_normals(corners)
    # The part itself is wound 0 times around what is in front of it and once around what is
    # behind; a cavity -1 times and 0 times.
    own = 0.0 if is_solid else -1.0
    front = own + tree.winding_number(np.ascontiguousarray(center + PROBE * normal))
    keep = np.asarray(front < 0.5)
    behind = center[keep] - PROBE * normal[keep]
    if len(behind):
        keep[keep] = own + 1.0 + np.atleast_1d(tree.winding_number(behind)) > 0.5
    return keep
