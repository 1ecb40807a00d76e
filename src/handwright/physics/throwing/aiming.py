"""Throws that lead somewhere: up to a height, or to a box and back into the hand."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.physics.throwing.arm_ik import PREFERRED
from handwright.physics.throwing.catching import (
    COMFORTABLE,
    LOOK,
    catch_at,
    discomfort,
    is_in_reach,
    palm_up,
)
from handwright.physics.throwing.flight import FALL, GRAVITY, Flight, Rebound
from handwright.physics.throwing.machine import Machine, Throw
from handwright.physics.throwing.segments import PalmPath
from handwright.physics.throwing.targets import BoxPath


def throw_for_height(machine: Machine, height: float) -> Throw:
    """The throw that takes a thing's centre up to a height above the hollow of the palm at home.

    Args:
        machine: That throws.
        height: m.
    """
    settings = machine.settings
    rest = height - settings.long_stroke - machine.reach
    velocity = np.array([0.0, 0.0, np.sqrt(2.0 * GRAVITY * max(rest, 0.02))])
    return Throw(
        velocity,
        np.array([settings.lift, 0.0, 0.0]),
        opening=settings.opening,
        stroke=settings.long_stroke,
    )


@dataclass(frozen=True, slots=True)
class BoxAim:
    """How a box is hit."""

    home: Pose
    """Where the throw begins and ends."""
    throw: Throw


# Flight times to the box that are tried, s, and how far the hand goes along with it sideways.
_TIMES = np.arange(0.11, 0.45, 0.02)
_SIDEWAYS, _MOST_SIDEWAYS = (0.5, 0.8, 1.0), 0.26
# How far hands draw back for a flat throw, along y and z, m.
_BACK_OFF = ((0.0, 0.0), (-0.09, -0.03))
# A catch must come so long after the impact at least, s, and so often it is looked for.
_REACTION, _LOOKS = 0.15, 40
# A catch sooner than this after the impact is hurried, s.
_UNHURRIED = 0.30
# Speed of a throw at most, and its parts ahead and up at least, m/s.
_FASTEST, _LEAST = 5.0, 0.3
# Largest error of the arm at the end of a stroke, m.
_OFF_PATH = 0.004
_FACE = np.array([0.0, -1.0, 0.0])
_UP = np.array([0.0, 0.0, 1.0])
# From home to where a hand likes to catch what comes off a box, m.
_CATCHES = np.array([0.0, 0.06, 0.10])
_REBOUND = Rebound()


class _Tries(NamedTuple):
    """Throws that might do."""

    home: Float[np.ndarray, "N 3"]
    velocity: Float[np.ndarray, "N 3"]
    lasts: Float[np.ndarray, " N"]
    impact: Float[np.ndarray, "N 3"]
    """Of the thing's centre when it touches the face, m."""
    moves: Float[np.ndarray, "N 3"]
    """Velocity of the box then, m/s."""


def aim_at_box(
    machine: Machine,
    box: BoxPath,
    half: float,
    *,
    rebound: Rebound = _REBOUND,
    start: float = 0.0,
    home: Pose | None = None,
) -> BoxAim | None:
    """A throw at the face of a box that looks at the thrower; None if no throw comes back.

    Args:
        machine: That throws.
        box: Where the box is when.
        half: From the centre to that face, m.
        rebound: How things spring back from it.
        start: When the throw begins, s.
        home: Where the throw begins; where it suits best if left out.
    """
    now = box.at(np.array([start]))[0][0]
    homes = _homes(machine, now) if home is None else home.position[None]
    tries = _tries(machine, homes, box, half, start)
    # How it comes off the face, seen from the box, which may move.
    into = tries.velocity + tries.lasts[:, None] * FALL - tries.moves
    back = rebound.after(into, _FACE) + tries.moves
    after = _REACTION + LOOK * np.arange(_LOOKS)
    t = after[None, :, None]
    cost = discomfort(
        machine.arm,
        tries.impact[:, None] + t * back[:, None] + 0.5 * t * t * FALL,
        back[:, None] + t * FALL,
        machine.reach,
        (tries.home + _CATCHES)[:, None],
    )
    # Near, slow and unhurried is good.
    cost += 0.02 * np.linalg.norm(tries.velocity, axis=-1)[:, None]
    cost += 0.1 * np.linalg.norm(back[:, :2], axis=-1)[:, None]
    cost += np.maximum(0.0, _UNHURRIED - after)
    refused: set[int] = set()
    for number in np.argsort(cost, axis=None):
        n, k = divmod(int(number), _LOOKS)
        if not np.isfinite(cost[n, k]):
            return None
        if n in refused:
            continue
        begins, velocity = tries.home[n], tries.velocity[n]
        tilt = _seated_tilt(machine, velocity)
        flight = Flight(float(tries.lasts[n]), tries.impact[n], back[n])
        catch = catch_at(machine.arm, flight, float(tries.lasts[n] + after[k]), machine.seat)
        if not is_in_reach(machine.servo.chain, catch.palm):
            continue
        if not _can_throw(machine, begins, velocity, tilt):
            refused.add(n)
            continue
        s = machine.settings
        throw = Throw(velocity, tilt, opening=s.opening, stroke=s.stroke, catch=catch)
        return BoxAim(Pose(begins, palm_up(machine.arm, begins)), throw)
    return None


def _homes(machine: Machine, box: Float[np.ndarray, "3"]) -> Float[np.ndarray, "N 3"]:
    """Places to throw from: a part of the way along with the box, where the arm is still bent."""
    base, usual = machine.arm.base.position, machine.usual_home
    found = []
    for share, back_off in product(_SIDEWAYS, _BACK_OFF):
        aside = float(np.clip(share * (box[0] - usual[0]), -_MOST_SIDEWAYS, _MOST_SIDEWAYS))
        offset = usual + np.array([aside, *back_off]) - base
        rest = COMFORTABLE**2 - offset[0] ** 2
        # Further across, hands are nearer to the body and higher.
        offset[1:] *= min(1.0, float(np.sqrt(rest / (offset[1:] @ offset[1:]))))
        found.append(base + offset)
    return np.array(found)


def _tries(
    machine: Machine,
    homes: Float[np.ndarray, "H 3"],
    box: BoxPath,
    half: float,
    start: float,
) -> _Tries:
    """Throws from each home with each flight time that a person could do."""
    s = machine.settings
    home = np.repeat(homes, len(_TIMES), axis=0)
    lasts = np.tile(_TIMES, len(homes))
    velocity = np.tile([0.0, 0.5, 2.0], (len(home), 1))
    t = lasts[:, None]
    for _ in range(6):
        # Where and when it is let go depends on the direction and the speed of the throw.
        speed = np.linalg.norm(velocity, axis=-1, keepdims=True)
        release = home + s.stroke * velocity / speed + machine.reach * _UP
        hits = start + s.throw_time * s.stroke / speed[:, 0] + lasts
        place, moves = box.at(hits)
        impact = place + (half + machine.reach) * _FACE
        velocity = (impact - release) / t - 0.5 * t * FALL
    speed = np.linalg.norm(velocity, axis=-1)
    is_human = (velocity[:, 2] >= _LEAST) & (velocity[:, 1] >= _LEAST) & (speed <= _FASTEST)
    return _Tries(*(part[is_human] for part in (home, velocity, lasts, impact, moves)))


def _can_throw(
    machine: Machine,
    home: Float[np.ndarray, "3"],
    velocity: Float[np.ndarray, "3"],
    tilt: Float[np.ndarray, "3"],
) -> bool:
    """Whether the arm can carry out the stroke."""
    stroke = machine.settings.stroke / float(np.linalg.norm(velocity)) * velocity
    share = np.linspace(0.0, 1.0, 60)
    turn = rotation.exp(tilt * share[:, None])
    wxyz = rotation.multiply(turn, palm_up(machine.arm, home))
    _, error = machine.servo.chain.follow(PREFERRED, PalmPath(home + share[:, None] * stroke, wxyz))
    return bool(error[-10:].max() < _OFF_PATH)


def _seated_tilt(machine: Machine, velocity: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
    """Tilt of the palm that the acceleration of a throw presses the thing squarely into."""
    speed = float(np.linalg.norm(velocity))
    push = 1.15 * speed / (2.0 * machine.settings.stroke) * velocity
    push = push + np.array([0.0, 0.0, GRAVITY])
    turn = rotation.log(rotation.between(_UP, push / float(np.linalg.norm(push))))
    return turn * (1.0, 1.0, 0.0) + np.array([machine.settings.lift, 0.0, 0.0])
