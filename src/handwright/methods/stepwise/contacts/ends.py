"""Where a frame ends: states after it, and how far contacts have truly moved.

The step is linear in velocities. Arms swing and bodies turn, so that what velocities do to a point
within a frame is off by their squares: some tenths of a millimetre in a quick frame, which is what
tells a contact that holds from one that slides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.methods.stepwise.contacts.contact_state import ContactArrays
from handwright.methods.stepwise.contacts.end_kernels import (
    carry_by_hand,
    contact_wrenches,
    motion_over_bodies,
)
from handwright.methods.stepwise.frame import Frame
from handwright.methods.stepwise.qp.step import StepSolution
from handwright.methods.stepwise.world import (
    BodyState,
    HandState,
    advance_body,
    advance_hand,
    body_poses,
)


class EndStates(NamedTuple):
    """States after a frame."""

    hands: list[HandState]
    bodies: list[BodyState]


def frame_ends(
    frame: Frame, rows: ContactArrays, solved: StepSolution, wrench: Float[np.ndarray, "B 6"]
) -> EndStates:
    """Moves copies of all states on by a frame.

    The wrench is force and moment on every body of all that is no contact and no weight.
    """
    world, which = frame.world, rows.which
    centers = frame.poses.center
    total = wrench + contact_wrenches(solved.force, rows.point, which.body, which.other, centers)
    ends = EndStates(
        [state.copy() for state in frame.hands],
        [now.copy() for now in frame.bodies],
    )
    for hand, state in zip(world.hands, ends.hands, strict=True):
        state.torque = solved.torque[hand.slice]
        advance_hand(hand, state, solved.velocity[hand.slice], frame.step)
    for n, (body, now) in enumerate(zip(world.bodies, ends.bodies, strict=True)):
        total[n, :3] += world.body_weights[n]
        advance_body(body, now, total[n, :3], total[n, 3:], frame.step)
    return ends


def true_motion(frame: Frame, rows: ContactArrays, ends: EndStates) -> Float[np.ndarray, "K 3"]:
    """Mean velocities in a frame of what touches over the bodies, in axes of its start, m/s.

    Both sides are followed from the body's point. Seen from the body where hands and bodies touch
    it, and from the world where environment do: their normals are fixed there.
    """
    moved = np.zeros((len(rows.point), 3))
    for h, (state, later) in enumerate(zip(frame.hands, ends.hands, strict=True)):
        carry_by_hand(h, rows.which, rows.point, state.links, later.links, moved)
    after = body_poses(ends.bodies)
    motion_over_bodies(rows.which, rows.point, rows.anchor, frame.poses, after, moved)
    return moved / frame.step
