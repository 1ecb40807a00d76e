"""Girths, collision capsules, pads and nails of the human hand, from its bones."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy.interpolate import PchipInterpolator

from handwright.core.hand import Capsules, Digit, SurfacePoint
from handwright.core.skin import DigitProfile, SkinShape
from handwright.hands.anthropometry import DIGITS, HandBones
from handwright.hands.skeleton import DigitLinks

# Depth of the back and of the palm side as shares of the half breadth, and the half breadth as a
# share of the table's, at: knuckle, middle of the proximal phalanx, PIP, middle of the intermediate
# phalanx, DIP, root of the nail, start of the rounded tip. Judged by eye: pulp bulges a little
# between the creases, and the back falls off towards the nail.
_DORSAL = np.array([0.96, 0.88, 0.93, 0.83, 0.84, 0.79, 0.72])
_PALMAR = np.array([1.12, 1.03, 0.94, 0.98, 0.90, 1.00, 0.98])
_WAIST = np.array([1.0, 0.96, 1.0, 0.965, 1.0, 0.99, 0.97])
_THUMB_DORSAL = np.array([0.87, 0.84, 0.88, 0.78, 0.66])
_THUMB_PALMAR = np.array([0.97, 0.95, 0.90, 0.98, 0.93])
_THUMB_WAIST = np.array([1.0, 0.95, 1.02, 1.06, 1.03])
# Where the root of the nail and the rounded tip start, as shares of the last segment.
_NAIL_ROOT = 0.30
_TIP_START = 0.60
_NUM_SAMPLES = 49


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
    return DigitProfile(samples, *smooth(samples).T, float(length))


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

    The capsule is as thick as the digit and flush with its palm side, where things are touched.
    """
    samples = np.linspace(start, end, 9)
    sections = np.array([profile.at(s) for s in samples])
    radius = float(np.mean(sections[:, 1] + sections[:, 2]) / 2.0)
    if is_last:
        end = profile.length - radius
        samples = np.linspace(start, end, 9)
        sections = np.array([profile.at(s) for s in samples])
    slope, height = np.polyfit(samples, radius - sections[:, 2], 1)
    return start, end, slope * start + height, slope * end + height, radius


def capsules(bones: HandBones, shape: SkinShape, wrist: int, links: list[DigitLinks]) -> Capsules:
    """One capsule for every bone, and three more to fill the heel of the hand."""
    rows: list[tuple[str, int, np.ndarray, np.ndarray, float, int]] = []
    for row, digit in enumerate(DIGITS):
        along, dorsal = bones.direction[row], bones.dorsal[row]
        profile = shape.digits[row]
        lengths = bones.phalanges[row][bones.phalanges[row] > 0]
        parts = (
            ("proximal", "distal") if digit == "thumb" else ("proximal", "intermediate", "distal")
        )
        begin = 0.0
        for part, link, length in zip(parts, links[row].phalanges, lengths, strict=True):
            start, end, low, high, radius = _phalanx_capsule(
                profile, begin, begin + length, part == "distal"
            )
            rows.append(
                (
                    f"{digit}_{part}",
                    link,
                    (start - begin) * along + low * dorsal,
                    (end - begin) * along + high * dorsal,
                    radius,
                    row,
                )
            )
            begin += length
    rows += _palm_capsules(bones, shape, wrist, links)
    names, link, start, end, radius, digit_index = zip(*rows, strict=True)
    return Capsules(
        names,
        np.array(link),
        np.array(start),
        np.array(end),
        np.array(radius),
        np.array(digit_index),
    )


def _palm_capsules(
    bones: HandBones, shape: SkinShape, wrist: int, links: list[DigitLinks]
) -> list[tuple[str, int, np.ndarray, np.ndarray, float, int]]:
    rows: list[tuple[str, int, np.ndarray, np.ndarray, float, int]] = []
    thickness = shape.palm_half_thickness
    for row, digit in enumerate(DIGITS):
        bone = bones.knuckle[row] - bones.base[row]
        if digit == "thumb":
            # The thenar muscles lie on the palm side of the bone.
            start = bone * 0.10 - 0.15 * thickness * bones.dorsal[row]
            end = bone * 0.92 - 0.05 * thickness * bones.dorsal[row]
            radius = 1.02 * thickness
        else:
            radius = thickness * (0.92 if digit == "little" else 0.98)
            sink = radius - 0.95 * bones.half_breadth[row, 0]
            start = bone * 0.05 - sink * bones.dorsal[row]
            end = bone * 0.97 - sink * bones.dorsal[row]
        # A metacarpal belongs to the palm: neighbouring fingers may touch it.
        rows.append((f"{digit}_metacarpal", links[row].metacarpal, start, end, float(radius), -1))
    heel = 0.5 * (bones.base[0] + bones.base[4])
    side = bones.base[0] - bones.base[4]
    side = side / np.linalg.norm(side)
    rows.append(
        (
            "carpus",
            wrist,
            np.array([0.010, 0.0, 0.0]) + 0.35 * shape.wrist_half_breadth * side,
            np.array([0.010, 0.0, 0.0]) - 0.35 * shape.wrist_half_breadth * side,
            0.85 * shape.wrist_half_depth,
            -1,
        )
    )
    rows.append(
        (
            "hypothenar",
            links[4].metacarpal,
            -0.10 * (bones.knuckle[4] - bones.base[4]) - 0.45 * thickness * bones.dorsal[4],
            0.60 * (bones.knuckle[4] - bones.base[4]) - 0.35 * thickness * bones.dorsal[4],
            0.98 * thickness,
            -1,
        )
    )
    del heel
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
        palmar = profile.at(pad_at)[2]
        back = profile.at(nail_at)[1]
        link = links[row].phalanges[-1]

        def point(at: float, height: float, normal: Float[np.ndarray, "3"]) -> SurfacePoint:
            return SurfacePoint(link, (at - begin) * along + height * dorsal, normal)  # noqa: B023

        result.append(
            Digit(
                name=name,
                joints=links[row].joints,
                tip=point(profile.length, 0.0, along),
                pad=point(pad_at, -palmar, -dorsal),
                nail=point(nail_at, back, dorsal),
            )
        )
    return tuple(result)
