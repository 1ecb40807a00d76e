"""Where a hand holds a body: what carries it stays where it is on the body.

Skin that presses on a body does not slide on it. So a capsule that forces ask for, once it touches,
is held where it is: the place of its skin that touched is to stay at the place of the body that it
touched. Such a hold gives way as skin does: what is dragged further than it can stretch takes its
place on the body along.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.errors import InvalidValueError
from handwright.methods.neural.fitting.touches import Touches

_AXES = (1, 1, 2, 2)
"""Of one posture, of each part of ``Asked``."""


class Asked(NamedTuple):
    """What forces ask of the capsules of a hand, in one posture or in each of a batch."""

    touch: Float[np.ndarray, "*B C"]
    """How much each is asked to touch the body, from 0 to 1."""
    stay: Float[np.ndarray, "*B C"]
    """How much each is asked to stay where it is on the body, from 0 to 1."""
    on_link: Float[np.ndarray, "*B C 3"]
    """The place of its skin that is to stay, on its link, m."""
    on_body: Float[np.ndarray, "*B C 3"]
    """Where that is to be, on the body, m."""

    def in_rows(self, count: int) -> Asked:
        """With so many postures in one axis."""
        flat = (part.reshape(count, *part.shape[-n:]) for part, n in zip(self, _AXES, strict=True))
        return Asked(*flat)


def nothing_asked(*shape: int) -> Asked:
    """For a shape ``(*B, C)``."""
    return Asked(np.zeros(shape), np.zeros(shape), np.zeros((*shape, 3)), np.zeros((*shape, 3)))


@dataclass(frozen=True, slots=True)
class HoldSettings:
    """When capsules hold, and for how long."""

    begin: float = 2e-3
    """Gap up to which a capsule that is asked to touch takes hold, m."""
    end: float = 5e-3
    """Gap from which on it lets go, m."""
    sure: float = 0.5
    """How much it must be asked to touch to take hold."""
    let_go: float = 0.1
    """How little it may be asked before it lets go."""
    stretch: float = 3e-3
    """How far skin stretches along the body before it slides, m."""
    firm: float = 0.02
    """What of the load may go without forces for a grip that holds on fully, in weights."""
    loose: float = 0.08
    """From how much on nothing is held on to."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.firm < self.loose:
            raise InvalidValueError(f"{self}: expected firm of 0 or more and below loose.")
        if not (0.0 < self.begin <= self.end and self.stretch > 0.0):
            raise InvalidValueError(
                f"{self}: expected begin above 0 and no larger than end, and stretch above 0."
            )
        if not 0.0 <= self.let_go <= self.sure <= 1.0:
            raise InvalidValueError(f"{self}: expected let_go and sure from 0 to 1, in that order.")


class Holds:
    """Where the capsules of one hand, or of several, hold a body, from frame to frame."""

    __slots__ = ("_holding", "_on_body", "_on_link", "settings")

    def __init__(self, count: int, settings: HoldSettings) -> None:
        """Nothing holds yet.

        Args:
            count: Number of capsules.
            settings: When they hold.
        """
        self.settings = settings
        self._holding = np.zeros(count, dtype=bool)
        self._on_link, self._on_body = np.zeros((count, 3)), np.zeros((count, 3))

    def follow(self, touches: Touches, asked: Float[np.ndarray, " C"]) -> None:
        """Takes hold, slides and lets go, as the hand was posed.

        Args:
            touches: Of all capsules, in the posture that was shown.
            asked: How much each was asked to touch in it.
        """
        chosen = self.settings
        self._holding &= (asked >= chosen.let_go) & (touches.gap < chosen.end)
        begins = ~self._holding & (asked >= chosen.sure) & (touches.gap <= chosen.begin)
        begins &= touches.can_move
        skin = touches.point + touches.gap[:, None] * touches.outward
        turn, place = touches.rotation, touches.position
        on_link = np.einsum("cji,cj->ci", turn, skin - place)
        self._on_link = np.where(begins[:, None], on_link, self._on_link)
        self._on_body = np.where(begins[:, None], skin, self._on_body)
        self._holding |= begins
        now = np.einsum("cij,cj->ci", turn, self._on_link) + place
        way = _along(now - self._on_body, touches.outward)
        length = np.sqrt(np.sum(way**2, axis=1))
        share = np.maximum(1.0 - chosen.stretch / np.maximum(length, 1e-9), 0.0)
        self._on_body = self._on_body + share[:, None] * way

    def asked(self, touch: Float[np.ndarray, " C"], missing: float) -> Asked:
        """What is asked of capsules.

        Args:
            touch: How much each is asked to touch.
            missing: What of the load no forces were found for, in weights. A grip that does not
                carry is not held on to.
        """
        chosen = self.settings
        firm = (chosen.loose - missing) / (chosen.loose - chosen.firm)
        stay = min(max(firm, 0.0), 1.0) * touch * self._holding
        return Asked(touch, stay, self._on_link, self._on_body)


def _along(
    way: Float[np.ndarray, "C 3"], outward: Float[np.ndarray, "C 3"]
) -> Float[np.ndarray, "C 3"]:
    """What of a way leads along the body."""
    off = np.sum(way * outward, axis=1, keepdims=True)
    return way - off * outward / np.maximum(np.sum(outward**2, axis=1, keepdims=True), 1e-9)
