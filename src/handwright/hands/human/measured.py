"""A hand for a recorded subject: bones from the joint positions of a recording."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from handwright.errors import InvalidValueError
from handwright.hands.human.anthropometry import DIGITS, HandBones, bones_of_size, square_dorsal

Positions = Float[np.ndarray, "T 3"]

_NEEDED = tuple(
    f"{digit}_{part}"
    for digit in DIGITS
    for part in (
        ("metacarpal", "proximal", "distal")
        if digit == "thumb"
        else ("proximal", "intermediate", "distal")
    )
)


def bones_from_joints(
    joints: Mapping[str, Positions], thumb_base: Positions | None = None
) -> HandBones:
    """Estimates the skeleton of a right hand from a motion of it.

    Lengths and fixed places are medians over the motion. What a recording does not tell (the
    carpometacarpal joints of the fingers, fingertips, girths) is that of an average hand of the
    same size. For a left hand, negate y first.

    Args:
        joints: Positions, m, in the wrist frame (x distal, y to the thumb, z dorsal) of the
            frames ``<finger>_proximal``, ``_intermediate``, ``_distal`` and of
            ``thumb_metacarpal``, ``thumb_proximal``, ``thumb_distal``; fingertips
            (``<digit>_tip``, on the skin) are used where they are given.
        thumb_base: Positions of a point of the thumb's flexion axis, where the recording's
            skeleton keeps it apart from ``thumb_metacarpal``.
    """
    missing = [name for name in _NEEDED if name not in joints]
    if missing:
        raise InvalidValueError(
            f"bones_from_joints: no positions for {', '.join(missing)}; "
            f"expected all of {', '.join(_NEEDED)}."
        )
    place = {name: np.median(joints[name], axis=0) for name in _NEEDED}
    average = bones_of_size(0.19, 0.086)
    scale = float(np.linalg.norm(place["middle_proximal"]) / np.linalg.norm(average.knuckle[2]))
    average = bones_of_size(0.19 * scale, 0.086 * scale)
    base, knuckle = average.base.copy(), average.knuckle.copy()
    direction, dorsal = average.direction.copy(), average.dorsal.copy()
    phalanges, tissue = average.phalanges.copy(), average.tissue.copy()
    for row, digit in enumerate(DIGITS):
        knuckle[row] = place[f"{digit}_proximal"]
        second = "distal" if digit == "thumb" else "intermediate"
        proximal = _length(joints, f"{digit}_proximal", f"{digit}_{second}")
        stretch = proximal / phalanges[row, 0]
        phalanges[row] *= stretch
        tissue[row] *= stretch
        if digit != "thumb":
            phalanges[row, 1] = _length(joints, f"{digit}_intermediate", f"{digit}_distal")
        if f"{digit}_tip" in joints:
            last = _length(joints, f"{digit}_distal", f"{digit}_tip")
            stretch = last / (phalanges[row, 2] + tissue[row])
            phalanges[row, 2] *= stretch
            tissue[row] *= stretch
    metacarpal = place["thumb_metacarpal"]
    base[0] = metacarpal if thumb_base is None else np.median(thumb_base, axis=0)
    bone = place["thumb_distal"] - place["thumb_proximal"]
    direction[0] = bone / np.linalg.norm(bone)
    if thumb_base is not None:
        dorsal[0] = _thumb_dorsal(joints["thumb_metacarpal"] - thumb_base, knuckle[0] - base[0])
    dorsal = square_dorsal(direction, dorsal)
    return HandBones(
        base=base,
        knuckle=knuckle,
        direction=direction,
        dorsal=dorsal,
        phalanges=phalanges,
        tissue=tissue,
        half_breadth=average.half_breadth,
        saddle=metacarpal - base[0],
    )


def _length(joints: Mapping[str, Positions], start: str, end: str) -> float:
    return float(np.median(np.linalg.norm(joints[end] - joints[start], axis=-1)))


def _thumb_dorsal(arc: Positions, metacarpal: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
    """Back of the thumb, such that its flexion axis is the axis of the arc that it describes."""
    _, _, basis = np.linalg.svd(arc - arc.mean(axis=0), full_matrices=False)
    dorsal = np.cross(metacarpal / np.linalg.norm(metacarpal), basis[2])
    return dorsal if dorsal[1] > 0 else -dorsal
