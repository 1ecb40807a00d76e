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
_ENDS_ALOFT = 0.15
# How often a second activity follows, and how often two hands have a thing each if they can.
_TWO_ACTS, _TWO_THINGS = 0.35, 0.2
# What takes so long that nothing else is asked of the motion.
_ALONE = ("drink",)


@dataclass(frozen=True, slots=True)
class Script:
    """What happens in a motion."""

    split: Split
    side: str
    """The hand that begins, or that pours."""
    kinds: tuple[Kind, ...]
    things: tuple[Thing, ...]
    """One, or what the pouring hand has and what the other hand has."""
    acts: tuple[str, ...]
    """Activities between lifting the thing and putting it down."""
    ends_aloft: bool
    """Whether the thing is still in the hand at the end."""

    @property
    def shape(self) -> str:
        """Name of the shape, or of both with a plus between them."""
        return "+".join(kind.shape for kind in self.kinds)


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
    known = [kind for kind in kinds_of(name) if not kind.is_held_out]
    kind = known[int(rng.integers(len(known)))]
    if split == "test" and rng.random() < _HELD_OUT:
        kind = next(kind for kind in kinds_of(name) if kind.is_held_out)
    side = "right" if rng.random() < 0.5 else "left"
    receivers = [other for other in known if other.receives]
    if kind.pours and receivers and rng.random() < _TWO_THINGS:
        kinds: tuple[Kind, ...] = (kind, receivers[int(rng.integers(len(receivers)))])
        acts: tuple[str, ...] = ("pour",)
    else:
        kinds = (kind,)
        acts = (str(rng.choice(kind.uses)),)
        others = [use for use in kind.uses if use not in (*acts, *_ALONE)]
        if acts[0] not in _ALONE and rng.random() < _TWO_ACTS:
            # A hand-over is thought out for a thing that has not been turned in the hand yet.
            acts = tuple(sorted((*acts, str(rng.choice(others))), key=lambda act: act != "pass"))
    things = tuple(kind.things[int(rng.integers(len(kind.things)))] for kind in kinds)
    return Script(split, side, kinds, things, acts, bool(rng.random() < _ENDS_ALOFT))
