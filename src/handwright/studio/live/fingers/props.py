"""Props that can be handled live, and where hands hold them.

Holds are grasps of the planner, which takes seconds for each; they come with the package, in
``holds.npz``, made by ``python -m tools.studio.live_holds`` in a source tree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.errors import UnknownNameError
from handwright.geometry.cache import load_or_build
from handwright.learning.data.activities import yawed
from handwright.learning.data.holds import Hold, mirrored
from handwright.learning.data.paths import Path as CarrierPath
from handwright.learning.data.play import Prop
from handwright.learning.data.shapes import KINDS, Kind, Thing
from handwright.learning.data.stage import SIDES
from handwright.math.pose import Pose
from handwright.studio.uploads.catalogue import source_digest

HOLDS = Path(__file__).parent / "holds.npz"
"""Of all props, by the right hand."""
# Which of its sizes a shape has here; the first where nothing is said.
_SIZES = {
    "box": 3, "cylinder": 2, "sphere": 2, "cone": 1, "prism": 2, "tetrahedron": 1, "capsule": 1,
    "ellipsoid": 1, "hemisphere": 1,
}  # fmt: skip
# Arrays that a body is kept with.
_ROWS = ("vertices", "faces", "center", "inertia", "sharp_edges")
FIRST = "mug"
"""The prop that is there where none is asked for."""


def prop_kinds() -> dict[str, tuple[Kind, Thing]]:
    """What there is to handle, by name: things to drink from first, as these tell most."""
    kinds = chain(KINDS["drinkware"], KINDS["primitives"])
    return {kind.shape: (kind, kind.things[_SIZES.get(kind.shape, 0)]) for kind in kinds}


@dataclass(frozen=True, slots=True, eq=False)
class HandledProp:
    """A thing, and all places from which hands take it."""

    name: str
    body: RigidBody
    rest: Pose
    """Of the body when it lies or stands, from its carrier: the frame that hands hold on to."""
    height: float
    """Of the carrier over the table when the thing lies or stands, m."""
    holds: dict[str, list[Hold]]
    """By hand."""
    holds_around: dict[str, list[Hold]]
    """The same from every side that the symmetry of the thing allows."""
    partners: dict[str, list[Hold | None]]
    """For each of these a hold by the other hand that leaves it room; None where none is known."""

    def partner(self, side: str, hold: Hold) -> Hold | None:
        """A hold by the other hand beside one of ``holds_around``, if one is known."""
        held = (n for n, other in enumerate(self.holds_around[side]) if other is hold)
        number = next(held, None)
        return None if number is None else self.partners[side][number]

    def lowest(self, up: Float[np.ndarray, "3"]) -> float:
        """How far down the body goes from the carrier's origin, m; negative.

        Args:
            up: The world's vertical in the axes of the carrier.
        """
        own = self.rest.inverse().rotate(up)
        return float((self.body.vertices @ own).min())


@cache
def handled_prop(name: str) -> HandledProp:
    """A prop by its name."""
    known = prop_kinds()
    if name not in known:
        raise UnknownNameError("prop", name, known)
    kind, thing = known[name]
    with np.load(HOLDS) as rows:
        grips = [str(grip) for grip in rows[f"{name}/grip"]]
        holds = [_hold(grip, row) for grip, row in zip(grips, rows[f"{name}/hold"], strict=True)]
        takers = [_hold("given", row) for row in rows[f"{name}/partner"]]
    body = _kept_body(thing)
    prop = Prop(kind, thing, [hold for hold in holds if hold], CarrierPath(Pose.identity()))
    around = {side: prop.holds_around(side) for side in SIDES}
    turns = len(around["right"]) // len(holds)
    return HandledProp(
        name=name,
        body=body,
        rest=thing.rest,
        height=-float(thing.rest[None].apply(body.vertices)[:, 2].min()),
        holds={side: prop.holds_by(side) for side in SIDES},
        holds_around=around,
        partners={
            side: [
                None if taker is None else _beside(taker, kind, number / turns, side)
                for taker in takers
                for number in range(turns)
            ]
            for side in SIDES
        },
    )


def _kept_body(thing: Thing) -> RigidBody:
    """A body from the cache, or built: handles are joined to cups in seconds."""

    def build() -> dict[str, np.ndarray]:
        body = thing.body()
        rows = {name: getattr(body, name) for name in _ROWS}
        return rows | {"numbers": np.array([body.mass, *body.color])}

    rows = load_or_build(f"prop-{thing.name}-{1e3 * thing.friction:g}-{source_digest()}", build)
    mass, *color = rows["numbers"].tolist()
    return RigidBody(
        name=thing.shape,
        mass=mass,
        friction=thing.friction,
        color=(color[0], color[1], color[2]),
        **{name: rows[name] for name in _ROWS},
    )


def _hold(grip: str, row: Float[np.ndarray, " N"]) -> Hold | None:
    """A hold as it is in the file; None if there is none."""
    if np.isnan(row).any():
        return None
    values = row.astype(np.float64)
    return Hold(grip, Pose.normalized(values[:3], values[3:7]), values[7:])


def _beside(taker: Hold, kind: Kind, share: float, side: str) -> Hold:
    """A partner's hold: for a left hand mirrored, and turned by a share of a round."""
    hold = taker if side == "right" else mirrored(taker, kind.mirror)
    return replace(hold, wrist=Pose(np.zeros(3), yawed(2.0 * np.pi * share)) @ hold.wrist)
