"""Contacts while stepping: anchors on both sides, the mode, and the forces that it allows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from handwright.core.contact import ContactMode
from handwright.methods.stepwise.point_rows import body_points_rows, hand_points_rows
from handwright.methods.stepwise.world import BodyState, HandState, World


@dataclass(slots=True, eq=False)
class Touch:
    """One contact of a body with a hand, with another body or with the surroundings."""

    body: int
    hand: int = -1
    other: int = -1
    """The other body, where that is what touches; neither for the surroundings."""
    part: int = -1
    """Capsule of the hand, or surface of the surroundings."""
    link: int = -1
    """Of the hand."""
    local: Float[np.ndarray, "3"] = field(default_factory=lambda: np.zeros(3))
    """Point of what touches: in the link, from the other body's centre in its axes, or in the
    world, m."""
    anchor: Float[np.ndarray, "3"] = field(default_factory=lambda: np.zeros(3))
    """Point of the body, from its centre of mass, in its axes, m."""
    normal: Float[np.ndarray, "3"] = field(default_factory=lambda: np.zeros(3))
    """Into the body: in its axes for hands and bodies, in the world for surroundings."""
    friction: float = 0.0
    mode: ContactMode = ContactMode.STATIC
    drag: Float[np.ndarray, "3"] = field(default_factory=lambda: np.zeros(3))
    """Where friction pulls the body while it slides: unit length, in the world."""
    cap: float = np.inf
    """Largest normal force, N."""
    is_parted: bool = False
    """Whether it is too far apart for a force in this frame."""
    is_let_go: bool = False
    """Whether the hand does not try to keep it in its place: the grip is too weak for that."""
    is_stuck: bool = False
    """Whether it may not slide in this frame, in a contact with surroundings or another body."""
    is_pinned: bool = False
    """Whether it may not part in this frame: it then gives as much force as that takes."""
    curve: Float[np.ndarray, "3"] = field(default_factory=lambda: np.zeros(3))
    """By how much its motion was off the linear one when a frame was last solved, m/s."""
    moved: Float[np.ndarray, "3"] = field(default_factory=lambda: np.zeros(3))
    """Velocity of what touches over the body in the last frame, in the body's axes, m/s."""
    force: Float[np.ndarray, "3"] = field(default_factory=lambda: np.zeros(3))
    """Of the last frame, on the body, in the world, N."""

    @property
    def is_surrounding(self) -> bool:
        """Whether the surroundings touch."""
        return self.hand < 0 and self.other < 0


@dataclass(slots=True, eq=False)
class TouchRows:
    """All contacts of a frame as arrays; K contacts, N velocities, L force coefficients."""

    point: Float[np.ndarray, "K 3"]
    """Of the body, in the world, m."""
    offset: Float[np.ndarray, "K 3"]
    """From there to the point of what touches, m."""
    normal: Float[np.ndarray, "K 3"]
    """Into the body, in the world."""
    relative: Float[np.ndarray, "K 3 N"]
    """Velocity of what touches less that of the body by the velocities."""
    curve: Float[np.ndarray, "K 3"]
    """What is added to it because points move on curves, m/s."""
    edges: Float[np.ndarray, "L 3"]
    """Forces on the body that a unit of a coefficient gives."""
    owner: np.ndarray
    """(L,) contact of each coefficient."""

    def slip(self, velocity: Float[np.ndarray, " N"]) -> Float[np.ndarray, "K 3"]:
        """Velocities of what touches over the bodies' surfaces, m/s."""
        relative = self.relative @ velocity + self.curve
        along = np.einsum("ki,ki->k", relative, self.normal)
        return np.asarray(relative - along[:, None] * self.normal)

    def leaving(self, velocity: Float[np.ndarray, " N"]) -> Float[np.ndarray, " K"]:
        """Speeds with which what touches goes away from the bodies, m/s."""
        return np.asarray(
            -np.einsum("ki,ki->k", self.relative @ velocity + self.curve, self.normal)
        )


def touch_rows(
    world: World, touches: list[Touch], hands: list[HandState], bodies: list[BodyState]
) -> TouchRows:
    """Points, velocities and force directions of all contacts."""
    count = len(touches)
    relative = np.zeros((count, 3, world.num_velocities))
    body = np.array([touch.body for touch in touches], dtype=np.int64)
    other = np.array([touch.other for touch in touches], dtype=np.int64)
    hand = np.array([touch.hand for touch in touches], dtype=np.int64)
    turn = np.array([now.turn for now in bodies])
    center = np.array([now.center for now in bodies])
    firsts = np.array([part.first for part in world.bodies])
    if count == 0:
        nothing = np.zeros((0, 3))
        return TouchRows(nothing, nothing, nothing, relative, nothing, nothing, body)
    arm = np.einsum("kij,kj->ki", turn[body], np.array([touch.anchor for touch in touches]))
    point = center[body] + arm
    normal = np.array([touch.normal for touch in touches])
    is_fixed = (hand < 0) & (other < 0)
    normal = np.where(is_fixed[:, None], normal, np.einsum("kij,kj->ki", turn[body], normal))
    at = np.array([touching_point(touch, hands, bodies) for touch in touches])
    # Both sides are taken at the body's point, so that what the one gets the other gives.
    body_points_rows(firsts[body], arm, -1.0, relative)
    if (other >= 0).any():
        reach = point - center[np.maximum(other, 0)]
        body_points_rows(np.where(other >= 0, firsts[other], -1), reach, 1.0, relative)
    link = np.array([touch.link for touch in touches], dtype=np.int64)
    for h, (part, state) in enumerate(zip(world.hands, hands, strict=True)):
        which = np.flatnonzero(hand == h)
        hand_points_rows(
            part.tree, state.links, part.num_root, part.first, which, link, point, relative
        )
    edges, owner = force_edges(touches, normal)
    curve = np.array([touch.curve for touch in touches])
    return TouchRows(point, at - point, normal, relative, curve, edges, owner)


def mean_slip(
    touches: list[Touch],
    rows: TouchRows,
    velocity: Float[np.ndarray, " N"],
    bodies: list[BodyState],
) -> Float[np.ndarray, "K 3"]:
    """Slip halfway between the last frame and this one, m/s: what differences of poses show."""
    before = np.array([bodies[touch.body].turn @ touch.moved for touch in touches]).reshape(-1, 3)
    before -= np.einsum("ki,ki->k", before, rows.normal)[:, None] * rows.normal
    return 0.5 * (before + rows.slip(velocity))


def touching_point(
    touch: Touch, hands: list[HandState], bodies: list[BodyState]
) -> Float[np.ndarray, "3"]:
    """Point of what touches, in the world, m."""
    if touch.hand >= 0:
        links = hands[touch.hand].links
        return links.position[touch.link] + links.rotation[touch.link] @ touch.local
    if touch.other >= 0:
        other = bodies[touch.other]
        return other.center + other.turn @ touch.local
    return touch.local


def force_edges(
    touches: list[Touch], normal: Float[np.ndarray, "K 3"]
) -> tuple[Float[np.ndarray, "L 3"], np.ndarray]:
    """Directions that span the forces of contacts on bodies, and the contact of each.

    Figure 4 of the paper: a colliding contact pushes along the normal; a sliding one on the edge
    of the cone against the slip; a static one anywhere in a pyramid with its edges on the cone.
    """
    first, second = across(normal)
    edges, owner = [], []
    for k, touch in enumerate(touches):
        if touch.mode == ContactMode.COLLIDING or touch.friction == 0.0:
            edges.append(normal[k : k + 1])
        elif touch.mode == ContactMode.SLIDING:
            # The normal has turned since the slip was seen.
            along = touch.drag - (touch.drag @ normal[k]) * normal[k]
            along /= max(float(np.linalg.norm(along)), 1e-12)
            edges.append(normal[k : k + 1] + touch.friction * along)
        else:
            one, two = touch.friction * first[k], touch.friction * second[k]
            edges.append(normal[k] + np.array([one, -one, two, -two]))
        owner += [k] * len(edges[-1])
    return np.concatenate(edges), np.array(owner, dtype=np.int64)


def across(
    normal: Float[np.ndarray, "K 3"],
) -> tuple[Float[np.ndarray, "K 3"], Float[np.ndarray, "K 3"]]:
    """Two unit directions across each normal, by the formula of Duff et al. 2017."""
    x, y, z = normal.T
    sign = np.where(z >= 0.0, 1.0, -1.0)
    a = -1.0 / (sign + z)
    b = x * y * a
    first = np.stack([1.0 + sign * x * x * a, sign * b, -sign * x], axis=1)
    second = np.stack([b, sign + y * y * a, -y], axis=1)
    return first, second
