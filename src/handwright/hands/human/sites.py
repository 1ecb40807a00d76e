"""Sensor sites on the palm side of the human hand."""

from __future__ import annotations

import numpy as np

from handwright.core.hand import Sites
from handwright.core.skin import SkinShape
from handwright.hands.human.anthropometry import DIGITS, PHALANGES, HandBones
from handwright.hands.human.skeleton import DigitLinks
from handwright.hands.skin.field import SkinField
from handwright.hands.skin.form import form_of_bones
from handwright.hands.skin.parts import axes_of

# Rows of sites along each phalanx as shares of its length, each with angles (degrees) around the
# digit from its palm side; more sites on the pads, where most contacts are.
_ROWS = {
    "proximal": ((0.35, (-45.0, 0.0, 45.0)), (0.75, (-45.0, 45.0))),
    "intermediate": ((0.30, (-45.0, 45.0)), (0.70, (-45.0, 45.0))),
    "distal": ((0.25, (-50.0, 0.0, 50.0)), (0.60, (-50.0, 0.0, 50.0)), (0.88, (0.0,))),
}
# Sites of the palm: digit whose metacarpal carries them, places along the bone as shares of its
# length, and how far sideways, in half thicknesses of the palm.
_PALM_ROWS = (
    ("index", (0.12, 0.35, 0.58, 0.80, 0.98), 0.0),
    ("middle", (0.12, 0.35, 0.58, 0.80, 0.98), 0.0),
    ("ring", (0.12, 0.35, 0.58, 0.80, 0.98), 0.0),
    ("little", (0.12, 0.35, 0.58, 0.80, 0.98), 0.0),
    ("little", (0.20, 0.48, 0.76), -0.75),
    ("thumb", (0.20, 0.45, 0.70), 0.0),
    ("thumb", (0.30, 0.60), -0.6),
)


def palm_side_sites(bones: HandBones, shape: SkinShape, links: list[DigitLinks]) -> Sites:
    """104 sites with outward normals on the skin of digits, palm and thenar.

    They are laid out around the bones of the spread hand, then moved onto its skin.
    """
    form = form_of_bones(bones, shape)
    field = SkinField(form)
    link: list[int] = []
    start: list[np.ndarray] = []
    origin: list[np.ndarray] = []
    turn: list[np.ndarray] = []
    for row, digit in enumerate(DIGITS):
        # Link frames are parallel to the wrist's at the zero pose; the digit is spread from there.
        flat = axes_of(bones.direction[row], bones.dorsal[row])
        spread = axes_of(form.direction[row], form.dorsal[row])
        profile = shape.digits[row]
        lengths = bones.phalanges[row][bones.phalanges[row] > 0]
        parts = PHALANGES[digit]
        begin = 0.0
        for part, moved, bone in zip(parts, links[row].phalanges, lengths, strict=True):
            reach = profile.length - begin if part == "distal" else bone
            for share, angles in _ROWS[part]:
                half_breadth, _, palmar = profile.at(begin + share * reach)
                for angle in np.radians(angles):
                    place = (
                        begin + share * reach,
                        half_breadth * np.sin(angle),
                        -palmar * np.cos(angle),
                    )
                    link.append(moved)
                    start.append(form.knuckle[row] + np.array(place) @ spread)
                    origin.append(form.knuckle[row] + begin * spread[0])
                    turn.append(spread.T @ flat)
            begin += bone
    for digit, shares, aside in _PALM_ROWS:
        row = DIGITS.index(digit)
        axes = axes_of(form.metacarpal[row], form.dorsal[row])
        for share in shares:
            link.append(links[row].metacarpal)
            place = form.base[row] + share * form.metacarpal[row]
            start.append(place + shape.palm_half_thickness * (aside * axes[1] - 1.1 * axes[2]))
            origin.append(form.base[row] + (bones.saddle if digit == "thumb" else 0.0))
            turn.append(np.eye(3))
    position = field.project(np.array(start), 8)
    normal = field.normals(position)
    rotations = np.array(turn)
    return Sites(
        np.array(link),
        np.einsum("nij,ni->nj", rotations, position - np.array(origin)),
        np.einsum("nij,ni->nj", rotations, normal),
    )
