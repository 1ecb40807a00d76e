"""Which motion belongs to a number: split, things, hands, and what they do, all by chance.

A number of a seed always gives the same motion, whoever makes it and when.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

import numpy as np

from handwright.learning.data.shapes import Kind, Thing, kinds_of

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")
# Shares of the splits, in percent; the rest is for tests.
_TRAIN, _VALIDATION = 80, 10
# How often a motion of the test split has the shape that is held out.
_HELD_OUT = 0.4
_ENDS_ALOFT = 0.2


@dataclass(frozen=True, slots=True)
class Script:
    """What happens in a motion."""

    number: int
    split: Split
    side: str
    """The hand that begins."""
    kind: Kind
    thing: Thing
    acts: tuple[str, ...]
    """Activities between lifting the thing and putting it down."""
    ends_aloft: bool
    """Whether the thing is still in the hand at the end."""


def split_of(seed: int, number: int) -> Split:
    """The split of a motion: a hash of seed and number decides, so that it never changes."""
    digest = hashlib.sha256(f"{seed}/{number}".encode()).digest()
    share = int.from_bytes(digest[:8], "big") % 100
    if share < _TRAIN:
        return "train"
    return "validation" if share < _TRAIN + _VALIDATION else "test"


def generator(seed: int, number: int, part: int) -> np.random.Generator:
    """Random numbers of one part of one motion."""
    return np.random.default_rng([seed, number, part])


def draw_script(name: str, seed: int, number: int) -> Script:
    """The script of a motion.

    Args:
        name: Of the set of shapes.
        seed: Of the run.
        number: Of the motion, from 0.
    """
    rng, split = generator(seed, number, 0), split_of(seed, number)
    kinds = kinds_of(name)
    known = [kind for kind in kinds if not kind.is_held_out]
    held_out = [kind for kind in kinds if kind.is_held_out]
    if split == "test" and rng.random() < _HELD_OUT:
        known = held_out
    kind = known[int(rng.integers(len(known)))]
    thing = kind.things[int(rng.integers(len(kind.things)))]
    acts = tuple(rng.choice(kind.uses, size=int(rng.integers(1, 3)), replace=False).tolist())
    side = "right" if rng.random() < 0.5 else "left"
    return Script(number, split, side, kind, thing, acts, bool(rng.random() < _ENDS_ALOFT))
