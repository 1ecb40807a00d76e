"""A hand's digits as plain arrays, in the form that the inverse-kinematics kernels take."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from handwright.core.hand import HandModel


class DigitTable(NamedTuple):
    """Digits, collision capsules and limits of one hand; rows of ragged tables end with -1."""

    chain: np.ndarray
    """(D, N) all joints of a digit in tree order."""
    free: np.ndarray
    """(D, N) those of them that do not follow another joint."""
    follower: np.ndarray
    """(J,) joint that follows this one, or -1."""
    own_follower: np.ndarray
    """(J,) the same, but -1 if it moves another digit, which then gives way to this one."""
    ratio: np.ndarray
    """(J,) share of the leader's value that a follower takes."""
    bias: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    tip_link: np.ndarray
    """(D,) last link of a digit."""
    pad: np.ndarray
    """(D, 3) on the last link, m."""
    nail_normal: np.ndarray
    """(D, 3) out of the back of the last link."""
    capsule: np.ndarray
    """(D, M) capsules of a digit, the outermost first."""
    capsule_link: np.ndarray
    capsule_start: np.ndarray
    capsule_end: np.ndarray
    capsule_radius: np.ndarray


def _ragged(rows: list[list[int]]) -> np.ndarray:
    width = max((len(row) for row in rows), default=0)
    table = np.full((len(rows), width + 1), -1)
    for number, row in enumerate(rows):
        table[number, : len(row)] = row
    return table


@lru_cache(maxsize=64)
def digit_table(model: HandModel) -> DigitTable:
    """Packs the digits of a hand for numba."""
    joints, capsules = model.joints, model.capsules
    chains = [sorted(digit.joints) for digit in model.digits]
    follower = np.full(len(joints), -1)
    own_follower = np.full(len(joints), -1)
    for joint, leader in enumerate(joints.leader):
        if leader >= 0:
            follower[leader] = joint
            if any(joint in chain and leader in chain for chain in chains):
                own_follower[leader] = joint
    owned = [np.flatnonzero(capsules.digit == row).tolist() for row in range(len(model.digits))]
    for row in owned:
        row.sort(key=lambda c: -int(capsules.link[c]))
    back = [digit.pad.normal * -1.0 for digit in model.digits]
    for row, digit in enumerate(model.digits):
        if digit.nail is not None:
            back[row] = digit.nail.normal
    return DigitTable(
        chain=_ragged(chains),
        free=_ragged([[j for j in chain if joints.leader[j] < 0] for chain in chains]),
        follower=follower,
        own_follower=own_follower,
        ratio=joints.ratio.copy(),
        bias=joints.bias.copy(),
        lower=joints.lower.copy(),
        upper=joints.upper.copy(),
        tip_link=np.array([digit.pad.link for digit in model.digits]),
        pad=np.array([digit.pad.position for digit in model.digits]),
        nail_normal=np.array(back),
        capsule=_ragged(owned),
        capsule_link=capsules.link.astype(np.int64),
        capsule_start=capsules.start.copy(),
        capsule_end=capsules.end.copy(),
        capsule_radius=capsules.radius.copy(),
    )
