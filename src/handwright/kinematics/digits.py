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
    column: np.ndarray
    """(D, N) which of the free joints moves a joint of the chain; -1 for one of another digit."""
    share: np.ndarray
    """(D, N) how far a joint of the chain moves with that free joint: 1, or a follower's ratio."""
    leader: np.ndarray
    """(J,) joint that this one follows, or -1."""
    ratio: np.ndarray
    """(J,) a follower's value is ratio * leader + bias."""
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
    free = [[j for j in chain if joints.leader[j] < 0] for chain in chains]
    mover = np.where(joints.leader < 0, np.arange(len(joints)), joints.leader)
    columns = [
        [own.index(mover[j]) if mover[j] in own else -1 for j in chain]
        for chain, own in zip(chains, free, strict=True)
    ]
    ratio = np.where(joints.leader < 0, 1.0, joints.ratio)
    chain_table = _ragged(chains)
    owned = [np.flatnonzero(capsules.digit == row).tolist() for row in range(len(model.digits))]
    for row in owned:
        row.sort(key=lambda c: -int(capsules.link[c]))
    back = [
        -digit.pad.normal if digit.nail is None else digit.nail.normal for digit in model.digits
    ]
    return DigitTable(
        chain=chain_table,
        free=_ragged(free),
        column=_ragged(columns),
        share=np.where(chain_table < 0, 0.0, ratio[chain_table]),
        leader=joints.leader.astype(np.int64),
        ratio=ratio,
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
