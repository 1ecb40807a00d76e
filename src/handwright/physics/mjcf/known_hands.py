"""Mappings of robot hands whose description files are in wide use."""

from __future__ import annotations

from handwright.physics.mjcf.hand_mapping import Coupling, DigitMapping, HandMapping

_SHADOW_DIGITS = {"thumb": "th", "index": "ff", "middle": "mf", "ring": "rf", "little": "lf"}


def _fingers(proximal: float, middle: float) -> dict[str, float]:
    """All four fingers bent alike, rad."""
    codes = ("FF", "MF", "RF", "LF")
    return {f"{code}J2": proximal for code in codes} | {f"{code}J1": middle for code in codes}


SHADOW_HAND = HandMapping(
    root="robot0:palm",
    digits={name: DigitMapping(f"robot0:{code}distal") for name, code in _SHADOW_DIGITS.items()},
    side="right",
    distal=(0.0, 0.0, 1.0),
    palmar=(0.0, -1.0, 0.0),
    # One tendon bends the last two joints of each finger over pulleys of these radii.
    couplings={
        f"{code.upper()}J0": Coupling(f"{code.upper()}J1", ratio=0.00805 / 0.00705)
        for code in _SHADOW_DIGITS.values()
        if code != "th"
    },
    poses={
        "neutral": {},
        "open": {"FFJ3": 0.2, "RFJ3": -0.1, "LFJ3": -0.2},
        "rest": _fingers(0.4, 0.35) | {"THJ4": 0.3, "THJ3": 0.3, "THJ0": -0.3},
        "closed": _fingers(1.18, 1.03) | {"THJ4": 0.6, "THJ3": 0.3, "THJ1": -0.2, "THJ0": -0.6},
        # The index finger meets the thumb, pad to pad; the others stay at rest.
        "pinch": _fingers(0.4, 0.35)
        | {"FFJ3": -0.3, "FFJ2": 1.52, "FFJ1": 0.2}
        | {"THJ4": 0.57, "THJ3": 1.15, "THJ2": -0.12, "THJ1": 0.47, "THJ0": -0.05},
    },
    prefix="robot0:",
)
"""The Shadow hand of gymnasium-robotics (``assets/hand/reach.xml`` and its siblings)."""
