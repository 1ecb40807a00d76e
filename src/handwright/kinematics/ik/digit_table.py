"""A hand's digits as plain arrays, in the form that the inverse-kinematics kernels take."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from handwright.core.hand import HandModel
from handwright.kernels.decorators import inlined
from handwright.kinematics.tree import Links, Tree, placed_row, tree_of
from handwright.math.vec3 import Vec3


class DigitTable(NamedTuple):
    """Digits, collision capsules and limits of one hand; rows of ragged tables end with -1."""

    chain: np.ndarray
    """(D, N) all joints of a digit in tree order."""
    free: np.ndarray
    """(D, N) those of them that do not follow another joint."""
    follower: np.ndarray
    """(D, M) joints of a digit that follow a free joint of the same digit."""
    column: np.ndarray
    """(D, M) which of the digit's free joints each of those follows."""
    share: np.ndarray
    """(D, M) how far it moves with that joint."""
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


class Rig(NamedTuple):
    """The joints and the digits of one hand."""

    tree: Tree
    table: DigitTable


def rig_of(model: HandModel) -> Rig:
    """The joints and digits of a hand for numba."""
    return Rig(tree_of(model), digit_table(model))


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
    # Followers of another digit's joint are left out: they stand still while this one is solved.
    followers = [
        [j for j in chain if joints.leader[j] in own]
        for chain, own in zip(chains, free, strict=True)
    ]
    columns = [
        [own.index(joints.leader[j]) for j in row] for row, own in zip(followers, free, strict=True)
    ]
    follower = _ragged(followers)
    owned = [np.flatnonzero(capsules.digit == row).tolist() for row in range(len(model.digits))]
    for row in owned:
        row.sort(key=lambda c: -int(capsules.link[c]))
    back = [
        -digit.pad.normal if digit.nail is None else digit.nail.normal for digit in model.digits
    ]
    return DigitTable(
        chain=_ragged(chains),
        free=_ragged(free),
        follower=follower,
        column=_ragged(columns),
        share=np.where(follower < 0, 0.0, joints.ratio[follower]),
        leader=joints.leader.astype(np.int64),
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


@inlined
def count_of(table: np.ndarray, row: int) -> int:
    """Length of one row of a ragged table."""
    count = 0
    while table[row, count] >= 0:
        count += 1
    return count


@inlined
def capsule_axis(table: DigitTable, links: Links, capsule: int) -> tuple[int, Vec3, Vec3]:
    """Link of a capsule, and both ends of its axis in the world, m."""
    link = table.capsule_link[capsule]
    start = placed_row(links, link, table.capsule_start, capsule)
    return link, start, placed_row(links, link, table.capsule_end, capsule)


def digit_pairs(model: HandModel) -> Int[np.ndarray, "M 2"]:
    """Capsules of different digits."""
    digit = model.capsules.digit
    first, second = np.triu_indices(len(digit), 1)
    keep = (digit[first] >= 0) & (digit[second] >= 0) & (digit[first] != digit[second])
    return np.stack([first[keep], second[keep]], axis=1)
