"""Hands and arms in each other, and digits in their own palm, by capsules.

Capsules of a hand with skin stand out from it, and flesh gives way: overlaps count beyond that.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import combinations, product

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.hand import HandModel
from handwright.evidence.contacts.flesh import FleshRods, flesh_rods, is_arm
from handwright.evidence.contacts.hand_probe import HandProbe
from handwright.geometry.distance.capsules import capsule_capsule
from handwright.kernels.decorators import kernel
from handwright.kinematics.fk import posed_capsules

_OVER_BONE = 2e-3
"""How far the flesh over a bone of the palm gives way, m."""
_PAD = 6e-3
"""The same for a pad beside a bone: in a tight fist the little finger of the human hand is that
deep in the ball of the palm, m."""
_AT_ROOT = 3e-3
"""A digit is rooted in a part of the palm if they are no farther apart in the flat hand, m."""

_WAY = 0.01
"""Hands that move by more than this in a step are looked at within it, m."""
_MOST_MOMENTS = 16


def hand_hand_depth(
    hands: Mapping[str, HandProbe],
) -> tuple[Float[np.ndarray, " T"], list[str]]:
    """How deep hands and their arms are in each other, m, and which capsules are deepest.

    Args:
        hands: All hands of a clip, posed.
    """
    count = max((len(hand.links.positions) for hand in hands.values()), default=0)
    depth, names = np.zeros(count), [""] * count
    for one, two in combinations(hands.values(), 2):
        parts = (range(len(hand.model.capsules)) for hand in (one, two))
        pairs = np.array(list(product(*parts)), dtype=np.int64).reshape(-1, 2)
        mine, theirs = flesh_rods(one), flesh_rods(two)
        share, step = _between(mine, theirs)
        at, next_at = step, np.minimum(step + 1, count - 1)
        within, which = _deepest(
            _mixed(mine, at, next_at, share), _mixed(theirs, at, next_at, share), pairs
        )
        # What happens on the way to a frame counts for it.
        frame = np.where(share > 0.0, next_at, at)
        order = np.argsort(within, kind="stable")
        found, deepest = np.zeros(count), np.zeros(count, dtype=np.int64)
        found[frame[order]], deepest[frame[order]] = within[order], which[order]
        for t in np.flatnonzero(found > depth):
            a, b = pairs[deepest[t]]
            names[t] = (
                f"{one.name}.{one.model.capsules.names[a]} in "
                f"{two.name}.{two.model.capsules.names[b]}"
            )
        depth = np.maximum(depth, found)
    return depth, names


def _between(
    one: FleshRods, two: FleshRods
) -> tuple[Float[np.ndarray, " N"], Int[np.ndarray, " N"]]:
    """Moments at which hands are looked at: a share of a step, and the frame that it is from.

    Every frame, and more moments in steps in which hands could pass through each other.
    """
    travel = sum(
        np.linalg.norm(np.diff(ends, axis=0), axis=2).max(axis=1)
        for rods in (one, two)
        for ends in (rods.start, rods.end)
    )
    count = np.ones(len(one.start), dtype=np.int64)
    count[:-1] = np.clip(np.ceil(travel / _WAY), 1, _MOST_MOMENTS)
    step = np.repeat(np.arange(len(count)), count)
    return (np.arange(len(step)) - (np.cumsum(count) - count)[step]) / count[step], step


def _mixed(
    rods: FleshRods,
    at: Int[np.ndarray, " N"],
    next_at: Int[np.ndarray, " N"],
    share: Float[np.ndarray, " N"],
) -> FleshRods:
    """Rods between two frames, on straight ways."""
    weight = share[:, None, None]
    start = rods.start[at] + weight * (rods.start[next_at] - rods.start[at])
    end = rods.end[at] + weight * (rods.end[next_at] - rods.end[at])
    return FleshRods(start, end, rods.radius)


def palm_depth(hand: HandProbe) -> tuple[Float[np.ndarray, " T"], list[str]]:
    """How deep digits of a hand are in its palm, m, and which capsules are deepest.

    A digit is not held against the links of the palm that it is rooted in. What flesh gives way in
    a fist is taken off.

    Args:
        hand: The hand, posed.
    """
    pairs, rods, names = _free_pairs(hand.model), flesh_rods(hand), hand.model.capsules.names
    soft = np.where(_is_pad(hand.model), _PAD, _OVER_BONE)
    depth, which = _deepest(rods, rods._replace(radius=rods.radius - soft), pairs)
    return depth, [
        " in ".join(names[c] for c in pairs[which[t]]) if depth[t] > 0.0 else ""
        for t in range(len(depth))
    ]


def _is_pad(model: HandModel) -> Bool[np.ndarray, " C"]:
    """Capsules beside a longer one on the same link: that one is the bone."""
    capsules = model.capsules
    length = np.linalg.norm(capsules.end - capsules.start, axis=1)
    longest = np.zeros(model.num_links)
    np.maximum.at(longest, capsules.link, length)
    return np.asarray(length < longest[capsules.link])


@lru_cache(maxsize=8)
def _free_pairs(model: HandModel) -> Int[np.ndarray, "M 2"]:
    """Capsules of digits and of the palm whose links are apart in the flat hand."""
    capsules = model.capsules
    palm = np.flatnonzero((capsules.digit < 0) & ~is_arm(model))
    pairs = list(product(np.flatnonzero(capsules.digit >= 0), palm))
    posed = posed_capsules(model, np.zeros(model.num_joints))
    start, end, radius = (np.array(part) for part in posed)
    rooted = {
        (a, capsules.link[b])
        for a, b in pairs
        if capsule_capsule(start[a], end[a], radius[a], start[b], end[b], radius[b])[0] < _AT_ROOT
    }
    free = [(a, b) for a, b in pairs if (a, capsules.link[b]) not in rooted]
    return np.array(free, dtype=np.int64).reshape(-1, 2)


def _deepest(
    one: FleshRods, two: FleshRods, pairs: Int[np.ndarray, "M 2"]
) -> tuple[Float[np.ndarray, " T"], Int[np.ndarray, " T"]]:
    """Largest overlap of listed rods in each frame, m, and the pair that it is of."""
    depth, which = np.zeros(len(one.start)), np.zeros(len(one.start), dtype=np.int64)
    _deepest_pairs(one, two, pairs, depth, which)
    return depth, which


@kernel
def _deepest_pairs(
    one: FleshRods, two: FleshRods, pairs: np.ndarray, depth: np.ndarray, which: np.ndarray
) -> None:
    start, end, radius = one
    other_start, other_end, other_radius = two
    for t in range(len(depth)):
        for m in range(len(pairs)):
            a, b = pairs[m, 0], pairs[m, 1]
            touch = radius[a] + other_radius[b]
            # Balls around the capsules are apart if the capsules are.
            apart, length, other = 0.0, 0.0, 0.0
            for i in range(3):
                p, q = start[t, a, i], end[t, a, i]
                u, v = other_start[t, b, i], other_end[t, b, i]
                apart += 0.25 * (p + q - u - v) ** 2
                length += 0.25 * (q - p) ** 2
                other += 0.25 * (v - u) ** 2
            if np.sqrt(apart) - np.sqrt(length) - np.sqrt(other) >= touch - depth[t]:
                continue
            gap = capsule_capsule(
                start[t, a], end[t, a], radius[a],
                other_start[t, b], other_end[t, b], other_radius[b],
            )[0]  # fmt: skip
            if -gap > depth[t]:
                depth[t] = -gap
                which[t] = m
