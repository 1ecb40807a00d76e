"""Grip styles: a preferred posture, and the parts of the hand that hold.

A style is data for equation (9) of docs/derivations/interactive.md: joint angles in degrees, the
parts of the skin that come to lie on a body (handles), and from where the hand comes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from handwright.errors import UnknownNameError

Face = Literal["palm", "thumb_side"]


@dataclass(frozen=True, slots=True)
class Handle:
    """A part of the hand that comes to lie on the body.

    Attributes:
        part: Name of a capsule, such as ``index_distal``.
        face: Which side of it: that of the palm (the pad), or that towards the thumb.
        is_needed: Whether the hand goes after it wherever it is; else only where it is near.
    """

    part: str
    face: Face = "palm"
    is_needed: bool = True


@dataclass(frozen=True, slots=True)
class GripStyle:
    """How a hand holds things.

    Attributes:
        name: What to ask for.
        summary: One line.
        posture: The preferred posture: for each digit the angles of its six joints in the order of
            the tree, degrees.
        opened: The posture of the hand as wide open as this grip ever is, in the same order.
        handles: Parts that hold.
        needs: Some part of each of these groups must touch.
        jaws: Parts of the thumb's or palm's side and of the fingers' side, between whose middles a
            body is put to begin with; without a second side it is put on the first.
        least_handles: So many must touch.
        width: Thinnest and thickest part of a body that the style is for, m.
        palm_up: Least and largest cosine between the way that the palm faces and up.
        thumb_up: Least and largest cosine between the way that the thumb's side faces and up.
        wraps: Whether the hand begins open with its palm on the body, fingers across its length.
        push: Disturbance that the grip must bear beside the weight, in weights, every way.
    """

    name: str
    summary: str
    posture: Mapping[str, tuple[float, ...]]
    opened: Mapping[str, tuple[float, ...]]
    handles: tuple[Handle, ...]
    needs: tuple[tuple[str, ...], ...]
    jaws: tuple[tuple[str, ...], tuple[str, ...]]
    least_handles: int
    width: tuple[float, float]
    palm_up: tuple[float, float]
    thumb_up: tuple[float, float] = (-1.0, 1.0)
    wraps: bool = False
    push: float = 1.0

    def __post_init__(self) -> None:
        for name in ("posture", "opened"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))


def grip_style(name: str) -> GripStyle:
    """The style with this name."""
    if name not in GRIP_STYLES:
        raise UnknownNameError("grip style", name, GRIP_STYLES)
    return GRIP_STYLES[name]


def _parts(digit: str) -> tuple[str, ...]:
    return tuple(f"{digit}_{part}" for part in ("proximal", "intermediate", "distal"))


def _pads(*digits: str, is_needed: bool = True) -> tuple[Handle, ...]:
    return tuple(Handle(f"{digit}_distal", is_needed=is_needed) for digit in digits)


_FINGERS = ("index", "middle", "ring", "little")
_PALM = (
    "index_metacarpal", "middle_metacarpal", "ring_metacarpal", "little_metacarpal",
    "thenar", "hypothenar",
)  # fmt: skip
_WIDE = {
    "thumb": (-15.0, 18.0, 22.0, 0.0, 0.0, 0.0),
    "index": (0.0, 0.0, 10.0, 5.0, 28.0, 16.0),
    "middle": (0.0, 0.0, 10.0, 1.0, 28.0, 16.0),
    "ring": (0.0, 0.0, 10.0, -4.0, 28.0, 16.0),
    "little": (0.0, 0.0, 10.0, -8.0, 28.0, 16.0),
}

GRIP_STYLES: dict[str, GripStyle] = {
    style.name: style
    for style in (
        GripStyle(
            "power",
            "wrapped by palm, fingers and thumb",
            posture={
                "thumb": (0.0, 16.0, 22.0, 18.0, 0.0, 22.0),
                "index": (0.0, 0.0, 45.0, 2.0, 55.0, 32.0),
                "middle": (0.0, 0.0, 50.0, 0.0, 58.0, 34.0),
                "ring": (4.0, 0.0, 52.0, -1.0, 60.0, 35.0),
                "little": (7.0, 0.0, 52.0, -3.0, 60.0, 35.0),
            },
            opened=_WIDE,
            handles=(
                *_pads("thumb", *_FINGERS, is_needed=False),
                *(Handle(f"{digit}_intermediate", is_needed=False) for digit in _FINGERS),
                *(Handle(f"{digit}_proximal", is_needed=False) for digit in _FINGERS),
                Handle("thumb_proximal", is_needed=False),
                *(Handle(part, is_needed=False) for part in _PALM),
            ),
            needs=(
                (*_PALM, *(f"{digit}_proximal" for digit in _FINGERS)),
                _parts("index")[1:],
                _parts("middle")[1:],
                ("thumb_distal", "thumb_proximal", "thenar"),
            ),
            jaws=(
                ("index_metacarpal", "middle_metacarpal"),
                ("middle_intermediate", "ring_intermediate"),
            ),
            least_handles=5,
            width=(0.012, 0.095),
            palm_up=(-1.0, 0.5),
            thumb_up=(-0.3, 1.0),
            wraps=True,
        ),
        GripStyle(
            "precision",
            "between the pads of the thumb and of the fingers",
            posture={
                "thumb": (5.0, 18.0, 26.0, 5.0, 0.0, 10.0),
                "index": (0.0, 0.0, 42.0, 4.0, 38.0, 18.0),
                "middle": (0.0, 0.0, 46.0, 0.0, 40.0, 20.0),
                "ring": (3.0, 0.0, 48.0, -3.0, 40.0, 20.0),
                "little": (6.0, 0.0, 46.0, -6.0, 40.0, 20.0),
            },
            opened=_WIDE,
            handles=(
                *_pads("thumb", "index", "middle"),
                *_pads("ring", "little", is_needed=False),
            ),
            needs=(("thumb_distal",), ("index_distal",), ("middle_distal",)),
            jaws=(("thumb_distal",), ("index_distal", "middle_distal")),
            least_handles=3,
            width=(0.0, 0.11),
            palm_up=(-1.0, 0.2),
        ),
        GripStyle(
            "lateral",
            "a flat thing between the thumb's pad and the side of the index finger",
            posture={
                "thumb": (8.0, -2.0, 0.0, 15.0, 0.0, 20.0),
                "index": (0.0, 0.0, 45.0, 0.0, 60.0, 30.0),
                "middle": (0.0, 0.0, 55.0, 0.0, 65.0, 35.0),
                "ring": (3.0, 0.0, 60.0, 0.0, 68.0, 36.0),
                "little": (6.0, 0.0, 62.0, -2.0, 68.0, 36.0),
            },
            opened={
                "thumb": (-15.0, -8.0, 0.0, 0.0, 0.0, 5.0),
                "index": (0.0, 0.0, 40.0, 0.0, 55.0, 28.0),
                "middle": (0.0, 0.0, 52.0, 0.0, 62.0, 34.0),
                "ring": (3.0, 0.0, 58.0, 0.0, 66.0, 36.0),
                "little": (6.0, 0.0, 60.0, -2.0, 66.0, 36.0),
            },
            handles=(
                *_pads("thumb"),
                Handle("index_intermediate", "thumb_side"),
                Handle("index_distal", "thumb_side", is_needed=False),
                Handle("index_proximal", "thumb_side", is_needed=False),
                Handle("thumb_proximal", is_needed=False),
            ),
            needs=(("thumb_distal",), ("index_intermediate", "index_distal")),
            jaws=(("thumb_distal",), ("index_intermediate",)),
            least_handles=3,
            width=(0.0, 0.03),
            palm_up=(-0.8, 0.8),
            thumb_up=(-0.3, 1.0),
        ),
        GripStyle(
            "tripod",
            "between the pads of thumb, index and middle finger",
            posture={
                "thumb": (14.0, 14.0, 28.0, 8.0, 0.0, 12.0),
                "index": (2.0, 0.0, 52.0, 4.0, 40.0, 15.0),
                "middle": (1.0, 0.0, 55.0, -2.0, 45.0, 20.0),
                "ring": (3.0, 0.0, 60.0, -3.0, 62.0, 34.0),
                "little": (6.0, 0.0, 62.0, -6.0, 64.0, 36.0),
            },
            opened={
                "thumb": (-8.0, 16.0, 25.0, 5.0, 0.0, 10.0),
                "index": (0.0, 0.0, 35.0, 5.0, 30.0, 12.0),
                "middle": (0.0, 0.0, 38.0, -2.0, 34.0, 16.0),
                "ring": (3.0, 0.0, 55.0, -3.0, 58.0, 32.0),
                "little": (6.0, 0.0, 58.0, -6.0, 60.0, 34.0),
            },
            handles=_pads("thumb", "index", "middle"),
            needs=(("thumb_distal",), ("index_distal",), ("middle_distal",)),
            jaws=(("thumb_distal",), ("index_distal", "middle_distal")),
            least_handles=3,
            width=(0.0, 0.05),
            palm_up=(-1.0, 0.3),
        ),
        GripStyle(
            "palm_up",
            "carried on the flat hand",
            posture={
                "thumb": (-12.0, -8.0, 0.0, 0.0, 0.0, 0.0),
                "index": (0.0, 0.0, 8.0, 6.0, 12.0, 6.0),
                "middle": (0.0, 0.0, 8.0, 1.0, 12.0, 6.0),
                "ring": (2.0, 0.0, 8.0, -4.0, 12.0, 6.0),
                "little": (4.0, 0.0, 8.0, -9.0, 12.0, 6.0),
            },
            opened={
                "thumb": (-15.0, -10.0, 0.0, 0.0, 0.0, 0.0),
                "index": (0.0, 0.0, 2.0, 8.0, 4.0, 2.0),
                "middle": (0.0, 0.0, 2.0, 2.0, 4.0, 2.0),
                "ring": (0.0, 0.0, 2.0, -6.0, 4.0, 2.0),
                "little": (0.0, 0.0, 2.0, -12.0, 4.0, 2.0),
            },
            handles=(
                *_pads("index", "middle", "ring", "little"),
                Handle("thenar", is_needed=False),
                Handle("hypothenar", is_needed=False),
            ),
            needs=(_parts("index"), _parts("middle"), _parts("ring")),
            jaws=(("index_proximal", "middle_proximal", "ring_proximal"), ()),
            least_handles=4,
            width=(0.0, 0.5),
            palm_up=(0.75, 1.0),
            push=0.25,
        ),
    )
}
"""Every style, by name."""
