"""Contacts while stepping: anchors on both sides, the mode, and the forces that it allows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from handwright.core.contact import ContactMode
from handwright.methods.stepwise.point_rows import body_point_rows, hand_point_rows
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
    force: Float[np.ndarray, "3"] = field(default_factory=lambda: np.zeros(3))
    """Of the last frame, on the body, in the world, N."""
    age: int = 0
    """Frames since it began."""

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
    edges: Float[np.ndarray, "L 3"]
    """Forces on the body that a unit of a coefficient gives."""
    owner: np.ndarray
    """(L,) contact of each coefficient."""


def touching_point(
    world: World, touch: Touch, hands: list[HandState], bodies: list[BodyState]
) -> Float[np.ndarray, "3"]:
    """Point of what touches, in the world, m."""
    if touch.hand >= 0:
        links = hands[touch.hand].links
        return links.position[touch.link] + links.rotation[touch.link] @ touch.local
    if touch.other >= 0:
        other = bodies[touch.other]
        return other.center + other.turn @ touch.local
    return touch.local


def touch_rows(
    world: World, touches: list[Touch], hands: list[HandState], bodies: list[BodyState]
) -> TouchRows:
    """Points, velocities and force directions of all contacts."""
    count, width = len(touches), world.num_velocities
    point, offset, normal = np.zeros((count, 3)), np.zeros((count, 3)), np.zeros((count, 3))
    relative = np.zeros((count, 3, width))
    edges, owner = [], []
    for k, touch in enumerate(touches):
        body = bodies[touch.body]
        arm = body.turn @ touch.anchor
        point[k] = body.center + arm
        at = touching_point(world, touch, hands, bodies)
        offset[k] = at - point[k]
        normal[k] = touch.normal if touch.is_surrounding else body.turn @ touch.normal
        # Both sides are taken at the body's point, so that what the one gets the other gives.
        place = point[k]
        body_point_rows(world.bodies[touch.body].first, *arm, -1.0, relative[k])
        if touch.hand >= 0:
            hand, state = world.hands[touch.hand], hands[touch.hand]
            hand_point_rows(
                hand.tree,
                state.links,
                hand.num_root,
                hand.first,
                touch.link,
                *place,
                1.0,
                relative[k],
            )
        elif touch.other >= 0:
            reach = place - bodies[touch.other].center
            body_point_rows(world.bodies[touch.other].first, *reach, 1.0, relative[k])
        directions = force_edges(touch, normal[k])
        edges.append(directions)
        owner += [k] * len(directions)
    return TouchRows(
        point,
        offset,
        normal,
        relative,
        np.concatenate(edges) if edges else np.zeros((0, 3)),
        np.array(owner, dtype=np.int64),
    )


def force_edges(touch: Touch, normal: Float[np.ndarray, "3"]) -> Float[np.ndarray, "E 3"]:
    """Directions that span the forces of a contact on the body: eq. 6 and figure 4 of the paper.

    A colliding contact pushes along the normal; a sliding one on the edge of the cone against the
    slip; a static one anywhere in a pyramid with its edges on the cone.
    """
    if touch.mode == ContactMode.COLLIDING or touch.friction == 0.0:
        return normal[None]
    if touch.mode == ContactMode.SLIDING:
        return (normal + touch.friction * touch.drag)[None]
    first, second = across(normal)
    mu = touch.friction
    return normal + mu * np.stack([first, -first, second, -second])


def across(
    normal: Float[np.ndarray, "3"],
) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
    """Two unit directions across a normal."""
    axis = np.zeros(3)
    axis[np.argmin(np.abs(normal))] = 1.0
    first = np.cross(normal, axis)
    first /= np.linalg.norm(first)
    return first, np.cross(normal, first)
