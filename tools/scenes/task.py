"""What a hand has to hold and how it turns against it; and a wrist pose that can do so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.body import RigidBody
from handwright.core.frozen import freeze_arrays
from handwright.core.hand import HandModel
from handwright.geometry.distance.sdf import Field
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.math.pose import Pose
from tools.scenes.curves import turn_about

# Comfortable postures of a finger, degrees: its six joints in tree order.
STYLES: dict[str, tuple[float, ...]] = {
    "precision": (2.0, 0.0, 38.0, 0.0, 36.0, 20.0),
    "wrap": (2.0, 0.0, 52.0, 0.0, 62.0, 35.0),
    "flat": (1.0, 0.0, 8.0, 0.0, 12.0, 8.0),
}
_THUMB = (4.0, 18.0, 22.0, 8.0, 0.0, 12.0)
_FLAT_THUMB = (-8.0, 4.0, 0.0, 2.0, 0.0, 4.0)


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What the hand has to be able to do."""

    model: HandModel
    body: RigidBody
    turns: Float[np.ndarray, "K 3"]
    """Turns of the wrist relative to the body, in its frame, degrees; the middle one is zero."""
    wrenches: Float[np.ndarray, "W 6"]
    """Force and moment about the centre of mass, body axes, that the pads must give, N and N m."""
    spots: Float[np.ndarray, "D 3"]
    """About where each pad should be in the body's frame, m."""
    spread: float = 0.010
    """How far from there, m."""
    pivot: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Point of the body about which the wrist turns, m."""
    style: str = "precision"
    """Which comfortable posture of the fingers to stay near: a key of ``STYLES``."""
    digits: tuple[bool, ...] = (True, True, True, True, True)
    """Digits that shall touch."""
    palm_gap: tuple[float, float] = (0.003, 0.009)
    """Least and largest distance of the palm from the body in the key poses, m."""
    lowest: float = -np.inf
    """Height in the body's frame above which the hand stays, m: what the body stands on."""
    swaps: bool = False
    """Whether the wrist pose to start from is only moved and turned about the vertical."""
    distances: Field = field(init=False)
    relative: Pose = field(init=False)
    """(K,) the turns as poses."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "relative", turn_about(np.array(self.pivot), self.turns))
        object.__setattr__(self, "distances", signed_distance_field(self.body))


@dataclass(frozen=True, slots=True, eq=False)
class Hold:
    """A wrist pose from which a hand can hold a body."""

    wrist: Pose
    """Root of the hand in the body's frame, in the middle of the relative motion."""
    pivot: Float[np.ndarray, "3"]
    """Point of the body about which the wrist turns relative to it, m."""
    points: Float[np.ndarray, "D 3"]
    """Pads on the body, in its frame, m."""
    touching: Bool[np.ndarray, " D"]
    """Digits in use."""
    q: Float[np.ndarray, "K J"]
    """Postures in the key poses, rad."""
    cost: float
    """Less is better; infinity if the hand cannot hold the body so."""

    def __post_init__(self) -> None:
        freeze_arrays(self)


@dataclass(frozen=True, slots=True)
class Span:
    """Frames in which a hand has to do with a body."""

    hand: str
    body: str
    hold: str
    """Name of the hold that the wrist was placed by."""
    first: int
    """First frame with the wrist in place."""
    last: int
    """Last frame with the wrist in place."""
    mirrors: bool = False
    """Whether the hold is that of the other hand, mirrored."""
    opposes: bool = True
    """Whether the thumb stands across from the fingers before and after."""
    twirls: bool = False
    """Whether the body turns in the hand further than a pad can follow it."""


def comfortable_pose(model: HandModel, style: str) -> Float[np.ndarray, " J"]:
    """The posture to stay near, rad."""
    q = np.zeros(model.num_joints)
    for digit in model.digits:
        thumb = _FLAT_THUMB if style == "flat" else _THUMB
        angles = thumb if digit.name == "thumb" else STYLES[style]
        q[list(digit.joints)] = np.radians(angles)
    return model.joints.clamp(q)


def opposed(model: HandModel, pose: str) -> Float[np.ndarray, " J"]:
    """A named pose with the thumb standing across from the fingers, rad."""
    q = model.pose(pose).copy()
    q[list(model.digit("thumb").joints)] = np.radians([-12.0, 24.0, 25.0, -5.0, 0.0, -5.0])
    return model.joints.clamp(q)


def is_free(model: HandModel) -> Bool[np.ndarray, " J"]:
    """Joints that rest far from their limits: not those of the palm, nor a thumb's opposition."""
    wide = (model.joints.upper - model.joints.lower) > np.radians(30.0)
    opposing = ("thumb_cmc_abduction", "thumb_cmc_rotation")
    return wide & ~np.isin(model.joints.names, opposing)


def mirrored(hold: Hold) -> Hold:
    """The same hold by the other hand, on a body that is its own mirror image in x = 0."""
    w, x, y, z = hold.wrist.wxyz
    across = np.array([-1.0, 1.0, 1.0])
    # diag(-1, 1, 1) R diag(1, -1, 1) as a quaternion: a left hand's y points the other way.
    wrist = Pose(hold.wrist.position * across, np.array([-z, y, x, -w]))
    return Hold(wrist, hold.pivot * across, hold.points * across, hold.touching, hold.q, hold.cost)


def hold_of(span: Span, holds: Mapping[str, Hold]) -> Hold:
    """The hold of a span, mirrored if it is meant for the other hand."""
    hold = holds[span.hold]
    return mirrored(hold) if span.mirrors else hold
