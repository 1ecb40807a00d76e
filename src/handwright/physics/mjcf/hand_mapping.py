"""What a robot's description file does not say: which bodies are the palm and the digits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from handwright.core.hand import Side
from handwright.errors import InvalidValueError

Direction = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class DigitMapping:
    """One thumb or finger of a description file."""

    last: str
    """Body of the last link; the digit's joints are those between it and the palm."""
    tip: str | None = None
    """Site at the foremost point; by default the end of the last link's shape."""
    closing: Direction | None = None
    """Direction in the last body's frame in which the digit closes and its pad faces; by default
    where the last joint, turned towards its farther limit, takes the tip."""


@dataclass(frozen=True, slots=True)
class Coupling:
    """A joint that follows another: value = ratio * leader + bias."""

    leader: str
    ratio: float = 1.0
    bias: float = 0.0
    """rad (m for a slide)."""


@dataclass(frozen=True, slots=True)
class HandMapping:
    """How to read a hand out of an MJCF or URDF file.

    Names are those of the file; ``prefix`` is cut off in the model, and may be left off here for
    joints.
    """

    root: str
    """Body of the palm."""
    digits: Mapping[str, str | DigitMapping]
    """Digit names with their last body, or with a ``DigitMapping`` where more is to be said."""
    side: Side = "none"
    arm_root: str | None = None
    """Body where an arm begins whose joints are to be kept; without it all that comes before the
    palm is left out."""
    distal: Direction | None = None
    """From the palm to the finger tips in the palm body's frame. With ``palmar`` it turns the
    root frame to x distal, z dorsal; without them the root keeps the palm body's axes."""
    palmar: Direction | None = None
    """Out of the palm, towards a held object, in the palm body's frame."""
    couplings: Mapping[str, Coupling] = field(default_factory=dict)
    """Followers that the file does not state as linear joint equalities or mimic joints."""
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Limits that replace those of the file, rad (m for a slide)."""
    poses: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Named poses: joints that are not at zero, rad (m for a slide)."""
    prefix: str = ""
    num_sites: int = 100

    def __post_init__(self) -> None:
        for name in ("digits", "couplings", "limits", "poses"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        if not self.digits:
            raise InvalidValueError(
                f"HandMapping of '{self.root}' names no digits; expected at least one, for "
                "example digits={'index': 'index_tip_body'}."
            )
        if (self.distal is None) != (self.palmar is None):
            raise InvalidValueError(
                f"HandMapping of '{self.root}': distal is {self.distal} and palmar is "
                f"{self.palmar}; give both, or neither to keep the palm body's axes."
            )

    def digit(self, name: str) -> DigitMapping:
        """The mapping of one digit, spelled out."""
        digit = self.digits[name]
        return DigitMapping(digit) if isinstance(digit, str) else digit

    def short(self, name: str) -> str:
        """A name of the file as it is called in the model."""
        return name.removeprefix(self.prefix)
