"""What server and client say to each other, one JSON object a message.

Lengths are in metres, times in seconds, angles in radians, quaternions ``xyzw``. All poses are in
the axes that the client names in its ``hello``.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal, NotRequired, TypedDict

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from handwright.errors import InvalidValueError

PROTOCOL = 1
"""Version of these messages; raised when one of them gets another meaning."""
Axes = Literal["z_up", "y_up"]
Side = Literal["right", "left"]
Number = float | None
"""NaN may also be written as null, which is what browsers make of it."""
_SHOWN_ERRORS = 3
_LONGEST_NAME = 100


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class GivenPose(_Message):
    """A pose as it was tracked."""

    position: tuple[Number, Number, Number]
    xyzw: tuple[Number, Number, Number, Number]

    def numbers(self) -> tuple[list[float], list[float]]:
        """Place and quaternion xyzw; NaN where nothing was given."""
        place, turn = ([math.nan if x is None else x for x in row] for row in self._rows())
        return place, turn

    def _rows(self) -> tuple[tuple[Number, ...], tuple[Number, ...]]:
        return self.position, self.xyzw


class Hello(_Message):
    """The first message of a client: who it is."""

    type: Literal["hello"]
    protocol: int
    """``PROTOCOL`` of the client."""
    axes: Axes
    """Which axis of the client's world points up."""
    hands: tuple[Side, ...] = Field(("right", "left"), min_length=1, max_length=2)
    hand_length: float | None = Field(None, ge=0.10, le=0.30)
    """Wrist to middle fingertip, m; an average man's if not given."""
    hand_breadth: float | None = Field(None, ge=0.04, le=0.15)
    """Of the palm, m."""
    table: float | None = Field(None, ge=-100.0, le=100.0)
    """Height of the level table or floor that fingers stay out of, m; none if not given."""


class Poses(_Message):
    """Tracked poses of one moment; what was not tracked may be left out or null."""

    type: Literal["poses"]
    time: float | None
    """By the client's clock."""
    wrists: dict[Side, GivenPose | None] = Field(default_factory=dict)
    """Of the OpenXR joint ``wrist``, in the client's world."""
    object: GivenPose | None = None
    """In the client's world."""


class Swap(_Message):
    """Asks for another object in the place of the present one."""

    type: Literal["swap"]
    object: str = Field(max_length=_LONGEST_NAME)
    """One of those that ``welcome`` lists."""


Command = Hello | Poses | Swap
_COMMAND: TypeAdapter[Command] = TypeAdapter(Annotated[Command, Field(discriminator="type")])


class PoseOut(TypedDict):
    """A pose in the client's world."""

    position: list[float]
    xyzw: list[float]


class HandOut(TypedDict):
    """A hand at one moment."""

    joints: dict[str, PoseOut]
    """Poses of the 26 joints of OpenXR, by name."""
    values: list[float]
    """Joint values in the order of ``joint_values`` in ``welcome``, rad."""
    touching: list[str]
    """Digits, and ``palm``, that are at the object."""
    held: bool
    """Whether the wrist stands still because there were no poses of it."""


class Welcome(TypedDict):
    """The answer to ``hello``."""

    type: Literal["welcome"]
    protocol: int
    server: str
    axes: Axes
    rate: float
    """Frames a second."""
    delay: float
    """How much later than its wrists a frame comes at the soonest, s."""
    joints: list[str]
    """Names of the joints with poses."""
    joint_values: list[str]
    """Names of the joints with values."""
    objects: list[str]
    """What may be swapped in."""
    object: str
    """What is sensed at first."""


class FrameOut(TypedDict):
    """The hands at one moment of the client's clock."""

    type: Literal["frame"]
    time: float
    hands: dict[str, HandOut]
    object: PoseOut
    object_name: str
    held: bool
    counts: dict[str, int]


class Swapped(TypedDict):
    """The answer to ``swap``: from the next frame on."""

    type: Literal["swapped"]
    object: str


class Error(TypedDict):
    """Something that the client has to change."""

    type: Literal["error"]
    message: str
    closing: NotRequired[bool]
    """Whether the server ends the connection."""


Answer = Welcome | FrameOut | Swapped | Error


def read_command(text: str) -> Command:
    """A message of a client; says what is wrong with one that cannot be read.

    Args:
        text: As it came.
    """
    try:
        return _COMMAND.validate_json(text)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        told = [
            f"{'.'.join(str(part) for part in one['loc']) or 'the message'}: {one['msg']}"
            for one in found[:_SHOWN_ERRORS]
        ]
        more = len(found) - len(told)
        end = f", and {more} more" if more else ""
        raise InvalidValueError(
            f"The message cannot be used ({'; '.join(told)}{end}); expected one of hello, poses "
            "and swap as docs/how-to/live-fingers.md has them."
        ) from error
