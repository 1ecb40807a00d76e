"""From a script to tracks of wrists and things that a person could have made."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from handwright.learning.data import activities as act
from handwright.learning.data.holds import Hold, holds_of
from handwright.learning.data.pairs import handover_from, pass_over, pour_over
from handwright.learning.data.paths import Path
from handwright.learning.data.play import Play, Prop
from handwright.learning.data.script import Script
from handwright.learning.data.stage import UnnaturalError, arm_strain
from handwright.math.pose import Pose

ALOFT: dict[str, Callable[[Play, str, str], None]] = {
    "carry": act.carry,
    "tilt": act.tilt,
    "pour": act.pour,
    "drink": act.drink,
    "turn": act.turn,
    "fiddle": act.fiddle,
}
"""What is done with a thing in the air, by one hand."""
_BY_FINGERTIPS = ("turn", "fiddle", "spin")
_BY_FORCE = ("drink", "pour")
_REGRASPS = ("regrasp", "pass")
_YAWS = 16


def stage_script(script: Script, rng: np.random.Generator) -> Play:
    """Thinks out a motion.

    Args:
        script: What happens.
        rng: For all that the script leaves open.
    """
    props = {}
    for kind, thing in zip(script.kinds, script.things, strict=True):
        holds = holds_of(kind, thing)
        if not holds:
            raise UnnaturalError("no hand can hold it")
        name = kind.shape if kind.shape not in props else f"other_{kind.shape}"
        props[name] = Prop(kind, thing, holds, Path(Pose.identity()))
    play = Play(rng, props)
    if len(props) == 1:
        _one_thing(play, script)
    else:
        _two_things(play, script)
    return play


def _one_thing(play: Play, script: Script) -> None:
    (name,) = play.props
    side = script.side
    place_prop(play, side, name, script.acts)
    for number, what in enumerate(script.acts):
        later = script.acts[number + 1 :]
        if what == "spin":
            if play.props[name].is_aloft:
                _stand(play, side, name)
            act.spin(play, side, name)
        elif what == "regrasp":
            if not play.props[name].is_aloft:
                act.lift(play, side, name)
            _stand(play, side, name)
            act.reach(play, side, name, other_hold(play, side, name, later), label="regrasp")
            act.lift(play, side, name)
        else:
            if not play.props[name].is_aloft:
                act.lift(play, side, name)
            if what == "pass":
                side = pass_over(play, side, name)
                if not later:
                    act.carry(play, side, name)
            else:
                ALOFT[what](play, side, name)
    if play.props[name].is_aloft:
        if script.ends_aloft or not act.leaves_table_free(play, side, name):
            play.wait(side, 0.1, 0.4)
            return
        act.put_down(play, side, name)
    act.leave(play, side)


def _stand(play: Play, side: str, name: str) -> None:
    if not act.leaves_table_free(play, side, name):
        raise UnnaturalError("the table is in the way of the hand")
    act.put_down(play, side, name)


def _two_things(play: Play, script: Script) -> None:
    one, other = play.props
    partner = "left" if script.side == "right" else "right"
    place_prop(play, script.side, one, script.acts)
    place_prop(play, partner, other, ("receive",))
    pour_over(play, (script.side, one), (partner, other))
    for side, name in ((script.side, one), (partner, other)):
        act.put_down(play, side, name)
        act.leave(play, side)


def place_prop(play: Play, side: str, name: str, acts: Sequence[str]) -> None:
    """Stands a thing where a hand can take it, and has the hand do so."""
    prop = play.props[name]
    across = 1.0 if side == "right" else -1.0
    nearest = -0.10 if len(play.props) == 1 else 0.06
    place = play.rng.uniform([nearest, 0.0], [0.22, 0.20]) * [across, 1.0]
    at = np.array([*place, prop.height])
    holds = _serving(prop.holds_by(side), acts)
    for index in play.rng.permutation(len(holds)).tolist():
        hold = holds[index]
        if acts[0] == "pass" and handover_from(prop, side, hold) is None:
            continue
        start = comfortable_start(play, side, hold, at)
        if start is not None:
            prop.carrier = Path(start)
            act.enter(play, side, name, hold)
            return
    raise UnnaturalError("no arm reaches it where it stands")


def _serving(holds: list[Hold], acts: Sequence[str]) -> list[Hold]:
    """The holds that serve what is done up to the next change of hold; all if none does."""
    until = next((i for i, what in enumerate(acts) if what in _REGRASPS), len(acts))
    now = set(acts[:until])
    if now & set(_BY_FINGERTIPS):
        holds = [hold for hold in holds if hold.grip in ("above", "side", "pinch")] or holds
    if now & set(_BY_FORCE):
        holds = [hold for hold in holds if hold.grip not in ("above", "pinch")] or holds
    return holds


def comfortable_start(play: Play, side: str, hold: Hold, place: np.ndarray) -> Pose | None:
    """How a thing stands so that a hand can take it: turned in one of the better ways, if any."""
    first = play.draw(0.0, 2.0 * np.pi)
    yaws = first + 2.0 * np.pi * np.arange(_YAWS) / _YAWS
    poses = [Pose(place, act.yawed(float(yaw))) for yaw in yaws]
    strains = np.array([arm_strain(side, pose @ hold.wrist) for pose in poses])
    if strains.min() > act.STRAIN:
        return None
    good = np.flatnonzero(strains <= strains.min() + 0.5)
    return poses[int(play.rng.choice(good))]


def other_hold(play: Play, side: str, name: str, acts: Sequence[str]) -> Hold:
    """Another hold of a thing that stands on the table, within reach of the arm."""
    prop, now = play.props[name], play.wrist_at(side)
    standing = prop.carrier.end @ prop.turn.end
    good = []
    for hold in prop.holds_around(side):
        there = standing @ hold.wrist
        differs = np.linalg.norm(there.position - now.position) > 0.025
        if differs and arm_strain(side, there) < 0.75 * act.STRAIN:
            good.append(hold)
    if not good:
        raise UnnaturalError("no arm reaches another hold")
    serving = _serving(good, acts)
    return serving[int(play.rng.integers(len(serving)))]
