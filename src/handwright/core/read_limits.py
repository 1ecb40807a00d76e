"""How much a file may ask for before it is refused.

Files come from anywhere, and a small one can describe a great deal. So readers count first and
work afterwards. The limits are far above what motion of hands needs; ``reading_with`` sets others:

    with reading_with(ReadLimits(faces=10_000_000)):
        body = load_body("scan.ply", repair=True)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields

from handwright.errors import FileFormatError, InvalidValueError


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """The most that a file may hold."""

    file_bytes: int = 2 * 1024**3
    """Of a file, and of what an archive unpacks to."""
    vertices: int = 2_000_000
    """Of all meshes in a file."""
    faces: int = 4_000_000
    """Of all meshes in a file."""
    parts: int = 1_000
    """Closed parts of a mesh that are not connected."""
    open_edges: int = 20_000
    """Edges of holes that repair fills, and faces without area that it takes apart."""
    frames: int = 100_000
    """Of a motion."""
    elements: int = 20_000
    """Bodies, joints and shapes of a robot's file, with all that it says to repeat."""

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if type(value) is not int or value < 1:
                raise InvalidValueError(
                    f"ReadLimits: {item.name} is {value!r}; expected a whole number above zero."
                )


_LIMITS: ContextVar[ReadLimits] = ContextVar("read_limits", default=ReadLimits())  # noqa: B039


def read_limits() -> ReadLimits:
    """The limits that hold here."""
    return _LIMITS.get()


@contextmanager
def reading_with(limits: ReadLimits) -> Iterator[None]:
    """Sets the limits for all that is read within the block."""
    token = _LIMITS.set(limits)
    try:
        yield
    finally:
        _LIMITS.reset(token)


def over_limit(name: str, count: float | int) -> str | None:
    """What is wrong if there are so many of something, or None.

    Args:
        name: A field of ``ReadLimits``.
        count: How many there are.
    """
    most = getattr(read_limits(), name)
    if count <= most:
        return None
    what = name.replace("_", " ")
    return f"{count:,.0f} {what}; expected at most {most:,}, the setting ReadLimits.{name}"


def check_limit(source: object, name: str, count: float | int) -> None:
    """Refuses a file that holds too many of something.

    Args:
        source: Path of the file.
        name: A field of ``ReadLimits``.
        count: How many there are.
    """
    problem = over_limit(name, count)
    if problem is not None:
        raise FileFormatError(f"'{source}' has {problem}. Make it smaller, or raise the limit.")
