"""Where a frame ends: states after it, and how far contacts have truly moved.

The step is linear in velocities. Arms swing and bodies turn, so that what velocities do to a point
within a frame is off by their squares: some tenths of a millimetre in a quick frame, which is what
tells a contact that holds from one that slides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.kernels.decorators import compiled, inlined, kernel
from handwright.kinematics.tree import Links
from handwright.methods.stepwise.contacts.contact_kernels import ContactIndices
from handwright.methods.stepwise.contacts.contact_state import ContactArrays
from handwright.methods.stepwise.frame import Frame
from handwright.methods.stepwise.qp.step import StepSolution
from handwright.methods.stepwise.vectors import (
    crossed,
    minus,
    plus,
    times,
    turned,
    turned_back,
    vector,
)
from handwright.methods.stepwise.world import (
    BodyPoses,
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


@compiled
def contact_wrenches(
    force: Float[np.ndarray, "K 3"],
    point: Float[np.ndarray, "K 3"],
    body: np.ndarray,
    other: np.ndarray,
    center: Float[np.ndarray, "B 3"],
) -> Float[np.ndarray, "B 6"]:
    """Forces and moments about centres of mass of all contacts, on every body.

    Args:
        force: Forces on ``body``, N.
        point: Where they act, m.
        body: (K,) body that gets the force.
        other: (K,) body that gets the opposite; -1 for none.
        center: Centres of mass, m.
    """
    wrench = np.zeros((len(center), 6))
    for k in range(len(force)):
        for n, sign in ((body[k], 1.0), (other[k], -1.0)):
            if n < 0:
                continue
            push = times(sign, force[k])
            moment = crossed(minus(point[k], center[n]), push)
            for i in range(3):
                wrench[n, i] += push[i]
                wrench[n, 3 + i] += moment[i]
    return wrench


@inlined
def _carried(
    turn: np.ndarray,
    place: np.ndarray,
    later_turn: np.ndarray,
    later_place: np.ndarray,
    point: np.ndarray,
) -> tuple[float, float, float]:
    """Where a point is later that moves with a frame."""
    return plus(later_place, turned(later_turn, turned_back(turn, minus(point, place))))


@kernel
def carry_by_hand(
    h: int,
    which: ContactIndices,
    point: np.ndarray,
    links: Links,
    later: Links,
    at: np.ndarray,
) -> None:
    """Writes where points (K, 3) that move with links of hand ``h`` are later."""
    for k in range(which.hand.shape[0]):
        if which.hand[k] == h:
            n = which.link[k]
            at[k] = _carried(
                links.rotation[n], links.position[n], later.rotation[n], later.position[n], point[k]
            )


@kernel
def motion_over_bodies(
    which: ContactIndices,
    point: Float[np.ndarray, "K 3"],
    anchor: Float[np.ndarray, "K 3"],
    bodies: BodyPoses,
    later: BodyPoses,
    at: Float[np.ndarray, "K 3"],
) -> None:
    """Motion within a frame of what touches over the bodies, in axes of its start, m.

    Args:
        which: What touches what.
        point: Where the bodies are touched when the frame begins, m.
        anchor: The same points from the bodies' centres of mass in their axes, m.
        bodies: Where all bodies are when the frame begins.
        later: Where they are when it ends.
        at: Where points of hands are when it ends, m; becomes the motion.
    """
    center, turn = bodies.center, bodies.rotation
    later_center, later_turn = later.center, later.rotation
    for k in range(which.body.shape[0]):
        b, o = which.body[k], which.other[k]
        if which.hand[k] < 0 and o < 0:
            at[k] = minus(point[k], plus(later_center[b], turned(later_turn[b], anchor[k])))
            continue
        place = vector(at[k])
        if o >= 0:
            place = _carried(turn[o], center[o], later_turn[o], later_center[o], point[k])
        seen = turned_back(later_turn[b], minus(place, later_center[b]))
        at[k] = turned(turn[b], minus(seen, anchor[k]))
