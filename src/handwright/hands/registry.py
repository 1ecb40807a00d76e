"""The shipped hands by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from handwright.core.hand import HandModel
from handwright.errors import UnknownNameError
from handwright.hands.capsules import zero_pose_origins
from handwright.hands.human.model import human
from handwright.hands.trident import trident


@dataclass(frozen=True, slots=True)
class HandEntry:
    """An entry of the table of hands.

    Attributes:
        make: Builds the hand.
        summary: One line: what it is.
    """

    make: Callable[[], HandModel]
    summary: str


HANDS: dict[str, HandEntry] = {
    "human_right": HandEntry(human, "right hand of an average man"),
    "human_left": HandEntry(partial(human, "left"), "left hand of an average man"),
    "human_right_arm": HandEntry(
        partial(human, "right", arm=True), "the right hand on an arm, from the shoulder"
    ),
    "human_left_arm": HandEntry(
        partial(human, "left", arm=True), "the left hand on an arm, from the shoulder"
    ),
    "human_female_right": HandEntry(
        partial(human, "right", sex="female"), "right hand of an average woman"
    ),
    "human_female_left": HandEntry(
        partial(human, "left", sex="female"), "left hand of an average woman"
    ),
    "trident": HandEntry(trident, "three-finger robot hand, like the Barrett"),
}
"""Every hand, in the order in which they are listed."""


def make_hand(name: str) -> HandModel:
    """Builds a hand of the table.

    Args:
        name: A key of ``HANDS``.

    Raises:
        UnknownNameError: If there is no such hand; the text lists the known ones.
    """
    if name not in HANDS:
        raise UnknownNameError("hand", name, HANDS)
    return HANDS[name].make()


def straight_length(model: HandModel) -> float:
    """From the wrist to the furthest fingertip of the straight hand, m."""
    places = zero_pose_origins(model.joints)
    wrist = places[model.wrist_link]
    return max(
        float(np.linalg.norm(places[digit.tip.link] + digit.tip.position - wrist))
        for digit in model.digits
    )
