"""The human hand, built by code from anthropometric figures."""

from __future__ import annotations

import numpy as np

from handwright.core.hand import Capsules, HandModel, Masses, Side
from handwright.errors import UnknownNameError
from handwright.hands import surface
from handwright.hands.anthropometry import (
    ARM_SEGMENTS,
    BODY_MASS,
    HAND_BREADTH,
    HAND_LENGTH,
    STATURE,
    HandBones,
    Sex,
    bones_of_size,
    of_percentile,
)
from handwright.hands.masses import masses_of_capsules
from handwright.hands.mirror import mirror
from handwright.hands.postures import named_poses
from handwright.hands.sites import palm_side_sites
from handwright.hands.skeleton import TreeBuilder, add_arm, add_digits, openxr_frames


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
    builder = TreeBuilder()
    wrist = 0
    if arm:
        wrist = add_arm(
            builder, ARM_SEGMENTS["upper_arm"][1] * stature, ARM_SEGMENTS["forearm"][1] * stature
        )
    links = add_digits(builder, bones, wrist, coupled=coupled)
    joints = builder.tree()
    shape = surface.skin_shape(bones)
    capsules = surface.capsules(bones, shape, wrist, links)
    if arm:
        capsules = _with_arm_capsules(capsules, joints.offset[3, 0], joints.offset[5, 0])
    num_links = len(joints) + 1
    model = HandModel(
        name=f"human_{side}" + ("_arm" if arm else ""),
        side="right",
        joints=joints,
        frames=openxr_frames(bones, wrist, links),
        digits=surface.digits(bones, shape, links),
        capsules=capsules,
        sites=palm_side_sites(bones, shape, links),
        masses=_masses(capsules, num_links, of_percentile(BODY_MASS, sex, percentile)),
        wrist_link=wrist,
        poses=named_poses(joints),
        skin=shape,
    )
    return mirror(model) if side == "left" else model


def _with_arm_capsules(capsules: Capsules, upper_arm: float, forearm: float) -> Capsules:
    x = np.array([1.0, 0.0, 0.0])
    radius = np.array([0.22 * forearm, 0.15 * forearm])
    return Capsules(
        (*capsules.names, "upper_arm", "forearm"),
        np.append(capsules.link, [3, 5]),
        np.concatenate([capsules.start, [0.0 * x, 0.0 * x]]),
        np.concatenate([capsules.end, [upper_arm * x, (forearm - radius[1]) * x]]),
        np.append(capsules.radius, radius),
        np.append(capsules.digit, [-1, -1]),
    )


def _masses(capsules: Capsules, num_links: int, body_mass: float) -> Masses:
    segment_of = [name if name in ARM_SEGMENTS else "hand" for name in capsules.names]
    totals = {
        segment: (
            ARM_SEGMENTS[segment][0] * body_mass,
            [c for c, owner in enumerate(segment_of) if owner == segment],
        )
        for segment in dict.fromkeys(segment_of)
    }
    return masses_of_capsules(capsules, num_links, totals)
