"""All hands of a problem as one tree with many digits, so that one search serves one hand or two.

The root of every further hand hangs on a joint that never moves and is never placed: its pose is
written by hand, frame by frame, as the first root's is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import HandModel
from handwright.kinematics.ik.digit_table import DigitTable, digit_table
from handwright.kinematics.skin.samples import SkinSamples, skin_samples
from handwright.kinematics.tree import Tree, tree_of

# Where else on a pad a digit may touch, m.
_TIPWARD, _SIDEWAYS, _SIDE_RISE = 0.006, 0.006, 0.002


class HandsAsOne(NamedTuple):
    """Several hands side by side; joint and link numbers of hand h start at ``offset[h]``."""

    tree: Tree
    table: DigitTable
    samples: SkinSamples
    pads: Float[np.ndarray, "D V 3"]
    """Points of the last link's skin that may touch, the middle of the pad first, m."""
    offset: Int[np.ndarray, " H"]
    """First joint, and root link, of each hand."""
    hand_of_digit: Int[np.ndarray, " D"]
    digit_of_capsule: Int[np.ndarray, " C"]
    """The digit that a capsule belongs to, or -1 for palms and arms."""
    hand_of_capsule: Int[np.ndarray, " C"]
    first_capsule: Int[np.ndarray, " H_plus_1"]
    """First capsule of each hand, and the number of all."""
    rest: Float[np.ndarray, " J"]
    """Relaxed joint values, rad."""
    open: Float[np.ndarray, " J"]
    """Joint values of the open hand, rad."""


def hands_as_one(models: Sequence[HandModel], spacing: float) -> HandsAsOne:
    """Puts hands side by side.

    Args:
        models: Hands, in the order in which their roots will be given.
        spacing: Distance of skin points, m.
    """
    offset = np.cumsum([0, *(model.num_joints + 1 for model in models[:-1])])
    digits = np.cumsum([0, *(len(model.digits) for model in models)])
    capsules = np.cumsum([0, *(len(model.capsules) for model in models)])
    trees = [tree_of(model) for model in models]
    tables = [digit_table(model) for model in models]
    samples = [skin_samples(model, spacing) for model in models]
    return HandsAsOne(
        tree=_joined_tree(trees, offset),
        table=_joined_table(tables, offset, capsules),
        samples=_joined_samples(samples, offset),
        pads=np.concatenate(
            [_pad_points(model, one) for model, one in zip(models, samples, strict=True)]
        ),
        offset=offset,
        hand_of_digit=np.repeat(np.arange(len(models)), np.diff(digits)),
        digit_of_capsule=np.concatenate(
            [
                np.where(model.capsules.digit >= 0, model.capsules.digit + first, -1)
                for model, first in zip(models, digits[:-1], strict=True)
            ]
        ),
        hand_of_capsule=np.repeat(np.arange(len(models)), np.diff(capsules)),
        first_capsule=capsules,
        rest=joined_values([model.pose("rest") for model in models]),
        open=joined_values([model.pose("open") for model in models]),
    )


def sunk_pads(hands: HandsAsOne, depth: float) -> np.ndarray:
    """(D, V, 3) points below those of the pads, towards the bone.

    Where they are held at a surface the pad has sunk in by as much, and what touches does not move
    over the surface while the digit turns; below a held point of the skin it would.

    Args:
        hands: The hands.
        depth: Below the skin, m.
    """
    table, tips = hands.table, hands.table.capsule[:, 0]
    start, end = table.capsule_start[tips, None], table.capsule_end[tips, None]
    along = end - start
    length = np.maximum(np.sum(along * along, axis=-1, keepdims=True), 1e-18)
    share = np.clip(np.sum((hands.pads - start) * along, axis=-1, keepdims=True) / length, 0.0, 1.0)
    inward = start + share * along - hands.pads
    size = np.maximum(np.linalg.norm(inward, axis=-1, keepdims=True), 1e-9)
    return np.ascontiguousarray(hands.pads + np.minimum(depth / size, 1.0) * inward)


def _pad_points(model: HandModel, samples: SkinSamples) -> np.ndarray:
    """Middle of each pad, and skin points towards the tip and to both sides of it."""
    points = []
    for digit in model.digits:
        pad, forward = digit.pad, digit.tip.normal
        side = np.cross(pad.normal, forward)
        wanted = [pad.position + _TIPWARD * forward]
        wanted += [
            pad.position + sign * _SIDEWAYS * side - _SIDE_RISE * pad.normal for sign in (1.0, -1.0)
        ]
        own = samples.local[:, 0][(samples.link[:, 0] == pad.link) & (samples.weight[:, 0] > 0.9)]
        chosen = [pad.position]
        for position in wanted:
            distance = np.linalg.norm(own - position, axis=1) if len(own) else np.array([np.inf])
            near = int(distance.argmin())
            chosen.append(own[near] if distance[near] < _TIPWARD else pad.position)
        points.append(chosen)
    return np.array(points)


def joined_values(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Joint values of hands side by side, from those of each."""
    return _joined(rows, 0.0)


def _joined(rows: Sequence[np.ndarray], filler: float) -> np.ndarray:
    """One array of joint values, with a filler for the joint in front of each further hand."""
    parts = [rows[0]]
    for row in rows[1:]:
        parts += [np.full((1, *row.shape[1:]), filler, dtype=row.dtype), row]
    return np.ascontiguousarray(np.concatenate(parts))


def _shifted(table: np.ndarray, shift: int) -> np.ndarray:
    return np.where(table >= 0, table + shift, -1)


def _joined_tree(trees: Sequence[Tree], offset: np.ndarray) -> Tree:
    parents = [tree.parent + shift for tree, shift in zip(trees, offset, strict=True)]
    return Tree(
        parent=_joined(parents, 0),
        offset=_joined([tree.offset for tree in trees], 0.0),
        axis=_joined([tree.axis for tree in trees], 0.0),
        is_slide=_joined([tree.is_slide for tree in trees], False),
    )


def _joined_table(
    tables: Sequence[DigitTable], offset: np.ndarray, capsules: np.ndarray
) -> DigitTable:
    def ragged(name: str, shifts: np.ndarray) -> np.ndarray:
        parts = [
            _shifted(getattr(table, name), shift)
            for table, shift in zip(tables, shifts, strict=False)
        ]
        width = max(part.shape[1] for part in parts)
        return np.concatenate(
            [
                np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=-1)
                for part in parts
            ]
        )

    def rows(name: str) -> np.ndarray:
        return np.concatenate([getattr(table, name) for table in tables])

    width = max(table.share.shape[1] for table in tables)
    share = [np.pad(t.share, ((0, 0), (0, width - t.share.shape[1]))) for t in tables]
    none = np.zeros(len(tables), dtype=np.int64)
    return DigitTable(
        chain=ragged("chain", offset),
        free=ragged("free", offset),
        follower=ragged("follower", offset),
        column=ragged("column", none),
        share=np.concatenate(share),
        leader=_joined(
            [_shifted(t.leader, shift) for t, shift in zip(tables, offset, strict=True)], -1
        ),
        ratio=_joined([table.ratio for table in tables], 0.0),
        bias=_joined([table.bias for table in tables], 0.0),
        lower=_joined([table.lower for table in tables], 0.0),
        upper=_joined([table.upper for table in tables], 0.0),
        tip_link=np.concatenate(
            [table.tip_link + shift for table, shift in zip(tables, offset, strict=True)]
        ),
        pad=rows("pad"),
        nail_normal=rows("nail_normal"),
        capsule=ragged("capsule", capsules[:-1]),
        capsule_link=np.concatenate(
            [table.capsule_link + shift for table, shift in zip(tables, offset, strict=True)]
        ),
        capsule_start=rows("capsule_start"),
        capsule_end=rows("capsule_end"),
        capsule_radius=rows("capsule_radius"),
    )


def _joined_samples(samples: Sequence[SkinSamples], offset: np.ndarray) -> SkinSamples:
    counts = np.cumsum([0, *(len(one.link) for one in samples)])
    first = [one.first[:-1] + shift for one, shift in zip(samples, counts, strict=False)]
    most = max(one.carrier.shape[1] for one in samples)
    spare = [(0, most - one.carrier.shape[1]) for one in samples]
    return SkinSamples(
        first=np.concatenate([*first, counts[-1:]]),
        link=np.concatenate(
            [_shifted(one.link, shift) for one, shift in zip(samples, offset, strict=True)]
        ),
        weight=np.concatenate([one.weight for one in samples]),
        local=np.concatenate([one.local for one in samples]),
        reach=np.concatenate([one.reach for one in samples]),
        carrier=np.concatenate(
            [
                np.pad(_shifted(one.carrier, shift), ((0, 0), pad), constant_values=-1)
                for one, shift, pad in zip(samples, offset, spare, strict=True)
            ]
        ),
        ball=np.concatenate(
            [
                np.pad(one.ball, ((0, 0), pad, (0, 0)))
                for one, pad in zip(samples, spare, strict=True)
            ]
        ),
    )
