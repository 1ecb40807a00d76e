"""Whether a hand is one that is shipped, or as a human's: in what it differs, in words.

The strength, the reach and the skin of a hand are taken on trust if it is like a human's. So its
bones, joints, flesh, skin and masses are all looked at; colours and named poses are not.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from handwright.core.hand import HandModel, JointTree
from handwright.core.skin import SkinShape
from handwright.hands.human.model import human
from handwright.hands.registry import HANDS, make_hand, straight_length

_LEAST_GIRTH, _MOST_GIRTH = 0.6, 1.8
"""Thickness of a human hand's flesh and skin over that of an average hand of its size."""
_LEAST_BONE, _MOST_BONE = 0.75, 1.35
"""Length of a bone over that of an average hand of its size."""
_LEAST_MASS, _MOST_MASS = 0.3, 3.0
"""Mass of a link over that of an average hand of its size."""
_MOVED = 0.02
"""How far a joint, a tip or a capsule may be from where an average hand of that size has it, m."""
_SHORT = 0.01
"""Bones of an average hand that are shorter are held against ``_MOVED`` alone, m."""
_LENGTHS = (0.12, 0.26)
"""Wrist to fingertip of human hands, m."""
_WIDER = 0.01
"""By which a joint's range may be wider than that of the shipped hand, rad."""
_UNSEEN = ("name", "poses", "sites")
"""What of a hand no check rests on."""


@lru_cache(maxsize=16)
def odd_hand(name: str, model: HandModel) -> str | None:
    """In what a hand differs from those that are shipped, in words; None if in nothing."""
    if any(is_same(model, make_shipped(entry)) for entry in HANDS):
        return None
    like = human("left" if model.side == "left" else "right", arm=model.wrist_link > 0)
    if not _is_wired_alike(model, like):
        return f"hand '{name}' ({model.name}) as it is given"
    joints, usual = model.joints, like.joints
    if not np.allclose(joints.axis, usual.axis, atol=0.2):
        return f"joints of hand '{name}' that turn other ways than a human's"
    wide = (joints.lower < usual.lower - _WIDER) | (joints.upper > usual.upper + _WIDER)
    if wide.any():
        joint = joints.names[int(np.flatnonzero(wide)[0])]
        return f"joints of hand '{name}' that go further than a human's ({joint})"
    length = straight_length(model)
    if not _LENGTHS[0] <= length <= _LENGTHS[1]:
        return f"hand '{name}' of {1e3 * length:.3g} mm"
    scale = _scale(joints, usual)
    if (bone := _odd_bone(joints, usual, scale)) is not None:
        return f"bones of hand '{name}' longer or shorter than a human's ({bone})"
    if _is_oddly_shaped(model, like, scale):
        return f"shape of hand '{name}' as it is given"
    mass = model.masses.mass / np.maximum(scale**3 * like.masses.mass, 1e-12)
    if mass.min() < _LEAST_MASS or mass.max() > _MOST_MASS:
        return f"masses of hand '{name}' as they are given"
    return None


def _is_wired_alike(model: HandModel, like: HandModel) -> bool:
    """Whether the same joints carry the same parts."""

    def wiring(hand: HandModel) -> tuple[Any, ...]:
        joints, capsules = hand.joints, hand.capsules
        return (
            joints.names, joints.parent.tolist(), joints.is_slide.tolist(), joints.leader.tolist(),
            capsules.names, capsules.link.tolist(), capsules.digit.tolist(), hand.wrist_link,
            [(digit.name, digit.joints, digit.tip.link, digit.pad.link) for digit in hand.digits],
        )  # fmt: skip

    return wiring(model) == wiring(like)


def _scale(joints: JointTree, usual: JointTree) -> float:
    """How large the bones are over those of an average hand, by the middle one of them.

    One long finger does not make a large hand.
    """
    length, average = (np.linalg.norm(tree.offset, axis=1) for tree in (joints, usual))
    bones = average > _SHORT
    return float(np.median(length[bones] / average[bones]))


def _odd_bone(joints: JointTree, usual: JointTree, scale: float) -> str | None:
    """Name of the joint whose bone is least like a human's; None if all are alike."""
    average = scale * np.linalg.norm(usual.offset, axis=1)
    ratio = np.linalg.norm(joints.offset, axis=1) / np.maximum(average, 1e-12)
    moved = np.linalg.norm(joints.offset - scale * usual.offset, axis=1)
    odd = (average > _SHORT) & ((ratio < _LEAST_BONE) | (ratio > _MOST_BONE)) | (moved > _MOVED)
    return joints.names[int(np.where(odd, moved, -1.0).argmax())] if odd.any() else None


def _is_oddly_shaped(model: HandModel, like: HandModel, scale: float) -> bool:
    """Whether flesh, tips or skin are not where an average hand of the size has them."""
    flesh, usual = model.capsules, like.capsules
    if model.skin is None or like.skin is None:
        return True
    moved = [
        np.linalg.norm(mine - scale * theirs, axis=-1)
        for mine, theirs in (
            (flesh.start, usual.start),
            (flesh.end, usual.end),
            *(
                (a.position, b.position)
                for one, two in zip(model.digits, like.digits, strict=True)
                for a, b in ((one.tip, two.tip), (one.pad, two.pad))
            ),
        )
    ]
    girth = np.concatenate(
        [flesh.radius / usual.radius, _girths(model.skin) / _girths(like.skin)]
    ) / scale  # fmt: skip
    return bool(
        girth.min() < _LEAST_GIRTH
        or girth.max() > _MOST_GIRTH
        or max(float(np.max(way)) for way in moved) > _MOVED
    )


def _girths(skin: SkinShape) -> np.ndarray:
    """Thickness of skin at places that all hands have, and the lengths of the digits, m."""
    rows = [skin.palm_half_thickness, skin.wrist_half_breadth, skin.wrist_half_depth]
    for digit in skin.digits:
        rows.append(digit.length)
        rows += [
            girth for share in (0.0, 0.3, 0.6, 0.9) for girth in digit.at(share * digit.length)
        ]
    return np.array(rows)


def is_same(model: Any, like: Any) -> bool:  # noqa: ANN401  a tree of dataclasses
    """Whether two hands, or parts of them, are the same in all that a check can rest on."""
    if is_dataclass(model) and type(model) is type(like):
        names = [item.name for item in fields(model) if item.name not in _ignored(model)]
        return all(is_same(getattr(model, name), getattr(like, name)) for name in names)
    if isinstance(model, tuple) and isinstance(like, tuple):
        pairs = zip(model, like, strict=False)
        return len(model) == len(like) and all(is_same(a, b) for a, b in pairs)
    if isinstance(model, np.ndarray | float) and isinstance(like, np.ndarray | float):
        mine, theirs = np.asarray(model, dtype=float), np.asarray(like, dtype=float)
        return mine.shape == theirs.shape and np.allclose(mine, theirs, rtol=0.0, atol=1e-9)
    return bool(model == like)


def _ignored(part: object) -> tuple[str, ...]:
    return _UNSEEN if isinstance(part, HandModel) else ()


@lru_cache(maxsize=16)
def make_shipped(entry: str) -> HandModel:
    """A shipped hand by its name, kept."""
    return make_hand(entry)
