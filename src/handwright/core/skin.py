"""The outside of a hand: the girths that its skin is modelled from, and the finished mesh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.frozen import freeze_arrays
from handwright.errors import InvalidValueError

LARGEST_GIRTH = 1.0
"""Of a hand and its parts, m: three times what the largest hands have."""
SMALLEST_GIRTH = 1e-3
"""Half the thickness of the thinnest palm and wrist, m."""
# Squareness of the rounded end of a digit; 2 is an ellipsoid.
CAP_EXPONENT = 2.2


@dataclass(frozen=True, slots=True, eq=False)
class DigitProfile:
    """Cross-sections of a straight digit, from the knuckle to the fingertip."""

    along: Float[np.ndarray, " N"]
    """Distance from the knuckle (MCP joint) along the bones, m, increasing; the rounded end of the
    digit starts at the last of them."""
    half_breadth: Float[np.ndarray, " N"]
    """From the bone line sideways to the skin, m."""
    dorsal: Float[np.ndarray, " N"]
    """From the bone line to the skin of the back, m."""
    palmar: Float[np.ndarray, " N"]
    """From the bone line to the skin of the pad side, m."""
    length: float
    """From the knuckle to the very tip, m."""

    def __post_init__(self) -> None:
        freeze_arrays(self)
        rows = (self.along, self.half_breadth, self.dorsal, self.palmar)
        if len({len(row) for row in rows}) != 1 or len(self.along) < 2:
            raise InvalidValueError(
                f"DigitProfile: {', '.join(str(len(row)) for row in rows)} places and girths; "
                "expected two or more places, and as many of each girth."
            )
        lengths = np.concatenate([*rows, [self.length]])
        if not (np.diff(self.along) > 0.0).all() or not self.length > self.along[-1]:
            raise InvalidValueError("DigitProfile: places do not increase up to the length.")
        is_thick = all((row > 0.0).all() for row in rows[1:])
        if not (np.abs(lengths) <= LARGEST_GIRTH).all() or not is_thick:
            raise InvalidValueError(
                f"DigitProfile: a girth or length is not in the range of hands; expected above "
                f"zero and at most {LARGEST_GIRTH:g} m."
            )

    def at(self, along: float) -> tuple[float, float, float]:
        """Half breadth, dorsal and palmar depth at a distance from the knuckle, m."""
        start = float(self.along[-1])
        over = min(max(along - start, 0.0) / (self.length - start), 1.0)
        shrink = (1.0 - over**CAP_EXPONENT) ** (1.0 / CAP_EXPONENT)
        return (
            shrink * float(np.interp(along, self.along, self.half_breadth)),
            shrink * float(np.interp(along, self.along, self.dorsal)),
            shrink * float(np.interp(along, self.along, self.palmar)),
        )


@dataclass(frozen=True, slots=True, eq=False)
class SkinShape:
    """Girths of a hand: what the skin needs beyond the skeleton."""

    digits: tuple[DigitProfile, ...]
    """Thumb first."""
    palm_half_thickness: float
    """Half the thickness of the palm at the third metacarpal, m."""
    wrist_half_breadth: float
    """m."""
    wrist_half_depth: float
    """m."""

    def __post_init__(self) -> None:
        girths = (self.palm_half_thickness, self.wrist_half_breadth, self.wrist_half_depth)
        if not all(SMALLEST_GIRTH <= girth <= LARGEST_GIRTH for girth in girths):
            raise InvalidValueError(
                f"SkinShape: palm and wrist are {', '.join(f'{girth:g}' for girth in girths)} m "
                f"thick; expected {SMALLEST_GIRTH:g} to {LARGEST_GIRTH:g} m."
            )


@dataclass(frozen=True, slots=True)
class InBetween:
    """A link that only skin follows: it goes half the way, or a third, that a joint turns.

    Skin that is shared out between two links alone grows thin where they are turned far apart.
    """

    name: str
    joint: int
    """The hinge that it turns with; it hangs on the link before it."""
    share: float
    """Of the joint's value."""


@dataclass(frozen=True, slots=True, eq=False)
class Skin:
    """A watertight mesh with the links that each vertex follows (linear blend skinning)."""

    vertices: Float[np.ndarray, "V 3"]
    """In the wrist frame at the joint values ``bind``, m."""
    faces: Int[np.ndarray, "F 3"]
    """Counter-clockwise seen from outside."""
    links: Int[np.ndarray, "V 4"]
    """Up to four links for each vertex; after the hand's own, those of ``between`` are counted."""
    weights: Float[np.ndarray, "V 4"]
    """Their shares, which add up to one."""
    is_nail: Bool[np.ndarray, " F"]
    """True for the faces of a nail."""
    bind: Float[np.ndarray, " J"]
    """Joint values, rad, at which the mesh was modelled."""
    between: tuple[InBetween, ...] = ()
    """Links that only the skin has; none in a hand without an arm."""

    def __post_init__(self) -> None:
        freeze_arrays(self)
