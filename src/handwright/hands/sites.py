"""Sensor sites on the palm side of the human hand."""

from __future__ import annotations

import numpy as np

from handwright.core.hand import Sites
from handwright.core.skin import DigitProfile, SkinShape
from handwright.hands.anthropometry import DIGITS, HandBones
from handwright.hands.skeleton import DigitLinks

# Rows of sites along each phalanx as shares of its length, each with angles (degrees) around the
# digit from its palm side; more sites on the pads, where most contacts are.
_ROWS = {
    "proximal": ((0.35, (-45.0, 0.0, 45.0)), (0.75, (-45.0, 45.0))),
    "intermediate": ((0.30, (-45.0, 45.0)), (0.70, (-45.0, 45.0))),
    "distal": ((0.25, (-50.0, 0.0, 50.0)), (0.60, (-50.0, 0.0, 50.0)), (0.88, (0.0,))),
}
# Palm: rows across the four metacarpals at these shares of their lengths.
_PALM_ROWS = (0.12, 0.35, 0.58, 0.80, 0.98)
_THENAR_ROWS = (0.2, 0.45, 0.7)


def _around(profile: DigitProfile, at: float, angle: float) -> tuple[np.ndarray, np.ndarray]:
    """Point and normal of the cross-section ellipse, as (sideways, dorsal) pairs."""
    half_breadth, _, palmar = profile.at(at)
    side, down = np.sin(angle), np.cos(angle)
    point = np.array([half_breadth * side, -palmar * down])
    normal = np.array([side / half_breadth, -down / palmar])
    return point, normal / np.linalg.norm(normal)


def palm_side_sites(
    bones: HandBones, shape: SkinShape, wrist: int, links: list[DigitLinks]
) -> Sites:
    """About a hundred sites with outward normals, spread over digits, palm and thenar."""
    rows: list[tuple[int, np.ndarray, np.ndarray]] = []
    for row, digit in enumerate(DIGITS):
        along, dorsal = bones.direction[row], bones.dorsal[row]
        sideways = np.cross(dorsal, along)
        profile = shape.digits[row]
        lengths = bones.phalanges[row][bones.phalanges[row] > 0]
        parts = (
            ("proximal", "distal") if digit == "thumb" else ("proximal", "intermediate", "distal")
        )
        begin = 0.0
        for part, link, bone in zip(parts, links[row].phalanges, lengths, strict=True):
            reach = profile.length - begin if part == "distal" else bone
            for share, angles in _ROWS[part]:
                for angle in np.radians(angles):
                    point, normal = _around(profile, begin + share * reach, angle)
                    rows.append(
                        (
                            link,
                            share * reach * along + point[0] * sideways + point[1] * dorsal,
                            normal[0] * sideways + normal[1] * dorsal,
                        )
                    )
            begin += bone
    rows += _palm_sites(bones, shape, links)
    link_all, position, normal_all = zip(*rows, strict=True)
    return Sites(np.array(link_all), np.array(position), np.array(normal_all))


def _palm_sites(
    bones: HandBones, shape: SkinShape, links: list[DigitLinks]
) -> list[tuple[int, np.ndarray, np.ndarray]]:
    rows = []
    depth = 1.1 * shape.palm_half_thickness
    for row in range(1, len(DIGITS)):
        bone = bones.knuckle[row] - bones.base[row]
        for share in _PALM_ROWS:
            rows.append(
                (
                    links[row].metacarpal,
                    share * bone - depth * bones.dorsal[row],
                    -bones.dorsal[row],
                )
            )
    bone = bones.knuckle[0] - bones.base[0]
    for share in _THENAR_ROWS:
        rows.append((links[0].metacarpal, share * bone - depth * bones.dorsal[0], -bones.dorsal[0]))
    return rows
