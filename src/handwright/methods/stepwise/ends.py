"""Where a frame ends: states after it, and how far contacts have truly moved.

The step is linear in velocities. Arms swing and bodies turn, so that what velocities do to a point
within a frame is off by their squares: some tenths of a millimetre in a quick frame, which is what
tells a contact that holds from one that slides.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.kinematics.tree import Links
from handwright.methods.stepwise.step import Solved
from handwright.methods.stepwise.touches import Touch, TouchRows
from handwright.methods.stepwise.world import (
    BodyState,
    HandState,
    World,
    advance_body,
    advance_hand,
)


class Ends(NamedTuple):
    """States after a frame."""

    hands: list[HandState]
    bodies: list[BodyState]


def frame_ends(
    world: World,
    hands: list[HandState],
    bodies: list[BodyState],
    touches: list[Touch],
    rows: TouchRows,
    solved: Solved,
    wrench: Float[np.ndarray, "B 6"],
    step: float,
) -> Ends:
    """Moves copies of all states on by a frame.

    Args:
        world: What does not change.
        hands: Before the frame.
        bodies: Before the frame.
        touches: Contacts.
        rows: The same as arrays.
        solved: Velocities and forces of the frame.
        wrench: Of all that is no contact and no weight, on every body.
        step: s.
    """
    total = wrench.copy()
    for owners, sign in (
        (np.array([touch.body for touch in touches], dtype=np.int64), 1.0),
        (np.array([touch.other for touch in touches], dtype=np.int64), -1.0),
    ):
        for n, now in enumerate(bodies):
            force = sign * solved.force[owners == n]
            total[n, :3] += force.sum(axis=0)
            # The part of ``arm f'`` that is its own mirror image is no moment.
            outer = (rows.point[owners == n] - now.center).T @ force
            total[n, 3] += outer[1, 2] - outer[2, 1]
            total[n, 4] += outer[2, 0] - outer[0, 2]
            total[n, 5] += outer[0, 1] - outer[1, 0]
    ends = Ends(
        [replace(state, links=Links(*(part.copy() for part in state.links))) for state in hands],
        [replace(now) for now in bodies],
    )
    for hand, state in zip(world.hands, ends.hands, strict=True):
        state.torque = solved.torque[hand.slice]
        advance_hand(hand, state, solved.velocity[hand.slice], step)
    for n, (body, now) in enumerate(zip(world.bodies, ends.bodies, strict=True)):
        total[n, :3] += body.body.mass * world.gravity
        advance_body(body, now, total[n, :3], total[n, 3:], step)
    return ends


def true_motion(
    touches: list[Touch],
    rows: TouchRows,
    hands: list[HandState],
    bodies: list[BodyState],
    ends: Ends,
    step: float,
) -> Float[np.ndarray, "K 3"]:
    """Mean velocities in a frame of what touches over the bodies, in axes of its start, m/s.

    Both sides are followed from the body's point. Seen from the body where hands and bodies touch
    it, and from the world where surroundings do: their normals are fixed there.
    """
    moved = np.zeros((len(touches), 3))
    for k, touch in enumerate(touches):
        point, now, then = rows.point[k], bodies[touch.body], ends.bodies[touch.body]
        if touch.is_surrounding:
            moved[k] = point - (then.center + then.turn @ touch.anchor)
            continue
        if touch.hand >= 0:
            start, end = hands[touch.hand].links, ends.hands[touch.hand].links
            local = start.rotation[touch.link].T @ (point - start.position[touch.link])
            at = end.position[touch.link] + end.rotation[touch.link] @ local
        else:
            other, later = bodies[touch.other], ends.bodies[touch.other]
            at = later.center + later.turn @ (other.turn.T @ (point - other.center))
        moved[k] = now.turn @ (then.turn.T @ (at - then.center) - touch.anchor)
    return moved / step
