"""All hands of a problem as one tree with many digits, so that one search serves one hand or two.

The root of every further hand hangs on a joint that never moves and is never placed: its pose is
written by hand, frame by frame, as the first root's is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import HandModel
from handwright.kinematics.ik.digit_table import DigitTable, digit_table
from handwright.kinematics.skin.samples import SkinSamples, skin_samples
from handwright.kinematics.tree import Tree, tree_of

SKIN_SPACING = 0.0025
"""Distance of skin points, m."""
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
    closed: Float[np.ndarray, " J"]
    """Joint values of closed hands, rad; relaxed ones where a hand has none."""


def hands_as_one(models: Sequence[HandModel], spacing: float = SKIN_SPACING) -> HandsAsOne:
    """Puts hands side by side, in the order in which their roots will be given.

    Skin points are ``spacing`` apart, m.
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
        closed=joined_values([model.poses.get("closed", model.pose("rest")) for model in models]),
    )


def sunk_pads(hands: HandsAsOne, depth: float) -> Float[np.ndarray, "D V 3"]:
    """Points at a depth, m, below those of the pads, towards the bone.

    Where they are held at a surface the pad has sunk in by as much, and what touches does not move
    over the surface while the digit turns; below a held point of the skin it would.
    """
    table, tips = hands.table, hands.table.capsule[:, 0]
    start, end = table.capsule_start[tips, None], table.capsule_end[tips, None]
    along = end - start
    length = np.maximum(np.sum(along * along, axis=-1, keepdims=True), 1e-18)
    share = np.clip(np.sum((hands.pads - start) * along, axis=-1, keepdims=True) / length, 0.0, 1.0)
    inward = start + share * along - hands.pads
    size = np.maximum(np.linalg.norm(inward, axis=-1, keepdims=True), 1e-9)
    return np.ascontiguousarray(hands.pads + np.minimum(depth / size, 1.0) * inward)


def _pad_points(model: HandModel, samples: SkinSamples) -> Float[np.ndarray, "D V 3"]:
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


def joined_values(rows: Sequence[np.ndarray], filler: float = 0.0) -> np.ndarray:
    """Values of the joints of hands side by side; the joint before a further hand has a filler."""
    parts = [rows[0]]
    for row in rows[1:]:
        parts += [np.full((1, *row.shape[1:]), filler, dtype=row.dtype), row]
    return np.ascontiguousarray(np.concatenate(parts))


def _shifted(tables: Iterable[np.ndarray], shifts: np.ndarray) -> list[np.ndarray]:
    """Numbers of joints, links or capsules as they are among those of all hands; -1 stays."""
    pairs = zip(tables, shifts, strict=True)
    return [np.where(table >= 0, table + shift, -1) for table, shift in pairs]


def _stacked(tables: Sequence[np.ndarray]) -> np.ndarray:
    """Rows of all tables; narrower ones are filled up with -1 if they hold integers, else 0."""
    if tables[0].ndim < 2:
        return np.concatenate(tables)
    width = max(table.shape[1] for table in tables)
    filler = -1 if np.issubdtype(tables[0].dtype, np.integer) else 0
    wide = []
    for table in tables:
        pad = [(0, 0)] * table.ndim
        pad[1] = (0, width - table.shape[1])
        wide.append(np.pad(table, pad, constant_values=filler))
    return np.concatenate(wide)


def _joined_tree(trees: Sequence[Tree], offset: Int[np.ndarray, " H"]) -> Tree:
    columns = {name: [getattr(tree, name) for tree in trees] for name in Tree._fields}
    columns["parent"] = _shifted(columns["parent"], offset)
    return Tree(**{name: joined_values(column) for name, column in columns.items()})


def _joined_table(
    tables: Sequence[DigitTable],
    offset: Int[np.ndarray, " H"],
    capsules: Int[np.ndarray, " H_plus_1"],
) -> DigitTable:
    columns = {name: [getattr(table, name) for table in tables] for name in DigitTable._fields}
    for name in ("chain", "free", "follower", "leader", "tip_link", "capsule_link"):
        columns[name] = _shifted(columns[name], offset)
    columns["capsule"] = _shifted(columns["capsule"], capsules[:-1])
    joined = {
        name: joined_values(columns.pop(name)) for name in ("ratio", "bias", "lower", "upper")
    }
    joined["leader"] = joined_values(columns.pop("leader"), -1)
    return DigitTable(**joined, **{name: _stacked(column) for name, column in columns.items()})


def _joined_samples(samples: Sequence[SkinSamples], offset: Int[np.ndarray, " H"]) -> SkinSamples:
    columns = {name: [getattr(one, name) for one in samples] for name in SkinSamples._fields}
    for name in ("link", "carrier"):
        columns[name] = _shifted(columns[name], offset)
    counts = np.cumsum([0, *(len(one.link) for one in samples)])
    first = _shifted([one.first[:-1] for one in samples], counts[:-1])
    columns["first"] = [*first, counts[-1:]]
    return SkinSamples(**{name: _stacked(column) for name, column in columns.items()})
