"""What certified forces ask of a hand: of each digit, of each joint, and of wrist and arm.

The arm must give the sum of all forces of the hand, the wrist their moment about it, whichever part
of the hand they act on. Torques of joints are those of the contact forces and of the hand's own
weight; what it takes to speed up the fingers is left out. A joint at its limit is held there by its
ligaments: what pushes it further asks nothing of muscles.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.clip import Clip
from handwright.core.tolerances import Tolerances
from handwright.evidence.certificate.forces import HandLimits
from handwright.evidence.certificate.torques import force_to_torque, weight_torques
from handwright.evidence.contacts.hand_probe import HandProbe
from handwright.evidence.contacts.table import JudgedContacts
from handwright.hands.human.strength import joint_strength

# Torques below this are none, N m: limits of joints that the hand's weight already uses up.
_LEAST_TORQUE = 1e-3


class _HandLoad(NamedTuple):
    name: str
    rows: Int[np.ndarray, " R"]
    """Of the contact table, those of this hand."""
    frame: Int[np.ndarray, " R"]
    digit: Int[np.ndarray, " R"]
    maps: Float[np.ndarray, "R K 3"]
    """Torques of the judged joints by forces."""
    weight: Float[np.ndarray, "T K"]
    """Torques that hold the hand's own weight, N m."""
    lower: Float[np.ndarray, "T K"]
    upper: Float[np.ndarray, "T K"]
    names: tuple[str, ...]
    digits: tuple[str, ...]
    arm: Float[np.ndarray, "R 3"]
    """From the wrist to each contact, m."""


class Effort(NamedTuple):
    """What forces ask of the hands."""

    digit_force: Float[np.ndarray, " T"]
    """Largest sum of the forces of one digit, N."""
    torque_share: Float[np.ndarray, " T"]
    """Largest torque over what the joint can give."""
    arm_share: Float[np.ndarray, " T"]
    """Force of a hand, or moment about its wrist, over what an arm can give."""
    is_over: Bool[np.ndarray, " T"]
    """Frames in which any of these is more than a hand can give."""
    detail: str
    """The worst excess in words: joint or digit, frame, numbers."""


class HandStrength:
    """Limits of the hands of a clip at the contacts of a table."""

    def __init__(
        self, clip: Clip, hands: list[HandProbe], table: JudgedContacts, tolerances: Tolerances
    ) -> None:
        self._most, self._tolerances = tolerances.strength, tolerances
        self.num_frames = clip.num_frames
        touching = {table.touchers[toucher] for toucher in np.unique(table.toucher)}
        self._loads = [
            _hand_load(clip, hand, table, tolerances) for hand in hands if hand.name in touching
        ]

    @property
    def unknown(self) -> tuple[str, ...]:
        """Hands that touch something and whose joints have no known strength."""
        return tuple(load.name for load in self._loads if not load.names)

    def effort(self, force: Float[np.ndarray, "N 3"]) -> Effort:
        """Digit forces and joint torques of forces at the contacts of the table, N."""
        largest, share, arm = np.zeros((3, self.num_frames))
        worst, detail = 1.0, ""
        for load in self._loads:
            size = np.linalg.norm(force[load.rows], axis=1)
            for d, name in enumerate(load.digits):
                total = np.zeros(self.num_frames)
                mine = load.digit == d
                np.add.at(total, load.frame[mine], size[mine])
                largest = np.maximum(largest, total)
                if total.max() > worst * self._most:
                    t = int(total.argmax())
                    worst = float(total[t]) / max(self._most, 1e-9)
                    detail = (
                        f"{load.name}.{name} presses with {total[t]:.3g} N in frame {t}, "
                        f"allowed {self._most:.3g} N"
                    )
            torque = load.weight.copy()
            np.add.at(torque, load.frame, np.einsum("rki,ri->rk", load.maps, force[load.rows]))
            shares = _shares(torque, load)
            if shares.size and shares.max() > worst:
                t, k = (int(i) for i in np.unravel_index(int(shares.argmax()), shares.shape))
                worst = float(shares[t, k])
                most = load.upper[t, k] if torque[t, k] > 0.0 else load.lower[t, k]
                detail = (
                    f"{load.name}.{load.names[k]} needs {torque[t, k]:.3g} N m in frame {t}, "
                    f"allowed {most:.3g} N m"
                )
            share = np.maximum(share, shares.max(axis=1, initial=0.0))
            for what, sizes, most in self._arm_loads(load, force[load.rows]):
                arm = np.maximum(arm, sizes / max(most, 1e-9))
                if sizes.max() > worst * most:
                    t = int(sizes.argmax())
                    worst = float(sizes[t]) / max(most, 1e-9)
                    detail = f"{load.name} {what.format(sizes[t])} in frame {t}, allowed {most:.3g}"
        is_over = (largest > self._most) | (share > 1.0) | (arm > 1.0)
        return Effort(largest, share, arm, is_over, detail)

    def _arm_loads(
        self, load: _HandLoad, force: Float[np.ndarray, "R 3"]
    ) -> Iterator[tuple[str, Float[np.ndarray, " T"], float]]:
        """What the arm must give in each frame, in words and figures, and what it can."""
        for what, values, most in (
            ("bears {:.3g} N", force, self._tolerances.hand_force),
            ("turns its wrist with {:.3g} N m", np.cross(load.arm, force),
             self._tolerances.wrist_moment),
        ):  # fmt: skip
            total = np.zeros((self.num_frames, 3))
            np.add.at(total, load.frame, values)
            yield what, np.linalg.norm(total, axis=1), most

    def limits(self, frame: int, rows: Int[np.ndarray, " N"]) -> HandLimits:
        """The limits of one frame, for forces at some rows of the table."""
        torque, most = [np.zeros((0, len(rows), 3))], [np.zeros(0)]
        digit = np.full(len(rows), -1)
        next_digit = 0
        for load in self._loads:
            place = np.searchsorted(load.rows, rows)
            place = np.minimum(place, len(load.rows) - 1)
            has = load.rows[place] == rows
            maps = np.zeros((load.maps.shape[1], len(rows), 3))
            maps[:, has] = load.maps[place[has]].transpose(1, 0, 2)
            for sign, bound in ((1.0, load.upper[frame]), (-1.0, -load.lower[frame])):
                known = np.isfinite(bound)
                room = bound - sign * load.weight[frame]
                torque.append(sign * maps[known])
                most.append(np.maximum(room[known], _LEAST_TORQUE))
            is_digit = has & (load.digit[place] >= 0)
            digit[is_digit] = next_digit + load.digit[place[is_digit]]
            next_digit += len(load.digits)
        return HandLimits(np.concatenate(torque), np.concatenate(most), digit, self._most)


def _shares(torque: np.ndarray, load: _HandLoad) -> np.ndarray:
    upper = np.where(torque > 0.0, torque / np.maximum(load.upper, _LEAST_TORQUE), 0.0)
    return np.where(torque < 0.0, torque / np.minimum(load.lower, -_LEAST_TORQUE), upper)


def _hand_load(
    clip: Clip, hand: HandProbe, table: JudgedContacts, tolerances: Tolerances
) -> _HandLoad:
    model, motion = hand.model, hand.motion
    rows = np.flatnonzero(table.toucher == table.touchers.index(hand.name))
    frame, part = table.frame[rows], table.part[rows]
    strength = joint_strength(model)
    judged = np.flatnonzero(strength.is_known)
    maps = force_to_torque(model, hand.links, frame, model.capsules.link[part], table.point[rows])
    weight = weight_torques(model, hand.links, clip.problem.gravity)
    q = motion.q[:, judged]
    joints, slack = model.joints, tolerances.joint_limits
    return _HandLoad(
        hand.name,
        rows,
        frame,
        model.capsules.digit[part],
        maps[:, judged],
        weight[:, judged],
        np.where(q >= joints.upper[judged] - slack, -np.inf, strength.lower[judged]),
        np.where(q <= joints.lower[judged] + slack, np.inf, strength.upper[judged]),
        tuple(joints.names[j] for j in judged),
        tuple(digit.name for digit in model.digits),
        table.point[rows] - hand.links.positions[frame, model.wrist_link],
    )
