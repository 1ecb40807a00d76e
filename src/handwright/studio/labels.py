"""Names of checks and metrics in words, and numbers in the units that people read."""

from __future__ import annotations

import math
from typing import NamedTuple

CHECK_LABELS = {
    "force_residual": "Unexplained force",
    "moment_residual": "Unexplained moment",
    "gap": "Gap at a contact",
    "penetration": "Penetration",
    "slip": "Slip",
    "finger_finger": "Fingers in each other",
    "joint_limits": "Joint limits",
    "strength": "Strength",
    "friction": "Stored forces outside their cones",
    "stored_balance": "Stored forces out of balance",
    "jump": "Jump",
}


class Scale(NamedTuple):
    """From the judge's unit to one for people."""

    factor: float
    unit: str


_SCALES = {
    "m": Scale(1e3, "mm"),
    "rad": Scale(180.0 / math.pi, "°"),
    "of weight": Scale(100.0, "% of weight"),
    "of weight x gyration": Scale(100.0, "% of weight x gyration"),
    "of strength": Scale(100.0, "% of strength"),
    "of cone": Scale(100.0, "% of cone"),
}


def scale_of(unit: str) -> Scale:
    """How numbers of a unit are shown."""
    return _SCALES.get(unit, Scale(1.0, unit))


def in_words(name: str) -> str:
    """A name of the code for people: ``finger_finger_depth`` as "Finger finger depth"."""
    text = name.replace(".", ": ").replace("_", " ")
    return text[:1].upper() + text[1:]


def well_formed(text: str) -> str:
    """A text that JSON can hold: half characters, as in damaged names of files, are replaced."""
    return text.encode(errors="replace").decode()


def finite(value: float | None, digits: int = 6) -> float | None:
    """A number that JSON can hold, rounded to so many significant digits; else None."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")
