"""A three-finger robot hand in the manner of the Barrett hand.

Root frame: the origin is the middle of the wrist flange, x points out of the palm, y to the side
of ``finger1``. At the zero pose all fingers are straight and point along +x. ``finger1`` and
``finger2`` then stand at +z and bend towards -z; ``thumb``, the fixed finger, stands at -z and
bends towards +z, so that they close on each other as fingers and thumb do. One spread joint turns
``finger1`` about its x axis, outwards and round the palm until it stands beside the thumb;
``finger2`` follows as its mirror image.

Lengths, ranges and masses are round figures near those of the Barrett BH8 series (980 g in all).
Two liberties: the finger tips straighten fully, and they bend on their own instead of through a
clutch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handwright.core.hand import Capsules, Digit, Frames, HandModel, JointTree, Masses, SurfacePoint
from handwright.errors import InvalidValueError
from handwright.geometry.mesh.inertia import MassProperties, combine
from handwright.hands.capsules import capsule_properties, capsule_volume, spread_sites

_NUM_SITES = 100
_OUT = np.array([1.0, 0.0, 0.0])
_UP = np.array([0.0, 0.0, 1.0])
_SIDE = np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Round figures of the hand at scale one, m, kg, rad."""

    knuckle_height: float = 0.066
    """Of the spread and first bending axes above the flange."""
    palm_face: float = 0.076
    spread_radius: float = 0.050
    """From a spread axis to the first bending axis, and from the middle to the thumb's."""
    spread_offset: float = 0.025
    """Of the spread axes to either side."""
    proximal_length: float = 0.070
    distal_length: float = 0.058
    pad_at: float = 0.038
    """Of the pad's middle beyond the second bending axis."""
    proximal_radius: float = 0.012
    distal_radius: float = 0.011
    palm_mass: float = 0.610
    spread_mass: float = 0.050
    proximal_mass: float = 0.055
    distal_mass: float = 0.035
    spread_range: tuple[float, float] = (0.0, np.pi)
    proximal_range: tuple[float, float] = (-1.57, 0.87)
    distal_range: tuple[float, float] = (0.0, 1.48)


_SIZES = _Sizes()
_JOINT_NAMES = (
    *("thumb_proximal", "thumb_distal"),
    *("finger1_spread", "finger1_proximal", "finger1_distal"),
    *("finger2_spread", "finger2_proximal", "finger2_distal"),
)
_DIGIT_JOINTS = {"thumb": (0, 1), "finger1": (2, 3, 4), "finger2": (5, 6, 7)}
# (spread, thumb proximal, thumb distal, finger proximal, finger distal), rad. The pinch holds a
# thin bar along y: the thumb's pad faces the gap between the other two.
_POSES = {
    "neutral": (0.0, 0.0, 0.0, 0.0, 0.0),
    "rest": (0.5, 0.1, 0.5, 0.1, 0.5),
    "open": (0.5, -0.6, 0.2, -0.6, 0.2),
    "closed": (0.0, 0.8, 1.2, 0.8, 1.2),
    "pinch": (0.0, 0.315, 0.035, 0.315, 0.035),
}


def trident(*, scale: float = 1.0) -> HandModel:
    """Builds the three-finger hand; see the module for its frame.

    Args:
        scale: Factor on all lengths; masses grow with its cube.
    """
    if not (np.isfinite(scale) and scale > 0.0):
        raise InvalidValueError(
            f"trident: scale is {scale}; expected a positive number, for example 1.0."
        )
    joints = _joints(scale)
    capsules, facing = _capsules(scale)
    poses = {
        name: np.array([t1, t2, spread, f1, f2, spread, f1, f2])
        for name, (spread, t1, t2, f1, f2) in _POSES.items()
    }
    return HandModel(
        name="trident",
        side="none",
        joints=joints,
        frames=_frames(scale),
        digits=_digits(scale),
        capsules=capsules,
        sites=spread_sites(joints, capsules, facing, _NUM_SITES),
        masses=_masses(scale, capsules),
        wrist_link=0,
        poses=poses,
    )


def _joints(scale: float) -> JointTree:
    s = _SIZES
    distal = s.proximal_length * _OUT
    at_radius = s.spread_radius * _UP
    base = s.knuckle_height * _OUT
    offset = [base - at_radius, distal]
    axis = [-_SIDE, -_SIDE]
    for sign in (1.0, -1.0):
        offset += [base + sign * s.spread_offset * _SIDE, at_radius, distal]
        axis += [-sign * _OUT, _SIDE, _SIDE]
    ranges = [s.proximal_range, s.distal_range]
    ranges += 2 * [s.spread_range, s.proximal_range, s.distal_range]
    leader = np.full(8, -1)
    ratio = np.zeros(8)
    leader[5], ratio[5] = 2, 1.0
    return JointTree(
        names=_JOINT_NAMES,
        parent=np.array([0, 1, 0, 3, 4, 0, 6, 7]),
        offset=scale * np.array(offset),
        axis=np.array(axis),
        lower=np.array([low for low, _ in ranges]),
        upper=np.array([high for _, high in ranges]),
        is_slide=np.zeros(8, dtype=bool),
        leader=leader,
        ratio=ratio,
        bias=np.zeros(8),
    )


def _inward(digit: str) -> np.ndarray:
    """Direction in which a digit closes at the zero pose."""
    return _UP if digit == "thumb" else -_UP


def _digits(scale: float) -> tuple[Digit, ...]:
    s = _SIZES
    digits = []
    for name, joints in _DIGIT_JOINTS.items():
        link = joints[-1] + 1
        tip = SurfacePoint(link, scale * s.distal_length * _OUT, _OUT)
        inward = _inward(name)
        pad = SurfacePoint(link, scale * (s.pad_at * _OUT + s.distal_radius * inward), inward)
        digits.append(Digit(name, joints, tip, pad, None))
    return tuple(digits)


def _frames(scale: float) -> Frames:
    names, links, positions = ["wrist", "palm"], [0, 0], [0.0 * _OUT, _SIZES.palm_face * _OUT]
    for digit, joints in _DIGIT_JOINTS.items():
        names += [f"{digit}_proximal", f"{digit}_distal", f"{digit}_tip"]
        links += [joints[-2] + 1, joints[-1] + 1, joints[-1] + 1]
        positions += [0.0 * _OUT, 0.0 * _OUT, _SIZES.distal_length * _OUT]
    wxyz = np.tile([1.0, 0.0, 0.0, 0.0], (len(names), 1))
    return Frames(tuple(names), np.array(links), scale * np.array(positions), wxyz)


def _capsules(scale: float) -> tuple[Capsules, np.ndarray]:
    """The shapes, and the direction in which each meets an object."""
    s = _SIZES
    thick = 0.021
    height = s.palm_face - thick
    across = s.spread_offset * _SIDE
    # Bars side by side make the block with the motors and the spread axes; a stem holds the thumb.
    rows: list[tuple[str, int, np.ndarray, np.ndarray, float, int, np.ndarray]] = []
    for x in np.linspace(thick, height, 3):
        for z in (-0.015, 0.015):
            at = x * _OUT + z * _UP
            facing = _OUT if x == height else 0.0 * _OUT
            rows.append((f"block{len(rows)}", 0, at - across, at + across, thick, -1, facing))
    rows.append(("stem", 0, height * _OUT, height * _OUT - 0.048 * _UP, 0.019, -1, _OUT))
    for index, (digit, joints) in enumerate(_DIGIT_JOINTS.items()):
        if len(joints) == 3:
            rim = -0.004 * _OUT
            top = rim + s.spread_radius * _UP
            rows.append((f"{digit}_knuckle", joints[0] + 1, rim, top, 0.0125, index, _OUT))
        for part, joint, length, radius in (
            ("proximal", joints[-2], s.proximal_length, s.proximal_radius),
            ("distal", joints[-1], s.distal_length - s.distal_radius, s.distal_radius),
        ):
            start, end = 0.0 * _OUT, length * _OUT
            rows.append((f"{digit}_{part}", joint + 1, start, end, radius, index, _inward(digit)))
    names, links, starts, ends, radii, digits, facings = zip(*rows, strict=True)
    capsules = Capsules(
        names,
        np.array(links),
        scale * np.array(starts),
        scale * np.array(ends),
        scale * np.array(radii),
        np.array(digits),
    )
    return capsules, np.array(facings)


def _masses(scale: float, capsules: Capsules) -> Masses:
    """Each link's mass, spread over its capsules by volume."""
    s = _SIZES
    finger = [s.spread_mass, s.proximal_mass, s.distal_mass]
    mass = scale**3 * np.array([s.palm_mass, *finger[1:], *finger, *finger])
    lengths = np.linalg.norm(capsules.end - capsules.start, axis=1)
    volume = capsule_volume(lengths, capsules.radius)
    links: list[MassProperties] = []
    for link, total in enumerate(mass):
        own = np.flatnonzero(capsules.link == link)
        share = total * volume / volume[own].sum()
        parts = [
            capsule_properties(
                capsules.start[c], capsules.end[c], float(capsules.radius[c]), float(share[c])
            )
            for c in own
        ]
        links.append(combine(*parts))
    return Masses(mass, np.array([p.center for p in links]), np.array([p.inertia for p in links]))
