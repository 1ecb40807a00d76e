"""How live fingers bear with tracking that is not perfect."""

from __future__ import annotations

from dataclasses import dataclass

from handwright.core.settings import check_settings, setting


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """How long to wait, what to fill in, and how fast fingers may be."""

    longest_gap: float = setting(
        0.1,
        unit="s",
        above=0.0,
        at_most=0.5,
        help="Time without poses of something that is filled in by moving it evenly. In a longer "
        "gap it stands still, until it moves to the next known pose in this time.",
    )
    patience: float = setting(
        0.05,
        unit="s",
        at_least=0.0,
        at_most=1.0,
        help="How long a frame waits for the messages that it looks ahead to, once they are due.",
    )
    longest_silence: float = setting(
        1.0,
        unit="s",
        above=0.0,
        at_most=60.0,
        help="Time without any message after which frames stop until messages come again. "
        "A time stamp further ahead than this is not believed at once.",
    )
    joint_step: float = setting(
        0.25, unit="rad", above=0.0, help="Largest change of a joint from frame to frame."
    )
    tip_step: float = setting(
        0.018,
        unit="m",
        above=0.0,
        at_most=0.02,
        help="Largest way of a fingertip from frame to frame, seen from the wrist.",
    )
    touch_distance: float = setting(
        0.003,
        unit="m",
        at_least=0.0,
        at_most=0.02,
        help="Distance of the skin from the object up to which a digit counts as touching.",
    )

    def __post_init__(self) -> None:
        check_settings(self)
