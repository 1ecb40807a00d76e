"""What the certificate asks for: one frozen dataclass, printed with every verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace

from handwright.deprecated import WAS, renamed_fields
from handwright.errors import InvalidValueError

STATIC_SPEED = 5e-3
"""Sliding speeds up to this count as none, m/s."""
LEAP_SPEED = 1.0
"""A step of a body or a wrist is a leap if it is faster than three times its neighbours and this,
m/s."""
JOINT_LEAP_SPEED = 8.0
"""A step of a joint is a leap if it is faster than three times its neighbours and this, rad/s."""
DIGIT_FORCE = 60.0
"""Largest force of one digit on bodies, N: about the hardest press of an adult's fingertip."""
_ERRORS = (
    "force_residual", "moment_residual", "gap", "penetration", "static_drift", "static_speed",
    "finger_finger", "joint_limits", "strength", "friction", "stored_balance",
)  # fmt: skip
"""Names of the limits that a method keeps a margin to; the others say how a motion is judged."""


_UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("force_residual", "stored_balance"), ("of weight", 1.0)),
    "moment_residual": ("of weight x gyration", 1.0),
    **dict.fromkeys(
        ("gap", "contact_distance", "penetration", "soft_tissue", "skin_stretch", "static_drift",
         "finger_finger", "seam"), ("mm", 1e3),
    ),
    **dict.fromkeys(("static_speed",), ("mm/s", 1e3)),
    "joint_limits": ("deg", math.degrees(1.0)),
    **dict.fromkeys(("strength", "hand_force"), ("N", 1.0)),
    "wrist_moment": ("N m", 1.0),
    "friction": ("of cone", 1.0),
    **dict.fromkeys(("jump_speed", "body_speed", "wrist_speed"), ("m/s", 1.0)),
    **dict.fromkeys(("joint_jump_speed", "wrist_spin", "joint_speed"), ("rad/s", 1.0)),
    "wrist_acceleration": ("m/s^2", 1.0),
    "smoothing_hz": ("Hz", 1.0),
    "least_frames": ("frames", 1.0),
    **dict.fromkeys(("shortest_step", "longest_step"), ("ms", 1e3)),
    "most_turn": ("rad a step", 1.0),
    "most_uneven": ("times", 1.0),
    "shakes": ("in half a second", 1.0),
    "impacts": ("a second", 1.0),
    "size_share": ("of its length", 1.0),
    "thickness_share": ("of its thickness", 1.0),
}  # fmt: skip
"""In what unit people read each limit, and by what it is multiplied for that."""


@renamed_fields
@dataclass(frozen=True, slots=True)
class Tolerances:
    """Limits of the certificate's checks.

    Values other than the defaults (for recorded tracks: a smoothing cut-off, wrench slack,
    soft-tissue depth) are named in the verdict: "certified under ...".
    """

    force_residual: float = 0.01
    """Force that no contact explains, over the weight."""
    moment_residual: float = 0.01
    """Moment that no contact explains, over weight x radius of gyration."""
    gap: float = 1e-3
    """Gap of a contact that carries force, m."""
    contact_distance: float = 0.01
    """Gap up to which a contact that cannot be there is named as the cause of a failure, m."""
    penetration: float = 1e-3
    """Depth of the skin in a body, and of skin and bodies in the surroundings, m."""
    soft_tissue: float = 0.0
    """Depth added to ``penetration`` for pads that give way, m."""
    skin_stretch: float = field(default=0.0, metadata={WAS: ("skin_shear",)})
    """Tangential stretch of a hand's skin before its contact counts as sliding, m; see
    ``contact.shear``."""
    static_drift: float = 1e-3
    """Sliding of a static contact over its whole episode, m."""
    static_speed: float = STATIC_SPEED
    """Sliding speed above which a contact is a sliding one, m/s."""
    finger_finger: float = 1e-3
    """Depth of one digit in another, m."""
    joint_limits: float = math.radians(0.5)
    """Excess over a joint's limit, rad (m for a slide)."""
    strength: float = DIGIT_FORCE
    """Force of one digit on bodies, N: about the hardest press of an adult's fingertip. Joint
    torques have limits of their own, see ``handwright.hands.human.strength``."""
    friction: float = 0.01
    """Excess of a stored force over its cone, as a share of the cone's width."""
    stored_balance: float = 0.02
    """What stored forces leave of the needed force, over the weight, and of the needed moment, over
    weight x radius of gyration; they may come from another scheme of differences."""
    jump_speed: float = LEAP_SPEED
    """A step of a body or a wrist is a jump if it is faster than three times its neighbours and
    this, m/s."""
    joint_jump_speed: float = JOINT_LEAP_SPEED
    """The same for a joint, rad/s."""
    smoothing_hz: float | None = None
    """Cut-off of the low-pass over body tracks before they are differentiated, Hz."""
    least_frames: float = 5.0
    """Number of frames below which a clip is too coarse to judge."""
    shortest_step: float = 5e-4
    """Time between frames below which a clip is not judged, s."""
    longest_step: float = 0.1
    """Time between frames above which a clip is too coarse to judge, s."""
    most_uneven: float = 5.0
    """Longest over shortest time between frames, above which a clip is too coarse to judge."""
    most_turn: float = 2.0
    """Turn of a body or a wrist in one step above which its sense is in doubt, rad."""
    body_speed: float = 30.0
    """Largest speed of any point of a body, m/s."""
    wrist_speed: float = 10.0
    """Largest speed of a wrist, m/s: a hard throw."""
    wrist_acceleration: float = 300.0
    """Largest acceleration of a wrist, m/s^2: a hard throw, or a hand that is stopped by a hit."""
    wrist_spin: float = 30.0
    """Largest turning speed of a wrist, rad/s."""
    shakes: float = 8.0
    """How often in half a second a wrist or a finger may turn back: no hand trembles faster."""
    joint_speed: float = 35.0
    """Largest speed of a finger's joint, rad/s: a flick."""
    impacts: float = 10.0
    """Impacts of a body within one second: about as fast as anybody drums."""
    hand_force: float = 300.0
    """Largest force of one hand on all bodies together, N: a heavy suitcase."""
    wrist_moment: float = 20.0
    """Largest moment of the forces of one hand about its wrist, N m."""
    seam: float = 1e-3
    """How far from its start a cyclic motion may end, m."""
    size_share: float = 0.1
    """Gaps, depths and drifts are allowed up to this share of the body's length, that is between
    its two points farthest apart, if that is less than the limits above."""
    thickness_share: float = 0.4
    """Gaps and depths are allowed up to this share of the body's thickness, likewise: between the
    nearest two planes that hold it between them."""

    def __post_init__(self) -> None:
        bad = [
            f"{item.name} is {value}"
            for item in fields(self)
            if (value := getattr(self, item.name)) is not None
            and not (math.isfinite(value) and value >= 0.0)
        ]
        if self.smoothing_hz == 0.0:
            bad.append("smoothing_hz is 0 (None switches smoothing off)")
        if self.contact_distance < self.gap:
            bad.append(f"contact_distance {self.contact_distance} is below gap {self.gap}")
        if bad:
            raise InvalidValueError(
                f"Tolerances: {'; '.join(bad)}; expected finite numbers, 0 or more."
            )

    def tightened(self, share: float) -> Tolerances:
        """The same with every limit of an error multiplied by a share.

        Methods use it to keep a margin to the limits of the certificate.

        Args:
            share: Above 0, up to 1; 0.9 leaves a tenth of every limit.
        """
        if not 0.0 < share <= 1.0:
            raise InvalidValueError(f"The share is {share}; expected above 0, up to 1.")
        return replace(self, **{name: share * getattr(self, name) for name in _ERRORS})

    def conditions(self) -> list[str]:
        """Values that differ from the defaults, as text with units."""
        plain = Tolerances()
        return [
            f"{item.name} {self.in_words(item.name)} (default {plain.in_words(item.name)})"
            for item in fields(self)
            if getattr(self, item.name) != getattr(plain, item.name)
        ]

    def in_words(self, name: str) -> str:
        """A limit with its unit, such as ``1 mm``."""
        value = getattr(self, name)
        unit, scale = _UNITS[name]
        return "none" if value is None else f"{scale * value:.4g} {unit}"


@dataclass(frozen=True, slots=True)
class GoalTolerances:
    """How far a motion may be from the goals of its problem."""

    position: float = 5e-3
    """m."""
    angle: float = math.radians(5.0)
    """rad."""
    velocity: float = 0.05
    """m/s."""
    spin: float = math.radians(20.0)
    """rad/s."""
    at_end: bool = False
    """Whether goals that last are judged at their end only, and not over the whole of their time.
    """
