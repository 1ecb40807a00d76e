"""What a problem file may say, key by key; ``io.goals.file`` makes a problem of it.

Field names are those of the file, units are in them where they are not SI.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from handwright.core.events import LIGHT_FORCE
from handwright.core.goal import XYZ
from handwright.errors import UnknownNameError
from handwright.read_limits import read_limits

_WXYZ_SLACK = 0.01
"""How far the norm of a quaternion may be from one: figures rounded by hand."""


def _is_number(value: object) -> bool:
    # Compared, for a whole number may be too large to become a float.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max


def _number(value: Any) -> Any:  # noqa: ANN401  whatever YAML holds
    if not _is_number(value):
        raise ValueError("expected a number")
    return value


def _real(value: Any) -> float:  # noqa: ANN401  whatever YAML holds
    return float(_number(value))


def _numbers(count: int, what: str) -> BeforeValidator:
    def check(value: Any) -> tuple[float, ...]:  # noqa: ANN401  whatever YAML holds
        if not (
            isinstance(value, list | tuple) and len(value) == count and all(map(_is_number, value))
        ):
            raise ValueError(f"expected {count} numbers, {what}")
        return tuple(map(float, value))

    return BeforeValidator(check)


def _quaternion(value: tuple[float, ...]) -> tuple[float, ...]:
    norm = float(np.linalg.norm(value))
    # One that is already unit to rounding is kept bit for bit: files that we write are read back.
    if abs(norm - 1.0) <= 4 * np.finfo(np.float64).eps:
        return value
    if abs(norm - 1.0) > _WXYZ_SLACK:
        raise ValueError(f"expected a unit quaternion, real part first; its norm is {norm:.4g}")
    return tuple(component / norm for component in value)


def _text(value: Any) -> Any:  # noqa: ANN401  whatever YAML holds
    if not isinstance(value, str) or not value.strip():
        raise ValueError("expected text")
    return value


Number = Annotated[float, BeforeValidator(_real)]
# A shape may also count something, in whole numbers.
Size = Annotated[Any, BeforeValidator(_number)]
Text = Annotated[str, BeforeValidator(_text)]
Position = Annotated[tuple[float, ...], _numbers(3, "m")]
Newtons = Annotated[tuple[float, ...], _numbers(3, "N")]
Direction = Annotated[tuple[float, ...], _numbers(3, "a direction")]
TurnDeg = Annotated[
    tuple[float, ...], _numbers(3, "degrees about x, then y, then z, axes that stay")
]
Color = Annotated[tuple[float, ...], _numbers(3, "red, green and blue from 0 to 1")]
InertiaRow = Annotated[tuple[float, ...], _numbers(3, "kg m^2")]
Speed = Annotated[tuple[float, ...], _numbers(3, "m/s")]
SpinDegS = Annotated[tuple[float, ...], _numbers(3, "degrees a second about x, y and z")]
# The last one listed is the first to look at a value.
Wxyz = Annotated[
    tuple[float, ...], BeforeValidator(_quaternion), _numbers(4, "a quaternion, real part first")
]
Stop = Annotated[tuple[float, ...], _numbers(4, "s and m: [t, x, y, z]")]


class Part(BaseModel):
    """A mapping of the file; keys that it does not know are mistakes."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, given: Any) -> Any:  # noqa: ANN401  whatever YAML holds
        if not isinstance(given, dict):
            raise ValueError("expected keys with values: " + ", ".join(cls._keys()))
        for key in given:
            if key not in cls._keys():
                raise ValueError(str(UnknownNameError("key", str(key), cls._keys())))
        return given

    @classmethod
    def _keys(cls) -> list[str]:
        return [item.alias or name for name, item in cls.model_fields.items()]


class Turned(Part):
    """An orientation, given in one of two ways or not at all."""

    wxyz: Wxyz | None = None
    turn_deg: TurnDeg | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Turned:
        if self.wxyz is not None and self.turn_deg is not None:
            raise ValueError("expected wxyz or turn_deg, not both")
        return self


class Place(Turned):
    """Where a hand's root link or a body is in the first frame."""

    position: Position


class BvhPart(Turned):
    """The joint of a recorded body that the wrist follows, and how the hand is turned in it."""

    file: Text
    joint: Text


class HandEntry(Part):
    """A hand."""

    model: Text
    start: Place | None = None
    bvh: BvhPart | None = None
    side: Literal["right", "left", "none"] | None = None
    pose: Text | None = None
    joints_deg: dict[str, Number] = Field(default_factory=dict)
    mapping: Any = None


class BodyEntry(Part):
    """A body, by its shape or from a mesh file."""

    start: Place | None = None
    shape: Text | None = None
    size: dict[str, Size] = Field(default_factory=dict)
    mesh: Text | None = None
    scale: Number = 1.0
    mass: Number | None = None
    center: Position | None = None
    inertia: Annotated[list[InertiaRow], Field(min_length=3, max_length=3)] | None = None
    friction: Number | None = None
    color: Color | None = None

    @model_validator(mode="after")
    def _one_source(self) -> BodyEntry:
        if (self.shape is None) == (self.mesh is None):
            raise ValueError("expected one of shape and mesh")
        if self.mesh is not None and self.size:
            raise ValueError("expected a size with a shape only; give scale to a mesh")
        if self.shape is not None and self.scale != 1.0:
            raise ValueError("expected a scale with a mesh only; give size to a shape")
        if (self.center is None) != (self.inertia is None):
            raise ValueError("expected center and inertia together, or neither")
        if self.inertia is not None and self.mass is None:
            raise ValueError("expected a mass with center and inertia")
        return self


class PlanePart(Part):
    """Everything below a plane is solid."""

    normal: Direction
    offset: Number
    friction: Number = 0.6


class BoxPart(Place):
    """A solid box that does not move."""

    half_extents: Position
    friction: Number = 0.6


class SurfacePart(Part):
    """One thing of the surroundings."""

    plane: PlanePart | None = None
    box: BoxPart | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> SurfacePart:
        if (self.plane is None) == (self.box is None):
            raise ValueError("expected one of plane and box")
        return self


class GoalPart(Turned):
    """What should be true of a body or a hand, and when."""

    of: Text
    point: Position | None = None
    at: Number | None = None
    from_: Number | None = Field(default=None, alias="from")
    to: Number | None = None
    position: Position | None = None
    path: Annotated[list[Stop], Field(min_length=1)] | None = None
    axes: Text = XYZ
    axis: Direction | None = None
    velocity: Speed | None = None
    spin_deg_s: SpinDegS | None = None
    relative_to: Text | None = None
    weight: Number = 1.0

    @model_validator(mode="after")
    def _one_time(self) -> GoalPart:
        spans = (self.from_ is not None, self.to is not None)
        ways = (self.at is not None, all(spans), self.path is not None)
        if sum(ways) != 1 or (any(spans) and not all(spans)):
            raise ValueError("expected one of: at; from and to; path")
        if self.path is not None and self.position is not None:
            raise ValueError("expected position or path, not both")
        return self

    @property
    def moments(self) -> list[tuple[float, float, tuple[float, ...] | None]]:
        """From when to when, s, at which place, m: one, or as many as the path has."""
        if self.path is not None:
            return [(stop[0], stop[0], stop[1:]) for stop in self.path]
        start = self.at if self.from_ is None else self.from_
        end = self.at if self.to is None else self.to
        return [] if start is None or end is None else [(start, end, self.position)]


class TouchPart(Part):
    """When a hand may touch bodies."""

    hand: Text
    from_: Number = Field(alias="from")
    to: Number


class StrokePart(Part):
    """When a part of a body presses on a surface and slides along it."""

    body: Text
    point: Position
    surface: int = Field(ge=0)
    from_: Number = Field(alias="from")
    to: Number
    force: Number = LIGHT_FORCE


class GripPart(Part):
    """How a hand takes a body, and what it believes of it."""

    hand: Text
    body: Text
    style: Text
    start: Number = 0.0
    held: Number = 0.0
    believed_mass: Number = 1.0
    believed_friction: Number = 1.0
    response: Number = 0.75
    at: Position | None = None


class PushPart(Part):
    """A force on a point of a body that no contact gives."""

    on: Text
    from_: Number = Field(alias="from")
    to: Number
    force: Newtons
    at: Position = (0.0, 0.0, 0.0)


class TossPart(Part):
    """A throw that is caught again: up to a height, or at a box."""

    hand: Text
    body: Text
    height: Number | None = None
    box: int | None = Field(default=None, ge=0)


class ProblemFile(Part):
    """The whole file."""

    name: Text
    duration: Number | None = None
    fps: Number = 60
    hands: dict[str, HandEntry]
    bodies: dict[str, BodyEntry] = Field(default_factory=dict)
    environment: list[SurfacePart] = Field(default_factory=list)
    tracks: Text | None = None
    goals: list[GoalPart] = Field(default_factory=list)
    touches: list[TouchPart] = Field(default_factory=list)
    strokes: list[StrokePart] = Field(default_factory=list)
    grips: list[GripPart] = Field(default_factory=list)
    pushes: list[PushPart] = Field(default_factory=list)
    tosses: list[TossPart] = Field(default_factory=list)
    cyclic: bool = False
    summary: Text | None = None

    @model_validator(mode="after")
    def _goals_or_tracks(self) -> ProblemFile:
        if self.tracks is None:
            # An empty duration is none.
            given = self.model_fields_set - ({"duration"} if self.duration is None else set())
            wanted = ("duration",) if self.tosses else ("duration", "goals")
            lacking = [key for key in wanted if key not in given]
            if lacking:
                raise ValueError(f"expected tracks, or {' and '.join(lacking)}")
        elif self.duration is not None:
            raise ValueError("expected duration or tracks, not both: tracks have their own frames")
        return self

    @model_validator(mode="after")
    def _whole_frames(self) -> ProblemFile:
        if self.duration is None:
            if self.fps <= 0:
                raise ValueError(f"fps is {self.fps}; expected a number above zero")
            return self
        steps = self.duration * self.fps
        if self.duration <= 0 or self.fps <= 0 or not 0.5 < steps < read_limits().frames:
            raise ValueError(
                f"duration is {self.duration} s and fps {self.fps}; expected both above zero and "
                f"at most {read_limits().frames} frames"
            )
        if abs(steps - round(steps)) > 1e-6:
            raise ValueError(
                f"duration is {self.duration} s, which is {steps:g} steps at {self.fps} fps; "
                "expected a whole number"
            )
        return self

    def times(self, num_tracked: int = 0) -> np.ndarray:
        """Frames, s.

        Args:
            num_tracked: How many frames the tracks have, for a file that has some.
        """
        if self.duration is None:
            return np.arange(num_tracked) / self.fps
        return np.linspace(0.0, self.duration, round(self.duration * self.fps) + 1)


_EXPECTED = {
    "bool_type": "expected true or false",
    "dict_type": "expected names with values",
    "list_type": "expected a list",
    "literal_error": "expected right, left or none",
    "string_type": "expected text",
    "too_short": "expected at least one entry",
}
_MAX_SHOWN = 60


def schema_problems(error: ValidationError) -> list[tuple[tuple[str | int, ...], str]]:
    """Places in the file, and what is wrong there."""
    problems = []
    for entry in error.errors():
        if entry["type"] == "missing":
            problems.append((entry["loc"], "is missing"))
            continue
        if entry["type"] == "value_error":
            text = str(entry["ctx"]["error"])
        else:
            text = _EXPECTED.get(entry["type"], entry["msg"])
        if text.startswith("expected") and not isinstance(entry["input"], dict | BaseModel):
            text = f"is {str(entry['input'])[:_MAX_SHOWN]!r}; {text}"
        problems.append((entry["loc"], text))
    return problems
