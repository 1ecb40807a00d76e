"""Girths, collision capsules, pads and nails of the human hand, from its bones."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import PchipInterpolator

from handwright.core.hand import Capsules, Digit, SurfacePoint
from handwright.core.skin import DigitProfile, SkinShape
from handwright.hands.human.anthropometry import DIGITS, PHALANGES, HandBones
from handwright.hands.human.skeleton import DigitLinks
from handwright.hands.skin.parts import axes_of

# Depth of the back and of the palm side as shares of the half breadth, and the half breadth as a
# share of the table's, at: knuckle, middle of the proximal phalanx, PIP, middle of the intermediate
# phalanx, DIP, root of the nail, start of the rounded tip. Judged by eye: pulp bulges a little
# between the creases, and the back falls off towards the nail.
_DORSAL = np.array([0.96, 0.88, 0.93, 0.83, 0.84, 0.79, 0.72])
_PALMAR = np.array([1.22, 1.06, 0.95, 0.98, 0.90, 1.00, 0.98])
_WAIST = np.array([1.0, 0.96, 1.0, 0.965, 1.0, 0.98, 0.95])
_THUMB_DORSAL = np.array([0.87, 0.84, 0.88, 0.78, 0.66])
_THUMB_PALMAR = np.array([0.97, 0.95, 0.90, 0.98, 0.93])
_THUMB_WAIST = np.array([1.0, 0.95, 1.02, 1.05, 1.0])
# Where the root of the nail and the rounded tip start, as shares of the last segment.
_NAIL_ROOT = 0.30
_TIP_START = 0.56
_NUM_SAMPLES = 49


# Capsules of the palm, fitted to its skin. Ends: along the bone as a share of its length, then
# sideways and dorsal in half thicknesses of the palm (those of the wrist: all three); radius in
# half thicknesses.
_Point = tuple[float, float, float]
_PALM: tuple[tuple[str, str | None, _Point, _Point, float], ...] = (
    ("thumb_metacarpal", "thumb", (-0.07, -0.03, -0.19), (0.97, 0.08, -0.08), 1.01),
    ("thenar", "thumb", (-0.12, -0.22, -1.09), (0.645, -0.07, -0.52), 1.20),
    ("index_metacarpal", "index", (-0.11, 0.29, -0.30), (0.947, -0.11, -0.11), 0.99),
    ("middle_metacarpal", "middle", (-0.11, 0.09, -0.11), (0.843, -0.01, -0.26), 1.04),
    ("ring_metacarpal", "ring", (-0.13, -0.06, -0.19), (0.99, 0.13, -0.10), 1.01),
    ("little_metacarpal", "little", (0.045, 0.01, 0.01), (0.915, 0.01, -0.12), 1.00),
    ("hypothenar", "little", (0.16, -0.24, -0.61), (0.627, -0.25, -0.48), 1.10),
    ("carpus", None, (0.90, 0.82, -0.32), (1.54, -1.03, -0.42), 1.31),
    ("wrist", None, (-0.20, 0.68, -0.33), (0.25, -0.74, -0.33), 1.34),
)


def digit_profile(bones: HandBones, row: int) -> DigitProfile:
    """Cross-sections of one straight digit."""
    knuckle, second, third, pad = bones.half_breadth[row]
    proximal, middle, distal = bones.phalanges[row]
    length = proximal + middle + distal + bones.tissue[row]
    last = proximal + middle
    nail, tip = last + _NAIL_ROOT * (length - last), last + _TIP_START * (length - last)
    if DIGITS[row] == "thumb":
        along = [0.0, 0.5 * proximal, last, nail, tip]
        breadth = np.array([knuckle, second, third, 0.5 * (third + pad), pad]) * _THUMB_WAIST
        dorsal, palmar = _THUMB_DORSAL, _THUMB_PALMAR
    else:
        along = [0.0, 0.5 * proximal, proximal, proximal + 0.5 * middle, last, nail, tip]
        measured = [knuckle, second, third, pad]
        places = [0.0, proximal, last, tip]
        breadth = np.interp(along, places, measured) * _WAIST
        dorsal, palmar = _DORSAL, _PALMAR
    smooth = PchipInterpolator(along, np.stack([breadth, breadth * dorsal, breadth * palmar], 1))
    samples = np.linspace(0.0, tip, _NUM_SAMPLES)
    breadths, dorsals, palmars = smooth(samples).T
    return DigitProfile(samples, breadths, dorsals, palmars, float(length))


def skin_shape(bones: HandBones) -> SkinShape:
    """Girths of the whole hand."""
    index, middle = bones.half_breadth[1, 0], bones.half_breadth[2, 0]
    return SkinShape(
        digits=tuple(digit_profile(bones, row) for row in range(len(DIGITS))),
        palm_half_thickness=float(1.25 * middle),
        wrist_half_breadth=float(2.75 * index),
        wrist_half_depth=float(1.72 * index),
    )


def _phalanx_capsule(
    profile: DigitProfile, start: float, end: float, is_last: bool
) -> tuple[float, float, float, float, float]:
    """Axis ends along the digit, their heights along the dorsal direction, and the radius.

    The capsule that lies closest to the palm side of the digit, where things are touched.
    """
    places = np.linspace(start, end, 9)
    sections = np.array([profile.at(place) for place in places])
    angles = np.radians(np.linspace(-55.0, 55.0, 9))
    side = sections[:, :1] * np.sin(angles)
    down = sections[:, 2:] * np.cos(angles)
    radius = float(np.mean(sections[:, 1] + sections[:, 2]) / 2.0)
    share = ((places - start) / (end - start))[:, None]
    low = high = radius - float(np.mean(sections[:, 2]))
    # Gauss-Newton: each residual is the distance of a skin point from the capsule.
    for _ in range(4):
        height = low + (high - low) * share
        reach = np.hypot(side, down + height)
        slope = (down + height) / reach
        rows = np.stack([slope * (1.0 - share), slope * share, -np.ones_like(slope)], axis=-1)
        change = np.linalg.lstsq(rows.reshape(-1, 3), (radius - reach).ravel(), rcond=None)[0]
        low, high, radius = low + change[0], high + change[1], radius + change[2]
    if start == 0.0:
        # At its root the digit is wrapped in the flesh of the palm.
        low -= 0.07 * float(sections[0, 0])
    if is_last:
        # The axis ends where the rounded tip touches the end of the digit.
        tip = profile.length - radius
        high, end = low + (high - low) * (tip - start) / (end - start), tip
    return start, float(end), float(low), float(high), float(radius)


def capsules(bones: HandBones, shape: SkinShape, wrist: int, links: list[DigitLinks]) -> Capsules:
    """One capsule for every bone, and four more for thenar, hypothenar, carpus and wrist."""
    rows: list[tuple[str, int, np.ndarray, np.ndarray, float, int]] = []
    for row, digit in enumerate(DIGITS):
        along, dorsal = bones.direction[row], bones.dorsal[row]
        profile = shape.digits[row]
        lengths = bones.phalanges[row][bones.phalanges[row] > 0]
        begin = 0.0
        for part, link, length in zip(PHALANGES[digit], links[row].phalanges, lengths, strict=True):
            start, end, low, high, radius = _phalanx_capsule(
                profile, begin, begin + length, part == "distal"
            )
            ends = (start - begin) * along + low * dorsal, (end - begin) * along + high * dorsal
            rows.append((f"{digit}_{part}", link, *ends, radius, row))
            begin += length
    rows += _palm_capsules(bones, shape, wrist, links)
    names, *columns = zip(*rows, strict=True)
    return Capsules(names, *(np.array(column) for column in columns))


def _palm_capsules(
    bones: HandBones, shape: SkinShape, wrist: int, links: list[DigitLinks]
) -> list[tuple[str, int, np.ndarray, np.ndarray, float, int]]:
    rows: list[tuple[str, int, np.ndarray, np.ndarray, float, int]] = []
    thickness = shape.palm_half_thickness
    for name, digit, start, end, radius in _PALM:
        # A metacarpal belongs to the palm: neighbouring fingers may touch it.
        if digit is None:
            link, unit, axes = wrist, thickness, np.eye(3)
        else:
            row = DIGITS.index(digit)
            bone = bones.knuckle[row] - bones.base[row]
            link, unit = links[row].metacarpal, float(np.linalg.norm(bone))
            axes = axes_of(bone, bones.dorsal[row])
        scale = np.array([unit, thickness, thickness])
        # The thumb's link starts at the second axis of its saddle joint.
        origin = bones.saddle if digit == "thumb" else np.zeros(3)
        ends = [(np.array(point) * scale) @ axes - origin for point in (start, end)]
        rows.append((name, link, ends[0], ends[1], radius * thickness, -1))
    return rows


def digits(bones: HandBones, shape: SkinShape, links: list[DigitLinks]) -> tuple[Digit, ...]:
    """Tips, pads and nails."""
    result = []
    for row, name in enumerate(DIGITS):
        along, dorsal = bones.direction[row], bones.dorsal[row]
        profile = shape.digits[row]
        begin = float(bones.phalanges[row, :2].sum())
        pad_at = begin + 0.55 * (profile.length - begin)
        nail_at = begin + 0.62 * (profile.length - begin)
        link = links[row].phalanges[-1]
        # Place along the digit, height over its axis, and outward normal of tip, pad and nail.
        tip, pad, nail = (
            SurfacePoint(link, (at - begin) * along + height * dorsal, normal)
            for at, height, normal in (
                (profile.length, 0.0, along),
                (pad_at, -profile.at(pad_at)[2], -dorsal),
                (nail_at, profile.at(nail_at)[1], dorsal),
            )
        )
        result.append(Digit(name, links[row].joints, tip, pad, nail))
    return tuple(result)
