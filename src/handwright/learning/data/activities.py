"""What hands do with things, one function for each activity.

Each goes on where the hand's clock is and sets it forward. Figures are those of unhurried people:
reaches of half a second to one, carries of some 0.4 m/s, pauses in between.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.learning.data.holds import Hold
from handwright.learning.data.paths import Move, Way
from handwright.learning.data.play import Actor, Play, Prop, Station, looseness
from handwright.learning.data.stage import MOUTH, TABLE_HEIGHT, UnnaturalError, arm_strain
from handwright.math import rotation
from handwright.math.pose import Pose

UP = np.array([0.0, 0.0, 1.0])
STRAIN = 4.0
"""Largest strain of an arm that still looks natural."""
_DRAWS = 12


def yawed(angle: float) -> Float[np.ndarray, "4"]:
    """A turn about the vertical, rad."""
    return rotation.exp(angle * UP)


def waiting_place(play: Play, side: str, place: Pose) -> Pose:
    """Where a hand may wait before it goes to a place, or after."""
    across = 1.0 if side == "right" else -1.0
    for _ in range(_DRAWS):
        back = np.array([-play.draw(0.06, 0.18), 0.0, play.draw(0.02, 0.10)])
        away = np.array([across * play.draw(-0.04, 0.12), -play.draw(0.0, 0.10), play.draw(0, 0.1)])
        position = place.position + rotation.rotate(place.wxyz, back) + away
        position[2] = max(position[2], TABLE_HEIGHT + 0.07)
        turn = np.radians([play.draw(-30, 30), play.draw(-20, 25), play.draw(-20, 20)])
        found = Pose.normalized(position, rotation.multiply(place.wxyz, rotation.exp(turn)))
        if arm_strain(side, found) < STRAIN:
            break
    return found


def enter(play: Play, side: str, name: str, hold: Hold) -> None:
    """A hand waits where it will reach for a thing, and does so."""
    prop = play.props[name]
    place = prop.carrier.end @ hold.wrist
    play.actors[side] = Actor([Station(waiting_place(play, side, place))])
    play.label(0.0, "reach")
    play.wait(side, 0.05, 0.4)
    reach(play, side, name, hold)


def reach(play: Play, side: str, name: str, hold: Hold, label: str = "reach") -> None:
    """A hand goes to a thing and closes."""
    actor, prop = play.actors[side], play.props[name]
    wrist = prop.turn.end @ hold.wrist
    distance = np.linalg.norm(play.wrist_at(side).position - (prop.carrier.end @ wrist).position)
    lasts = (0.40 + 1.3 * float(distance)) * play.draw(0.85, 1.3)
    start = actor.clock
    actor.ways.append(
        Way(
            start,
            start + lasts,
            leaving=np.array([-0.03, 0.0, 0.03]) if actor.hold else np.zeros(3),
            arriving=np.array([-play.draw(0.01, 0.04), 0.0, play.draw(0.015, 0.05)]),
            skew=play.draw(-0.05, 0.3),
            lead=play.draw(0.1, 0.35),
        )
    )
    play.label(start, label)
    play.label(start + lasts - 0.08, "grasp")
    actor.clock = start + lasts + play.draw(0.22, 0.45)
    actor.hold = hold
    actor.stations.append(Station(wrist, name, looseness(hold), since=start + lasts + 0.1))


def leave(play: Play, side: str, label: str = "retreat") -> None:
    """A hand opens and goes away from what it holds."""
    actor = play.actors[side]
    place = play.wrist_at(side)
    actor.stations[-1].until = actor.clock - 0.05
    target = waiting_place(play, side, place)
    distance = float(np.linalg.norm(target.position - place.position))
    lasts = (0.35 + 1.2 * distance) * play.draw(0.85, 1.3)
    actor.ways.append(
        Way(
            actor.clock,
            actor.clock + lasts,
            leaving=np.array([-play.draw(0.02, 0.04), 0.0, play.draw(0.015, 0.04)]),
            skew=play.draw(-0.2, 0.15),
        )
    )
    play.label(actor.clock, label)
    actor.stations.append(Station(target))
    actor.clock += lasts + play.draw(0.0, 0.2)
    actor.hold = None


def lift(play: Play, side: str, name: str) -> None:
    """A thing is lifted off the table."""
    actor, prop = play.actors[side], play.props[name]
    start, height = actor.clock, play.draw(0.05, 0.14)
    lasts = play.draw(0.45, 0.75)
    prop.carrier.add(Move(start, start + lasts, shift=height * UP, skew=play.draw(-0.1, 0.2)))
    prop.aloft.append((start, np.inf))
    play.label(start, "carry")
    # What follows begins before the lift is over.
    actor.clock = start + play.draw(0.55, 0.9) * lasts


def comfortable(
    play: Play, side: str, name: str, low: Float[np.ndarray, "3"], high: Float[np.ndarray, "3"]
) -> Pose:
    """A pose for a thing in the hand within a box that its arm reaches, turned with the arm."""
    prop, actor = play.props[name], play.actors[side]
    wrist = actor.stations[-1].place
    best, least = prop.carrier.end, np.inf
    for _ in range(_DRAWS):
        target = play.rng.uniform(low, high)
        yaw = np.radians(play.draw(-35, 35))
        found = Pose.normalized(target, rotation.multiply(yawed(yaw), prop.carrier.end.wxyz))
        strain = arm_strain(side, found @ wrist)
        if strain < least:
            best, least = found, strain
        if strain < 0.5 * STRAIN:
            break
    return best


def go(play: Play, side: str, name: str, target: Pose, *, pace: float = 0.42) -> None:
    """A thing is carried to a pose, in an arc, turning a little ahead of its way."""
    actor, prop = play.actors[side], play.props[name]
    shift = target.position - prop.carrier.end.position
    turn = prop.carrier.turn_to(target.wxyz)
    distance, angle = float(np.linalg.norm(shift)), float(np.linalg.norm(turn))
    lasts = (0.35 + max(distance / pace, angle / 2.2)) * play.draw(0.85, 1.25)
    arc = play.rng.normal(0.0, 0.10, 3) * distance
    arc[2] = abs(arc[2])
    start = actor.clock
    prop.carrier.add(
        Move(start, start + lasts, shift, turn, arc, play.draw(-0.1, 0.3), play.draw(0.0, 0.2))
    )
    actor.clock = start + play.draw(0.85, 1.0) * lasts


_NEAR, _FAR = np.array([-0.20, -0.08, 0.06]), np.array([0.28, 0.22, 0.26])


def _workspace(side: str) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest place of things above the table, for a hand, m."""
    low, high = _NEAR.copy(), _FAR.copy()
    if side == "left":
        low[0], high[0] = -_FAR[0], -_NEAR[0]
    return low, high


def carry(play: Play, side: str, name: str) -> None:
    """A thing is carried to another place in the air."""
    low, high = _workspace(side)
    over = np.array([0.0, 0.0, play.props[name].height])
    play.label(play.actors[side].clock, "carry")
    go(play, side, name, comfortable(play, side, name, low + over, high + over))
    play.wait(side, 0.0, 0.3)


def _pivoted(prop: Prop, wrist: Pose, turn: Float[np.ndarray, "3"], share: float) -> np.ndarray:
    """The shift of a thing that turns about a point towards the wrist, m."""
    arm = share * ((prop.carrier.end @ wrist).position - prop.carrier.end.position)
    return arm - rotation.rotate(rotation.exp(turn), arm)


def lean(
    play: Play,
    side: str,
    name: str,
    turn: Float[np.ndarray, "3"],
    label: str,
    to: Float[np.ndarray, "3"] | None = None,
) -> None:
    """A thing is tilted, stays so for a moment, and is put upright again.

    Args:
        play: In which it happens.
        side: The hand.
        name: Of the thing.
        turn: How far at most, a rotation vector in the world, rad.
        label: The activity.
        to: Where the thing is then, m; near where it is now if None.
    """
    actor, prop = play.actors[side], play.props[name]
    upright = prop.carrier.end
    if to is None:
        turn, shift = _within_reach(play, side, prop, turn)
    else:
        shift = to - upright.position
    angle = float(np.linalg.norm(turn))
    play.label(actor.clock, label)
    lasts = (0.3 + angle / 1.7) * play.draw(0.85, 1.25)
    prop.carrier.add(
        Move(actor.clock, actor.clock + lasts, shift, turn, skew=play.draw(-0.1, 0.25))
    )
    actor.clock += lasts
    if label in ("pour", "drink"):
        _linger(play, actor, prop, turn / angle)
    else:
        play.wait(side, 0.0, 0.35)
    turn, shift = prop.carrier.turn_to(upright.wxyz), upright.position - prop.carrier.end.position
    shift = shift + play.rng.normal(0.0, 0.015, 3)
    lasts = (0.3 + angle / 1.9) * play.draw(0.85, 1.2)
    prop.carrier.add(
        Move(actor.clock, actor.clock + lasts, shift, turn, skew=play.draw(-0.1, 0.25))
    )
    actor.clock += lasts * play.draw(0.85, 1.0)


def _within_reach(
    play: Play, side: str, prop: Prop, turn: Float[np.ndarray, "3"]
) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
    """A tilt that is no further than the arm can go, and the shift that goes with it."""
    wrist, upright = play.actors[side].stations[-1].place, prop.carrier.end
    share = play.draw(0.1, 0.6)
    for part in (1.0, 0.8, 0.6, 0.45):
        shift = _pivoted(prop, wrist, part * turn, share)
        wxyz = rotation.multiply(rotation.exp(part * turn), upright.wxyz)
        there = Pose.normalized(upright.position + shift, wxyz)
        if arm_strain(side, there @ wrist) < STRAIN:
            return part * turn, shift
    raise UnnaturalError("no arm tilts it so far")


def _linger(play: Play, actor: Actor, prop: Prop, axis: Float[np.ndarray, "3"]) -> None:
    """What flows decides how far a thing is tilted on, in a step or two."""
    for _ in range(int(play.rng.integers(1, 3))):
        lasts = play.draw(0.3, 0.6)
        turn = axis * np.radians(play.draw(-5, 14))
        prop.carrier.add(Move(actor.clock, actor.clock + lasts, turn=turn))
        actor.clock += lasts * play.draw(0.8, 1.2)


def tilt(play: Play, side: str, name: str) -> None:
    """A thing is tilted any way, as if to look at it."""
    heading = play.draw(0.0, 2.0 * np.pi)
    axis = np.array([np.cos(heading), np.sin(heading), 0.0])
    lean(play, side, name, np.radians(play.draw(18, 50)) * axis, "tilt")


def pour(play: Play, side: str, name: str) -> None:
    """A thing is tilted as far as it takes to pour from it."""
    prop = play.props[name]
    most = play.draw(30, 60) if prop.kind.has_spout else play.draw(50, 95)
    axis = pouring_axis(side, prop, prop.carrier.end, play.actors[side].stations[-1].place)
    lean(play, side, name, np.radians(most) * axis, "pour")


def pouring_axis(side: str, prop: Prop, pose: Pose, wrist: Pose) -> Float[np.ndarray, "3"]:
    """The level axis about which a thing is tilted to pour.

    Args:
        side: The hand.
        prop: The thing.
        pose: Of its carrier, upright.
        wrist: In the carrier.
    """
    if prop.kind.has_spout:
        return rotation.rotate(pose.wxyz, np.array([0.0, 1.0, 0.0]))
    # By the forearm: the thumb's side turns inwards and down.
    ahead = np.array([-1.0 if side == "right" else 1.0, 0.0, 0.0])
    axis = rotation.rotate((pose @ wrist).wxyz, ahead)
    axis = axis - (axis @ UP) * UP
    return axis / max(float(np.linalg.norm(axis)), 1e-9)


def drink(play: Play, side: str, name: str) -> None:
    """A thing is led to the mouth, tilted towards the person, and taken back."""
    prop, actor = play.props[name], play.actors[side]
    low, high = prop.bounds
    angle = np.radians(play.draw(25, 50))
    axis = np.array([1.0, 0.0, 0.0])
    back = prop.carrier.end
    rim = np.array([0.0, -0.8 * 0.5 * (high[1] - low[1]), high[2]])
    mouth = MOUTH + play.rng.normal(0.0, 0.015, 3)
    wrist = actor.stations[-1].place
    best, least = back, np.inf
    for yaw in np.radians([0.0, -20.0, 20.0, -40.0, 40.0]):
        wxyz = rotation.multiply(yawed(float(yaw)), back.wxyz)
        found = Pose.normalized(
            mouth - np.array([0.0, -0.02, 0.01]) - rotation.rotate(rotation.exp(angle * axis), rim),
            wxyz,
        )
        strain = arm_strain(side, found @ wrist)
        if strain < least:
            best, least = found, strain
    play.label(actor.clock, "drink")
    go(play, side, name, best, pace=0.6)
    lean(play, side, name, angle * axis, "drink")
    go(play, side, name, Pose(back.position + play.rng.normal(0, 0.02, 3), back.wxyz), pace=0.6)


def _turn_within(play: Play, side: str, name: str, angle: float, lasts: float) -> None:
    actor, prop = play.actors[side], play.props[name]
    prop.turn.add(
        Move(actor.clock, actor.clock + lasts, turn=angle * UP, skew=play.draw(-0.15, 0.25))
    )
    actor.clock += lasts


def turn(play: Play, side: str, name: str) -> None:
    """A thing is turned in the hand by the fingers, in a stroke or two."""
    play.label(play.actors[side].clock, "turn")
    way = 1.0 if play.rng.random() < 0.5 else -1.0
    for _ in range(int(play.rng.integers(1, 3))):
        degrees = play.draw(18, 42)
        _turn_within(play, side, name, way * np.radians(degrees), degrees / play.draw(40, 65))
        play.wait(side, 0.05, 0.35)


def fiddle(play: Play, side: str, name: str) -> None:
    """A thing is turned to and fro in the hand."""
    play.label(play.actors[side].clock, "fiddle")
    way = 1.0 if play.rng.random() < 0.5 else -1.0
    for _ in range(int(play.rng.integers(2, 5))):
        degrees = play.draw(8, 22)
        _turn_within(
            play, side, name, way * np.radians(degrees), 0.15 + degrees / play.draw(35, 60)
        )
        play.wait(side, 0.0, 0.25)
        way = -way


def spin(play: Play, side: str, name: str) -> None:
    """A thing is turned on the spot while it stands on the table, partly within the hand."""
    actor, prop = play.actors[side], play.props[name]
    wrist = actor.stations[-1].place
    play.label(actor.clock, "spin")
    way = 1.0 if play.rng.random() < 0.5 else -1.0
    for _ in range(int(play.rng.integers(1, 3))):
        most, within = play.draw(10, 35), play.draw(10, 40)
        for swing in (way * most, 0.5 * way * most, 0.0):
            pose = prop.carrier.end
            turned = rotation.multiply(yawed(float(np.radians(swing))), pose.wxyz)
            if arm_strain(side, Pose(pose.position, turned) @ wrist) < STRAIN:
                break
        lasts = (abs(swing) + within) / play.draw(55, 90) + 0.2
        start = actor.clock
        prop.carrier.add(Move(start, start + lasts, turn=np.radians(swing) * UP))
        _turn_within(play, side, name, way * np.radians(within), lasts)
        play.wait(side, 0.05, 0.3)


def put_down(play: Play, side: str, name: str) -> None:
    """A thing is brought over some place of the table and stood there."""
    actor, prop = play.actors[side], play.props[name]
    low, high = _workspace(side)
    low[2] = high[2] = prop.height
    there = comfortable(play, side, name, low, high)
    shift, turn_ = there.position - prop.carrier.end.position, prop.carrier.turn_to(_level(there))
    fall = shift[2]
    shift[2] = 0.0
    play.label(actor.clock, "put_down")
    lasts = (0.35 + float(np.linalg.norm(shift)) / 0.40) * play.draw(0.9, 1.25)
    start = actor.clock
    prop.carrier.add(
        Move(start, start + lasts, shift, turn_, skew=play.draw(0.0, 0.3), lead=play.draw(0, 0.2))
    )
    sinks = max(0.45, abs(fall) / 0.25) * play.draw(0.9, 1.2)
    # It sinks while it goes, and comes down straight.
    begin = start + max(0.0, lasts + 0.12 - sinks)
    prop.carrier.add(Move(begin, begin + sinks, shift=fall * UP, skew=play.draw(0.0, 0.3)))
    actor.clock = begin + sinks
    prop.aloft[-1] = (prop.aloft[-1][0], actor.clock)
    play.wait(side, 0.12, 0.3)


def _level(pose: Pose) -> Float[np.ndarray, "4"]:
    """An orientation with its z axis up, reached from another the shortest way."""
    axis = rotation.rotate(pose.wxyz, UP)
    return rotation.multiply(rotation.between(axis, UP), pose.wxyz)
