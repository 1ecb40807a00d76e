"""What may be corrected in tracks, and by how much."""

from __future__ import annotations

import math
from dataclasses import dataclass

from handwright.core.settings import check_settings, setting


@dataclass(frozen=True, slots=True)
class Conditioning:
    """Parts of the correction, each of which can be switched off, and their bounds."""

    mends: bool = setting(
        True, help="Whether single poses that leap are left out, and short gaps are bridged."
    )
    smoothing_hz: float | None = setting(
        6.0,
        unit="Hz",
        above=0.0,
        label="Low-pass",
        help="Cut-off of the low-pass over tracks of wrists and bodies; None for no low-pass.",
    )
    smoothing_shift: float = setting(
        3e-3,
        unit="m",
        at_least=0.0,
        at_most=0.1,
        help="How far the low-pass may move a wrist, or the centre of mass of a body. Where it "
        "would move one farther, all tracks are left as they are.",
    )
    smoothing_turn: float = setting(
        math.radians(3.0),
        unit="rad",
        at_least=0.0,
        at_most=0.5,
        help="How far the low-pass may turn a wrist or a body.",
    )
    wrists: bool = setting(
        True, help="Whether wrists are moved so that palms and near phalanges leave the bodies."
    )
    wrist_shift: float = setting(
        0.01, unit="m", above=0.0, at_most=0.1, help="How far a wrist may be moved for that."
    )
    wrist_turn: float = setting(
        math.radians(6.0),
        unit="rad",
        above=0.0,
        at_most=0.5,
        help="How far a wrist may be turned for that.",
    )
    wrist_depth: float = setting(
        1e-3, unit="m", at_least=0.0, at_most=0.02, help="Depth up to which a wrist is left alone."
    )
    hollows_are_solid: bool = setting(
        True,
        help="Whether hands also keep out of the hollows of mugs and the like, as if these were "
        "solid: in a thin wall nothing says otherwise to which side a hand belongs.",
    )

    def __post_init__(self) -> None:
        check_settings(self)
