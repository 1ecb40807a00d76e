"""Building blocks of the skin's implicit surface: tubes of changing section, and ellipsoids.

All distances are in metres, negative inside, close to true distances near the surface.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.interpolate import PchipInterpolator

from handwright.core.skin import CAP_EXPONENT
from handwright.kernels.decorators import compiled

Points = Float[np.ndarray, "N 3"]
Values = Float[np.ndarray, " N"]
Vector = Float[np.ndarray, "3"]

_NUM_SAMPLES = 80
# By how much the rounded end is squarer on the back than on the other sides.
BACK_OF_CAP = 1.0
# Further away than this (m) nothing blends any more, and a rough distance is enough.
_FAR = 0.03


def smooth_min(a: Values, b: Values, blend: float) -> Values:
    """Smaller of two distances, rounded (twice differentiable) where they differ by < blend, m."""
    overlap = np.maximum(blend - np.abs(a - b), 0.0) / blend
    return np.minimum(a, b) - overlap**3 * (blend / 6.0)


def axes_of(along: Vector, dorsal: Vector) -> Float[np.ndarray, "3 3"]:
    """Rows along, sideways and dorsal of the frame with these directions, made square."""
    along = along / np.linalg.norm(along)
    dorsal = dorsal - along * (along @ dorsal)
    dorsal = dorsal / np.linalg.norm(dorsal)
    return np.stack([along, np.cross(dorsal, along), dorsal])


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """Cross-section of a tube at one place; lengths in metres."""

    at: float
    """Place along the tube's axis."""
    half_breadth: float
    dorsal: float
    """Depth on the dorsal side of the axis."""
    palmar: float
    """Depth on the other side."""
    side: float = 0.0
    """Sideways shift of the middle."""
    lift: float = 0.0
    """Dorsal shift of the middle."""
    back: float = 2.2
    """Exponent of the dorsal half: 2 is an ellipse, more is flatter."""
    front: float = 2.1
    """Exponent of the palmar half."""


class Tube:
    """A limb: sections strung along a straight axis, with rounded ends."""

    def __init__(
        self,
        origin: Vector,
        along: Vector,
        dorsal: Vector,
        sections: list[Section],
        start_cap: float,
        end_cap: float,
    ) -> None:
        """Makes a tube.

        Args:
            origin: Point of the axis from which places are counted, m.
            along: Direction of the axis.
            dorsal: Direction of the sections' dorsal side; made square to ``along``.
            sections: Two or more, in the order of their places.
            start_cap: How far the rounded start reaches before the first section, m.
            end_cap: How far the rounded end reaches beyond the last section, m.
        """
        self.origin = np.array(origin, dtype=np.float64)
        self.axes = axes_of(along, dorsal)
        low, high = sections[0].at, sections[-1].at
        shape = PchipInterpolator(
            [section.at for section in sections],
            [
                (s.half_breadth, s.dorsal, s.palmar, s.side, s.lift, s.back, s.front)
                for s in sections
            ],
        )
        table = shape(np.linspace(low, high, _NUM_SAMPLES))
        # One more sample at each end, for the slopes there.
        self.table = np.concatenate([table[:1], table, table[-1:]])
        self.ends = np.array([low, high, start_cap, end_cap])

    def local(self, points: Points) -> Points:
        """Coordinates (along, sideways, dorsal) of points, m."""
        return (points - self.origin) @ self.axes.T

    def distance(self, points: Points) -> Values:
        """Signed distance, measured from the middle of the section."""
        return _tube_distance(points, self.origin, self.axes, self.table, self.ends)


@compiled
def _tube_distance(
    points: np.ndarray, origin: np.ndarray, axes: np.ndarray, table: np.ndarray, ends: np.ndarray
) -> np.ndarray:
    low, high = ends[0], ends[1]
    last = table.shape[0] - 4
    result = np.zeros(points.shape[0])
    section = np.zeros(7)
    widest = max(table[:, 0].max(), table[:, 1].max(), table[:, 2].max(), ends[2], ends[3])
    widest += np.abs(table[:, 3]).max() + np.abs(table[:, 4]).max()
    for n in range(points.shape[0]):
        x, y, z = points[n, 0] - origin[0], points[n, 1] - origin[1], points[n, 2] - origin[2]
        along = axes[0, 0] * x + axes[0, 1] * y + axes[0, 2] * z
        side = axes[1, 0] * x + axes[1, 1] * y + axes[1, 2] * z
        up = axes[2, 0] * x + axes[2, 1] * y + axes[2, 2] * z
        place = min(max(along, low), high)
        over = along - place
        rough = np.sqrt(over * over + side * side + up * up) - widest
        if rough > _FAR:
            result[n] = rough
            continue
        # Cubic through four samples: the surface keeps its tangents from sample to sample.
        t = (place - low) / (high - low) * (last + 1)
        cell = min(int(t), last)
        t -= cell
        w0 = t * (-0.5 + t * (1.0 - 0.5 * t))
        w1 = 1.0 + t * t * (-2.5 + 1.5 * t)
        w2 = t * (0.5 + t * (2.0 - 1.5 * t))
        w3 = t * t * (-0.5 + 0.5 * t)
        for k in range(7):
            section[k] = (
                w0 * table[cell, k]
                + w1 * table[cell + 1, k]
                + w2 * table[cell + 2, k]
                + w3 * table[cell + 3, k]
            )
        side -= section[3]
        up -= section[4]
        depth, power = (section[1], section[5]) if up > 0.0 else (section[2], section[6])
        u = max(abs(side) / section[0], 1e-9)
        v = max(abs(up) / depth, 1e-9)
        size = (u**power + v**power) ** (1.0 / power)
        if over != 0.0:
            cap = ends[3] if over > 0.0 else ends[2]
            power = CAP_EXPONENT
            if over > 0.0 and up > 0.0:
                # The back of a fingertip stays straight for longer, for the nail.
                power += BACK_OF_CAP * min(v, 1.0) ** 2
            size = (size**power + (abs(over) / cap) ** power) ** (1.0 / power)
        result[n] = np.sqrt(over * over + side * side + up * up) * (1.0 - 1.0 / size)
    return result


class Ellipsoid:
    """A muscle: an ellipsoid with given half axes."""

    def __init__(
        self, middle: Vector, along: Vector, dorsal: Vector, radii: tuple[float, float, float]
    ) -> None:
        """Makes an ellipsoid.

        Args:
            middle: Its middle, m.
            along: Direction of the first half axis.
            dorsal: Direction of the third, made square to ``along``.
            radii: Half axes along, sideways and dorsal, m.
        """
        self.middle = np.array(middle, dtype=np.float64)
        self.axes = axes_of(along, dorsal)
        self.radii = np.array(radii, dtype=np.float64)

    def distance(self, points: Points) -> Values:
        """Signed distance to first order at the surface."""
        local = (points - self.middle) @ self.axes.T / self.radii
        size = np.maximum(np.linalg.norm(local, axis=1), 1e-9)
        gradient = np.maximum(np.linalg.norm(local / self.radii, axis=1), 1e-9)
        return size * (size - 1.0) / gradient
