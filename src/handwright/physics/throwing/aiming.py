"""Throws that lead somewhere: up to a height, or to a box and back into the hand."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from jaxtyping import Float

from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.physics.throwing.arm_ik import PREFERRED
from handwright.physics.throwing.catching import Catch, best_catch, palm_up
from handwright.physics.throwing.flight import GRAVITY, Flight, Rebound, velocity_through
from handwright.physics.throwing.machine import Machine, Throw
from handwright.physics.throwing.segments import PalmPath


def throw_for_height(machine: Machine, height: float) -> Throw:
    """The throw that takes a thing's centre up to a height above the hollow of the palm at home.

    Args:
        machine: That throws.
        height: m.
    """
    settings = machine.settings
    rest = height - settings.stroke - machine.reach
    velocity = np.array([0.0, 0.0, np.sqrt(2.0 * GRAVITY * max(rest, 0.02))])
    return Throw(velocity, np.array([settings.lift, 0.0]), settings.opening)


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
# A catch must come so long after the impact at least, s.
_REACTION = 0.15
_FASTEST = 5.0
# Largest error of the arm at the end of a stroke, m.
_OFF_PATH = 0.004
_FACE = np.array([0.0, -1.0, 0.0])
_REBOUND = Rebound()


def aim_at_box(
    machine: Machine,
    box: Float[np.ndarray, "3"],
    half: float,
    *,
    rebound: Rebound = _REBOUND,
) -> BoxAim | None:
    """A throw at the face of a box that looks at the thrower; None if no throw comes back.

    Args:
        machine: That throws.
        box: Centre of the box, m.
        half: From the centre to that face, m.
        rebound: How things spring back from it.
    """
    target = box + (half + machine.reach) * _FACE
    best, least = None, np.inf
    base = machine.usual_home
    for share, back_off, lasts in product(_SIDEWAYS, _BACK_OFF, _TIMES):
        aside = float(np.clip(share * (box[0] - base[0]), -_MOST_SIDEWAYS, _MOST_SIDEWAYS))
        home = base + np.array([aside, *back_off])
        velocity = _velocity_to(machine, home, target, float(lasts))
        if velocity is None:
            continue
        tilt = _seated_tilt(machine, velocity)
        if not _in_reach(machine, home, velocity, tilt):
            continue
        release = home + machine.settings.stroke * velocity / np.linalg.norm(velocity)
        release = release + np.array([0.0, 0.0, machine.reach])
        place, speed = Flight(0.0, release, velocity).at(float(lasts))
        back = Flight(float(lasts), place, rebound.after(speed, _FACE))
        favourite = home + np.array([0.0, 0.06, 0.10])
        catch = best_catch(
            machine.servo.chain,
            back,
            machine.seat,
            earliest=float(lasts) + _REACTION,
            favourite=favourite,
        )
        if catch is None:
            continue
        cost = _cost(catch, favourite, velocity, float(lasts))
        if cost < least:
            throw = Throw(velocity, tilt, machine.settings.opening, catch)
            best, least = BoxAim(Pose(home, palm_up(machine.arm, home)), throw), cost
    return best


def _in_reach(
    machine: Machine,
    home: Float[np.ndarray, "3"],
    velocity: Float[np.ndarray, "3"],
    tilt: Float[np.ndarray, "2"],
) -> bool:
    """Whether the arm can carry out the stroke."""
    stroke = machine.settings.stroke / float(np.linalg.norm(velocity)) * velocity
    share = np.linspace(0.0, 1.0, 60)
    turn = rotation.exp(np.concatenate([tilt, [0.0]]) * share[:, None])
    wxyz = rotation.multiply(turn, palm_up(machine.arm, home))
    _, error = machine.servo.chain.follow(PREFERRED, PalmPath(home + share[:, None] * stroke, wxyz))
    return bool(error[-10:].max() < _OFF_PATH)


def _cost(
    catch: Catch,
    favourite: Float[np.ndarray, "3"],
    velocity: Float[np.ndarray, "3"],
    lasts: float,
) -> float:
    """Near, slow and unhurried is good."""
    away = float(np.linalg.norm(catch.palm.position - favourite))
    across = float(np.linalg.norm(catch.velocity[:2]))
    hurry = max(0.0, 0.30 - (catch.time - lasts))
    return away + 0.02 * float(np.linalg.norm(velocity)) + 0.1 * across + hurry


def _velocity_to(
    machine: Machine, home: Float[np.ndarray, "3"], target: Float[np.ndarray, "3"], lasts: float
) -> Float[np.ndarray, "3"] | None:
    """Velocity at the end of a stroke from home that leads to a target; None if none is human."""
    velocity = np.array([0.0, 0.5, 2.0])
    for _ in range(6):
        # Where the thing is let go depends on the direction of the throw.
        release = home + machine.settings.stroke * velocity / np.linalg.norm(velocity)
        velocity = velocity_through(release + np.array([0.0, 0.0, machine.reach]), target, lasts)
    if velocity[2] < 0.3 or np.linalg.norm(velocity) > _FASTEST or velocity[1] < 0.3:
        return None
    return velocity


def _seated_tilt(machine: Machine, velocity: Float[np.ndarray, "3"]) -> Float[np.ndarray, "2"]:
    """Tilt of the palm that the acceleration of a throw presses the thing squarely into."""
    speed = float(np.linalg.norm(velocity))
    push = 1.15 * speed / (2.0 * machine.settings.stroke) * velocity
    push = push + np.array([0.0, 0.0, GRAVITY])
    up = np.array([0.0, 0.0, 1.0])
    turn = rotation.log(rotation.between(up, push / float(np.linalg.norm(push))))
    return turn[:2] + np.array([machine.settings.lift, 0.0])
