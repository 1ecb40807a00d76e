"""A prop that is taken, carried about and put down, as a tracker would see it: for trials.

The prop stands on a table. Again and again the right hand takes it from its right side, lifts,
tilts and turns it; the left hand helps for a while; then it is put down and the hands leave.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handwright.math import rotation
from handwright.math.pose import Pose

_REST = np.array([0.0, 0.3, 0.85])
"""Where the prop stands, m."""
_AWAY = 0.25
"""How far the hands are from it between two rounds, m."""
_WRIST_BEHIND = 0.09
"""From the wrist to the middle of the palm, m."""
_PALM = 0.022
"""From the axis of the wrist to the skin of the palm, m."""
# Moments of a round: shares at which the hand has come, the lift begins and ends, ...
_COME, _LIFTED, _HELPED, _LEFT_ALONE, _LOWERED, _PUT_DOWN = 0.2, 0.32, 0.45, 0.65, 0.75, 0.85


@dataclass(frozen=True, slots=True)
class PropMotion:
    """Wrists and prop over time."""

    radius: float = 0.033
    """Half the breadth of the prop, m."""
    period: float = 7.0
    """Of a round, s."""
    seed: int = 0
    """Of the directions and speeds of its wobble."""

    def object_pose(self, time: float) -> Pose:
        """Where the prop is at a time, s."""
        rng = np.random.default_rng((self.seed, int(time // self.period)))
        share = time / self.period % 1.0
        lift = _ramp(share, _COME, _LIFTED) - _ramp(share, _LOWERED, _PUT_DOWN)
        carry = _ramp(share, _LIFTED, _HELPED) - _ramp(share, _LEFT_ALONE, _LOWERED)
        speed, phase = rng.uniform(0.3, 0.9, 6), rng.uniform(0.0, 2.0 * np.pi, 6)
        sway = np.sin(2.0 * np.pi * speed * time + phase)
        place = _REST + [0.0, 0.0, 0.15 * lift] + carry * np.array([0.10, 0.06, 0.05]) * sway[:3]
        turn = carry * np.array([0.5, 0.5, 0.6]) * sway[3:]
        return Pose(place, rotation.exp(turn))

    def wrists(self, time: float) -> dict[str, Pose]:
        """Where both wrists are at a time, s."""
        share = time / self.period % 1.0
        right = 1.0 - _ramp(share, 0.0, _COME) + _ramp(share, _PUT_DOWN, 1.0)
        left = 1.0 - _ramp(share, _LIFTED, _HELPED) + _ramp(share, _LEFT_ALONE, _LOWERED)
        prop = self.object_pose(time)
        return {
            side: prop @ self._grip(side, _AWAY * away)
            for side, away in (("right", right), ("left", left))
        }

    def is_carried(self, time: float) -> bool:
        """Whether the right hand is to hold the prop at a time, s."""
        return _COME <= time / self.period % 1.0 <= _PUT_DOWN

    def _grip(self, side: str, away: float) -> Pose:
        """A wrist in the frame of the prop, thumb up, palm to the prop."""
        sign = 1.0 if side == "right" else -1.0
        place = [sign * (self.radius + _PALM + away), -_WRIST_BEHIND - away, 0.0]
        # A third of a turn takes x (to the fingers) to y, and z (the back) to x or against it.
        return Pose(np.array(place), np.array([0.5, 0.5 * sign, 0.5 * sign, 0.5]))


def _ramp(share: float, begin: float, end: float) -> float:
    """From 0 to 1 between two shares, at rest at both, with continuous acceleration."""
    s = min(max((share - begin) / (end - begin), 0.0), 1.0)
    return s * s * s * (10.0 + s * (6.0 * s - 15.0))
