"""What an independent implementation of the published metrics found on four recordings.

Its hand is made of other capsules than ours, so its figures for them are met within bands only;
joints and skin are those of the recording, and leave less room.
"""

from __future__ import annotations

from typing import NamedTuple


class Reference(NamedTuple):
    """Figures of one recording at 60 Hz."""

    acceleration: float
    """cm/s^2, in the wrist's frame."""
    penetration: float
    """Mean over the pairs of frame and capsule that penetrate, cm."""
    deepest: float
    """Of the same pairs, cm."""
    skin_mean: float
    """Deepest vertex of both hands' skin, mean over the frames in which one is inside, cm."""
    skin_max: float
    """cm."""
    realism: tuple[float, float, float, float]
    """%, with contact at 0, 2, 3 and 5 mm."""
    realism_band: tuple[float, float]
    """%, with contact at 3 mm."""


REFERENCES: dict[str, Reference] = {
    "cube_med2": Reference(153, 0.41, 1.75, 0.65, 1.46, (54, 73, 81.4, 91), (70, 93)),
    "cup1": Reference(182, 0.28, 1.11, 0.11, 0.81, (38, 65, 76.0, 95), (60, 96)),
    "mug1": Reference(91, 0.35, 1.26, 0.32, 0.42, (99.9, 99.9, 99.9, 99.9), (99, 100)),
    "teapot2": Reference(106, 0.44, 1.54, 0.39, 1.10, (36, 77, 84.5, 95), (72, 96)),
}


def bands(name: str) -> dict[str, tuple[float, float]]:
    """Lowest and highest value of each figure that is judged."""
    wanted = REFERENCES[name]
    return {
        "acceleration": (0.92 * wanted.acceleration, 1.08 * wanted.acceleration),
        "acceleration_matched": (0.92 * wanted.acceleration, 1.08 * wanted.acceleration),
        "penetration": (0.75 * wanted.penetration, 1.4 * wanted.penetration),
        "skin_mean": (0.97 * wanted.skin_mean, 1.03 * wanted.skin_mean),
        "skin_max": (0.97 * wanted.skin_max, 1.03 * wanted.skin_max),
        "realism": wanted.realism_band,
        "realism_circumscribed": wanted.realism_band,
    }
