"""Plane curves: rounded polygons, arcs and smooth curves through points."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy.interpolate import CubicSpline

# How much a rounding turns between two of its points.
_ARC_STEP = math.radians(15.0)


def arc(
    center: tuple[float, float],
    radius: float,
    start: float,
    end: float,
    *,
    num_points: int,
) -> Float[np.ndarray, "N 2"]:
    """Points of a circle from angle ``start`` to ``end`` (radians), both included."""
    angles = np.linspace(start, end, num_points)
    return np.asarray(center) + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def rounded(
    points: Sequence[tuple[float, float]],
    radii: Sequence[float] | float,
    *,
    is_loop: bool = False,
    step: float = _ARC_STEP,
) -> Float[np.ndarray, "N 2"]:
    """Replaces the corners of a polyline by arcs.

    Args:
        points: Corners, metres.
        radii: Radius of each corner, metres; 0 keeps it sharp. One number serves all. Shortened
            where two arcs would meet.
        is_loop: Whether the last point joins the first; else both ends stay as they are.
        step: Turn between two points of an arc, radians.
    """
    corners = np.asarray(points, dtype=np.float64)
    count = len(corners)
    wanted = np.broadcast_to(np.asarray(radii, dtype=np.float64), (count,))
    pieces: list[Float[np.ndarray, "K 2"]] = []
    for i in range(count):
        here = corners[i]
        if (not is_loop and i in (0, count - 1)) or wanted[i] == 0.0:
            pieces.append(here[None])
            continue
        to_last, to_next = corners[i - 1] - here, corners[(i + 1) % count] - here
        lengths = np.linalg.norm(to_last), np.linalg.norm(to_next)
        to_last, to_next = to_last / lengths[0], to_next / lengths[1]
        opening = math.acos(float(np.clip(to_last @ to_next, -1.0, 1.0)))
        if math.pi - opening < 1e-6:
            pieces.append(here[None])
            continue
        reach = min(wanted[i] / math.tan(opening / 2.0), 0.499 * min(lengths))
        radius = reach * math.tan(opening / 2.0)
        middle = here + (to_last + to_next) / np.linalg.norm(to_last + to_next) * (
            radius / math.sin(opening / 2.0)
        )
        first = here + to_last * reach - middle
        sense = to_next[0] * to_last[1] - to_next[1] * to_last[0]
        turn = math.copysign(math.pi - opening, float(sense))
        num = max(2, math.ceil(abs(turn) / step) + 1)
        angles = math.atan2(first[1], first[0]) + np.linspace(0.0, turn, num)
        pieces.append(middle + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1))
    return np.concatenate(pieces)


def smooth(
    points: Sequence[Sequence[float]], *, num_points: int, clamped: bool = False
) -> Float[np.ndarray, "N D"]:
    """A cubic spline through points, by chord length.

    Args:
        points: At least two, in any number of dimensions.
        num_points: Of the result, equally spaced in the parameter.
        clamped: Leave and arrive along the first and last chord, rather than straighten out.
    """
    knots = np.asarray(points, dtype=np.float64)
    chords = np.diff(knots, axis=0)
    lengths = np.linalg.norm(chords, axis=1)
    times = np.concatenate([[0.0], np.cumsum(lengths)])
    ends = ((1, chords[0] / lengths[0]), (1, chords[-1] / lengths[-1])) if clamped else "natural"
    return CubicSpline(times, knots, bc_type=ends)(np.linspace(0.0, times[-1], num_points))


def refined(
    points: Float[np.ndarray, "N 2"], *, longest: float, is_loop: bool = False
) -> Float[np.ndarray, "M 2"]:
    """Cuts segments longer than ``longest`` (m) into equal pieces; keeps all points."""
    following = np.roll(points, -1, axis=0) if is_loop else points[1:]
    pieces = []
    for a, b in zip(points, following, strict=False):
        num = max(1, math.ceil(float(np.linalg.norm(b - a)) / longest))
        pieces.append(a + (b - a) * (np.arange(num) / num)[:, None])
    if not is_loop:
        pieces.append(points[-1:])
    return np.concatenate(pieces)


def rounded_rectangle(
    width: float, depth: float, radius: float, *, step: float = _ARC_STEP
) -> Float[np.ndarray, "N 2"]:
    """An anticlockwise rectangle about the origin with arcs for corners, metres."""
    x, y = width / 2.0, depth / 2.0
    return rounded([(-x, -y), (x, -y), (x, y), (-x, y)], radius, is_loop=True, step=step)
