"""Where a frame ends: states after it, and how far contacts have truly moved.

The step is linear in velocities. Arms swing and bodies turn, so that what velocities do to a point
within a frame is off by their squares: some tenths of a millimetre in a quick frame, which is what
tells a contact that holds from one that slides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.methods.stepwise.contacts.end_kernels import (
    carry_by_hand,
    contact_wrenches,
    motion_over_bodies,
)
from handwright.methods.stepwise.contacts.touches import TouchRows
from handwright.methods.stepwise.qp.step import Solved
from handwright.methods.stepwise.world import (
    BodyState,
    HandState,
    World,
    advance_body,
    advance_hand,
    stacked,
)


class Ends(NamedTuple):
    """States after a frame."""

    hands: list[HandState]
    bodies: list[BodyState]


def frame_ends(
    world: World,
    hands: list[HandState],
    bodies: list[BodyState],
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
        rows: Contacts.
        solved: Velocities and forces of the frame.
        wrench: Of all that is no contact and no weight, on every body.
        step: s.
    """
    centers = np.array([now.center for now in bodies]).reshape(-1, 3)
    total = wrench + contact_wrenches(solved.force, rows.point, rows.body, rows.other, centers)
    ends = Ends(
        [state.copy() for state in hands],
        [now.copy() for now in bodies],
    )
    for hand, state in zip(world.hands, ends.hands, strict=True):
        state.torque = solved.torque[hand.slice]
        advance_hand(hand, state, solved.velocity[hand.slice], step)
    for n, (body, now) in enumerate(zip(world.bodies, ends.bodies, strict=True)):
        total[n, :3] += body.body.mass * world.gravity
        advance_body(body, now, total[n, :3], total[n, 3:], step)
    return ends


def true_motion(
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
    moved = np.zeros((len(rows.point), 3))
    for h, (state, later) in enumerate(zip(hands, ends.hands, strict=True)):
        carry_by_hand(h, rows.hand, rows.link, rows.point, state.links, later.links, moved)
    motion_over_bodies(
        rows.body,
        rows.hand,
        rows.other,
        rows.point,
        rows.anchor,
        *stacked(bodies),
        *stacked(ends.bodies),
        moved,
    )
    return moved / step
