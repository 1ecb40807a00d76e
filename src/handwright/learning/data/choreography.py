"""From a script to tracks of wrists and things that a person could have made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path as FilePath

import numpy as np

from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.hands import human
from handwright.learning.data import activities as act
from handwright.learning.data.holds import Hold, holds_of
from handwright.learning.data.paths import Path
from handwright.learning.data.play import Play, Prop
from handwright.learning.data.script import Script
from handwright.learning.data.stage import TABLE_HEIGHT, arm_strain, standing_height, work_table
from handwright.math.pose import Pose

ACTS: dict[str, Callable[[Play, str, str], None]] = {
    "carry": act.carry,
    "tilt": act.tilt,
    "pour": act.pour,
    "drink": act.drink,
    "turn": act.turn,
    "fiddle": act.fiddle,
}
# How far a thing may sink into the table, m.
_SUNK = 2e-4
_YAWS = 16


class UnnaturalError(Exception):
    """A play that no person could perform."""


def stage_script(script: Script, folder: FilePath, rng: np.random.Generator) -> Play:
    """Thinks out a motion."""
    name = script.kind.shape
    holds = holds_of(script.kind, script.thing, folder)
    if not holds:
        raise UnnaturalError("no hold")
    place = rng.uniform([-0.10, 0.0], [0.20, 0.20])
    if script.side == "left":
        place[0] = -place[0]
    prop = Prop(script.kind, script.thing, holds, Path(Pose.identity()))
    play = Play(rng, {name: prop})
    hold = suitable_hold(play, script.side, prop, script.acts)
    height = standing_height(script.thing.body())
    prop.carrier = Path(comfortable_start(play, script.side, hold, np.array([*place, height])))
    act.enter(play, script.side, name, hold)
    act.lift(play, script.side, name)
    for name_of_act in script.acts:
        ACTS[name_of_act](play, script.side, name)
    if not script.ends_aloft:
        act.put_down(play, script.side, name)
        act.leave(play, script.side)
    else:
        play.wait(script.side, 0.1, 0.4)
    return play


def suitable_hold(play: Play, side: str, prop: Prop, acts: tuple[str, ...]) -> Hold:
    """One of the holds that serve what will be done."""
    holds = prop.holds_by(side)
    if {"turn", "fiddle", "spin"} & set(acts):
        holds = [hold for hold in holds if hold.grip in ("above", "side", "pinch")] or holds
    if {"drink", "pour"} & set(acts):
        holds = [hold for hold in holds if hold.grip not in ("above", "pinch")] or holds
    return holds[int(play.rng.integers(len(holds)))]


def comfortable_start(play: Play, side: str, hold: Hold, place: np.ndarray) -> Pose:
    """Where a thing stands so that a hand can take it: one of the better yaws."""
    first = play.draw(0.0, 2.0 * np.pi)
    yaws = first + 2.0 * np.pi * np.arange(_YAWS) / _YAWS
    poses = [Pose(place, act.yawed(float(yaw))) for yaw in yaws]
    strains = np.array([arm_strain(side, pose @ hold.wrist) for pose in poses])
    good = np.flatnonzero(strains <= strains.min() + 0.5)
    if strains.min() > act.STRAIN:
        raise UnnaturalError("out of the arm's range")
    return poses[int(play.rng.choice(good))]


def problem_of(play: Play, name: str) -> Problem:
    """The problem that a play poses: all tracks are given, the fingers are wanted."""
    times, poses = play.times(), play.tracks()
    for key, prop in play.props.items():
        low = poses[key][:, None].apply(prop.body.vertices)[..., 2].min()
        if low < TABLE_HEIGHT - _SUNK:
            raise UnnaturalError("through the table")
    return Problem(
        name=name,
        times=times,
        hands={side: human(side) for side in play.actors},  # type: ignore[arg-type]
        bodies={key: prop.body for key, prop in play.props.items()},
        tracks={key: Track(times, pose) for key, pose in poses.items()},
        environment=(work_table(),),
    )
