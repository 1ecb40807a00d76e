"""A smooth, bounded offset of a wrist that takes its hand out of the bodies.

The offset is a move and a turn in the frame of the wrist, both uniform cubic B-splines over time.
Values of such a spline are weighted means of its control points; with these inside a ball, so is
the whole curve. Control points p are functions of free numbers u,

    p = bound * u / sqrt(1 + |u|^2),

so the bounds hold whatever the solver does. It minimises, by damped Gauss-Newton steps in u,

    mean over time of (1/2 sum of squared excess depths + 1/2 keep |offset|^2)
        + 1/2 smooth * mean |second difference of control points|^2,

with turns counted at an arm's length. Its matrix is banded, so the effort grows with the length.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import solveh_banded

from handwright.conditioning.wrist_parts import Slopes

# Lever at which turns count, m.
_ARM = 0.1
# Weights of the size of the offset and of its second differences, against one squared depth.
_KEEP, _SMOOTH = 0.02, 0.05
_STEPS = 40
# A step that wins less than this share ends the search.
_LEAST_GAIN = 1e-4
_DAMPING = 1e-3
_SIZES = np.array([1.0, 1.0, 1.0, _ARM, _ARM, _ARM]) ** 2
_SECOND = np.array([1.0, -2.0, 1.0])


class OffsetSpline(NamedTuple):
    """An offset of a wrist over time."""

    begin: float
    """s."""
    spacing: float
    """Time between knots, s."""
    control: Float[np.ndarray, "K 6"]
    """Control points: move, m, and rotation vector."""

    def at(self, times: Float[np.ndarray, " N"]) -> Float[np.ndarray, "N 6"]:
        """The offset at some times, s; before the first and after the last knot it stays."""
        first, share = basis(times, self.begin, self.spacing, len(self.control))
        return np.einsum("na,nai->ni", share, self.control[first[:, None] + np.arange(4)])


def basis(
    times: Float[np.ndarray, " N"], begin: float, spacing: float, count: int
) -> tuple[Int[np.ndarray, " N"], Float[np.ndarray, "N 4"]]:
    """First of the four control points that count at each time, and their shares."""
    along = np.clip((times - begin) / spacing, 0.0, count - 3)
    first = np.minimum(along.astype(np.int64), count - 4)
    u = (along - first)[:, None]
    share = np.concatenate(
        [(1.0 - u) ** 3, 3.0 * u**3 - 6.0 * u**2 + 4.0, -3.0 * u**3 + 3.0 * u**2 + 3.0 * u + 1.0,
         u**3], axis=1
    )  # fmt: skip
    return first, share / 6.0


def squash(
    free: Float[np.ndarray, "K 6"], shift: float, turn: float
) -> tuple[Float[np.ndarray, "K 6"], Float[np.ndarray, "K 6 6"]]:
    """Control points within their bounds, m and rad, and their derivatives by the free numbers."""
    points, slopes = np.zeros(free.shape), np.zeros((len(free), 6, 6))
    for part, bound in ((slice(0, 3), shift), (slice(3, 6), turn)):
        u = free[:, part]
        scale = 1.0 / np.sqrt(1.0 + (u * u).sum(axis=1))[:, None]
        points[:, part] = bound * scale * u
        outer = u[:, :, None] * u[:, None, :]
        slopes[:, part, part] = bound * (
            scale[..., None] * np.eye(3) - (scale**3)[..., None] * outer
        )
    return points, slopes


class Fit(NamedTuple):
    """A problem of least squares over the control points of an offset."""

    times: Float[np.ndarray, " T"]
    """At which depths are looked at, s."""
    spacing: float
    """Time between knots, s."""
    num_control: int
    """Number of control points."""
    shift: float
    """Bound of moves, m."""
    turn: float
    """Bound of turns, rad."""
    slopes: Callable[[Float[np.ndarray, "T 6"]], Slopes]
    """What an offset costs in each frame."""

    def spline(self, free: Float[np.ndarray, "K 6"]) -> OffsetSpline:
        """The offset of free numbers."""
        return OffsetSpline(
            float(self.times[0]), self.spacing, squash(free, self.shift, self.turn)[0]
        )

    def expand(
        self, free: Float[np.ndarray, "K 6"]
    ) -> tuple[float, Float[np.ndarray, "K 6"], Float[np.ndarray, "K 4 6 6"]]:
        """Cost, gradient, and the blocks of the matrix to the right of its diagonal, by u."""
        points, inner = squash(free, self.shift, self.turn)
        first, share = basis(self.times, float(self.times[0]), self.spacing, self.num_control)
        offset = np.einsum("na,nai->ni", share, points[first[:, None] + np.arange(4)])
        found, mean = self.slopes(offset), 1.0 / len(self.times)
        cost = mean * float(found.value.sum() + 0.5 * _KEEP * (_SIZES * offset**2).sum())
        each = found.gradient + _KEEP * _SIZES * offset
        curved = found.curvature + _KEEP * np.diag(_SIZES)
        gradient, blocks = np.zeros(points.shape), np.zeros((self.num_control, 4, 6, 6))
        for a in range(4):
            np.add.at(gradient, first + a, mean * share[:, a, None] * each)
            for b in range(a, 4):
                weight = mean * share[:, a] * share[:, b]
                np.add.at(blocks[:, b - a], first + a, weight[:, None, None] * curved)
        bend = points[:-2] - 2.0 * points[1:-1] + points[2:]
        stiff = _SMOOTH / self.num_control
        cost += 0.5 * stiff * float((_SIZES * bend**2).sum())
        for a in range(3):
            rows = np.arange(a, a + len(bend))
            gradient[rows] += stiff * _SECOND[a] * _SIZES * bend
            for b in range(a, 3):
                blocks[rows, b - a] += stiff * _SECOND[a] * _SECOND[b] * np.diag(_SIZES)
        gradient = np.einsum("kji,kj->ki", inner, gradient)
        for b in range(4):
            last = self.num_control - b
            blocks[:last, b] = np.einsum(
                "kji,kjl,klm->kim", inner[:last], blocks[:last, b], inner[b:]
            )
        return cost, gradient, blocks

    def solve(self) -> OffsetSpline | None:
        """The best offset; None if none is needed."""
        free = np.zeros((self.num_control, 6))
        cost, gradient, blocks = self.expand(free)
        if not gradient.any():
            return None
        damping = _DAMPING
        for _ in range(_STEPS):
            step = _banded_step(blocks, gradient, damping)
            there = self.expand(free + step)
            if there[0] > cost:
                damping *= 8.0
                continue
            gain, damping = cost - there[0], max(damping / 4.0, 1e-9)
            free = free + step
            cost, gradient, blocks = there
            if gain <= _LEAST_GAIN * cost:
                break
        return self.spline(free)


def _banded_step(
    blocks: Float[np.ndarray, "K 4 6 6"], gradient: Float[np.ndarray, "K 6"], damping: float
) -> Float[np.ndarray, "K 6"]:
    """The damped Newton step: upper blocks become the bands that the solver takes."""
    count, size = len(blocks), 6 * len(blocks)
    bands = np.zeros((24, size))
    for b in range(min(4, count)):
        for i in range(6):
            for j in range(6):
                away = 6 * b + j - i
                if away < 0:
                    continue
                columns = 6 * (np.arange(count - b) + b) + j
                bands[23 - away, columns] = blocks[: count - b, b, i, j]
    diagonal = bands[23]
    bands[23] = diagonal + damping * (diagonal + diagonal.mean())
    return solveh_banded(bands, -gradient.ravel()).reshape(gradient.shape)
