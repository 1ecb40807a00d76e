"""Parametric bodies: simple solids and everyday things, by name or by function.

Every body is one closed surface, stands or lies as it usually does with Z up, and has the origin
of its frame at its centre of mass. Sizes are in metres.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from handwright.core.body import RigidBody
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.geometry.shapes.animals import bunny_like
from handwright.geometry.shapes.household import book, milk_carton, playing_card, soap
from handwright.geometry.shapes.phones import PHONE_KEYS, phone, phone_keys
from handwright.geometry.shapes.pots import coffee_pot, jug, teapot, wine_pot
from handwright.geometry.shapes.primitives import (
    box,
    capsule,
    cone,
    cylinder,
    ellipsoid,
    hemisphere,
    prism,
    sphere,
    tetrahedron,
    torus,
)
from handwright.geometry.shapes.revolved import (
    beaker,
    bottle,
    can,
    paper_cup,
    pen,
    wine_glass,
)
from handwright.geometry.shapes.tools import hammer, spatula
from handwright.geometry.shapes.vessels import mug, pan

__all__ = [
    "PHONE_KEYS",
    "SHAPES",
    "Shape",
    "beaker",
    "book",
    "bottle",
    "box",
    "bunny_like",
    "can",
    "capsule",
    "coffee_pot",
    "cone",
    "cylinder",
    "ellipsoid",
    "hammer",
    "hemisphere",
    "jug",
    "make_shape",
    "milk_carton",
    "mug",
    "pan",
    "paper_cup",
    "pen",
    "phone",
    "phone_keys",
    "playing_card",
    "prism",
    "soap",
    "spatula",
    "sphere",
    "teapot",
    "tetrahedron",
    "torus",
    "wine_glass",
    "wine_pot",
]


@dataclass(frozen=True, slots=True)
class Shape:
    """An entry of the table of shapes.

    Attributes:
        name: What to ask for.
        make: Builds the body; dimensions are keyword arguments with defaults.
        summary: One line: what it is and its default size.
    """

    name: str
    make: Callable[..., RigidBody]
    summary: str


SHAPES: dict[str, Shape] = {
    shape.name: shape
    for shape in (
        Shape("box", box, "wooden cube, 60 mm"),
        Shape("sphere", sphere, "ball, 70 mm across"),
        Shape("ellipsoid", ellipsoid, "large egg on its side, 90 x 64 x 56 mm"),
        Shape("cylinder", cylinder, "round rod, 50 mm across, 120 mm tall"),
        Shape("capsule", capsule, "rod with round ends, 44 mm across, 120 mm long"),
        Shape("cone", cone, "cone, 70 mm across, 100 mm tall"),
        Shape("torus", torus, "ring, 106 mm across, tube of 26 mm"),
        Shape("prism", prism, "triangular prism, 69 mm sides, 90 mm tall (num_sides for others)"),
        Shape("tetrahedron", tetrahedron, "regular tetrahedron, 80 mm edges"),
        Shape("hemisphere", hemisphere, "half a ball, 90 mm across"),
        Shape("book", book, "hardcover book, 135 x 200 x 26 mm"),
        Shape("soap", soap, "bar of soap, 85 x 55 x 28 mm"),
        Shape("can", can, "full drinks can, 66 mm across, 122 mm tall"),
        Shape("bottle", bottle, "full half-litre bottle, 65 mm across, 210 mm tall"),
        Shape("wine_glass", wine_glass, "hollow wine glass, 80 mm across, 200 mm tall"),
        Shape("beaker", beaker, "open plastic beaker, 84 mm across, 95 mm tall"),
        Shape("paper_cup", paper_cup, "full paper cup with its lid on, 62 mm across, 85 mm tall"),
        Shape("mug", mug, "hollow mug with handle, 82 mm across, 95 mm tall"),
        Shape("teapot", teapot, "teapot with spout, handle and lid, 130 mm tall"),
        Shape("wine_pot", wine_pot, "slender pot with long spout and handle, 200 mm tall"),
        Shape("coffee_pot", coffee_pot, "tall pot with spout and handle, 190 mm tall"),
        Shape("jug", jug, "round-bellied jug with lip and handle, 170 mm tall"),
        Shape("pan", pan, "frying pan, 200 mm across, handle of 170 mm"),
        Shape("spatula", spatula, "slotted spatula, 305 mm long, blade 95 x 75 mm"),
        Shape("hammer", hammer, "claw hammer, 320 mm long, steel head of 125 mm"),
        Shape("pen", pen, "ball-point pen, 142 mm long, 10 mm across"),
        Shape("phone", phone, "phone with twelve raised keys, 50 x 118 x 14 mm"),
        Shape("milk_carton", milk_carton, "full gable-top carton, 70 x 70 x 235 mm"),
        Shape("playing_card", playing_card, "poker card, 63 x 88 x 0.3 mm"),
        Shape("bunny_like", bunny_like, "toy rabbit, 100 mm tall"),
    )
}
"""Every shape, in the order in which they are listed."""


def make_shape(name: str, /, **dimensions: Any) -> RigidBody:  # noqa: ANN401
    """Builds a shape of the table.

    Args:
        name: A key of ``SHAPES``.
        **dimensions: Arguments of its function, such as ``radius=0.03``, in metres or kilograms.

    Raises:
        UnknownNameError: If there is no such shape.
        InvalidValueError: If a dimension is unknown or cannot be used.
    """
    if name not in SHAPES:
        raise UnknownNameError("shape", name, SHAPES)
    make = SHAPES[name].make
    known = inspect.signature(make).parameters
    unknown = sorted(set(dimensions) - set(known))
    if unknown:
        raise InvalidValueError(
            f"Shape '{name}' has no dimension {', '.join(map(repr, unknown))}. "
            f"Known: {', '.join(known)}."
        )
    return make(**dimensions)
