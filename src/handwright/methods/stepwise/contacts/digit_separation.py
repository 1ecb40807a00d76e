"""Limits that keep the digits of a hand out of each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.core.hand import HandModel
from handwright.geometry.distance.capsules import segment_segment
from handwright.kernels.decorators import compiled
from handwright.kinematics.ik.digit_table import digit_pairs
from handwright.kinematics.tree import placed
from handwright.methods.stepwise.qp.point_rows import HandChain, hand_point_rows

# Pairs nearer than this are looked at, m.
_MARGIN = 0.006


class DigitCapsules(NamedTuple):
    """Capsules of a hand, and which of them are of different digits."""

    pairs: np.ndarray
    """(M, 2)"""
    link: np.ndarray
    start: np.ndarray
    end: np.ndarray
    radius: np.ndarray


def digit_capsules(model: HandModel) -> DigitCapsules:
    """Capsules of a hand as arrays that compiled code takes."""
    capsules = model.capsules
    return DigitCapsules(
        digit_pairs(model),
        capsules.link.astype(np.int64),
        np.array(capsules.start),
        np.array(capsules.end),
        np.array(capsules.radius),
    )


@compiled
def digit_limits(digits: DigitCapsules, hand: HandChain, width: int) -> tuple:
    """Rows of the speeds with which near digits part, and their gaps, m."""
    count = len(digits.link)
    start, end = np.zeros((count, 3)), np.zeros((count, 3))
    for c in range(count):
        link, a, b = digits.link[c], digits.start[c], digits.end[c]
        start[c] = placed(hand.links, link, a[0], a[1], a[2])
        end[c] = placed(hand.links, link, b[0], b[1], b[2])
    rows = np.zeros((len(digits.pairs), width))
    gaps = np.zeros(len(digits.pairs))
    room = np.zeros((3, width))
    found = 0
    for m in range(len(digits.pairs)):
        i, j = digits.pairs[m, 0], digits.pairs[m, 1]
        apart, s, t = segment_segment(start[i], end[i], start[j], end[j])
        gap = apart - digits.radius[i] - digits.radius[j]
        if gap > _MARGIN or apart < 1e-9:
            continue
        one = start[i] + s * (end[i] - start[i])
        two = start[j] + t * (end[j] - start[j])
        way = (one - two) / apart
        room[:] = 0.0
        hand_point_rows(hand, digits.link[i], one, 1.0, room)
        hand_point_rows(hand, digits.link[j], two, -1.0, room)
        rows[found] = way[0] * room[0] + way[1] * room[1] + way[2] * room[2]
        gaps[found] = gap
        found += 1
    return rows[:found], gaps[:found]
