"""What of a hand live fingers look at from frame to frame: how far its tips go, what it touches."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.geometry.distance.sdf import Field, field_value
from handwright.kernels.decorators import kernel
from handwright.kernels.packed import Packed
from handwright.kinematics.fk import checked_values
from handwright.kinematics.tree import Links, Tree, forward, links_for, placed_row, tree_of

PALM = "palm"
"""Name of what touches with no digit."""
# Share of the allowed way that a shortened step is aimed at: tips go along arcs, not lines.
_AIM = 0.98
_NUM_TRIES = 8


class _Hand(NamedTuple):
    tree: Tree
    links: Links
    """Room for a pose; the root is at the origin."""
    digit_of_joint: np.ndarray
    """(J,) or -1."""
    tip_link: np.ndarray
    """(D,)."""
    tip: np.ndarray
    """(D, 3) on its link, m."""
    share: np.ndarray
    """(D,) room: how much of its step each digit takes."""
    start: np.ndarray
    """(D, 3) room: tips before the step, m."""
    site_link: np.ndarray
    """(S,)."""
    site: np.ndarray
    """(S, 3) on its link, m."""
    part_of_site: np.ndarray
    """(S,) digit, or the number of digits for the palm."""


class PosedHand:
    """A hand seen from its wrist; holds room to compute in, so one thread may use it."""

    __slots__ = ("_hand", "_parts", "model")

    def __init__(self, model: HandModel) -> None:
        self.model = model
        digits = model.digits
        self._parts = (*(digit.name for digit in digits), PALM)
        digit_of_joint = np.full(model.num_joints, -1, dtype=np.int64)
        for number, digit in enumerate(digits):
            digit_of_joint[list(digit.joints)] = number
        # Metacarpals are links of digits, but lie in the palm; capsules tell which do.
        part_of_link = np.full(model.num_links, len(digits), dtype=np.int64)
        for link, number in zip(model.capsules.link, model.capsules.digit, strict=True):
            if number >= 0:
                part_of_link[link] = number
        self._hand = Packed(
            _Hand(
                tree_of(model),
                links_for(model),
                digit_of_joint,
                np.array([digit.tip.link for digit in digits], dtype=np.int64),
                np.array([digit.tip.position for digit in digits]),
                np.zeros(len(digits)),
                np.zeros((len(digits), 3)),
                model.sites.link.astype(np.int64),
                np.array(model.sites.position),
                part_of_link[model.sites.link],
            )
        )

    def limited(
        self,
        before: Float[np.ndarray, " J"],
        wanted: Float[np.ndarray, " J"],
        *,
        joint_step: float,
        tip_step: float,
    ) -> tuple[Float[np.ndarray, " J"], bool]:
        """The next joint values, and whether they fall short of what is wanted.

        Each digit goes straight towards what is wanted, so that limits and couplings which hold
        at both ends hold on the way.

        Args:
            before: Joint values, rad.
            wanted: Joint values, rad.
            joint_step: Largest change of a joint, rad.
            tip_step: Largest way of a fingertip, m.
        """
        q = np.zeros(self.model.num_joints)
        # Copies, for numba would compile anew for arrays that may not be written to.
        ends = np.array(before), np.array(checked_values(self.model, wanted))
        is_limited = _limit(self._hand, *ends, (joint_step, tip_step), q)
        return q, bool(is_limited)

    def touching(
        self,
        q: Float[np.ndarray, " J"],
        field: Field,
        place: tuple[Float[np.ndarray, "3 3"], Float[np.ndarray, "3"]],
        *,
        distance: float,
    ) -> tuple[str, ...]:
        """Names of the digits whose skin is at an object, and of the palm.

        Args:
            q: Joint values, rad.
            field: Of the object, in its frame.
            place: Rotation and shift (m) from the wrist frame to the object's.
            distance: Largest distance that counts, m.
        """
        found = np.zeros(len(self._parts), dtype=np.bool_)
        _touch(self._hand, np.array(q), field, place, distance, found)
        return tuple(name for name, is_found in zip(self._parts, found, strict=True) if is_found)


@kernel
def _limit(
    hand: _Hand, before: np.ndarray, wanted: np.ndarray, steps: tuple[float, float], q: np.ndarray
) -> bool:
    """Writes the next joint values; steps of joints and of tips. Says whether they fall short."""
    joint_step, tip_step = steps
    share, links = hand.share, hand.links
    num_digits, num_joints = share.shape[0], q.shape[0]
    forward(hand.tree, before, links)
    for digit in range(num_digits):
        share[digit] = 1.0
        x, y, z = placed_row(links, hand.tip_link[digit], hand.tip, digit)
        hand.start[digit, 0], hand.start[digit, 1], hand.start[digit, 2] = x, y, z
    for joint in range(num_joints):
        q[joint] = before[joint]
        digit = hand.digit_of_joint[joint]
        step = abs(wanted[joint] - before[joint])
        if digit >= 0 and step > joint_step:
            share[digit] = min(share[digit], joint_step / step)
    for trial in range(_NUM_TRIES):
        for joint in range(num_joints):
            digit = hand.digit_of_joint[joint]
            if digit >= 0:
                q[joint] = before[joint] + share[digit] * (wanted[joint] - before[joint])
        forward(hand.tree, q, links)
        is_far = False
        for digit in range(num_digits):
            x, y, z = placed_row(links, hand.tip_link[digit], hand.tip, digit)
            x, y, z = x - hand.start[digit, 0], y - hand.start[digit, 1], z - hand.start[digit, 2]
            way = math.sqrt(x * x + y * y + z * z)
            if way > tip_step:
                is_far = True
                # The last but one try stays where it was: the last then finds nothing to shorten.
                share[digit] *= _AIM * tip_step / way if trial + 2 < _NUM_TRIES else 0.0
        if not is_far:
            break
    least = 1.0
    for digit in range(num_digits):
        least = min(least, share[digit])
    return least < 1.0


@kernel
def _touch(
    hand: _Hand,
    q: np.ndarray,
    field: Field,
    place: tuple[np.ndarray, np.ndarray],
    distance: float,
    found: np.ndarray,
) -> None:
    """Marks the parts of the hand that are at the object."""
    turn, shift = place
    forward(hand.tree, q, hand.links)
    for n in range(hand.site.shape[0]):
        part = hand.part_of_site[n]
        if found[part]:
            continue
        x, y, z = placed_row(hand.links, hand.site_link[n], hand.site, n)
        gap = field_value(
            field,
            turn[0, 0] * x + turn[0, 1] * y + turn[0, 2] * z + shift[0],
            turn[1, 0] * x + turn[1, 1] * y + turn[1, 2] * z + shift[1],
            turn[2, 0] * x + turn[2, 1] * y + turn[2, 2] * z + shift[2],
        )
        if gap <= distance:
            found[part] = True
