"""The same hand in another size: all lengths grow alike, joint values mean the same."""

from __future__ import annotations

import math
from dataclasses import replace

from handwright.core.hand import Digit, HandModel, SurfacePoint
from handwright.core.skin import DigitProfile, SkinShape
from handwright.errors import InvalidValueError


def scaled(model: HandModel, scale: float) -> HandModel:
    """Grows a hand about its root, its density kept; the same joint values give the same posture.

    Args:
        model: The hand; joints that slide are refused, for their values are lengths.
        scale: Factor on all lengths, above 0.
    """
    if not (math.isfinite(scale) and scale > 0.0):
        raise InvalidValueError(
            f"Hand '{model.name}': scale is {scale!r}; expected a positive finite number."
        )
    joints = model.joints
    if joints.is_slide.any():
        raise InvalidValueError(
            f"Hand '{model.name}' has joints that slide, whose values are lengths; expected hinges "
            "only. Build the hand in the size that is wanted."
        )
    capsules = model.capsules
    return replace(
        model,
        joints=replace(joints, offset=scale * joints.offset),
        frames=replace(model.frames, position=scale * model.frames.position),
        digits=tuple(_scaled_digit(digit, scale) for digit in model.digits),
        capsules=replace(
            capsules,
            start=scale * capsules.start,
            end=scale * capsules.end,
            radius=scale * capsules.radius,
        ),
        sites=replace(model.sites, position=scale * model.sites.position),
        masses=replace(
            model.masses,
            mass=scale**3 * model.masses.mass,
            center=scale * model.masses.center,
            inertia=scale**5 * model.masses.inertia,
        ),
        skin=None if model.skin is None else _scaled_skin(model.skin, scale),
    )


def _scaled_digit(digit: Digit, scale: float) -> Digit:
    def point(one: SurfacePoint) -> SurfacePoint:
        return replace(one, position=scale * one.position)

    nail = None if digit.nail is None else point(digit.nail)
    return replace(digit, tip=point(digit.tip), pad=point(digit.pad), nail=nail)


def _scaled_skin(skin: SkinShape, scale: float) -> SkinShape:
    return SkinShape(
        digits=tuple(
            DigitProfile(
                along=scale * one.along,
                half_breadth=scale * one.half_breadth,
                dorsal=scale * one.dorsal,
                palmar=scale * one.palmar,
                length=scale * one.length,
            )
            for one in skin.digits
        ),
        palm_half_thickness=scale * skin.palm_half_thickness,
        wrist_half_breadth=scale * skin.wrist_half_breadth,
        wrist_half_depth=scale * skin.wrist_half_depth,
    )
