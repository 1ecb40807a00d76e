"""The human hand, built by code from anthropometric figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from handwright.core.hand import Capsules, HandModel, Side
from handwright.errors import UnknownNameError
from handwright.hands.human import surface
from handwright.hands.human.anthropometry import (
    ARM_SEGMENTS,
    BODY_MASS,
    HAND_BREADTH,
    HAND_LENGTH,
    HAND_MASS,
    STATURE,
    HandBones,
    Sex,
    bones_of_size,
    of_percentile,
)
from handwright.hands.human.masses import link_masses, segment_properties
from handwright.hands.human.postures import named_poses
from handwright.hands.human.sites import palm_side_sites
from handwright.hands.human.skeleton import TreeBuilder, add_arm, add_digits, openxr_frames
from handwright.hands.mirror import mirror


def human(
    side: Side = "right",
    *,
    sex: Sex = "male",
    percentile: float = 50.0,
    length: float | None = None,
    breadth: float | None = None,
    bones: HandBones | None = None,
    coupled: bool = False,
    arm: bool = False,
) -> HandModel:
    """A human hand with 30 joints in palm and digits, six for each digit.

    The wrist frame has x towards the fingers, z out of the back of the hand and, on a right hand,
    y to the thumb side; a left hand is the mirror image.

    Args:
        side: ``right`` or ``left``.
        sex: Whose figures to use for size and mass.
        percentile: Rank among adults of that sex, for length, breadth, stature and mass.
        length: Wrist to middle fingertip, m, in place of the percentile's.
        breadth: Breadth of the palm, m, in place of the percentile's.
        bones: A measured skeleton in place of length and breadth.
        coupled: Whether the last joint of each finger follows the one before it.
        arm: Whether to add shoulder (3), elbow (1), forearm (1) and wrist (3) in front; the root
            is then the shoulder.
    """
    if side not in ("right", "left"):
        raise UnknownNameError("side", side, ("right", "left"))
    if bones is None:
        bones = bones_of_size(
            of_percentile(HAND_LENGTH, sex, percentile) if length is None else length,
            of_percentile(HAND_BREADTH, sex, percentile) if breadth is None else breadth,
        )
    stature = of_percentile(STATURE, sex, percentile)
    body_mass = of_percentile(BODY_MASS, sex, percentile)
    limbs = _limbs(stature) if arm else ()
    builder = TreeBuilder()
    wrist = add_arm(builder, *(limb.length for limb in limbs)) if arm else 0
    links = add_digits(builder, bones, wrist, coupled=coupled)
    joints = builder.tree()
    shape = surface.skin_shape(bones)
    capsules = surface.capsules(bones, shape, wrist, links)
    capsules = _with_limbs(capsules, limbs)
    known = {
        limb.link: segment_properties(
            ARM_SEGMENTS[limb.name], body_mass=body_mass, length=limb.length, radius=limb.radius
        )
        for limb in limbs
    }
    model = HandModel(
        name=f"human_{side}" + ("_arm" if arm else ""),
        side="right",
        joints=joints,
        frames=openxr_frames(bones, wrist, links),
        digits=surface.digits(bones, shape, links),
        capsules=capsules,
        sites=palm_side_sites(bones, shape, links),
        masses=link_masses(capsules, len(joints) + 1, HAND_MASS * body_mass, known),
        wrist_link=wrist,
        poses=named_poses(joints),
        skin=shape,
    )
    return mirror(model) if side == "left" else model


class _Limb(NamedTuple):
    """A segment of the arm along x."""

    name: str
    link: int
    length: float
    radius: float


def _limbs(stature: float) -> tuple[_Limb, _Limb]:
    upper_arm, forearm = (ARM_SEGMENTS[name].length * stature for name in ("upper_arm", "forearm"))
    # The links that shoulder rotation and pronation move: see ``add_arm``.
    return (
        _Limb("upper_arm", 3, upper_arm, 0.22 * forearm),
        _Limb("forearm", 5, forearm, 0.15 * forearm),
    )


def _with_limbs(capsules: Capsules, limbs: Sequence[_Limb]) -> Capsules:
    """Adds a capsule for each limb; the forearm's ends before the wrist, which has its own."""
    if not limbs:
        return capsules
    x = np.array([1.0, 0.0, 0.0])
    ends = [limb.length - (limb.radius if limb.name == "forearm" else 0.0) for limb in limbs]
    return Capsules(
        (*capsules.names, *(limb.name for limb in limbs)),
        np.append(capsules.link, [limb.link for limb in limbs]),
        np.concatenate([capsules.start, np.zeros((len(limbs), 3))]),
        np.concatenate([capsules.end, [end * x for end in ends]]),
        np.append(capsules.radius, [limb.radius for limb in limbs]),
        np.append(capsules.digit, [-1] * len(limbs)),
    )
