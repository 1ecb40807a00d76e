"""What can be thrown live: balls of several sizes and masses, and a can."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from handwright.core.body import RigidBody
from handwright.errors import UnknownNameError
from handwright.geometry.shapes import make_shape
from handwright.physics.throwing.flips import Flip
from handwright.physics.throwing.things import BOX_EDGE, ball, can

BOX = "box"
"""Name of the body that stands for the box that is thrown at."""


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    """Something to throw."""

    body: RigidBody
    flips: Mapping[int, Flip] = field(default_factory=dict)
    """Throws that turn it end over end, by half turns; none of a ball, which is thrown to a
    target."""


@cache
def things() -> dict[str, Thing]:
    """All that can be thrown, by name."""
    return {
        "ball": Thing(_colored(ball(), (0.87, 0.42, 0.16))),
        "small_ball": Thing(_colored(ball(0.025, 0.05), (0.93, 0.76, 0.20))),
        "large_ball": Thing(_colored(ball(0.036, 0.15), (0.24, 0.56, 0.72))),
        "heavy_ball": Thing(_colored(ball(0.03, 0.3), (0.36, 0.38, 0.44))),
        "can": Thing(_colored(can(), (0.24, 0.55, 0.42)), {1: Flip()}),
    }


FIRST = "ball"
"""What is thrown where nothing is asked for."""


def thing_of(name: str) -> Thing:
    """A thing by its name."""
    if name not in things():
        raise UnknownNameError("thing to throw", name, things())
    return things()[name]


@cache
def box_body() -> RigidBody:
    """The box as a body, for pictures of it where it is."""
    edges = dict.fromkeys(("width", "depth", "height"), BOX_EDGE)
    return make_shape("box", **edges)


def _colored(body: RigidBody, color: tuple[float, float, float]) -> RigidBody:
    return replace(body, color=color)
