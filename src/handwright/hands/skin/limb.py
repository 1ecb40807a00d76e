"""The outside of a right arm at the bind pose: cross-sections from the wrist to the shoulder."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy.interpolate import PchipInterpolator

from handwright.core.hand import HandModel
from handwright.hands.skin.field import SkinField, wrist_sections
from handwright.hands.skin.form import HandForm, form_of_model

# Half breadth of the wrist on which the girths below were judged, mm.
_USUAL_WRIST = 30.9
# Depths from the middle line to the skin, mm: to the thumb side (in the upper arm: in front), to
# the little finger's side (behind), to the back of the hand (outwards), to the palm (to the body);
# then how far the middle line lies to the thumb side and to the back. Judged by eye, near the
# girths of a man of middle size. Forearm: at shares of its length from the wrist.
_FOREARM = (
    (0.24, 32.0, 31.6, 22.4, 23.4, 0.0, -3.8),
    (0.38, 33.0, 32.2, 27.4, 29.0, 0.2, -2.8),
    (0.54, 35.6, 34.2, 34.2, 36.2, 0.6, -1.6),
    (0.70, 37.8, 37.4, 41.2, 42.0, 1.0, -0.4),
    (0.80, 36.8, 38.8, 44.2, 43.6, 0.8, 0.4),
    (0.90, 34.6, 39.5, 44.5, 43.0, 0.2, 0.6),
)
# Upper arm: at shares of its length from the elbow.
_UPPER_ARM = (
    (0.00, 34.0, 40.5, 42.5, 42.0, 0.0, 0.0),
    (0.09, 34.6, 38.0, 40.0, 40.5, 0.0, 0.0),
    (0.22, 37.0, 40.0, 38.5, 38.5, 0.0, 0.0),
    (0.38, 45.5, 44.5, 40.8, 41.0, 0.6, 0.0),
    (0.50, 50.5, 48.0, 42.8, 43.0, 0.6, 0.0),
    (0.63, 49.5, 50.5, 46.0, 45.5, 0.0, 0.0),
    (0.78, 51.5, 51.5, 54.5, 48.5, 0.0, 0.4),
    (0.92, 56.5, 55.5, 60.0, 53.0, 0.0, 0.4),
    (1.00, 57.5, 56.5, 60.5, 54.0, 0.0, 0.0),
)
# How far the rounded shoulder reaches beyond its joint, mm.
_SHOULDER = 56.0
# Of the wrist's own sections, those that the hand's skin has where the arm's goes on.
_FROM_HAND = 3


class Limb:
    """A right arm that is stretched along x, with its wrist at the origin.

    Args:
        hand: The hand at its end.
        forearm: Length from the wrist to the elbow, m.
        upper_arm: Length from the elbow to the shoulder, m.
    """

    def __init__(self, hand: HandForm, forearm: float, upper_arm: float) -> None:
        self.hand = hand
        # A millimetre of the tables: girths grow with the wrist.
        self.unit = hand.shape.wrist_half_breadth / _USUAL_WRIST
        self.elbow = -forearm
        self.shoulder = -forearm - upper_arm
        self.end = self.shoulder - _SHOULDER * self.unit
        places, depths = [], []
        for share, *row in _UPPER_ARM[::-1]:
            places.append(self.elbow - share * upper_arm)
            depths.append([self.unit * part for part in row])
        for share, *row in _FOREARM[::-1]:
            places.append(-share * forearm)
            depths.append([self.unit * part for part in row])
        wrist = wrist_sections(hand)[:_FROM_HAND]
        # Of a short arm the wrist takes what it needs; the rest is squeezed together.
        while places[-1] >= wrist[0].at:
            places.pop()
            depths.pop()
        # Where parts of the hand flow into each other its skin lies a little outside of them.
        rim = [[s.at, s.side + s.half_breadth, s.lift] for s in wrist]
        swell = -SkinField(hand).distance(np.array(rim))
        for s, more in zip(wrist, swell, strict=True):
            places.append(s.at)
            around = [s.half_breadth, s.half_breadth, s.dorsal, s.palmar]
            depths.append([*(depth + more for depth in around), s.side, s.lift])
        self._shape = PchipInterpolator(places, depths)
        self._powers = wrist[0].back, wrist[0].front

    def ring(self, x: float, angles: Float[np.ndarray, " N"]) -> Float[np.ndarray, "N 3"]:
        """Points of the skin around the arm, m.

        Args:
            x: Place along the arm, m; beyond the shoulder the arm is rounded off.
            angles: From the thumb's side (y) over the back of the hand (z), rad.
        """
        front, behind, outer, inner, side, lift = self._shape(max(x, self.shoulder))
        over = max(self.shoulder - x, 0.0) / (self.shoulder - self.end)
        y, z = np.cos(angles), np.sin(angles)
        power = np.where(z > 0.0, *self._powers)
        across = np.abs(y) / np.where(y > 0.0, front, behind)
        up = np.abs(z) / np.where(z > 0.0, outer, inner)
        reach = (across**power + up**power) ** (-1.0 / power)
        reach *= np.sqrt(max(1.0 - over * over, 0.0))
        return np.stack([np.full(len(angles), x), side + reach * y, lift + reach * z], axis=1)


def limb_of_model(model: HandModel) -> Limb:
    """The arm of a right human hand, read back from its joints."""
    joints = model.joints
    upper_arm, forearm = (
        float(np.linalg.norm(joints.offset[joints.index(name)]))
        for name in ("elbow_flexion", "wrist_flexion")
    )
    return Limb(form_of_model(model), forearm, upper_arm)
