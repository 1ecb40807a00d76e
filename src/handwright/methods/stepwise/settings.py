"""Weights of the objectives of a frame."""

from __future__ import annotations

from dataclasses import dataclass

from handwright.core.settings import check_settings, setting
from handwright.deprecated import renamed_fields


@renamed_fields
@dataclass(frozen=True, slots=True)
class Settings:
    """Weights of the objectives; their ratios are what counts."""

    torque_change_weight: float = setting(
        5e-3,
        was="torque",
        unit="(N m)^-2",
        above=0.0,
        help="Weight of the change of joint torques within a second (eq. 5 of the paper).",
    )
    contact_weight: float = setting(
        1e8,
        was="keep",
        unit="m^-2",
        above=0.0,
        help="Weight of keeping contacts closed (eq. 6 of the paper).",
    )
    arm_weight: float = setting(
        30.0,
        was="arm",
        unit="rad^-2",
        above=0.0,
        label="Weight of the arm's posture",
        help="Weight of the arm's distance from its posture.",
    )
    finger_weight: float = setting(
        3.0,
        was="finger",
        unit="rad^-2",
        above=0.0,
        label="Weight of fingers' posture",
        help="Weight of the fingers' distance from their posture.",
    )
    speed_weight: float = setting(
        1e-2, was="speed", unit="s^2/rad^2", above=0.0, help="Weight of joint velocities."
    )
    force_weight: float = setting(
        1e-4, was="force", unit="N^-2", above=0.0, help="Weight of contact force coefficients."
    )
    sliding_weight: float = setting(
        0.03,
        was="sliding",
        above=0.0,
        label="Weight of sliding contacts",
        help="Weight of a sliding contact along the surface, as a share of contact_weight.",
    )

    def __post_init__(self) -> None:
        check_settings(self)
