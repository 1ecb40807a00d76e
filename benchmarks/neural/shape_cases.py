"""Tracks with things that no network was taught: other sizes, other shapes, a new tea set.

Wrists and things move as in taught motions, by scripts of their own with a seed that no data is
made with. Fingers are not taught: nothing is solved here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from handwright.core.body import RigidBody
from handwright.core.editing import with_body
from handwright.core.problem import Problem
from handwright.geometry.shapes import make_shape
from handwright.learning.data.script import Script
from handwright.learning.data.shapes import Kind, Thing, kinds_of
from handwright.learning.data.solving import thought_out

SCALED = "scaled cylinders"
SWAPPED = "swapped shapes"
TEA_SET = "new teapot and mug"
POURED = "tea pouring"
GROUPS = (SCALED, SWAPPED, TEA_SET, POURED)
"""What is tried, in the order of tables."""
_SEED = 2021
_CYLINDER = Thing("cylinder", {"radius": 0.034, "height": 0.10})
_RADII = (0.022, 0.028, 0.034, 0.038, 0.042)
# As high as the cylinder, so that they stand where it stood; the ring hangs
# in the air where the middle of the cylinder was.
_OTHERS: Mapping[str, Mapping[str, float]] = {
    "bunny_like": {"height": 0.10},
    "prism": {"radius": 0.040, "height": 0.10},
    "torus": {"ring_radius": 0.030, "tube_radius": 0.014},
    "box": {"width": 0.055, "depth": 0.055, "height": 0.10},
}
_TEAPOT, _TAUGHT_TEAPOT = (
    Thing("teapot", {"height": height, "mass": mass})
    for height, mass in ((0.13, 0.4), (0.145, 0.45))
)
_MUG = Thing("mug", {"radius": 0.036, "height": 0.09, "handle_reach": 0.038, "mass": 0.2})
_TAUGHT_MUG = Thing("mug", {"radius": 0.04, "height": 0.11, "handle_reach": 0.042, "mass": 0.3})


class ShapeCase(NamedTuple):
    """Tracks to move fingers for."""

    name: str
    """Of the thing."""
    group: str
    """One of ``GROUPS``."""
    problem: Problem


@dataclass(frozen=True, slots=True)
class _Plan:
    """Tracks that are thought out for things of their own."""

    things: tuple[Thing, ...]
    acts: tuple[str, ...]
    number: int
    """Of the chances; the first natural one that contact sampling finds certified fingers for. With
    a thing in each hand, and for the mug by its handle, it is the first natural one: no certified
    fingers are known for it."""
    side: str = "right"
    grips: tuple[str, ...] = ()
    """Only these; all that suit the thing if empty."""

    def problem(self) -> Problem:
        """Fingers are wanted."""
        kinds = tuple(self._kind(thing) for thing in self.things)
        script = Script("test", self.side, kinds, self.things, self.acts, ends_aloft=False)
        return thought_out(script, script.shape, seed=_SEED, number=self.number)[1]

    def _kind(self, thing: Thing) -> Kind:
        known = [kind for name in ("primitives", "drinkware") for kind in kinds_of(name)]
        kind = next(kind for kind in known if kind.shape == thing.shape)
        return replace(kind, grips=self.grips or kind.grips)


PLANS: Mapping[str, Sequence[_Plan]] = {
    SCALED: (
        _Plan((_CYLINDER,), ("turn",), 2, grips=("side", "above")),
        _Plan((_CYLINDER,), ("pass",), 0, grips=("side", "above")),
    ),
    SWAPPED: (
        _Plan((_CYLINDER,), ("tilt",), 0, grips=("side",)),
        _Plan((_CYLINDER,), ("pass",), 1, side="left", grips=("side",)),
    ),
    TEA_SET: (
        _Plan((_TEAPOT,), ("pour",), 0, grips=("handle",)),
        _Plan((_MUG,), ("tilt",), 0, grips=("handle",)),
        _Plan((_MUG,), ("drink",), 0, side="left", grips=("side", "wrap")),
    ),
    POURED: (_Plan((_TEAPOT, _MUG), ("pour",), 0),),
}
"""Tracks of each group."""


def shape_cases() -> Iterator[ShapeCase]:
    """All of them, group by group; the first time, holds of new things are looked for."""
    for plan in PLANS[SCALED]:
        problem = plan.problem()
        for radius in _RADII:
            body = Thing("cylinder", {"radius": radius, "height": 0.10}).body()
            yield ShapeCase(f"radius {1e3 * radius:g} mm", SCALED, swapped(problem, body))
    for plan in PLANS[SWAPPED]:
        problem = plan.problem()
        yield ShapeCase("cylinder", SWAPPED, problem)
        for shape, size in _OTHERS.items():
            yield ShapeCase(shape, SWAPPED, swapped(problem, make_shape(shape, **size)))
    for plan in PLANS[TEA_SET]:
        yield ShapeCase(plan.things[0].shape, TEA_SET, plan.problem())
    for plan in PLANS[POURED]:
        problem = plan.problem()
        yield ShapeCase("new set", POURED, problem)
        yield ShapeCase("taught set on its tracks", POURED, _taught_set(problem))


def swapped(problem: Problem, body: RigidBody) -> Problem:
    """Another body in place of the only one, as heavy as it is for its size, and as rough."""
    ((name, old),) = problem.bodies.items()
    middle = body.bounds.mean(axis=0)
    moved = replace(body, vertices=body.vertices - middle, center=body.center - middle)
    return with_body(problem, name, moved.with_friction(old.friction))


def _taught_set(problem: Problem) -> Problem:
    for thing in (_TAUGHT_TEAPOT, _TAUGHT_MUG):
        problem = with_body(problem, thing.shape, thing.body(), stand=True)
    return problem
