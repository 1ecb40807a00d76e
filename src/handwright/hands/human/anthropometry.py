"""Figures of the human hand and arm, each with its source. Lengths in metres, angles in degrees.

Sources:
    [BK] Buryanov & Kotiuk 2010, Proportions of hand segments, Int. J. Morphol. 28(3).
    [G89] Gordon et al. 1989, 1988 Anthropometric Survey of U.S. Army Personnel (TR-89/044).
    [G91] Greiner 1991, Hand Anthropometry of U.S. Army Personnel (TR-92/011), finger breadths
        rounded to the millimetre.
    [AAOS] American Academy of Orthopaedic Surgeons 1965, Joint Motion: method of measuring and
        recording.
    [E01] El-shennawy et al. 2001, Three-dimensional kinematic analysis of the second through fifth
        carpometacarpal joints, J. Hand Surg. 26A: ranges of the whole motion.
    [C81] Cooney et al. 1981, The kinesiology of the thumb trapeziometacarpal joint, J. Bone Joint
        Surg. 63A: ranges of the whole motion.
    [H92] Hollister et al. 1992, The axes of rotation of the thumb carpometacarpal joint, J. Orthop.
        Res. 10: the flexion axis lies in the trapezium, the abduction axis in the metacarpal.
    [RG91] Rijpkema & Girard 1991, Computer animation of knowledge-based human grasping.
    [W09] Winter 2009, Biomechanics and Motor Control of Human Movement, tables 4.1 and figure 4.1
        (segment lengths after Drillis & Contini 1966, masses after Dempster 1955).
    [own] chosen by us so that the parts above form a hand: directions and places of the
        metacarpals, judged by eye.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.stats import norm

from handwright.core.frozen import freeze_arrays
from handwright.errors import InvalidValueError, UnknownNameError

Sex = Literal["male", "female"]

DIGITS = ("thumb", "index", "middle", "ring", "little")
PHALANGES = {
    digit: ("proximal", "distal") if digit == "thumb" else ("proximal", "intermediate", "distal")
    for digit in DIGITS
}
"""Of each digit, from the knuckle outwards."""

# Mean and standard deviation [G89].
HAND_LENGTH = {"male": (0.1938, 0.0098), "female": (0.1805, 0.0097)}
HAND_BREADTH = {"male": (0.0904, 0.0042), "female": (0.0794, 0.0038)}
STATURE = {"male": (1.756, 0.067), "female": (1.629, 0.064)}
BODY_MASS = {"male": (78.5, 11.1), "female": (62.0, 8.4)}

# Lengths of bones [BK]: metacarpal, proximal, intermediate (none in the thumb), distal phalanx,
# then the soft tissue beyond the last bone.
_BONE_LENGTHS = {
    "thumb": (0.04622, 0.03157, 0.0, 0.02167, 0.00567),
    "index": (0.06812, 0.03978, 0.02238, 0.01582, 0.00384),
    "middle": (0.06460, 0.04463, 0.02633, 0.01740, 0.00395),
    "ring": (0.05800, 0.04137, 0.02565, 0.01730, 0.00395),
    "little": (0.05369, 0.03274, 0.01811, 0.01596, 0.00373),
}
# Hand whose bones are those of [BK], with a carpus of 33 mm [own].
_REFERENCE_LENGTH = 0.1892
_REFERENCE_BREADTH = 0.0860

# Carpometacarpal joints in the wrist frame of a right hand: x distal, y to the thumb side,
# z to the back of the hand [own].
_BASES = {
    "thumb": (0.0260, 0.0205, -0.0115),
    "index": (0.0320, 0.0100, 0.0010),
    "middle": (0.0330, 0.0010, 0.0030),
    "ring": (0.0305, -0.0080, 0.0015),
    "little": (0.0275, -0.0165, -0.0025),
}
# Directions of the metacarpals, and of the straight digits at the zero pose [own].
_METACARPAL_DIRECTIONS = {
    "thumb": (0.730, 0.500, -0.466),
    "index": (0.970, 0.235, -0.010),
    "middle": (0.999, 0.030, 0.0),
    "ring": (0.985, -0.160, -0.030),
    "little": (0.935, -0.345, -0.080),
}
_DIGIT_DIRECTIONS = {
    "thumb": (0.800, 0.440, -0.410),
    "index": (0.9976, 0.0698, 0.0),
    "middle": (1.0, 0.0, 0.0),
    "ring": (0.9976, -0.0698, 0.0),
    "little": (0.9877, -0.1564, 0.0),
}
# Direction in which the nail faces at the zero pose, before it is made square to the digit [own].
_DORSAL_DIRECTIONS = {
    "thumb": (-0.52, 0.84, 0.06),
    "index": (0.0, 0.07, 1.0),
    "middle": (0.0, 0.0, 1.0),
    "ring": (0.0, -0.10, 1.0),
    "little": (0.0, -0.22, 1.0),
}

# Joint limits in degrees. Fingers: flexion from [AAOS], with 10 degrees more at the PIP joints of
# mobile hands; sideways motion of the knuckles 20 degrees each way [AAOS]; carpometacarpal ranges
# from [E01], laid around the flat hand. Thumb: saddle joint from [C81], the rest from [AAOS]; its
# turn about its own axis holds the 17 degrees of [C81] and what the MCP joint adds when the thumb
# opposes the fingers [own].
_FINGER_CMC_LIMITS = {
    "index": {"cmc_flexion": (-3.0, 8.0), "cmc_abduction": (-1.0, 1.0)},
    "middle": {"cmc_flexion": (-2.0, 5.0), "cmc_abduction": (-2.0, 2.0)},
    "ring": {"cmc_flexion": (-3.0, 17.0), "cmc_abduction": (-3.5, 3.5)},
    "little": {"cmc_flexion": (-4.0, 23.0), "cmc_abduction": (-6.5, 6.5)},
}
FINGER_LIMITS = {
    finger: {
        **limits,
        "mcp_flexion": (-30.0, 90.0),
        "mcp_abduction": (-20.0, 20.0),
        "pip_flexion": (0.0, 110.0),
        "dip_flexion": (0.0, 80.0),
    }
    for finger, limits in _FINGER_CMC_LIMITS.items()
}
THUMB_LIMITS = {
    "cmc_flexion": (-20.0, 33.0),
    "cmc_abduction": (-18.0, 24.0),
    "cmc_rotation": (-25.0, 30.0),
    "mcp_flexion": (-10.0, 60.0),
    "mcp_abduction": (-10.0, 10.0),
    "ip_flexion": (-20.0, 80.0),
}
# Arm limits from [AAOS], counted from an arm stretched forward with the thumb up: there the
# shoulder is flexed by 90 degrees already. The twist of the wrist is passive [own].
ARM_LIMITS = {
    "shoulder_flexion": (-150.0, 90.0),
    "shoulder_horizontal_abduction": (-45.0, 130.0),
    "shoulder_rotation": (-70.0, 90.0),
    "elbow_flexion": (0.0, 150.0),
    "forearm_pronation": (-80.0, 80.0),
    "wrist_flexion": (-70.0, 80.0),
    "wrist_deviation": (-30.0, 20.0),
    "wrist_twist": (-10.0, 10.0),
}
# DIP flexion divided by PIP flexion in a hand that moves freely [RG91].
DIP_PER_PIP = 2.0 / 3.0


class Segment(NamedTuple):
    """Shares that make a segment of the arm."""

    mass: float
    """Of body mass."""
    length: float
    """Of stature."""
    center: float
    """Of the segment's length: centre of mass from the proximal end."""
    gyration: float
    """Of the segment's length: radius of gyration about the centre of mass."""


# [W09].
ARM_SEGMENTS = {
    "upper_arm": Segment(0.028, 0.186, 0.436, 0.322),
    "forearm": Segment(0.016, 0.146, 0.430, 0.303),
}
# Share of body mass [W09].
HAND_MASS = 0.006

# Half breadth of each digit at knuckle, PIP and DIP joint (thumb: MCP and IP) and at the middle of
# the pad for the reference hand [G91]; the knuckle's, which no one measures apart, is [own].
_HALF_BREADTHS = {
    "thumb": (0.0120, 0.0108, 0.0105, 0.0102),
    "index": (0.0107, 0.0100, 0.0087, 0.0081),
    "middle": (0.0108, 0.0101, 0.0088, 0.0083),
    "ring": (0.0101, 0.0095, 0.0083, 0.0079),
    "little": (0.0092, 0.0083, 0.0074, 0.0070),
}


@dataclass(frozen=True, slots=True, eq=False)
class HandBones:
    """Skeleton of a right hand at the zero pose; rows are thumb, index, middle, ring, little."""

    base: Float[np.ndarray, "5 3"]
    """Carpometacarpal joints in the wrist frame, m."""
    knuckle: Float[np.ndarray, "5 3"]
    """Metacarpophalangeal joints in the wrist frame, m."""
    direction: Float[np.ndarray, "5 3"]
    """Unit directions of the straight digits."""
    dorsal: Float[np.ndarray, "5 3"]
    """Unit directions in which the nails face, square to ``direction``."""
    phalanges: Float[np.ndarray, "5 3"]
    """Lengths of proximal, intermediate (0 in the thumb) and distal phalanx, m."""
    tissue: Float[np.ndarray, "5"]
    """Soft tissue beyond the last bone, m."""
    half_breadth: Float[np.ndarray, "5 4"]
    """Half breadth at knuckle, PIP (thumb: middle), DIP (thumb: IP) joint and pad, m."""
    saddle: Float[np.ndarray, "3"]
    """From the flexion axis of the thumb's saddle joint to its abduction axis, m."""

    def __post_init__(self) -> None:
        freeze_arrays(self)
        if not all(np.isfinite(getattr(self, name)).all() for name in self.__slots__):
            raise InvalidValueError("HandBones: a length or direction is NaN or infinite.")
        if np.any(self.phalanges < 0) or np.any(self.phalanges[:, [0, 2]] <= 0):
            raise InvalidValueError(
                "HandBones: phalanges must be longer than zero "
                f"(the thumb's second is 0); got {self.phalanges.tolist()} m."
            )


def _unit(vector: Float[np.ndarray, "*B 3"]) -> Float[np.ndarray, "*B 3"]:
    return vector / np.linalg.norm(vector, axis=-1, keepdims=True)


def square_dorsal(
    direction: Float[np.ndarray, "5 3"], dorsal: Float[np.ndarray, "5 3"]
) -> Float[np.ndarray, "5 3"]:
    """Dorsal directions made square to the digits."""
    along = np.sum(direction * dorsal, axis=-1, keepdims=True)
    return _unit(dorsal - along * direction)


def _table(rows: Mapping[str, tuple[float, ...]]) -> np.ndarray:
    return np.array([rows[digit] for digit in DIGITS])


def bones_of_size(length: float, breadth: float) -> HandBones:
    """Bones of a hand with this length (wrist to middle fingertip) and breadth (palm), m."""
    for what, value, low, high in (
        ("length", length, 0.08, 0.30),
        ("breadth", breadth, 0.04, 0.15),
    ):
        if not low <= value <= high:
            raise InvalidValueError(
                f"Hand {what} {value:g} m; expected {low:g} to {high:g} m. "
                "Lengths are in metres, measured on a flat hand."
            )
    stretch = length / _REFERENCE_LENGTH
    widen = breadth / _REFERENCE_BREADTH
    scale = np.array([stretch, widen, stretch])
    lengths = _table(_BONE_LENGTHS)
    direction = _unit(_table(_DIGIT_DIRECTIONS))
    base = _table(_BASES)
    knuckle = base + lengths[:, :1] * _unit(_table(_METACARPAL_DIRECTIONS))
    return HandBones(
        base=base * scale,
        knuckle=knuckle * scale,
        direction=direction,
        dorsal=square_dorsal(direction, _table(_DORSAL_DIRECTIONS)),
        phalanges=lengths[:, 1:4] * stretch,
        tissue=lengths[:, 4] * stretch,
        half_breadth=_table(_HALF_BREADTHS) * widen,
        saddle=np.zeros(3),
    )


def of_percentile(table: dict[str, tuple[float, float]], sex: Sex, percentile: float) -> float:
    """Value of a normally distributed measure at a percentile of one sex."""
    if sex not in table:
        raise UnknownNameError("sex", sex, table)
    if not 0.1 <= percentile <= 99.9:
        raise InvalidValueError(f"Percentile {percentile:g}; expected 0.1 to 99.9.")
    mean, deviation = table[sex]
    return float(mean + deviation * norm.ppf(percentile / 100.0))
