"""What is handled: sets of shapes in several sizes, and what people do with each.

One shape of each set is held out: it occurs in motions of the test split only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

import numpy as np

from handwright.core.body import RigidBody
from handwright.errors import UnknownNameError
from handwright.geometry.shapes import make_shape
from handwright.math import rotation
from handwright.math.pose import Pose

Plane = Literal["x", "y"]
_NOTHING: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Thing:
    """A shape in one size."""

    shape: str
    """A key of ``SHAPES``."""
    size: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    """Dimensions by name, m; ``mass`` in kg may be among them."""
    friction: float = 0.8
    """Coulomb coefficient against skin."""
    lies: bool = False
    """Whether it lies on its side, its upright axis along -y; else it stands."""

    @property
    def rest(self) -> Pose:
        """How it is turned when it lies or stands on the table."""
        turn = [0.5 * np.pi, 0.0, 0.0] if self.lies else np.zeros(3)
        return Pose(np.zeros(3), rotation.exp(turn))

    @property
    def name(self) -> str:
        """Shape and dimensions, as in ``box_depth50_height50_width50``."""
        parts = [f"{key}{1e3 * value:g}" for key, value in sorted(self.size.items())]
        return "_".join([self.shape, *parts, *(["lying"] if self.lies else [])])

    def body(self) -> RigidBody:
        """The body itself."""
        return _body(self.shape, tuple(sorted(self.size.items())), self.friction)

    def planned_body(self) -> RigidBody:
        """What the grasp planner is shown: it wants places that face each other."""
        if self.shape != "tetrahedron":
            return self.body()
        edge = self.size["edge"]
        size = (("height", 0.816 * edge), ("radius", 0.42 * edge))
        return _body("cone", size, self.friction)


@lru_cache(maxsize=64)
def _body(shape: str, size: tuple[tuple[str, float], ...], friction: float) -> RigidBody:
    return replace(make_shape(shape, **dict(size)), friction=friction, name=shape)


@dataclass(frozen=True, slots=True)
class Kind:
    """A shape in all its sizes, and how it is used."""

    shape: str
    things: tuple[Thing, ...]
    uses: tuple[str, ...]
    """Activities beside carrying, as often as they are wanted."""
    grips: tuple[str, ...]
    """Names of the grips that take it; see ``GRIPS`` of ``holds``."""
    mirror: Plane = "y"
    """The shape is its own mirror image in the plane that this axis is square to."""
    is_held_out: bool = False
    """Whether it occurs in the test split only."""
    fold: int = 0
    """How many turns about its upright axis lead it into itself; 0 if all do. What lies has two."""
    has_spout: bool = False
    """Whether it pours over a spout at +x; else over any side."""
    pours: bool = False
    """Whether people pour from it into what the other hand holds."""
    receives: bool = False
    """Whether people pour into it."""
    handle: tuple[float, float] | None = None
    """Which way its handle points along x, and the height of the handle's middle as a share of the
    whole height."""


def _kind(
    shape: str,
    sizes: tuple[Mapping[str, float], ...],
    *,
    uses: tuple[str, ...],
    grips: tuple[str, ...],
    friction: float = 0.8,
    lying: tuple[Mapping[str, float], ...] = (),
    **rest: object,
) -> Kind:
    things = tuple(
        Thing(shape, MappingProxyType(dict(size)), friction, lies)
        for group, lies in ((sizes, False), (lying, True))
        for size in group
    )
    return Kind(shape, things, uses, grips, **rest)  # type: ignore[arg-type]


def _pot(
    shape: str,
    sizes: tuple[tuple[float, float], ...],
    *,
    handle: float,
    grips: tuple[str, ...] = ("handle", "wrap", "side"),
    is_held_out: bool = False,
) -> Kind:
    """What people pour from: heights, m, and masses, kg, and the height of the handle's middle."""
    return _kind(
        shape,
        tuple({"height": height, "mass": mass} for height, mass in sizes),
        uses=("pour", "pour", "tilt", "carry"),
        pours=True,
        grips=grips,
        fold=1,
        has_spout=True,
        handle=(-1.0, handle),
        is_held_out=is_held_out,
    )


_PLAY = ("tilt", "turn", "fiddle", "spin", "regrasp", "pass", "carry")
_SOLID = ("wrap", "above", "side", "pinch")

KINDS: dict[str, tuple[Kind, ...]] = {
    "primitives": (
        _kind(
            "box",
            (
                {"width": 0.05, "depth": 0.05, "height": 0.05},
                {"width": 0.06, "depth": 0.06, "height": 0.06},
                {"width": 0.068, "depth": 0.068, "height": 0.14},
                {"width": 0.045, "depth": 0.075, "height": 0.11},
                {"width": 0.09, "depth": 0.05, "height": 0.035},
            ),
            uses=_PLAY,
            grips=("above", "side", "wrap"),
            fold=2,
        ),
        _kind(
            "cylinder",
            (
                {"radius": 0.018, "height": 0.13},
                {"radius": 0.025, "height": 0.12},
                {"radius": 0.034, "height": 0.10},
                {"radius": 0.045, "height": 0.06},
            ),
            lying=({"radius": 0.022, "height": 0.13},),
            uses=_PLAY,
            grips=_SOLID,
        ),
        _kind(
            "sphere",
            ({"radius": 0.025}, {"radius": 0.035}, {"radius": 0.045}),
            uses=("turn", "fiddle", "pass", "carry", "tilt"),
            grips=("above", "side", "wrap"),
        ),
        _kind(
            "torus",
            (
                {"ring_radius": 0.04, "tube_radius": 0.013},
                {"ring_radius": 0.05, "tube_radius": 0.016},
                {"ring_radius": 0.033, "tube_radius": 0.012},
            ),
            uses=_PLAY,
            grips=("above", "side", "pinch"),
        ),
        _kind(
            "cone",
            ({"radius": 0.03, "height": 0.09}, {"radius": 0.035, "height": 0.12}),
            uses=("tilt", "turn", "fiddle", "regrasp", "pass", "carry"),
            grips=_SOLID,
        ),
        _kind(
            "prism",
            (
                {"radius": 0.035, "height": 0.08},
                {"radius": 0.04, "height": 0.11},
            ),
            lying=({"radius": 0.03, "height": 0.10},),
            uses=_PLAY,
            grips=_SOLID,
            mirror="x",
            fold=3,
            friction=0.9,
        ),
        _kind(
            "tetrahedron",
            ({"edge": 0.07}, {"edge": 0.085}),
            uses=("tilt", "fiddle", "carry"),
            grips=("above", "pinch"),
            friction=1.2,
            fold=3,
        ),
        _kind(
            "capsule",
            (),
            lying=({"radius": 0.022, "length": 0.12}, {"radius": 0.028, "length": 0.14}),
            uses=("tilt", "turn", "fiddle", "regrasp", "pass", "carry"),
            grips=("above", "side", "pinch"),
            fold=2,
        ),
        _kind(
            "ellipsoid",
            (
                {"radius_x": 0.045, "radius_y": 0.032, "radius_z": 0.028},
                {"radius_x": 0.055, "radius_y": 0.038, "radius_z": 0.034},
            ),
            uses=("tilt", "turn", "fiddle", "pass", "carry"),
            grips=("above", "side", "wrap"),
            fold=2,
        ),
        _kind(
            "hemisphere",
            ({"radius": 0.038}, {"radius": 0.045}),
            uses=_PLAY,
            grips=("above", "side", "pinch"),
            is_held_out=True,
        ),
    ),
    "drinkware": (
        _kind(
            "mug",
            (
                {"radius": 0.04, "height": 0.11, "handle_reach": 0.042, "mass": 0.3},
                {"radius": 0.038, "height": 0.10, "handle_reach": 0.040, "mass": 0.25},
                {"radius": 0.044, "height": 0.12, "handle_reach": 0.044, "mass": 0.3},
            ),
            uses=("drink", "drink", "pour", "tilt", "spin", "regrasp", "pass", "carry"),
            grips=("handle", "above", "side", "wrap"),
            fold=1,
            handle=(1.0, 0.56),
            receives=True,
        ),
        _kind(
            "paper_cup",
            ({}, {"height": 0.095}, {"height": 0.11}),
            uses=("drink", "pour", "turn", "fiddle", "spin", "regrasp", "pass", "carry"),
            grips=("wrap", "side", "above"),
            receives=True,
        ),
        _kind(
            "beaker",
            ({}, {"radius": 0.036, "height": 0.09}, {"radius": 0.04, "height": 0.11}),
            uses=("drink", "pour", "turn", "tilt", "spin", "regrasp", "pass", "carry"),
            pours=True,
            grips=("wrap", "side", "above"),
            receives=True,
        ),
        _kind(
            "bottle",
            (
                {"radius": 0.0325, "height": 0.21},
                {"radius": 0.028, "height": 0.16, "mass": 0.25},
                {"radius": 0.024, "height": 0.12, "mass": 0.15},
            ),
            uses=("pour", "pour", "drink", "turn", "spin", "regrasp", "pass", "carry"),
            pours=True,
            grips=("wrap", "side", "above"),
        ),
        _kind(
            "can",
            ({"mass": 0.2}, {"radius": 0.028, "height": 0.115, "mass": 0.25}),
            uses=("drink", "pour", "turn", "spin", "regrasp", "pass", "carry"),
            pours=True,
            grips=("wrap", "side", "above"),
        ),
        _kind(
            "wine_glass",
            ({},),
            uses=("drink", "drink", "turn", "fiddle", "pass", "carry"),
            grips=("wrap", "side", "pinch"),
        ),
        _pot("teapot", ((0.145, 0.45), (0.16, 0.5)), handle=0.42, grips=("handle", "wrap")),
        _pot("coffee_pot", ((0.165, 0.4), (0.18, 0.45), (0.20, 0.5)), handle=0.49),
        _pot("jug", ((0.14, 0.35), (0.155, 0.4), (0.17, 0.45)), handle=0.62),
        _pot("wine_pot", ((0.17, 0.4), (0.20, 0.5)), handle=0.53, is_held_out=True),
    ),
}
"""Every set of shapes, by name."""


def kinds_of(name: str) -> tuple[Kind, ...]:
    """The shapes of a set."""
    if name not in KINDS:
        raise UnknownNameError("set of shapes", name, KINDS)
    return KINDS[name]


def is_held_out(shape: str) -> bool:
    """Whether a shape is never trained on.

    Args:
        shape: Its name; of several things, their names with pluses between them.
    """
    held_out = {kind.shape for kinds in KINDS.values() for kind in kinds if kind.is_held_out}
    return not held_out.isdisjoint(shape.split("+"))
