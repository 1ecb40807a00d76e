"""The other hand: a model reflected in its sagittal plane, so that left is right by data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from handwright.core.hand import Digit, HandModel, Side, SurfacePoint
from handwright.math import rotation

_FLIP = np.array([1.0, -1.0, 1.0])
_OTHER: dict[Side, Side] = {"right": "left", "left": "right", "none": "none"}


def _mirror_point(point: SurfacePoint) -> SurfacePoint:
    return SurfacePoint(point.link, point.position * _FLIP, point.normal * _FLIP)


def _mirror_digit(digit: Digit) -> Digit:
    return replace(
        digit,
        tip=_mirror_point(digit.tip),
        pad=_mirror_point(digit.pad),
        nail=None if digit.nail is None else _mirror_point(digit.nail),
    )


def mirror(model: HandModel) -> HandModel:
    """Reflects a hand in the plane y = 0 of its root frame; the same joint values mirror the pose.

    Frames keep their y axis (back of the hand) and z axis (against the bone) and flip x, as
    OpenXR has it for left hands.
    """
    joints = model.joints
    # A turn is an axial vector: its axis is reflected and reversed. A slide is a plain direction.
    sign = np.where(joints.is_slide, 1.0, -1.0)[:, None]
    turn = rotation.to_matrix(model.frames.wxyz)
    turn = _FLIP[:, None] * turn * np.array([-1.0, 1.0, 1.0])
    tensor = np.outer(_FLIP, _FLIP)
    name = model.name
    if model.side != "none":
        name = name.replace(model.side, _OTHER[model.side])
    return replace(
        model,
        name=name,
        side=_OTHER[model.side],
        joints=replace(joints, offset=joints.offset * _FLIP, axis=sign * joints.axis * _FLIP),
        frames=replace(
            model.frames, position=model.frames.position * _FLIP, wxyz=rotation.from_matrix(turn)
        ),
        digits=tuple(_mirror_digit(digit) for digit in model.digits),
        capsules=replace(
            model.capsules, start=model.capsules.start * _FLIP, end=model.capsules.end * _FLIP
        ),
        sites=replace(
            model.sites, position=model.sites.position * _FLIP, normal=model.sites.normal * _FLIP
        ),
        masses=replace(
            model.masses, center=model.masses.center * _FLIP, inertia=model.masses.inertia * tensor
        ),
    )
