"""What two hands do together: one gives a thing to the other, or pours for it."""

from __future__ import annotations

from itertools import product

import numpy as np
from jaxtyping import Float

from handwright.learning.data import activities as act
from handwright.learning.data.handovers import Handover, handover
from handwright.learning.data.holds import Hold
from handwright.learning.data.play import Actor, Play, Prop, Station
from handwright.learning.data.stage import MEETING, UnnaturalError, arm_strain
from handwright.math import rotation
from handwright.math.pose import Pose


def other_side(side: str) -> str:
    """The other hand."""
    return "left" if side == "right" else "right"


def pass_over(play: Play, side: str, name: str) -> str:
    """A thing is handed over: for a moment both hands hold it. Returns the hand that has it."""
    taker, prop, giver = other_side(side), play.props[name], play.actors[side]
    there, hold = _meeting(play, side, name)
    play.label(giver.clock, "carry")
    act.go(play, side, name, there)
    actor = play.actors.get(taker)
    wrist = prop.carrier.end @ prop.turn.end @ hold.wrist
    if actor is None:
        actor = play.actors[taker] = Actor([Station(act.waiting_place(play, taker, wrist))])
    # The other hand sets out while the thing is still on its way.
    actor.clock = max(actor.clock, giver.clock - play.draw(0.35, 0.7))
    act.reach(play, taker, name, hold, label="pass")
    giver.clock = max(giver.clock, actor.clock + play.draw(0.05, 0.25))
    released = giver.clock
    act.leave(play, side, label="pass")
    actor.clock = released + play.draw(0.25, 0.45)
    play.label(actor.clock, "carry")
    return taker


def _meeting(play: Play, side: str, name: str) -> tuple[Pose, Hold]:
    """Where a thing changes hands, and how the other hand takes it."""
    now = play.actors[side].hold
    found = None if now is None else handover_from(play.props[name], side, now)
    if found is None:
        raise UnnaturalError("two hands do not fit on it")
    place = MEETING + play.rng.uniform([-0.04, -0.05, -0.05], [0.04, 0.05, 0.05])
    return Pose(place, found.turn), found.taker


def handover_from(prop: Prop, side: str, hold: Hold) -> Handover | None:
    """How a thing leaves a hand that holds it in one of its known ways; None if it cannot."""
    same = [i for i, known in enumerate(prop.holds) if np.array_equal(known.q, hold.q)]
    if not same:
        return None
    return handover(prop.thing, prop.holds[same[0]], same[0], prop.kind.mirror, side)


def pour_over(play: Play, pourer: tuple[str, str], receiver: tuple[str, str]) -> None:
    """One hand pours from what it has into what the other hand holds.

    Args:
        play: In which both things are in the hands, on the table.
        pourer: The hand that pours, and what it pours from.
        receiver: The other hand, and what it has.
    """
    for side, name in (pourer, receiver):
        act.lift(play, side, name)
    (side, name), (partner, cup_name) = pourer, receiver
    cup, pot = play.props[cup_name], play.props[name]
    cup_place = _held_out(play, partner, cup_name)
    act.go(play, partner, cup_name, cup_place)
    turn, there = _over(play, side, pot, cup, cup_place)
    before = there.position + np.array([0.0, 0.0, 0.05]) + play.rng.normal(0.0, 0.01, 3)
    act.go(play, side, name, Pose(before, there.wxyz))
    both = [play.actors[side], play.actors[partner]]
    both[0].clock = max(both[0].clock, both[1].clock - 0.3)
    act.lean(play, side, name, turn, "pour", to=there.position)
    both[1].clock = max(both[1].clock, both[0].clock - play.draw(0.2, 0.6))


def _held_out(play: Play, side: str, name: str) -> Pose:
    """Where a hand holds a thing that the other hand shall pour into."""
    prop = play.props[name]
    across = 1.0 if side == "right" else -1.0
    low = np.array([0.02 * across, 0.02, prop.height + 0.05])
    high = np.array([0.12 * across, 0.14, prop.height + 0.12])
    return act.comfortable(play, side, name, np.minimum(low, high), np.maximum(low, high))


def _over(
    play: Play, side: str, pot: Prop, cup: Prop, cup_place: Pose
) -> tuple[Float[np.ndarray, "3"], Pose]:
    """How a thing is tilted to pour into another: the turn, and where it is then."""
    wrist = play.actors[side].stations[-1].place
    low, high = pot.bounds
    rim = cup_place.position + np.array([0.0, 0.0, float(cup.bounds[1, 2])])
    target = rim + np.array([0.0, 0.0, play.draw(0.02, 0.04)])
    upright, angle = pot.carrier.end, np.radians(play.draw(40.0, 65.0))
    if pot.kind.has_spout:
        lip = np.array([high[0], 0.0, low[2] + 0.74 * (high[2] - low[2])])
    else:
        lip, angle = np.array([0.0, 0.0, high[2]]), np.radians(play.draw(75.0, 105.0))
    best, least = None, np.inf
    for yaw, part in product(np.radians([0.0, -25.0, 25.0, -50.0, 50.0]), (1.0, 0.8)):
        wxyz = rotation.multiply(act.yawed(float(yaw)), upright.wxyz)
        axis = act.pouring_axis(side, pot, Pose(upright.position, wxyz), wrist)
        turn = part * angle * axis
        tilted = rotation.multiply(rotation.exp(turn), wxyz)
        there = Pose.normalized(target - rotation.rotate(tilted, lip), tilted)
        strain = arm_strain(side, there @ wrist)
        if strain < least:
            best, least = (turn, there, wxyz), strain
    if best is None or least > act.STRAIN:
        raise UnnaturalError("no arm pours there")
    return best[0], Pose(best[1].position, best[2])
