"""Capsules against fixed surroundings: half-spaces and boxes.

The signed distance to a half-space or a box is convex, for both are convex sets; so is the gap
``d(p(s)) - r(s)`` of the spheres along a tapered capsule, and a bracketing search finds its least
value. It is the exact distance where it is positive, and the depth of the deepest sphere where it
is negative.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from handwright.errors import InvalidValueError
from handwright.geometry.distance.environment import EnvironmentArrays, surface_value_gradient
from handwright.kernels.decorators import compiled
from handwright.math.golden_section import golden_bracket, narrowed_bracket

# Steps of the search that leave less of the axis than rounding does.
_STEPS = 60


@compiled
def _gap_at(env: EnvironmentArrays, index: int, s: float, ends: tuple, radii: tuple) -> float:
    p, u = ends
    value = surface_value_gradient(env, index, p[0] + s * u[0], p[1] + s * u[1], p[2] + s * u[2])
    return value[0] - (radii[0] + s * (radii[1] - radii[0]))


@compiled
def capsule_to_surface(
    env: EnvironmentArrays,
    index: int,
    start: Float[np.ndarray, "3"],
    end: Float[np.ndarray, "3"],
    radii: tuple[float, float],
) -> tuple[float, float]:
    """Gap between a tapered capsule and one surface.

    Args:
        env: From ``pack_environment``.
        index: Half-spaces first, then boxes.
        start: First end of the axis in the world, metres.
        end: Second end.
        radii: At the first and second ends, metres.

    Returns:
        Gap in metres, negative in penetration, and the parameter from 0 to 1 on the axis where it
        is reached.
    """
    p = (start[0], start[1], start[2])
    u = (end[0] - start[0], end[1] - start[1], end[2] - start[2])
    ends = (p, u)
    best, best_s = _gap_at(env, index, 0.0, ends, radii), 0.0
    other = _gap_at(env, index, 1.0, ends, radii)
    if other < best:
        best, best_s = other, 1.0
    if index < len(env.offsets):
        # Along the axis the distance to a plane is linear: least at an end.
        return best, best_s
    bracket = golden_bracket(0.0, 1.0)
    g1 = _gap_at(env, index, bracket.left, ends, radii)
    g2 = _gap_at(env, index, bracket.right, ends, radii)
    for _ in range(_STEPS):
        is_left_less = g1 < g2
        bracket = narrowed_bracket(bracket, is_left_less)
        if is_left_less:
            g1, g2 = _gap_at(env, index, bracket.left, ends, radii), g1
        else:
            g1, g2 = g2, _gap_at(env, index, bracket.right, ends, radii)
    middle = 0.5 * (bracket.low + bracket.high)
    gap = _gap_at(env, index, middle, ends, radii)
    # Written so that NaN goes through.
    if not gap >= best:
        return gap, middle
    return best, best_s


@compiled
def _all_gaps(
    env: EnvironmentArrays, starts: np.ndarray, ends: np.ndarray, radii: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    count = len(starts)
    gaps, parameters = np.full(count, np.inf), np.zeros(count)
    normals, nearest = np.zeros((count, 3)), np.full(count, -1, dtype=np.int64)
    for n in range(count):
        for index in range(len(env.frictions)):
            both = (radii[n, 0], radii[n, 1])
            gap, s = capsule_to_surface(env, index, starts[n], ends[n], both)
            if gap < gaps[n]:
                gaps[n], parameters[n], nearest[n] = gap, s, index
        if nearest[n] >= 0:
            p = starts[n] + parameters[n] * (ends[n] - starts[n])
            _, gx, gy, gz = surface_value_gradient(env, nearest[n], p[0], p[1], p[2])
            normals[n, 0], normals[n, 1], normals[n, 2] = gx, gy, gz
    return gaps, parameters, normals, nearest


def capsules_to_environment(
    env: EnvironmentArrays,
    starts: Float[np.ndarray, "N 3"],
    ends: Float[np.ndarray, "N 3"],
    radii: Float[np.ndarray, " N"] | Float[np.ndarray, "N 2"],
) -> tuple[
    Float[np.ndarray, " N"],
    Float[np.ndarray, " N"],
    Float[np.ndarray, "N 3"],
    Int[np.ndarray, " N"],
]:
    """Gap between each capsule and the surface nearest to it.

    Args:
        env: From ``pack_environment``.
        starts: First ends of the axes in the world, metres.
        ends: Second ends.
        radii: Of each capsule, or at its first and second ends, metres.

    Returns:
        Gaps in metres, negative in penetration; parameters from 0 to 1 on the axes where they are
        reached; directions out of the surfaces there; and the numbers of the surfaces. Where there
        are no surroundings: infinity, zeros and -1.
    """
    starts = np.ascontiguousarray(starts, dtype=np.float64)
    ends = np.ascontiguousarray(ends, dtype=np.float64)
    radii = np.asarray(radii, dtype=np.float64)
    if radii.ndim == 1:
        radii = np.stack([radii, radii], axis=1)
    count = len(starts)
    if starts.shape != (count, 3) or ends.shape != (count, 3) or radii.shape != (count, 2):
        raise InvalidValueError(
            f"starts has shape {starts.shape}, ends {ends.shape} and radii {radii.shape}; "
            "expected (N, 3), (N, 3) and (N,) or (N, 2)."
        )
    if not all(np.isfinite(array).all() for array in (starts, ends, radii)):
        raise InvalidValueError("Capsules hold NaN or infinity; expected metres.")
    gaps, parameters, normals, nearest = _all_gaps(env, starts, ends, np.ascontiguousarray(radii))
    return gaps, parameters, normals, nearest
